/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kind of program a file is, as far as it matters to who wants a library in it. By the file alone. */
#ifndef PROFTOP_RECORD_ATTACH_PROGRAM_FILE_H
#define PROFTOP_RECORD_ATTACH_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

enum program_kind {
	PROGRAM_ELF,
	PROGRAM_SCRIPT, /* begins with #! */
	PROGRAM_OTHER   /* something else, or too short to be anything */
};

struct program_file {
	enum program_kind kind;
	bool is_wide;    /* ELF: of 64 bits; what follows is known of such only */
	bool is_foreign; /* for another kind of processor than this program */
	bool is_go;      /* made by Go */
	bool has_asan;   /* wants the library of the address sanitizer */
	/* ELF: the loader that it names, "" for none: it is statically linked. A script: its interpreter. */
	char loader[PATH_MAX];
	char argument[PATH_MAX]; /* a script: what its first line gives the interpreter, or "" */
};

/* False: the file cannot be read. */
bool program_file_read(const char *path, struct program_file *out);

#endif
