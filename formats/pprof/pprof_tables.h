/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a pprof profile: what its samples refer to. The messages are those of profile.proto; which fields they
 * are of in a profile is said by github.com/google/pprof/blob/main/proto/profile.proto.
 */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_TABLES_H
#define PROFTOP_FORMATS_PPROF_PPROF_TABLES_H

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields of a profile. */
enum pprof_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_DROP_FRAMES = 7,
	PPROF_KEEP_FRAMES = 8,
	PPROF_TIME_NANOS = 9,
	PPROF_DURATION_NANOS = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_TYPE = 14,
	PPROF_DOC_URL = 15
};

/* Bytes of the string table, without a NUL. */
struct pprof_string {
	const char *s;
	size_t n;
};

struct pprof_type {
	int64_t type, unit; /* strings */
};

struct pprof_mapping {
	uint64_t id, start, limit, offset;
	int64_t path, build_id; /* strings */
};

struct pprof_function {
	uint64_t id;
	int64_t name, system_name, file; /* strings */
	int64_t line;                    /* where it begins; 0: unknown */
};

struct pprof_line {
	uint64_t function; /* id */
	int64_t line;
};

struct pprof_location {
	uint64_t id, mapping, address;
	size_t first;     /* of `lines`: the innermost frame */
	uint32_t n_lines; /* 0: it has no name yet */
};

/* Where things are by their ids. */
struct pprof_ids {
	uint32_t *
		at; /* [n] index of the thing of each id, or MAP_NONE; NULL: ids are too far apart; owned */
	size_t n;
	struct map map; /* of indexes then */
};

struct pprof_tables {
	VEC(struct pprof_string) strings; /* borrowed from the file's bytes */
	VEC(struct pprof_type) types;
	VEC(struct pprof_mapping) mappings;
	VEC(struct pprof_function) functions;
	VEC(struct pprof_line) lines;
	VEC(struct pprof_location) locations;
	VEC(int64_t) comments; /* strings */
	struct pprof_ids by_mapping, by_function, by_location;
	struct pprof_type period_type;
	int64_t period, time_ns, duration_ns;
	int64_t drop, keep, default_type, doc_url; /* strings */
	uint64_t n_samples;
	uint64_t n_odd;   /* fields whose messages cannot be unpacked */
	size_t first_odd; /* offset of the first */
	size_t n_good;    /* bytes up to which the profile is whole */
};

/* Fills t from the n bytes of a profile, which must outlive it. */
void pprof_tables_read(struct pprof_tables *t, const uint8_t *bytes, size_t n);
void pprof_tables_done(struct pprof_tables *t);

/* Never fails: a wild index is the empty string. */
struct pprof_string pprof_string(const struct pprof_tables *t, int64_t index);

/* A unit of the file, and what it is in units of ours. */
struct pprof_unit {
	const char *name;
	enum unit unit;
	int64_t each;
};

/* NULL: it is none of ours. */
const struct pprof_unit *pprof_known_unit(struct pprof_string name);

/* By id; NULL: there is none. */
const struct pprof_mapping *pprof_mapping(const struct pprof_tables *t, uint64_t id);
const struct pprof_function *pprof_function(const struct pprof_tables *t, uint64_t id);
/* pprof_location() where ids are far apart. */
uint32_t pprof_find_location(const struct pprof_tables *t, uint64_t id);

/* UINT32_MAX: there is none. Hot: asked for each frame. */
static inline uint32_t pprof_location(const struct pprof_tables *t, uint64_t id)
{
	if (id < t->by_location.n)
		return t->by_location.at[id];
	return pprof_find_location(t, id);
}

#endif
