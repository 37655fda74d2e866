/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the views show of a key (a function, a module, a thread): its name, folded and coloured by
 * family, its module, its full text for the status line.
 */
#ifndef PROFTOP_TUI_ROWS_ROW_H
#define PROFTOP_TUI_ROWS_ROW_H

#include "query/core/filter_term.h"
#include "query/core/groups.h"
#include "tui/rows/name_set.h"
#include "tui/rows/row_shape.h"

struct calltree;

/*
 * Marks the selected row, which was drawn: all of it, and an arrow in front, where the hardware cursor belongs. Its view draws
 * the line to the end.
 */
void row_draw_marker(struct canvas *c, struct rect r, int line);

/* Instead of rows: why there are none. */
void row_draw_nothing(struct canvas *c, struct rect r, const struct scene *s);

/* By family; remarks and what has no name stand back. */
uint16_t row_key_style(const struct key *k);
/* Of what stands around its name: the arrow, what joins it to others. */
uint16_t row_joint_style(const struct key *k);
/* Of the bars in its row. */
uint16_t row_bar_style(const struct key *k);
/* The same as background of a flame graph's cell. */
uint16_t row_flame_style(const struct key *k);
/* What stands for the family where there is no colour: "[k]". */
const char *row_family_tag(enum family f);

/* Is so much of the self weight (of column 0) here that the row should catch the eye? */
bool row_is_hot(const struct scene *s, const int64_t *self);
/* Does the search match the key? Searches are over frames: never for keys of samples. */
bool row_matches(const struct scene *s, const struct groups *keys, uint32_t key);

/* What a key's row says in its name cell and module cell. */
struct row_key {
	const struct groups *keys;
	uint32_t key;
	int indent;      /* columns left free at the cell's left */
	const char *tag; /* a remark at its right end, or NULL */
	bool selected, hot;
	bool dim;  /* the row stands back */
	int shift; /* as name_look's */
	const char *
		label; /* is written instead of the key's, see names_apart(); NULL: none; borrowed */
};

void row_draw_key(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct scene *s, const struct row_key *k);
/* What row_draw_key() writes, to be compared with other names in sight. */
struct seen_name row_seen_name(const struct row_shape *sh, const struct canvas *c,
			       const struct scene *s, const struct row_key *k);
/* The columns that a remark may have, with a family tag beside it: a longer one is left out. */
static inline int row_tag_most(const struct row_shape *sh)
{
	return (sh->name_cols - 4) / 3;
}
/* Columns left of the name's cell beside the remark and, without colours (mono), the family tag. */
int row_tags_left(const struct row_shape *sh, bool mono, const struct key *k, const char *tag);
/* The parts of it: remark and, without colours, family tag; returns columns left of the cell. */
int row_draw_tags(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct key *k, const char *tag);
void row_draw_module(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     const struct key *k);

/* What stands behind a label: "pid 812"; of a root that only one process or thread had, "(812)", "(tid 815)"; or "". */
const char *row_detail(const struct scene *s, const struct groups *keys, uint32_t key,
		       char out[FMT_SIZE]);

/* The key of that id, or KEY_NONE. Linear in keys. */
uint32_t row_key_of_id(const struct groups *keys, uint32_t key_id);

#define ROW_RATE_SIZE (FMT_SIZE + 16)

/*
 * What column 0 had in a slice of time: "1.9 CPUs" of a clock, "2.0 threads" of what waits or lasts, else an amount. The weight
 * may be wrong by margin, which is said where it is seen: "1.9 ± 0.1 CPUs".
 */
void row_rate(const struct scene *s, int64_t weight, int64_t margin, int64_t slice_ns,
	      char out[ROW_RATE_SIZE]);
/* The term of that kind (focus-path:A;B;C) of a node of the call tree; the caller frees. */
char *row_path_term(const struct groups *keys, const struct calltree *t, uint32_t node,
		    enum term_kind kind);

/* "41.0 %", or a weight in its unit, of column 0; returns out. */
const char *row_share(char out[FMT_SIZE], const struct scene *s, int64_t value, int64_t whole);

/* The place in the view of code of a line's key (KEY_OF_LINE): its function, and where in that. */
struct place row_line_place(const struct scene *s, uint32_t key_id);

/* "parser.cc:118", or "" where a function's source is not known; the caller frees. */
char *row_source(const struct scene *s, const struct groups *keys, uint32_t key);

/* "parser.cc:118" of a file and a line of it; "" without a line; the caller frees. */
char *row_place(const struct scene *s, uint32_t file, uint32_t line);

/*
 * Name, share, self, source line and module for the status line, and the ratios of sums [n_columns], NULL: of none; the
 * caller frees.
 */
char *row_status(const struct scene *s, const struct groups *keys, uint32_t key, int64_t self,
		 int64_t total, const int64_t *sums);

#endif
