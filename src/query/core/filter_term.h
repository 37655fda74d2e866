/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One term of a filter: parsed from text, printed in canonical form. The language is in filter.h. */
#ifndef PROFTOP_QUERY_CORE_FILTER_TERM_H
#define PROFTOP_QUERY_CORE_FILTER_TERM_H

#include "query/core/frame_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct regex;

/* What a kind's value is. */
enum term_value {
	VALUE_REGEX,
	VALUE_STATE,
	VALUE_NUMBERS,
	VALUE_TIMES,
	VALUE_SIZES,
	VALUE_WORD,
	VALUE_RECURSION,
	VALUE_PATH
};

/* Kind, its name in text, its value, whether it transforms stacks (and so cannot be negated). */
/* clang-format off */
#define TERM_KINDS(X) \
	X(FN,         "fn",         VALUE_REGEX,     false) \
	X(MODULE,     "module",     VALUE_REGEX,     false) \
	X(FILE,       "file",       VALUE_REGEX,     false) \
	X(LEAF,       "leaf",       VALUE_REGEX,     false) \
	X(IN,         "in",         VALUE_REGEX,     false) \
	X(IS,         "is",         VALUE_STATE,     false) \
	X(TIME,       "time",       VALUE_TIMES,     false) \
	X(THREAD,     "thread",     VALUE_REGEX,     false) \
	X(PROCESS,    "process",    VALUE_REGEX,     false) \
	X(COMM,       "comm",       VALUE_REGEX,     false) \
	X(TID,        "tid",        VALUE_NUMBERS,   false) \
	X(PID,        "pid",        VALUE_NUMBERS,   false) \
	X(CPU,        "cpu",        VALUE_NUMBERS,   false) \
	X(EVENT,      "event",      VALUE_REGEX,     false) \
	X(LABEL,      "label",      VALUE_REGEX,     false) \
	X(CGROUP,     "cgroup",     VALUE_REGEX,     false) \
	X(CAPTURE,    "capture",    VALUE_NUMBERS,   false) \
	X(HOST,       "host",       VALUE_REGEX,     false) \
	X(DEPTH,      "depth",      VALUE_NUMBERS,   false) \
	X(SIZE,       "size",       VALUE_SIZES,     false) \
	X(LIFETIME,   "lifetime",   VALUE_TIMES,     false) \
	X(ALIVE,      "alive",      VALUE_TIMES,     false) \
	X(FREED,      "freed",      VALUE_TIMES,     false) \
	X(FREED_IN,   "freed-in",   VALUE_REGEX,     false) \
	X(BLOCK,      "block",      VALUE_WORD,      false) \
	X(STACK_CALLS, "stack-calls", VALUE_SIZES,   false) \
	X(STACK_BYTES, "stack-bytes", VALUE_SIZES,   false) \
	X(STACK_LEAKED, "stack-leaked", VALUE_SIZES, false) \
	X(STACK_LEAKED_PERCENT, "stack-leaked-percent", VALUE_SIZES, false) \
	X(STACK_FIRST, "stack-first", VALUE_TIMES,   false) \
	X(STACK_LAST, "stack-last", VALUE_TIMES,     false) \
	X(STACK_SPAN, "stack-span", VALUE_TIMES,     false) \
	X(FOCUS,      "focus",      VALUE_REGEX,     true) \
	X(MERGE,      "merge",      VALUE_REGEX,     true) \
	X(COLLAPSE,   "collapse",   VALUE_REGEX,     true) \
	X(RECURSION,  "recursion",  VALUE_RECURSION, true) \
	X(FOCUS_PATH, "focus-path", VALUE_PATH,      true) \
	X(FOCUS_MODULE, "focus-module", VALUE_REGEX, true) \
	X(COLLAPSE_MODULE, "collapse-module", VALUE_REGEX, true) \
	X(MERGE_PATH, "merge-path", VALUE_PATH,      true)
/* clang-format on */

enum term_kind {
#define X(kind, name, value, transform) TERM_##kind,
	TERM_KINDS(X)
#undef X
};

/* An inclusive range of pids, tids or cpus. */
struct term_range {
	int32_t from; /* at least 0 */
	int32_t to;   /* at least from */
};

struct term {
	char *text; /* canonical; owned, as is everything below */
	enum term_kind kind;
	bool negated;
	struct regex *regex;       /* VALUE_REGEX, VALUE_STATE where names decide; else NULL */
	enum frame_class state;    /* VALUE_STATE */
	struct term_range *ranges; /* [n_ranges] VALUE_NUMBERS, in the order given */
	size_t n_ranges;
	unsigned word; /* VALUE_WORD: enum block_state */
	/* VALUE_SIZES: from_ns and to_ns are numbers */
	int64_t from_ns;     /* VALUE_TIMES: since the capture's start, inclusive; 0: any */
	int64_t to_ns;       /* exclusive; INT64_MAX: any */
	bool all_recursion;  /* VALUE_RECURSION: all, not only direct */
	const char **frames; /* [n_frames] VALUE_PATH: names, which follow the array in memory */
	size_t n_frames;
};

/*
 * Parses the term at *text and moves *text behind it and the blanks that follow. -EINVAL with a
 * sentence that names the term. The caller ends with term_done().
 */
int term_parse(const char **text, struct term *out, struct err *e);
void term_done(struct term *t);

bool term_is_transform(const struct term *t);
/* Is the number in one of the ranges? */
bool term_has_number(const struct term *t, int64_t n);

/* A value as it must be written after "kind:"; the caller frees. */
char *term_quote(const char *value);
/* A canonical "focus-path:…", or "merge-path:…"; the caller frees. */
char *term_path(enum term_kind kind, const char *const *names, size_t n);
/* What kinds are called, and of those whose values are known the values: for completion. NULL behind the last. */
const char *term_kind_name(size_t i);
const char *term_value_name(const char *kind, size_t i);
/* Is the value of a kind of that name an expression? Does such a term change stacks? False of no kind. */
bool term_kind_is_regex(const char *kind);
bool term_kind_is_transform(const char *kind);

#endif
