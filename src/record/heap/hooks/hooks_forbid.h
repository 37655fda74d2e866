/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hooks of what limits a program's calls of the kernel. */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_HOOKS_FORBID_H
#define PROFTOP_RECORD_HEAP_HOOKS_HOOKS_FORBID_H

/* What comes after us in the loader's order can be called from now on. */
void hooks_forbid_ready(void);

#endif
