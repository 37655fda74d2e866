/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terms about frames become a bit per function, then per location, then per stack, passed down the
 * trie in one pass as parents come before children. Terms about threads become a bit per thread.
 */
#include "config.h"

#include "query/core/compiled_filter.h"

#include "base/mem.h"
#include "base/task.h"
#include "profile/sample_rows.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/captures.h"
#include "query/core/frame_ids.h"
#include "query/core/regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_CPUS ((size_t)UINT16_MAX + 1)

int64_t *compiled_filter_origins(const struct profile *p, const struct profile_counts *counts)
{
	int64_t *origin = xcalloc((size_t)counts->n_threads + 1, sizeof(*origin));
	int64_t first = TIME_NONE;

	for (uint32_t i = 0; i < counts->n_captures; i++) {
		int64_t begin = profile_capture_span(p, counts, (capture_id){ i }).begin_ns;

		if (begin != TIME_NONE && (first == TIME_NONE || begin < first))
			first = begin;
	}
	for (uint32_t i = 0; i <= counts->n_threads; i++)
		origin[i] = first == TIME_NONE ? 0 : first;
	for (uint32_t i = 0; i < counts->n_threads && counts->n_captures > 1; i++) {
		const struct thread *t = profile_thread(p, (thread_id){ i });
		const struct process *a = profile_process(p, t->process);
		int64_t begin = profile_capture_span(p, counts, a->capture).begin_ns;

		if (begin != TIME_NONE)
			origin[i] = begin;
	}
	return origin;
}

static bool string_matches(const struct profile *p, const struct term *t, string_id s)
{
	size_t len;
	const char *text = profile_string(p, s, &len);

	return regex_matches(t->regex, text, len);
}

/* Before the first term about something, all of it passes. */
static void start_true(bool **bits, size_t n)
{
	if (*bits)
		return;
	*bits = xmalloc(n * sizeof(**bits));
	memset(*bits, true, n * sizeof(**bits));
}

static bool cgroup_matches(const struct profile *p, const struct term *t, uint32_t cgroup)
{
	return cgroup != ID_NONE &&
	       string_matches(p, t, cgroup_path(profile_cgroup(p, (cgroup_id){ cgroup })));
}

static bool thread_matches(const struct profile *p, const struct term *t, thread_id id)
{
	const struct thread *thread = profile_thread(p, id);
	const struct process *process = profile_process(p, thread->process);

	switch (t->kind) {
	case TERM_THREAD:
	case TERM_COMM:
		return string_matches(p, t, thread->name);
	case TERM_PROCESS:
		return string_matches(p, t, process_name(process));
	case TERM_CGROUP:
		return cgroup_matches(p, t, thread->cgroup);
	case TERM_LABEL:
		return thread->labels.v != 0 && string_matches(p, t, thread->labels);
	case TERM_PID:
		return term_has_number(t, process->pid);
	default:
		return term_has_number(t, thread->tid);
	}
}

static void add_thread_term(struct compiled_filter *s, const struct profile *p,
			    const struct term *t)
{
	start_true(&s->thread, (size_t)s->n_threads + 1);
	for (uint32_t i = 0; i < s->n_threads; i++)
		s->thread[i] &= thread_matches(p, t, (thread_id){ i }) != t->negated;
	s->thread[s->n_threads] &= t->negated;
}

/* Rows of unknown threads have a capture, too. */
static void add_capture_term(struct compiled_filter *s, const struct profile *p,
			     const struct profile_counts *counts, const struct term *t)
{
	start_true(&s->capture, s->n_captures);
	captures_sift(p, counts, t, s->capture);
	start_true(&s->thread, (size_t)s->n_threads + 1);
	for (uint32_t i = 0; i < s->n_threads; i++) {
		process_id process = profile_thread(p, (thread_id){ i })->process;

		s->thread[i] &= s->capture[profile_process(p, process)->capture.v];
	}
}

static void add_event_term(struct compiled_filter *s, const struct profile *p, uint32_t n_events,
			   const struct term *t)
{
	start_true(&s->event, n_events);
	for (uint32_t i = 0; i < n_events; i++) {
		string_id name = profile_event(p, (event_id){ i })->name;

		s->event[i] &= string_matches(p, t, name) != t->negated;
	}
}

static void add_cpu_term(struct compiled_filter *s, const struct term *t)
{
	start_true(&s->cpu, N_CPUS);
	for (size_t i = 0; i < N_CPUS; i++) {
		bool known = i != CPU_NONE;

		s->cpu[i] &= (known && term_has_number(t, (int64_t)i)) != t->negated;
	}
}

/* Does a frame at the location match? With inlines, any that it stands for. */
static bool location_matches(const struct location_columns *l, uint32_t location,
			     const struct profile_counts *counts, const bool *atoms, bool inlines,
			     bool innermost_only)
{
	const struct frame *f = inlines ? location_frames(l, location) : NULL;
	uint32_t module = l->module[location];
	uint32_t n;

	if (!f)
		return atoms[frame_id_of_frame(counts, location_function(l, location), module)];
	n = f->n_more + 1;
	for (uint32_t i = innermost_only ? n - 1 : 0; i < n; i++)
		if (atoms[frame_id_of_frame(counts, f[i].function, module)])
			return true;
	return false;
}

/* Which stacks have a frame, or end in one, that the term matches. */
static void match_stacks(const struct profile *p, const struct profile_counts *counts,
			 const struct term *t, const bool *atoms, bool inlines, bool *stack)
{
	bool leaf = t->kind == TERM_LEAF || t->kind == TERM_IN ||
		    (t->kind == TERM_IS && frame_class_is_innermost(t->state));
	bool *location = xmalloc(counts->n_locations * sizeof(*location));
	struct location_columns l;
	struct stack_columns s;

	profile_locations(p, &l);
	profile_stacks_of(p, counts, &s);
	for (uint32_t i = 0; i < counts->n_locations; i++)
		location[i] = location_matches(&l, i, counts, atoms, inlines, leaf);
	stack[0] = false;
	for (uint32_t i = 1; i < counts->n_stacks; i++)
		stack[i] = location[s.location[i]] || (!leaf && stack[s.parent[i]]);
	free(location);
}

/* Whose work a stack is, seen from its root. */
enum worker { WORKER_UNKNOWN, WORKER_PROGRAM, WORKER_TRACER, WORKER_TRACER_ALONE };

/* A frame at the location, below one of such a worker. */
static enum worker next_worker(enum worker w, const struct module *m, bool tracer, bool alloc)
{
	switch (w) {
	case WORKER_UNKNOWN:
		if (tracer)
			return WORKER_TRACER_ALONE;
		return m->family == FAMILY_LIBC || m->name.v == 0 ? w : WORKER_PROGRAM;
	case WORKER_PROGRAM:
		return tracer ? WORKER_TRACER : w;
	case WORKER_TRACER:
		return tracer || m->family == FAMILY_KERNEL ? w : WORKER_PROGRAM;
	case WORKER_TRACER_ALONE:
		return alloc ? WORKER_PROGRAM : w;
	}
	return w;
}

/*
 * The tracer's hooks call the program's allocator, whose work is the program's. What the tracer calls on a thread or a
 * stack of its own is its own: no function of the program stands above it there.
 */
static int match_tracer(const struct profile *p, const struct profile_counts *counts,
			const bool *tracer, struct progress *progress, bool *stack)
{
	struct term t = { .kind = TERM_IS,
			  .state = FRAME_CLASS_ALLOC,
			  .regex = frame_class_regex(FRAME_CLASS_ALLOC) };
	bool *alloc = xmalloc(frame_ids_n(counts) * sizeof(*alloc));
	uint8_t *worker = xcalloc(counts->n_stacks, sizeof(*worker));
	int rc = frame_ids_match(p, counts, &t, progress, alloc);
	struct location_columns l;
	struct stack_columns s;

	profile_locations(p, &l);
	profile_stacks_of(p, counts, &s);
	stack[0] = false;
	for (uint32_t i = 1; rc == 0 && i < counts->n_stacks; i++) {
		uint32_t at = s.location[i], module = l.module[at];
		uint32_t id = frame_id_of_frame(counts, location_function(&l, at), module);

		worker[i] = (uint8_t)next_worker((enum worker)worker[s.parent[i]],
						 profile_module(p, (module_id){ module }),
						 tracer[id], alloc[id]);
		stack[i] = worker[i] >= WORKER_TRACER;
	}
	free(worker);
	free(alloc);
	regex_free(t.regex);
	return rc;
}

static int add_frame_term(struct compiled_filter *s, const struct profile *p,
			  const struct profile_counts *counts, const struct term *t, bool inlines,
			  struct progress *progress)
{
	bool *atoms = xmalloc(frame_ids_n(counts) * sizeof(*atoms)), *stack;
	int rc = frame_ids_match(p, counts, t, progress, atoms);

	if (rc == 0) {
		stack = xmalloc(counts->n_stacks * sizeof(*stack));
		if (t->kind == TERM_IS && t->state == FRAME_CLASS_TRACER)
			rc = match_tracer(p, counts, atoms, progress, stack);
		else
			match_stacks(p, counts, t, atoms, inlines, stack);
		start_true(&s->stack, counts->n_stacks);
		for (uint32_t i = 0; rc == 0 && i < counts->n_stacks; i++)
			s->stack[i] &= stack[i] != t->negated;
		free(stack);
	}
	free(atoms);
	return rc;
}

/* A term about blocks, of stacks that free. */
static int add_freed_in(struct compiled_filter *s, const struct profile *p,
			const struct profile_counts *counts, const struct term *t, bool inlines,
			struct progress *progress)
{
	bool *atoms = xmalloc(frame_ids_n(counts) * sizeof(*atoms));
	bool *stack = xcalloc(counts->n_stacks, sizeof(*stack));
	int rc = frame_ids_match(p, counts, t, progress, atoms);

	if (rc == 0)
		match_stacks(p, counts, t, atoms, inlines, stack);
	s->freed_in[s->n_blocks] = stack;
	s->blocks[s->n_blocks++] = t;
	free(atoms);
	return rc;
}

/* Frames of a stack, inlined ones not counted. */
static void add_depth_term(struct compiled_filter *s, const struct profile *p,
			   const struct profile_counts *counts, const struct term *t)
{
	uint32_t *depth = xcalloc(counts->n_stacks, sizeof(*depth));
	struct stack_columns of;

	profile_stacks_of(p, counts, &of);
	start_true(&s->stack, counts->n_stacks);
	for (uint32_t i = 1; i < counts->n_stacks; i++)
		depth[i] = depth[of.parent[i]] + 1;
	for (uint32_t i = 0; i < counts->n_stacks; i++)
		s->stack[i] &= term_has_number(t, depth[i]) != t->negated;
	free(depth);
}

static int add_term(struct compiled_filter *s, const struct profile *p,
		    const struct profile_counts *counts, const struct term *t, bool inlines,
		    struct progress *progress)
{
	/* Transforms are the call tree's, but what focus drops must not be counted anywhere else either. */
	if (term_is_transform(t) && t->kind != TERM_FOCUS && t->kind != TERM_FOCUS_MODULE)
		return 0;
	s->passes_all = false;
	s->only_captures &= t->kind == TERM_CAPTURE || t->kind == TERM_HOST;
	switch (t->kind) {
	case TERM_THREAD:
	case TERM_PROCESS:
	case TERM_COMM:
	case TERM_PID:
	case TERM_TID:
	case TERM_CGROUP:
	case TERM_LABEL:
		add_thread_term(s, p, t);
		break;
	case TERM_CPU:
		add_cpu_term(s, t);
		break;
	case TERM_CAPTURE:
	case TERM_HOST:
		add_capture_term(s, p, counts, t);
		break;
	case TERM_EVENT:
		add_event_term(s, p, counts->n_events, t);
		break;
	case TERM_TIME:
		s->times[s->n_times++] = t;
		break;
	case TERM_DEPTH:
		add_depth_term(s, p, counts, t);
		break;
	case TERM_FREED_IN:
		return add_freed_in(s, p, counts, t, inlines, progress);
	case TERM_SIZE:
	case TERM_LIFETIME:
	case TERM_ALIVE:
	case TERM_FREED:
	case TERM_BLOCK:
	case TERM_STACK_CALLS:
	case TERM_STACK_BYTES:
	case TERM_STACK_LEAKED:
	case TERM_STACK_LEAKED_PERCENT:
	case TERM_STACK_FIRST:
	case TERM_STACK_LAST:
	case TERM_STACK_SPAN:
		s->blocks[s->n_blocks++] = t;
		break;
	case TERM_FN:
	case TERM_MODULE:
	case TERM_FILE:
	case TERM_LEAF:
	case TERM_IN:
	case TERM_IS:
	case TERM_FOCUS:
	case TERM_FOCUS_MODULE:
		return add_frame_term(s, p, counts, t, inlines, progress);
	case TERM_MERGE:
	case TERM_COLLAPSE:
	case TERM_RECURSION:
	case TERM_FOCUS_PATH:
	case TERM_COLLAPSE_MODULE:
	case TERM_MERGE_PATH:
		break;
	}
	return 0;
}

int compiled_filter_init(struct compiled_filter *s, const struct profile *p,
			 const struct profile_counts *counts, const struct filter *f, bool inlines,
			 const int64_t *origin, struct progress *progress)
{
	size_t n;
	const struct term *terms = filter_terms(f, &n);
	int rc = 0;

	*s = (struct compiled_filter){ .passes_all = true,
				       .only_captures = true,
				       .n_threads = counts->n_threads,
				       .n_captures = counts->n_captures,
				       .profile = p,
				       .origin = origin };
	s->times = xmalloc(n * sizeof(*s->times));
	s->blocks = xmalloc(n * sizeof(*s->blocks));
	s->freed_in = xcalloc(n, sizeof(*s->freed_in));
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_term(s, p, counts, &terms[i], inlines, progress);
	return rc;
}

void compiled_filter_done(struct compiled_filter *s)
{
	free(s->thread);
	free(s->event);
	free(s->cpu);
	free(s->capture);
	free(s->stack);
	free(s->times);
	for (uint32_t i = 0; i < s->n_blocks; i++)
		free(s->freed_in[i]);
	free(s->freed_in);
	free(s->blocks);
	*s = (struct compiled_filter){ 0 };
}

static uint32_t row_thread(const struct compiled_filter *s, const struct sample_rows *rows,
			   uint64_t i)
{
	uint32_t thread = sample_rows_thread(rows, i);

	return thread == ID_NONE ? s->n_threads : thread;
}

static void sift_time(const struct compiled_filter *s, const struct sample_rows *rows,
		      const struct term *t, uint64_t n, bool *pass)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t at = sample_rows_time(rows, i);
		bool in = false;

		if (at != TIME_NONE) {
			/* Times may be any number: the difference is taken without overflow. */
			if (__builtin_sub_overflow(at, s->origin[row_thread(s, rows, i)], &at))
				at = INT64_MAX;
			in = at >= t->from_ns && (at < t->to_ns || t->to_ns == INT64_MAX);
		}
		pass[i] &= in != t->negated;
	}
}

/* Rows of the batch that know no thread, by the capture that they stand in. */
static void sift_threadless(const struct compiled_filter *s, const struct sample_rows *rows,
			    uint64_t begin, uint64_t n, bool *pass)
{
	for (uint32_t i = 0; i < s->n_captures; i++) {
		uint64_t from = profile_capture(s->profile, (capture_id){ i })->first_sample;
		uint64_t to = begin + n;

		if (i + 1 < s->n_captures)
			to = profile_capture(s->profile, (capture_id){ i + 1 })->first_sample;
		if (s->capture[i])
			continue;
		to = to < begin + n ? to : begin + n;
		for (uint64_t row = from > begin ? from : begin; row < to; row++)
			if (sample_rows_thread(rows, row - begin) == ID_NONE)
				pass[row - begin] = false;
	}
}

void compiled_filter_rows_any_time(const struct compiled_filter *s, const struct sample_rows *rows,
				   uint64_t begin, uint64_t n, bool *pass)
{
	if (s->passes_all)
		return;
	for (uint64_t i = 0; s->stack && i < n; i++)
		pass[i] &= s->stack[rows->stack[i]];
	for (uint64_t i = 0; s->thread && i < n; i++)
		pass[i] &= s->thread[row_thread(s, rows, i)];
	if (s->capture)
		sift_threadless(s, rows, begin, n, pass);
	for (uint64_t i = 0; s->event && i < n; i++)
		pass[i] &= s->event[sample_rows_event(rows, i)];
	for (uint64_t i = 0; s->cpu && i < n; i++)
		pass[i] &= s->cpu[sample_rows_cpu(rows, i)];
}

void compiled_filter_times(const struct compiled_filter *s, const struct sample_rows *rows,
			   uint64_t n, bool *pass)
{
	for (uint32_t i = 0; i < s->n_times; i++)
		sift_time(s, rows, s->times[i], n, pass);
}
