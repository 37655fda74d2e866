/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ratios of two events of one recording: instructions per cycle, misses per 1,000 instructions. Their sums are
 * columns of the lens behind those that are shown, so that one pass makes them all.
 *
 * A ratio is A / B * factor, of the events' periods as perf report adds them up. Samples are there or not by chance
 * (Poisson), so that a sum of periods has the relative variance v = (sum of their squares) / (their sum squared), which
 * is 1/n of n equal ones. The logarithm of the ratio has v_A + v_B: the interval of 95 % is the ratio times and by
 * exp(1.96 * sqrt(v_A + v_B)).
 */
#ifndef PROFTOP_QUERY_CORE_RATIO_H
#define PROFTOP_QUERY_CORE_RATIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct lens;
struct profile;
struct weights;

#define RATIOS_MAX 4

/* What --ratio takes for no ratios at all. */
#define RATIO_NONE_NAME "none"

struct ratio {
	char *name;         /* "IPC"; untrusted text; owned */
	double factor;      /* above 0 */
	uint32_t numerator; /* columns of the lens: periods, … */
	uint32_t denominator;
	uint32_t numerator_squares; /* … and of squares of periods, see lens_column */
	uint32_t denominator_squares;
	bool summed; /* rows are sums of samples that nobody counted: there is no interval */
};

struct ratios {
	uint32_t n;
	uint32_t n_columns; /* of the lens before theirs: those that are shown */
	struct ratio at[RATIOS_MAX];
};

struct ratio_value {
	double value;
	double low, high; /* of 95 %; where has_interval */
	bool has_interval;
};

/* Is it "NAME=A/B" or "NAME=A/B*FACTOR", or "none"? 0, or -EINVAL with a sentence. Events are not looked for. */
int ratio_check(const char *text, struct err *e);

/*
 * Adds the columns of ratios to a lens: of those given, as ratio_check() takes them, or where there are none of IPC, MPKI
 * and branch misses, as far as their events were recorded with periods. 0, or -errno with a sentence; the caller ends with
 * ratios_done() either way.
 */
int ratios_add(struct ratios *r, struct lens *l, const struct profile *p, const char *const *texts,
	       size_t n, struct err *e);
void ratios_done(struct ratios *r);

/*
 * The same for the lens of a screen, which owns them: l->ratios, or NULL where there are none, as in a comparison and
 * where rows are of one event.
 */
int ratios_of_lens(struct lens *l, const struct profile *p, const char *const *texts, size_t n,
		   struct err *e);
/* A copy, which the caller ends with ratios_free(); of NULL it is NULL. */
struct ratios *ratios_copy(const struct ratios *from);
void ratios_free(struct ratios *r);

/* Of two rows' sums, which comes first: values fall, reverse: rise, and rows that it says nothing of come last. As of qsort(). */
int ratio_compare(const struct ratio *r, const int64_t *x, const int64_t *y,
		  const struct weights *w, bool reverse);

/* "IPC 1.50 (1.06-2.12)", and the next ones likewise: of those of l that say something of a row; "" where none does. The caller frees. */
char *ratios_text(const struct lens *l, const int64_t *sums, const struct weights *w);

/*
 * The ratio of one row's sums, [w->n_columns] as w has them. false: there are too few samples to say
 * something, that is the interval reaches further than from half of the ratio to twice of it.
 */
bool ratio_of(const struct ratio *r, const int64_t *sums, const struct weights *w,
	      struct ratio_value *out);

#endif
