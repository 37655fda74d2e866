/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line of a folded file. */
#ifndef PROFTOP_FORMATS_FOLDED_FOLDED_LINE_H
#define PROFTOP_FORMATS_FOLDED_FOLDED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fractions are kept to this many parts of one. */
#define FOLDED_PARTS 1000000

struct folded_count {
	int64_t whole;
	uint32_t parts; /* of FOLDED_PARTS */
	bool rounded;   /* there were more digits than parts can hold */
};

enum folded_kind {
	FOLDED_STACK,     /* a stack and its count(s) */
	FOLDED_NOTHING,   /* blank, or a comment */
	FOLDED_NO_COUNT,  /* from here on malformed */
	FOLDED_NO_STACK,  /* a count alone */
	FOLDED_NEGATIVE,  /* the count is below zero */
	FOLDED_TOO_LARGE, /* the count does not fit 63 bits */
	FOLDED_ONE_COUNT  /* one where two are expected */
};

struct folded_line {
	const char *stack; /* borrowed from the line; no blanks and no ';' at its end */
	/* bytes of it; 0: nothing but frames without a name, or no frame: py-spy writes " 1" of a thread that had none */
	size_t n;
	struct folded_count count[2]; /* before and after when two are asked for, else [0] */
};

/*
 * Takes a line (without its newline) apart. n_counts is 1 or 2; with 1, what looks like a first
 * count belongs to the name. out is untouched unless FOLDED_STACK is returned.
 */
enum folded_kind folded_line_read(const char *s, size_t n, unsigned n_counts,
				  struct folded_line *out);

/* "has no count": what is wrong with a malformed line. Static text. */
const char *folded_problem(enum folded_kind kind);

#endif
