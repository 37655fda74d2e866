/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the inputs of a profile: their machines, and which of them terms of a filter let pass. */
#ifndef PROFTOP_QUERY_CORE_CAPTURES_H
#define PROFTOP_QUERY_CORE_CAPTURES_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct filter;
struct term;

/* Their paths, each that of its first part, which is the file that was named: [n_captures] string_id; the caller frees. */
uint32_t *captures_files(const struct profile *p, const struct profile_counts *counts);

/* The machines that they were recorded on, as facts say: [n_captures] string_id, 0 where it is not known; the caller frees. */
uint32_t *captures_hosts(const struct profile *p, const struct profile_counts *counts);

/* Clears passes[n_captures] of those that a term, capture: or host:, does not let pass. */
void captures_sift(const struct profile *p, const struct profile_counts *counts,
		   const struct term *t, bool *passes);

/* Those that all terms of a filter let pass: [n_captures]; the caller frees. f may be NULL. */
bool *captures_of_filter(const struct profile *p, const struct profile_counts *counts,
			 const struct filter *f);

#endif
