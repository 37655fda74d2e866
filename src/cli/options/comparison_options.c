/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/options/comparison_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/query_options.h"

int comparison_options_check(const struct options *o, struct err *e)
{
	bool a = o->side_a, b = o->side_b;

	if (a != b)
		return err_set(e, -EINVAL, "--a and --b go together: --%s is missing",
			       a ? "b" : "a");
	if (o->n_before > 0 && o->n_before == o->files.n)
		return err_set(e, -EINVAL,
			       "no file is given after --: it divides BEFORE and AFTER");
	if (a && o->n_before > 0)
		return err_set(
			e, -EINVAL,
			"--a and --b compare parts of one recording, or of one file a side; they "
			"do not go with --");
	if (o->n_before == 0 && o->files.n > 2 && !a)
		return err_set(
			e, -EINVAL,
			"%zu files are given: of several runs a side, -- stands between BEFORE "
			"and AFTER; --a FILTER --b FILTER compares parts of them all",
			o->files.n);
	return 0;
}

/* Files of one name in two directories are called by their paths. */
static char *name_files(const struct options *o, size_t from, size_t to, bool whole)
{
	const char *name = o->files.at[from];

	if (!whole)
		name = path_last_part(name);
	return to - from == 1 ? xstrdup(name) : xasprintf("%s + %zu more", name, to - from - 1);
}

/*
 * How many runs the n files of a side are, of n_all on both. A row of --group capture or host is of the files that it
 * names, so that files of a side are one run: how these differ from others says nothing of it.
 */
static size_t n_runs_of(const struct options *o, size_t n, size_t n_all)
{
	size_t n_runs = n;

	if (o->group && (!strcmp(o->group, "capture") || !strcmp(o->group, "host")))
		return 1;
	if (n_all > SIDES_MAX_RUNS)
		n_runs = n * SIDES_MAX_RUNS / n_all;
	return n_runs > 0 ? n_runs : 1;
}

/* Files beyond the runs that can be compared are put together, as many in each. */
static int add_runs(struct comparison *s, const struct options *o, enum side side, size_t from,
		    size_t to, struct err *e)
{
	const char *more = side == SIDE_BEFORE ? o->side_a : o->side_b;
	size_t n = to - from, n_runs = n_runs_of(o, n, o->files.n);
	int rc = 0;

	if (n_runs > 1 && n_runs < n)
		message("the %zu files %s are compared as %zu runs of %zu or %zu files each, made equally large",
			n, side == SIDE_BEFORE ? "before" : "after", n_runs, n / n_runs,
			(n + n_runs - 1) / n_runs);
	for (size_t i = 0; i < n_runs && rc == 0; i++) {
		size_t first = from + i * n / n_runs + 1, last = from + (i + 1) * n / n_runs;
		char *filter = xasprintf("capture:%zu%s%s", first, more ? " " : "",
					 more ? more : "");

		if (last > first) {
			free(filter);
			filter = xasprintf("capture:%zu-%zu", first, last);
		}
		rc = comparison_add(s, side, filter, e);
		free(filter);
	}
	return rc;
}

static int add_files(struct comparison *s, const struct options *o, size_t n_before, struct err *e)
{
	size_t from[N_SIDES] = { 0, n_before }, to[N_SIDES] = { n_before, o->files.n };
	bool whole = !strcmp(path_last_part(o->files.at[0]), path_last_part(o->files.at[n_before]));
	int rc = 0;

	for (int side = 0; side < N_SIDES && !rc; side++) {
		s->name[side] = o->side_name[side] ? xstrdup(o->side_name[side])
						   : name_files(o, from[side], to[side], whole);
		rc = add_runs(s, o, (enum side)side, from[side], to[side], e);
	}
	return rc;
}

/* Filters of one recording, or of several as one, are the sides, and called what they are. */
static int add_filters(struct comparison *s, const char *a, const char *b, struct err *e)
{
	s->name[SIDE_BEFORE] = xstrdup(a);
	s->name[SIDE_AFTER] = xstrdup(b);
	return comparison_add(s, SIDE_BEFORE, a, e) || comparison_add(s, SIDE_AFTER, b, e) ? -EINVAL
											   : 0;
}

/* The two counts are the sides. Nobody has typed the filters that tell them apart. */
static int add_counts(struct comparison *s, struct err *e)
{
	s->name[SIDE_BEFORE] = xstrdup("before");
	s->name[SIDE_AFTER] = xstrdup("after");
	return comparison_add(s, SIDE_BEFORE, "event:^before$", e) ||
			       comparison_add(s, SIDE_AFTER, "event:^after$", e)
		       ? -EINVAL
		       : 0;
}

/* Two counts in each line of folded stacks are two events. */
static bool has_two_counts(const struct profile *p)
{
	struct metric m;

	return metric_find(p, "before", "", &m, NULL) == 0 &&
	       metric_find(p, "after", "", &m, NULL) == 0;
}

/* The rules of names; whether each --map has anything to do is told. */
static int add_names(struct comparison *s, const struct options *o, const struct profile *p,
		     struct err *e)
{
	s->names.loose = o->loose_names;
	for (size_t i = 0; i < o->maps.n; i++) {
		if (name_rules_add(&s->names, o->maps.at[i], e))
			return -EINVAL;
		if (!comparison_have_name(s, p, s->names.renamed.at[i].from))
			message("--map %s changes nothing: no function, module or thread here is called \"%s\"",
				o->maps.at[i], s->names.renamed.at[i].from);
	}
	return 0;
}

int comparison_options(const struct options *o, const struct profile *p, struct comparison *s,
		       struct err *e)
{
	if (add_names(s, o, p, e))
		return -EINVAL;
	if (o->files.n > 1 && !(o->side_a && o->files.n > 2))
		return add_files(s, o, o->n_before ? o->n_before : 1, e);
	if (o->side_a)
		return add_filters(s, o->side_a, o->side_b, e);
	if (has_two_counts(p))
		return add_counts(s, e);
	return err_set(
		e, -EINVAL,
		"diff wants BEFORE and AFTER, or --a FILTER --b FILTER of one recording; in %s "
		"there is only one side",
		o->files.at[0]);
}

/* What was measured, unless something else is asked for. */
static void find_normalisation(const char *name, struct comparison_choice *c)
{
	c->normalise = NORMALISE_NONE;
	c->automatic = !name;
	if (!name)
		return;
	for (int i = 0; i < NORMALISE_EVENT; i++)
		if (strcmp(name, normalise_name((enum normalise)i)) == 0) {
			c->normalise = (enum normalise)i;
			return;
		}
	c->normalise = NORMALISE_EVENT;
	c->reference = name;
}

int comparison_options_lens(const struct lens_wish *w, const struct comparison *s,
			    const struct profile *p, const char *metric, struct lens *l,
			    struct err *e)
{
	struct comparison_choice choice = {
		.event = w->n_events ? w->events[0] : "",
		.metric = metric,
	};
	struct lens_wish rest = *w;
	int rc;

	if (w->n_events > 1)
		return err_set(e, -EINVAL, "a comparison is of one --event at a time");
	find_normalisation(w->normalise, &choice);
	rest.n_events = 0;
	rest.metric = "";
	rc = query_options_lens(&rest, p, l, e);
	if (rc)
		return rc;
	rc = comparison_lens(s, p, &choice, l, e);
	if (rc)
		lens_done(l);
	return rc;
}
