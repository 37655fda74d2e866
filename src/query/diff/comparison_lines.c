/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each run is asked for its own slots, which stand where the axis' do as far as the run goes; means of runs are what
 * sides have. Rows of all runs are put together by name.
 */
#include "config.h"

#include "query/diff/comparison_lines.h"

#include "base/mem.h"
#include "profile/heap/heap.h"
#include "query/activity.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/core/name_rules.h"
#include "query/diff/comparison_time.h"
#include "query/heap/footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* Numbers of all rows' lines together: 16 MB of them. */
#define ROWS_MOST ((uint32_t)1 << 21)

/* A row of one run. */
struct part {
	const char *name, *of; /* borrowed from the run's answer, or from what counts as what */
	const char *real;      /* a thread's own name; borrowed; of a site NULL */
	uint32_t key_id;
	uint32_t run;
	const int64_t *line; /* [n_slots of the run], or NULL */
	uint32_t n_slots;
};

/* What one run says. */
struct run_lines {
	uint32_t first, n;             /* slots of the axis that it has */
	struct footprint_lines *lines; /* of a heap; owned */
	struct activity activity;      /* else; owned */
	double factor;                 /* of its numbers */
};

struct making {
	const struct comparison_time *t;
	struct comparison_lines *l;
	struct run_lines *run; /* [n runs]; owned */
	uint32_t n_runs;
	VEC(struct part) parts;
	VEC(char *) renamed; /* names of threads and processes that count as others; owned */
};

static double slot_ns(const struct comparison_lines *l)
{
	return ((double)l->to_ns - (double)l->span.from_ns) / l->span.n;
}

/* The time of a run where a slot of the axis begins. */
static double run_time(const struct making *m, uint32_t run, uint32_t slot)
{
	return comparison_time_at(m->t, m->l->span.align, run,
				  (double)m->l->span.from_ns + slot * slot_ns(m->l));
}

/* Which slots of the axis a run has. */
static void find_slots(const struct making *m, uint32_t run, struct run_lines *out)
{
	const struct sides_run *r = &m->t->run[run];
	uint32_t n = m->l->span.n, end = 0;

	out->first = n;
	for (uint32_t i = 0; i < n; i++) {
		if (run_time(m, run, i + 1) <= (double)r->begin_ns ||
		    run_time(m, run, i) >= (double)r->end_ns)
			continue;
		if (out->first == n)
			out->first = i;
		end = i + 1;
	}
	out->n = end > out->first ? end - out->first : 0;
}

static int ask_heap(const struct making *m, uint32_t run, struct run_lines *out,
		    struct progress *progress)
{
	struct time_span span = { (int64_t)run_time(m, run, out->first),
				  (int64_t)run_time(m, run, out->first + out->n), out->n, 0 };

	out->factor = 1;
	if (span.to_ns <= span.from_ns)
		span.to_ns = span.from_ns + 1;
	return footprint_lines_new(m->t->run[run].footprint, &span, NULL, progress, &out->lines);
}

static int ask_activity(const struct making *m, uint32_t run, struct run_lines *out,
			struct progress *progress)
{
	struct time_span span = { (int64_t)run_time(m, run, out->first),
				  (int64_t)run_time(m, run, out->first + out->n), out->n, 0 };
	struct weights w = { .begin_ns = m->t->whole_begin_ns, .end_ns = m->t->whole_end_ns };
	const struct lens *lens = &m->t->run[run].lens;
	enum measure measure = lens->column[0].metric.measure;
	const struct event *e = profile_event(m->t->profile, lens->column[0].metric.event);
	double scale = measure == MEASURE_SAMPLES ? 1 : (double)e->scale;

	if (span.to_ns <= span.from_ns)
		span.to_ns = span.from_ns + 1;
	out->factor = NS_PER_S / scale / (((double)span.to_ns - (double)span.from_ns) / out->n);
	return activity_within(m->t->profile, &m->t->counts, lens, &w, &span, progress,
			       &out->activity);
}

static void heap_parts(struct making *m, uint32_t run)
{
	const struct footprint *f = m->t->run[run].footprint;
	const struct footprint_lines *lines = m->run[run].lines;

	for (uint32_t i = 0; i < f->n_sites; i++) {
		const struct key *key = &f->rows->key[f->site[i].key];
		struct part part = { key->label, key->module, NULL, key->id, run, NULL, 0 };

		part.line = footprint_row_line(lines, f->site[i].row);
		part.n_slots = lines->n_row_slots;
		vec_push(&m->parts, part);
	}
}

static const char *process_of(const struct profile *p, uint32_t process)
{
	if (process == ID_NONE)
		return "";
	return profile_string(p, process_name(profile_process(p, (process_id){ process })), NULL);
}

/* What the name of a thread or of its process counts as in this comparison. */
static const char *counts_as(struct making *m, uint32_t run, const char *name)
{
	const struct name_rules *rules = m->t->run[run].lens.names;
	char *as;

	if (!rules)
		return name;
	as = name_rules_apply_thread(rules, name);
	vec_push(&m->renamed, as);
	return as;
}

static void activity_parts(struct making *m, uint32_t run)
{
	const struct activity *a = &m->run[run].activity;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct activity_row *row = &a->row[i];
		struct part part = { .real = row->name,
				     .key_id = ID_NONE,
				     .run = run,
				     .line = row->slice,
				     .n_slots = a->n_slices };

		if (activity_is_sum(row))
			continue;
		part.name = counts_as(m, run, row->name);
		part.of = counts_as(m, run, process_of(m->t->profile, row->process));
		vec_push(&m->parts, part);
	}
}

static int ask_run(struct making *m, uint32_t run, struct progress *progress)
{
	struct run_lines *out = &m->run[run];
	int rc;

	find_slots(m, run, out);
	if (out->n == 0)
		return 0;
	rc = m->t->heap ? ask_heap(m, run, out, progress) : ask_activity(m, run, out, progress);
	if (rc == 0 && m->t->heap)
		heap_parts(m, run);
	else if (rc == 0)
		activity_parts(m, run);
	return rc;
}

static enum side side_of(const struct making *m, uint32_t run)
{
	return run >= m->t->n_runs[SIDE_BEFORE] ? SIDE_AFTER : SIDE_BEFORE;
}

/* What a run's part has in a slot of the axis; 0 where the run is not. */
static double part_at(const struct making *m, const struct part *part, uint32_t slot)
{
	const struct run_lines *r = &m->run[part->run];
	uint32_t i = slot - r->first;

	if (slot < r->first || i >= r->n || !part->line || part->n_slots == 0)
		return 0;
	i = (uint32_t)((uint64_t)i * part->n_slots / r->n);
	return (double)part->line[i] * r->factor;
}

/* What a run has in one of its slots, in all. */
static double run_at(const struct making *m, uint32_t run, uint32_t i)
{
	const struct run_lines *r = &m->run[run];
	double sum = 0;

	if (r->lines)
		return (double)r->lines->slot[i].live;
	for (uint32_t k = 0; k < r->activity.n_rows; k++) {
		const struct activity_row *row = &r->activity.row[k];

		if (!activity_is_sum(row) && row->slice)
			sum += (double)row->slice[i] * r->factor;
	}
	return sum;
}

/* How much of the span each side has, which a run's first and last slot may have in part only; a quiet end is part of it. */
static void find_seconds(struct making *m)
{
	for (uint32_t i = 0; i < m->n_runs; i++) {
		const struct sides_run *r = &m->t->run[i];
		double from = fmax(run_time(m, i, 0), (double)r->begin_ns);
		double to = run_time(m, i, m->l->span.n);
		enum side side = side_of(m, i);
		int64_t first, behind;

		filter_times(r->lens.filter, &first, &behind);
		if (to >= (double)r->end_ns)
			to = fmax((double)r->end_ns,
				  behind == INT64_MAX ? (double)r->lens.now_ns : 0);

		m->l->seconds[side] += fmax(to - from, 0) / NS_PER_S / m->t->n_runs[side];
	}
}

/* Means over the runs that have a slot's time. */
static void sum_sides(struct making *m)
{
	for (int side = 0; side < N_SIDES; side++) {
		m->l->line[side] = xcalloc(m->l->span.n, sizeof(*m->l->line[side]));
		for (uint32_t slot = 0; slot < m->l->span.n; slot++) {
			double sum = 0, n = 0;

			for (uint32_t i = 0; i < m->n_runs; i++) {
				const struct run_lines *r = &m->run[i];

				if ((int)side_of(m, i) != side || slot < r->first ||
				    slot - r->first >= r->n)
					continue;
				sum += run_at(m, i, slot - r->first);
				n++;
			}
			m->l->line[side][slot] = n > 0 ? sum / n : NAN;
		}
	}
}

static int by_name(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	if (c == 0)
		c = strcmp(a->of, b->of);
	return c != 0 ? c : a->run < b->run ? -1 : a->run > b->run;
}

static bool same_name(const struct part *a, const struct part *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->of, b->of) == 0;
}

static void add_part(struct making *m, struct sides_row *row, const struct part *part)
{
	enum side side = side_of(m, part->run);
	double n_runs = m->t->n_runs[side];
	uint32_t n = m->l->n_row_slots;
	double step = slot_ns(m->l) / NS_PER_S;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = (uint32_t)(((uint64_t)i + 1) * m->l->span.n / n) - 1;

		row->line[side][i] += part_at(m, part, slot) / n_runs;
	}
	for (uint32_t i = 0; i < m->l->span.n; i++)
		row->sum[side] += part_at(m, part, i) * step / n_runs;
}

static void add_real(struct sides_row *row, const char *name)
{
	for (uint32_t i = 0; i < row->n_real; i++)
		if (strcmp(row->real[i], name) == 0)
			return;
	row->real = xreallocarray(row->real, row->n_real + 1, sizeof(*row->real));
	row->real[row->n_real++] = xstrdup(name);
}

static void make_rows(struct making *m)
{
	struct comparison_lines *l = m->l;
	uint32_t n_rows = 0, at = 0;

	if (m->parts.n > 0)
		qsort(m->parts.at, m->parts.n, sizeof(*m->parts.at), by_name);
	for (size_t i = 0; i < m->parts.n; i++)
		n_rows += i == 0 || !same_name(&m->parts.at[i], &m->parts.at[i - 1]);
	l->n_row_slots = n_rows > 0 && l->span.n > ROWS_MOST / 2 / n_rows ? ROWS_MOST / 2 / n_rows
									  : l->span.n;
	if (l->n_row_slots == 0)
		l->n_row_slots = 1;
	l->row = xcalloc((size_t)n_rows + 1, sizeof(*l->row));
	l->rows = xcalloc((size_t)n_rows * N_SIDES * l->n_row_slots + 1, sizeof(*l->rows));
	for (size_t i = 0; i < m->parts.n; i++) {
		const struct part *part = &m->parts.at[i];
		struct sides_row *row;

		if (i > 0 && !same_name(part, part - 1))
			at++;
		row = &l->row[at];
		if (!row->name) {
			row->name = xstrdup(part->name);
			row->of = xstrdup(part->of);
			row->key_id = part->key_id;
			for (size_t s = 0; s < N_SIDES; s++)
				row->line[s] = l->rows + (at * N_SIDES + s) * l->n_row_slots;
		}
		if (part->real)
			add_real(row, part->real);
		add_part(m, row, part);
	}
	l->n_rows = n_rows;
}

int comparison_lines_new(struct comparison_time *t, const struct time_span *span,
			 struct progress *progress, struct comparison_lines **out)
{
	struct making m = { .t = t, .n_runs = t->n_runs[SIDE_BEFORE] + t->n_runs[SIDE_AFTER] };
	int64_t length = comparison_time_length(t, span->align);
	int rc = comparison_time_weigh(t, progress);

	m.l = xcalloc(1, sizeof(*m.l));
	m.l->span = *span;
	m.l->to_ns = span->to_ns < INT64_MAX ? span->to_ns : length;
	m.l->heap = t->heap;
	m.run = xcalloc(m.n_runs, sizeof(*m.run));
	for (uint32_t i = 0; i < m.n_runs && rc == 0; i++)
		rc = ask_run(&m, i, progress);
	if (rc == 0) {
		sum_sides(&m);
		find_seconds(&m);
		make_rows(&m);
	}
	for (uint32_t i = 0; i < m.n_runs; i++) {
		footprint_lines_free(m.run[i].lines);
		activity_done(&m.run[i].activity);
	}
	free(m.run);
	vec_done(&m.parts);
	for (size_t i = 0; i < m.renamed.n; i++)
		free(m.renamed.at[i]);
	vec_done(&m.renamed);
	if (rc < 0)
		comparison_lines_free(m.l);
	else
		*out = m.l;
	return rc;
}

void comparison_lines_free(struct comparison_lines *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n_rows; i++) {
		free(l->row[i].name);
		free(l->row[i].of);
		for (uint32_t k = 0; k < l->row[i].n_real; k++)
			free(l->row[i].real[k]);
		free(l->row[i].real);
	}
	free(l->line[SIDE_BEFORE]);
	free(l->line[SIDE_AFTER]);
	free(l->row);
	free(l->rows);
	free(l);
}

double sides_row_at(const struct comparison_lines *l, const struct sides_row *row, enum side side,
		    uint32_t slot)
{
	return row->line[side][(uint64_t)slot * l->n_row_slots / l->span.n];
}
