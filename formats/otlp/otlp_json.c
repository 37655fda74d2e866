/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ProfilesData as JSON (OTLP's mapping: names in camel case, integers of 64 bits as texts, no names for indexes). The file exporter of the
 * collector writes a message a line.
 */
#include "config.h"

#include "formats/otlp/otlp_tables.h"

#include "formats/json/json_stream.h"
#include "profile/builder.h"

#include <string.h>

struct reader {
	struct otlp_tables *t;
	bool (*done)(void *arg);
	void *arg;
	bool stopped;
};

static int64_t number_of(const struct json_value *v)
{
	struct json_value number = *v;

	if (v->kind == JSON_STRING && v->n > 0)
		number.kind = JSON_NUMBER;
	return json_int(&number, 0);
}

static string_id text_of(struct reader *r, const struct json_value *v)
{
	return v->kind == JSON_STRING || v->kind == JSON_NUMBER ? build_string(r->t->p, v->s, v->n)
	       : v->kind == JSON_BOOL ? build_cstring(r->t->p, v->truth ? "true" : "false")
				      : (string_id){ 0 };
}

static void push_index(struct reader *r, struct otlp_run *run, const struct json_value *v)
{
	vec_push(&r->t->indexes, number_of(v));
	run->n++;
}

static void push_number(struct reader *r, struct otlp_run *run, const struct json_value *v)
{
	vec_push(&r->t->numbers, number_of(v));
	run->n++;
}

/*
 * Functions of rules: what follows a table's last element. X_FIELD: a number of it; X_RUN: an array of indexes or numbers, which begins
 * anew where the key comes again.
 */
#define LAST(table) (&((struct reader *)to)->t->table.at[((struct reader *)to)->t->table.n - 1])

#define ROW(name, table, type) \
	static void begin_##name(void *to) \
	{ \
		vec_push(&((struct reader *)to)->t->table, (struct type){ 0 }); \
	}

#define FIELD(name, table, member) \
	static void on_##name(void *to, const struct json_value *v) \
	{ \
		LAST(table)->member = number_of(v); \
	}

#define RUN(name, table, member, pool, push) \
	static void begin_##name(void *to) \
	{ \
		LAST(table)->member = (struct otlp_run){ ((struct reader *)to)->t->pool.n, 0 }; \
	} \
	static void on_##name(void *to, const struct json_value *v) \
	{ \
		push(to, &LAST(table)->member, v); \
	}

ROW(mapping, mappings, otlp_mapping)
FIELD(mapping_filename, mappings, filename)
RUN(mapping_attributes, mappings, attributes, indexes, push_index)

static void begin_location(void *to)
{
	struct reader *r = to;

	vec_push(&r->t->locations, ((struct otlp_location){ .lines = { r->t->lines.n, 0 } }));
}

static void begin_line(void *to)
{
	struct reader *r = to;

	vec_push(&r->t->lines, (struct otlp_line){ 0 });
	LAST(locations)->lines.n++;
}

static void begin_lines(void *to)
{
	LAST(locations)->lines = (struct otlp_run){ ((struct reader *)to)->t->lines.n, 0 };
}

static void on_address(void *to, const struct json_value *v)
{
	LAST(locations)->address = (uint64_t)number_of(v);
}

FIELD(location_mapping, locations, mapping)
RUN(location_attributes, locations, attributes, indexes, push_index)
FIELD(line_function, lines, function)
FIELD(line_line, lines, line)
ROW(function, functions, otlp_function)
FIELD(function_name, functions, name)
FIELD(function_system_name, functions, system_name)
FIELD(function_filename, functions, filename)
FIELD(function_start_line, functions, start_line)

static void on_string(void *to, const struct json_value *v)
{
	struct reader *r = to;

	vec_push(&r->t->strings, text_of(r, v));
}

ROW(attribute, attributes, otlp_attribute)
FIELD(attribute_key, attributes, key)
FIELD(attribute_unit, attributes, unit)

static void on_attribute_value(void *to, const struct json_value *v)
{
	LAST(attributes)->text = text_of(to, v);
}

FIELD(attribute_value_index, attributes, text_index)

static void begin_stack(void *to)
{
	struct reader *r = to;

	vec_push(&r->t->stacks, ((struct otlp_run){ r->t->indexes.n, 0 }));
}

static void on_stack_location(void *to, const struct json_value *v)
{
	struct reader *r = to;

	push_index(r, LAST(stacks), v);
}

static void begin_stack_locations(void *to)
{
	*LAST(stacks) = (struct otlp_run){ ((struct reader *)to)->t->indexes.n, 0 };
}

/* Resources and profiles. */

static void begin_resource(void *to)
{
	struct reader *r = to;

	vec_push(&r->t->resources, ((struct otlp_resource){ { r->t->resource_attributes.n, 0 } }));
}

static void begin_resource_attribute(void *to)
{
	vec_push(&((struct reader *)to)->t->resource_attributes, (struct otlp_attribute){ 0 });
	LAST(resources)->attributes.n++;
}

static void on_resource_key(void *to, const struct json_value *v)
{
	LAST(resource_attributes)->key_text = text_of(to, v);
}

static void on_resource_value(void *to, const struct json_value *v)
{
	LAST(resource_attributes)->text = text_of(to, v);
}

FIELD(resource_key_index, resource_attributes, key)
FIELD(resource_value_index, resource_attributes, text_index)

static void begin_profile(void *to)
{
	struct reader *r = to;

	vec_push(&r->t->profiles, ((struct otlp_profile){ .resource = r->t->resources.n - 1,
							  .samples = { r->t->samples.n, 0 } }));
}

FIELD(type, profiles, type)
FIELD(unit, profiles, unit)
FIELD(time, profiles, time_ns)
FIELD(duration, profiles, duration_ns)
FIELD(period, profiles, period)

static void begin_sample(void *to)
{
	vec_push(&((struct reader *)to)->t->samples, (struct otlp_sample){ 0 });
	LAST(profiles)->samples.n++;
}

static void on_old_sample(void *to, const struct json_value *v)
{
	(void)v;
	((struct reader *)to)->t->is_old = true;
}

FIELD(sample_stack, samples, stack)
RUN(sample_attributes, samples, attributes, indexes, push_index)
RUN(sample_values, samples, values, numbers, push_number)
RUN(sample_times, samples, times, numbers, push_number)

static void end_message(void *to)
{
	struct reader *r = to;

	if (!r->stopped)
		r->stopped = !r->done(r->arg);
	otlp_tables_clear(r->t);
}

#define DICTIONARY "dictionary."
#define PROFILE    "resourceProfiles[].scopeProfiles[].profiles[]"
#define SAMPLE     PROFILE ".samples[]"

/* clang-format off */
#define VALUES(at, fn) \
	{ .path = at ".value.stringValue", .value = fn }, \
	{ .path = at ".value.boolValue", .value = fn }, \
	{ .path = at ".value.intValue", .value = fn }, \
	{ .path = at ".value.doubleValue", .value = fn }

static const struct json_rule rules[] = {
	{ .path = "", .end = end_message },
	{ .path = DICTIONARY "mappingTable[]", .begin = begin_mapping },
	{ .path = DICTIONARY "mappingTable[].filenameStrindex", .value = on_mapping_filename },
	{ .path = DICTIONARY "mappingTable[].attributeIndices", .begin = begin_mapping_attributes },
	{ .path = DICTIONARY "mappingTable[].attributeIndices[]", .value = on_mapping_attributes },
	{ .path = DICTIONARY "locationTable[]", .begin = begin_location },
	{ .path = DICTIONARY "locationTable[].mappingIndex", .value = on_location_mapping },
	{ .path = DICTIONARY "locationTable[].address", .value = on_address },
	{ .path = DICTIONARY "locationTable[].attributeIndices", .begin = begin_location_attributes },
	{ .path = DICTIONARY "locationTable[].attributeIndices[]", .value = on_location_attributes },
	{ .path = DICTIONARY "locationTable[].lines", .begin = begin_lines },
	{ .path = DICTIONARY "locationTable[].lines[]", .begin = begin_line },
	{ .path = DICTIONARY "locationTable[].lines[].functionIndex", .value = on_line_function },
	{ .path = DICTIONARY "locationTable[].lines[].line", .value = on_line_line },
	{ .path = DICTIONARY "functionTable[]", .begin = begin_function },
	{ .path = DICTIONARY "functionTable[].nameStrindex", .value = on_function_name },
	{ .path = DICTIONARY "functionTable[].systemNameStrindex", .value = on_function_system_name },
	{ .path = DICTIONARY "functionTable[].filenameStrindex", .value = on_function_filename },
	{ .path = DICTIONARY "functionTable[].startLine", .value = on_function_start_line },
	{ .path = DICTIONARY "stringTable[]", .value = on_string },
	{ .path = DICTIONARY "attributeTable[]", .begin = begin_attribute },
	{ .path = DICTIONARY "attributeTable[].keyStrindex", .value = on_attribute_key },
	{ .path = DICTIONARY "attributeTable[].unitStrindex", .value = on_attribute_unit },
	VALUES(DICTIONARY "attributeTable[]", on_attribute_value),
	{ .path = DICTIONARY "attributeTable[].value.stringValueStrindex", .value = on_attribute_value_index },
	{ .path = DICTIONARY "stackTable[]", .begin = begin_stack },
	{ .path = DICTIONARY "stackTable[].locationIndices", .begin = begin_stack_locations },
	{ .path = DICTIONARY "stackTable[].locationIndices[]", .value = on_stack_location },
	{ .path = "resourceProfiles[]", .begin = begin_resource },
	{ .path = "resourceProfiles[].resource.attributes[]", .begin = begin_resource_attribute },
	{ .path = "resourceProfiles[].resource.attributes[].key", .value = on_resource_key },
	{ .path = "resourceProfiles[].resource.attributes[].keyStrindex", .value = on_resource_key_index },
	VALUES("resourceProfiles[].resource.attributes[]", on_resource_value),
	{ .path = "resourceProfiles[].resource.attributes[].value.stringValueStrindex", .value = on_resource_value_index },
	{ .path = PROFILE, .begin = begin_profile },
	{ .path = PROFILE ".sampleType.typeStrindex", .value = on_type },
	{ .path = PROFILE ".sampleType.unitStrindex", .value = on_unit },
	{ .path = PROFILE ".timeUnixNano", .value = on_time },
	{ .path = PROFILE ".durationNano", .value = on_duration },
	{ .path = PROFILE ".period", .value = on_period },
	{ .path = SAMPLE, .begin = begin_sample },
	{ .path = SAMPLE ".locationsLength", .value = on_old_sample },
	{ .path = SAMPLE ".stackIndex", .value = on_sample_stack },
	{ .path = SAMPLE ".attributeIndices", .begin = begin_sample_attributes },
	{ .path = SAMPLE ".attributeIndices[]", .value = on_sample_attributes },
	{ .path = SAMPLE ".values", .begin = begin_sample_values },
	{ .path = SAMPLE ".values[]", .value = on_sample_values },
	{ .path = SAMPLE ".timestampsUnixNano", .begin = begin_sample_times },
	{ .path = SAMPLE ".timestampsUnixNano[]", .value = on_sample_times },
	/* before 1.9 the array had another name */
	{ .path = PROFILE ".sample[]", .same = SAMPLE, .begin = begin_sample },
};
/* clang-format on */

int otlp_json_read(struct otlp_tables *t, struct input *in, bool (*done)(void *arg), void *arg,
		   struct json_end *end, struct progress *progress, struct err *e)
{
	struct reader r = { .t = t, .done = done, .arg = arg };
	int rc;

	builder_begin(t->p);
	rc = json_read_lines(in, rules, sizeof(rules) / sizeof(*rules), &r, end, progress, e);
	/* of a text that breaks off what came before counts */
	if (rc == 0 && t->samples.n > 0)
		end_message(&r);
	builder_end(t->p);
	return rc;
}
