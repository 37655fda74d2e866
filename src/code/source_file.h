/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source files: where they are, and their lines. Packs bring some lines of them as attachments (profile.h), which are numbers of
 * base/pack_numbers.h: found (text), state, count of the file's lines, count of stretches, and of each the lines between it and
 * the one before, the count of its lines, and those (texts). Behind these may be the count of the programs that were
 * built from it, and of each its build-id (a text of bytes) and the state for it.
 */
#ifndef PROFTOP_CODE_SOURCE_FILE_H
#define PROFTOP_CODE_SOURCE_FILE_H

#include "base/mem.h"
#include "elf/build_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger files are not read. */
#define SOURCE_MAX_BYTES ((uint64_t)32 << 20)

struct profile;

/* Where sources are looked for beside the recorded path. */
struct source_options {
	const char *const *dirs; /* --source DIR, [n_dirs]; borrowed */
	size_t n_dirs;
	const char *const *maps; /* --source-map FROM=TO, [n_maps]; borrowed */
	size_t n_maps;
	const struct profile
		*packed; /* whose lines count before the recorded path; NULL; borrowed */
	bool told_only;  /* not the recorded path itself, nor out of what the others name */
};

enum source_state {
	SOURCE_MISSING,   /* no file was found, or it cannot be read: see why */
	SOURCE_FOUND,     /* nothing says whether it is the one that was compiled */
	SOURCE_CHECKED,   /* it has the MD5 that the compiler wrote */
	SOURCE_DIFFERENT, /* it has another one: it was changed since */
	SOURCE_NEWER /* no MD5, and its time is after the program's: changed since, or a copy */
};

/* What a program says of a source file that it was built from. */
struct source_build {
	struct build_id of; /* n 0: unknown */
	const uint8_t *md5; /* [16] that its compiler wrote, or NULL; borrowed */
	int64_t built_ns;   /* when it was written; 0: unknown */
};

/* What a pack says of a file and one program. */
struct source_packed_state {
	struct build_id of;
	enum source_state state;
};

struct source_file {
	enum source_state state;
	char *path;  /* that was opened; NULL: none; owned */
	char *why;   /* why there is none; NULL; owned */
	char *text;  /* all of it, each line ends with NUL; owned */
	char **line; /* [n_lines] in text, or [n_known] where number is not NULL; owned */
	uint32_t n_lines;
	uint32_t *number; /* [n_known] of a pack: which lines are known, rising; owned */
	uint32_t n_known;
	int64_t changed_ns; /* 0: not known, as of what was fetched */
	uint8_t md5[16];    /* of the text, where one was asked for */
	bool has_md5;
	VEC(struct source_packed_state) packed; /* owned */
};

/*
 * Finds and reads a file: at the path by the maps (the first whose FROM the path begins with), below the
 * directories with the longest end of the path that is there, then in packs, then at the path itself.
 *
 * md5       [16] that the compiler wrote, or NULL
 * built_ns  when the program was written, in ns since 1970; 0: unknown
 *
 * Never fails: see state. The caller ends with source_file_done().
 */
void source_file_open(struct source_file *f, const char *path, const struct source_options *o,
		      const uint8_t *md5, int64_t built_ns);
/* Reads a file that was fetched, in place of one that was not found. */
void source_file_take(struct source_file *f, const char *fetched, const uint8_t *md5);
/* What an open file is to another program than the one that it was opened for. MD5s are compared if it was opened with one. */
enum source_state source_file_state(const struct source_file *f, const struct source_build *b);
void source_file_done(struct source_file *f);

/* The path by the maps, whether that file is there or not; NULL: none begins so. The caller frees. */
char *source_file_mapped(const char *path, const struct source_options *o);

/* A line's text, from 1; NULL when there is no such line. Untrusted. */
const char *source_file_line(const struct source_file *f, uint32_t line);

/* "FROM=TO" with something on the left. */
bool source_map_is_right(const char *map);

#endif
