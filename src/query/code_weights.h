/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function by the places in its code: weights per address, and per source line of its frames.
 *
 * self    of an address: samples whose innermost frame's instruction is there, whatever was inlined
 *         there. Of a line: samples that end in the function's own frame at that line.
 * total   samples with the address, or the line, anywhere in the stack; a stack counts once for each,
 *         however often the function recurs in it.
 *
 * Under transforms only frames count that are left, in stacks that are left, and what was merged or collapsed into a frame
 * counts at its address and line: self and total of the function are those of the flat table. Of a recursion that was folded
 * each place of it counts.
 */
#ifndef PROFTOP_QUERY_CODE_WEIGHTS_H
#define PROFTOP_QUERY_CODE_WEIGHTS_H

#include "profile/profile.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct progress;

/* An address of the function; a location stands for one address of one module. */
struct code_address {
	uint64_t address;  /* as location_columns has it */
	uint32_t module;   /* module_id */
	uint32_t location; /* location_id */
};

/* A source line at which frames of the function were. */
struct code_line {
	uint32_t file; /* string_id */
	uint32_t line; /* > 0 */
};

struct code_weights {
	uint32_t n_columns;
	uint32_t n_addresses;
	uint32_t n_lines;
	struct code_address *address; /* [n_addresses] by module, then address; owned, as are all */
	int64_t *address_self;        /* [n_addresses][n_columns] */
	/* [n_addresses][n_columns] of that, what transforms took from code inlined there: the function's own line has it */
	int64_t *address_taken;
	int64_t *address_total; /* [n_addresses][n_columns] */
	struct code_line *line; /* [n_lines] by file, then line */
	int64_t *line_self;     /* [n_lines][n_columns] */
	int64_t *line_total;    /* [n_lines][n_columns] */
	uint32_t n_spots;  /* stacks that end in a frame of the function, the outer ones first */
	uint32_t *spot_up; /* [n_spots] the next spot outwards in the same stack, or UINT32_MAX */
	uint32_t
		*spot_address; /* [n_spots] its row in address, or UINT32_MAX: nobody paid for it */
	int64_t *
		spot_total; /* [n_spots][n_columns] what ends in the stack or in those that it leads to */
	int64_t self[LENS_MAX_COLUMNS];  /* of the function: what ends in a frame of its own */
	int64_t total[LENS_MAX_COLUMNS]; /* of stacks with it */
	int64_t code
		[LENS_MAX_COLUMNS]; /* sum of address_self: what ends in its code, inlined or not */
	int64_t scale[LENS_MAX_COLUMNS]; /* all are in 1/scale of the unit */
	bool scoped;                     /* only below the node that was asked for */
};

/* Which function, and where. */
struct code_wish {
	uint32_t key_id; /* struct key's id of the function */
	uint64_t path;   /* call tree path of a node below which samples count; 0: anywhere */
};

/*
 * Weighs the function that the key id stands for, through the lens of the analysis. Where that is not by function, its
 * paths are not those of functions: then everything counts, and out->scoped is false. 0, -ECANCELED, or -ENOENT when the
 * analysis knows no such function. The caller ends with code_weights_done() after 0.
 */
int code_weights_init(const struct analysis *a, const struct code_wish *wish,
		      struct progress *progress, struct code_weights *out);
void code_weights_done(struct code_weights *w);

/*
 * Totals of sets of addresses: a stack counts once for each set, however often the function recurs in it. The
 * sets of address i are set[first[i] .. first[i + 1]), each below n_sets. Adds to total, [n_sets][n_columns].
 */
void code_weights_of_sets(const struct code_weights *w, const uint32_t *first, const uint32_t *set,
			  uint32_t n_sets, int64_t *total);

/*
 * The id of the function with the most self cost (lens_share()), of an analysis by function: one with a name where any has
 * self cost, and no thread's name or remark. Of a heap it is the one whose sites (heap_sites.h) have most: self is the
 * allocator's there. This takes a pass over the allocations. ID_NONE: there is none.
 */
uint32_t code_hottest(const struct analysis *a);

/* The key of a function by the id of it, or of any function of its group, among keys by function; KEY_NONE: none. */
struct groups;
uint32_t code_key(const struct groups *keys, uint32_t key_id);

#endif
