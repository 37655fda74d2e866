/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a profile says of the whole recording, as facts that `info` shows and that stay in packs, and from these facts as fields again, so
 * that nothing of it is lost on the way from one pprof file to another.
 */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_HEAD_H
#define PROFTOP_FORMATS_PPROF_PPROF_HEAD_H

#include "base/mem.h"
#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_tables;

#define PPROF_COMMENTS_MOST 16

/* A part of a fact's text; borrowed from the profile. */
struct pprof_text {
	const char *s; /* NULL: there is none */
	size_t n;
};

struct pprof_named_unit {
	struct pprof_text name, unit;
};

struct pprof_head {
	int64_t time_ns;     /* since 1970; 0: not told */
	int64_t duration_ns; /* likewise */
	int64_t period;      /* likewise, in period_unit */
	struct pprof_text period_type, period_unit;
	struct pprof_text doc_url;
	VEC(struct pprof_text) comments;
	VEC(struct pprof_named_unit) units;  /* of types of value, that are no units of proftop's */
	VEC(struct pprof_named_unit) labels; /* whose values are numbers; a unit may be empty */
};

/* States them. Wants the pen. */
void pprof_head_tell(struct profile *p, capture_id c, const struct pprof_tables *t);
/* One label whose values are numbers. Wants the pen. */
void pprof_head_tell_label(struct profile *p, capture_id c, struct pprof_text key,
			   struct pprof_text unit);

/* Of a profile of one recording, with what its other readers state likewise; of several all is empty. */
void pprof_head_read(struct pprof_head *h, const struct profile *p,
		     const struct profile_counts *counts);
void pprof_head_done(struct pprof_head *h);
/* The unit that one of the list has, or NULL where it is not listed. */
const struct pprof_text *pprof_head_unit(const struct pprof_named_unit *list, size_t n,
					 const char *name, size_t n_name);

#endif
