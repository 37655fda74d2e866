/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a location and headers of a thread are made once: there are few of them among the samples. */
#include "config.h"

#include "perf_script_write.h"

#include "analysis.h"
#include "err.h"
#include "mem.h"
#include "profile.h"
#include "rowpass.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Samples that rows are taken apart into; of more, each row is written as one. */
#define MOST_APART 1000000

struct writer {
	const struct profile *p;
	struct profile_counts counts;
	struct stack_columns stacks;
	struct location_columns locations;
	char **frames; /* [n_locations] lines of each; NULL: not yet made */
	char **who;    /* [n_threads] "comm pid/tid"; likewise */
	bool apart;    /* rows of several samples are so many */
	FILE *to;
};

/* Prints a name as one line that reads as such; what has none is "[unknown]". */
static void print_name(const struct writer *w, string_id id, FILE *to)
{
	size_t n;
	const char *s = profile_string(w->p, id, &n);
	char *clean = text_clean(s, n, false);

	fputs(*clean ? clean : "[unknown]", to);
	free(clean);
}

/* A line of its address, its name and its module ("()": none), and one of where it is in the source. */
static void print_frame(const struct writer *w, uint32_t location, const struct frame *frame,
			bool inlined, FILE *to)
{
	module_id of = { w->locations.module[location] };
	const struct function *f = NULL;
	const struct module *module;

	if (frame->function != ID_NONE)
		f = profile_function(w->p, (function_id){ frame->function });
	module = profile_module(w->p, f ? f->module : of);
	fprintf(to, "\t%16" PRIx64 " ", w->locations.address[location]);
	print_name(w, f ? f->name : (string_id){ 0 }, to);
	fputs(" (", to);
	if (inlined)
		fputs("inlined", to);
	else if (module->path.v != 0)
		print_name(w, module->path, to);
	fputs(")\n", to);
	if (frame->line > 0) {
		fputs("  ", to);
		print_name(w, (string_id){ frame->file }, to);
		fprintf(to, ":%" PRIu32 "\n", frame->line);
	}
}

static bool is_thread_name(const struct writer *w, uint32_t function)
{
	return function != ID_NONE &&
	       profile_function(w->p, (function_id){ function })->flags & FUNCTION_COMM;
}

/* The lines of a location; none of what is a thread's name. */
static const char *frames_of(struct writer *w, uint32_t location)
{
	uint32_t function = location_function(&w->locations, location);
	const struct frame *run = location_frames(&w->locations, location);
	const struct frame alone = { .function = function };
	size_t n;
	FILE *to;

	if (w->frames[location])
		return w->frames[location];
	to = open_memstream(&w->frames[location], &n);
	if (!run)
		run = &alone;
	for (uint32_t i = run->n_more + 1; to && !is_thread_name(w, function) && i-- > 0;)
		print_frame(w, location, &run[i], i > 0, to);
	if (!to || fclose(to))
		abort(); /* as without memory */
	return w->frames[location];
}

static const char *who_of(struct writer *w, uint32_t thread)
{
	const struct thread *t;
	char *name;
	size_t n;

	if (thread == ID_NONE)
		return "-1/-1";
	if (!w->who[thread]) {
		const char *s;

		t = profile_thread(w->p, (thread_id){ thread });
		s = profile_string(w->p, t->name, &n);
		name = text_clean(s, n, false);
		w->who[thread] = xasprintf("%s %" PRId32 "/%" PRId32, name,
					   profile_process(w->p, t->process)->pid, t->tid);
		free(name);
	}
	return w->who[thread];
}

/* weight < 0: of an event whose samples count one each. */
static void print_sample(struct writer *w, const struct sample_columns *rows, uint64_t row,
			 int64_t weight)
{
	uint32_t event = rows->event ? rows->event[row] : 0;
	uint16_t cpu = rows->cpu ? rows->cpu[row] : CPU_NONE;
	int64_t time_ns = rows->time_ns ? rows->time_ns[row] : TIME_NONE;

	fputs(who_of(w, rows->thread ? rows->thread[row] : ID_NONE), w->to);
	if (cpu != CPU_NONE)
		fprintf(w->to, " [%03u]", cpu);
	if (time_ns != TIME_NONE)
		fprintf(w->to, " %" PRId64 ".%09" PRId64 ":", time_ns / 1000000000,
			time_ns % 1000000000);
	if (weight >= 0)
		fprintf(w->to, " %" PRId64, weight);
	fputc(' ', w->to);
	print_name(w, profile_event(w->p, (event_id){ (uint16_t)event })->name, w->to);
	fputs(":\n", w->to);
	for (uint32_t s = rows->stack[row]; s != 0; s = w->stacks.parent[s])
		fputs(frames_of(w, w->stacks.location[s]), w->to);
	fputc('\n', w->to);
}

/* A row as its samples. */
static void print_row(struct writer *w, const struct sample_columns *rows, uint64_t row)
{
	uint32_t event = rows->event ? rows->event[row] : 0;
	int64_t weight = rows->weight ? rows->weight[row] : 1;
	int64_t n = w->apart ? (int64_t)sample_count(rows, row) : 1;

	if (!profile_event(w->p, (event_id){ (uint16_t)event })->has_weight) {
		for (int64_t i = 0; i < n; i++)
			print_sample(w, rows, row, w->apart ? -1 : weight);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t part = weight / n + (i < weight % n);

		if (part > 0)
			print_sample(w, rows, row, part);
	}
}

static int print_all(struct writer *w, struct rowpass *r)
{
	int rc;

	while ((rc = rowpass_next(r, NULL)) > 0) {
		const bool *passes = rowpass_lens(r);

		for (uint64_t i = 0; i < r->n && !ferror(w->to); i++)
			if (!passes || passes[i])
				print_row(w, &r->rows, r->begin + i);
	}
	return rc;
}

bool perf_script_says_all(const struct analysis *a)
{
	uint32_t n_heap = 0;

	if (a->counts.n_samples == 0 || lens_compares(&a->lens) || a->lens.beside)
		return false;
	for (uint16_t i = 0; i < a->counts.n_events; i++) {
		const struct event *e = profile_event(a->profile, (event_id){ i });

		n_heap += e->is_heap;
		if (e->is_counted || e->scale != 1)
			return false;
	}
	return n_heap == 0;
}

static void free_lines(char **lines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(lines[i]);
	free(lines);
}

int perf_script_write(const struct analysis *a, FILE *to, struct err *e)
{
	struct writer w = {
		.p = a->profile,
		.counts = a->counts,
		.apart = a->counts.n_taken <= MOST_APART,
		.to = to,
	};
	struct rowpass *r;
	int rc = rowpass_new(a->profile, &a->counts, &a->lens, NULL, &r);

	if (rc)
		return err_set(e, rc, "cannot go through the samples");
	profile_stacks_of(a->profile, &a->counts, &w.stacks);
	profile_locations(a->profile, &w.locations);
	w.frames = xcalloc(w.counts.n_locations, sizeof(*w.frames));
	w.who = xcalloc(w.counts.n_threads, sizeof(*w.who));
	rc = print_all(&w, r);
	free_lines(w.frames, w.counts.n_locations);
	free_lines(w.who, w.counts.n_threads);
	rowpass_free(r);
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return err_set(e, errno ? -errno : -EIO, "cannot write samples");
	return rc ? err_set(e, rc, "cannot go through the samples") : 0;
}
