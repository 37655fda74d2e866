/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns of a table are written one after the other, each in a pass over what the table is of. Frames have no addresses: the
 * profiler counts these from where a library is loaded, and proftop knows offsets in its file.
 */
#include "config.h"

#include "formats/firefox/firefox_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/path.h"
#include "formats/write/export_own.h"
#include "formats/write/export_rows.h"
#include "formats/write/export_stacks.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS  1000000
#define NONE       UINT32_MAX
/* Of a build-id so many bytes make a breakpad id. */
#define GUID_BYTES 16

/* A function of the file: a row of the analysis in one source file, as its first frame there describes it. */
struct func {
	uint32_t frame;  /* that frame */
	uint32_t module; /* index of modules, or NONE */
	uint32_t source; /* index of sources, or NONE */
};

struct text {
	const char *s; /* borrowed */
	size_t n;
};

struct writer {
	const struct analysis *a;
	const struct profile *p;
	struct export_stacks stacks;
	struct export_rows rows;
	VEC(struct func) funcs;
	VEC(uint32_t) func_of_frame;  /* [frames] */
	VEC(uint32_t) outer_of_frame; /* [frames] func that an inlined frame is part of, or NONE */
	VEC(uint32_t) modules;        /* module_id of each library */
	VEC(string_id) sources;
	VEC(struct text) strings;
	struct map by_text;
	struct map func_by_place; /* by key and file */
	uint32_t *lib_of_module; /* [n_modules] index of modules, or NONE; owned, as what follows */
	uint32_t *source_of_text; /* [n_strings] index of sources, or NONE */
	uint32_t *
		cpu_of_thread; /* [n_threads] series of what a file said of the thread's use of a CPU, or NONE */
	unsigned *n_of_thread; /* [n_threads + 1] series written; the last is of all threads */
	struct text_out out;
};

/* Tables of what frames are made of. */

static uint32_t *none(size_t n)
{
	uint32_t *ids = xmalloc((n + 1) * sizeof(*ids));

	memset(ids, 0xff, (n + 1) * sizeof(*ids));
	return ids;
}

static bool same_text(const void *things, uint32_t value, const void *key)
{
	const struct text *t = (const struct text *)things + value, *k = key;

	return t->n == k->n && memcmp(t->s, k->s, k->n) == 0;
}

/* s must outlive the writer. */
static uint32_t string(struct writer *w, const char *s)
{
	struct text key = { s, strlen(s) };
	uint64_t hash = hash_bytes(s, key.n);
	uint32_t i = map_find(&w->by_text, hash, same_text, w->strings.at, &key);

	if (i != MAP_NONE)
		return i;
	map_add(&w->by_text, hash, (uint32_t)w->strings.n);
	vec_push(&w->strings, key);
	return (uint32_t)w->strings.n - 1;
}

static const char *module_name(const struct writer *w, uint32_t lib)
{
	module_id id = { w->modules.at[lib] };

	return profile_string(w->p, profile_module(w->p, id)->name, NULL);
}

static uint32_t lib_of(struct writer *w, uint32_t module)
{
	if (profile_module(w->p, (module_id){ module })->path.v == 0)
		return NONE;
	if (w->lib_of_module[module] == NONE) {
		w->lib_of_module[module] = (uint32_t)w->modules.n;
		vec_push(&w->modules, module);
	}
	return w->lib_of_module[module];
}

static uint32_t source_of(struct writer *w, string_id file)
{
	if (file.v == 0)
		return NONE;
	if (w->source_of_text[file.v] == NONE) {
		w->source_of_text[file.v] = (uint32_t)w->sources.n;
		vec_push(&w->sources, file);
	}
	return w->source_of_text[file.v];
}

static bool same_func(const void *things, uint32_t value, const void *key)
{
	const struct writer *w = things;
	const struct export_frame *f = &w->stacks.frames.at[w->funcs.at[value].frame], *k = key;

	return f->key == k->key && f->file.v == k->file.v;
}

static uint32_t func_of(struct writer *w, uint32_t frame)
{
	const struct export_frame *f = &w->stacks.frames.at[frame];
	uint64_t hash = hash_pair(f->key, f->file.v);
	uint32_t func = map_find(&w->func_by_place, hash, same_func, w, f);

	if (func != MAP_NONE)
		return func;
	func = (uint32_t)w->funcs.n;
	vec_push(&w->funcs, ((struct func){ .frame = frame,
					    .module = lib_of(w, f->module),
					    .source = source_of(w, f->file) }));
	map_add(&w->func_by_place, hash, func);
	return func;
}

/* Functions, libraries and sources of all frames that samples have asked for. */
static void make_funcs(struct writer *w)
{
	for (uint32_t i = 0; i < w->stacks.frames.n; i++) {
		uint32_t depth = w->stacks.frames.at[i].depth;

		vec_push(&w->func_of_frame, func_of(w, i));
		/* frames of a location follow each other */
		vec_push(&w->outer_of_frame, depth > 0 ? w->func_of_frame.at[i - depth] : NONE);
	}
}

/* Columns. */

typedef void put_fn(struct writer *w, uint32_t i);

static void put_column(struct writer *w, const char *name, size_t n, put_fn *put)
{
	text_out(&w->out, ",\"");
	text_out(&w->out, name);
	text_out(&w->out, "\":[");
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			text_out_char(&w->out, ',');
		put(w, i);
	}
	text_out_char(&w->out, ']');
}

static void begin_table(struct writer *w, const char *name, size_t n)
{
	text_out(&w->out, "\n\"");
	text_out(&w->out, name);
	text_out(&w->out, "\":{\"length\":");
	text_out_int(&w->out, (int64_t)n);
}

static void end_table(struct writer *w)
{
	text_out(&w->out, "},");
}

static void put_index(struct writer *w, uint32_t i)
{
	if (i == NONE)
		text_out(&w->out, "null");
	else
		text_out_int(&w->out, i);
}

static void put_null(struct writer *w, uint32_t i)
{
	(void)i;
	text_out(&w->out, "null");
}

static void put_zero(struct writer *w, uint32_t i)
{
	(void)i;
	text_out_char(&w->out, '0');
}

static void put_one(struct writer *w, uint32_t i)
{
	(void)i;
	text_out_char(&w->out, '1');
}

static void put_minus_one(struct writer *w, uint32_t i)
{
	(void)i;
	text_out(&w->out, "-1");
}

static void put_false(struct writer *w, uint32_t i)
{
	(void)i;
	text_out(&w->out, "false");
}

static void put_line(struct writer *w, uint32_t line)
{
	put_index(w, line > 0 ? line : NONE);
}

/* Stacks: node i + 1 of the tree. */

static void stack_prefix(struct writer *w, uint32_t i)
{
	put_index(w, w->stacks.nodes.at[i + 1].parent - 1);
}

static void stack_frame(struct writer *w, uint32_t i)
{
	put_index(w, w->stacks.nodes.at[i + 1].frame);
}

/* Frames. */

static void frame_func(struct writer *w, uint32_t i)
{
	put_index(w, w->func_of_frame.at[i]);
}

static void frame_depth(struct writer *w, uint32_t i)
{
	put_index(w, w->stacks.frames.at[i].depth);
}

static void frame_line(struct writer *w, uint32_t i)
{
	put_line(w, w->stacks.frames.at[i].line);
}

/* A function into which something is inlined is a native symbol. */
static void frame_symbol(struct writer *w, uint32_t i)
{
	put_index(w, w->outer_of_frame.at[i] != NONE ? w->outer_of_frame.at[i]
						     : w->func_of_frame.at[i]);
}

static void frame_category(struct writer *w, uint32_t i)
{
	uint32_t key = w->stacks.frames.at[i].key;

	put_index(w, key == KEY_NONE ? FAMILY_UNKNOWN : (uint32_t)w->a->keys.key[key].family);
}

/* Functions, which are native symbols, too. */

static const char *func_text(const struct writer *w, uint32_t i)
{
	return w->stacks.frames.at[w->funcs.at[i].frame].name;
}

static void func_name(struct writer *w, uint32_t i)
{
	put_index(w, string(w, func_text(w, i)));
}

static void func_resource(struct writer *w, uint32_t i)
{
	if (w->funcs.at[i].module == NONE)
		text_out(&w->out, "-1");
	else
		put_index(w, w->funcs.at[i].module);
}

static void func_lib(struct writer *w, uint32_t i)
{
	put_index(w, w->funcs.at[i].module == NONE ? 0 : w->funcs.at[i].module);
}

static void func_source(struct writer *w, uint32_t i)
{
	put_index(w, w->funcs.at[i].source);
}

static void func_declared(struct writer *w, uint32_t i)
{
	put_line(w, w->stacks.frames.at[w->funcs.at[i].frame].declared);
}

/* Libraries. */

static void resource_lib(struct writer *w, uint32_t i)
{
	put_index(w, i);
}

static void resource_name(struct writer *w, uint32_t i)
{
	put_index(w, string(w, module_name(w, i)));
}

static void source_name(struct writer *w, uint32_t i)
{
	put_index(w, string(w, profile_string(w->p, w->sources.at[i], NULL)));
}

static void put_string(struct writer *w, uint32_t i)
{
	text_out_json(&w->out, w->strings.at[i].s, w->strings.at[i].n);
}

static void put_shared(struct writer *w)
{
	size_t n_frames = w->stacks.frames.n, n_funcs = w->funcs.n,
	       n_stacks = w->stacks.nodes.n - 1;

	text_out(&w->out, "\"shared\":{");
	begin_table(w, "stackTable", n_stacks);
	put_column(w, "prefix", n_stacks, stack_prefix);
	put_column(w, "frame", n_stacks, stack_frame);
	end_table(w);
	begin_table(w, "frameTable", n_frames);
	put_column(w, "address", n_frames, put_minus_one);
	put_column(w, "inlineDepth", n_frames, frame_depth);
	put_column(w, "category", n_frames, frame_category);
	put_column(w, "subcategory", n_frames, put_zero);
	put_column(w, "func", n_frames, frame_func);
	put_column(w, "nativeSymbol", n_frames, frame_symbol);
	put_column(w, "innerWindowID", n_frames, put_zero);
	put_column(w, "line", n_frames, frame_line);
	put_column(w, "column", n_frames, put_null);
	end_table(w);
	begin_table(w, "funcTable", n_funcs);
	put_column(w, "name", n_funcs, func_name);
	put_column(w, "isJS", n_funcs, put_false);
	put_column(w, "relevantForJS", n_funcs, put_false);
	put_column(w, "resource", n_funcs, func_resource);
	put_column(w, "source", n_funcs, func_source);
	put_column(w, "lineNumber", n_funcs, func_declared);
	put_column(w, "columnNumber", n_funcs, put_null);
	end_table(w);
	begin_table(w, "nativeSymbols", n_funcs);
	put_column(w, "libIndex", n_funcs, func_lib);
	put_column(w, "address", n_funcs, put_null);
	put_column(w, "name", n_funcs, func_name);
	put_column(w, "functionSize", n_funcs, put_null);
	end_table(w);
	begin_table(w, "resourceTable", w->modules.n);
	put_column(w, "lib", w->modules.n, resource_lib);
	put_column(w, "name", w->modules.n, resource_name);
	put_column(w, "host", w->modules.n, put_null);
	put_column(w, "type", w->modules.n, put_one);
	end_table(w);
	begin_table(w, "sources", w->sources.n);
	put_column(w, "id", w->sources.n, put_null);
	put_column(w, "filename", w->sources.n, source_name);
	end_table(w);
	text_out(&w->out, "\n\"stringArray\":[");
	for (uint32_t i = 0; i < w->strings.n; i++) {
		if (i > 0)
			text_out_char(&w->out, ',');
		put_string(w, i);
	}
	text_out(&w->out, "]}");
}

/* Threads. */

static int64_t time_of(const struct export_row *row, size_t i)
{
	/* what has no time stands in its order */
	return row[i].time_ns != TIME_NONE ? row[i].time_ns : (int64_t)i * NS_PER_MS;
}

/* Does each sample count one? */
static bool is_plain(const struct writer *w, const struct export_series *s)
{
	const struct export_row *row = &w->rows.rows.at[s->first];

	for (size_t i = 0; i < s->n; i++)
		if (row[i].weight != s->scale)
			return false;
	return s->unit == UNIT_COUNT;
}

static void put_weight(struct writer *w, const struct export_series *s, int64_t weight)
{
	if (s->unit == UNIT_NS && s->scale == 1)
		text_out_scaled(&w->out, weight, NS_PER_MS);
	else
		text_out_scaled(&w->out, weight, s->scale);
}

/* Is each sample's weight the time for which its thread had a CPU? Then the profiler draws how busy it was. */
static bool is_clock(const struct writer *w, const struct export_series *s)
{
	string_id id = profile_event(w->p, s->metric.event)->name;
	const char *name = profile_string(w->p, id, NULL);

	return s->unit == UNIT_NS && s->scale == 1 && s->timed &&
	       (strncmp(name, "cpu-clock", 9) == 0 || strncmp(name, "task-clock", 10) == 0);
}

/* The series of the event that our reader makes of threadCPUDelta. */
static bool is_told_cpu(const struct writer *w, const struct export_series *s)
{
	string_id id = profile_event(w->p, s->metric.event)->name;

	return s->unit == UNIT_NS && s->scale == 1 && s->timed &&
	       s->thread < w->a->counts.n_threads &&
	       strcmp(profile_string(w->p, id, NULL), "cpu") == 0;
}

static void find_told_cpu(struct writer *w)
{
	for (uint32_t i = 0; i < w->rows.series.n; i++)
		if (is_told_cpu(w, &w->rows.series.at[i]))
			w->cpu_of_thread[w->rows.series.at[i].thread] = i;
}

/* What the thread used until each of the samples; NULL: no file said it. */
static const struct export_series *told_cpu_of(const struct writer *w,
					       const struct export_series *s)
{
	uint32_t at = s->timed && s->thread < w->a->counts.n_threads ? w->cpu_of_thread[s->thread]
								     : NONE;

	return at != NONE && s != &w->rows.series.at[at] ? &w->rows.series.at[at] : NULL;
}

/* That of the sample of a time, or 0: none of it is left out for being 0. Times rise; *at is where the last one was. */
static int64_t told_at(const struct writer *w, const struct export_series *cpu, int64_t time_ns,
		       size_t *at)
{
	const struct export_row *row = &w->rows.rows.at[cpu->first];

	while (*at < cpu->n && row[*at].time_ns < time_ns)
		++*at;
	return *at < cpu->n && row[*at].time_ns == time_ns ? row[(*at)++].weight : 0;
}

enum column { STACK, TIME, WEIGHT, CPU };

static size_t put_samples_column(struct writer *w, const struct export_series *s, enum column c,
				 const char *name)
{
	const struct export_series *cpu = c == CPU ? told_cpu_of(w, s) : NULL;
	const struct export_row *row = &w->rows.rows.at[s->first];
	size_t n = 0, cpu_at = 0;

	text_out(&w->out, ",\n\"");
	text_out(&w->out, name);
	text_out(&w->out, "\":[");
	for (size_t i = 0; i < s->n; i++) {
		uint32_t node = export_stacks_framed(&w->stacks, row[i].stack);

		if (node == EXPORT_GONE)
			continue;
		if (n++ > 0)
			text_out_char(&w->out, ',');
		if (c == STACK)
			text_out_int(&w->out, (int64_t)node - 1);
		else if (c == TIME)
			text_out_scaled(&w->out, time_of(row, i), NS_PER_MS);
		else if (c == CPU)
			text_out_int(&w->out, cpu ? told_at(w, cpu, row[i].time_ns, &cpu_at)
						  : row[i].weight);
		else
			put_weight(w, s, row[i].weight);
	}
	text_out_char(&w->out, ']');
	return n;
}

static void put_samples(struct writer *w, const struct export_series *s)
{
	static const char *const types[] = {
		[UNIT_COUNT] = "samples", [UNIT_NS] = "tracing-ms", [UNIT_BYTES] = "bytes"
	};
	size_t n;

	text_out(&w->out, "\"samples\":{\"weightType\":\"");
	text_out(&w->out, types[s->unit]);
	text_out_char(&w->out, '"');
	n = put_samples_column(w, s, STACK, "stack");
	put_samples_column(w, s, TIME, "time");
	if (is_clock(w, s) || told_cpu_of(w, s))
		put_samples_column(w, s, CPU, "threadCPUDelta");
	if (is_plain(w, s))
		text_out(&w->out, ",\"weight\":null");
	else
		put_samples_column(w, s, WEIGHT, "weight");
	text_out(&w->out, ",\"length\":");
	text_out_int(&w->out, (int64_t)n);
	text_out_char(&w->out, '}');
}

static void put_text(struct writer *w, const char *key, const char *s)
{
	text_out(&w->out, ",\"");
	text_out(&w->out, key);
	text_out(&w->out, "\":");
	text_out_json(&w->out, s, strlen(s));
}

/* The same thread's further metrics are threads with a number behind a point, as those whose ids are used again. */
static unsigned nth_of_thread(const struct writer *w, const struct export_series *s)
{
	uint32_t n_threads = w->a->counts.n_threads;

	if (w->rows.n_metrics <= 1)
		return 0;
	return w->n_of_thread[s->thread < n_threads ? s->thread : n_threads]++;
}

/* Ids are texts; what has none belongs to a process of no number. */
static void put_id(struct writer *w, const char *key, int32_t id, unsigned nth)
{
	char text[32];

	if (id < 0)
		snprintf(text, sizeof(text), nth ? "none.%u" : "none", nth);
	else if (nth > 0)
		snprintf(text, sizeof(text), "%" PRId32 ".%u", id, nth);
	else
		snprintf(text, sizeof(text), "%" PRId32, id);
	put_text(w, key, text);
}

static void put_who(struct writer *w, const struct export_series *s, unsigned nth)
{
	char *metric = metric_name(w->p, s->metric), *name;
	const char *thread_name = "all threads", *process = "";
	int32_t pid = -1, tid = -1;

	if (s->thread != ID_NONE) {
		const struct thread *t = profile_thread(w->p, (thread_id){ s->thread });
		const struct process *of = profile_process(w->p, t->process);

		thread_name = profile_string(w->p, t->name, NULL);
		process = profile_string(w->p, process_name(of), NULL);
		pid = of->pid;
		tid = t->tid;
	}
	name = w->rows.n_metrics > 1 ? xasprintf("%s %s", thread_name, metric)
				     : xstrdup(thread_name);
	text_out_json(&w->out, name, strlen(name));
	put_text(w, "processName", process);
	put_id(w, "pid", pid, 0);
	put_id(w, "tid", tid, nth);
	text_out(&w->out,
		 tid == pid && nth == 0 ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
	free(name);
	free(metric);
}

static void put_thread(struct writer *w, size_t i)
{
	const struct export_series *s = &w->rows.series.at[i];

	text_out(&w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
	put_who(w, s, nth_of_thread(w, s));
	text_out_char(&w->out, ',');
	export_own_put(&w->out, w->a, s);
	text_out(&w->out,
		 ",\"processType\":\"default\",\"processStartupTime\":0,"
		 "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		 "\"pausedRanges\":[],\"markers\":{\"length\":0,\"category\":[],\"data\":[],"
		 "\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]},\n");
	put_samples(w, s);
	text_out_char(&w->out, '}');
}

/* What the whole is of. */

/* Of a build-id in hex the breakpad id: a GUID, whose first three numbers are little-endian, and an age of 0. */
static void put_breakpad_id(struct writer *w, const char *hex)
{
	static const uint8_t order[GUID_BYTES] = { 3, 2, 1,  0,  5,  4,  7,  6,
						   8, 9, 10, 11, 12, 13, 14, 15 };
	char id[2 * GUID_BYTES + 2];
	size_t n = strlen(hex);

	for (size_t i = 0; i < GUID_BYTES; i++)
		for (size_t k = 0; k < 2; k++) {
			size_t at = 2u * order[i] + k;
			char c = at < n ? hex[at] : '0';

			id[2 * i + k] = (char)(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
		}
	id[2 * GUID_BYTES] = '0';
	id[2 * GUID_BYTES + 1] = '\0';
	put_text(w, "breakpadId", id);
}

static void put_libs(struct writer *w)
{
	text_out(&w->out, ",\n\"libs\":[");
	for (uint32_t i = 0; i < w->modules.n; i++) {
		const struct module *m = profile_module(w->p, (module_id){ w->modules.at[i] });
		const char *path = profile_string(w->p, m->path, NULL);
		const char *id = profile_string(w->p, m->build_id, NULL);

		text_out(&w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		text_out_json(&w->out, module_name(w, i), strlen(module_name(w, i)));
		put_text(w, "path", path);
		put_text(w, "debugName", module_name(w, i));
		put_text(w, "debugPath", path);
		put_breakpad_id(w, id);
		if (*id)
			put_text(w, "codeId", id);
		else
			text_out(&w->out, ",\"codeId\":null");
		text_out(&w->out, ",\"arch\":\"\"}");
	}
	text_out_char(&w->out, ']');
}

/* The mean time between samples, which the profiler draws bars with. */
static int64_t interval_ns(const struct writer *w)
{
	const struct export_series *s = w->rows.series.at;
	int64_t total = 0;

	if (w->rows.series.n == 0 || s->n == 0)
		return NS_PER_MS;
	if (s->unit == UNIT_NS && s->scale == 1)
		total = s->total / (int64_t)s->n;
	else if (s->timed && s->n > 1)
		total = (w->rows.rows.at[s->first + s->n - 1].time_ns -
			 w->rows.rows.at[s->first].time_ns) /
			(int64_t)(s->n - 1);
	return total > 0 ? total : NS_PER_MS;
}

static void put_meta(struct writer *w)
{
	/* in the order of enum family; the grey one is for what is not known */
	static const char *const categories[N_FAMILIES][2] = {
		[FAMILY_UNKNOWN] = { "Other", "grey" },
		[FAMILY_PROGRAM] = { "Program", "yellow" },
		[FAMILY_LIBRARY] = { "Library", "blue" },
		[FAMILY_LIBC] = { "libc", "green" },
		[FAMILY_KERNEL] = { "Kernel", "orange" },
		[FAMILY_JIT] = { "JIT", "purple" },
	};
	const char *path = profile_string(w->p, profile_part(w->p, (part_id){ 0 })->path, NULL);

	text_out(&w->out, "{\"meta\":{\"version\":29,\"preprocessedProfileVersion\":60,"
			  "\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,"
			  "\"symbolicated\":true,\"markerSchema\":[],\"interval\":");
	text_out_scaled(&w->out, interval_ns(w), NS_PER_MS);
	put_text(w, "product", path_last_part(path));
	put_text(w, "importedFrom", "proftop " VERSION);
	text_out(&w->out, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			  "\"threadCPUDelta\":\"ns\"},\"usesOnlyOneStackType\":true,"
			  "\"sourceCodeIsNotOnSearchfox\":true,\"categories\":[");
	for (size_t i = 0; i < N_FAMILIES; i++) {
		text_out(&w->out, i ? ",{\"name\":\"" : "{\"name\":\"");
		text_out(&w->out, categories[i][0]);
		text_out(&w->out, "\",\"color\":\"");
		text_out(&w->out, categories[i][1]);
		text_out(&w->out, "\",\"subcategories\":[\"Other\"]}");
	}
	text_out(&w->out, "]}");
}

static void put_all(struct writer *w)
{
	find_told_cpu(w);
	put_meta(w);
	text_out(&w->out, ",\n\"threads\":[");
	for (size_t i = 0; i < w->rows.series.n; i++)
		put_thread(w, i);
	text_out(&w->out, "],\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[]");
	/* which frames and libraries there are is known when all samples are written */
	make_funcs(w);
	put_libs(w);
	text_out(&w->out, ",\n");
	put_shared(w);
	text_out(&w->out, "}\n");
}

static void writer_done(struct writer *w)
{
	export_rows_done(&w->rows);
	export_stacks_done(&w->stacks);
	vec_done(&w->funcs);
	vec_done(&w->func_of_frame);
	vec_done(&w->outer_of_frame);
	vec_done(&w->modules);
	vec_done(&w->sources);
	vec_done(&w->strings);
	map_done(&w->by_text);
	map_done(&w->func_by_place);
	free(w->lib_of_module);
	free(w->source_of_text);
	free(w->n_of_thread);
	free(w->cpu_of_thread);
	free(w);
}

int firefox_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc, written = 0;

	(void)o;
	w->a = a;
	w->p = a->profile;
	w->lib_of_module = none(a->counts.n_modules);
	w->cpu_of_thread = none(a->counts.n_threads);
	w->source_of_text = none(a->counts.n_strings);
	w->n_of_thread = xcalloc((size_t)a->counts.n_threads + 1, sizeof(*w->n_of_thread));
	text_out_init(&w->out, to);
	rc = export_stacks_init(&w->stacks, a, EXPORT_LOCATIONS);
	if (rc == 0)
		rc = export_rows_init(&w->rows, a);
	if (rc == 0) {
		put_all(w);
		written = text_out_done(&w->out, e);
	}
	writer_done(w);
	return rc ? err_set(e, rc, "cannot go through the samples") : written;
}
