/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the other threads of this process come to rest: who looks by the clock does not. */
#ifndef PROFTOP_TESTS_SUPPORT_OTHERS_REST_H
#define PROFTOP_TESTS_SUPPORT_OTHERS_REST_H

#include <stdbool.h>

/* Waits until all of them sleep and none wakes. False after many tries. */
bool others_rest(void);

#endif
