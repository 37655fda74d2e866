/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of callgrind.out as tables (valgrind's manual, "Callgrind Format Specification"): what each function costs by itself, by
 * source line, and what its calls of others cost with all that they call. Parts of one thread add up.
 */
#ifndef PROFTOP_FORMATS_CALLGRIND_CALLGRIND_TEXT_H
#define PROFTOP_FORMATS_CALLGRIND_CALLGRIND_TEXT_H

#include "base/map.h"
#include "base/mem.h"
#include "formats/text_read.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Events of one file. */
#define CALLGRIND_EVENTS 32

#define CALLGRIND_NONE UINT32_MAX

/* Known by all three names, as two objects may each have a function of a name. */
struct callgrind_function {
	string_id name;
	string_id file;   /* empty: unknown */
	string_id object; /* path; empty: unknown */
	uint32_t line;    /* where calls lead to; 0: unknown */
};

/* What a line of a function costs by itself, or by its calls of one function. */
struct callgrind_item {
	uint32_t thread;   /* index of threads */
	uint32_t function; /* index of functions: whose line it is */
	uint32_t callee;   /* the function called, or CALLGRIND_NONE */
	string_id file;    /* of the line: another than the function's where code was inlined */
	uint32_t line;     /* 0: unknown */
	int64_t calls;     /* how often */
};

/* What may be compressed: "(12) name" gives a number that stands for the name from then on. */
enum callgrind_kind { CALLGRIND_OBJECT, CALLGRIND_FILE, CALLGRIND_FUNCTION, N_CALLGRIND_KINDS };

struct callgrind_name {
	enum callgrind_kind kind;
	uint64_t number;
	string_id name;
};

struct callgrind_event {
	string_id name; /* without its unit */
	enum unit unit;
	int64_t each;  /* units of the model in one cost: 10 for "Time_(10ns)" */
	int64_t total; /* of costs of functions by themselves */
};

struct callgrind_text {
	struct text_read text;

	/* What is read. */
	struct callgrind_event event[CALLGRIND_EVENTS];
	uint32_t n_events;
	VEC(int64_t) threads; /* their numbers, 0: not told */
	VEC(struct callgrind_function) functions;
	VEC(struct callgrind_item) items;
	VEC(int64_t) costs; /* [items][n_events] */
	string_id creator, command;
	int64_t pid; /* 0: not told */
	uint64_t n_parts;
	uint64_t n_jumps;  /* lines of jumps */
	uint64_t n_totals; /* lines that say what a part's costs are in all */
	int64_t totals[CALLGRIND_EVENTS];
	bool has_lines;       /* positions are lines of sources */
	bool has_description; /* of the caches, as valgrind writes it */

	/* What is lost. */
	uint64_t n_large;    /* costs that make a sum too large */
	uint64_t n_negative; /* costs below zero */
	uint64_t n_unnamed;  /* numbers that no name was given to */

	/* The state between lines. */
	VEC(struct callgrind_name) names;
	struct map by_number, by_function, by_item;
	string_id object, file, called_object, called_file;
	bool has_called_object, has_called_file;
	uint32_t function, called; /* index of functions, or CALLGRIND_NONE */
	uint32_t thread;           /* index of threads */
	bool is_call;              /* the next line has the cost of calls */
	int64_t calls;             /* how many */
	uint64_t position[2];      /* of the line before */
	int64_t cost[CALLGRIND_EVENTS];
	uint32_t column[CALLGRIND_EVENTS]; /* which event each column is, or CALLGRIND_NONE */
	uint32_t n_columns;
	uint32_t n_positions; /* numbers before the costs */
	uint32_t line_at;     /* which of them is the line, or CALLGRIND_NONE */
	bool is_xdebug;       /* whose "-7" is less than nothing, not 7 less than before */
};

/* The lines that are there, for text_read_all(). */
text_take callgrind_text_take;

/* After text_read_init() of .text. */
void callgrind_text_init(struct callgrind_text *t);
void callgrind_text_done(struct callgrind_text *t);

#endif
