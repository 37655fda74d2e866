/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sample's attributes and those of its resource say which thread it is of, and else become its labels (OpenTelemetry semantic
 * conventions: process.pid, thread.name, container.id …). Samples with timestamps are rows of their own; others are sums.
 */
#include "config.h"

#include "formats/otlp/otlp_build.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/named_frames.h"
#include "formats/otlp/otlp_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows between two publications. */
#define BATCH     4096
/* Bytes of a set of labels. */
#define MOST_TEXT 4096

struct unit_name {
	const char *name;
	enum unit unit;
	int64_t each;
};

static const struct unit_name unit_names[] = {
	{ "ns", UNIT_NS, 1 },
	{ "nanoseconds", UNIT_NS, 1 },
	{ "us", UNIT_NS, 1000 },
	{ "microseconds", UNIT_NS, 1000 },
	{ "ms", UNIT_NS, 1000000 },
	{ "milliseconds", UNIT_NS, 1000000 },
	{ "s", UNIT_NS, 1000000000 },
	{ "seconds", UNIT_NS, 1000000000 },
	{ "bytes", UNIT_BYTES, 1 },
	{ "By", UNIT_BYTES, 1 },
	{ "kilobytes", UNIT_BYTES, 1 << 10 },
	{ "megabytes", UNIT_BYTES, 1 << 20 },
};

/* What attributes tell of a thread. */
struct who {
	int64_t pid, tid; /* -1: not told */
	string_id process, thread;
	string_id service; /* what a process without a name is called by */
	uint16_t cpu;
};

/* A stack of the message's table, above the frame of a thread. */
struct known_stack {
	uint32_t index, root; /* stack_id */
	uint32_t stack;       /* stack_id */
};

struct otlp_builder {
	struct profile *p;
	capture_id capture;
	enum root_names root_names;
	struct progress *progress;
	const struct otlp_tables *t; /* of the message that is being added */
	uint32_t *location; /* [t.locations] location_id, ID_NONE: not asked for yet; owned */
	VEC(struct known_stack) known; /* of the message */
	struct map by_stack;           /* of .known */
	VEC(struct frame) frames;      /* of a location, outermost first */
	VEC(char) text;                /* of a set of labels */
	bool has_resource;             /* the last sample's, of the message: */
	size_t resource;               /* index of .resources */
	struct who resource_who;
	VEC(char) resource_text;
	uint64_t n_messages, n_profiles, n_rows;
	uint64_t n_old;      /* profiles of an older layout */
	uint64_t n_odd;      /* parts that cannot be unpacked */
	uint64_t n_missing;  /* samples of stacks that are not in the file */
	uint64_t n_frames;   /* frames of locations or functions that are not in the file */
	uint64_t n_negative; /* values below zero */
	uint64_t n_large;    /* values that make a sum too large */
	uint64_t
		n_short; /* samples with neither a value nor a time, or with other numbers of them */
	uint64_t n_unnamed; /* locations without a function */
	int64_t period;
	uint64_t since_publish;
	int rc;
};

/* Texts. */

static string_id string_at(const struct otlp_tables *t, int64_t index)
{
	return index > 0 && (uint64_t)index < t->strings.n ? t->strings.at[index]
							   : (string_id){ 0 };
}

static const char *text_at(const struct otlp_builder *b, int64_t index)
{
	return profile_string(b->p, string_at(b->t, index), NULL);
}

static string_id key_of(const struct otlp_tables *t, const struct otlp_attribute *a)
{
	return a->key_text.v ? a->key_text : string_at(t, a->key);
}

static string_id value_of(const struct otlp_tables *t, const struct otlp_attribute *a)
{
	return a->text_index ? string_at(t, a->text_index) : a->text;
}

static int64_t index_at(const struct otlp_tables *t, struct otlp_run run, uint32_t i)
{
	return t->indexes.at[run.first + i];
}

/* The attribute's value where the run has one with that key; empty where not. */
static const char *attribute_text(const struct otlp_builder *b, struct otlp_run run,
				  const char *key)
{
	for (uint32_t i = 0; i < run.n; i++) {
		int64_t at = index_at(b->t, run, i);
		const struct otlp_attribute *a;

		if (at <= 0 || (uint64_t)at >= b->t->attributes.n)
			continue;
		a = &b->t->attributes.at[at];
		if (strcmp(profile_string(b->p, key_of(b->t, a), NULL), key) == 0)
			return profile_string(b->p, value_of(b->t, a), NULL);
	}
	return "";
}

/* Locations. */

static enum family family_of(const char *frame_type)
{
	return strcmp(frame_type, "kernel") == 0 ? FAMILY_KERNEL : FAMILY_UNKNOWN;
}

/* Interpreted frames have no mapping, or one without a name: the function's file stands for it. */
static module_id module_of(struct otlp_builder *b, const struct otlp_location *l)
{
	const char *type = attribute_text(b, l->attributes, "profile.frame.type");
	const char *path = "", *build_id = "";

	if (l->mapping > 0 && (uint64_t)l->mapping < b->t->mappings.n) {
		const struct otlp_mapping *m = &b->t->mappings.at[l->mapping];

		path = text_at(b, m->filename);
		build_id = attribute_text(b, m->attributes, "process.executable.build_id.gnu");
	}
	if (family_of(type) == FAMILY_KERNEL && (*path == '\0' || strcmp(path, "vmlinux") == 0))
		return build_module(b->p, "[kernel.kallsyms]", build_id, FAMILY_KERNEL);
	if (*path == '\0')
		return (module_id){ 0 };
	return build_module(b->p, path, build_id,
			    family_of(type) == FAMILY_KERNEL ? FAMILY_KERNEL
							     : named_frame_family(path));
}

static function_id unnamed_function(struct otlp_builder *b, module_id m)
{
	const char *name = profile_string(b->p, profile_module(b->p, m)->name, NULL);
	char *text = *name && *name != '[' ? xasprintf("[%s]", name)
					   : xstrdup(*name ? name : "[unknown]");
	function_id f = build_function(b->p, build_cstring(b->p, text), m, FUNCTION_UNRESOLVED,
				       (string_id){ 0 }, 0);

	free(text);
	return f;
}

static uint32_t small_line(int64_t line)
{
	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

static void add_frame(struct otlp_builder *b, const struct otlp_line *line, module_id m)
{
	const struct otlp_function *f = line->function > 0 &&
							(uint64_t)line->function < b->t->functions.n
						? &b->t->functions.at[line->function]
						: NULL;
	struct named_frame named = { 0 };
	struct frame frame = { 0 };

	if (!f) {
		b->n_frames++;
		frame.function = unnamed_function(b, m).v;
	} else {
		named.name = string_at(b->t, f->name);
		if (named.name.v == 0)
			named.name = string_at(b->t, f->system_name);
		named.file = string_at(b->t, f->filename);
		named.declared = small_line(f->start_line);
		frame.function = named_frame_function(b->p, &named, m).v;
		frame.file = named.file.v;
		frame.line = small_line(line->line);
	}
	vec_push(&b->frames, frame);
}

static location_id new_location(struct otlp_builder *b, const struct otlp_location *l)
{
	module_id m = module_of(b, l);

	vec_clear(&b->frames);
	for (uint32_t i = l->lines.n; i-- > 0;)
		add_frame(b, &b->t->lines.at[l->lines.first + i], m);
	if (b->frames.n > 0)
		return build_frames_location(b->p, b->frames.at, (uint32_t)b->frames.n);
	b->n_unnamed++;
	return build_symbol_location(b->p, unnamed_function(b, m));
}

static location_id location_at(struct otlp_builder *b, int64_t index)
{
	if (index <= 0 || (uint64_t)index >= b->t->locations.n) {
		b->n_frames++;
		return build_symbol_location(b->p, unnamed_function(b, (module_id){ 0 }));
	}
	if (b->location[index] == ID_NONE)
		b->location[index] = new_location(b, &b->t->locations.at[index]).v;
	return (location_id){ b->location[index] };
}

/* Threads. */

static int64_t number_of(const char *text)
{
	char *end;
	long long x = strtoll(text, &end, 10);

	return *text && !*end && x >= 0 && x <= INT32_MAX ? x : -1;
}

static string_id base_name(struct otlp_builder *b, const char *path)
{
	return build_cstring(b->p, path_last_part(path));
}

static void add_text(struct otlp_builder *b, const char *s)
{
	size_t n = strnlen(s, MOST_TEXT - b->text.n);

	if (n == 0)
		return;
	vec_reserve(&b->text, b->text.n + n);
	memcpy(b->text.at + b->text.n, s, n);
	b->text.n += n;
}

static void add_label(struct otlp_builder *b, const char *key, const char *value, const char *unit)
{
	if (b->text.n > 0)
		add_text(b, ", ");
	add_text(b, key);
	add_text(b, "=");
	add_text(b, value);
	if (*unit)
		add_text(b, " ");
	add_text(b, unit);
}

static void take_attribute(struct otlp_builder *b, const struct otlp_attribute *a, struct who *w)
{
	const char *key = profile_string(b->p, key_of(b->t, a), NULL);
	string_id value = value_of(b->t, a);
	const char *text = profile_string(b->p, value, NULL);
	int64_t cpu;

	if (value.v == 0 || *key == '\0')
		return;
	if (strcmp(key, "process.pid") == 0) {
		w->pid = number_of(text);
	} else if (strcmp(key, "thread.id") == 0) {
		w->tid = number_of(text);
	} else if (strcmp(key, "thread.name") == 0) {
		w->thread = value;
	} else if (strcmp(key, "process.executable.name") == 0) {
		w->process = value;
	} else if (strcmp(key, "process.executable.path") == 0) {
		w->process = w->process.v ? w->process : base_name(b, text);
	} else if (strcmp(key, "cpu.logical_number") == 0) {
		cpu = number_of(text);
		w->cpu = cpu >= 0 && cpu < CPU_NONE ? (uint16_t)cpu : CPU_NONE;
	} else if (strncmp(key, "telemetry.", 10) != 0) {
		add_label(b, key, text, text_at(b, a->unit));
		if (strcmp(key, "service.name") == 0)
			w->service = value;
	}
}

static void read_resource(struct otlp_builder *b, size_t resource)
{
	struct who w = { .pid = -1, .tid = -1, .cpu = CPU_NONE };
	struct otlp_run own = b->t->resources.at[resource].attributes;

	vec_clear(&b->text);
	for (uint32_t i = 0; i < own.n; i++)
		take_attribute(b, &b->t->resource_attributes.at[own.first + i], &w);
	b->has_resource = true;
	b->resource = resource;
	b->resource_who = w;
	vec_clear(&b->resource_text);
	for (size_t i = 0; i < b->text.n; i++)
		vec_push(&b->resource_text, b->text.at[i]);
}

static struct who who_of(struct otlp_builder *b, const struct otlp_profile *p,
			 const struct otlp_sample *s)
{
	struct who w;

	if (!b->has_resource || b->resource != p->resource)
		read_resource(b, p->resource);
	w = b->resource_who;
	vec_clear(&b->text);
	for (size_t i = 0; i < b->resource_text.n; i++)
		vec_push(&b->text, b->resource_text.at[i]);
	for (uint32_t i = 0; i < s->attributes.n; i++) {
		int64_t at = index_at(b->t, s->attributes, i);

		if (at > 0 && (uint64_t)at < b->t->attributes.n)
			take_attribute(b, &b->t->attributes.at[at], &w);
	}
	if (w.process.v == 0)
		w.process = w.service;
	return w;
}

/* The thread, and the frame of its name that its stacks begin with. */
static thread_id thread_of(struct otlp_builder *b, const struct who *w, stack_id *root)
{
	bool named = w->pid >= 0 || w->tid >= 0 || w->process.v || w->thread.v;
	string_id name = w->thread.v ? w->thread : w->process;
	thread_id thread = { ID_NONE };

	if (named) {
		process_id process = w->pid >= 0 ? build_process(b->p, b->capture, (int32_t)w->pid)
						 : build_process_of_name(b->p, b->capture,
									 w->process.v ? w->process
										      : name);

		if (w->pid >= 0 && w->process.v)
			build_process_name(b->p, process, w->process);
		thread = build_thread(b->p, process, (int32_t)w->tid, name);
		*root = build_stack(b->p, *root,
				    build_root_location(b->p, name, (int32_t)w->pid,
							(int32_t)w->tid, b->root_names));
	}
	if (b->text.n == 0)
		return thread;
	if (thread.v == ID_NONE)
		thread = build_thread(b->p,
				      build_process_of_name(b->p, b->capture, (string_id){ 0 }), -1,
				      (string_id){ 0 });
	return build_thread_labelled(b->p, thread, build_string(b->p, b->text.at, b->text.n));
}

/* Samples. */

static struct unit_name unit_of(const char *name)
{
	for (size_t i = 0; i < sizeof(unit_names) / sizeof(*unit_names); i++)
		if (strcmp(name, unit_names[i].name) == 0)
			return unit_names[i];
	return (struct unit_name){ "", UNIT_COUNT, 1 };
}

static void add_row(struct otlp_builder *b, struct sample *s, int64_t value, int64_t each)
{
	if (value == 0)
		return;
	if (value < 0) {
		b->n_negative++;
		return;
	}
	if (__builtin_mul_overflow(value, each, &s->weight) || build_sample(b->p, s) < 0)
		b->n_large++;
	else
		b->n_rows++;
}

/* One value for all times, one each, or none: then each time counts one. */
static void add_values(struct otlp_builder *b, const struct otlp_sample *m, struct sample *s,
		       int64_t each)
{
	const int64_t *value, *time;
	uint32_t n = m->times.n;

	s->time_ns = TIME_NONE;
	if ((n == 0 && m->values.n == 0) || (n > 0 && m->values.n > 1 && m->values.n != n)) {
		b->n_short++;
		return;
	}
	/* Behind that there are numbers: without any, there is no place to count from. */
	value = b->t->numbers.at + m->values.first;
	time = b->t->numbers.at + m->times.first;
	for (uint32_t i = 0; n == 0 && i < m->values.n; i++)
		add_row(b, s, value[i], each);
	for (uint32_t i = 0; i < n; i++) {
		int64_t v = m->values.n == 0 ? 1 : value[m->values.n == 1 ? 0 : i];

		/* the rest of the division is the first one's */
		if (m->values.n == 1)
			v = v / n + (i == 0 ? v % n : 0);
		s->time_ns = time[i] > 0 ? time[i] : TIME_NONE;
		add_row(b, s, v, each);
	}
}

static bool same_stack(const void *things, uint32_t value, const void *key)
{
	const struct known_stack *a = &((const struct known_stack *)things)[value], *k = key;

	return a->index == k->index && a->root == k->root;
}

/* index: of the table of stacks, which has it. */
static stack_id stack_at(struct otlp_builder *b, uint32_t index, stack_id root)
{
	struct known_stack k = { .index = index, .root = root.v };
	uint64_t hash = hash_pair(index, root.v);
	uint32_t known = map_find(&b->by_stack, hash, same_stack, b->known.at, &k);
	struct otlp_run run = b->t->stacks.at[index];

	if (known != MAP_NONE)
		return (stack_id){ b->known.at[known].stack };
	for (uint32_t i = run.n; i-- > 0;)
		root = build_stack(b->p, root, location_at(b, index_at(b->t, run, i)));
	k.stack = root.v;
	map_add(&b->by_stack, hash, (uint32_t)b->known.n);
	vec_push(&b->known, k);
	return root;
}

static void add_sample(struct otlp_builder *b, const struct otlp_profile *p,
		       const struct otlp_sample *m, event_id event, int64_t each)
{
	struct sample s = { .event = event, .cpu = CPU_NONE };
	struct who w;

	if (m->stack < 0 || (uint64_t)m->stack >= b->t->stacks.n) {
		b->n_missing++;
		return;
	}
	w = who_of(b, p, m);
	s.cpu = w.cpu;
	s.thread = thread_of(b, &w, &s.stack);
	s.stack = stack_at(b, (uint32_t)m->stack, s.stack);
	add_values(b, m, &s, each);
	if (++b->since_publish % BATCH == 0) {
		b->rc = builder_end(b->p);
		builder_begin(b->p);
	}
	if (progress_cancelled(b->progress))
		b->rc = -ECANCELED;
}

static bool has_times(const struct otlp_tables *t, const struct otlp_profile *p)
{
	for (uint32_t i = 0; i < p->samples.n; i++)
		if (t->samples.at[p->samples.first + i].times.n > 0)
			return true;
	return false;
}

static void add_profile(struct otlp_builder *b, const struct otlp_profile *p)
{
	const char *name = text_at(b, p->type);
	struct unit_name unit = unit_of(text_at(b, p->unit));
	event_id event;

	if (p->samples.n == 0)
		return;
	name = *name ? name : "samples";
	event = has_times(b->t, p) ? build_event(b->p, name, unit.unit, true)
				   : build_summed_event(b->p, name, unit.unit);
	/* what the specification asks viewers to show first */
	if (b->n_profiles++ == 0)
		build_event_default(b->p, event);
	b->period = b->period ? b->period : p->period;
	for (uint32_t i = 0; i < p->samples.n && b->rc == 0; i++)
		add_sample(b, p, &b->t->samples.at[p->samples.first + i], event, unit.each);
}

int otlp_build(struct otlp_builder *b, const struct otlp_tables *t)
{
	b->t = t;
	b->n_messages++;
	b->n_odd += t->n_odd;
	if (t->is_old || (t->stacks.n == 0 && t->locations.n > 0)) {
		b->n_old += t->profiles.n;
		return 0;
	}
	b->location = xmalloc((t->locations.n + 1) * sizeof(*b->location));
	for (size_t i = 0; i < t->locations.n; i++)
		b->location[i] = ID_NONE;
	for (size_t i = 0; i < t->profiles.n && b->rc == 0; i++)
		add_profile(b, &t->profiles.at[i]);
	free(b->location);
	b->location = NULL;
	b->has_resource = false;
	vec_clear(&b->known);
	map_done(&b->by_stack);
	return b->rc;
}

uint64_t otlp_builder_n_rows(const struct otlp_builder *b)
{
	return b->n_rows;
}

uint64_t otlp_builder_n_old(const struct otlp_builder *b)
{
	return b->n_old;
}

void otlp_builder_tell(const struct otlp_builder *b)
{
	struct profile *p = b->p;
	capture_id c = b->capture;
	char text[FMT_COUNTED_SIZE];

	build_fact(p, c, "file", "layout", FACT_PLAIN,
		   "opentelemetry-proto v1development with a table of stacks (1.8 and later)");
	build_fact(p, c, "file", "profiles", FACT_PLAIN, "%s in %" PRIu64 " message%s",
		   fmt_counted(text, (int64_t)b->n_profiles, "profile"), b->n_messages,
		   b->n_messages == 1 ? "" : "s");
	if (b->period > 0)
		build_fact(p, c, "file", "period", FACT_PLAIN, "%" PRId64, b->period);
	if (b->n_unnamed > 0)
		build_fact(p, c, "symbols", "names", FACT_MISSING,
			   "%s without a function: the file has their modules only",
			   fmt_counted(text, (int64_t)b->n_unnamed, "location"));
	facts_loss(p, c, "older layout", b->n_old, "profile",
		   "of a layout before opentelemetry-proto 1.8");
	facts_loss(p, c, "parts", b->n_odd, "part", "that cannot be unpacked");
	facts_loss(p, c, "stacks", b->n_missing, "sample", "of stacks that are not in the file");
	facts_loss(p, c, "frames", b->n_frames, "frame",
		   "of locations or functions that are not in the file");
	facts_loss(p, c, "values", b->n_short, "sample",
		   "without a value and a time, or with other numbers of them");
	facts_loss(p, c, "negative values", b->n_negative, "value", "below zero, left out");
	facts_loss(p, c, "sums", b->n_large, "value", "left out, as the sum would be too large");
}

struct otlp_builder *otlp_builder_new(struct profile *p, capture_id c, enum root_names root_names,
				      struct progress *progress)
{
	struct otlp_builder *b = xcalloc(1, sizeof(*b));

	b->p = p;
	b->capture = c;
	b->root_names = root_names;
	b->progress = progress;
	return b;
}

void otlp_builder_free(struct otlp_builder *b)
{
	if (!b)
		return;
	vec_done(&b->known);
	map_done(&b->by_stack);
	vec_done(&b->frames);
	vec_done(&b->text);
	vec_done(&b->resource_text);
	free(b->location);
	free(b);
}

void otlp_tables_clear(struct otlp_tables *t)
{
	t->strings.n = t->mappings.n = t->locations.n = t->functions.n = t->attributes.n = 0;
	t->stacks.n = t->lines.n = t->resource_attributes.n = t->resources.n = 0;
	t->profiles.n = t->samples.n = t->indexes.n = t->numbers.n = 0;
	t->n_odd = 0;
	t->is_old = false;
}

void otlp_tables_done(struct otlp_tables *t)
{
	vec_done(&t->strings);
	vec_done(&t->mappings);
	vec_done(&t->locations);
	vec_done(&t->functions);
	vec_done(&t->attributes);
	vec_done(&t->stacks);
	vec_done(&t->lines);
	vec_done(&t->resource_attributes);
	vec_done(&t->resources);
	vec_done(&t->profiles);
	vec_done(&t->samples);
	vec_done(&t->indexes);
	vec_done(&t->numbers);
}
