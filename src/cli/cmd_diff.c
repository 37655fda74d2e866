/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop diff: before and after. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/text.h"
#include "cli/cmd_explore.h"
#include "cli/cmd_report.h"
#include "cli/diff/diff_json.h"
#include "cli/diff/diff_judge.h"
#include "cli/diff/diff_markdown.h"
#include "cli/diff/diff_rows.h"
#include "cli/diff/diff_text.h"
#include "cli/diff/history_dir.h"
#include "cli/load/load.h"
#include "cli/load/load_heaps.h"
#include "cli/options/comparison_options.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/query_options.h"
#include "cli/report/report_annotate.h"
#include "code/annotation.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "query/diff/module_pairs.h"
#include "query/diff/renumbered.h"
#include "query/diff/normalize.h"
#include "query/diff/run_history.h"
#include "tui/app/tui.h"

#define DEFAULT_TABLE_ROWS   40
#define DEFAULT_TREE_PERCENT 0.5

/* Is a report asked for? */
static bool wants_report(const struct options *o)
{
	return o->report || o->json || o->markdown || o->output;
}

/* What is wrong with the words is said before anything is read. */
static int check_words(const struct options *o, enum view_kind *view, struct err *e)
{
	if (report_find_view(o->view, view, e))
		return -EINVAL;
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
	return comparison_options_check(o, e);
}

static void tell_same_file(const struct options *o)
{
	struct stat a, b;

	if (o->side_a || o->files.n != 2 || stat(o->files.at[0], &a) || stat(o->files.at[1], &b))
		return;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		message("%s and %s are the same file: it is compared with itself", o->files.at[0],
			o->files.at[1]);
}

/* Parts of one recording may lie over each other. */
static void tell_common(const struct options *o, const struct comparison *s,
			const struct profile *p)
{
	char *overlap = o->side_a && o->files.n == 1 ? comparison_overlap(s, p, NULL) : NULL;

	if (overlap)
		message("%s", overlap);
	free(overlap);
}

/* A comparison by one metric. */
struct compared {
	const char *metric;        /* "" the one that was asked for; borrowed */
	struct analysis *analysis; /* owned */
};

/* Everything that a comparison is made of; borrowed but for what was made. */
struct session {
	const struct options *o;
	enum view_kind view;
	const struct profile *profile;
	const struct annotate_options *code; /* where code and sources are looked for */
	struct comparison sides;             /* owned, as are the following */
	struct judgement judgement;          /* of --fail-if */
	struct run_history history;          /* of --history */
	VEC(struct compared *) made;
};

static int make_lens(const struct session *s, const char *metric, struct lens *l, struct err *e)
{
	const struct lens_wish w = load_heaps_lens(s->o);
	int rc = comparison_options_lens(&w, &s->sides, s->profile, metric, l, e);

	if (!rc && (l->heap_rows == HEAP_ROWS_STACKS || l->heap_rows == HEAP_ROWS_SIZES)) {
		lens_done(l);
		return err_set(e, -EINVAL, "--group stack and size are for the tables of one heap");
	}
	if (rc || s->view == VIEW_KIND_TOP || grouping_of_frames(l->grouping))
		return rc;
	lens_done(l);
	return err_set(e, -EINVAL, "--group takes function, module or file with this view");
}

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
	enum normalise n = a->lens.sides.normalise;

	if (n == NORMALISE_TYPICAL && !a->amounts.typical.known)
		return err_set(
			e, -EINVAL,
			"--normalise typical does not work: too few functions have enough samples "
			"on both sides, or they did not change alike");
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

/* By a metric, or by that which was asked for: NULL with a sentence. The caller frees. */
static struct analysis *analyse(const struct session *s, const char *metric, unsigned parts,
				struct err *e)
{
	struct analysis *a;
	struct lens lens;

	if (make_lens(s, *metric ? metric : s->o->metric, &lens, e))
		return NULL;
	analysis_new_parts(s->profile, &lens, parts, NULL, &a); /* nobody cancels it */
	lens_done(&lens);
	return a;
}

/* The comparison by a metric, made when it is first asked for. NULL with a sentence. */
static struct diff *compare(void *arg, const char *metric, struct err *e)
{
	struct session *s = arg;
	struct compared *c;
	struct analysis *a;

	for (size_t i = 0; i < s->made.n; i++)
		if (!strcmp(s->made.at[i]->metric, metric))
			return s->made.at[i]->analysis->diff;
	a = analyse(s, metric, *metric ? 0 : ANALYSIS_TREE, e);
	if (!a)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	*c = (struct compared){ metric, a };
	if (check_amounts(s, c->analysis, e)) {
		compared_free(c);
		return NULL;
	}
	vec_push(&s->made, c);
	return c->analysis->diff;
}

static void forget_made(struct session *s)
{
	for (size_t i = 0; i < s->made.n; i++)
		compared_free(s->made.at[i]);
	s->made.n = 0;
}

/* Samples of all functions, whatever metric is asked for: what the sides are, not what is compared. NULL: it cannot be made. */
static struct analysis *table_of_all(const struct session *s, unsigned parts)
{
	struct lens_wish all = load_heaps_lens(s->o);
	struct analysis *a = NULL;
	struct lens lens;

	all.n_events = 0;
	all.normalise = NULL;
	if (comparison_options_lens(&all, &s->sides, s->profile, "", &lens, NULL))
		return NULL;
	lens.grouping = GROUP_FUNCTION;
	for (uint32_t i = 0; i < lens.n_columns; i++)
		lens.column[i].metric.measure = MEASURE_SAMPLES;
	analysis_new_parts(s->profile, &lens, parts, NULL, &a); /* nobody cancels it */
	lens_done(&lens);
	return a;
}

/* Finds functions whose numbers changed, where d has any. */
static size_t pair_functions(struct session *s, const struct diff *d)
{
	struct name_rules *names = &s->sides.names;
	struct analysis *apart;
	size_t n = 0;

	if (names->loose || !renumbered_may(d, names))
		return 0;
	names->apart = true;
	apart = table_of_all(s, ANALYSIS_TREE);
	names->apart = false;
	if (apart)
		n = renumbered_find(apart->diff, names);
	analysis_free(apart);
	return n;
}

/* Finds programs, and functions, of two names that are the same, in d if it is given and of functions. Returns whether there are any. */
static bool pair_programs(struct session *s, const struct diff *d)
{
	struct analysis *all = NULL;
	size_t n;

	if (s->o->no_pairs)
		return false;
	if (!d || d->analysis->lens.grouping != GROUP_FUNCTION)
		all = table_of_all(s, 0);
	if (all)
		d = all->diff;
	n = d ? module_pairs_find(d, &s->sides.names) : 0;
	if (d)
		n += pair_functions(s, d);
	analysis_free(all);
	return n > 0;
}

/* Of a metric that few places have, such as leaks, the share says nothing: then it is that of all samples. */
static double find_overlap(const struct session *s, const struct diff *d)
{
	double share = d->overlap;
	struct analysis *all;

	if (share >= LITTLE_OVERLAP)
		return share;
	all = table_of_all(s, 0);
	if (all && all->diff->overlap > share)
		share = all->diff->overlap;
	analysis_free(all);
	return share;
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

static void put_code_text(const struct session *s, struct report *r, const struct annotation *a,
			  FILE *to)
{
	char *names[N_SIDES];

	for (int i = 0; i < N_SIDES; i++)
		names[i] = text_clean(s->sides.name[i], strlen(s->sides.name[i]), r->ascii);
	fprintf(to, "# before: %s, after: %s\n", names[SIDE_BEFORE], names[SIDE_AFTER]);
	report_annotate_text(r, a, to);
	free(names[SIDE_BEFORE]);
	free(names[SIDE_AFTER]);
}

/* A function's lines and instructions, with both sides' shares. */
static int print_code(const struct session *s, const struct diff_rows *rows,
		      const struct output *out, struct err *e)
{
	const struct options *o = s->o;
	struct report r = { .analysis = rows->diff->analysis,
			    .view = VIEW_KIND_ANNOTATE,
			    .ascii = rows->ascii,
			    .max_rows = rows->max_rows,
			    .min_percent = rows->min_percent,
			    .width = rows->width,
			    .notes = o->notebook };
	struct annotation *a;
	int rc;

	if (o->markdown)
		return err_set(e, -EINVAL,
			       "a difference's annotate is text or --json: --markdown has none");
	rc = report_annotate_make(&r, s->code, o->function, &a, e);
	if (rc)
		return rc;
	if (o->json)
		diff_json_code(rows, &s->judgement, &r, a, out->to);
	else
		put_code_text(s, &r, a, out->to);
	annotation_free(a);
	report_done(&r);
	return 0;
}

static int print(struct session *s, struct diff *d, const struct output *out, struct err *e)
{
	const struct options *o = s->o;
	bool given = o->rows >= 0 || o->min_percent >= 0, table = s->view == VIEW_KIND_TOP;
	struct diff_rows r = {
		.view = s->view, .sides = &s->sides, .diff = d, .notes = o->notebook
	};
	int rc;

	r.overlap = find_overlap(s, d);
	r.ascii = message_ascii(o->ascii);
	r.max_rows = o->rows >= 0 ? o->rows : table && !given && !o->json ? DEFAULT_TABLE_ROWS : 0;
	r.min_percent = o->min_percent >= 0 ? o->min_percent
			: s->view == VIEW_KIND_TREE || s->view == VIEW_KIND_CALLERS
				? DEFAULT_TREE_PERCENT
				: 0;
	r.width = o->width >= 0 ? o->width : report_terminal_cols(out);
	if (s->view == VIEW_KIND_ANNOTATE)
		return print_code(s, &r, out, e);
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

/* Notes the runs where they are whole ones, each function by itself; else a sentence says that they are not. */
static int note_runs(const struct session *s, const struct analysis *a, struct err *e)
{
	uint32_t n;

	if (!s->o->history || s->o->side_a)
		return 0;
	if (!filter_n_terms(s->o->filter) && a->lens.grouping == GROUP_FUNCTION)
		return history_dir_add(s->o->history, &s->history, a, &n, e);
	message("the runs are not added to %s: a filter or a grouping is given", s->o->history);
	return 0;
}

/* Of two recordings no thread is the same, as their numbers say; their names are. */
static void tell_numbers(const struct session *s, enum grouping g)
{
	if ((g == GROUP_THREAD || g == GROUP_PROCESS) && !s->o->side_a && s->o->files.n > 1)
		message("threads and processes of two recordings are told apart by their numbers: --group comm and --view threads compare those of equal names");
}

static int answer(struct session *s, struct err *e)
{
	struct diff *d;
	int rc;

	d = compare(s, "", e);
	if (d && pair_programs(s, d)) {
		forget_made(s);
		d = compare(s, "", e);
	}
	if (!d)
		return -EINVAL;
	tell_numbers(s, d->analysis->lens.grouping);
	rc = judgement_make(&s->judgement, d, s->o->any, compare, s, e);
	if (!rc)
		rc = write_report(s, d, e);
	if (!rc)
		rc = write_junit(s, e);
	return rc ? rc : note_runs(s, d->analysis, e);
}

static void session_done(struct session *s)
{
	forget_made(s);
	vec_done(&s->made);
	judgement_done(&s->judgement);
	comparison_done(&s->sides);
	run_history_done(&s->history);
}

/* "before.data → after.data", and which programs are taken for the same; the caller frees. */
static char *make_title(const struct comparison *s)
{
	char *title = xasprintf("%s → %s", s->name[SIDE_BEFORE], s->name[SIDE_AFTER]);

	for (size_t i = 0; i < s->names.paired.n; i++) {
		const struct renaming *pair = &s->names.paired.at[i];
		char *longer;

		/* That another process is another one needs no word. */
		if (module_pairs_is_generated(pair->to))
			continue;
		longer = xasprintf("%s (%s = %s)", title, pair->from, pair->to);
		free(title);
		title = longer;
	}
	return title;
}

/* The same after screens, whatever was looked at in these. */
static int note_runs_of_screens(const struct session *s, struct err *e)
{
	struct analysis *a = NULL;
	int rc;

	if (!s->o->history)
		return 0;
	a = analyse(s, "", 0, e);
	rc = a ? note_runs(s, a, e) : -EINVAL;
	analysis_free(a);
	return rc;
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

	pair_programs(s, NULL);
	if (explore_options(s->o, &t, &e) || make_lens(s, s->o->metric, &lens, &e))
		return message_error(&e, STATUS_USAGE);
	title = make_title(&s->sides);
	load_source(l, &source);
	source.title = title;
	t.lens = &lens;
	t.sides = &s->sides;
	if (s->o->keys || s->o->cols)
		status = explore_screen(s->o, &source, &t);
	else if (tui_run(&source, &t, &e))
		status = message_error(&e, STATUS_UNUSABLE);
	free(title);
	lens_done(&lens);
	if (status == STATUS_GOOD && note_runs_of_screens(s, &e))
		status = message_error(&e, STATUS_USAGE);
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
	message("%s; this is the report instead", err_text(&e));
	err_clear(&e);
	return false;
}

static enum status diff_loaded(struct session *s, struct load *l)
{
	struct err e = ERR_INIT;

	if (load_wait(l, &e))
		return message_error(&e, STATUS_UNUSABLE);
	s->profile = load_profile(l);
	s->code = load_annotate(l);
	if (comparison_options(s->o, s->profile, &s->sides, &e))
		return message_error(&e, STATUS_USAGE);
	comparison_count(&s->sides, s->profile, NULL);
	if (s->o->history && history_dir_read(s->o->history, &s->history, &e))
		return message_error(&e, STATUS_USAGE);
	s->sides.history = s->o->history ? &s->history : NULL;
	tell_same_file(s->o);
	tell_common(s->o, &s->sides, s->profile);
	if (wants_screens(s->o))
		return show(s, l);
	if (answer(s, &e))
		return message_error(&e, STATUS_USAGE);
	judgement_say(&s->judgement);
	return s->judgement.failed ? STATUS_NO : STATUS_GOOD;
}

static enum status diff_files(struct session *s)
{
	struct load_wish read = load_of(s->o);
	struct err e = ERR_INIT;
	enum status status;
	struct load *l;

	if (judgement_parse(&s->judgement, s->o, &e))
		return message_error(&e, STATUS_USAGE);
	l = load_start(s->o, &read, &e);
	if (!l)
		return message_error(&e, STATUS_USAGE);
	status = diff_loaded(s, l);
	/* What was made of the profile goes before it. */
	session_done(s);
	*s = (struct session){ 0 };
	load_free(l);
	return status;
}

static enum status diff(const struct options *o)
{
	struct session s = { .o = o };
	struct err e = ERR_INIT;
	enum status status;

	if (check_words(o, &s.view, &e))
		return message_error(&e, STATUS_USAGE);
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
