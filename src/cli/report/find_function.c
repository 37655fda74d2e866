/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/find_function.h"

#include <errno.h>

#include "base/err.h"
#include "cli/options/message.h"
#include "cli/options/query_options.h"

int find_functions(const struct analysis *a, const char *expression, struct search *s,
		   struct err *e)
{
	int rc;

	/* What was copied from a report is seldom the expression that it reads as: "burn(long)". */
	if (search_init_exact(s, expression, &a->keys, a->tree))
		return 0;
	rc = search_init(s, expression, &a->keys, a->tree, e);
	if (rc)
		return rc;
	if (search_gave_up(s))
		message("--function %s took too long on some names, which count as not matching",
			expression);
	if (s->n_matching)
		return 0;
	search_done(s);
	return err_set(e, -EINVAL, "no %s here matches \"%s\"", grouping_name(a->keys.grouping),
		       expression);
}

int find_function(const struct analysis *a, const struct table *rows, find_weight_fn *weight,
		  const void *arg, const char *expression, uint32_t *key, struct err *e)
{
	uint32_t best = KEY_NONE;
	double most = 0;
	struct search s;

	if (find_functions(a, expression, &s, e))
		return -EINVAL;
	for (uint32_t i = 0; i < rows->n_rows; i++) {
		double w = weight(arg, i);

		if (!s.matches[rows->key[i]] || (best != KEY_NONE && w <= most))
			continue;
		best = rows->key[i];
		most = w;
	}
	search_done(&s);
	if (best == KEY_NONE)
		return err_set(e, -EINVAL, "no sample here has a frame that matches \"%s\"",
			       expression);
	*key = best;
	return 0;
}
