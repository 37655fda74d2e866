/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two sides of a comparison over time, in equal slots of one axis: how many bytes were there, or how much went on, in all
 * and by allocation site or thread. The difference of a slot is what the one side has less what the other one has.
 */
#ifndef PROFTOP_QUERY_DIFF_COMPARISON_LINES_H
#define PROFTOP_QUERY_DIFF_COMPARISON_LINES_H

#include "query/core/lens.h"
#include "query/heap/footprint_lines.h"

#include <stdint.h>

struct progress;
struct comparison_time;

/* A site, or the threads of one name in processes of one name, or of names that are taken for one. */
struct sides_row {
	char *name;  /* untrusted text; owned, as are: */
	char *of;    /* its module or process */
	char **real; /* [n_real] of threads: the names that count as this one */
	uint32_t n_real;
	uint32_t key_id;       /* of a site: its function, see struct key; else ID_NONE */
	double sum[N_SIDES];   /* of all slots together: meant for what went on, not for bytes */
	double *line[N_SIDES]; /* [n_row_slots] means of the side's runs; borrowed from lines */
};

struct comparison_lines {
	struct time_span span; /* as it was asked for, on the axis of its alignment */
	int64_t to_ns;         /* where it ends */
	bool heap;             /* bytes there when slots end; else weight for each second */
	double *line
		[N_SIDES]; /* [span.n] means of the side's runs; NAN: it has no such time; owned */
	double seconds[N_SIDES]; /* of the side's runs that are in the span, as a mean */
	struct sides_row *row;   /* [n_rows], in no order; owned */
	uint32_t n_rows;
	uint32_t n_row_slots; /* span.n; fewer and wider ones of very many rows */
	double *rows;         /* what rows point into; owned */
};

/*
 * 0 or -ECANCELED; the caller frees *out. Weighs the runs of t, if nobody did, so that only one thread at a time may ask.
 */
int comparison_lines_new(struct comparison_time *t, const struct time_span *span,
			 struct progress *progress, struct comparison_lines **out);
void comparison_lines_free(struct comparison_lines *l);

/* What a row has in a slot of the axis. */
double sides_row_at(const struct comparison_lines *l, const struct sides_row *row, enum side side,
		    uint32_t slot);

#endif
