/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass over the fields of a profile. Tables may come behind what refers to them, so that indexes are looked up
 * only when all is read.
 */
#include "config.h"

#include "formats/pprof/pprof_tables.h"

#include "base/hash.h"
#include "formats/proto/proto_arena.h"
#include "formats/proto/proto_fields.h"
#include <profile.pb-c.h>

#include <stdlib.h>
#include <string.h>

/* Ids: any number of 64 bits, mostly those from 1 to as many as there are things: these need no hashing. */

#define SAME_ID(name, type) \
	static bool name(const void *things, uint32_t value, const void *key) \
	{ \
		return ((const type *)things)[value].id == *(const uint64_t *)key; \
	}
SAME_ID(same_mapping, struct pprof_mapping)
SAME_ID(same_function, struct pprof_function)
SAME_ID(same_location, struct pprof_location)
#undef SAME_ID

/* The first of an id counts. */
static void add_id(struct map *m, map_same *same, const void *things, uint64_t id, size_t at)
{
	uint64_t hash = hash_u64(id);

	if (map_find(m, hash, same, things, &id) == MAP_NONE)
		map_add(m, hash, (uint32_t)at);
}

/* MAP_NONE: there is none. */
static uint32_t find_id(const struct pprof_ids *ids, map_same *same, const void *things,
			uint64_t id)
{
	if (ids->at)
		return id < ids->n ? ids->at[id] : MAP_NONE;
	return map_find(&ids->map, hash_u64(id), same, things, &id);
}

/* Messages. */

static bool add_type(struct pprof_tables *t, struct proto_arena *a, const struct proto_field *f)
{
	const Pprof__ValueType *m = pprof__value_type__unpack(&a->allocator, f->n, f->at);
	struct pprof_type type;

	if (!m)
		return false;
	type = (struct pprof_type){ m->type, m->unit };
	if (f->number == PPROF_PERIOD_TYPE)
		t->period_type = type;
	else
		vec_push(&t->types, type);
	return true;
}

static bool add_mapping(struct pprof_tables *t, struct proto_arena *a, const struct proto_field *f)
{
	const Pprof__Mapping *m = pprof__mapping__unpack(&a->allocator, f->n, f->at);
	struct pprof_mapping mapping;

	if (!m || t->mappings.n >= UINT32_MAX - 1)
		return false;
	mapping = (struct pprof_mapping){ m->id,          m->memory_start, m->memory_limit,
					  m->file_offset, m->filename,     m->build_id };
	vec_push(&t->mappings, mapping);
	return true;
}

static bool add_function(struct pprof_tables *t, struct proto_arena *a, const struct proto_field *f)
{
	const Pprof__Function *m = pprof__function__unpack(&a->allocator, f->n, f->at);
	struct pprof_function function;

	if (!m || t->functions.n >= UINT32_MAX - 1)
		return false;
	function = (struct pprof_function){ m->id, m->name, m->system_name, m->filename,
					    m->start_line };
	vec_push(&t->functions, function);
	return true;
}

static bool add_location(struct pprof_tables *t, struct proto_arena *a, const struct proto_field *f)
{
	const Pprof__Location *m = pprof__location__unpack(&a->allocator, f->n, f->at);
	struct pprof_location location;

	if (!m || t->locations.n >= UINT32_MAX - 1 || m->n_line > UINT32_MAX)
		return false;
	location = (struct pprof_location){ m->id, m->mapping_id, m->address, t->lines.n,
					    (uint32_t)m->n_line };
	for (size_t i = 0; i < m->n_line; i++) {
		struct pprof_line line = { m->line[i]->function_id, m->line[i]->line };

		vec_push(&t->lines, line);
	}
	vec_push(&t->locations, location);
	return true;
}

static void add_string(struct pprof_tables *t, const struct proto_field *f)
{
	struct pprof_string s = { (const char *)f->at, f->n };

	vec_push(&t->strings, s);
}

/* One number, or several packed into bytes. */
static bool add_comments(struct pprof_tables *t, const struct proto_field *f)
{
	struct bytes b = bytes_over(f->at, f->n, false);

	if (f->wire == PROTO_VARINT) {
		vec_push(&t->comments, (int64_t)f->value);
		return true;
	}
	while (bytes_left(&b) > 0 && !b.bad)
		vec_push(&t->comments, (int64_t)take_varint(&b));
	return !b.bad;
}

static int64_t *number_of(struct pprof_tables *t, uint32_t field)
{
	switch (field) {
	case PPROF_DROP_FRAMES:
		return &t->drop;
	case PPROF_KEEP_FRAMES:
		return &t->keep;
	case PPROF_TIME_NANOS:
		return &t->time_ns;
	case PPROF_DURATION_NANOS:
		return &t->duration_ns;
	case PPROF_PERIOD:
		return &t->period;
	case PPROF_DEFAULT_TYPE:
		return &t->default_type;
	case PPROF_DOC_URL:
		return &t->doc_url;
	default:
		return NULL;
	}
}

/* What the field should be; fields that nobody knows are passed over. False: it is something else. */
static bool add_field(struct pprof_tables *t, struct proto_arena *a, const struct proto_field *f)
{
	int64_t *number = number_of(t, f->number);

	if (number) {
		*number = (int64_t)f->value;
		return f->wire == PROTO_VARINT;
	}
	if (f->number == PPROF_COMMENT)
		return add_comments(t, f);
	if (f->number >= PPROF_SAMPLE_TYPE && f->number <= PPROF_PERIOD_TYPE &&
	    f->wire != PROTO_BYTES)
		return false;
	switch (f->number) {
	case PPROF_SAMPLE_TYPE:
	case PPROF_PERIOD_TYPE:
		return add_type(t, a, f);
	case PPROF_MAPPING:
		return add_mapping(t, a, f);
	case PPROF_LOCATION:
		return add_location(t, a, f);
	case PPROF_FUNCTION:
		return add_function(t, a, f);
	case PPROF_STRING:
		add_string(t, f);
		return true;
	case PPROF_SAMPLE:
		t->n_samples++;
		return true;
	default:
		return true;
	}
}

/* Ids are dense when a table of them all is not much larger than the things. */
static bool is_dense(uint64_t most, size_t n)
{
	return n > 0 && most / 4 <= n;
}

/* From the last on, as the first of an id counts. */
#define INDEX(ids, things, same) \
	do { \
		uint64_t most = 0; \
\
		for (size_t i = 0; i < (things)->n; i++) \
			most = (things)->at[i].id > most ? (things)->at[i].id : most; \
		if (is_dense(most, (things)->n)) { \
			(ids)->n = (size_t)most + 1; \
			(ids)->at = xreallocarray(NULL, (ids)->n, sizeof(*(ids)->at)); \
			memset((ids)->at, 0xff, (ids)->n * sizeof(*(ids)->at)); \
		} \
		for (size_t i = (things)->n; (ids)->at && i-- > 0;) \
			(ids)->at[(things)->at[i].id] = (uint32_t)i; \
		for (size_t i = 0; !(ids)->at && i < (things)->n; i++) \
			add_id(&(ids)->map, same, (things)->at, (things)->at[i].id, i); \
	} while (0)

static void index_ids(struct pprof_tables *t)
{
	INDEX(&t->by_mapping, &t->mappings, same_mapping);
	INDEX(&t->by_function, &t->functions, same_function);
	INDEX(&t->by_location, &t->locations, same_location);
}
#undef INDEX

static void ids_done(struct pprof_ids *ids)
{
	map_done(&ids->map);
	free(ids->at);
}

void pprof_tables_read(struct pprof_tables *t, const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);
	struct proto_arena arena;
	struct proto_field f;

	memset(t, 0, sizeof(*t));
	proto_arena_init(&arena);
	while (proto_next(&b, &f)) {
		if (!add_field(t, &arena, &f) && t->n_odd++ == 0)
			t->first_odd = t->n_good;
		proto_arena_reset(&arena);
		t->n_good = (size_t)(b.at - bytes);
	}
	proto_arena_done(&arena);
	index_ids(t);
}

void pprof_tables_done(struct pprof_tables *t)
{
	vec_done(&t->strings);
	vec_done(&t->types);
	vec_done(&t->mappings);
	vec_done(&t->functions);
	vec_done(&t->lines);
	vec_done(&t->locations);
	vec_done(&t->comments);
	ids_done(&t->by_mapping);
	ids_done(&t->by_function);
	ids_done(&t->by_location);
}

struct pprof_string pprof_string(const struct pprof_tables *t, int64_t index)
{
	if (index < 0 || (uint64_t)index >= t->strings.n)
		return (struct pprof_string){ "", 0 };
	return t->strings.at[index];
}

const struct pprof_unit *pprof_known_unit(struct pprof_string name)
{
	static const struct pprof_unit units[] = {
		{ "count", UNIT_COUNT, 1 },           { "nanoseconds", UNIT_NS, 1 },
		{ "nanosecond", UNIT_NS, 1 },         { "ns", UNIT_NS, 1 },
		{ "microseconds", UNIT_NS, 1000 },    { "us", UNIT_NS, 1000 },
		{ "milliseconds", UNIT_NS, 1000000 }, { "ms", UNIT_NS, 1000000 },
		{ "seconds", UNIT_NS, 1000000000 },   { "s", UNIT_NS, 1000000000 },
		{ "bytes", UNIT_BYTES, 1 },           { "byte", UNIT_BYTES, 1 },
		{ "kilobytes", UNIT_BYTES, 1024 },    { "megabytes", UNIT_BYTES, 1048576 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (name.n == strlen(units[i].name) && memcmp(name.s, units[i].name, name.n) == 0)
			return &units[i];
	return NULL;
}

const struct pprof_mapping *pprof_mapping(const struct pprof_tables *t, uint64_t id)
{
	uint32_t i = find_id(&t->by_mapping, same_mapping, t->mappings.at, id);

	return i != MAP_NONE ? &t->mappings.at[i] : NULL;
}

const struct pprof_function *pprof_function(const struct pprof_tables *t, uint64_t id)
{
	uint32_t i = find_id(&t->by_function, same_function, t->functions.at, id);

	return i != MAP_NONE ? &t->functions.at[i] : NULL;
}

uint32_t pprof_find_location(const struct pprof_tables *t, uint64_t id)
{
	return find_id(&t->by_location, same_location, t->locations.at, id);
}
