/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that were built from a source file, and whether its lines may be others than those that they were built from. */
#ifndef PROFTOP_CODE_SOURCE_PROGRAMS_H
#define PROFTOP_CODE_SOURCE_PROGRAMS_H

#include "base/mem.h"
#include "base/pack_numbers.h"
#include "elf/build_id.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct code_image;
struct profile;
struct source_file;

/* What a program says of a source file. */
struct source_program {
	uint32_t module;       /* module_id */
	struct build_id of;    /* n 0: unknown */
	bool of_side[N_SIDES]; /* which sides of a comparison have it */
	uint8_t md5[16];
	bool has_md5;
	int64_t built_ns; /* when it was written; 0: unknown */
};

typedef VEC(struct source_program) source_programs;

/* Adds a module unless it was the last; md5 [16] or NULL. The program, borrowed until the next is added. */
struct source_program *source_programs_note(source_programs *all, uint32_t module,
					    const struct code_image *image, const uint8_t *md5);
/* What a file is opened with: an MD5 that a compiler wrote, where one did, a build-id, and the time of the newest program. */
struct source_program source_programs_first(const source_programs *all);
/* For a pack, as source_file.h has it: what the file is to each program, if it has a build-id. */
void source_programs_put(const source_programs *all, const struct source_file *f, pack_bytes *out);
/*
 * A sentence that names the file, and in front of it whom it is about where that is not everybody: the side in a
 * comparison (by_side), else the programs. NULL: nothing says so. The caller frees.
 */
char *source_programs_doubt(const source_programs *all, const struct profile *p, bool by_side,
			    const struct source_file *f);

#endif
