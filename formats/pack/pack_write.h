/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a pack of a recording: all that its screens and reports need. */
#ifndef PROFTOP_FORMATS_PACK_PACK_WRITE_H
#define PROFTOP_FORMATS_PACK_PACK_WRITE_H

#include "base/pack_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct profile;
struct progress;

/* What may be private: its word for --without, and what it is. */
/* clang-format off */
#define PACK_PRIVATE(X) \
	X(COMMAND,     "command",     "the command line") \
	X(HOST,        "host",        "the name of the host") \
	X(ENVIRONMENT, "environment", "the environment") \
	X(CGROUPS,     "cgroups",     "control groups") \
	X(LABELS,      "labels",      "labels of samples") \
	X(PATHS,       "paths",       "directories of modules and sources") \
	X(SOURCES,     "sources",     "lines of source") \
	X(CODE,        "code",        "instructions") \
	X(NOTES,       "notes",       "notes and saved views")
/* clang-format on */

enum pack_private {
#define X(id, word, what) PACK_HAS_##id,
	PACK_PRIVATE(X)
#undef X
		N_PACK_PRIVATE
};

/* Bits of what the words are, with commas between them: 0, or -EINVAL with a sentence. */
int pack_private_parse(const char *words, unsigned *bits, struct err *e);
/* "the command line and control groups (command,cgroups)", or NULL for no bits; the caller frees. */
char *pack_private_say(unsigned bits);

/* Bytes for annotations, as src/code makes and reads them; all borrowed. */
struct pack_attachment {
	const char *path;     /* of a source file; NULL: it is code of the module */
	uint32_t module;      /* module_id */
	const uint8_t *bytes; /* [n] */
	size_t n;
};

struct pack_attachments {
	const struct pack_attachment *at; /* [n] */
	size_t n;
	const char *notes; /* what people noted, as text; NULL: nothing */
};

/*
 * Writes all of one capture that was read to its end, with attachments (or NULL), of which what is left out must not be any. `without` has bits of what is left out; *holds gets those of what is in
 * the file. 0, or -errno with a sentence.
 */
int pack_write(const struct profile *p, const struct pack_attachments *files, unsigned without,
	       FILE *to, unsigned *holds, struct err *e);

/* May there be an index of the profile: one capture, read to its end, of samples only? */
bool pack_index_can(const struct profile *p);
/*
 * Writes an index of it, see index_file.h, section by section, with a key that says of what it is. It gets no larger than `most`
 * bytes: -EFBIG. 0, -ECANCELED, or -errno with a sentence.
 */
int pack_write_index(const struct profile *p, const pack_bytes *key, uint64_t most, FILE *to,
		     struct progress *progress, struct err *e);

#endif
