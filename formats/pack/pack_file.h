/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of a pack: a head, and sections behind each other, each one packed by zstd with a checksum. Numbers are little-endian.
 *
 *   head      "PROFPACK", u32 version, u32 0
 *   section   u32 id, u32 how, u64 bytes unpacked, u64 bytes packed, the bytes
 *
 * how is 0; in an index (see index_file.h), which has a checksum of its own, it is 1 where the bytes stand as they are.
 *
 * Notes come first, so that they are found without reading the rest.
 *
 * A reader passes over sections that it does not know. The last one is PACK_END, so that a cut is noticed. Numbers in
 * sections are those of base/pack_numbers.h.
 */
#ifndef PROFTOP_FORMATS_PACK_PACK_FILE_H
#define PROFTOP_FORMATS_PACK_PACK_FILE_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/pack_numbers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PACK_MAGIC       "PROFPACK"
#define PACK_INDEX_MAGIC "PROFINDX"
#define PACK_VERSION     1u
#define PACK_HEAD        16 /* bytes */
#define PACK_SECTION     24 /* bytes before those of a section */

/* Code of a file is at most so many bytes, with what is said of it; and so are lines of sources. Writers stay below. */
#define PACK_ATTACHMENTS_MOST ((uint64_t)128 << 20)
#define PACK_NOTES_MOST       ((size_t)1 << 20)

/* In the order of the file. */
enum pack_section_id {
	PACK_STRINGS = 1,
	PACK_PARTS,
	PACK_MODULES,
	PACK_FUNCTIONS,
	PACK_LOCATIONS,
	PACK_STACKS,
	PACK_THREADS,
	PACK_EVENTS,
	PACK_SAMPLES, /* any number of them */
	PACK_FACTS,
	PACK_HEAP,
	PACK_SOURCES, /* lines that were hit */
	PACK_CODE,    /* instructions of functions that were hit */
	PACK_NOTES,   /* the first one: what people noted, as the text of notebook/page.h */
	PACK_KEY,     /* of an index only, as is: what it is of */
	PACK_BLOCKS,  /* any number of them: columns, then the model's own packed rows */
	PACK_END = 255
};

/* The checksum of an index: of the head and of each section so far, with the next one. */
static inline uint64_t pack_sum(uint64_t so_far, const void *bytes, size_t n)
{
	return hash_u64(so_far + hash_bytes(bytes, n));
}

/* Writing: numbers are put into a body, and a body becomes a section. */

/* Adds the head, with the magic of a pack or of an index. */
void pack_put_head(pack_bytes *file, const char *magic);
enum pack_how {
	PACK_SMALL, /* packed well: for files that are kept and sent */
	PACK_FAST,  /* packed in little time */
	PACK_AS_IS  /* not packed */
};

/* Adds a section with that body, which is empty then. */
void pack_put_section(pack_bytes *file, enum pack_section_id id, enum pack_how how,
		      pack_bytes *body);

/* Reading. */

struct pack_section {
	uint32_t id;
	size_t offset;        /* of it in the file */
	const uint8_t *bytes; /* [n] unpacked; borrowed from the file or from `owned` */
	uint8_t *owned;       /* the caller frees; or NULL */
	size_t n;
};

/* Is there a head that can be read? 0, or -EBADMSG with a sentence but for the file's name. */
struct err;
int pack_take_head(struct bytes *file, const char *magic, struct err *e);
/*
 * The next section: 1; 0 at the end; -EBADMSG with a sentence where the file is cut or damaged. A section is at most `most` bytes unpacked.
 */
/* The bytes of a section behind its head of PACK_SECTION bytes, as that says. */
uint64_t pack_section_bytes(const uint8_t *head);
int pack_take_section(struct bytes *file, const uint8_t *begin, size_t most, struct pack_section *s,
		      struct err *e);

/* The notes of a file, when it is a pack that has some, in *text [n], which the caller frees. */
bool pack_read_notes(const char *path, char **text, size_t *n);

#endif
