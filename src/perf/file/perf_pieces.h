/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What COMPRESSED records hold: pieces of one zstd stream, unpacked into whatever room there is. What comes out of one
 * is bounded, and damage is counted.
 */
#ifndef PROFTOP_PERF_FILE_PERF_PIECES_H
#define PROFTOP_PERF_FILE_PERF_PIECES_H

#include "perf/abi/perf_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct perf_pieces {
	ZSTD_DCtx *zstd;      /* owned */
	ZSTD_inBuffer piece;  /* what is left to unpack; borrowed */
	bool more;            /* of the piece, or of what zstd still holds of it */
	uint64_t most;        /* bytes that may come out of any */
	uint64_t left;        /* bytes that may still come out of this one */
	uint64_t offset;      /* of its record in the file */
	size_t wanted;        /* bytes that zstd waits for; 0: none */
	uint64_t n_mute;      /* pieces since anything came out of one */
	uint64_t mute_offset; /* of the first of them */
	uint64_t n, n_bad;    /* so far, and how many of these could not be unpacked */
	uint64_t bad_offset;  /* of the first of those */
};

/* most: what a COMPRESSED record may hold at most, 0 when nobody said. */
void perf_pieces_init(struct perf_pieces *p, uint32_t most);
void perf_pieces_done(struct perf_pieces *p);

/* Is r a record that holds a piece? */
static inline bool perf_pieces_holds(const struct perf_record *r)
{
	return r->type == PERF_REC_COMPRESSED || r->type == PERF_REC_COMPRESSED2;
}

/* The piece in r, which stands at `offset` of the file, is next. It is borrowed while there is more of it. */
void perf_pieces_begin(struct perf_pieces *p, const struct perf_record *r, uint64_t offset);

/* Unpacks up to n bytes of the piece to `to`. Returns how many; *bad: nothing more comes out of it. */
size_t perf_pieces_unpack(struct perf_pieces *p, uint8_t *to, size_t n, bool *bad);

/* The piece could not be unpacked, or what came out of it makes no sense: goes on with the next one. */
void perf_pieces_give_up(struct perf_pieces *p);

/* No more pieces come. False when something was to come out of the last ones: they are bad. */
bool perf_pieces_end(struct perf_pieces *p);

#endif
