/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One message of ProfilesData as tables, whatever it was encoded as. Indexes are as in the file: unchecked, and 0 for none. Texts are
 * strings of the profile.
 */
#ifndef PROFTOP_FORMATS_OTLP_OTLP_TABLES_H
#define PROFTOP_FORMATS_OTLP_OTLP_TABLES_H

#include "base/mem.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct json_end;
struct profile;
struct progress;
struct err;

/* A run of elements of another table. */
struct otlp_run {
	size_t first;
	uint32_t n;
};

struct otlp_mapping {
	int64_t filename;
	struct otlp_run attributes; /* of .indexes */
};

struct otlp_line {
	int64_t function, line;
};

struct otlp_location {
	int64_t mapping;
	uint64_t address;
	struct otlp_run lines;      /* of .lines, innermost first */
	struct otlp_run attributes; /* of .indexes */
};

struct otlp_function {
	int64_t name, system_name, filename, start_line;
};

/* Keys of the dictionary are indexes of strings, those of resources are texts. */
struct otlp_attribute {
	int64_t key;
	string_id key_text; /* where .key is 0 */
	string_id text;     /* the value as a text; see text_index */
	int64_t text_index; /* instead of it, 0: none */
	int64_t unit;
};

struct otlp_sample {
	int64_t stack;
	struct otlp_run attributes; /* of .indexes */
	struct otlp_run values;     /* of .numbers */
	struct otlp_run times;      /* of .numbers: ns since 1970 */
};

struct otlp_profile {
	int64_t type, unit; /* of samples */
	int64_t time_ns, duration_ns, period;
	size_t resource;         /* index of .resources */
	struct otlp_run samples; /* of .samples */
};

/* What the samples of several profiles are of. */
struct otlp_resource {
	struct otlp_run attributes; /* of .attributes, not of the dictionary's */
};

struct otlp_tables {
	struct profile *p;      /* borrowed */
	VEC(string_id) strings; /* the dictionary's tables */
	VEC(struct otlp_mapping) mappings;
	VEC(struct otlp_location) locations;
	VEC(struct otlp_function) functions;
	VEC(struct otlp_attribute) attributes;
	VEC(struct otlp_run) stacks; /* of .indexes: locations, innermost first */
	VEC(struct otlp_line) lines;
	VEC(struct otlp_attribute) resource_attributes;
	VEC(struct otlp_resource) resources;
	VEC(struct otlp_profile) profiles;
	VEC(struct otlp_sample) samples;
	VEC(int64_t) indexes;
	VEC(int64_t) numbers;
	uint64_t n_odd; /* parts that cannot be unpacked */
	bool is_old;    /* laid out as before the table of stacks */
};

/* Everything is emptied, and memory stays for the next message. */
void otlp_tables_clear(struct otlp_tables *t);
void otlp_tables_done(struct otlp_tables *t);

/* Of a message of n bytes. False: it ends within a field, at *at; what came before is in the tables. Wants the write lock. */
bool otlp_proto_read(struct otlp_tables *t, const uint8_t *bytes, size_t n, size_t *at);

/*
 * Of a file of JSON, one message or one a line: done() gets the tables of each message, and they are emptied then. As json_read(). done()
 * is called with the write lock held; it returns false to stop.
 */
int otlp_json_read(struct otlp_tables *t, struct input *in, bool (*done)(void *arg), void *arg,
		   struct json_end *end, struct progress *progress, struct err *e);

#endif
