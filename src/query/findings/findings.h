/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is worth knowing about a profile, in sentences: each with its numbers, and with the view that proves them.
 *
 * A rule looks at an analysis and adds findings, or none. It names nothing that chance or its own thresholds could have
 * made: a program that does nothing special has findings that say so, or none.
 */
#ifndef PROFTOP_QUERY_FINDINGS_FINDINGS_H
#define PROFTOP_QUERY_FINDINGS_FINDINGS_H

#include "base/mem.h"
#include "query/core/groups.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct progress;
struct suppressions;

/*
 * Where a finding stands in the list: what puts all others in doubt first, then by share, what is missing last where it
 * is little.
 */
enum finding_rank { FINDING_DOUBT, FINDING_SHARE, FINDING_MISSING };

/* A finding, and the link to what proves it. */
struct finding {
	const char *rule; /* "hotspot", "lock", …: what found it, for --json; static */
	char *sentence;   /* for people: one or two sentences without a line break; owned */
	enum finding_rank rank;
	double share;         /* of the whole, 0 to 1: larger ones come first */
	const char *view;     /* that shows it, by its name in --view; static */
	uint32_t key_id;      /* struct key's id of the function to go to there; ID_NONE: none */
	char *filter;         /* terms that the view needs; "": none; owned */
	bool has_metric;      /* the view needs … */
	struct metric metric; /* … this one; else it keeps what is shown */
};

struct findings {
	VEC(struct finding) list; /* in the order to be shown */
};

/*
 * Findings about what the analysis' lens lets pass, for both samples and allocations; a comparison has none. Looks at the
 * samples again, so that it may take as long as an analysis. suppress: leaks that are not told of, or NULL. 0 or -ECANCELED; the caller frees *out.
 */
int findings_new(const struct analysis *a, const struct suppressions *suppress,
		 struct progress *progress, struct findings **out);
void findings_free(struct findings *f);

/* Why there are none: what is said instead of them, "nothing stands out"; static. */
const char *findings_nothing(const struct analysis *a);

/* For rules: adds a finding whose sentence is taken over, of no function, filter or metric; borrowed until the next. */
struct finding *findings_add(struct findings *f, const char *rule, const char *view, double share,
			     char *sentence);

#endif
