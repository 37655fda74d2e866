/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/term_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "profile/sample_rows.h"
#include "query/core/captures.h"
#include "query/core/filter_term.h"

/* Rows that are looked at; of more, so many batches evenly over all of them. A key waits for it. */
#define ROWS_MOST ((uint64_t)256 * SAMPLE_ROWS_BATCH)

#define N_CPUS ((size_t)UINT16_MAX + 1)

/* How many samples each has; owned. */
struct tally {
	const struct profile *p;
	struct profile_counts counts;
	uint64_t *stack;    /* [n_stacks] that end there */
	uint64_t *thread;   /* [n_threads] */
	uint64_t *event;    /* [n_events] */
	uint64_t *cpu;      /* [N_CPUS], the last of what is not known */
	uint64_t *function; /* [n_functions] with it anywhere, or innermost; NULL until needed */
	uint64_t *module;   /* [n_modules] likewise */
};

/* Which of the values are wanted. */
struct wanted {
	const char *text;
	bool anywhere;
};

static void count_batch(struct tally *t, const struct sample_columns *c, struct sample_rows *rows,
			uint64_t row)
{
	uint32_t n = sample_rows_next(rows, c, row, t->counts.n_samples,
				      ROWS_STACK | ROWS_THREAD | ROWS_EVENT | ROWS_CPU);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t samples = sample_count(c, row + i);
		uint32_t thread = sample_rows_thread(rows, i);

		t->stack[rows->stack[i]] += samples;
		t->event[sample_rows_event(rows, i)] += samples;
		t->cpu[sample_rows_cpu(rows, i)] += samples;
		if (thread < t->counts.n_threads)
			t->thread[thread] += samples;
	}
}

static void tally_init(struct tally *t, const struct profile *p)
{
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	struct sample_columns c;
	uint64_t n, step = SAMPLE_ROWS_BATCH;

	*t = (struct tally){ .p = p };
	profile_hold(p, &t->counts);
	profile_samples_of(p, &t->counts, &c);
	t->stack = xcalloc((size_t)t->counts.n_stacks + 1, sizeof(*t->stack));
	t->thread = xcalloc((size_t)t->counts.n_threads + 1, sizeof(*t->thread));
	t->event = xcalloc((size_t)t->counts.n_events + 1, sizeof(*t->event));
	t->cpu = xcalloc(N_CPUS, sizeof(*t->cpu));
	n = t->counts.n_samples;
	if (n > ROWS_MOST)
		step *= (n + ROWS_MOST - 1) / ROWS_MOST;
	for (uint64_t row = 0; row < n; row += step)
		count_batch(t, &c, rows, row);
	free(rows);
}

static void tally_done(struct tally *t)
{
	profile_release(t->p, &t->counts);
	free(t->stack);
	free(t->thread);
	free(t->event);
	free(t->cpu);
	free(t->function);
	free(t->module);
}

static void count_function(struct tally *t, uint32_t function, uint64_t samples)
{
	if (function < t->counts.n_functions)
		t->function[function] += samples;
}

/* Of a location: all frames that it stands for, or the innermost of them. */
static void count_location(struct tally *t, const struct location_columns *l, uint32_t location,
			   bool innermost, uint64_t samples)
{
	const struct frame *f = location_frames(l, location);

	if (!f) {
		count_function(t, location_function(l, location), samples);
		return;
	}
	for (uint32_t i = innermost ? f->n_more : 0, n = f->n_more; i <= n; i++)
		count_function(t, f[i].function, samples);
}

/*
 * Samples of functions and modules: where they end, or of all that are below. A function that calls itself directly counts once;
 * one that comes again further below counts again, which the order of a list can bear.
 */
static void tally_frames(struct tally *t, bool innermost)
{
	struct location_columns l;
	struct stack_columns s;

	profile_locations(t->p, &l);
	profile_stacks_of(t->p, &t->counts, &s);
	t->function = xcalloc((size_t)t->counts.n_functions + 1, sizeof(*t->function));
	t->module = xcalloc((size_t)t->counts.n_modules + 1, sizeof(*t->module));
	for (uint32_t i = t->counts.n_stacks; i-- > 1;) {
		uint32_t at = s.location[i], parent = s.parent[i];
		uint32_t above = parent != 0 && !innermost ? s.location[parent] : ID_NONE;

		if (t->stack[i] == 0)
			continue;
		if (above == ID_NONE || l.module[above] != l.module[at])
			t->module[l.module[at]] += t->stack[i];
		if (above == ID_NONE || location_function(&l, above) != location_function(&l, at))
			count_location(t, &l, at, innermost, t->stack[i]);
		if (!innermost)
			t->stack[parent] += t->stack[i];
	}
}

static bool is_wanted(const struct wanted *w, const char *text)
{
	if (*text == '\0')
		return false;
	if (w->anywhere)
		return strcasestr(text, w->text) != NULL;
	return strncmp(text, w->text, strlen(w->text)) == 0;
}

static void add(struct term_values *v, const struct wanted *w, const char *text, const char *beside,
		uint64_t samples)
{
	if (is_wanted(w, text))
		vec_push(v, ((struct term_value_found){ text, beside, samples }));
}

/* Numbers are made to texts. */
static void add_number(struct term_values *v, const struct wanted *w, int64_t number,
		       const char *beside, uint64_t samples)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lld", (long long)number);

	if (number >= 0 && is_wanted(w, text))
		add(v, w, arena_strndup(&v->made, text, (size_t)n), beside, samples);
}

static const char *string(const struct tally *t, string_id s)
{
	return profile_string(t->p, s, NULL);
}

static void add_functions(struct term_values *v, struct tally *t, const struct wanted *w,
			  const char *kind)
{
	bool files = strcmp(kind, "file") == 0;

	tally_frames(t, strcmp(kind, "leaf") == 0);
	for (uint32_t i = 0; i < t->counts.n_functions; i++) {
		const struct function *f = profile_function(t->p, (function_id){ i });

		if (!(f->flags & FUNCTION_COMM))
			add(v, w, string(t, files ? function_file(f) : f->name), "",
			    t->function[i]);
	}
}

static void add_modules(struct term_values *v, struct tally *t, const struct wanted *w,
			const char *kind)
{
	tally_frames(t, strcmp(kind, "in") == 0);
	for (uint32_t i = 0; i < t->counts.n_modules; i++)
		add(v, w, string(t, profile_module(t->p, (module_id){ i })->name), "",
		    t->module[i]);
}

static void add_events(struct term_values *v, struct tally *t, const struct wanted *w)
{
	for (uint32_t i = 0; i < t->counts.n_events; i++)
		add(v, w, string(t, profile_event(t->p, (event_id){ i })->name), "", t->event[i]);
}

static void add_cpus(struct term_values *v, struct tally *t, const struct wanted *w)
{
	for (size_t i = 0; i < CPU_NONE; i++)
		if (t->cpu[i] > 0)
			add_number(v, w, (int64_t)i, "", t->cpu[i]);
}

/* Inputs: their numbers beside their files, or their machines. */
static void add_captures(struct term_values *v, struct tally *t, const struct wanted *w, bool hosts)
{
	uint64_t *samples = xcalloc((size_t)t->counts.n_captures + 1, sizeof(*samples));
	uint32_t *name = hosts ? captures_hosts(t->p, &t->counts)
			       : captures_files(t->p, &t->counts);

	for (uint32_t i = 0; i < t->counts.n_threads; i++) {
		process_id process = profile_thread(t->p, (thread_id){ i })->process;

		samples[profile_process(t->p, process)->capture.v] += t->thread[i];
	}
	for (uint32_t i = 0; i < t->counts.n_captures; i++) {
		const char *text = name[i] == ID_NONE ? "" : string(t, (string_id){ name[i] });

		if (hosts)
			add(v, w, text, "", samples[i]);
		else
			add_number(v, w, (int64_t)i + 1, text, samples[i]);
	}
	free(name);
	free(samples);
}

static void add_thread(struct term_values *v, const struct tally *t, const struct wanted *w,
		       const char *kind, uint32_t i)
{
	const struct thread *thread = profile_thread(t->p, (thread_id){ i });
	const struct process *process = profile_process(t->p, thread->process);
	uint64_t n = t->thread[i];

	if (strcmp(kind, "tid") == 0)
		add_number(v, w, thread->tid, string(t, thread->name), n);
	else if (strcmp(kind, "pid") == 0)
		add_number(v, w, process->pid, string(t, process_name(process)), n);
	else if (strcmp(kind, "process") == 0)
		add(v, w, string(t, process_name(process)), "", n);
	else if (strcmp(kind, "label") == 0)
		add(v, w, string(t, thread->labels), "", n);
	else if (strcmp(kind, "cgroup") != 0)
		add(v, w, string(t, thread->name), "", n);
	else if (thread->cgroup != ID_NONE)
		add(v, w,
		    string(t, cgroup_path(profile_cgroup(t->p, (cgroup_id){ thread->cgroup }))), "",
		    n);
}

/* Kinds by what their values are names or numbers of. */
enum subject { OF_FUNCTIONS, OF_MODULES, OF_THREADS, OF_EVENTS, OF_CPUS, OF_CAPTURES, N_SUBJECTS };

#define KINDS_MOST 8

static const char *const kinds[N_SUBJECTS][KINDS_MOST] = {
	[OF_FUNCTIONS] = { "fn", "leaf", "focus", "merge", "collapse", "file", "freed-in" },
	[OF_MODULES] = { "module", "in", "focus-module", "collapse-module" },
	[OF_THREADS] = { "thread", "process", "comm", "pid", "tid", "cgroup", "label" },
	[OF_EVENTS] = { "event" },
	[OF_CPUS] = { "cpu" },
	[OF_CAPTURES] = { "capture", "host" },
};

static enum subject subject_of(const char *kind)
{
	for (int s = 0; s < N_SUBJECTS; s++)
		for (int i = 0; i < KINDS_MOST && kinds[s][i]; i++)
			if (strcmp(kinds[s][i], kind) == 0)
				return (enum subject)s;
	return N_SUBJECTS;
}

static void add_kind(struct term_values *v, struct tally *t, const struct wanted *w,
		     const char *kind)
{
	switch (subject_of(kind)) {
	case OF_FUNCTIONS:
		add_functions(v, t, w, kind);
		break;
	case OF_MODULES:
		add_modules(v, t, w, kind);
		break;
	case OF_THREADS:
		for (uint32_t i = 0; i < t->counts.n_threads; i++)
			add_thread(v, t, w, kind, i);
		break;
	case OF_EVENTS:
		add_events(v, t, w);
		break;
	case OF_CPUS:
		add_cpus(v, t, w);
		break;
	case OF_CAPTURES:
		add_captures(v, t, w, strcmp(kind, "host") == 0);
		break;
	case N_SUBJECTS:
		break;
	}
}

static int by_text(const void *pa, const void *pb)
{
	const struct term_value_found *a = pa, *b = pb;
	int order = strcmp(a->text, b->text);

	/* of equal ones, what most samples stand beside */
	return order ? order : a->n_samples < b->n_samples ? 1 : -(a->n_samples > b->n_samples);
}

static int by_samples(const void *pa, const void *pb)
{
	const struct term_value_found *a = pa, *b = pb;

	return COMPARE(b->n_samples, a->n_samples) ?: strcmp(a->text, b->text);
}

/* Equal texts are one value. */
static void merge_equal(struct term_values *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (n > 0 && strcmp(v->at[n - 1].text, v->at[i].text) == 0)
			v->at[n - 1].n_samples += v->at[i].n_samples;
		else
			v->at[n++] = v->at[i];
	}
	v->n = n;
}

static void find(struct term_values *v, const struct profile *p, const char *kind,
		 const struct wanted *w)
{
	struct tally t;

	*v = (struct term_values){ 0 };
	arena_init(&v->made);
	for (size_t i = 0; term_value_name(kind, i); i++)
		add(v, w, term_value_name(kind, i), "", 0); /* words, in the order of the table */
	if (subject_of(kind) == N_SUBJECTS)
		return;
	tally_init(&t, p);
	add_kind(v, &t, w, kind);
	tally_done(&t);
	if (v->n == 0)
		return;
	qsort(v->at, v->n, sizeof(*v->at), by_text);
	merge_equal(v);
	qsort(v->at, v->n, sizeof(*v->at), by_samples);
}

bool term_values_has(const char *kind)
{
	return term_value_name(kind, 0) || subject_of(kind) != N_SUBJECTS;
}

void term_values_init(struct term_values *v, const struct profile *p, const char *kind,
		      const char *begin)
{
	find(v, p, kind, &(struct wanted){ .text = begin });
}

void term_values_init_with(struct term_values *v, const struct profile *p, const char *kind,
			   const char *part)
{
	find(v, p, kind, &(struct wanted){ .text = part, .anywhere = true });
}

void term_values_done(struct term_values *v)
{
	arena_done(&v->made);
	free(v->at);
	*v = (struct term_values){ 0 };
}
