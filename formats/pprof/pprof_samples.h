/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pprof profile's samples without the profile of ours, so that another thread may take them apart: each stack is known by a hash of what
 * its locations say, in whichever file and order they stand.
 */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_SAMPLES_H
#define PROFTOP_FORMATS_PPROF_PPROF_SAMPLES_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "formats/pprof/pprof_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame that is of no location of the file. */
#define PPROF_NOWHERE UINT32_MAX

/* A sample. Its bytes are borrowed from the file. */
struct pprof_row {
	struct hash128 stack;   /* of all its frames; zeroes: it has none */
	const uint8_t *message; /* [n_bytes] */
	const uint8_t *
		labels; /* [n_label_bytes] fields of the message, from the first label to the last one */
	uint32_t n_bytes, n_label_bytes;
	uint32_t n_values; /* in `values` */
	bool same_labels;  /* as the row before */
};

struct pprof_samples {
	const struct pprof_tables *t; /* borrowed */
	struct bytes rest;            /* of the file, not taken apart yet */
	VEC(struct pprof_row) rows;
	VEC(int64_t) values; /* of the rows, one after the other */
	uint64_t n_odd;      /* samples that cannot be taken apart */
	uint64_t n_nowhere;  /* frames that are */

	/* a hash of what each location says: by id where ids lie close together, else by index of t->locations */
	VEC(uint64_t) location;
	/* the last row's hashes of its frames, innermost first, at the end of the room; those of a row are put before what it shares */
	uint64_t *path; /* [n_room] owned */
	size_t n_room, n_path;
	struct bytes ids; /* its location ids, where they are packed into one field; else empty */
	struct bytes labels; /* see struct pprof_row */
	VEC(uint64_t) taken; /* location ids of a message whose ids are in several fields */
};

/* Begins with a file, and keeps the memory of the one before; all zeroes are none. Borrows t and the n good bytes of its file. */
void pprof_samples_begin(struct pprof_samples *s, const struct pprof_tables *t,
			 const uint8_t *bytes, size_t n);
void pprof_samples_done(struct pprof_samples *s);

/* Takes up to so many more samples apart: rows and values are then theirs alone. False: there is none left. */
bool pprof_samples_next(struct pprof_samples *s, size_t most);

typedef VEC(uint32_t) pprof_frames;

/* The frames of a row, innermost first: indexes of t->locations, or PPROF_NOWHERE. */
void pprof_row_frames(const struct pprof_tables *t, const struct pprof_row *row,
		      pprof_frames *frames);

#endif
