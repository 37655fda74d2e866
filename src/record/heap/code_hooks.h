/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocators that are linked into the executable or into a library, where no table of the loader leads to them: the
 * first bytes of their functions are made jumps to our hooks, once, before main, while one thread runs. What cannot be
 * done with certainty is not done, and told.
 */
#ifndef PROFTOP_RECORD_HEAP_CODE_HOOKS_H
#define PROFTOP_RECORD_HEAP_CODE_HOOKS_H

/* Does it, for all modules that are loaded, and tells what was done. For the library's constructor. */
void code_hooks_install(void);

/* For a program that runs already, and whose code is not changed: finds out what there is to tell. */
void code_hooks_look(void);

/* Tells it once more, to the log and to a trace that begins. */
void code_hooks_tell(void);

#endif
