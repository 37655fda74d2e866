/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The C expressions in the "print fmt" of tracepoints: what they are parsed into, and their values.
 * Calls of the kernel's helpers (include/trace/stages/stage3_trace_output.h) are nodes of their own.
 */
#ifndef PROFTOP_PERF_TRACEPOINT_PRINT_EXPR_H
#define PROFTOP_PERF_TRACEPOINT_PRINT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct trace_field;
struct trace_raw;

enum print_kind {
	PRINT_NUMBER,
	PRINT_STRING,   /* a literal */
	PRINT_FIELD,    /* a number or text */
	PRINT_ELEMENT,  /* a of a field */
	PRINT_LENGTH,   /* bytes of a field */
	PRINT_UNARY,    /* op a */
	PRINT_BINARY,   /* a op b */
	PRINT_CHOICE,   /* a ? b : c */
	PRINT_CAST,     /* a as a number of size bytes */
	PRINT_FLAGS,    /* names of the bits of a, joined by text */
	PRINT_SYMBOLIC, /* the name of a */
	PRINT_HEX,      /* a's first b bytes, joined by text */
	PRINT_ARRAY,    /* a's first b elements of c bytes */
	PRINT_UNKNOWN   /* only the kernel knows: its variables and functions */
};

/* A name that a flag or a value has. */
struct print_name {
	uint64_t value;
	const char *text;
	const struct print_name *next;
};

struct print_node {
	enum print_kind kind;
	uint16_t op;     /* '+', or both characters of "<<" as first << 8 | second */
	uint16_t height; /* of the tree below; bounds the recursion of who walks it */
	uint32_t size;
	bool is_unsigned; /* PRINT_NUMBER, PRINT_CAST: of 64 bits, so that comparing is without sign */
	uint64_t number;
	const char *text;
	const struct print_name *names;
	const struct trace_field *field;
	const struct print_node *a, *b, *c;
};

/* A number and how it compares. */
struct print_value {
	uint64_t v;
	bool is_unsigned;
};

/* The number of an expression; raw may be NULL. False: it has none, or its field is not there. */
bool print_number(const struct print_node *e, const struct trace_raw *raw, struct print_value *out);

/* Text that is being written; what does not fit is left out. */
struct print_text {
	char *at; /* ends in NUL */
	size_t n, max;
};

void print_put(struct print_text *w, const char *s, size_t n);
/* What %s shows of an expression. False as above. */
bool print_string(const struct print_node *e, const struct trace_raw *raw, struct print_text *w);

/* Text under the cursor that is being parsed. */
struct print_source {
	const char *at, *end;
	const struct trace_field *fields; /* [n_fields] */
	size_t n_fields;
	struct arena *arena; /* of the nodes */
	size_t n_left;       /* nodes that may still be made */
	unsigned depth;      /* of the parser */
};

/* Passes blanks, and s when it comes next. */
bool print_pass(struct print_source *p, const char *s);
/* One or more literals in a row, unescaped, in the arena; NULL: there is none. */
char *print_take_string(struct print_source *p);
/* An expression up to a ',' or a ')' of someone else; NULL: not understood. */
const struct print_node *print_take_expr(struct print_source *p);

#endif
