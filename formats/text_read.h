/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What readers of text formats share: the loop over the input's blocks, what was wrong with lines, and
 * the text of a probe.
 */
#ifndef PROFTOP_FORMATS_TEXT_READ_H
#define PROFTOP_FORMATS_TEXT_READ_H

#include "base/err.h"
#include "formats/bad_lines.h"
#include "input/lines.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct progress;

struct text_read {
	struct profile *p; /* borrowed */
	capture_id capture;
	struct lines lines;   /* of the input */
	struct bad_lines bad; /* malformed lines */
	bool waits;           /* the input is a pipe: what comes next may take long */
	bool full;            /* the profile takes no more */
	struct err damage;    /* why the input ended early, code 0 when it did not */
};

/*
 * Takes the lines that are there, by lines_next(), with the pen held. ended: no more will come. Lines
 * that are left come again with those of the next block.
 */
typedef void text_take(void *reader, bool ended);

void text_read_init(struct text_read *t, struct input *in, struct profile *p, capture_id c);
void text_read_done(struct text_read *t);

/*
 * All lines of the input. Returns 0 at the end, -ECANCELED, or what the input said, which is then in
 * damage, having read all lines that came before. The pen is given back before every read that may
 * wait.
 */
int text_read_all(struct text_read *t, text_take *take, void *reader, struct progress *progress);

/* Says what is wrong with the line that was taken last: "has no count". A constant. */
void text_read_complain(struct text_read *t, const char *problem);

/* States as facts how the input was packed and what of it was lost. Wants the pen. */
void text_read_tell(const struct text_read *t);

/* The error when there is no stack or sample (what), given what text_read_all() returned. */
int text_read_refuse(const struct text_read *t, int rc, const char *what, struct err *e);

/* The error when most lines are bad ("neither a sample nor a frame"). */
int text_read_refuse_most(const struct text_read *t, const char *what, struct err *e);

/* What a format's probe says to bytes as UTF-8 text without NULs; 0 when they are no such text. */
int text_probe(const uint8_t *bytes, size_t n, int (*probe)(const char *text, size_t n));

#endif
