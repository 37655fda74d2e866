/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long records are by what they say of themselves: a record that is longer or shorter is damaged. */
#ifndef PROFTOP_PERF_ABI_PERF_SIZE_H
#define PROFTOP_PERF_ABI_PERF_SIZE_H

#include <stdbool.h>
#include <stddef.h>

struct perf_record;

/*
 * Is a record that is no sample as long as one of its type is? trailer: bytes of its sample_id, which only the kernel's
 * types have. True also of types whose length says nothing.
 */
bool perf_size_fits(const struct perf_record *r, size_t trailer);

#endif
