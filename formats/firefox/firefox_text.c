/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules by which a profile of the Firefox Profiler is gathered. */
#include "config.h"

#include "formats/firefox/firefox_text.h"

#include "profile/builder.h"

#include <math.h>
#include <string.h>

static string_id text_of(struct firefox_text *t, const struct json_value *v)
{
	if (v->kind != JSON_STRING || v->n == 0)
		return (string_id){ 0 };
	return build_string(t->p, v->s, v->n);
}

/* A number, or a text that begins with one, as tids that were used twice: "812.1". */
static int64_t number_of(const struct json_value *v)
{
	int64_t n = 0;
	size_t i;

	if (v->kind != JSON_STRING)
		return json_int(v, -1);
	for (i = 0; i < v->n && i < 10 && v->s[i] >= '0' && v->s[i] <= '9'; i++)
		n = 10 * n + (v->s[i] - '0');
	return i > 0 ? n : -1;
}

static struct firefox_thread *thread(void *to)
{
	struct firefox_text *t = to;

	return &t->threads.at[t->threads.n - 1];
}

/* The columns of processed profiles. */

#define INDEXES(name, column) \
	static void name(void *to, const struct json_value *v) \
	{ \
		vec_push(&((struct firefox_text *)to)->tables->column, json_index(v)); \
	}
INDEXES(on_prefix, prefix)
INDEXES(on_frame, frame)
INDEXES(on_frame_func, frame_func)
INDEXES(on_frame_line, frame_line)
INDEXES(on_frame_address, frame_address)
INDEXES(on_frame_category, frame_category)
INDEXES(on_stack_category, stack_category)
INDEXES(on_frame_symbol, frame_symbol)
INDEXES(on_func_name, func_name)
INDEXES(on_func_resource, func_resource)
INDEXES(on_func_file, func_file)
INDEXES(on_func_line, func_line)
INDEXES(on_func_source, func_source)
INDEXES(on_source_file, source_file)
INDEXES(on_resource_lib, resource_lib)
INDEXES(on_resource_name, resource_name)
#undef INDEXES

static void on_string(void *to, const struct json_value *v)
{
	struct firefox_text *t = to;

	vec_push(&t->tables->strings, text_of(t, v).v);
}

static struct firefox_samples *samples(void *to)
{
	return ((struct firefox_text *)to)->samples;
}

static void on_stack(void *to, const struct json_value *v)
{
	firefox_series_add_index(&samples(to)->stack, json_index(v));
}

static void on_time(void *to, const struct json_value *v)
{
	firefox_series_add(&samples(to)->time, json_double(v, NAN));
}

static void on_delta(void *to, const struct json_value *v)
{
	samples(to)->deltas = true;
	on_time(to, v);
}

static void on_weight(void *to, const struct json_value *v)
{
	firefox_series_add(&samples(to)->weight, json_double(v, 0));
}

static void on_cpu(void *to, const struct json_value *v)
{
	firefox_series_add(&samples(to)->cpu, json_double(v, 0));
}

static void on_weight_type(void *to, const struct json_value *v)
{
	samples(to)->weight_type = text_of(to, v);
}

static void tables_done(struct firefox_tables *t)
{
	vec_done(&t->prefix);
	vec_done(&t->frame);
	vec_done(&t->frame_func);
	vec_done(&t->frame_line);
	vec_done(&t->frame_location);
	vec_done(&t->frame_address);
	vec_done(&t->frame_category);
	vec_done(&t->stack_category);
	vec_done(&t->frame_symbol);
	vec_done(&t->func_name);
	vec_done(&t->func_resource);
	vec_done(&t->func_file);
	vec_done(&t->func_line);
	vec_done(&t->func_source);
	vec_done(&t->source_file);
	vec_done(&t->resource_lib);
	vec_done(&t->resource_name);
	vec_done(&t->strings);
}

void firefox_thread_done(struct firefox_thread *t)
{
	for (size_t k = 0; k < N_FIREFOX_SAMPLES; k++) {
		firefox_series_done(&t->samples[k].stack);
		firefox_series_done(&t->samples[k].time);
		firefox_series_done(&t->samples[k].weight);
		firefox_series_done(&t->samples[k].cpu);
	}
	vec_done(&t->markers.name);
	vec_done(&t->markers.start);
	vec_done(&t->markers.end);
	vec_done(&t->markers.phase);
	vec_done(&t->markers.category);
	tables_done(&t->tables);
	vec_done(&t->libs);
	t->taken = true;
}

/* Threads and libraries. */

static void begin_thread(void *to)
{
	struct firefox_text *t = to;

	vec_push(&t->threads,
		 ((struct firefox_thread){ .pid = -1, .tid = -1, .process = t->process }));
	t->tables = &thread(to)->tables;
}

/*
 * A thread of a processed profile needs nothing of what follows where the head and its tables have been read: that it has tables of its
 * own, as libraries come behind it. Those that threads share stand before them in what profiler.firefox.com saves.
 */
static bool is_whole(const struct firefox_text *t)
{
	const struct firefox_thread *last = &t->threads.at[t->threads.n - 1];
	bool shares = t->has_shared && last->tables.frame.n == 0;
	const struct firefox_tables *of = shares ? &t->shared : &last->tables;

	return t->interval_ms > 0 && (t->libs.n > 0 || of->resource_lib.n == 0) &&
	       of->func_name.n > 0 && of->strings.n > 0 && of->frame.n > 0;
}

static void end_thread(void *to)
{
	struct firefox_text *t = to;

	t->tables = &t->unused;
	if (!t->take || !is_whole(t) || !t->take(t->arg, thread(t)))
		return;
	firefox_thread_done(thread(t));
}

/* Threads may have been taken that are of the first ones: those do not grow. */
static void begin_shared(void *to)
{
	struct firefox_text *t = to;

	t->tables = t->has_shared ? &t->unused : &t->shared;
}

static void end_shared(void *to)
{
	struct firefox_text *t = to;

	t->has_shared = true;
	t->tables = &t->unused;
}

static void on_name(void *to, const struct json_value *v)
{
	thread(to)->name = text_of(to, v);
}

static void on_process_name(void *to, const struct json_value *v)
{
	thread(to)->process_name = text_of(to, v);
}

static void begin_own(void *to)
{
	thread(to)->own = true;
}

static void on_metric(void *to, const struct json_value *v)
{
	thread(to)->metric = text_of(to, v);
}

static void on_kind(void *to, const struct json_value *v)
{
	thread(to)->kind = text_of(to, v);
}

static void on_own_thread(void *to, const struct json_value *v)
{
	thread(to)->own_name = text_of(to, v);
}

static void on_own_process(void *to, const struct json_value *v)
{
	thread(to)->own_process = text_of(to, v);
}

static void on_pid(void *to, const struct json_value *v)
{
	thread(to)->pid = number_of(v);
}

static void on_tid(void *to, const struct json_value *v)
{
	thread(to)->tid = number_of(v);
}

static void begin_lib(void *to)
{
	struct firefox_text *t = to;

	vec_push(&t->libs, ((struct firefox_lib){ .process = t->process }));
}

static void begin_thread_lib(void *to)
{
	vec_push(&thread(to)->libs, (uint32_t)((struct firefox_text *)to)->libs.n);
	begin_lib(to);
}

static struct firefox_lib *lib(void *to)
{
	struct firefox_text *t = to;

	return &t->libs.at[t->libs.n - 1];
}

static void on_lib_name(void *to, const struct json_value *v)
{
	lib(to)->name = text_of(to, v);
}

static void on_lib_path(void *to, const struct json_value *v)
{
	lib(to)->path = text_of(to, v);
}

static void on_code_id(void *to, const struct json_value *v)
{
	lib(to)->code_id = text_of(to, v);
}

static void on_lib_start(void *to, const struct json_value *v)
{
	lib(to)->start = json_int(v, 0);
}

static void on_lib_end(void *to, const struct json_value *v)
{
	lib(to)->end = json_int(v, 0);
}

static void on_lib_offset(void *to, const struct json_value *v)
{
	lib(to)->offset = json_int(v, 0);
}

/* The whole. */

/* A process below the main one, with times and libraries of its own. */
static void begin_process(void *to)
{
	struct firefox_text *t = to;

	t->process = (uint32_t)t->starts.n;
	vec_push(&t->starts, 0);
}

static void end_process(void *to)
{
	((struct firefox_text *)to)->process = 0;
}

static void on_start(void *to, const struct json_value *v)
{
	struct firefox_text *t = to;

	t->starts.at[t->process] = json_double(v, 0);
}

static void on_interval(void *to, const struct json_value *v)
{
	((struct firefox_text *)to)->interval_ms = json_double(v, 0);
}

static void on_version(void *to, const struct json_value *v)
{
	((struct firefox_text *)to)->version = json_int(v, 0);
}

static void on_product(void *to, const struct json_value *v)
{
	((struct firefox_text *)to)->product = text_of(to, v);
}

static void on_cpu_unit(void *to, const struct json_value *v)
{
	((struct firefox_text *)to)->cpu_unit = text_of(to, v);
}

static void begin_categories(void *to)
{
	vec_clear(&((struct firefox_text *)to)->categories);
}

static void on_category(void *to, const struct json_value *v)
{
	struct firefox_text *t = to;

	vec_push(&t->categories, text_of(t, v).v);
}

/* Markers of processed profiles. */

static void on_marker_name(void *to, const struct json_value *v)
{
	vec_push(&thread(to)->markers.name, json_index(v));
}

static void on_marker_start(void *to, const struct json_value *v)
{
	vec_push(&thread(to)->markers.start, json_double(v, NAN));
}

static void on_marker_end(void *to, const struct json_value *v)
{
	vec_push(&thread(to)->markers.end, json_double(v, NAN));
}

static void on_marker_phase(void *to, const struct json_value *v)
{
	vec_push(&thread(to)->markers.phase, json_index(v));
}

static void on_marker_category(void *to, const struct json_value *v)
{
	vec_push(&thread(to)->markers.category, json_index(v));
}

/* Gecko's rows. */

static void begin_table(void *to)
{
	struct firefox_rows *r = &((struct firefox_text *)to)->rows;

	vec_clear(&r->cell);
	vec_clear(&r->row_end);
	for (size_t i = 0; i < sizeof(r->column) / sizeof(*r->column); i++)
		r->column[i] = FIREFOX_NONE;
}

#define BEGIN_SAMPLES(name, kind) \
	static void name(void *to) \
	{ \
		begin_table(to); \
		((struct firefox_text *)to)->samples = &thread(to)->samples[kind]; \
	}
BEGIN_SAMPLES(begin_samples, FIREFOX_SAMPLES)
BEGIN_SAMPLES(begin_js, FIREFOX_JS)
BEGIN_SAMPLES(begin_native, FIREFOX_NATIVE)
#undef BEGIN_SAMPLES

static void on_cell(void *to, const struct json_value *v)
{
	vec_push(&((struct firefox_text *)to)->rows.cell, json_double(v, NAN));
}

/* A cell that is an array or object: tables of samples have some that are of no interest. */
static void on_deep_cell(void *to)
{
	vec_push(&((struct firefox_text *)to)->rows.cell, NAN);
}

static void end_row(void *to)
{
	struct firefox_rows *r = &((struct firefox_text *)to)->rows;

	vec_push(&r->row_end, r->cell.n);
}

/* Which cell of a row is a column. */
#define COLUMN(name, i) \
	static void name(void *to, const struct json_value *v) \
	{ \
		((struct firefox_text *)to)->rows.column[i] = json_index(v); \
	}
COLUMN(on_column_0, 0)
COLUMN(on_column_1, 1)
COLUMN(on_column_2, 2)
COLUMN(on_column_3, 3)
COLUMN(on_column_4, 4)
#undef COLUMN

static double cell(const struct firefox_rows *r, size_t row, unsigned column)
{
	size_t from = row ? r->row_end.at[row - 1] : 0, n = r->row_end.at[row] - from;

	return r->column[column] < n ? r->cell.at[from + r->column[column]] : NAN;
}

static uint32_t index_cell(const struct firefox_rows *r, size_t row, unsigned column)
{
	double x = cell(r, row, column);

	return x >= 0 && x < FIREFOX_NONE ? (uint32_t)x : FIREFOX_NONE;
}

static void end_samples(void *to)
{
	const struct firefox_rows *r = &((struct firefox_text *)to)->rows;

	for (size_t i = 0; i < r->row_end.n; i++) {
		firefox_series_add_index(&samples(to)->stack, index_cell(r, i, 0));
		firefox_series_add(&samples(to)->time, cell(r, i, 1));
		if (r->column[2] != FIREFOX_NONE)
			firefox_series_add(&samples(to)->cpu,
					   cell(r, i, 2) >= 0 ? cell(r, i, 2) : 0);
	}
	begin_table(to);
}

static void end_stacks(void *to)
{
	struct firefox_text *t = to;

	for (size_t i = 0; i < t->rows.row_end.n; i++) {
		vec_push(&t->tables->prefix, index_cell(&t->rows, i, 0));
		vec_push(&t->tables->frame, index_cell(&t->rows, i, 1));
	}
	begin_table(to);
}

static void end_frames(void *to)
{
	struct firefox_text *t = to;

	for (size_t i = 0; i < t->rows.row_end.n; i++) {
		vec_push(&t->tables->frame_location, index_cell(&t->rows, i, 0));
		vec_push(&t->tables->frame_line, index_cell(&t->rows, i, 1));
		if (t->rows.column[2] != FIREFOX_NONE)
			vec_push(&t->tables->frame_category, index_cell(&t->rows, i, 2));
	}
	begin_table(to);
}

/* Old ones have one time, and are moments. */
static void end_markers(void *to)
{
	struct firefox_text *t = to;
	struct firefox_markers *m = &thread(to)->markers;

	for (size_t i = 0; i < t->rows.row_end.n; i++) {
		vec_push(&m->name, index_cell(&t->rows, i, 0));
		vec_push(&m->start, cell(&t->rows, i, 1));
		vec_push(&m->end, cell(&t->rows, i, 2));
		vec_push(&m->phase, index_cell(&t->rows, i, 3));
		vec_push(&m->category, index_cell(&t->rows, i, 4));
	}
	begin_table(to);
}

/* The rules. */

#define TABLES(at) \
	{ .path = at "stackTable.prefix[]", .value = on_prefix }, \
		{ .path = at "stackTable.frame[]", .value = on_frame }, \
		{ .path = at "frameTable.func[]", .value = on_frame_func }, \
		{ .path = at "frameTable.line[]", .value = on_frame_line }, \
		{ .path = at "frameTable.address[]", .value = on_frame_address }, \
		{ .path = at "frameTable.category[]", .value = on_frame_category }, \
		{ .path = at "stackTable.category[]", .value = on_stack_category }, \
		{ .path = at "frameTable.nativeSymbol[]", .value = on_frame_symbol }, \
		{ .path = at "funcTable.name[]", .value = on_func_name }, \
		{ .path = at "funcTable.resource[]", .value = on_func_resource }, \
		{ .path = at "funcTable.fileName[]", .value = on_func_file }, \
		{ .path = at "funcTable.lineNumber[]", .value = on_func_line }, \
		{ .path = at "funcTable.source[]", .value = on_func_source }, \
		{ .path = at "sources.filename[]", .value = on_source_file }, \
		{ .path = at "resourceTable.lib[]", .value = on_resource_lib }, \
		{ .path = at "resourceTable.name[]", .value = on_resource_name }, \
		{ .path = at "stringArray[]", .value = on_string }, \
	{ \
		.path = at "stringTable[]", .value = on_string \
	}
#define SAMPLES(at, begins) \
	{ .path = at, .begin = begins, .end = end_samples }, \
		{ .path = at ".stack[]", .value = on_stack }, \
		{ .path = at ".time[]", .value = on_time }, \
		{ .path = at ".timeDeltas[]", .value = on_delta }, \
		{ .path = at ".weight[]", .value = on_weight }, \
		{ .path = at ".weightType", .value = on_weight_type }, \
	{ \
		.path = at ".threadCPUDelta[]", .value = on_cpu \
	}
#define ROWS(at, ends, a, b, c) \
	{ .path = at, .begin = begin_table, .end = ends }, \
		{ .path = at ".schema." a, .value = on_column_0 }, \
		{ .path = at ".schema." b, .value = on_column_1 }, \
		{ .path = at ".schema." c, .value = on_column_2 }, \
		{ .path = at ".data[]", .end = end_row }, \
	{ \
		.path = at ".data[][]", .value = on_cell, .begin = on_deep_cell \
	}
#define LIB(at) \
	{ .path = at ".name", .value = on_lib_name }, \
		{ .path = at ".path", .value = on_lib_path }, \
		{ .path = at ".start", .value = on_lib_start }, \
		{ .path = at ".end", .value = on_lib_end }, \
		{ .path = at ".offset", .value = on_lib_offset }, \
	{ \
		.path = at ".codeId", .value = on_code_id \
	}

/* clang-format off */
static const struct json_rule rules[] = {
	{ .path = "meta.interval", .value = on_interval },
	{ .path = "meta.startTime", .value = on_start },
	{ .path = "meta.version", .value = on_version },
	{ .path = "meta.product", .value = on_product },
	{ .path = "meta.categories", .begin = begin_categories },
	{ .path = "meta.categories[].name", .value = on_category },
	{ .path = "meta.sampleUnits.threadCPUDelta", .value = on_cpu_unit },
	{ .path = "libs[]", .begin = begin_lib },
	LIB("libs[]"),
	{ .path = "shared", .begin = begin_shared, .end = end_shared },
	TABLES("shared."),
	{ .path = "threads[]", .begin = begin_thread, .end = end_thread },
	{ .path = "threads[].name", .value = on_name },
	{ .path = "threads[].processName", .value = on_process_name },
	{ .path = "threads[].pid", .value = on_pid },
	{ .path = "threads[].tid", .value = on_tid },
	{ .path = "threads[].proftop", .begin = begin_own },
	{ .path = "threads[].proftop.metric", .value = on_metric },
	{ .path = "threads[].proftop.kind", .value = on_kind },
	{ .path = "threads[].proftop.thread", .value = on_own_thread },
	{ .path = "threads[].proftop.process", .value = on_own_process },
	{ .path = "threads[].libs[]", .begin = begin_thread_lib },
	LIB("threads[].libs[]"),
	TABLES("threads[]."),
	SAMPLES("threads[].samples", begin_samples),
	SAMPLES("threads[].jsAllocations", begin_js),
	SAMPLES("threads[].nativeAllocations", begin_native),
	{ .path = "threads[].samples.schema.stack", .value = on_column_0 },
	{ .path = "threads[].samples.schema.time", .value = on_column_1 },
	{ .path = "threads[].samples.schema.threadCPUDelta", .value = on_column_2 },
	{ .path = "threads[].samples.data[]", .end = end_row },
	{ .path = "threads[].samples.data[][]", .value = on_cell, .begin = on_deep_cell },
	ROWS("threads[].stackTable", end_stacks, "prefix", "frame", "category"),
	ROWS("threads[].frameTable", end_frames, "location", "line", "category"),
	ROWS("threads[].markers", end_markers, "name", "startTime", "endTime"),
	{ .path = "threads[].markers.schema.time", .value = on_column_1 },
	{ .path = "threads[].markers.schema.phase", .value = on_column_3 },
	{ .path = "threads[].markers.schema.category", .value = on_column_4 },
	{ .path = "threads[].markers.name[]", .value = on_marker_name },
	{ .path = "threads[].markers.startTime[]", .value = on_marker_start },
	{ .path = "threads[].markers.endTime[]", .value = on_marker_end },
	{ .path = "threads[].markers.phase[]", .value = on_marker_phase },
	{ .path = "threads[].markers.category[]", .value = on_marker_category },
	{ .path = "processes[]", .same = "", .begin = begin_process, .end = end_process },
};
/* clang-format on */

int firefox_text_read(struct firefox_text *t, struct profile *p, struct input *in,
		      struct json_end *end, struct progress *progress, struct err *e)
{
	int rc;

	*t = (struct firefox_text){ .p = p, .take = t->take, .arg = t->arg };
	t->tables = &t->unused;
	vec_push(&t->starts, 0);
	builder_begin(p);
	rc = json_read(in, rules, sizeof(rules) / sizeof(*rules), t, end, progress, e);
	builder_end(p);
	return rc;
}

void firefox_text_done(struct firefox_text *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		firefox_thread_done(&t->threads.at[i]);
	tables_done(&t->shared);
	tables_done(&t->unused);
	vec_done(&t->threads);
	vec_done(&t->libs);
	vec_done(&t->starts);
	vec_done(&t->categories);
	vec_done(&t->rows.cell);
	vec_done(&t->rows.row_end);
}
