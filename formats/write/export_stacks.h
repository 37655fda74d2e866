/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as another program's file has them: a tree of frames that have names, with the transforms of a filter applied. Names of
 * threads are no frames of it: rows say their thread.
 */
#ifndef PROFTOP_FORMATS_WRITE_EXPORT_STACKS_H
#define PROFTOP_FORMATS_WRITE_EXPORT_STACKS_H

#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct frametree;

/* Where rows of a stack would go that a transform drops. */
#define EXPORT_GONE UINT32_MAX

/* What makes two frames one. */
enum export_detail {
	EXPORT_KEYS,     /* the row that they are in: by function, or as the lens groups */
	EXPORT_LOCATIONS /* address, source line and inlined frame; by row where a transform or a grouping makes new stacks */
};

struct export_frame {
	const char *name;  /* as rows have it; borrowed from the analysis */
	uint32_t key;      /* of the analysis's keys; KEY_NONE: of none */
	uint32_t function; /* function_id, or ID_NONE */
	uint32_t module;   /* module_id */
	string_id
		file; /* of the source, else empty: where the frame is, or where its function is declared */
	uint32_t line;     /* where the frame is; 0: unknown */
	uint32_t declared; /* line of the function's declaration; 0: unknown */
	uint32_t
		depth; /* how many frames of the same location are outside of it: it is inlined into them */
	uint64_t address; /* see location_columns; 0 where nothing has one */
};

struct export_node {
	uint32_t parent; /* a smaller index; the root's is 0 */
	uint32_t frame;
};

struct export_stacks {
	const struct analysis *a;
	bool by_key; /* frames are keys: they have no addresses and no lines */
	VEC(struct export_frame) frames;
	VEC(struct export_node) nodes; /* node 0 is the root, which is no frame */
	struct stack_columns stacks;   /* of locations … */
	struct location_columns locations;
	struct frametree *tree; /* … or of keys; owned */
	struct map by_place;    /* nodes by parent and frame */
	uint32_t *
		node; /* [n] of each stack or node of the tree, EXPORT_GONE: not yet asked for; owned */
	uint32_t *first;    /* first frame of each location, or of each key; likewise */
	uint32_t bare;      /* node of "[no frames]"; 0: not yet made */
	VEC(uint32_t) path; /* on the way to a node that is known */
};

/* 0, or -errno where the profile's stacks cannot be had. The caller ends with export_stacks_done() in any case. */
int export_stacks_init(struct export_stacks *s, const struct analysis *a, enum export_detail d);
void export_stacks_done(struct export_stacks *s);

/* The node where rows of a stack end, made on the first call; EXPORT_GONE: nowhere. 0: the stack has no frame. */
uint32_t export_stacks_node(struct export_stacks *s, uint32_t stack);
/* The same for formats in which a sample without a frame is none: a frame "[no frames]" instead of 0. */
uint32_t export_stacks_framed(struct export_stacks *s, uint32_t stack);

#endif
