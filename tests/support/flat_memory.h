/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does memory stay what it was? For tests of what goes on for hours of made time. */
#ifndef PROFTOP_TESTS_SUPPORT_FLAT_MEMORY_H
#define PROFTOP_TESTS_SUPPORT_FLAT_MEMORY_H

#include <stdint.h>

/* The most memory that the process had since this was asked last. */
uint64_t flat_most_bytes(void);

/* Fails the test where after is more than before by more than a part (10: a tenth) and a megabyte; says what it was. */
void flat_expect(uint64_t before, uint64_t after, unsigned part, const char *what);

#endif
