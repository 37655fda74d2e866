/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison must not have become, as scripts say it (--fail-if):
 *
 *   condition = subject operator value
 *   subject   = "total" | "self(RE)" | "total(RE)" | metric | metric "(RE)"
 *   operator  = ">" | ">=" | "<" | "<="
 *   value     = ["+" | "-"] number unit
 *
 * With a sign the value is a change, without one it is what there is after. Units are % (of what was before), B
 * kB MB GB TB (powers of 1,000) KiB MiB GiB, ns us ms s m h, or none: the metric's own. A metric is a word of --metric; by
 * it the whole is judged, or the totals of functions that match. self(RE) and total(RE) judge every function that
 * matches, by the metric that is compared.
 */
#ifndef PROFTOP_QUERY_DIFF_CONDITION_H
#define PROFTOP_QUERY_DIFF_CONDITION_H

#include "base/mem.h"
#include "query/diff/diff.h"

#include <stdbool.h>
#include <stddef.h>

struct condition;
struct err;

/* 0, or -EINVAL with a sentence; the caller frees. */
int condition_parse(const char *text, struct condition **out, struct err *e);
void condition_free(struct condition *c);

/* The text, and the metric that it asks for, "" where it is the one that is compared; borrowed. */
const char *condition_text(const struct condition *c);
const char *condition_metric(const struct condition *c);

/* What became of a condition. */
struct verdict {
	bool failed;
	uint32_t n_matching;   /* functions that it speaks of; 1 for the whole */
	VEC(char *) sentences; /* why it failed, one for each function; owned */
	/* of changes that would fail, but of which one run a side does not tell whether the program changed; owned */
	VEC(char *) doubts;
};

/*
 * Is it so? d is of the condition's metric. A change counts where it is beyond noise, as reports and screens have it, and each one if any.
 * -EINVAL with a sentence when its unit is not the metric's. The caller ends with verdict_done() in any case.
 */
int condition_judge(const struct condition *c, const struct diff *d, bool any, struct verdict *out,
		    struct err *e);
void verdict_done(struct verdict *v);

#endif
