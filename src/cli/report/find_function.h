/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the user names, wholly or by an expression (--function). */
#ifndef PROFTOP_CLI_REPORT_FIND_FUNCTION_H
#define PROFTOP_CLI_REPORT_FIND_FUNCTION_H

#include "query/analysis.h"
#include "query/tree/search.h"

#include <stdint.h>

struct err;

/*
 * All of exactly that name, or else all that match it as an expression, of an analysis with a tree; who gets 0 ends with
 * search_done(). -EINVAL with a sentence when it is neither a name nor an expression, or nothing matches. Names on which it took too long are told on standard error.
 */
int find_functions(const struct analysis *a, const char *expression, struct search *s,
		   struct err *e);

/* How much of a row of the table there is, to choose by. */
typedef double find_weight_fn(const void *arg, uint32_t row);

/* The key of the row that weighs most of those that find_functions() finds. -EINVAL with a sentence. */
int find_function(const struct analysis *a, const struct table *rows, find_weight_fn *weight,
		  const void *arg, const char *expression, uint32_t *key, struct err *e);

#endif
