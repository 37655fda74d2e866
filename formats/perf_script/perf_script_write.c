/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a location and headers of a thread are made once: there are few of them among the samples. */
#include "config.h"

#include "formats/perf_script/perf_script_write.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/perf_script/perf_script_line.h"
#include "formats/write/export_losses.h"
#include "formats/write/export_stacks.h"
#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/frame_ids.h"
#include "query/core/groups.h"
#include "query/core/sample_scan.h"

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
	struct groups keys; /* of functions, as rows have them */
	char **frames;      /* [n_locations] lines of each; NULL: not yet made */
	char **who;         /* [n_threads] "comm pid/tid"; likewise */
	bool apart;         /* rows of several samples are so many */
	int64_t begin_ns;   /* of the earliest sample that was written; TIME_NONE: none yet */
	int64_t n_coarse;  /* samples that are written with the time of one like them before, … */
	int64_t coarse_ns; /* … at most so much earlier */
	/* of rows, where a transform or a grouping makes new stacks; else NULL */
	struct export_stacks *made;
	FILE *to;
};

/* Prints a name as one line that reads as such; what has none is "[unknown]". */
static void print_text(const char *s, size_t n, FILE *to)
{
	char *clean = text_clean(s, n, false);

	fputs(*clean ? clean : "[unknown]", to);
	free(clean);
}

static void print_name(const struct writer *w, string_id id, FILE *to)
{
	size_t n;
	const char *s = profile_string(w->p, id, &n);

	print_text(s, n, to);
}

/* As rows say it: what has no symbol and may be of several builds is "[module]". It may have got its name just now. */
static void print_function(const struct writer *w, uint32_t id, uint32_t module, FILE *to)
{
	const struct function *f = profile_function(w->p, (function_id){ id });
	bool apart = w->keys.key[groups_of_frame(&w->keys, id, module)].flags & FUNCTION_BEGIN;
	char *made = f->flags & FUNCTION_BEGIN && !apart ? frame_id_made_label(w->p, f->module)
							 : NULL;

	if (made)
		print_text(made, strlen(made), to);
	else
		print_name(w, f->name, to);
	free(made);
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
	if (f)
		print_function(w, frame->function, of.v, to);
	else
		print_name(w, (string_id){ 0 }, to);
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

/* "malloc:live:bytes", "malloc:bytes:bytes", "malloc:calls": what a measure of a heap's event is called in the text; the caller frees. */
static char *heap_name(const struct profile *p, struct metric m)
{
	const char *event = profile_string(p, profile_event(p, m.event)->name, NULL);

	return xasprintf("%s:%s%s", event, metric_word(p, m),
			 metric_unit(p, m) == UNIT_BYTES ? SCRIPT_BYTES : "");
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

/* A frame that is a row: it has no address. */
static void print_made_frame(struct writer *w, const struct export_frame *f)
{
	const struct module *module = profile_module(w->p, (module_id){ f->module });

	fprintf(w->to, "\t%16x ", 0);
	print_text(f->name, strlen(f->name), w->to);
	fputs(" (", w->to);
	if (module->path.v != 0)
		print_name(w, module->path, w->to);
	fputs(")\n", w->to);
}

static void print_stack(struct writer *w, uint32_t stack)
{
	uint32_t node = w->made ? export_stacks_framed(w->made, stack) : 0;

	for (; node != 0; node = w->made->nodes.at[node].parent)
		print_made_frame(w, &w->made->frames.at[w->made->nodes.at[node].frame]);
	for (uint32_t s = w->made ? 0 : stack; s != 0; s = w->stacks.parent[s])
		fputs(frames_of(w, w->stacks.location[s]), w->to);
	fputc('\n', w->to);
}

/* Has a transform dropped it? */
static bool is_gone(struct writer *w, uint32_t stack)
{
	return w->made && export_stacks_node(w->made, stack) == EXPORT_GONE;
}

/* The control group, behind the event. */
static void print_group(struct writer *w, uint32_t thread)
{
	uint32_t group = thread == ID_NONE ? ID_NONE
					   : profile_thread(w->p, (thread_id){ thread })->cgroup;
	string_id path = { 0 };

	if (group != ID_NONE)
		path = cgroup_path(profile_cgroup(w->p, (cgroup_id){ group }));
	if (path.v == 0)
		return;
	fputc(' ', w->to);
	print_name(w, path, w->to);
}

/* weight < 0: of an event whose samples count one each. */
static void print_sample(struct writer *w, const struct sample_rows *rows, uint64_t i,
			 int64_t weight)
{
	event_id event = { sample_rows_event(rows, i) };
	const struct event *e = profile_event(w->p, event);
	uint16_t cpu = sample_rows_cpu(rows, i);
	int64_t time_ns = sample_rows_time(rows, i);

	fputs(who_of(w, sample_rows_thread(rows, i)), w->to);
	if (cpu != CPU_NONE)
		fprintf(w->to, " [%03u]", cpu);
	if (time_ns != TIME_NONE && (w->begin_ns == TIME_NONE || time_ns < w->begin_ns))
		w->begin_ns = time_ns;
	if (time_ns != TIME_NONE)
		fprintf(w->to, " %" PRId64 ".%09" PRId64 ":", time_ns / 1000000000,
			time_ns % 1000000000);
	if (weight >= 0)
		fprintf(w->to, " %" PRId64, weight);
	fputc(' ', w->to);
	print_name(w, e->name, w->to);
	fputs(e->unit == UNIT_BYTES ? SCRIPT_BYTES ":" : ":", w->to);
	if (rows->thread)
		print_group(w, rows->thread[i]);
	fputc('\n', w->to);
	print_stack(w, rows->stack[i]);
}

/* Of those that became one row the first one's time alone is known. */
static void note_coarse(struct writer *w, const struct sample_scan *r, uint64_t i)
{
	int64_t time_ns = sample_rows_time(&r->rows, i);
	int64_t late = r->begin + i < r->columns.n_folded && time_ns != TIME_NONE
			       ? r->columns.last_ns[r->begin + i] - time_ns
			       : 0;

	if (late <= 0)
		return;
	w->n_coarse += (int64_t)sample_scan_count(r, i) - 1;
	w->coarse_ns = late > w->coarse_ns ? late : w->coarse_ns;
}

static void print_coarse(const struct writer *w)
{
	char n[FMT_COUNTED_SIZE], late[FMT_SIZE];

	if (w->n_coarse > 0)
		fprintf(w->to,
			SCRIPT_TIMES "%s have the time of one like them before, of up to %s\n",
			fmt_counted(n, w->n_coarse, "old sample"), fmt_ns(late, w->coarse_ns));
}

/* A row as its samples. */
static void print_row(struct writer *w, const struct sample_scan *r, uint64_t row)
{
	const struct sample_rows *rows = &r->rows;
	uint32_t event = sample_rows_event(rows, row);
	int64_t weight = rows->weight ? rows->weight[row] : 1;
	int64_t n = w->apart ? (int64_t)sample_scan_count(r, row) : 1;

	if (is_gone(w, rows->stack[row]))
		return;
	note_coarse(w, r, row);
	if (!profile_event(w->p, (event_id){ (uint16_t)event })->has_weight) {
		for (int64_t i = 0; i < n; i++)
			print_sample(w, rows, row, w->apart ? -1 : weight);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t part = weight / n + (i < weight % n);

		/* Also what stands for nothing: it is a sample. */
		if (part >= 0)
			print_sample(w, rows, row, part);
	}
}

/* What a stack has of a heap's measure, as one sample. Weights in parts of the unit are rounded so that their sum is. */
static void print_sum(struct writer *w, uint32_t stack, uint32_t thread, int64_t weight,
		      const char *event)
{
	if (weight == 0 || is_gone(w, stack))
		return;
	fprintf(w->to, "%s %" PRId64 " %s:\n", who_of(w, thread), weight, event);
	print_stack(w, stack);
}

/* A thread that asked for what is at a stack; [n_stacks], the caller frees. */
static uint32_t *find_askers(const struct writer *w)
{
	uint32_t *thread = xmalloc(w->counts.n_stacks * sizeof(*thread));
	struct heap_columns heap;

	memset(thread, 0xff, w->counts.n_stacks * sizeof(*thread));
	profile_heap_of(w->p, &w->counts, &heap);
	for (uint32_t i = heap.n_origins; i-- > 0;)
		if (heap.origins[i].stack < w->counts.n_stacks)
			thread[heap.origins[i].stack] = heap.origins[i].thread;
	return thread;
}

static void print_measure(struct writer *w, const struct weights *sums, uint32_t column,
			  const uint32_t *thread, struct metric m)
{
	char *event = heap_name(w->p, m);
	int64_t sum = 0, said = 0;

	for (uint32_t s = 0; s < sums->n_stacks && !ferror(w->to); s++) {
		int64_t whole;

		sum += sums->stack[(size_t)s * sums->n_columns + column];
		whole = sum / sums->scale[column];
		print_sum(w, s, thread[s], whole - said, event);
		said = whole;
	}
	free(event);
}

/* All measures of the events of heaps, of what passes the filter. */
static int print_heaps(struct writer *w, const struct lens *shown)
{
	static const enum measure measures[] = {
		MEASURE_PEAK,      MEASURE_LIVE,   MEASURE_LEAKED,  MEASURE_FREED,
		MEASURE_TEMPORARY, MEASURE_WEIGHT, MEASURE_SAMPLES,
	};
	const uint32_t n = sizeof(measures) / sizeof(*measures);
	uint32_t *thread = find_askers(w);
	int rc = 0;

	for (uint16_t e = 0; e < w->counts.n_events && rc == 0; e++) {
		struct lens l = { .filter = shown->filter,
				  .n_columns = n,
				  .inlines = shown->inlines,
				  .cursor_ns = shown->cursor_ns };
		struct weights sums;

		if (!profile_event(w->p, (event_id){ e })->is_heap)
			continue;
		for (uint32_t i = 0; i < n; i++)
			l.column[i].metric = (struct metric){ { e }, measures[i], false };
		rc = aggregate(w->p, &w->counts, &l, NULL, &sums);
		for (uint32_t i = 0; i < n && rc == 0; i++)
			print_measure(w, &sums, i, thread, l.column[i].metric);
		weights_done(&sums);
	}
	free(thread);
	return rc;
}

static int print_all(struct writer *w, struct sample_scan *r)
{
	int rc;

	while ((rc = sample_scan_next(r, NULL)) > 0) {
		const bool *passes = sample_scan_lens(r);

		for (uint64_t i = 0; i < r->n && !ferror(w->to); i++)
			if (!passes || passes[i])
				print_row(w, r, i);
	}
	return rc;
}

bool perf_script_says_all(const struct analysis *a)
{
	if (a->counts.n_events == 0 ||
	    (lens_compares(&a->lens) && metric_is_heap(a->profile, a->lens.column[0].metric)))
		return false;
	for (uint16_t i = 0; i < a->counts.n_events; i++) {
		const struct event *e = profile_event(a->profile, (event_id){ i });

		if (e->is_counted || e->scale != 1)
			return false;
	}
	return true;
}

char *perf_script_event(const struct analysis *a, uint32_t column)
{
	struct metric m = a->lens.column[column].metric;
	char *name;

	if (!metric_is_heap(a->profile, m))
		return xstrdup(
			profile_string(a->profile, profile_event(a->profile, m.event)->name, NULL));
	name = heap_name(a->profile, m);
	if (metric_unit(a->profile, m) == UNIT_BYTES)
		name[strlen(name) - strlen(SCRIPT_BYTES)] = '\0';
	return name;
}

static void free_lines(char **lines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(lines[i]);
	free(lines);
}

int perf_script_write(const struct analysis *a, FILE *to, int64_t *begin_ns, struct err *e)
{
	struct writer w = {
		.begin_ns = TIME_NONE,
		.p = a->profile,
		.counts = a->counts,
		.apart = a->counts.n_taken <= MOST_APART,
		.to = to,
	};
	struct sample_scan *r;
	struct export_stacks made = { 0 };
	int rc = sample_scan_new(a->profile, &a->counts, &a->lens, NULL, &r);

	if (rc)
		return err_set(e, rc, "cannot go through the samples");
	if (export_drops_positions(a)) {
		rc = export_stacks_init(&made, a, EXPORT_KEYS);
		w.made = &made;
	}
	profile_stacks_of(a->profile, &a->counts, &w.stacks);
	profile_locations(a->profile, &w.locations);
	groups_init(&w.keys, a->profile, &w.counts, GROUP_FUNCTION);
	w.frames = xcalloc(w.counts.n_locations, sizeof(*w.frames));
	w.who = xcalloc(w.counts.n_threads, sizeof(*w.who));
	if (rc == 0)
		rc = print_all(&w, r);
	if (rc == 0)
		rc = print_heaps(&w, &a->lens);
	print_coarse(&w);
	free_lines(w.frames, w.counts.n_locations);
	free_lines(w.who, w.counts.n_threads);
	groups_done(&w.keys);
	export_stacks_done(&made);
	sample_scan_free(r);
	*begin_ns = w.begin_ns;
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return err_set(e, errno ? -errno : -EIO, "cannot write samples: %s",
			       strerror(errno ? errno : EIO));
	return rc ? err_set(e, rc, "cannot go through the samples") : 0;
}
