/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ProfilesData as protobuf: large messages field by field, small ones by protobuf-c. */
#include "config.h"

#include "formats/otlp/otlp_tables.h"

#include "formats/proto/proto_arena.h"
#include "formats/proto/proto_fields.h"
#include "profile/builder.h"
#include <otlp_profiles.pb-c.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct otlp_tables *t;
	struct proto_arena arena;
	bool cut;
	const uint8_t *cut_at;
};

/* Fields of the messages that are read one by one. */
enum {
	DATA_RESOURCES = 1,
	DATA_DICTIONARY = 2,
	RESOURCES_RESOURCE = 1,
	RESOURCES_SCOPES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPES_PROFILES = 2,
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD = 6,
	OLD_SAMPLE_LENGTH = 2, /* of locations, a number where attributes are now */
};

typedef bool field_fn(struct reader *r, const struct proto_field *f);

/* Calls fn for each field; false marks one that cannot be unpacked. */
static void each_field(struct reader *r, const uint8_t *bytes, size_t n, field_fn *fn)
{
	struct bytes b = bytes_over(bytes, n, false);
	const uint8_t *good = b.at;
	struct proto_field f;

	while (proto_next(&b, &f)) {
		r->t->n_odd += !fn(r, &f);
		good = b.at;
	}
	if (b.bad && !r->cut) {
		r->cut = true;
		r->cut_at = good;
	}
}

static bool into(struct reader *r, const struct proto_field *f, field_fn *fn)
{
	if (f->wire != PROTO_BYTES)
		return false;
	each_field(r, f->at, f->n, fn);
	return true;
}

static struct otlp_run add_indexes(struct reader *r, const int32_t *at, size_t n)
{
	struct otlp_run run = { r->t->indexes.n, (uint32_t)n };

	for (size_t i = 0; i < n; i++)
		vec_push(&r->t->indexes, at[i]);
	return run;
}

static void set_value(struct reader *r, struct otlp_attribute *a, const Otlp__AnyValue *v)
{
	char text[32];
	int n = 0;

	if (!v)
		return;
	switch (v->value_case) {
	case OTLP__ANY_VALUE__VALUE_TEXT:
		a->text = build_string(r->t->p, (const char *)v->text.data, v->text.len);
		break;
	case OTLP__ANY_VALUE__VALUE_TRUTH:
		a->text = build_cstring(r->t->p, v->truth ? "true" : "false");
		break;
	case OTLP__ANY_VALUE__VALUE_NUMBER:
		n = snprintf(text, sizeof(text), "%" PRId64, v->number);
		break;
	case OTLP__ANY_VALUE__VALUE_REAL:
		n = snprintf(text, sizeof(text), "%g", v->real);
		break;
	case OTLP__ANY_VALUE__VALUE_TEXT_INDEX:
		a->text_index = v->text_index;
		break;
	case OTLP__ANY_VALUE__VALUE__NOT_SET:
	case _OTLP__ANY_VALUE__VALUE__CASE_IS_INT_SIZE:
		break;
	}
	if (n > 0)
		a->text = build_string(r->t->p, text, (size_t)n);
}

/* The dictionary. */

static bool add_mapping(struct reader *r, const struct proto_field *f)
{
	const Otlp__Mapping *m = otlp__mapping__unpack(&r->arena.allocator, f->n, f->at);

	if (!m)
		return false;
	vec_push(&r->t->mappings,
		 ((struct otlp_mapping){ m->filename,
					 add_indexes(r, m->attributes, m->n_attributes) }));
	return true;
}

static bool add_location(struct reader *r, const struct proto_field *f)
{
	const Otlp__Location *m = otlp__location__unpack(&r->arena.allocator, f->n, f->at);
	struct otlp_location l;

	if (!m)
		return false;
	l = (struct otlp_location){ .mapping = m->mapping,
				    .address = m->address,
				    .lines = { r->t->lines.n, (uint32_t)m->n_lines } };
	l.attributes = add_indexes(r, m->attributes, m->n_attributes);
	for (size_t i = 0; i < m->n_lines; i++)
		vec_push(&r->t->lines,
			 ((struct otlp_line){ m->lines[i]->function, m->lines[i]->line }));
	vec_push(&r->t->locations, l);
	return true;
}

static bool add_function(struct reader *r, const struct proto_field *f)
{
	const Otlp__Function *m = otlp__function__unpack(&r->arena.allocator, f->n, f->at);

	if (!m)
		return false;
	vec_push(&r->t->functions,
		 ((struct otlp_function){ m->name, m->system_name, m->filename, m->start_line }));
	return true;
}

static bool add_attribute(struct reader *r, const struct proto_field *f)
{
	const Otlp__Attribute *m = otlp__attribute__unpack(&r->arena.allocator, f->n, f->at);
	struct otlp_attribute a = { 0 };

	if (!m)
		return false;
	a.key = m->key;
	a.unit = m->unit;
	set_value(r, &a, m->value);
	vec_push(&r->t->attributes, a);
	return true;
}

static bool add_stack(struct reader *r, const struct proto_field *f)
{
	const Otlp__Stack *m = otlp__stack__unpack(&r->arena.allocator, f->n, f->at);

	if (!m)
		return false;
	vec_push(&r->t->stacks, add_indexes(r, m->locations, m->n_locations));
	return true;
}

static bool on_dictionary(struct reader *r, const struct proto_field *f)
{
	static field_fn *const tables[] = {
		[DICTIONARY_MAPPING] = add_mapping,   [DICTIONARY_LOCATION] = add_location,
		[DICTIONARY_FUNCTION] = add_function, [DICTIONARY_ATTRIBUTE] = add_attribute,
		[DICTIONARY_STACK] = add_stack,
	};
	bool good = true;

	if (f->number == DICTIONARY_STRING && f->wire == PROTO_BYTES) {
		vec_push(&r->t->strings, build_string(r->t->p, (const char *)f->at, f->n));
	} else if (f->number < sizeof(tables) / sizeof(*tables) && tables[f->number]) {
		good = f->wire == PROTO_BYTES && tables[f->number](r, f);
		proto_arena_reset(&r->arena);
	}
	return good;
}

/* Profiles. */

static struct otlp_run add_numbers(struct reader *r, const void *at, size_t n)
{
	struct otlp_run run = { r->t->numbers.n, (uint32_t)n };

	if (n > 0) {
		vec_reserve(&r->t->numbers, r->t->numbers.n + n);
		memcpy(r->t->numbers.at + r->t->numbers.n, at, n * sizeof(int64_t));
		r->t->numbers.n += n;
	}
	return run;
}

/* Before there were stacks, a sample had a number of locations where it has attributes now. */
static bool is_old_sample(const struct proto_field *of)
{
	struct bytes b = bytes_over(of->at, of->n, false);
	struct proto_field f;

	while (proto_next(&b, &f))
		if (f.number == OLD_SAMPLE_LENGTH && f.wire == PROTO_VARINT)
			return true;
	return false;
}

static bool add_sample(struct reader *r, const struct proto_field *f)
{
	const Otlp__Sample *m = otlp__sample__unpack(&r->arena.allocator, f->n, f->at);
	struct otlp_sample s;

	if (!m)
		return false;
	r->t->is_old |= is_old_sample(f);
	s = (struct otlp_sample){ .stack = m->stack };
	s.attributes = add_indexes(r, m->attributes, m->n_attributes);
	s.values = add_numbers(r, m->values, m->n_values);
	s.times = add_numbers(r, m->timestamps_unix_nano, m->n_timestamps_unix_nano);
	vec_push(&r->t->samples, s);
	r->t->profiles.at[r->t->profiles.n - 1].samples.n++;
	return true;
}

static bool on_profile(struct reader *r, const struct proto_field *f)
{
	struct otlp_profile *p = &r->t->profiles.at[r->t->profiles.n - 1];
	const Otlp__ValueType *type;
	bool good = true;

	switch (f->number) {
	case PROFILE_TYPE:
		type = f->wire == PROTO_BYTES
			       ? otlp__value_type__unpack(&r->arena.allocator, f->n, f->at)
			       : NULL;
		good = type != NULL;
		p->type = type ? type->type : 0;
		p->unit = type ? type->unit : 0;
		break;
	case PROFILE_SAMPLE:
		good = f->wire == PROTO_BYTES && add_sample(r, f);
		break;
	case PROFILE_TIME:
		p->time_ns = (int64_t)f->value;
		break;
	case PROFILE_DURATION:
		p->duration_ns = (int64_t)f->value;
		break;
	case PROFILE_PERIOD:
		p->period = (int64_t)f->value;
		break;
	default:
		break;
	}
	proto_arena_reset(&r->arena);
	return good;
}

static bool on_scope(struct reader *r, const struct proto_field *f)
{
	if (f->number != SCOPES_PROFILES)
		return true;
	vec_push(&r->t->profiles, ((struct otlp_profile){ .resource = r->t->resources.n - 1,
							  .samples = { r->t->samples.n, 0 } }));
	return into(r, f, on_profile);
}

static bool on_resource_attribute(struct reader *r, const struct proto_field *f)
{
	const Otlp__KeyValue *m;
	struct otlp_attribute a = { 0 };

	if (f->number != RESOURCE_ATTRIBUTES)
		return true;
	m = f->wire == PROTO_BYTES ? otlp__key_value__unpack(&r->arena.allocator, f->n, f->at)
				   : NULL;
	if (m) {
		a.key = m->key_index;
		a.key_text = build_string(r->t->p, (const char *)m->key.data, m->key.len);
		set_value(r, &a, m->value);
		vec_push(&r->t->resource_attributes, a);
		r->t->resources.at[r->t->resources.n - 1].attributes.n++;
	}
	proto_arena_reset(&r->arena);
	return m != NULL;
}

static bool on_resource_profiles(struct reader *r, const struct proto_field *f)
{
	if (f->number == RESOURCES_RESOURCE)
		return into(r, f, on_resource_attribute);
	return f->number == RESOURCES_SCOPES ? into(r, f, on_scope) : true;
}

static bool on_data(struct reader *r, const struct proto_field *f)
{
	if (f->number == DATA_DICTIONARY)
		return into(r, f, on_dictionary);
	if (f->number != DATA_RESOURCES)
		return true;
	vec_push(&r->t->resources, ((struct otlp_resource){ { r->t->resource_attributes.n, 0 } }));
	return into(r, f, on_resource_profiles);
}

bool otlp_proto_read(struct otlp_tables *t, const uint8_t *bytes, size_t n, size_t *at)
{
	struct reader r = { .t = t };

	proto_arena_init(&r.arena);
	each_field(&r, bytes, n, on_data);
	proto_arena_done(&r.arena);
	*at = r.cut ? (size_t)(r.cut_at - bytes) : n;
	return !r.cut;
}
