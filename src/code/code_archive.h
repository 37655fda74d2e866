/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that annotations of a profile need of programs and source files, as attachments of another profile (profile.h)
 * bring it: instructions of the functions with samples, and lines of their sources.
 */
#ifndef PROFTOP_CODE_CODE_ARCHIVE_H
#define PROFTOP_CODE_CODE_ARCHIVE_H

#include "base/pack_numbers.h"
#include "profile/profile.h"

#include <stdbool.h>

struct annotate_options;
struct progress;

/* Bytes of code, and of lines: what is more is left out. */
#define CODE_ARCHIVE_MOST     ((uint64_t)64 << 20)
/* Bytes of modules with their tables: what readers take of them. */
#define CODE_ARCHIVE_ATTACHED ((uint64_t)120 << 20)

struct code_archive_wish {
	const struct annotate_options *where; /* files are; borrowed */
	bool code, sources;                   /* what is asked for */
	bool paths;                           /* else only the last parts of them */
};

struct code_archive {
	VEC(struct code_archive_module) modules;
	VEC(struct code_archive_source) sources;
	uint64_t n_functions, n_lines;
	uint64_t n_functions_out, n_files_out; /* beyond CODE_ARCHIVE_MOST */
	uint64_t n_files_untold;               /* that are here, but only the profile names them */
	uint64_t
		n_files_shared; /* whose last part another file has too, where others are left out */
};

struct code_archive_module {
	module_id module;
	pack_bytes bytes; /* of packed_code.h; owned */
};

struct code_archive_source {
	char *path; /* as debug information has it; owned */
	uint64_t n_lines;
	pack_bytes bytes; /* of source_file.h; owned */
};

/*
 * Opens files. A source file is taken where debug information of a module that is on this machine names it, from packs, or
 * by the directories and maps of sources: a profile alone may name any file. 0 or -ECANCELED; the caller ends with code_archive_done().
 */
int code_archive_make(struct code_archive *out, const struct profile *p,
		      const struct code_archive_wish *wish, struct progress *progress);
void code_archive_done(struct code_archive *a);

#endif
