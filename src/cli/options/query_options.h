/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options as a lens: what the user asked to be counted, of which samples, by what. */
#ifndef PROFTOP_CLI_OPTIONS_QUERY_OPTIONS_H
#define PROFTOP_CLI_OPTIONS_QUERY_OPTIONS_H

#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>

struct analysis;
struct err;
struct filter;
struct options;
struct profile;
struct ratios;
struct suppressions;

/* "count", "ns", "bytes": as JSON says it. */
const char *query_options_unit_name(enum unit u);

/* Which numbers are wanted: as the command line has it, or as a command decides. All is borrowed. */
struct lens_wish {
	const struct filter *filter;
	const char *const *events; /* [n_events] a column each */
	size_t n_events;
	const char *metric;    /* "": that of the event */
	const char *group;     /* NULL: by function */
	const char *normalise; /* of comparisons; NULL: as they were measured */
	const char *to;        /* the format that is written; NULL: none is */
	bool no_inline;
	bool hides_tracer; /* what the recorder of the heap does itself is left out, unless the filter speaks of it */
	const struct suppressions *suppress; /* NULL: none */
	const char *const *ratios; /* [n_ratios] as --ratio takes them; none: the usual ones */
	size_t n_ratios;
	struct ratios *made; /* filled with them; NULL: none are wanted */
};

struct lens_wish query_options_of(const struct options *o);

/* Fills l, which the caller ends with lens_done(). 0, or -errno with a sentence; l needs nothing then. */
int query_options_lens(const struct lens_wish *w, const struct profile *p, struct lens *l,
		       struct err *e);

/*
 * The answers for query_options_lens(), with these ANALYSIS_… parts; says on stderr when they are in doubt. *out is
 * the caller's to free.
 */
int query_options_analysis(const struct lens_wish *w, const struct profile *p, unsigned parts,
			   struct analysis **out, struct err *e);

/* Do --event or the filter say which event is meant? */
bool query_options_chose_event(const struct options *o);

/* "cycles, faults": the events of which its first columns show nothing, or NULL; the caller frees. */
char *query_options_events_left_out(const struct analysis *a, uint32_t n_columns);

#endif
