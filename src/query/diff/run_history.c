/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/run_history.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/name_rules.h"
#include "query/core/sample_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE       "proftop history 1"
/* With fewer samples, logarithms are lopsided. */
#define ENOUGH           20
/* Runs whose time is spread over functions so unlike that less than this is alike are of other programs. */
#define LEAST_OVERLAP    0.5
/* What is added to a variance, so that a large function has hardly more to say of a run's speed than one of some hundred samples. */
#define EQUAL_VARIANCE   0.01
/* The median of a squared normal deviate. */
#define MEDIAN_SQUARE    0.4549364231195727
/* Of n of them the median deviates by this, divided by the root of n; only so many deviations are more than chance. */
#define MEDIAN_DEVIATION 1.06
#define UNLIKE           1.3
/* A median of n differences that overlap tells as much of a variance as so many of n that do not, of which all count. */
#define PART_TOLD        (1 / 3.0)
/* What functions do as a rule, a deviation of 1 % between two runs, counts as so many degrees of freedom. */
#define USUAL_SQUARE     (0.01 * 0.01 / 2)
#define USUAL_FREEDOM    1.0
/* Numbers that differ by as much as they are large: nothing larger is looked for. */
#define MOST_SQUARE      4.0
/* Differences of less are of how numbers are written. */
#define WRITTEN          1e-6

void noted_run_done(struct noted_run *r)
{
	free(r->metric);
	vec_done(&r->function);
	*r = (struct noted_run){ 0 };
}

void run_history_done(struct run_history *h)
{
	for (size_t i = 0; i < h->run.n; i++)
		noted_run_done(&h->run.at[i]);
	vec_done(&h->run);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct noted_function *)a)->id;
	uint64_t y = ((const struct noted_function *)b)->id;

	return (x > y) - (x < y);
}

static int by_amount(const void *a, const void *b)
{
	const struct noted_function *x = a, *y = b;
	double p = x->amount[PART_TOTAL], q = y->amount[PART_TOTAL];

	return p != q ? (p < q) - (p > q) : by_id(a, b);
}

/* Numbers that compilers give, as to lambdas, are no part of the name: they differ from build to build. */
static uint64_t id_of(const struct key *k)
{
	char *name = name_rules_unnumbered(k->label);
	char *both = xasprintf("%s\n%s", name, k->module);
	uint64_t id = hash_bytes(both, strlen(both));

	free(name);
	free(both);
	return id;
}

static char *metric_of(const struct analysis *a)
{
	char *name = metric_name(a->profile, a->lens.column[0].metric);
	char *clean = text_clean(name, strlen(name), false);

	free(name);
	return clean;
}

/* Functions of one id become one. */
static void join(struct noted_run *r)
{
	size_t to = 0;

	if (r->function.n > 0)
		qsort(r->function.at, r->function.n, sizeof(*r->function.at), by_id);
	for (size_t i = 0; i < r->function.n; i++) {
		struct noted_function *f = &r->function.at[i];

		if (to == 0 || r->function.at[to - 1].id != f->id) {
			r->function.at[to++] = *f;
			continue;
		}
		for (int part = 0; part < N_PARTS; part++) {
			r->function.at[to - 1].amount[part] += f->amount[part];
			r->function.at[to - 1].samples[part] += f->samples[part];
		}
	}
	r->function.n = to;
}

/* Of a side's column what chance makes of it, as samples of equal weight: squares are known of a side as a whole. */
static double samples_of(const struct analysis *a, enum side side, const int64_t *numbers, double x)
{
	const struct lens *l = &a->lens;
	uint32_t first = lens_side(l, side);
	double sum = 0, variance;

	for (uint32_t c = first; c < first + l->sides.n_runs[side]; c++)
		sum += (double)numbers[c] / (double)a->weights.scale[c];
	variance = normalize_variance(a->profile, l, &a->weights, side, numbers, sum);
	return sum > 0 && variance > 0 ? x * sum / variance : 0;
}

static void take_run(const struct analysis *a, enum side side, uint32_t c, struct noted_run *out)
{
	const struct table *t = &a->table;
	double scale = (double)a->weights.scale[c];

	*out = (struct noted_run){ .metric = metric_of(a),
				   .total = (double)a->weights.total[c] / scale };
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const int64_t *numbers[N_PARTS] = { &t->self[(size_t)i * t->n_columns],
						    &t->total[(size_t)i * t->n_columns] };
		struct noted_function f = { .id = id_of(&a->table_keys->key[t->key[i]]) };

		for (int part = 0; part < N_PARTS; part++) {
			f.amount[part] = (double)numbers[part][c] / scale;
			f.samples[part] = samples_of(a, side, numbers[part], f.amount[part]);
		}
		if (f.samples[PART_TOTAL] > 0)
			vec_push(&out->function, f);
	}
	join(out);
	if (out->function.n > HISTORY_MOST_FUNCTIONS) {
		qsort(out->function.at, out->function.n, sizeof(*out->function.at), by_amount);
		out->function.n = HISTORY_MOST_FUNCTIONS;
		qsort(out->function.at, out->function.n, sizeof(*out->function.at), by_id);
	}
}

/*
 * Of each stack a hash that is the same in each load of its file: by frames' addresses, which stay when functions get names, or else by
 * their functions. [n_stacks], the caller frees.
 */
static uint64_t *hash_stacks(const struct profile *p, const struct profile_counts *counts)
{
	uint64_t *frame = xcalloc(counts->n_locations, sizeof(*frame));
	uint64_t *stack = xcalloc(counts->n_stacks, sizeof(*stack));
	struct location_columns l;
	struct stack_columns s;

	profile_locations(p, &l);
	profile_stacks_of(p, counts, &s);
	for (uint32_t i = 0; i < counts->n_locations; i++) {
		uint32_t function = location_function(&l, i);
		const char *name;
		size_t n;

		frame[i] = hash_u64(l.address[i]);
		if (l.address[i] || function == ID_NONE)
			continue;
		name = profile_string(p, profile_function(p, (function_id){ function })->name, &n);
		frame[i] = hash_bytes(name, n);
	}
	for (uint32_t i = 1; i < counts->n_stacks; i++)
		stack[i] = hash_u64(stack[s.parent[i]] + frame[s.location[i]]);
	free(frame);
	return stack;
}

/* A row's time since its capture began; 0 where it has none. */
static uint64_t row_since(const struct sample_scan *r, uint64_t i)
{
	uint32_t thread = sample_rows_thread(&r->rows, i);
	int64_t at = sample_rows_time(&r->rows, i);

	return at == TIME_NONE
		       ? 0
		       : (uint64_t)at -
				 (uint64_t)r
					 ->origin[thread == ID_NONE ? r->counts.n_threads : thread];
}

/* What a run's rows say of it: sums, so that rows may come in any order. */
struct row_sums {
	uint64_t sum[LENS_MAX_COLUMNS];
	bool has_times[LENS_MAX_COLUMNS]; /* rows are of different times */
};

/* A row's time, what it weighs and, if given, its stack: the rows of a file have the same ones beside any other file. */
static void add_row(const struct sample_scan *r, uint32_t c, uint64_t i, const uint64_t *stack,
		    struct row_sums *out)
{
	double weight = (double)sample_scan_weight(&r->column[c], i) / (double)r->column[c].one;
	uint64_t since = row_since(r, i), bits;

	memcpy(&bits, &weight, sizeof(bits));
	bits ^= hash_u64(since);
	out->sum[c] += hash_u64(stack ? hash_u64(bits) + stack[r->rows.stack[i]] : bits);
	out->has_times[c] |= since != 0;
}

/* Of the column of each run, whatever the lens' filter leaves of it. stack may be NULL. */
static void sum_rows(const struct analysis *a, const uint64_t *stack, struct row_sums *out)
{
	const struct lens *l = &a->lens;
	uint32_t end = SIDES_FIRST + l->sides.n_runs[SIDE_BEFORE] + l->sides.n_runs[SIDE_AFTER];
	struct sample_scan *r;

	*out = (struct row_sums){ 0 };
	if (sample_scan_new(a->profile, &a->counts, l, NULL, &r))
		return;
	while (sample_scan_next(r, NULL) > 0) {
		for (uint32_t c = SIDES_FIRST; c < end; c++) {
			const bool *own = sample_scan_own(r, c);

			for (uint64_t i = 0; i < r->n; i++)
				if ((!own || own[i]) &&
				    sample_scan_counts(&r->column[c], r->event ? r->event[i] : 0))
					add_row(r, c, i, stack, out);
		}
	}
	sample_scan_free(r);
}

/* Times tell runs apart by themselves; where there are none, stacks must. */
static void hash_rows(const struct analysis *a, uint64_t sum[LENS_MAX_COLUMNS])
{
	struct row_sums plain, named;
	uint64_t *stack;
	bool all = true;

	sum_rows(a, NULL, &plain);
	memcpy(sum, plain.sum, sizeof(plain.sum));
	for (uint32_t c = 0; c < LENS_MAX_COLUMNS; c++)
		all &= plain.has_times[c] || !plain.sum[c];
	if (all)
		return;
	stack = hash_stacks(a->profile, &a->counts);
	sum_rows(a, stack, &named);
	free(stack);
	for (uint32_t c = 0; c < LENS_MAX_COLUMNS; c++)
		if (!plain.has_times[c])
			sum[c] = named.sum[c];
}

void run_history_take(const struct analysis *a, struct run_history *out)
{
	uint64_t rows[LENS_MAX_COLUMNS];

	hash_rows(a, rows);
	for (int side = 0; side < N_SIDES; side++) {
		uint32_t first = lens_side(&a->lens, (enum side)side);

		for (uint32_t i = 0; i < a->lens.sides.n_runs[side]; i++) {
			struct noted_run r;

			take_run(a, (enum side)side, first + i, &r);
			r.rows = rows[first + i];
			vec_push(&out->run, r);
		}
	}
}

char *run_history_write(const struct noted_run *r)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		mem_fail(0);
	fprintf(to, FIRST_LINE "\nnoted %" PRId64 "\nmetric %s\ntotal %.9g\n", r->noted_ns,
		r->metric, r->total);
	if (r->rows)
		fprintf(to, "rows %016" PRIx64 "\n", r->rows);
	for (size_t i = 0; i < r->function.n; i++) {
		const struct noted_function *f = &r->function.at[i];

		fprintf(to, "f %016" PRIx64 " %.9g %.9g %.9g %.9g\n", f->id, f->amount[PART_SELF],
			f->samples[PART_SELF], f->amount[PART_TOTAL], f->samples[PART_TOTAL]);
	}
	fprintf(to, "end %zu\n", r->function.n);
	if (fclose(to))
		mem_fail(n);
	return text;
}

/* The lines of a text, one after the other. */
struct lines {
	const char *at, *end;
	const char *name; /* of the file */
	unsigned long number;
	char line[256]; /* the last one */
};

static int wrong(const struct lines *l, const char *what, struct err *e)
{
	return err_set(e, -EBADMSG, "%s: line %lu: %s", l->name, l->number, what);
}

/* 0, or -EBADMSG with a sentence: there is none, or one that is too long or has a zero byte. */
static int next_line(struct lines *l, struct err *e)
{
	size_t left = (size_t)(l->end - l->at), n;
	const char *end = left ? memchr(l->at, '\n', left) : NULL;

	l->number++;
	if (!end)
		return wrong(l, "the file ends too early", e);
	n = (size_t)(end - l->at);
	if (n >= sizeof(l->line) || memchr(l->at, '\0', n))
		return wrong(l, "this is no line of a history", e);
	memcpy(l->line, l->at, n);
	l->line[n] = '\0';
	l->at = end + 1;
	return 0;
}

/* Numbers of a run are finite and not negative. */
static bool take_number(const char **s, double *out)
{
	char *end;

	if (**s != ' ' || !((*s)[1] >= '0' && (*s)[1] <= '9'))
		return false;
	*out = strtod(*s + 1, &end);
	*s = end;
	return isfinite(*out) && *out >= 0;
}

static bool take_id(const char **s, uint64_t *out)
{
	size_t n = strspn(*s, "0123456789abcdef");

	if (n != 16)
		return false;
	*out = strtoull(*s, NULL, 16);
	*s += n;
	return true;
}

static bool read_function(const char *s, struct noted_function *f)
{
	if (strncmp(s, "f ", 2) != 0)
		return false;
	s += 2;
	if (!take_id(&s, &f->id))
		return false;
	for (int part = 0; part < N_PARTS; part++)
		if (!take_number(&s, &f->amount[part]) || !take_number(&s, &f->samples[part]))
			return false;
	return *s == '\0';
}

/* Is it the line that only runs of known samples have? */
static bool read_rows(const char *s, uint64_t *out)
{
	if (strncmp(s, "rows ", 5) != 0)
		return false;
	s += 5;
	return take_id(&s, out) && *s == '\0' && *out;
}

static int read_functions(struct lines *l, struct noted_run *out, struct err *e)
{
	char end[32];

	for (;;) {
		struct noted_function f;
		int rc = next_line(l, e);

		if (rc)
			return rc;
		if (out->function.n == 0 && !out->rows && read_rows(l->line, &out->rows))
			continue;
		snprintf(end, sizeof(end), "end %zu", out->function.n);
		if (strcmp(l->line, end) == 0)
			return l->at == l->end ? 0 : wrong(l, "something follows the end", e);
		if (!read_function(l->line, &f))
			return wrong(l, "this is no function of a history", e);
		if (out->function.n && out->function.at[out->function.n - 1].id >= f.id)
			return wrong(l, "functions are not in order", e);
		if (out->function.n == HISTORY_MOST_FUNCTIONS)
			return wrong(l, "there are too many functions", e);
		vec_push(&out->function, f);
	}
}

static int read_run(struct lines *l, struct noted_run *out, struct err *e)
{
	const char *s = l->line;
	char *end;
	int rc = next_line(l, e);

	if (rc)
		return rc;
	if (strcmp(l->line, FIRST_LINE) != 0)
		return wrong(l, "this is no history of proftop", e);
	if ((rc = next_line(l, e)))
		return rc;
	if (strncmp(s, "noted ", 6) != 0 || !(s[6] >= '0' && s[6] <= '9') || strlen(s) > 6 + 19)
		return wrong(l, "the time is missing", e);
	errno = 0;
	out->noted_ns = strtoll(s + 6, &end, 10);
	if (*end || errno)
		return wrong(l, "the time is no number", e);
	if ((rc = next_line(l, e)))
		return rc;
	if (strncmp(s, "metric ", 7) != 0)
		return wrong(l, "the metric is missing", e);
	out->metric = xstrdup(s + 7);
	if ((rc = next_line(l, e)))
		return rc;
	if (strncmp(s, "total", 5) != 0)
		return wrong(l, "the total is missing", e);
	s += 5;
	if (!take_number(&s, &out->total) || *s)
		return wrong(l, "the total is no number", e);
	return read_functions(l, out, e);
}

int run_history_read(const char *text, size_t n, const char *name, struct noted_run *out,
		     struct err *e)
{
	struct lines l = { .at = text, .end = text + n, .name = name };
	int rc;

	*out = (struct noted_run){ 0 };
	rc = n > HISTORY_MOST_BYTES ? err_set(e, -EBADMSG, "%s: too large for a history", name)
				    : read_run(&l, out, e);
	if (rc)
		noted_run_done(out);
	return rc;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= WRITTEN * (fabs(a) + fabs(b));
}

bool run_history_same(const struct noted_run *a, const struct noted_run *b)
{
	if (strcmp(a->metric, b->metric) != 0)
		return false;
	if (a->rows && b->rows)
		return a->rows == b->rows;
	if (a->function.n != b->function.n || !near(a->total, b->total))
		return false;
	for (size_t i = 0; i < a->function.n; i++)
		if (a->function.at[i].id != b->function.at[i].id ||
		    !near(a->function.at[i].amount[PART_SELF], b->function.at[i].amount[PART_SELF]))
			return false;
	return true;
}

static const struct noted_function *find(const struct noted_run *r, uint64_t id)
{
	struct noted_function wanted = { .id = id };

	return r->function.n
		       ? bsearch(&wanted, r->function.at, r->function.n, sizeof(wanted), by_id)
		       : NULL;
}

/* What of a run is in the same functions of another, 0..1: a filter may have left few of those that were compared. */
static double overlap(const struct noted_run *compared, const struct noted_run *r)
{
	double whole = 0, sum = 0;

	for (size_t i = 0; i < compared->function.n; i++) {
		const struct noted_function *f = find(r, compared->function.at[i].id);

		whole += f ? f->amount[PART_SELF] : 0;
	}
	for (size_t i = 0; i < compared->function.n && whole > 0 && compared->total > 0; i++) {
		const struct noted_function *x = &compared->function.at[i], *y = find(r, x->id);

		if (y)
			sum += fmin(x->amount[PART_SELF] / compared->total,
				    y->amount[PART_SELF] / whole);
	}
	return sum;
}

/* A run that is heard. */
static bool is_heard(const struct noted_run *r, const struct run_history *compared)
{
	bool like = false;

	for (size_t i = 0; i < compared->run.n; i++) {
		const struct noted_run *c = &compared->run.at[i];

		if (run_history_same(r, c))
			return false;
		like |= strcmp(r->metric, c->metric) == 0 && overlap(c, r) >= LEAST_OVERLAP;
	}
	return like;
}

static int by_time(const void *a, const void *b)
{
	const struct noted_run *x = *(const struct noted_run *const *)a;
	const struct noted_run *y = *(const struct noted_run *const *)b;

	return (x->noted_ns > y->noted_ns) - (x->noted_ns < y->noted_ns);
}

/* What a function differs by between two runs, as a logarithm; what chance makes of its square. */
struct step {
	double off, chance;
};

static bool step_of(const struct noted_function *a, const struct noted_function *b,
		    enum row_part part, struct step *out)
{
	if (!(a->samples[part] >= ENOUGH && b->samples[part] >= ENOUGH && a->amount[part] > 0 &&
	      b->amount[part] > 0))
		return false;
	*out = (struct step){ log(b->amount[part] / a->amount[part]),
			      1 / a->samples[part] + 1 / b->samples[part] };
	return true;
}

static int by_off(const void *a, const void *b)
{
	double x = ((const struct step *)a)->off, y = ((const struct step *)b)->off;

	return (x > y) - (x < y);
}

/* By what all functions together differ: their median, by how well each is known. Reorders them. */
static double middle(struct step *s, size_t n)
{
	double all = 0, sum = 0;

	qsort(s, n, sizeof(*s), by_off);
	for (size_t i = 0; i < n; i++)
		all += 1 / (s[i].chance + EQUAL_VARIANCE);
	for (size_t i = 0; i < n; i++) {
		sum += 1 / (s[i].chance + EQUAL_VARIANCE);
		if (sum >= all / 2)
			return s[i].off;
	}
	return 0;
}

static double speed_of(const struct noted_run *a, const struct noted_run *b)
{
	VEC(struct step) all = { 0 };
	double speed;

	for (size_t i = 0, k = 0; i < a->function.n && k < b->function.n;) {
		const struct noted_function *x = &a->function.at[i], *y = &b->function.at[k];
		struct step s;

		if (x->id == y->id && step_of(x, y, PART_SELF, &s))
			vec_push(&all, s);
		i += x->id <= y->id;
		k += y->id <= x->id;
	}
	speed = middle(all.at, all.n);
	vec_done(&all);
	return speed;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of squares in units of what they should be the median, where each run differs by so much besides chance. */
static double median_square(const struct step *s, size_t n, double square)
{
	double at[HISTORY_MOST_RUNS];

	for (size_t i = 0; i < n; i++)
		at[i] = s[i].off * s[i].off / (s[i].chance + 2 * square);
	qsort(at, n, sizeof(*at), by_size);
	return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

static struct own_spread spread_of(const struct step *s, size_t n)
{
	double low = 0, high = MOST_SQUARE, freedom = (double)n * PART_TOLD;

	if (n + 1 < HISTORY_LEAST_RUNS ||
	    median_square(s, n, 0) <= MEDIAN_SQUARE + UNLIKE * MEDIAN_DEVIATION / sqrt((double)n))
		return (struct own_spread){ 0 };
	for (int i = 0; i < 40; i++) {
		double square = (low + high) / 2;

		if (median_square(s, n, square) <= MEDIAN_SQUARE)
			high = square;
		else
			low = square;
	}
	return (struct own_spread){ (USUAL_FREEDOM * USUAL_SQUARE + freedom * high) /
					    (USUAL_FREEDOM + freedom),
				    USUAL_FREEDOM + freedom };
}

/* What runs say, each with the next; speed is [n - 1]. */
static struct own_spread ask(const struct noted_run *const *run, size_t n, const double *speed,
			     uint64_t id, enum row_part part)
{
	struct step s[HISTORY_MOST_RUNS];
	size_t n_steps = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		const struct noted_function *a = find(run[i], id), *b = find(run[i + 1], id);

		if (!a || !b || !step_of(a, b, part, &s[n_steps]))
			continue;
		s[n_steps++].off -= speed[i];
	}
	return spread_of(s, n_steps);
}

static void ask_all(const struct noted_run *const *run, size_t n, const struct analysis *a,
		    struct own_spread *out[N_PARTS])
{
	double speed[HISTORY_MOST_RUNS];

	for (size_t i = 0; i + 1 < n; i++)
		speed[i] = speed_of(run[i], run[i + 1]);
	for (int part = 0; part < N_PARTS; part++)
		out[part] = xcalloc(a->table_keys->n, sizeof(**out));
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		uint32_t key = a->table.key[i];
		uint64_t id = id_of(&a->table_keys->key[key]);

		for (int part = 0; part < N_PARTS; part++)
			out[part][key] = ask(run, n, speed, id, (enum row_part)part);
	}
}

void run_history_learn(const struct run_history *h, const struct analysis *a,
		       struct own_spread *out[N_PARTS], uint32_t *n_runs)
{
	VEC(const struct noted_run *) heard = { 0 };
	struct run_history compared = { 0 };
	size_t from;

	out[PART_SELF] = out[PART_TOTAL] = NULL;
	*n_runs = 0;
	if (!h || a->lens.grouping != GROUP_FUNCTION)
		return;
	run_history_take(a, &compared);
	for (size_t i = 0; i < h->run.n; i++)
		if (is_heard(&h->run.at[i], &compared))
			vec_push(&heard, &h->run.at[i]);
	if (heard.n)
		qsort(heard.at, heard.n, sizeof(*heard.at), by_time);
	from = heard.n > HISTORY_MOST_RUNS ? heard.n - HISTORY_MOST_RUNS : 0;
	*n_runs = (uint32_t)(heard.n - from);
	if (*n_runs >= HISTORY_LEAST_RUNS)
		ask_all(heard.at + from, *n_runs, a, out);
	vec_done(&heard);
	run_history_done(&compared);
}
