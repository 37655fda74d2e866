/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_HOOKS_USERS_H
#define PROFTOP_RECORD_HEAP_HOOKS_HOOKS_USERS_H

#include <stdbool.h>

/* Does prctl(2) with that option change what the calling thread may do? */
bool hooks_users_changes(int option);

#endif
