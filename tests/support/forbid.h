/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters of system calls, as sandboxes have them; they are for good, so they are a child's. */
#ifndef PROFTOP_TESTS_SUPPORT_FORBID_H
#define PROFTOP_TESTS_SUPPORT_FORBID_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the filter does that (SECCOMP_RET_…) to the call. False where there are no filters. */
bool forbid(uint32_t call, uint32_t action);

#endif
