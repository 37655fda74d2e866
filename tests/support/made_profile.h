/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles for tests, written as text or drawn by lot.
 *
 * One sample a line: frames from the outermost in, then its weight, then what else is known:
 *
 *   =prog;main@prog;work@prog>inner@prog;?10@libc.so 3 tid=2 pid=1 event=cycles cpu=1 t=500
 *
 * "event=ns:cpu-clock" is an event in nanoseconds, "event=waits:offcpu" one that was worked out from others, "event=sums:cpu" one of
 * which there are sums of stacks alone.
 * "=name" is a thread's name as root frame, "f@m#file" a function ("f@[kernel]" of the kernel), a>b a place where b is inlined into
 * a, "?10@m" an address (hex) without a name. "-" stands for no frames. t is in ns. Weight is an
 * integer. "capture" in a line by itself begins another capture.
 */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_PROFILE_H
#define PROFTOP_TESTS_SUPPORT_MADE_PROFILE_H

#include "profile/profile.h"
#include "query/analysis.h"

struct footprint;

/* The caller frees. */
struct profile *made_profile(const char *text);
/* Adds the samples of text and publishes. */
void made_profile_add(struct profile *p, const char *text);
/* A profile of n samples, the same for the same seed. */
struct profile *made_profile_by_lot(unsigned seed, unsigned n);
/* The same; NULL: it has several captures. */
struct profile *made_profile_of_one_capture(unsigned seed, unsigned n);
/* A number below n; the state moves on. */
unsigned made_number(unsigned *state, unsigned n);

/* A lens with a filter; the caller ends with lens_done(). Fails the test when it does not parse. */
void made_lens(struct lens *l, const struct profile *p, const char *filter);
/* What the lens shows; fails the test where there is nothing. The caller frees. */
struct analysis *made_analysis(const struct profile *p, const struct lens *l);
/* Memory over time of an event of a heap, with a filter; fails the test where there is none. The caller frees. */
struct footprint *made_footprint(const struct profile *p, const char *filter, event_id event);
/* A comparison whose sides are what these filters leave; fails the test where there is none. The caller frees. */
struct analysis *made_comparison(const struct profile *p, const char *before, const char *after);

/* "a 4 1\n  b 3 3\n": label, total, self of column 0 by depth, without the root. Caller frees. */
char *made_tree_text(const struct analysis *a);

#endif
