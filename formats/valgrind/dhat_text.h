/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON of a DHAT profile as tables. */
#ifndef PROFTOP_FORMATS_VALGRIND_DHAT_TEXT_H
#define PROFTOP_FORMATS_VALGRIND_DHAT_TEXT_H

#include "base/mem.h"
#include "formats/json/json_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct input;
struct progress;

/* Numbers of a program point, by their keys. */
#define DHAT_NUMBERS(X) \
	X(TB, "tb")   /* bytes in all */ \
	X(TBK, "tbk") /* blocks in all */ \
	X(TL, "tl")   /* lifetimes of all blocks together */ \
	X(MB, "mb")   /* bytes when it held most */ \
	X(GB, "gb")   /* bytes when all held most, "t-gmax" */ \
	X(EB, "eb")   /* bytes at the end, "t-end" */ \
	X(RB, "rb")   /* bytes read */ \
	X(WB, "wb")   /* bytes written */

enum dhat_number {
#define X(id, key) DHAT_##id,
	DHAT_NUMBERS(X)
#undef X
		N_DHAT_NUMBERS
};

/* What was allocated by one stack. */
struct dhat_point {
	int64_t number[N_DHAT_NUMBERS]; /* 0 where it is not in the file */
	size_t first, n;                /* in frames, innermost first */
};

/* A text; owned by the table. */
struct dhat_string {
	char *s; /* NULL: none */
	size_t n;
};

struct dhat_text {
	VEC(struct dhat_point) points;
	VEC(uint32_t) frames; /* of all points: indexes of strings; UINT32_MAX: not read */
	VEC(struct dhat_string) strings; /* the table of frames; the first is the root */
	int64_t version;
	int64_t end, peak; /* in the file's unit of time */
	bool has_lifetimes, has_accesses;
	struct dhat_string mode, command, time_unit, unit, blocks_unit;
	uint64_t n_odd; /* numbers that are none, or negative */
};

/* 0, also where the text breaks off, which *end says; -errno with a sentence. t is zeroed. */
int dhat_text_read(struct dhat_text *t, struct input *in, struct json_end *end,
		   struct progress *progress, struct err *e);
void dhat_text_done(struct dhat_text *t);

#endif
