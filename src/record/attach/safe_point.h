/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * May a stopped thread call the loader where it is? Not while it is within the loader or the allocator, or
 * within what begins and ends threads and processes: it would wait for its own locks.
 */
#ifndef PROFTOP_RECORD_ATTACH_SAFE_POINT_H
#define PROFTOP_RECORD_ATTACH_SAFE_POINT_H

#include <stdbool.h>

struct remote;
struct user_regs_struct;

/*
 * Unwinds the thread's stack by the rules in the process' memory. True only when every function on it is known not
 * to be one of those; a stack that cannot be unwound to its end must begin in a wait that holds nothing.
 */
bool safe_point(struct remote *r, const struct user_regs_struct *regs);

#endif
