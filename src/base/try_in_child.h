/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a filter of system calls may kill for is tried by a child first. */
#ifndef PROFTOP_BASE_TRY_IN_CHILD_H
#define PROFTOP_BASE_TRY_IN_CHILD_H

#include <stddef.h>

/*
 * Calls try in a child, which fills its copy of result, of n bytes, which begins as it is here; those come back. Returns 0, or, with result untouched,
 * -ENOSYS when a filter killed the child, as filters that do not kill say of the call, or another -errno.
 */
int try_in_child_run(void (*try)(void *result), void *result, size_t n);

#endif
