/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conditions of --fail-if, judged, and what is said of them: sentences, JUnit XML. */
#ifndef PROFTOP_CLI_DIFF_DIFF_JUDGE_H
#define PROFTOP_CLI_DIFF_DIFF_JUDGE_H

#include "base/mem.h"
#include "query/diff/condition.h"

#include <stdbool.h>
#include <stdio.h>

struct err;
struct options;

struct judged {
	struct condition *condition; /* owned */
	struct verdict verdict;      /* once it was judged */
};

struct judgement {
	VEC(struct judged) all;
	bool failed; /* some condition did */
	char *doubt; /* then what makes the comparison doubtful, or NULL; owned */
};

/* All --fail-if of o. 0, or -EINVAL with a sentence; ends with judgement_done() in any case. */
int judgement_parse(struct judgement *j, const struct options *o, struct err *e);
void judgement_done(struct judgement *j);

/* A diff of another metric, for conditions that ask for one; what it is of is the caller's to free. NULL with a sentence. */
typedef struct diff *judgement_compare(void *arg, const char *metric, struct err *e);

/* Judges all by d, or by what compare makes. 0, or -EINVAL with a sentence. */
int judgement_make(struct judgement *j, const struct diff *d, bool any, judgement_compare *compare,
		   void *arg, struct err *e);

/* Says on stderr which failed and why, and which speak of nothing. */
void judgement_say(const struct judgement *j);

/* As JUnit XML, one test case for each condition. */
void judgement_junit(const struct judgement *j, const char *before, const char *after, FILE *to);

#endif
