/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop diff: before and after. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "amounts.h"
#include "analysis.h"
#include "ask.h"
#include "cmd_report.h"
#include "diff_json.h"
#include "diff_rows.h"
#include "diff_text.h"
#include "err.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "sides.h"

#define DEFAULT_TABLE_ROWS   40
#define DEFAULT_TREE_PERCENT 0.5

/* What the command line wants to know, beside the sides. */
struct question {
	enum view_kind view;
	enum normalise normalise;
	const char *reference; /* the event of NORMALISE_EVENT; else NULL */
};

static void find_normalisation(const char *name, struct question *q)
{
	q->normalise = NORMALISE_NONE;
	if (!name)
		return;
	for (int i = 0; i < NORMALISE_EVENT; i++)
		if (strcmp(name, normalise_name((enum normalise)i)) == 0) {
			q->normalise = (enum normalise)i;
			return;
		}
	q->normalise = NORMALISE_EVENT;
	q->reference = name;
}

/* What is wrong with the words is said before anything is read. */
static int check_words(const struct options *o, struct question *q, struct err *e)
{
	bool a = o->side_a, b = o->side_b;

	if (report_find_view(o->view, &q->view, e))
		return -EINVAL;
	find_normalisation(o->normalise, q);
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
	if (o->n_before == 0 && o->files.n > 2)
		return err_set(
			e, -EINVAL,
			"%zu files are given: of several runs a side, -- stands between BEFORE "
			"and AFTER",
			o->files.n);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Files of one name in two directories are called by their paths. */
static char *name_files(const struct options *o, size_t from, size_t to, bool whole)
{
	const char *name = o->files.at[from];

	if (!whole)
		name = base_name(name);
	return to - from == 1 ? xstrdup(name) : xasprintf("%s + %zu more", name, to - from - 1);
}

static int add_files(struct sides *s, const struct options *o, size_t n_before, struct err *e)
{
	size_t from[N_SIDES] = { 0, n_before }, to[N_SIDES] = { n_before, o->files.n };
	bool whole = !strcmp(base_name(o->files.at[0]), base_name(o->files.at[n_before]));
	const char *more[N_SIDES] = { o->side_a, o->side_b };
	int rc = 0;

	for (int side = 0; side < N_SIDES; side++) {
		s->name[side] = name_files(o, from[side], to[side], whole);
		for (size_t i = from[side]; i < to[side] && !rc; i++) {
			char *filter = xasprintf("capture:%zu%s%s", i + 1, more[side] ? " " : "",
						 more[side] ? more[side] : "");

			rc = sides_add(s, (enum side)side, filter, e);
			free(filter);
		}
	}
	return rc;
}

static int add_filters(struct sides *s, const char *a, const char *b, struct err *e)
{
	s->name[SIDE_BEFORE] = xstrdup(a);
	s->name[SIDE_AFTER] = xstrdup(b);
	return sides_add(s, SIDE_BEFORE, a, e) || sides_add(s, SIDE_AFTER, b, e) ? -EINVAL : 0;
}

/* Two counts in each line of folded stacks are two events. */
static bool has_two_counts(const struct profile *p)
{
	struct metric m;

	return metric_find(p, "before", "", &m, NULL) == 0 &&
	       metric_find(p, "after", "", &m, NULL) == 0;
}

static int find_sides(struct sides *s, const struct options *o, const struct profile *p,
		      struct err *e)
{
	if (o->files.n > 1)
		return add_files(s, o, o->n_before ? o->n_before : 1, e);
	if (o->side_a)
		return add_filters(s, o->side_a, o->side_b, e);
	if (has_two_counts(p))
		return add_filters(s, "event:^before$", "event:^after$", e);
	return err_set(
		e, -EINVAL,
		"diff wants BEFORE and AFTER, or --a FILTER --b FILTER of one recording; in %s "
		"there is only one side",
		o->files.at[0]);
}

static void tell_same_file(const struct options *o)
{
	struct stat a, b;

	if (o->side_a || o->files.n != 2 || stat(o->files.at[0], &a) || stat(o->files.at[1], &b))
		return;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		say("%s and %s are the same file: it is compared with itself", o->files.at[0],
		    o->files.at[1]);
}

static int make_lens(const struct options *o, const struct question *q, const struct sides *s,
		     const struct profile *p, struct lens *l, struct err *e)
{
	struct sides_choice choice = {
		.event = o->events.n ? o->events.at[0] : "",
		.metric = o->metric,
		.reference = q->reference,
	};
	struct options rest = *o;
	int rc;

	if (o->events.n > 1)
		return err_set(e, -EINVAL, "diff compares one --event at a time");
	rest.events.n = 0;
	rest.metric = "";
	rc = ask_lens(&rest, p, l, e);
	if (rc)
		return rc;
	if (q->view != VIEW_KIND_TOP && !ask_group_of_frames(l->grouping))
		rc = err_set(e, -EINVAL, "--group takes function, module or file with this view");
	if (!rc)
		rc = sides_lens(s, p, &choice, l, e);
	if (rc)
		lens_done(l);
	return rc;
}

static int check_amounts(const struct question *q, const struct analysis *a, const struct sides *s,
			 struct err *e)
{
	static const char *const lacks[N_NORMALISATIONS] = {
		[NORMALISE_TOTAL] = "no weight",
		[NORMALISE_TIME] = "no times",
		[NORMALISE_SAMPLES] = "no samples",
		[NORMALISE_EVENT] = "nothing of that event",
	};

	for (uint32_t i = 0; i < a->lens.sides.n_runs[0] + a->lens.sides.n_runs[1]; i++)
		if (!(a->amounts.run[q->normalise][i] > 0))
			return err_set(e, -EINVAL, "--normalise %s does not work: %s has %s",
				       normalise_name(q->normalise),
				       s->name[i >= a->lens.sides.n_runs[0]], lacks[q->normalise]);
	return 0;
}

static int print(const struct options *o, const struct question *q, const struct sides *s,
		 struct analysis *a, const struct output *out, struct err *e)
{
	bool given = o->rows >= 0 || o->min_percent >= 0, table = q->view == VIEW_KIND_TOP;
	struct diff_rows r = { .view = q->view, .sides = s, .ascii = say_ascii(o->ascii) };
	int rc;

	r.diff = diff_new(a, q->normalise);
	r.max_rows = o->rows >= 0 ? o->rows : table && !given && !o->json ? DEFAULT_TABLE_ROWS : 0;
	r.min_percent = o->min_percent >= 0 ? o->min_percent
			: q->view == VIEW_KIND_TREE || q->view == VIEW_KIND_CALLERS
				? DEFAULT_TREE_PERCENT
				: 0;
	r.width = o->width >= 0 ? o->width : report_terminal_cols(out);
	rc = diff_rows_make(&r, o->function, e);
	if (!rc && o->json)
		diff_json(&r, out->to);
	else if (!rc)
		diff_text(&r, out->to);
	diff_rows_done(&r);
	diff_free(r.diff);
	return rc;
}

static int answer(const struct options *o, const struct question *q, const struct sides *s,
		  const struct profile *p, const struct output *out, struct err *e)
{
	struct analysis *a = NULL;
	struct lens lens;
	int rc = make_lens(o, q, s, p, &lens, e);

	if (rc)
		return rc;
	rc = analysis_new_parts(p, &lens, q->view == VIEW_KIND_TOP ? 0 : ANALYSIS_TREE, NULL, &a);
	lens_done(&lens);
	if (rc)
		return err_set(e, rc, "the answer could not be made: %s", strerror(-rc));
	rc = check_amounts(q, a, s, e);
	if (!rc)
		rc = print(o, q, s, a, out, e);
	analysis_free(a);
	return rc;
}

static enum status diff_loaded(const struct options *o, const struct question *q, struct load *l)
{
	struct sides sides = { 0 };
	struct err e = ERR_INIT;
	enum status status = STATUS_GOOD;
	struct output out;
	int rc;

	if (load_wait(l, &e))
		return say_error(&e, STATUS_UNUSABLE);
	rc = find_sides(&sides, o, load_profile(l), &e);
	if (!rc)
		rc = output_open(&out, o->output, &e);
	if (!rc) {
		tell_same_file(o);
		rc = answer(o, q, &sides, load_profile(l), &out, &e);
		if (output_close(&out, !rc, &e))
			rc = -EIO;
	}
	if (rc)
		status = say_error(&e, STATUS_USAGE);
	sides_done(&sides);
	return status;
}

static enum status diff(const struct options *o)
{
	struct question q = { 0 };
	struct err e = ERR_INIT;
	enum status status;
	struct load *l;

	if (check_words(o, &q, &e))
		return say_error(&e, STATUS_USAGE);
	l = load_start(o, &e);
	if (!l)
		return say_error(&e, STATUS_USAGE);
	status = diff_loaded(o, &q, l);
	load_free(l);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.synopsis =
		"[--report] [--json] [--normalise HOW] BEFORE AFTER | BEFORE… -- AFTER… | --a EXPR --b EXPR FILE",
	.summary = "Compares profiles: what changed, and which changes are more than noise.",
	.verb = ON_DIFF,
	.run = diff,
};
