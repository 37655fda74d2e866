/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages are written one by one, so that memory holds the sums and no profile of protobuf-c's. pprof takes locations of one address in
 * one mapping for the same, so that each module gets addresses of its own: its mapping begins at a round address, and file
 * offsets are counted from there.
 */
#include "config.h"

#include "formats/pprof/pprof_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "formats/write/type_sums.h"
#include "formats/pprof/pprof_head.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/write/export_losses.h"
#include "formats/write/export_stacks.h"
#include "query/analysis.h"
#include <profile.pb-c.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Addresses of each module. */
#define MODULE_BYTES (UINT64_C(1) << 40)
#define GZIP_BITS    (15 + 16) /* zlib's window, with gzip's header */
#define PIECE_BYTES  ((size_t)64 << 10)

/* Bytes on their way into a gzip stream. */
struct packed {
	FILE *to;
	z_stream z;
	uint8_t piece[PIECE_BYTES];
	bool failed;
};

struct text {
	const char *s; /* borrowed from the profile, or from who asked */
	size_t n;
};

/* A function of the file: pprof has a file for a function, and counts lines in it. */
struct source {
	uint32_t function; /* function_id */
	uint32_t file;     /* string_id; of the line, else of the declaration */
};

struct writer {
	const struct analysis *a;
	const struct profile *p;
	struct stack_columns stacks;
	struct location_columns locations;
	bool by_row; /* a transform or a grouping makes new stacks: */
	struct export_stacks made;
	struct packed out;
	struct pprof_head head;
	VEC(uint8_t) message;
	VEC(struct text) strings;
	struct map by_text;
	/* Ids in the order of their first use: those of the profile depend on which thread finds a name first. */
	uint32_t *location_id;             /* [n_locations] 0: not used; owned, as what follows */
	VEC(uint32_t) locations_used;      /* [id - 1] */
	VEC(struct source) functions_used; /* likewise */
	struct map by_source;              /* → functions_used */
	uint64_t *limit;   /* [n_modules] one past the highest offset that is used; 0: none is */
	VEC(uint64_t) ids; /* of the sample's locations, innermost first */
	VEC(Pprof__Line) lines;     /* of the location, innermost first */
	VEC(Pprof__Line *) line_at; /* [lines.n] for protobuf-c */
	VEC(Pprof__Label) labels;
	VEC(Pprof__Label *) label_at; /* [labels.n] for protobuf-c */
};

/* Packing. */

static void pack(struct packed *k, const void *bytes, size_t n, int flush)
{
	k->z.next_in = (void *)bytes;
	k->z.avail_in = (uInt)n;
	do {
		size_t made;

		k->z.next_out = k->piece;
		k->z.avail_out = sizeof(k->piece);
		deflate(&k->z, flush);
		made = sizeof(k->piece) - k->z.avail_out;
		if (!k->failed && fwrite(k->piece, 1, made, k->to) != made)
			k->failed = true;
	} while (k->z.avail_out == 0);
}

static void put_varint(struct packed *k, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	do
		bytes[n++] = (uint8_t)(v & 0x7f) | (v > 0x7f ? 0x80 : 0);
	while (v >>= 7);
	pack(k, bytes, n, Z_NO_FLUSH);
}

static void put_bytes(struct writer *w, enum pprof_field field, const void *bytes, size_t n)
{
	put_varint(&w->out, (uint64_t)field << 3 | 2);
	put_varint(&w->out, n);
	pack(&w->out, bytes, n, Z_NO_FLUSH);
}

static void put_number(struct writer *w, enum pprof_field field, int64_t v)
{
	put_varint(&w->out, (uint64_t)field << 3);
	put_varint(&w->out, (uint64_t)v);
}

static void put_message(struct writer *w, enum pprof_field field, const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);

	vec_reserve(&w->message, n + 1);
	protobuf_c_message_pack(m, w->message.at);
	put_bytes(w, field, w->message.at, n);
}

/* Strings. */

static bool same_text(const void *things, uint32_t value, const void *key)
{
	const struct text *t = (const struct text *)things + value, *k = key;

	return t->n == k->n && memcmp(t->s, k->s, k->n) == 0;
}

/* s must outlive the writer. */
static int64_t string_n(struct writer *w, const char *s, size_t n)
{
	struct text key = { s, n };
	uint64_t hash = hash_bytes(s, n);
	uint32_t i = map_find(&w->by_text, hash, same_text, w->strings.at, &key);

	if (i != MAP_NONE)
		return i;
	map_add(&w->by_text, hash, (uint32_t)w->strings.n);
	vec_push(&w->strings, key);
	return (int64_t)w->strings.n - 1;
}

static int64_t string(struct writer *w, const char *s)
{
	return string_n(w, s, strlen(s));
}

static int64_t string_of(struct writer *w, string_id id)
{
	size_t n;
	const char *s = profile_string(w->p, id, &n);

	return string_n(w, s, n);
}

static const char *unit_name(enum unit u)
{
	static const char *const names[] = {
		[UNIT_COUNT] = "count", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes"
	};

	return names[u];
}

/* Samples. */

static void add_label(struct writer *w, const char *key, string_id text, int64_t number)
{
	Pprof__Label l = PPROF__LABEL__INIT;

	l.key = string(w, key);
	l.str = text.v ? string_of(w, text) : 0;
	l.num = number;
	vec_push(&w->labels, l);
}

/* The value of a label of numbers, "4096" or "4096 bytes", as such. */
static void set_value(struct writer *w, Pprof__Label *l, const char *key, size_t n_key,
		      const char *value, size_t n)
{
	const struct pprof_text *unit = pprof_head_unit(w->head.labels.at, w->head.labels.n, key,
							n_key);
	char *end;
	long long number = strtoll(value, &end, 10); /* the set ends in a NUL */
	size_t n_digits = (size_t)(end - value);

	if (unit && n_digits > 0 && n_digits == n) {
		l->num = number;
	} else if (unit && n_digits > 0 && n_digits + 1 < n && *end == ' ') {
		l->num = number;
		l->num_unit = string_n(w, end + 1, n - n_digits - 1);
	} else {
		l->str = string_n(w, value, n);
	}
}

/* "kind=sort, worker=1" as it was read: a label each. */
static void add_own_labels(struct writer *w, string_id labels)
{
	const char *s = profile_string(w->p, labels, NULL);

	while (*s) {
		const char *comma = strstr(s, ", "), *end = comma ? comma : s + strlen(s);
		const char *equals = memchr(s, '=', (size_t)(end - s));
		Pprof__Label l = PPROF__LABEL__INIT;

		l.key = string_n(w, s, (size_t)((equals ? equals : end) - s));
		if (equals)
			set_value(w, &l, s, (size_t)(equals - s), equals + 1,
				  (size_t)(end - equals - 1));
		vec_push(&w->labels, l);
		s = comma ? comma + 2 : end;
	}
}

static void make_labels(struct writer *w, uint32_t thread)
{
	const struct thread *t;
	const struct process *process;

	vec_clear(&w->labels);
	vec_clear(&w->label_at);
	if (thread == ID_NONE)
		return;
	t = profile_thread(w->p, (thread_id){ thread });
	process = profile_process(w->p, t->process);
	if (t->name.v)
		add_label(w, "thread", t->name, 0);
	if (t->tid >= 0)
		add_label(w, "tid", (string_id){ 0 }, t->tid);
	if (process->pid >= 0)
		add_label(w, "pid", (string_id){ 0 }, process->pid);
	/* one without a number is called as its thread where nothing else is said */
	if (process_name(process).v && (process->pid >= 0 || process_name(process).v != t->name.v))
		add_label(w, "process", process_name(process), 0);
	add_own_labels(w, t->labels);
	for (size_t i = 0; i < w->labels.n; i++)
		vec_push(&w->label_at, &w->labels.at[i]);
}

/* What only says which thread it was is a label. */
static bool is_thread_name(const struct writer *w, uint32_t location)
{
	uint32_t f = location_function(&w->locations, location);

	return f < w->a->counts.n_functions &&
	       profile_function(w->p, (function_id){ f })->flags & FUNCTION_COMM;
}

/* False: a transform drops the stack. */
static bool make_ids(struct writer *w, uint32_t stack)
{
	uint32_t node = w->by_row ? export_stacks_node(&w->made, stack) : 0;

	vec_clear(&w->ids);
	if (node == EXPORT_GONE)
		return false;
	for (; node != 0; node = w->made.nodes.at[node].parent)
		vec_push(&w->ids, (uint64_t)w->made.nodes.at[node].frame + 1);
	for (uint32_t s = w->by_row ? 0 : stack; s != 0; s = w->stacks.parent[s]) {
		uint32_t location = w->stacks.location[s];

		if (is_thread_name(w, location))
			continue;
		if (w->location_id[location] == 0) {
			vec_push(&w->locations_used, location);
			w->location_id[location] = (uint32_t)w->locations_used.n;
		}
		vec_push(&w->ids, w->location_id[location]);
	}
	return true;
}

static void put_samples(struct writer *w, const struct type_sums *sums)
{
	for (size_t i = 0; i < sums->sums.n && !w->out.failed; i++) {
		Pprof__Sample m = PPROF__SAMPLE__INIT;

		if (!make_ids(w, sums->sums.at[i].stack))
			continue;
		make_labels(w, sums->sums.at[i].thread);
		m.n_location_id = w->ids.n;
		m.location_id = w->ids.at;
		m.n_value = sums->types.n;
		m.value = &sums->values.at[i * sums->types.n];
		m.n_label = w->label_at.n;
		m.label = w->label_at.at;
		put_message(w, PPROF_SAMPLE, &m.base);
	}
}

/* Frames that are rows, whose ids stand for locations and functions. */
static void put_made_tables(struct writer *w)
{
	for (uint32_t i = 0; i < w->made.frames.n; i++) {
		const struct export_frame *frame = &w->made.frames.at[i];
		Pprof__Location l = PPROF__LOCATION__INIT;
		Pprof__Function f = PPROF__FUNCTION__INIT;
		Pprof__Line line = PPROF__LINE__INIT, *lines[] = { &line };

		f.id = l.id = line.function_id = (uint64_t)i + 1;
		f.name = f.system_name = string(w, frame->name);
		f.filename = string_of(w, frame->file);
		f.start_line = frame->declared;
		l.mapping_id = frame->module;
		l.n_line = 1;
		l.line = lines;
		put_message(w, PPROF_LOCATION, &l.base);
		put_message(w, PPROF_FUNCTION, &f.base);
		w->limit[frame->module] = 1;
	}
}

/* What samples refer to. */

static uint64_t address_of(struct writer *w, uint32_t location)
{
	uint32_t module = w->locations.module[location];
	uint64_t offset = w->locations.address[location];

	if (module == 0)
		return offset;
	/* the kernel's and generated code are where they are in memory: as far as there is room */
	offset %= MODULE_BYTES - 1;
	if (offset >= w->limit[module])
		w->limit[module] = offset + 1;
	return offset ? module * MODULE_BYTES + offset : 0;
}

static bool same_source(const void *things, uint32_t value, const void *key)
{
	const struct source *a = (const struct source *)things + value, *b = key;

	return a->function == b->function && a->file == b->file;
}

static uint64_t function_of(struct writer *w, const struct frame *f)
{
	function_id id = { f->function };
	struct source s = { f->function, f->line > 0 && f->file
						 ? f->file
						 : function_file(profile_function(w->p, id)).v };
	uint64_t hash = hash_pair(s.function, s.file);
	uint32_t n = map_find(&w->by_source, hash, same_source, w->functions_used.at, &s);

	if (n == MAP_NONE) {
		n = (uint32_t)w->functions_used.n;
		map_add(&w->by_source, hash, n);
		vec_push(&w->functions_used, s);
	}
	return (uint64_t)n + 1;
}

static void put_location(struct writer *w, uint32_t location)
{
	uint32_t function = location_function(&w->locations, location);
	const struct frame *run = location_frames(&w->locations, location);
	const struct frame alone = { .function = function };
	Pprof__Location m = PPROF__LOCATION__INIT;

	m.id = w->location_id[location];
	m.mapping_id = w->locations.module[location];
	m.address = address_of(w, location);
	if (!run)
		run = &alone;
	vec_clear(&w->lines);
	vec_clear(&w->line_at);
	for (uint32_t i = run->n_more + 1; i-- > 0;) {
		if (run[i].function >= w->a->counts.n_functions)
			continue;
		vec_push(&w->lines, (Pprof__Line)PPROF__LINE__INIT);
		w->lines.at[w->lines.n - 1].function_id = function_of(w, &run[i]);
		w->lines.at[w->lines.n - 1].line = run[i].line;
	}
	for (size_t i = 0; i < w->lines.n; i++)
		vec_push(&w->line_at, &w->lines.at[i]);
	m.n_line = w->lines.n;
	m.line = w->line_at.at;
	put_message(w, PPROF_LOCATION, &m.base);
	if (w->limit[w->locations.module[location]] == 0)
		w->limit[w->locations.module[location]] = 1;
}

static void put_function(struct writer *w, uint32_t i)
{
	struct source s = w->functions_used.at[i];
	const struct function *f = profile_function(w->p, (function_id){ s.function });
	Pprof__Function m = PPROF__FUNCTION__INIT;

	m.id = (uint64_t)i + 1;
	m.name = m.system_name = string_of(w, f->name);
	m.filename = string_of(w, (string_id){ s.file });
	m.start_line = function_file(f).v == s.file ? function_line(f) : 0;
	put_message(w, PPROF_FUNCTION, &m.base);
}

static void put_mapping(struct writer *w, uint32_t id)
{
	const struct module *module = profile_module(w->p, (module_id){ id });
	Pprof__Mapping m = PPROF__MAPPING__INIT;

	m.id = id;
	m.memory_start = id * MODULE_BYTES;
	m.memory_limit = m.memory_start + w->limit[id];
	m.filename = string_of(w, module->path);
	m.build_id = string_of(w, module->build_id);
	m.has_functions = true;
	m.has_filenames = true;
	m.has_line_numbers = true;
	m.has_inline_frames = true;
	put_message(w, PPROF_MAPPING, &m.base);
}

static bool is_program(const struct writer *w, uint32_t module)
{
	return profile_module(w->p, (module_id){ module })->family == FAMILY_PROGRAM;
}

static void put_tables(struct writer *w)
{
	if (w->by_row)
		put_made_tables(w);
	for (size_t i = 0; i < w->locations_used.n; i++)
		put_location(w, w->locations_used.at[i]);
	for (uint32_t i = 0; i < w->functions_used.n; i++)
		put_function(w, i);
	/* pprof calls the profile by its first mapping */
	for (int programs = 1; programs >= 0; programs--)
		for (uint32_t i = 1; i < w->a->counts.n_modules; i++)
			if (w->limit[i] > 0 && programs == is_program(w, i))
				put_mapping(w, i);
}

/* The whole. */

static void put_type(struct writer *w, enum pprof_field field, const char *name, enum unit unit)
{
	Pprof__ValueType m = PPROF__VALUE_TYPE__INIT;

	const struct pprof_text *own = pprof_head_unit(w->head.units.at, w->head.units.n, name,
						       strlen(name));

	m.type = string(w, name);
	m.unit = unit == UNIT_COUNT && own ? string_n(w, own->s, own->n)
					   : string(w, unit_name(unit));
	put_message(w, field, &m.base);
}

/* What is said of the whole. */
static void put_head(struct writer *w)
{
	const struct weights *weights = &w->a->weights;
	const struct pprof_head *h = &w->head;
	Pprof__ValueType m = PPROF__VALUE_TYPE__INIT;

	if (weights->begin_ns != TIME_NONE && weights->end_ns > weights->begin_ns)
		put_number(w, PPROF_DURATION_NANOS, weights->end_ns - weights->begin_ns);
	else if (h->duration_ns > 0)
		put_number(w, PPROF_DURATION_NANOS, h->duration_ns);
	if (h->time_ns > 0)
		put_number(w, PPROF_TIME_NANOS, h->time_ns);
	if (h->period > 0) {
		m.type = string_n(w, h->period_type.s, h->period_type.n);
		m.unit = string_n(w, h->period_unit.s, h->period_unit.n);
		put_message(w, PPROF_PERIOD_TYPE, &m.base);
		put_number(w, PPROF_PERIOD, h->period);
	}
	for (size_t i = 0; i < h->comments.n; i++)
		put_number(w, PPROF_COMMENT, string_n(w, h->comments.at[i].s, h->comments.at[i].n));
	if (h->doc_url.s)
		put_number(w, PPROF_DOC_URL, string_n(w, h->doc_url.s, h->doc_url.n));
}

static void put_strings(struct writer *w)
{
	for (size_t i = 0; i < w->strings.n; i++)
		put_bytes(w, PPROF_STRING, w->strings.at[i].s, w->strings.at[i].n);
}

static int put_all(struct writer *w)
{
	struct type_sums sums = { 0 };
	int rc = type_sums_make(&sums, w->a);

	string(w, "");
	for (size_t i = 0; i < sums.types.n && rc == 0; i++)
		put_type(w, PPROF_SAMPLE_TYPE, sums.types.at[i].name, sums.types.at[i].unit);
	if (rc == 0)
		put_samples(w, &sums);
	if (rc == 0 && sums.shown < sums.types.n)
		put_number(w, PPROF_DEFAULT_TYPE, string(w, sums.types.at[sums.shown].name));
	put_tables(w);
	put_head(w);
	put_strings(w);
	pack(&w->out, "", 0, Z_FINISH);
	type_sums_done(&sums);
	return rc;
}

static void writer_done(struct writer *w)
{
	deflateEnd(&w->out.z);
	vec_done(&w->message);
	vec_done(&w->strings);
	vec_done(&w->ids);
	vec_done(&w->lines);
	vec_done(&w->line_at);
	vec_done(&w->labels);
	vec_done(&w->label_at);
	map_done(&w->by_text);
	map_done(&w->by_source);
	free(w->location_id);
	vec_done(&w->locations_used);
	vec_done(&w->functions_used);
	free(w->limit);
	pprof_head_done(&w->head);
	export_stacks_done(&w->made);
	free(w);
}

int pprof_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	bool failed;
	int rc;

	(void)o;
	w->a = a;
	w->p = a->profile;
	w->out.to = to;
	if (deflateInit2(&w->out.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		mem_fail(sizeof(w->out.z));
	pprof_head_read(&w->head, w->p, &a->counts);
	profile_stacks_of(w->p, &a->counts, &w->stacks);
	profile_locations(w->p, &w->locations);
	w->location_id = xcalloc(a->counts.n_locations + 1u, sizeof(*w->location_id));
	w->limit = xcalloc(a->counts.n_modules + 1u, sizeof(*w->limit));
	w->by_row = export_drops_positions(a);
	rc = w->by_row ? export_stacks_init(&w->made, a, EXPORT_KEYS) : 0;
	if (rc == 0)
		rc = put_all(w);
	failed = w->out.failed;
	writer_done(w);
	errno = 0;
	if (failed || fflush(to) != 0 || ferror(to))
		return err_set(e, errno ? -errno : -EIO, "cannot write the profile: %s",
			       strerror(errno ? errno : EIO));
	return rc ? err_set(e, rc, "cannot go through the samples") : 0;
}
