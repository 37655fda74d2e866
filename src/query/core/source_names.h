/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source files as rows: which paths are of one file in a comparison, and what each is called: the shortest end of its path, by whole
 * parts, that no other file's has.
 */
#ifndef PROFTOP_QUERY_CORE_SOURCE_NAMES_H
#define PROFTOP_QUERY_CORE_SOURCE_NAMES_H

#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* A path in a module. */
struct source_place {
	uint32_t file;   /* string_id */
	uint32_t module; /* module_id */
	uint32_t name;   /* string_id of the module's */
};

struct source_names {
	const struct profile *p;
	VEC(struct source_place) places;
	VEC(uint32_t) files;     /* string_id of each path; those before are of other paths */
	VEC(uint32_t) as;        /* [files] which of them it is one file with */
	VEC(const char *) label; /* [files] in the profile's text */
	struct map by_file;
};

/* Zeroed but for p is empty. Gathers: a file that is 0, and one that it has, changes nothing. */
void source_names_add(struct source_names *s, string_id file, module_id module);
/*
 * After the last one. compares: paths of two builds of a module (which are called alike) are one file if their ends are the same
 * and no others' are more so: a tree of sources may have been built in two directories.
 */
void source_names_make(struct source_names *s, bool compares);
/* The path that stands for it, and its label; of one that was added. */
string_id source_names_file(const struct source_names *s, string_id file, const char **label);
void source_names_done(struct source_names *s);

#endif
