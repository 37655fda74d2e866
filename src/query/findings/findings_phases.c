/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rule about phases: a stretch of time in which a function, or a process, runs that else hardly does.
 *
 * Some functions are candidates: those with a middling share of the whole. Each has its weight in slices of time, and the
 * stretch is the one in which it has most above its share of the whole (Kadane's maximum subarray). It is a phase where
 * it has most of the stretch and hardly anything outside. Functions that call each other have the same stretch: the
 * outermost, which has most, stands for all.
 */
#include "config.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/sample_scan.h"
#include "query/findings/findings.h"
#include "query/findings/findings_rules.h"
#include "query/tree/transform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_SLICES        64u
#define CANDIDATES_MOST 64u
#define PHASES_MOST     3u

/* Shares of the whole that make a candidate: what is always there is no phase. */
#define CANDIDATE_LEAST 0.03
#define CANDIDATE_MOST  0.95
/* What a phase has of its stretch at least, and outside of it at most. */
#define INSIDE_LEAST    0.60
#define OUTSIDE_MOST    0.10
/* Samples in the stretch, and outside, without which it may be chance. */
#define SAMPLES_LEAST   40

struct candidate {
	uint32_t key;
	int64_t weight; /* in all */
	int64_t slice[N_SLICES];
	uint32_t from, to; /* the stretch, in slices; to is out of it */
	int64_t inside;    /* of the weight */
};

struct phases {
	struct cpu_case *c;
	struct candidate at[CANDIDATES_MOST];
	uint32_t n;
	uint8_t *bit;   /* [keys.n] 1 + index of the candidate, 0: none; owned */
	uint64_t *mask; /* [n_stacks] which candidates are in it; owned */
	int64_t all[N_SLICES];
	int64_t slice_ns;
	int64_t from_ns, span_ns; /* of the time that the filter lets pass, since the start */
};

static int by_falling_weight(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->key < b->key ? -1 : 1;
}

/* Is it a frame that every program begins with? What runs below it says more. */
static bool is_start(const struct key *k)
{
	static const char *const names[] = { "_start", "start_thread", "clone", "clone3",
					     "__libc_start_call_main" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(k->label, names[i]) == 0)
			return !(k->flags & FUNCTION_COMM);
	return strncmp(k->label, "__libc_start_main", strlen("__libc_start_main")) == 0;
}

/* The heaviest of the keys with a middling share; names of threads and processes, too. */
static void choose_candidates(struct phases *f)
{
	const struct calltree *t = f->c->a->tree;
	uint32_t n_keys = f->c->a->keys.n;
	VEC(struct candidate) all = { 0 };

	for (uint32_t k = 0; k < n_keys; k++) {
		struct candidate one = { .key = k };
		double share;

		for (uint32_t i = t->first_of[k]; i < t->first_of[k + 1]; i++)
			if (t->outer[t->of_key[i]])
				one.weight += t->total[(size_t)t->of_key[i] * t->n_columns];
		share = (double)one.weight / (double)f->c->whole;
		if (share >= CANDIDATE_LEAST && share <= CANDIDATE_MOST &&
		    !f->c->is[FRAME_CLASS_IDLE][k] && !f->c->is[FRAME_CLASS_UNNAMED][k] &&
		    !(f->c->a->keys.key[k].flags & FUNCTION_MARK) &&
		    !is_start(&f->c->a->keys.key[k]))
			vec_push(&all, one);
	}
	if (all.n > 0)
		qsort(all.at, all.n, sizeof(*all.at), by_falling_weight);
	f->n = all.n < CANDIDATES_MOST ? (uint32_t)all.n : CANDIDATES_MOST;
	f->bit = xcalloc((size_t)n_keys + 1, 1);
	for (uint32_t i = 0; i < f->n; i++) {
		f->at[i] = all.at[i];
		f->bit[all.at[i].key] = (uint8_t)(i + 1);
	}
	vec_done(&all);
}

static uint64_t bit_of(const struct phases *f, uint32_t function, uint32_t module)
{
	uint8_t bit = f->bit[groups_of_frame(&f->c->a->keys, function, module)];

	return bit ? UINT64_C(1) << (bit - 1) : 0;
}

static void mark_stacks(struct phases *f)
{
	const struct analysis *a = f->c->a;
	struct location_columns l;
	struct stack_columns s;

	profile_locations(a->profile, &l);
	profile_stacks_of(a->profile, &a->counts, &s);
	f->mask = xcalloc((size_t)a->counts.n_stacks + 1, sizeof(*f->mask));
	for (uint32_t i = 1; i < a->counts.n_stacks; i++) {
		uint32_t location = s.location[i], module = l.module[location];
		const struct frame *fr = a->lens.inlines ? location_frames(&l, location) : NULL;
		uint64_t mask = f->mask[s.parent[i]];

		if (!fr)
			mask |= bit_of(f, location_function(&l, location), module);
		for (uint32_t k = 0; fr && k <= fr->n_more; k++)
			mask |= bit_of(f, fr[k].function, module);
		f->mask[i] = mask;
	}
}

static void add_row(struct phases *f, const struct sample_scan *r, uint64_t i)
{
	int64_t weight = sample_scan_adds(r, &r->column[0], i), since;
	uint64_t mask = f->mask[r->rows.stack[i]];
	uint32_t slice;

	if (!sample_scan_since(r, i, &since))
		return;
	since -= f->from_ns;
	if (since < 0 || since > f->span_ns)
		return;
	slice = (uint32_t)(since / f->slice_ns);
	slice = slice < N_SLICES ? slice : N_SLICES - 1;
	f->all[slice] += weight;
	for (; mask; mask &= mask - 1)
		f->at[__builtin_ctzll(mask)].slice[slice] += weight;
}

static int add_samples(struct phases *f)
{
	struct sample_scan *r;
	int rc = sample_scan_new(f->c->a->profile, &f->c->a->counts, &f->c->a->lens, f->c->progress,
				 &r);

	if (rc < 0)
		return rc;
	while ((rc = sample_scan_next(r, f->c->progress)) > 0) {
		const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, 0);

		for (uint64_t i = 0; i < r->n; i++)
			if ((!lens || lens[i]) && (!own || own[i]) &&
			    sample_scan_counts(&r->column[0], r->event ? r->event[i] : 0))
				add_row(f, r, i);
	}
	sample_scan_free(r);
	return rc;
}

/* Finds the stretch. */
static void find_stretch(const struct phases *f, struct candidate *k, double share)
{
	double sum = 0, most = 0;
	uint32_t begin = 0;

	for (uint32_t i = 0; i < N_SLICES; i++) {
		if (sum <= 0) {
			sum = 0;
			begin = i;
		}
		sum += (double)k->slice[i] - share * (double)f->all[i];
		if (sum <= most)
			continue;
		most = sum;
		k->from = begin;
		k->to = i + 1;
	}
}

static int64_t sum_slices(const int64_t *slice, uint32_t from, uint32_t to)
{
	int64_t sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += slice[i];
	return sum;
}

static bool is_phase(const struct phases *f, struct candidate *k)
{
	int64_t all = sum_slices(f->all, 0, N_SLICES), weight = sum_slices(k->slice, 0, N_SLICES);
	int64_t in_all, out_all;

	if (all <= 0)
		return false;
	find_stretch(f, k, (double)weight / (double)all);
	in_all = sum_slices(f->all, k->from, k->to);
	out_all = all - in_all;
	k->inside = sum_slices(k->slice, k->from, k->to);
	return cpu_case_samples(f->c, in_all) >= SAMPLES_LEAST &&
	       cpu_case_samples(f->c, out_all) >= SAMPLES_LEAST &&
	       (double)k->inside >= INSIDE_LEAST * (double)in_all &&
	       (double)(weight - k->inside) <= OUTSIDE_MOST * (double)out_all;
}

/* Do they share most of their slices? */
static bool is_same_stretch(const struct candidate *a, const struct candidate *b)
{
	uint32_t from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
	uint32_t least = a->to - a->from < b->to - b->from ? a->to - a->from : b->to - b->from;

	return to > from && (to - from) * 2 > least;
}

static int64_t time_at(const struct phases *f, uint32_t slice)
{
	return f->from_ns + f->slice_ns * slice;
}

/* A time in seconds, exactly, as time: takes it; the caller frees. */
static char *seconds(int64_t ns)
{
	char *text = xasprintf("%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '0')
		n--;
	text[n > 0 && text[n - 1] == '.' ? n - 1 : n] = '\0';
	return text;
}

/* So that times of slices are short to write: a part of the span in whole milliseconds, or fractions of one. */
static int64_t slice_of(int64_t span_ns)
{
	int64_t unit = 1000000, least = span_ns / N_SLICES + 1;

	while (unit > 1 && least < 100 * unit)
		unit /= 10;
	return (least + unit - 1) / unit * unit;
}

static void say_phase(const struct phases *f, const struct candidate *k)
{
	const struct key *key = &f->c->a->keys.key[k->key];
	int64_t all = sum_slices(f->all, 0, N_SLICES), in_all = sum_slices(f->all, k->from, k->to);
	int64_t weight = sum_slices(k->slice, 0, N_SLICES);
	char *in = cpu_case_percent(k->inside, in_all);
	char *out = cpu_case_percent(weight - k->inside, all - in_all), from[FMT_SIZE],
	     to[FMT_SIZE];
	char *from_s = seconds(time_at(f, k->from)), *to_s = seconds(time_at(f, k->to));
	char *own = cpu_case_tell(f->c, k->key);
	const struct weights *w = &f->c->a->weights;
	/* Behind the last sample, which may be before the end of the recording, is the end that titles have. */
	bool last = time_at(f, k->to) > f->from_ns + f->span_ns ||
		    time_at(f, k->to) > w->last_ns - w->begin_ns;
	struct finding *fi = findings_add(
		f->c->out, "phase", "tree", (double)in_all / (double)all,
		xasprintf("From %s to %s, %s%s runs: it has %s %s then, and %s of the rest%s.",
			  k->from == 0 && f->from_ns == 0 ? "the start"
							  : fmt_ns(from, time_at(f, k->from)),
			  last ? "the end" : fmt_ns(to, time_at(f, k->to)),
			  key->flags & FUNCTION_COMM ? "the process or thread " : "",
			  cpu_case_name(f->c, k->key), in, f->c->of, out, own));

	fi->key_id = key->id;
	free(fi->filter);
	fi->filter = xasprintf("time:%s,%s", from_s, last ? "" : to_s);
	free(from_s);
	free(to_s);
	free(own);
	free(in);
	free(out);
}

/* The heaviest comes first, so that it stands for others of the same stretch. */
static void say_phases(struct phases *f)
{
	const struct candidate *said[PHASES_MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n && n < PHASES_MOST; i++) {
		bool again = false;

		if (!is_phase(f, &f->at[i]))
			continue;
		for (uint32_t k = 0; k < n; k++)
			again = again || is_same_stretch(said[k], &f->at[i]);
		if (again)
			continue;
		said[n++] = &f->at[i];
		say_phase(f, &f->at[i]);
	}
}

int find_phases(struct cpu_case *c)
{
	const struct weights *w = &c->a->weights;
	struct phases *f;
	int64_t to_ns;
	int rc;

	if (w->begin_ns == TIME_NONE || w->end_ns <= w->begin_ns ||
	    transforms_wanted(c->a->lens.filter))
		return 0;
	f = xcalloc(1, sizeof(*f));
	f->c = c;
	f->span_ns = w->end_ns - w->begin_ns;
	if (filter_times(c->a->lens.filter, &f->from_ns, &to_ns) && to_ns < f->span_ns)
		f->span_ns = to_ns;
	f->span_ns -= f->from_ns;
	rc = 0;
	if (f->span_ns > 0) {
		f->slice_ns = slice_of(f->span_ns);
		choose_candidates(f);
		mark_stacks(f);
		rc = add_samples(f);
		if (rc == 0)
			say_phases(f);
	}
	free(f->bit);
	free(f->mask);
	free(f);
	return rc;
}
