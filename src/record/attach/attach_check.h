/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can a process be attached to? By what /proc says of it; nothing is changed. */
#ifndef PROFTOP_RECORD_ATTACH_ATTACH_CHECK_H
#define PROFTOP_RECORD_ATTACH_ATTACH_CHECK_H

#include <sys/types.h>

struct err;

/* Returns 0, or -errno with a sentence that says what is in the way and what helps. */
int attach_check(pid_t pid, struct err *e);

#endif
