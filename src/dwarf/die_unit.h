/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Units of .debug_info, their entries, and what attributes say.
 *
 * All of it is hostile: an entry is read within its unit's bytes, siblings only lead forward, and
 * whoever walks pays for each step out of die_reader.work, so that a walk ends.
 *
 * Sources: DWARF 5 §7.5 (units, entries, forms), §3.1 (unit attributes), §7.3.2 (split units).
 */
#ifndef PROFTOP_DWARF_DIE_UNIT_H
#define PROFTOP_DWARF_DIE_UNIT_H

#include "base/arena.h"
#include "base/map.h"
#include "dwarf/die_abbrev.h"
#include "dwarf/dwarf_file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct die;
struct die_named;
struct die_scopes;
struct line_files;

/* Where the units of a file begin. */
struct die_index {
	struct dwarf_file *file; /* borrowed */
	VEC(uint64_t) offsets;   /* in .debug_info, ascending; of those before next */
	uint64_t next;           /* offset of the first that was not looked at */
	uint64_t n_damaged;      /* units that are none */
	VEC(uint64_t) declined;  /* of these, offsets of those that say how long they are */
	_Atomic bool whole;      /* there are no more to be added */
	pthread_mutex_t lock;    /* held while looking for one until then */
};

struct die_unit {
	struct dwarf_file *file;        /* whose .debug_info it is in */
	uint64_t offset;                /* of its header in .debug_info */
	uint64_t first;                 /* of its own entry */
	uint64_t end;                   /* one past its last byte */
	uint64_t abbrev_offset;         /* in .debug_abbrev */
	struct die_abbrevs *abbrevs;    /* the reader's */
	struct die_sizes sizes;         /* of addresses and offsets */
	uint8_t version;                /* of DWARF */
	uint8_t type;                   /* DW_UT_… */
	uint16_t language;              /* DW_LANG_…, or 0 */
	bool split;                     /* lies in a .dwo or .dwp */
	bool whole;                     /* all of its bytes have been read */
	uint64_t dwo_id;                /* of skeletons and split units; or 0 */
	const char *dwo_name;           /* of skeletons: path of the .dwo; or NULL */
	const char *comp_dir;           /* where it was compiled, or NULL */
	uint64_t low_pc;                /* what range lists are relative to at first */
	uint64_t line_offset;           /* in .debug_line; UINT64_MAX: it has no line table */
	uint64_t str_offsets_base;      /* in .debug_str_offsets */
	uint64_t rnglists_base;         /* in .debug_rnglists */
	uint64_t addr_base;             /* in addr_file's .debug_addr */
	uint64_t ranges_base;           /* in addr_file's .debug_ranges (split units of DWARF 4) */
	struct dwarf_file *addr_file;   /* file, or of split units that of the skeleton */
	uint64_t add[N_DWARF_SECTIONS]; /* where its part of the sections of a .dwp begins; or 0 */
	struct line_files *files;       /* names of its source files; NULL: not read yet; owned */
	struct die_scopes *scopes;      /* of its functions; NULL: not read yet; owned */
};

/* A place in debug information. */
struct die_place {
	struct die_unit *unit; /* NULL: nowhere */
	uint64_t offset;       /* in the unit's .debug_info */
};

/* What one thread has open. */
struct die_reader {
	struct die_index *main;     /* borrowed */
	struct die_index *alt;      /* of what dwz moved out, or NULL; borrowed */
	int64_t work;               /* steps that may still be taken */
	uint64_t n_damaged;         /* units that could not be walked to their end */
	void (*foreign)(void *arg); /* told before another unit's entries are looked at */
	void *arg;
	struct die_unit *own;             /* the one unit that may be looked at without telling */
	VEC(struct die_unit *) units;     /* owned */
	struct map by_place;              /* of units */
	VEC(struct die_abbrevs *) tables; /* owned */
	uint64_t n_attrs;                 /* entries and attributes of all tables */
	VEC(struct die_named *) named;    /* see die_name.h; owned */
	struct map by_entry;              /* of named */
	VEC(const char *) paths;          /* of source files, each once; in text */
	VEC(const uint8_t *) md5;         /* of each, [16], in text; NULL: not told */
	struct map by_path;               /* of paths */
	struct arena text;                /* of paths */
};

/* Finds the units of a file. */
void die_index_read(struct die_index *x, struct dwarf_file *f);
/* None of them yet: units are added as they are looked for. */
void die_index_begin(struct die_index *x, struct dwarf_file *f);
/* Adds those that begin at an offset or before. */
void die_index_reach(struct die_index *x, uint64_t offset);
void die_index_done(struct die_index *x);

/* The unit at an offset, opened; NULL when it is damaged. The reader keeps it until it is emptied. */
struct die_unit *die_unit_open(struct die_reader *r, struct dwarf_file *f, uint64_t offset);
/*
 * The same for a split unit, given its skeleton and where its parts of a .dwp begin. It is not kept:
 * the caller frees it.
 */
struct die_unit *die_unit_open_split(struct die_reader *r, struct dwarf_file *f, uint64_t offset,
				     const struct die_unit *skeleton, const uint64_t *add);
void die_unit_free(struct die_unit *u);
/*
 * Reads the unit's own entry, with a table of its abbreviation alone; nothing else of u may be read
 * with that. False: damaged. The caller lets go of the table in any case (die_abbrevs_done()).
 */
bool die_unit_glance(struct die_reader *r, struct dwarf_file *f, uint64_t offset,
		     struct die_abbrevs *a, struct die_unit *u, struct die *d);
/* Reads the header alone: all that has no reader is unset. False: it is damaged. */
bool die_unit_header(struct dwarf_file *f, uint64_t offset, struct die_unit *u);
/* Reads all of its bytes; false when they cannot be read. */
bool die_unit_load(struct die_unit *u);

/* The unit that an offset in the .debug_info of u's file lies in; nowhere when there is none. */
struct die_place die_unit_of(struct die_reader *r, struct die_unit *u, uint64_t offset);
/* Likewise, of the file that dwz made. */
struct die_place die_unit_of_alt(struct die_reader *r, uint64_t offset);
/* The bytes at an offset in .debug_info, and the offset of bytes. */
static inline const uint8_t *die_bytes(const struct die_unit *u, uint64_t offset)
{
	return u->file->section[DWARF_INFO].at + offset;
}

static inline uint64_t die_offset(const struct die_unit *u, const uint8_t *at)
{
	return (uint64_t)(at - u->file->section[DWARF_INFO].at);
}

/* Does it hold more than it should keep from one piece of work to the next? */
bool die_reader_full(const struct die_reader *r);
/* Lets go of all units; a thread's answers may be slower after it, not different. */
void die_reader_empty(struct die_reader *r);
/* Forgets names, and all that is of a file, which is about to be closed (NULL: none is). */
void die_reader_leave(struct die_reader *r, const struct dwarf_file *f);
/* Lets go of everything. */
void die_reader_done(struct die_reader *r);

#endif
