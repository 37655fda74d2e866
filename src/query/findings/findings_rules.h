/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules behind findings.h, for this room only. */
#ifndef PROFTOP_QUERY_FINDINGS_FINDINGS_RULES_H
#define PROFTOP_QUERY_FINDINGS_FINDINGS_RULES_H

#include "base/arena.h"
#include "base/mem.h"
#include "query/core/frame_class.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct findings;
struct progress;
struct suppressions;

/* Fewer samples say nothing of a function. */
#define CPU_SAMPLES_LEAST 20

/* What a function is called in sentences. */
struct named_key {
	uint32_t key;
	const char *name; /* borrowed */
};

/* What the rules about samples look at. */
struct cpu_case {
	const struct analysis *a; /* with a tree by function; column 0 is of samples */
	struct progress *progress;
	struct findings *out;
	const char *of;             /* "of the CPU time", "of cycles": what shares are of */
	char *of_made;              /* where that had to be made; owned */
	bool many;                  /* is that plural? */
	bool *is[N_FRAME_CLASSES];  /* [a->keys.n] is the key of the class? owned */
	bool said[N_FRAME_CLASSES]; /* has the class a sentence? */
	bool *told;        /* [a->keys.n] has its self time one, beside a hotspot's? owned */
	struct arena made; /* names in sentences */
	VEC(struct named_key) named; /* functions that were named; owned */
	int64_t whole;               /* all of it, in column 0 */
	int64_t idle;                /* of it the processor had nothing to do */
};

/* Rows of functions: no remarks, nothing idle, and nothing that stands for many functions. */
bool cpu_case_is_function(const struct cpu_case *c, uint32_t key);
/* Code of a language's own library or interpreter, which says not where in a program something is. */
bool cpu_case_is_of_language(const struct cpu_case *c, uint32_t key);
/* How many samples stand for a weight, about. */
double cpu_case_samples(const struct cpu_case *c, int64_t weight);
/*
 * A function's name for a sentence: long ones without what stands in <> and (), unless another one was called so. Borrowed from the case until its end.
 */
const char *cpu_case_name(struct cpu_case *c, uint32_t key);
/* "12.3 %"; the caller frees. */
char *cpu_case_percent(int64_t part, int64_t whole);

/*
 * For sentences that name a function, so that no hotspot says the same again: "; its own code takes 41.0 %" where that is as
 * much as a hotspot has, else "". The caller frees.
 */
char *cpu_case_tell(struct cpu_case *c, uint32_t key);

/* Each: 0 or -ECANCELED. find_hotspot() comes behind the others, whose sentences leave nothing to it where they say the same. */
int find_classes(struct cpu_case *c);
int find_recursion(struct cpu_case *c);
int find_phases(struct cpu_case *c);
int find_hotspot(struct cpu_case *c);
int find_missing(struct cpu_case *c);

/* Rules about allocations, where there are any; suppress as of findings_new(). 0 or -ECANCELED. */
int find_in_heap(const struct analysis *a, const struct suppressions *suppress,
		 struct progress *progress, struct findings *out);

#endif
