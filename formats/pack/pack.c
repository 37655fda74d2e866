/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pack into the model. Tables come before what refers to them; an id is checked against what its table had. Tables that are damaged leave nothing
 * to be shown; of samples and what follows, whole sections count.
 */
#include "config.h"

#include "formats/pack/pack.h"

#include "base/compare.h"
#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/system_limits.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/pack/pack_file.h"
#include "formats/pack/pack_heap.h"
#include "formats/pack/pack_sections.h"
#include "input/input.h"
#include "input/whole_input.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "symbols/search/resolver_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A section is at most so large unpacked, and half of the memory: a pack of 2^32 samples has them in many. */
#define MOST_BYTES ((size_t)1 << 32)
/* Samples that are built before others see them. */
#define BATCH      16384

/* What an attachment takes beside its bytes and its name. */
#define ATTACHMENT_BYTES 128

typedef VEC(uint32_t) ids; /* of the profile, by number in the file */

struct reader {
	struct profile *p;
	capture_id capture;
	struct input *in;
	struct progress *progress;
	struct whole_input file;
	ids strings, modules, functions, locations, stacks, processes, cgroups, threads, events;
	VEC(struct frame) run;
	bool no_inlines; /* runs at addresses are left out, where they were found there */
	uint32_t part_path, part_format; /* string_id of the first part */
	VEC(uint32_t) parts;             /* [2] of each further part: path and format */
	struct pack_heap heap;
	VEC(int64_t)
	factor; /* of each event of the profile: from the file's scale to the event's; 0: none */
	uint64_t n_samples, n_large, n_times;
	uint64_t n_code_bytes, n_source_bytes; /* of attachments that were taken */
	uint64_t n_left_out;                   /* attachments beyond PACK_ATTACHMENTS_MOST */
	bool heap_read;
	char *cut; /* why the rest is missing, or NULL; owned */
};

/* Ids. */

static uint32_t take_id(struct bytes *b, const ids *table)
{
	uint32_t i = pack_take_below(b, table->n);

	return table->n > 0 ? table->at[i] : 0;
}

static string_id take_string(struct reader *r, struct bytes *b)
{
	return (string_id){ take_id(b, &r->strings) };
}

/* 0 is none. */
static uint32_t take_id_or_none(struct bytes *b, const ids *table)
{
	uint32_t i = pack_take_below(b, (uint64_t)table->n + 1);

	return i > 0 ? table->at[i - 1] : ID_NONE;
}

/* Tables. */

static void take_strings(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		uint64_t len = pack_take_count(b);
		const uint8_t *s = take_bytes(b, (size_t)len);

		if (s)
			vec_push(&r->strings, build_string(r->p, (const char *)s, (size_t)len).v);
	}
}

static void take_parts(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		uint32_t path = take_string(r, b).v, format = take_string(r, b).v;

		if (i == 0) {
			r->part_path = path;
			r->part_format = format;
		} else {
			vec_push(&r->parts, path);
			vec_push(&r->parts, format);
		}
	}
}

static void take_modules(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		const char *path = profile_string(r->p, take_string(r, b), NULL);
		const char *id = profile_string(r->p, take_string(r, b), NULL);
		enum family family = (enum family)pack_take_below(b, N_FAMILIES);

		/* the first one is what is in no module */
		vec_push(&r->modules,
			 i == 0 || b->bad ? 0 : build_module(r->p, path, id, family).v);
	}
}

static void take_functions(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		string_id name = take_string(r, b);
		module_id module = { take_id(b, &r->modules) };
		string_id file = take_string(r, b);
		uint32_t line = pack_take_below(b, UINT32_MAX);
		uint32_t flags = pack_take_below(b, 16);

		if (!b->bad)
			vec_push(&r->functions,
				 build_function(r->p, name, module, flags, file, line).v);
	}
}

static void take_run(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	vec_clear(&r->run);
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct frame f = { .function = take_id(b, &r->functions) };

		f.file = take_string(r, b).v;
		f.line = pack_take_below(b, UINT32_MAX);
		b->bad |= r->functions.n == 0;
		vec_push(&r->run, f);
	}
}

/* Did the reader of what was packed look up what is at addresses itself? Others have inlined functions in their files. */
static bool looks_up(const struct reader *r)
{
	static const char *const names[] = { "perf.data", "heap", "firefox" };
	const char *packed = profile_string(r->p, (string_id){ r->part_format }, NULL);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(packed, names[i]) == 0)
			return true;
	return false;
}

/* At an address, or a name alone: as build_location() and its siblings made it. */
static location_id make_location(struct reader *r, module_id module, uint64_t address,
				 uint32_t function)
{
	location_id l;

	if (address == 0 && r->run.n > 0)
		return build_frames_location(r->p, r->run.at, (uint32_t)r->run.n);
	if (address == 0 && function != ID_NONE &&
	    profile_function(r->p, (function_id){ function })->module.v == module.v)
		return build_symbol_location(r->p, (function_id){ function });
	l = build_location(r->p, module, address);
	if (r->run.n > 0)
		build_location_inlines(r->p, l, r->run.at, (uint32_t)r->run.n);
	else if (function != ID_NONE)
		build_location_function(r->p, l, (function_id){ function });
	return l;
}

static void take_locations(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b), address = 0;
	bool bare = r->no_inlines && looks_up(r);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		module_id module = { take_id(b, &r->modules) };
		uint32_t function;

		address += (uint64_t)pack_take_signed(b);
		function = take_id_or_none(b, &r->functions);
		take_run(r, b);
		if (bare && address != 0 && function != ID_NONE)
			vec_clear(&r->run);
		if (!b->bad)
			vec_push(&r->locations, make_location(r, module, address, function).v);
	}
}

static void take_stacks(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);
	uint32_t *parent = xmalloc(((size_t)n + 1) * sizeof(*parent));

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		uint32_t back = pack_take_below(b, i + 2);

		b->bad |= back == 0;
		parent[i] = (uint32_t)(i + 1) - back;
	}
	vec_push(&r->stacks, 0);
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		location_id l = { take_id(b, &r->locations) };
		stack_id up = { r->stacks.at[parent[i]] };

		b->bad |= r->locations.n == 0;
		if (!b->bad)
			vec_push(&r->stacks, build_stack(r->p, up, l).v);
	}
	free(parent);
}

static int32_t take_number(struct bytes *b)
{
	int64_t v = pack_take_signed(b);

	return v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

static void take_processes(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		int32_t pid = take_number(b);
		string_id name = take_string(r, b);
		process_id process;

		if (b->bad)
			return;
		process = pid < 0 ? build_process_of_name(r->p, r->capture, name)
				  : build_process(r->p, r->capture, pid);
		if (pid >= 0 && name.v)
			build_process_name(r->p, process, name);
		vec_push(&r->processes, process.v);
	}
}

static void take_cgroups(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		cgroup_id group = build_cgroup(r->p, r->capture, pack_take(b));
		string_id path = take_string(r, b);

		if (path.v)
			build_cgroup_path(r->p, group, path);
		vec_push(&r->cgroups, group.v);
	}
}

static void take_threads(struct reader *r, struct bytes *b)
{
	uint64_t n;

	take_processes(r, b);
	take_cgroups(r, b);
	n = pack_take_count(b);
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		process_id process = { take_id(b, &r->processes) };
		int32_t tid = take_number(b);
		string_id name = take_string(r, b);
		uint32_t group = take_id_or_none(b, &r->cgroups);
		string_id labels = take_string(r, b);
		thread_id t;

		b->bad |= r->processes.n == 0;
		if (b->bad)
			return;
		t = build_thread(r->p, process, tid, name);
		if (group != ID_NONE)
			t = build_thread_in(r->p, t, group);
		if (labels.v)
			t = build_thread_labelled(r->p, t, labels);
		vec_push(&r->threads, t.v);
	}
}

static event_id make_event(struct reader *r, const char *name, enum unit unit, unsigned flags)
{
	if (flags & 8)
		return build_heap_event(r->p, name);
	if (flags & 2)
		return build_counted_event(r->p, name);
	if (flags & 16)
		return build_summed_event(r->p, name, unit);
	if (flags & 4)
		return build_derived_event(r->p, name, unit);
	return build_event(r->p, name, unit, flags & 1);
}

static bool is_scale(uint64_t scale)
{
	uint64_t power = 1;

	while (power < scale && power < UINT64_C(1000000000))
		power *= 10;
	return power == scale;
}

/* An event of other files may have parts that are finer, or coarser, than those of this one. */
static void note_scale(struct reader *r, event_id e, int64_t scale)
{
	int64_t has = profile_event(r->p, e)->scale;

	if (has < scale && build_scale(r->p, e, scale) == 0)
		has = scale;
	while (r->factor.n <= e.v)
		vec_push(&r->factor, 0);
	r->factor.at[e.v] = has / scale;
}

static void take_events(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	b->bad |= n > UINT16_MAX;
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		const char *name = profile_string(r->p, take_string(r, b), NULL);
		enum unit unit = (enum unit)pack_take_below(b, UNIT_BYTES + 1);
		uint64_t scale = pack_take(b);
		uint32_t flags = pack_take_below(b, 64);
		event_id e;

		b->bad |= !is_scale(scale);
		if (b->bad)
			return;
		e = make_event(r, name, unit, flags);
		note_scale(r, e, (int64_t)scale);
		if (flags & 32)
			build_event_default(r->p, e);
		vec_push(&r->events, e.v);
	}
}

/* Samples. */

struct rows {
	uint64_t n;
	struct sample *sample; /* owned */
};

static void take_rows(struct reader *r, struct bytes *b, struct rows *rows)
{
	uint64_t time = 0;

	for (uint64_t i = 0; i < rows->n; i++) {
		rows->sample[i].event.v = (uint16_t)take_id(b, &r->events);
		b->bad |= r->events.n == 0;
	}
	for (uint64_t i = 0; i < rows->n; i++)
		rows->sample[i].thread.v = take_id_or_none(b, &r->threads);
	for (uint64_t i = 0; i < rows->n; i++) {
		uint32_t cpu = pack_take_below(b, CPU_NONE);

		rows->sample[i].cpu = (uint16_t)(cpu ? cpu - 1u : CPU_NONE);
	}
	for (uint64_t i = 0; i < rows->n; i++) {
		uint64_t v = pack_take(b);

		rows->sample[i].time_ns = TIME_NONE;
		if (v == 0)
			continue;
		time += (v - 1) >> 1 ^ (0 - ((v - 1) & 1));
		if (time <= INT64_MAX / 2)
			rows->sample[i].time_ns = (int64_t)time;
		else
			r->n_times++;
	}
	for (uint64_t i = 0; i < rows->n; i++)
		rows->sample[i].weight = pack_take_signed(b);
	for (uint64_t i = 0; i < rows->n; i++)
		rows->sample[i].stack.v = take_id(b, &r->stacks);
	b->bad |= r->stacks.n == 0;
}

static int take_samples(struct reader *r, struct bytes *b)
{
	struct rows rows = { .n = pack_take_count(b) };
	int rc = 0;

	/* each of the columns has a byte of a row at least */
	if (rows.n > bytes_left(b) / 6) {
		b->bad = true;
		return 0;
	}
	rows.sample = xcalloc((size_t)rows.n + 1, sizeof(*rows.sample));
	take_rows(r, b, &rows);
	for (uint64_t i = 0; i < rows.n && !b->bad && rc == 0; i++) {
		struct sample *s = &rows.sample[i];
		const struct event *e = profile_event(r->p, s->event);
		int64_t factor = r->factor.at[s->event.v];

		if (e->is_heap || factor == 0 ||
		    __builtin_mul_overflow(s->weight, factor, &s->weight) ||
		    build_sample(r->p, s) == -ERANGE)
			r->n_large++;
		else
			r->n_samples++;
		if (i % BATCH == BATCH - 1) {
			rc = builder_end(r->p);
			builder_begin(r->p);
		}
	}
	free(rows.sample);
	return rc;
}

/* Facts, of one part after the other: a fact is of the newest one. */

static bool is_fact_kind(uint32_t kind)
{
	return kind <= FACT_MISSING;
}

struct packed_fact {
	uint64_t of; /* the part */
	uint64_t at; /* its place in the file */
	string_id section, name, text;
	uint32_t kind;
};

static int by_part(const void *x, const void *y)
{
	const struct packed_fact *a = x, *b = y;

	return COMPARE(a->of, b->of) ?: COMPARE(a->at, b->at);
}

static void take_facts(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b), part = 0;
	VEC(struct packed_fact) facts = { 0 };

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct packed_fact f = { .of = pack_take(b), .at = i };

		f.section = take_string(r, b);
		f.name = take_string(r, b);
		f.text = take_string(r, b);
		f.kind = pack_take_below(b, 256);
		b->bad |= !is_fact_kind(f.kind);
		if (!b->bad && f.of <= r->parts.n / 2)
			vec_push(&facts, f);
	}
	if (facts.n > 0)
		qsort(facts.at, facts.n, sizeof(*facts.at), by_part);
	for (size_t i = 0; i <= facts.n; i++) {
		const struct packed_fact *f = i < facts.n ? &facts.at[i] : NULL;

		for (; part < (f ? f->of : r->parts.n / 2); part++)
			build_part(r->p, r->capture,
				   profile_string(r->p, (string_id){ r->parts.at[2 * part] }, NULL),
				   profile_string(r->p, (string_id){ r->parts.at[2 * part + 1] },
						  NULL));
		if (f)
			build_fact(r->p, r->capture, profile_string(r->p, f->section, NULL),
				   profile_string(r->p, f->name, NULL), (enum fact_kind)f->kind,
				   "%s", profile_string(r->p, f->text, NULL));
	}
	vec_done(&facts);
}

/* What annotations need; it is read where a function is annotated. */

/* A copy of the bytes; NULL where they are cut, or where all of their kind would be too many. */
static uint8_t *take_copy(struct reader *r, struct bytes *b, uint64_t *sum, size_t n_name,
			  size_t *n)
{
	const char *from = pack_take_text(b, n);
	uint64_t more = (uint64_t)n_name + ATTACHMENT_BYTES;
	uint8_t *copy;

	if (!from)
		return NULL;
	if (*n > PACK_ATTACHMENTS_MOST || more + *n > PACK_ATTACHMENTS_MOST - *sum) {
		r->n_left_out++;
		return NULL;
	}
	*sum += more + *n;
	copy = xmalloc(*n + 1);
	if (*n > 0)
		memcpy(copy, from, *n);
	return copy;
}

static void take_code(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		module_id m = { take_id(b, &r->modules) };
		size_t n_bytes;
		uint8_t *bytes = take_copy(r, b, &r->n_code_bytes, 0, &n_bytes);

		if (bytes)
			build_attachment(r->p, ATTACHMENT_CODE, profile_code_name(r->p, m), bytes,
					 n_bytes);
	}
}

static void take_sources(struct reader *r, struct bytes *b)
{
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		size_t n_path, n_bytes;
		const char *from = pack_take_text(b, &n_path);
		uint8_t *bytes = take_copy(r, b, &r->n_source_bytes, n_path, &n_bytes);
		char *path;

		if (!from || !bytes) {
			free(bytes);
			continue;
		}
		path = xstrndup(from, n_path);
		build_attachment(r->p, ATTACHMENT_SOURCE, path, bytes, n_bytes);
		free(path);
	}
}

/* The whole. */

static int take_section(struct reader *r, const struct pack_section *s)
{
	struct bytes b = bytes_over(s->bytes, s->n, false);
	int rc = 0;

	switch (s->id) {
	case PACK_STRINGS:
		take_strings(r, &b);
		break;
	case PACK_PARTS:
		take_parts(r, &b);
		break;
	case PACK_MODULES:
		take_modules(r, &b);
		break;
	case PACK_FUNCTIONS:
		take_functions(r, &b);
		break;
	case PACK_LOCATIONS:
		take_locations(r, &b);
		break;
	case PACK_STACKS:
		take_stacks(r, &b);
		break;
	case PACK_THREADS:
		take_threads(r, &b);
		break;
	case PACK_EVENTS:
		take_events(r, &b);
		break;
	case PACK_SAMPLES:
		rc = take_samples(r, &b);
		break;
	case PACK_FACTS:
		take_facts(r, &b);
		break;
	case PACK_HEAP:
		r->heap = (struct pack_heap){ .p = r->p,
					      .capture = r->capture,
					      .stacks = r->stacks.at,
					      .n_stacks = r->stacks.n,
					      .threads = r->threads.at,
					      .n_threads = r->threads.n,
					      .processes = r->processes.at,
					      .n_processes = r->processes.n,
					      .events = r->events.at,
					      .n_events = r->events.n };
		pack_heap_take(&r->heap, &b);
		r->heap_read |= !b.bad;
		break;
	case PACK_SOURCES:
		take_sources(r, &b);
		break;
	case PACK_CODE:
		take_code(r, &b);
		break;
	default:
		break;
	}
	if (b.bad && !r->cut)
		r->cut = xasprintf("section %" PRIu32
				   " at offset %zu is damaged: it ends too soon, "
				   "or refers to what is not in the file",
				   s->id, s->offset);
	return rc;
}

size_t pack_sections_most(void)
{
	uint64_t half = system_limits_memory_bytes() / 2;

	return half < MOST_BYTES ? (size_t)half : MOST_BYTES;
}

static int read_sections(struct reader *r, struct err *e)
{
	struct bytes b = bytes_over(r->file.bytes, r->file.n, false);
	struct err why = ERR_INIT;
	size_t most = pack_sections_most();
	int rc = pack_take_head(&b, PACK_MAGIC, &why), more;

	if (rc) {
		rc = err_set(e, rc, "%s: %s", input_name(r->in), err_text(&why));
		err_clear(&why);
		return rc;
	}
	while (rc == 0 && !r->cut) {
		struct pack_section s;

		more = pack_take_section(&b, r->file.bytes, most, &s, &why);
		if (more < 0)
			r->cut = xstrdup(err_text(&why));
		if (more <= 0)
			break;
		builder_begin(r->p);
		rc = take_section(r, &s);
		if (builder_end(r->p) < 0 && rc == 0)
			rc = -EFBIG;
		free(s.owned);
		if (progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	err_clear(&why);
	return rc;
}

static void tell(struct reader *r)
{
	builder_begin(r->p);
	build_fact(r->p, r->capture, "file", "packed from", FACT_PLAIN, "%s (%s)",
		   profile_string(r->p, (string_id){ r->part_path }, NULL),
		   profile_string(r->p, (string_id){ r->part_format }, NULL));
	if (r->cut)
		build_fact(r->p, r->capture, "losses", "rest of the pack", FACT_LOSS, "%s", r->cut);
	facts_loss(r->p, r->capture, "sums", r->n_large, "sample",
		   "left out, as the sum would be too large");
	facts_loss(r->p, r->capture, "code and sources", r->n_left_out, "file",
		   "left out, as a pack has at most 128 MB of code, and of source lines");
	facts_loss(r->p, r->capture, "times", r->n_times, "sample",
		   "without a time, as it cannot be one");
	builder_end(r->p);
}

static void reader_done(struct reader *r)
{
	ids *const tables[] = { &r->strings,   &r->modules, &r->functions,
				&r->locations, &r->stacks,  &r->processes,
				&r->cgroups,   &r->threads, &r->events };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		vec_done(tables[i]);
	vec_done(&r->run);
	vec_done(&r->parts);
	vec_done(&r->factor);
	free(r->cut);
	whole_input_done(&r->file);
}

/* Section by section, for an index. */

struct pack_sections {
	struct reader r;
};

struct pack_sections *pack_sections_new(struct profile *p, capture_id c)
{
	struct pack_sections *s = xcalloc(1, sizeof(*s));

	s->r = (struct reader){ .p = p, .capture = c };
	return s;
}

void pack_sections_free(struct pack_sections *s)
{
	if (!s)
		return;
	reader_done(&s->r);
	free(s);
}

int pack_sections_take(struct pack_sections *s, const struct pack_section *section)
{
	int rc = take_section(&s->r, section);

	return s->r.cut ? -EBADMSG : rc;
}

static bool counts_up(const ids *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->at[i] != i)
			return false;
	return true;
}

bool pack_sections_same_ids(const struct pack_sections *s)
{
	return counts_up(&s->r.stacks) && counts_up(&s->r.threads) && counts_up(&s->r.events) &&
	       counts_up(&s->r.locations) && counts_up(&s->r.functions);
}

bool pack_sections_whole(const struct pack_sections *s)
{
	const struct reader *r = &s->r;

	return !r->cut && !r->heap_read && r->n_large + r->n_times + r->n_left_out == 0;
}

static int read_pack(struct input *in, struct profile *p, capture_id c,
		     const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .in = in,
			    .progress = progress,
			    .no_inlines = o && o->resolve && o->resolve->no_inlines };
	int rc = whole_input_read(&r.file, in, progress, e);

	if (rc == 0)
		rc = read_sections(&r, e);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == 0 && r.n_samples == 0 && !r.heap_read)
		rc = err_set(e, -EBADMSG, "%s: is a pack without a sample%s%s", input_name(in),
			     r.cut ? ": " : "", r.cut ? r.cut : "");
	if (rc == 0 || rc == -EFBIG)
		tell(&r);
	reader_done(&r);
	return rc;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return n >= strlen(PACK_MAGIC) && memcmp(bytes, PACK_MAGIC, strlen(PACK_MAGIC)) == 0 ? 100
											     : 0;
}

const struct format format_pack = {
	.name = "pack",
	.title = "what proftop pack writes: a recording with its names, without the programs",
	.probe = probe,
	.read = read_pack,
};
