/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine, or the container, has. */
#ifndef PROFTOP_BASE_SYSTEM_LIMITS_H
#define PROFTOP_BASE_SYSTEM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that this process and those beside it in its control group may have; UINT64_MAX: not known. */
uint64_t system_limits_memory_bytes(void);

/* What is left of this process's limit on address space (ulimit -v); UINT64_MAX: there is none. */
uint64_t system_limits_address_space_left(void);

/* How malloc takes memory from the system; to be said before there are threads. */
void system_limits_settle_malloc(void);
/* The same for what goes on and on, where steady memory is worth more than speed. */
void system_limits_settle_malloc_for_hours(void);

/* "64M": a number, perhaps with k, M or G behind it, which mean powers of 1024. False: it is none. */
bool system_limits_parse_bytes(const char *text, uint64_t *out);

#endif
