/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In which order facts are shown. Readers and the thread that names addresses state them at the same time, so the
 * order of their first appearance differs from run to run.
 */
#ifndef PROFTOP_QUERY_CORE_FACT_ORDER_H
#define PROFTOP_QUERY_CORE_FACT_ORDER_H

#include <stdint.h>

struct profile;
struct profile_counts;

/*
 * [counts->n_facts] numbers for profile_fact(), the caller frees: a part's facts together, and of these a section's.
 * Sections as they appeared first, but "symbols" last, of which what is missing comes last, by name.
 */
uint32_t *fact_order(const struct profile *p, const struct profile_counts *counts);

#endif
