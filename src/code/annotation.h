/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function's source and instructions with what each costs, as data: what reports print and views draw.
 * Texts of sources and symbols are untrusted.
 */
#ifndef PROFTOP_CODE_ANNOTATION_H
#define PROFTOP_CODE_ANNOTATION_H

#include "base/arena.h"
#include "base/mem.h"
#include "code/disassembler.h"
#include "query/code_weights.h"

#include <stdbool.h>
#include <stdint.h>

#define ANNOTATION_NONE UINT32_MAX

/* A source file with lines of the function. */
struct annotation_file {
	const char *path;    /* as debug information has it */
	const char *name;    /* its last part */
	const char *found;   /* the file that the text is from; NULL: none */
	const char *why;     /* why there is no text; NULL: there is */
	const char *warning; /* what is doubtful about the text; NULL */
	const char *
		also; /* a path of the other side of a comparison whose lines stand here, too; NULL */
	const char *joined; /* which path each side has then, as a sentence */
};

/* A line of source; some of them nobody paid for. */
struct annotation_source {
	uint32_t file; /* in files */
	uint32_t line;
	const char *text; /* NULL: not known */
	uint32_t numbers; /* in numbers, or ANNOTATION_NONE */
	uint32_t
		first_inline; /* inlines[first_inline .. first_inline + n_inlines) were inlined there */
	uint32_t n_inlines;
	bool gap; /* lines before it are left out */
};

/* A line of a function that was inlined into a line of source, or into such a line; parents come first. */
struct annotation_inline {
	const char *function;
	const char *path;      /* of its source */
	const char *file_name; /* the last part of that */
	const char *text;      /* of the line; NULL: not known */
	uint32_t line;
	uint32_t depth; /* from 1 */
	uint32_t numbers;
};

struct annotation_code {
	uint64_t shown;      /* its address as objdump prints it */
	const char *text;    /* mnemonic and operands */
	const char *note;    /* what a jump or an address leads to: "<malloc@plt>"; NULL */
	const char *inlined; /* the innermost inlined function that it is of; NULL: none */
	const char *path;    /* the innermost source position; NULL: not known */
	const char *at;      /* that line's text; NULL: not known */
	uint32_t line;       /* in path */
	uint32_t source;     /* in sources: the function's own line; ANNOTATION_NONE: not known */
	uint32_t target;     /* in code, of the same block: where it jumps to; or ANNOTATION_NONE */
	uint32_t block;      /* in blocks */
	uint32_t numbers;    /* or ANNOTATION_NONE */
	enum code_flow flow;
	bool is_target; /* a basic block begins here, as something jumps here, or one ended */
};

/* Code that lies together: a function, or those parts of another one that it was inlined into. */
struct annotation_block {
	const char *function; /* whose symbol it is */
	const char *module;
	const char *path;      /* of the file; "" */
	const char *why;       /* why there is no code; NULL: there is */
	const char *warning;   /* NULL: there is none */
	uint32_t first, n;     /* code[first .. first + n) */
	bool inlined;          /* only the parts where the function was inlined */
	bool of_side[N_SIDES]; /* which sides of a comparison have it; none without one */
};

struct annotation {
	struct code_wish wish;
	struct arena texts;
	const char *function; /* what is annotated */
	const char *module;
	const char *declared; /* path where it is declared; NULL: unknown */
	uint32_t declared_line;
	bool scoped;         /* only below the node of the wish */
	const char *nothing; /* why there are neither lines nor code; NULL: there are */
	uint32_t n_columns;
	int64_t scale[LENS_MAX_COLUMNS];
	int64_t self[LENS_MAX_COLUMNS];  /* of the function's own frames */
	int64_t total[LENS_MAX_COLUMNS]; /* of stacks with it: what totals are shares of */
	int64_t code_self
		[LENS_MAX_COLUMNS]; /* in its code, inlined or not: what selves are shares of */
	int64_t no_line[LENS_MAX_COLUMNS]; /* of code_self, what lines have not; 0 without lines */
	const char *no_line_text;          /* which share that is; NULL: none */
	uint64_t n_unplaced;               /* addresses that no code was found for */
	VEC(int64_t) numbers;              /* [][2][n_columns]: self, total */
	VEC(struct annotation_file) files;
	VEC(struct annotation_source) sources; /* by file, hottest first, then line */
	VEC(struct annotation_inline) inlines;
	VEC(struct annotation_code) code;
	VEC(struct annotation_block) blocks; /* the heaviest first */
};

/* [n_columns]; zeros where nobody paid. Borrowed. */
const int64_t *annotation_self(const struct annotation *a, uint32_t numbers);
const int64_t *annotation_total(const struct annotation *a, uint32_t numbers);

struct annotation *annotation_new(void);
void annotation_free(struct annotation *a);
/* A row of numbers, all 0. */
uint32_t annotation_add_numbers(struct annotation *a);

/* --- as rows ------------------------------------------------------------------------------ */

enum annotation_mode {
	ANNOTATION_SOURCE,   /* lines, with what was inlined in them */
	ANNOTATION_BOTH,     /* below each line its instructions */
	ANNOTATION_ASSEMBLY, /* instructions by address, with lines where they change */
	N_ANNOTATION_MODES
};

enum annotation_kind {
	ANNOTATION_ROW_FILE,    /* files[at] */
	ANNOTATION_ROW_WARNING, /* text */
	ANNOTATION_ROW_GAP,
	ANNOTATION_ROW_SOURCE, /* sources[at] */
	ANNOTATION_ROW_INLINE, /* inlines[at] */
	ANNOTATION_ROW_BLOCK,  /* blocks[at] */
	ANNOTATION_ROW_AT,     /* the source position of code[at] */
	ANNOTATION_ROW_CODE    /* code[at] */
};

struct annotation_row {
	enum annotation_kind kind;
	uint32_t at;      /* of a warning: the byte of its text that the row begins with */
	const char *text; /* of a warning; the annotation's */
};

struct annotation_rows {
	enum annotation_mode mode; /* as it was made: without sources it is assembly */
	VEC(struct annotation_row) all;
};

/* Is the text of any of its lines known? */
bool annotation_has_text(const struct annotation *a);
void annotation_rows_make(struct annotation_rows *r, const struct annotation *a,
			  enum annotation_mode mode);
void annotation_rows_done(struct annotation_rows *r);
/* The numbers of a row, or ANNOTATION_NONE. */
uint32_t annotation_row_numbers(const struct annotation *a, const struct annotation_row *row);
/* Is it one of those that add up to the function: a line, or in assembly an instruction? */
bool annotation_row_is_part(const struct annotation_rows *r, const struct annotation_row *row);

#endif
