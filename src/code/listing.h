/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instructions of an annotation, and what debug information says of each. */
#ifndef PROFTOP_CODE_LISTING_H
#define PROFTOP_CODE_LISTING_H

#include "base/map.h"
#include "base/mem.h"
#include "code/annotation.h"
#include "code/source_programs.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct groups;
struct progress;
struct resolver_options;

/* What is known of a source file's compilation. */
struct listing_path {
	const char *path;         /* in the annotation's texts */
	source_programs programs; /* that have it; owned */
};

/* The function's own position at an instruction. */
struct listing_own {
	uint32_t path; /* in paths; ANNOTATION_NONE: not known */
	uint32_t line;
};

struct listing {
	struct annotation *a;      /* whose blocks and code are made */
	const struct analysis *of; /* borrowed, as all that follows */
	const struct code_weights *weights;
	const struct groups *keys; /* by function */
	uint32_t key;
	const struct resolver_options *symbols;
	uint64_t n_code_bytes;          /* of all blocks, that were read */
	VEC(struct listing_path) paths; /* each once */
	struct map by_path;
	VEC(struct listing_own) own; /* [a->code.n] */
	VEC(uint8_t) bytes;          /* [a->code.n] lengths of instructions */
	VEC(uint64_t) address;       /* [a->code.n] as locations have it */
};

/* The number of a path. */
uint32_t listing_path(struct listing *l, const char *path);
/* 0 or -ECANCELED. The caller ends with listing_done(). */
int listing_make(struct listing *l, struct progress *progress);
void listing_done(struct listing *l);

#endif
