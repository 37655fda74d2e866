/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile of the Firefox Profiler into the model. Samples count 1 or their weight; where the file says what threads used of processors,
 * that is a second event. Allocations are events of bytes. Markers are frames below their thread's, as events of numbers and of time.
 */
#include "config.h"

#include "formats/firefox/firefox.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/firefox/firefox_native.h"
#include "formats/firefox/firefox_stacks.h"
#include "formats/firefox/firefox_text.h"
#include "formats/firefox/firefox_write.h"
#include "input/input.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1e6
#define AHEAD     16    /* samples: their stacks lie far apart */
#define BATCH     32768 /* samples that are shown, and packed, at once */
#define MOST_OPEN 1024  /* markers of a thread that have begun */

struct reader {
	struct profile *p;
	capture_id capture;
	struct progress *progress;
	enum root_names root_names;
	struct firefox_text t;
	struct firefox_stacks
		shared; /* of threads without tables of their own; empty: there was none */
	struct firefox_native *native; /* owned */
	struct json_end end;
	firefox_indexes
		threads; /* [t.categories.n] thread_id of the thread that is built, in each category; ID_NONE: not asked for yet */
	uint64_t n_rows;
	uint64_t n_markers;
	uint64_t n_halves; /* of these, without the other half */
	uint64_t n_idle;   /* samples without a stack */
	uint64_t n_odd;    /* indexes of nothing */
	uint64_t n_large;  /* rows that make a sum too large */
	int rc;            /* of what was published so far */
};

/* Events. */

static bool is_text(const struct reader *r, string_id id, const char *text)
{
	return strcmp(profile_string(r->p, id, NULL), text) == 0;
}

/* Of a thread that proftop wrote: the event that it had been. */
static event_id own_event(struct reader *r, const struct firefox_thread *t, enum unit unit)
{
	const char *name = profile_string(r->p, t->metric, NULL);

	if (is_text(r, t->kind, "counted"))
		return build_counted_event(r->p, name);
	if (is_text(r, t->kind, "summed"))
		return build_summed_event(r->p, name, unit);
	return build_event(r->p, name, unit, !is_text(r, t->kind, "samples"));
}

static event_id event_of(struct reader *r, const struct firefox_thread *t,
			 const struct firefox_samples *s, enum firefox_samples_kind kind)
{
	event_id e;

	if (t->own)
		return own_event(r, t,
				 is_text(r, s->weight_type, "tracing-ms") ? UNIT_NS
				 : is_text(r, s->weight_type, "bytes")    ? UNIT_BYTES
									  : UNIT_COUNT);
	if (kind == FIREFOX_JS)
		return build_event(r->p, "js-allocations", UNIT_BYTES, true);
	if (kind == FIREFOX_NATIVE)
		return build_event(r->p, "native-allocations", UNIT_BYTES, true);
	if (is_text(r, s->weight_type, "tracing-ms"))
		e = build_event(r->p, "time", UNIT_NS, true);
	else if (is_text(r, s->weight_type, "bytes"))
		e = build_event(r->p, "bytes", UNIT_BYTES, true);
	else
		e = build_counted_event(r->p, "samples");
	build_event_default(r->p, e);
	return e;
}

/* What one of the unit of weights is. */
static double weight_each(const struct reader *r, const struct firefox_samples *s)
{
	return is_text(r, s->weight_type, "tracing-ms") ? NS_PER_MS : 1;
}

/* ns of a unit that threads' use of processors is told in; 0: it is no time. */
static double cpu_each(const struct reader *r)
{
	if (is_text(r, r->t.cpu_unit, "ns"))
		return 1;
	if (is_text(r, r->t.cpu_unit, "µs") || is_text(r, r->t.cpu_unit, "us"))
		return 1e3;
	return 0;
}

/* What there is so far is shown. */
static void publish(struct reader *r)
{
	int rc = builder_end(r->p);

	r->rc = r->rc < 0 ? r->rc : rc;
	builder_begin(r->p);
}

/* Rows. */

static void add_row(struct reader *r, struct sample *s, double weight)
{
	double rounded = round(weight);

	if (rounded == 0)
		return;
	s->weight = (int64_t)(fabs(rounded) < 9e18 ? rounded : 0);
	if (!(fabs(rounded) < 9e18) || build_sample(r->p, s) < 0)
		r->n_large++;
	else
		r->n_rows++;
}

static int64_t ns_of(double ms)
{
	return fabs(ms) < 9e12 ? (int64_t)llround(ms * NS_PER_MS) : TIME_NONE;
}

/* How many ms the times of a process are behind those of the main one. */
static double behind_ms(const struct reader *r, const struct firefox_thread *t)
{
	double own = r->t.starts.at[t->process], first = r->t.starts.at[0];

	return own > 0 && first > 0 ? own - first : 0;
}

/* Categories. */

static void begin_categories(struct reader *r)
{
	vec_clear(&r->threads);
	for (size_t i = 0; i < r->t.categories.n; i++)
		vec_push(&r->threads, ID_NONE);
}

/* The thread while it is in a category. What is in none is of category "Other" there; proftop's are families, which modules tell. */
static thread_id in_category(struct reader *r, const struct firefox_thread *t, thread_id thread,
			     uint32_t category)
{
	string_id name;
	char *label;

	if (category >= r->threads.n || t->own || thread.v == ID_NONE)
		return thread;
	if (r->threads.at[category] != ID_NONE)
		return (thread_id){ r->threads.at[category] };
	name.v = r->t.categories.at[category];
	if (name.v && !is_text(r, name, "Other")) {
		label = xasprintf("category=%s", profile_string(r->p, name, NULL));
		thread = build_thread_labelled(r->p, thread, build_cstring(r->p, label));
		free(label);
	}
	r->threads.at[category] = thread.v;
	return thread;
}

static void add_samples(struct reader *r, struct firefox_stacks *stacks,
			const struct firefox_thread *t, enum firefox_samples_kind kind,
			thread_id thread)
{
	const struct firefox_samples *s = &t->samples[kind];
	struct firefox_cursor stack_at = firefox_series_begin(&s->stack), ahead = stack_at;
	struct firefox_cursor time_at = firefox_series_begin(&s->time);
	struct firefox_cursor weight_at = firefox_series_begin(&s->weight);
	struct firefox_cursor cpu_at = firefox_series_begin(&s->cpu);
	struct sample row = { .cpu = CPU_NONE };
	event_id event = event_of(r, t, s, kind), cpu = { ID_NONE };
	double ms = 0, each = weight_each(r, s), of_cpu = cpu_each(r), behind = behind_ms(r, t);
	bool categorized = !t->own && r->threads.n > 0;

	if (s->cpu.n > 0 && of_cpu > 0 && !t->own)
		cpu = build_event(r->p, "cpu", UNIT_NS, true);
	for (size_t i = 0; i < AHEAD; i++)
		firefox_series_next_index(&ahead);
	for (size_t i = 0; i < s->stack.n && !progress_cancelled(r->progress); i++) {
		uint32_t stack = firefox_series_next_index(&stack_at);
		double time = firefox_series_next(&time_at);
		double weight = i < s->weight.n ? firefox_series_next(&weight_at) : 1;
		double used = firefox_series_next(&cpu_at);

		if (i % BATCH == BATCH - 1)
			publish(r);
		firefox_stack_fetch(stacks, firefox_series_next_index(&ahead));
		ms = s->deltas ? ms + (isnan(time) ? 0 : time) : time;
		if (stack == FIREFOX_NONE) {
			r->n_idle++;
			continue;
		}
		row.time_ns = ns_of(ms + behind);
		row.stack = firefox_stack(stacks, stack);
		row.thread = categorized ? in_category(r, t, thread,
						       firefox_stack_category(stacks, stack))
					 : thread;
		row.event = event;
		add_row(r, &row, weight * each);
		row.event = cpu;
		if (cpu.v != ID_NONE && i < s->cpu.n)
			add_row(r, &row, used * of_cpu);
	}
}

/* Markers. */

struct marker_events {
	event_id markers, time;
	module_id module;
	double behind; /* see behind_ms() */
};

/* One that lasted; NAN: it is a moment. */
static void add_marker(struct reader *r, const struct firefox_stacks *stacks,
		       const struct marker_events *e, struct sample *row, uint32_t name,
		       double start, double end)
{
	string_id text = { name < stacks->tables->strings.n ? stacks->tables->strings.at[name]
							    : 0 };
	function_id f;

	if (text.v == 0) {
		r->n_odd++;
		return;
	}
	f = build_function(r->p, text, e->module, 0, (string_id){ 0 }, 0);
	row->stack = build_stack(r->p, stacks->root, build_symbol_location(r->p, f));
	row->time_ns = ns_of((isnan(start) ? end : start) + e->behind);
	row->event = e->markers;
	add_row(r, row, 1);
	row->event = e->time;
	if (end > start)
		add_row(r, row, (end - start) * NS_PER_MS);
	r->n_markers++;
}

static double time_at(const firefox_numbers *v, size_t i)
{
	return i < v->n ? v->at[i] : NAN;
}

static uint32_t index_at(const firefox_indexes *v, size_t i)
{
	return i < v->n ? v->at[i] : FIREFOX_NONE;
}

/* Takes the newest marker of that name that has begun off the list. Its time; NAN: there is none. */
static double take_begun(const struct firefox_markers *m, firefox_indexes *open, uint32_t name)
{
	for (size_t i = open->n; i-- > 0;) {
		uint32_t marker = open->at[i];

		if (m->name.at[marker] != name)
			continue;
		memmove(open->at + i, open->at + i + 1, (open->n - i - 1) * sizeof(*open->at));
		open->n--;
		return time_at(&m->start, marker);
	}
	return NAN;
}

static void add_markers(struct reader *r, const struct firefox_stacks *stacks,
			const struct firefox_thread *t, thread_id thread)
{
	const struct firefox_markers *m = &t->markers;
	struct sample row = { .cpu = CPU_NONE };
	struct marker_events e;
	firefox_indexes open = { 0 };

	if (m->name.n == 0)
		return;
	e.markers = build_event(r->p, "markers", UNIT_COUNT, false);
	e.time = build_event(r->p, "marker-time", UNIT_NS, true);
	e.module = build_module(r->p, "[markers]", "", FAMILY_UNKNOWN);
	e.behind = behind_ms(r, t);
	for (size_t i = 0; i < m->name.n && !progress_cancelled(r->progress); i++) {
		double start = time_at(&m->start, i), end = time_at(&m->end, i);
		uint32_t phase = index_at(&m->phase, i);

		if (phase == FIREFOX_INTERVAL_BEGIN && open.n < MOST_OPEN) {
			vec_push(&open, (uint32_t)i);
			continue;
		}
		if (phase == FIREFOX_INTERVAL_END)
			start = take_begun(m, &open, m->name.at[i]);
		r->n_halves += (phase == FIREFOX_INTERVAL_END && isnan(start)) ||
			       phase == FIREFOX_INTERVAL_BEGIN;
		row.thread = in_category(r, t, thread, index_at(&m->category, i));
		add_marker(r, stacks, &e, &row, m->name.at[i], start,
			   phase == FIREFOX_INSTANT ? NAN : end);
	}
	r->n_halves += open.n;
	for (size_t i = 0; i < open.n; i++) {
		row.thread = in_category(r, t, thread, index_at(&m->category, open.at[i]));
		add_marker(r, stacks, &e, &row, m->name.at[open.at[i]],
			   time_at(&m->start, open.at[i]), NAN);
	}
	vec_done(&open);
}

/* Threads. */

static int32_t number(int64_t n)
{
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* Its thread and the frame that its stacks begin with; none where proftop wrote sums of all threads. */
static thread_id thread_of(struct reader *r, const struct firefox_thread *t, stack_id *root)
{
	string_id name = t->own ? t->own_name : t->name;
	string_id process_name = t->own              ? t->own_process
				 : t->process_name.v ? t->process_name
						     : t->name;
	int32_t pid = number(t->pid), tid = number(t->tid);
	process_id process;

	if (t->own && pid < 0 && tid < 0 && name.v == 0)
		return (thread_id){ ID_NONE };
	process = pid >= 0 ? build_process(r->p, r->capture, pid)
			   : build_process_of_name(r->p, r->capture, process_name);
	if (pid >= 0 && (t->process_name.v || tid == pid))
		build_process_name(r->p, process, process_name);
	*root = build_stack(r->p, *root, build_root_location(r->p, name, pid, tid, r->root_names));
	return build_thread(r->p, process, tid, name);
}

static void add_stacks(struct reader *r, struct firefox_stacks *stacks,
		       const struct firefox_thread *t)
{
	stack_id root = { 0 };
	thread_id thread = thread_of(r, t, &root);

	firefox_stacks_begin(stacks, root);
	begin_categories(r);
	for (size_t k = 0; k < N_FIREFOX_SAMPLES; k++) {
		if (t->samples[k].stack.n == 0)
			continue;
		firefox_stacks_of(stacks, &t->samples[k].stack);
		add_samples(r, stacks, t, (enum firefox_samples_kind)k, thread);
	}
	add_markers(r, stacks, t, thread);
	r->n_odd += stacks->n_odd;
	stacks->n_odd = 0;
}

static void add_thread(struct reader *r, const struct firefox_thread *t)
{
	struct firefox_stacks own;

	if (t->tables.frame.n == 0) {
		if (!r->shared.tables)
			firefox_stacks_init(&r->shared, r->p, &r->t, &r->t.shared, NULL, r->native);
		add_stacks(r, &r->shared, t);
		return;
	}
	firefox_stacks_init(&own, r->p, &r->t, &t->tables, &t->libs, r->native);
	own.process = t->process;
	add_stacks(r, &own, t);
	firefox_stacks_done(&own);
}

/* What a thread has is shown as soon as it is read. */
static bool take_thread(void *arg, const struct firefox_thread *t)
{
	struct reader *r = arg;

	if (r->rc < 0)
		return false;
	add_thread(r, t);
	publish(r);
	return true;
}

static int build(struct reader *r)
{
	builder_begin(r->p);
	for (size_t i = 0; i < r->t.threads.n && r->rc == 0; i++) {
		if (r->t.threads.at[i].taken)
			continue;
		add_thread(r, &r->t.threads.at[i]);
		firefox_thread_done(&r->t.threads.at[i]);
		publish(r);
		if (progress_cancelled(r->progress))
			r->rc = -ECANCELED;
	}
	builder_end(r->p);
	return r->rc;
}

/* What `info` says. */

static void tell_count(struct reader *r, const char *section, const char *name, uint64_t n,
		       const char *what, enum fact_kind kind)
{
	char text[FMT_SIZE];

	if (n > 0)
		build_fact(r->p, r->capture, section, name, kind, "%s%s",
			   fmt_count(text, (int64_t)n), what);
}

static void tell(struct reader *r)
{
	const char *product = profile_string(r->p, r->t.product, NULL);
	char text[FMT_SIZE];

	builder_begin(r->p);
	if (*product)
		build_fact(r->p, r->capture, "file", "product", FACT_PLAIN, "%s", product);
	if (r->t.interval_ms > 0 && r->t.interval_ms < 1e9)
		build_fact(r->p, r->capture, "file", "interval", FACT_PLAIN, "%s",
			   fmt_ns(text, (int64_t)(r->t.interval_ms * NS_PER_MS)));
	tell_count(r, "file", "threads", r->t.threads.n, "", FACT_PLAIN);
	tell_count(r, "file", "markers", r->n_markers, "", FACT_PLAIN);
	tell_count(r, "losses", "markers", r->n_halves,
		   " without their begin or end: they are moments", FACT_LOSS);
	tell_count(r, "file", "idle", r->n_idle, " samples without a stack, not shown", FACT_PLAIN);
	firefox_native_tell(r->native);
	facts_json_end(r->p, r->capture, &r->end);
	tell_count(r, "losses", "indexes", r->n_odd,
		   " of stacks or frames that are not in the file", FACT_LOSS);
	tell_count(r, "losses", "sums", r->n_large,
		   " samples left out, as the sum would be too large", FACT_LOSS);
	builder_end(r->p);
}

static int read_firefox(struct input *in, struct profile *p, capture_id c,
			const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .progress = progress,
			    .root_names = o ? o->root_names : ROOT_COMM };
	int rc;

	r.native = firefox_native_new(p, c, &r.t, o ? o->resolve : NULL);
	r.t.take = take_thread;
	r.t.arg = &r;
	rc = firefox_text_read(&r.t, p, in, &r.end, progress, e);

	if (rc == 0)
		rc = build(&r);
	if (rc == 0 && r.n_rows == 0)
		rc = facts_refuse_json(&r.end, in, "is a Firefox profile", e);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == 0 || rc == -EFBIG)
		tell(&r);
	if (rc == 0)
		rc = firefox_native_name(r.native, progress);
	firefox_stacks_done(&r.shared);
	firefox_native_free(r.native);
	firefox_text_done(&r.t);
	vec_done(&r.threads);
	free(r.end.why);
	return rc;
}

/* Its head names the profiler, or it has threads. */
static int probe(const uint8_t *bytes, size_t n)
{
	static const char *const words[] = { "\"interval\"", "\"stackwalk\"",
					     "\"preprocessedProfileVersion\"" };
	bool meta = json_has_key(bytes, n, "meta");

	for (size_t i = 0; meta && i < sizeof(words) / sizeof(*words); i++)
		if (memmem(bytes, n, words[i], strlen(words[i])))
			return FORMAT_SURE + 10;
	return meta && json_has_key(bytes, n, "threads") ? FORMAT_SURE : 0;
}

const struct format format_firefox = {
	.name = "firefox",
	.title = "the Firefox Profiler's JSON (samply, Firefox)",
	.inlined = true,
	.holds = HOLDS(STACKS) | HOLDS(SAMPLES) | HOLDS(TIMES) | HOLDS(THREADS) | HOLDS(MODULES) |
		 HOLDS(LINES) | HOLDS(BUILD_IDS),
	.probe = probe,
	.read = read_firefox,
	.write = firefox_write,
};
