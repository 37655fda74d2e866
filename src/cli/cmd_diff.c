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
#include "cmd_explore.h"
#include "cmd_report.h"
#include "diff_json.h"
#include "diff_judge.h"
#include "diff_markdown.h"
#include "diff_rows.h"
#include "diff_text.h"
#include "err.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "sides.h"
#include "tui.h"

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

/* Is a report asked for? */
static bool wants_report(const struct options *o)
{
	return o->report || o->json || o->markdown || o->output;
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
	if (o->junit && !o->fail_if.n)
		return err_set(e, -EINVAL,
			       "--junit tells what became of --fail-if, which is not given");
	if (o->json && o->markdown)
		return err_set(e, -EINVAL, "a report is either --json or --markdown");
	if (o->junit && !strcmp(o->junit, "-") && wants_report(o) && !o->output)
		return err_set(
			e, -EINVAL,
			"--junit - and the report would mix on standard output; -o FILE writes "
			"the report elsewhere");
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
		     const struct profile *p, const char *metric, struct lens *l, struct err *e)
{
	struct sides_choice choice = {
		.event = o->events.n ? o->events.at[0] : "",
		.metric = metric,
		.reference = q->reference,
		.normalise = q->normalise,
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

/* A comparison by one metric. */
struct compared {
	const char *metric;        /* "" the one that was asked for; borrowed */
	struct analysis *analysis; /* owned */
};

/* Everything that a comparison is made of; borrowed but for what was made. */
struct session {
	const struct options *o;
	const struct question *q;
	const struct profile *profile;
	struct sides sides;         /* owned, as are the following */
	struct judgement judgement; /* of --fail-if */
	VEC(struct compared *) made;
};

static int check_amounts(const struct session *s, const struct analysis *a, struct err *e)
{
	static const char *const lacks[N_NORMALISATIONS] = {
		[NORMALISE_NONE] = "nothing",
		[NORMALISE_TOTAL] = "no weight",
		[NORMALISE_TIME] = "no times",
		[NORMALISE_SAMPLES] = "no samples",
		[NORMALISE_EVENT] = "nothing of that event",
	};
	const uint32_t *n_runs = a->lens.sides.n_runs;
	enum normalise n = s->q->normalise;

	for (uint32_t i = 0; i < n_runs[SIDE_BEFORE] + n_runs[SIDE_AFTER]; i++)
		if (!(a->amounts.run[n][i] > 0))
			return err_set(e, -EINVAL, "--normalise %s does not work: %s has %s",
				       normalise_name(n), s->sides.name[i >= n_runs[SIDE_BEFORE]],
				       lacks[n]);
	return 0;
}

static void compared_free(struct compared *c)
{
	analysis_free(c->analysis);
	free(c);
}

/* The comparison by a metric, made when it is first asked for. NULL with a sentence. */
static struct diff *compare(void *arg, const char *metric, struct err *e)
{
	struct session *s = arg;
	unsigned parts = s->q->view == VIEW_KIND_TOP || *metric ? 0 : ANALYSIS_TREE;
	struct compared *c;
	struct lens lens;

	for (size_t i = 0; i < s->made.n; i++)
		if (!strcmp(s->made.at[i]->metric, metric))
			return s->made.at[i]->analysis->diff;
	if (make_lens(s->o, s->q, &s->sides, s->profile, *metric ? metric : s->o->metric, &lens, e))
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->metric = metric;
	analysis_new_parts(s->profile, &lens, parts, NULL, &c->analysis); /* nobody cancels it */
	lens_done(&lens);
	if (check_amounts(s, c->analysis, e)) {
		compared_free(c);
		return NULL;
	}
	vec_push(&s->made, c);
	return c->analysis->diff;
}

static void put_rows(const struct session *s, const struct diff_rows *r, FILE *to)
{
	if (s->o->json)
		diff_json(r, &s->judgement, to);
	else if (s->o->markdown)
		diff_markdown(r, &s->judgement, to);
	else
		diff_text(r, to);
}

static int print(struct session *s, struct diff *d, const struct output *out, struct err *e)
{
	const struct options *o = s->o;
	bool given = o->rows >= 0 || o->min_percent >= 0, table = s->q->view == VIEW_KIND_TOP;
	struct diff_rows r = { .view = s->q->view, .sides = &s->sides, .diff = d };
	int rc;

	r.ascii = say_ascii(o->ascii);
	r.max_rows = o->rows >= 0 ? o->rows : table && !given && !o->json ? DEFAULT_TABLE_ROWS : 0;
	r.min_percent = o->min_percent >= 0 ? o->min_percent
			: s->q->view == VIEW_KIND_TREE || s->q->view == VIEW_KIND_CALLERS
				? DEFAULT_TREE_PERCENT
				: 0;
	r.width = o->width >= 0 ? o->width : report_terminal_cols(out);
	rc = diff_rows_make(&r, o->function, e);
	if (!rc)
		put_rows(s, &r, out->to);
	diff_rows_done(&r);
	return rc;
}

static int write_report(struct session *s, struct diff *d, struct err *e)
{
	struct output out;
	int rc;

	if (!wants_report(s->o) && s->o->fail_if.n)
		return 0;
	rc = output_open(&out, s->o->output, e);
	if (rc)
		return rc;
	rc = print(s, d, &out, e);
	return output_close(&out, !rc, e) ? -EIO : rc;
}

static int write_junit(struct session *s, struct err *e)
{
	struct output out;
	int rc = s->o->junit ? output_open(&out, s->o->junit, e) : 1;

	if (rc)
		return rc < 0 ? rc : 0;
	judgement_junit(&s->judgement, s->sides.name[SIDE_BEFORE], s->sides.name[SIDE_AFTER],
			out.to);
	return output_close(&out, true, e);
}

static int answer(struct session *s, struct err *e)
{
	struct diff *d;
	int rc;

	d = compare(s, "", e);
	if (!d)
		return -EINVAL;
	rc = judgement_make(&s->judgement, d, s->o->any, compare, s, e);
	if (!rc)
		rc = write_report(s, d, e);
	return rc ? rc : write_junit(s, e);
}

static void session_done(struct session *s)
{
	for (size_t i = 0; i < s->made.n; i++)
		compared_free(s->made.at[i]);
	vec_done(&s->made);
	judgement_done(&s->judgement);
	sides_done(&s->sides);
}

/* Opens the screens, or prints one. */
static enum status show(struct session *s, struct load *l)
{
	struct tui_source source;
	struct tui_options t;
	struct err e = ERR_INIT;
	enum status status = STATUS_GOOD;
	struct lens lens;
	char *title;

	if (explore_options(s->o, &t, &e) ||
	    make_lens(s->o, s->q, &s->sides, s->profile, s->o->metric, &lens, &e))
		return say_error(&e, STATUS_USAGE);
	title = xasprintf("%s → %s", s->sides.name[SIDE_BEFORE], s->sides.name[SIDE_AFTER]);
	load_source(l, &source);
	source.title = title;
	t.lens = &lens;
	t.sides = &s->sides;
	if (s->o->keys || s->o->cols)
		status = explore_screen(s->o, &source, &t);
	else if (tui_run(&source, &t, &e))
		status = say_error(&e, STATUS_UNUSABLE);
	free(title);
	lens_done(&lens);
	return status;
}

/* Are the screens wanted, and can they be had? If they cannot, a sentence says why. */
static bool wants_screens(const struct options *o)
{
	struct err e = ERR_INIT;

	if (wants_report(o) || o->fail_if.n)
		return false;
	if (o->keys || o->cols || !tui_possible(&e))
		return true;
	say("%s; this is the report instead", err_text(&e));
	err_clear(&e);
	return false;
}

static enum status diff_loaded(struct session *s, struct load *l)
{
	struct err e = ERR_INIT;

	if (load_wait(l, &e))
		return say_error(&e, STATUS_UNUSABLE);
	s->profile = load_profile(l);
	if (find_sides(&s->sides, s->o, s->profile, &e))
		return say_error(&e, STATUS_USAGE);
	tell_same_file(s->o);
	if (wants_screens(s->o))
		return show(s, l);
	if (answer(s, &e))
		return say_error(&e, STATUS_USAGE);
	judgement_say(&s->judgement);
	return s->judgement.failed ? STATUS_NO : STATUS_GOOD;
}

static enum status diff_files(struct session *s)
{
	struct err e = ERR_INIT;
	enum status status;
	struct load *l;

	if (judgement_parse(&s->judgement, s->o, &e))
		return say_error(&e, STATUS_USAGE);
	l = load_start(s->o, &e);
	if (!l)
		return say_error(&e, STATUS_USAGE);
	status = diff_loaded(s, l);
	/* What was made of the profile goes before it. */
	session_done(s);
	*s = (struct session){ 0 };
	load_free(l);
	return status;
}

static enum status diff(const struct options *o)
{
	struct question q = { 0 };
	struct session s = { .o = o, .q = &q };
	struct err e = ERR_INIT;
	enum status status;

	if (check_words(o, &q, &e))
		return say_error(&e, STATUS_USAGE);
	status = diff_files(&s);
	session_done(&s);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.synopsis =
		"[--report] [--normalise HOW] [--fail-if CONDITION] BEFORE AFTER | BEFORE… -- AFTER… | --a EXPR --b EXPR FILE",
	.summary = "Compares profiles: what changed, and which changes are more than noise.",
	.verb = ON_DIFF,
	.run = diff,
};
