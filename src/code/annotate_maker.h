/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An annotation that is being made; for annotate.c and annotate_inlines.c only. */
#ifndef PROFTOP_CODE_ANNOTATE_MAKER_H
#define PROFTOP_CODE_ANNOTATE_MAKER_H

#include "base/map.h"
#include "base/mem.h"
#include "code/annotation.h"
#include "code/listing.h"
#include "code/source_file.h"
#include "code/source_join.h"
#include "query/code_weights.h"
#include "query/core/groups.h"

struct annotate_options;
struct debuginfod;

/* A line of the function's own. */
struct own_line {
	uint32_t path; /* in the listing's paths */
	uint32_t line;
	uint32_t weighed; /* in code_weights.line, or ANNOTATION_NONE */
	uint32_t also;    /* likewise, of the line of the other side that stands here, too */
};

/* A position in a function that was inlined. */
struct inline_at {
	uint32_t path, line; /* path in the listing's paths */
	int64_t total;       /* of column 0 */
};

/* What was inlined: a function below a line, or below such a node. */
struct inline_node {
	uint32_t function;    /* function_id */
	uint32_t source;      /* the line that it is below */
	uint32_t parent;      /* the node, or ANNOTATION_NONE right below the line */
	uint32_t first, next; /* a child, a sibling; ANNOTATION_NONE */
	uint32_t numbers;
	VEC(struct inline_at) at; /* owned */
};

/* The rows of one file in an annotation's sources. */
struct source_rows {
	uint32_t first, end;
};

struct maker {
	const struct analysis *of;
	const struct annotate_options *o;
	struct annotation *a;
	struct code_weights w;
	struct groups own_keys; /* by function, where the analysis groups otherwise */
	struct listing l;
	struct location_columns locations;
	VEC(struct own_line) lines;
	VEC(struct inline_node) nodes;
	struct map node_index; /* of nodes, by node_key */
	VEC(uint32_t) in_node; /* the nodes of each address, one address after the other */
	uint32_t *first_node;  /* [n sources] of the lines' inlined calls, or ANNOTATION_NONE */
	struct debuginfod *servers; /* NULL: not asked yet; owned */
	uint32_t n_fetched;         /* files that they were asked for */
	struct progress *progress;
	struct source_file
		*files; /* [l.paths.n] opened so far; state MISSING and no why: not yet */
	struct source_rows *of_path; /* [l.paths.n] */
	struct source_join *joins;   /* [l.paths.n] */
	bool *from_after;            /* [l.paths.n] the side after has it */
};

/* The source row of a position, or ANNOTATION_NONE. */
uint32_t maker_find_source(const struct maker *m, uint32_t path, uint32_t line);
/* A line's text, in the annotation's texts; NULL: not known. */
const char *maker_line_text(struct maker *m, uint32_t path, uint32_t line);
/* A text of the profile, by string_id. */
const char *maker_text(const struct maker *m, uint32_t string);
/* What was inlined below each line of the sources. */
void maker_inlines(struct maker *m);

#endif
