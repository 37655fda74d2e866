/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop report: any view as text or JSON. */
#include "config.h"

#include "cli/cmd_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/text.h"
#include "cli/diff/history_dir.h"
#include "cli/load/load.h"
#include "cli/load/load_heaps.h"
#include "cli/load/load_suppressions.h"
#include "cli/options/comparison_options.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/output.h"
#include "cli/options/query_options.h"
#include "cli/report/report.h"
#include "cli/report/report_annotate.h"
#include "cli/report/report_findings.h"
#include "cli/report/report_heap.h"
#include "cli/report/report_info.h"
#include "cli/report/report_json.h"
#include "cli/report/report_memory.h"
#include "cli/report/report_notes.h"
#include "cli/report/report_text.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "profile/profile.h"
#include "query/heap/suppressions.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"
#include "query/diff/comparison.h"
#include "query/diff/run_history.h"

/* Columns of frames of stacks where output is no terminal: with arguments of templates they have thousands. */
#define STACK_WIDTH 100

/* What a person reads when they say nothing else; JSON gets every row of a table. */
#define DEFAULT_TABLE_ROWS   40
#define DEFAULT_TREE_PERCENT 0.5

int report_terminal_cols(const struct output *out)
{
	struct winsize size;

	if (!output_is_terminal(out))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The options as limits; trees are cut by share and tables by rows. */
static void set_limits(struct report *r, const struct options *o, const struct output *out)
{
	bool table = r->view == VIEW_KIND_TOP || r->view == VIEW_KIND_THREADS ||
		     r->view == VIEW_KIND_MEMORY;
	bool given = o->rows >= 0 || o->min_percent >= 0;

	r->max_rows = o->rows >= 0 ? o->rows : 0;
	if (o->rows == 0 || o->rows > UINT32_MAX)
		r->most_blocks = UINT32_MAX;
	else if (o->rows > 10000)
		r->most_blocks = (uint32_t)o->rows;
	r->min_percent = o->min_percent >= 0 ? o->min_percent : 0;
	if (table && !given && !o->json)
		r->max_rows = DEFAULT_TABLE_ROWS;
	if (!table && o->min_percent < 0)
		r->min_percent = DEFAULT_TREE_PERCENT;
	if (r->view == VIEW_KIND_BUTTERFLY && o->min_percent < 0)
		r->min_percent = 0;
	r->width = o->width >= 0 ? o->width : report_terminal_cols(out);
	r->stack_width = o->width >= 0 || r->width > 0 ? r->width : STACK_WIDTH;
	r->cols = o->cols ? o->cols : r->width;
}

/* Do transforms of the filter take all frames away, or ask for a path that no stack has? */
static bool is_left_nothing(const struct report *r)
{
	const struct analysis *a = r->analysis;

	if (!a->lens.filter)
		return false;
	return r->view == VIEW_KIND_TOP ? a->table.n_rows == 0 : a->tree && a->tree->n_nodes <= 1;
}

/* Events of which nothing is shown, so that nobody takes a part for the whole, nor weights of 0 for no samples. */
static void put_not_shown(const struct report *r, FILE *to)
{
	const struct weights *w = &r->analysis->weights;
	char *names = query_options_events_left_out(r->analysis, r->n_columns), *clean;

	if (w->n_samples > 0 && w->total[0] == 0 && w->whole[0] == 0 &&
	    !metric_is_heap(r->analysis->profile, r->analysis->lens.column[0].metric))
		fputs("# each of these samples weighs 0; --metric samples counts them\n", to);
	if (w->total[0] > 0 && is_left_nothing(r))
		fputs("# no frame is left by the filter\n", to);
	if (!names)
		return;
	clean = text_clean(names, strlen(names), r->ascii);
	fprintf(to, "# not shown: %s; --event NAME shows one\n", clean);
	free(clean);
	free(names);
}

/* Is it about all allocations, whatever the metric counts? */
static bool is_of_all(const struct report *r)
{
	return r->view == VIEW_KIND_MEMORY || r->heap;
}

/* ": 61,143 samples"; of a heap all allocations in its own view, else those that the metric counts. */
static void put_amount(const struct report *r, FILE *to)
{
	const struct analysis *a = r->analysis;
	bool heap = metric_is_heap(a->profile, a->lens.column[0].metric);
	int64_t count = (int64_t)a->weights.n_samples;
	int64_t scale = a->weights.sample_scale;
	char n[FMT_SIZE], stacks[FMT_COUNTED_SIZE];

	if (metric_is_summed(a->profile, a->lens.column[0].metric)) {
		fprintf(to, ": %s in %s",
			fmt_weight(n, a->weights.total[0],
				   metric_unit(a->profile, a->lens.column[0].metric),
				   a->weights.scale[0]),
			fmt_counted(stacks, count, "stack"));
		return;
	}
	if (heap && heap_manner_of(a->profile, &a->counts).lacks & HEAP_LACKS_CALLS) {
		fputs(": snapshots", to);
		return;
	}
	if (is_of_all(r)) {
		count = footprint_calls(a->footprint);
		scale = 1;
	}
	fmt_weight(n, count, UNIT_COUNT, scale);
	fprintf(to, ": %s%s %s%s%s", is_of_all(r) && report_is_estimated(r) ? "~" : "", n,
		!is_of_all(r) && report_is_estimated(r) ? "recorded " : "",
		heap ? "allocation" : "sample", strcmp(n, "1") == 0 ? "" : "s");
}

/* Of more files than these the first ones, and how many more there are. */
#define HEADING_FILES 4u

static void put_files(const struct report *r, const struct load_wish *files, FILE *to)
{
	size_t n = files->n_paths > HEADING_FILES ? HEADING_FILES - 1 : files->n_paths;
	char more[FMT_SIZE];

	for (size_t i = 0; i < n; i++) {
		/* What is recorded by us is not called by the pipe that it comes through. */
		const char *name = files->title ? files->title : files->paths[i];
		char *clean = text_clean(name, strlen(name), r->ascii);

		fprintf(to, "%s%s", i ? ", " : "# ", clean);
		free(clean);
	}
	if (n < files->n_paths)
		fprintf(to, " and %s more", fmt_count(more, (int64_t)(files->n_paths - n)));
}

/* "# x.data: 61,143 samples of cpu-clock, 36.0 s, 2 threads" and what narrows it. */
static void put_heading(const struct report *r, const struct report_wish *asked, FILE *to)
{
	struct metric m = r->analysis->lens.column[0].metric;
	const struct weights *w = &r->analysis->weights;
	char n[FMT_SIZE], ns[FMT_SIZE], share[FMT_SIZE], *name, *clean;
	unsigned losses = report_info_facts(r->analysis->profile, FACT_LOSS);

	put_files(r, asked->read, to);
	name = is_of_all(r) ? xstrdup(metric_event_name(r->analysis->profile, m))
			    : metric_name(r->analysis->profile, m);
	clean = text_clean(name, strlen(name), r->ascii);
	put_amount(r, to);
	if (strcmp(clean, "samples") != 0) /* what folded stacks count has no other name */
		fprintf(to, " of %s", clean);
	free(clean);
	free(name);
	if (w->begin_ns != TIME_NONE && w->end_ns > w->begin_ns)
		fprintf(to, ", %s", fmt_ns(ns, w->end_ns - w->begin_ns));
	/* They are those of the metric, of which the memory view shows all. */
	if (w->n_threads && !is_of_all(r))
		fprintf(to, ", %s thread%s", fmt_count(n, (int64_t)w->n_threads),
			w->n_threads == 1 ? "" : "s");
	fputc('\n', to);
	if (filter_n_terms(r->analysis->lens.filter)) {
		name = filter_text(r->analysis->lens.filter);
		clean = text_clean(name, strlen(name), r->ascii);
		fprintf(to, "# filter: %s (%s %% of all%s)\n", clean,
			fmt_percent(share, w->total[0], w->whole[0]),
			metric_share_of(r->analysis->profile, m));
		free(clean);
		free(name);
	}
	if (analysis_gave_up(r->analysis))
		fprintf(to,
			"# the filter took too long on some names, which count as not matching\n");
	if (report_is_estimated(r) && r->view != VIEW_KIND_MEMORY)
		fputs("# estimated: not every allocation was recorded, see proftop info\n", to);
	put_not_shown(r, to);
	if (losses)
		fprintf(to, "# something was lost or could not be read: see proftop info\n");
	fputs("#\n", to);
}

static void put_report(const struct report *r, const struct report_wish *asked, FILE *to)
{
	if (asked->o->json) {
		if (r->view == VIEW_KIND_MEMORY)
			report_memory_json(r, to);
		else
			report_json(r, to);
		return;
	}
	put_heading(r, asked, to);
	report_notes_text(r, to);
	if (r->view == VIEW_KIND_MEMORY)
		report_memory_text(r, to);
	else if (r->heap)
		report_heap_text(r, to);
	else if (r->view == VIEW_KIND_FINDINGS)
		report_findings_text(r, to);
	else if (r->view == VIEW_KIND_FLAME)
		report_text_flame(r, to);
	else if (r->view == VIEW_KIND_TIMELINE)
		report_text_timeline(r, to);
	else if (r->view == VIEW_KIND_HEAT)
		report_text_heat(r, to);
	else
		report_text(r, to);
}

/* Is there an order that can be chosen? Trees and what is over time have an order of their own. */
static bool is_sorted(enum view_kind view)
{
	return view == VIEW_KIND_TOP || view == VIEW_KIND_THREADS || view == VIEW_KIND_MEMORY;
}

/* Tables come by self if nothing is said. */
static int find_order(const struct options *o, enum table_order *out, struct err *e)
{
	return !o->sort || table_order_of(o->sort, out)
		       ? 0
		       : err_set(e, -EINVAL, "--sort takes self, total, name or module, not \"%s\"",
				 o->sort);
}

/* That of memory comes by the column of the metric if nothing is said. */
static int sort_memory(const struct options *o, enum view_kind view, const struct analysis *a,
		       struct err *e)
{
	enum footprint_column by = FOOTPRINT_PEAK;

	/* Nobody who asks for what was freed wants an answer by something else. */
	if (!footprint_has_column(a->lens.column[0].metric, &by) && *o->metric &&
	    view == VIEW_KIND_MEMORY)
		return err_set(
			e, -EINVAL,
			"the memory view has no column of %s, but of live, peak, bytes, calls, "
			"temporary and leaked; --view top has one",
			o->metric);
	if (o->sort && !report_memory_column(o->sort, &by))
		return err_set(
			e, -EINVAL,
			"--sort takes live, peak, bytes, calls, temporary or leaked in the memory view, not \"%s\"",
			o->sort);
	footprint_sort(a->footprint, by);
	return 0;
}

/* What a view shows beside the table. */
static unsigned parts_of(enum view_kind view)
{
	switch (view) {
	case VIEW_KIND_TOP:
	case VIEW_KIND_THREADS:
		return 0;
	case VIEW_KIND_MEMORY:
	case VIEW_KIND_FINDINGS:
CASES_OF_HEAP:
		return ANALYSIS_TREE | ANALYSIS_MEMORY;
	case VIEW_KIND_TREE:
	case VIEW_KIND_FLAME:
	case VIEW_KIND_CALLERS:
	case VIEW_KIND_BUTTERFLY:
	case VIEW_KIND_TIMELINE:
	case VIEW_KIND_HEAT:
	case VIEW_KIND_ANNOTATE:
	case VIEW_KIND_INFO:
	case N_VIEW_KINDS:
		break;
	}
	return ANALYSIS_TREE;
}

/* Are there samples and allocations? */
static bool has_both(const struct profile *p)
{
	struct lens lens;
	bool both;

	lens_init(&lens, p);
	both = lens.beside;
	lens_done(&lens);
	return both;
}

/* Do its rows have the sums of both events of a ratio? */
static bool has_ratios(enum view_kind view)
{
	return view == VIEW_KIND_TOP || view == VIEW_KIND_TREE || view == VIEW_KIND_CALLERS ||
	       view == VIEW_KIND_BUTTERFLY || view == VIEW_KIND_THREADS;
}

static int report_view(const struct report_wish *asked, const struct profile *p,
		       enum view_kind view, const struct output *out, struct err *e)
{
	const struct options *o = asked->o;
	struct report r = { .view = view, .ascii = message_ascii(o->ascii), .notes = o->notebook };
	struct lens_wish lens = asked->lens;
	struct suppressions *suppress = NULL;
	struct ratios ratios = { .n = 0 };
	int rc;

	if (view == VIEW_KIND_THREADS)
		lens.group = "thread";
	if ((view == VIEW_KIND_MEMORY || view_is_of_heap(view)) && lens.n_events == 0 &&
	    !*lens.metric && has_both(p))
		lens.metric = "peak";
	if (has_ratios(view))
		lens.made = &ratios;
	else if (lens.n_ratios > 0)
		return err_set(e, -EINVAL,
			       "--ratio has columns in top, tree, callers, butterfly and threads");
	rc = load_suppressions(o->suppressions, &suppress, e);
	lens.suppress = suppress;
	if (!rc)
		rc = query_options_analysis(&lens, p, parts_of(view), &r.analysis, e);
	if (rc) {
		suppressions_free(suppress);
		ratios_done(&ratios);
		return rc;
	}
	if (ratios.n > 0)
		r.ratios = &ratios;
	set_limits(&r, o, out);
	rc = r.analysis->footprint ? sort_memory(o, view, r.analysis, e)
				   : find_order(o, &r.order, e);
	if (!rc)
		rc = report_make_rows(&r, o->function, e);
	if (!rc)
		put_report(&r, asked, out->to);
	report_done(&r);
	suppressions_free(suppress);
	analysis_free(r.analysis);
	ratios_done(&ratios);
	return rc;
}

/* A function's lines and instructions. */
static int report_function(const struct report_wish *asked, const struct load *l,
			   const struct output *out, struct err *e)
{
	const struct options *o = asked->o;
	struct report r = { .view = VIEW_KIND_ANNOTATE,
			    .ascii = message_ascii(o->ascii),
			    .notes = o->notebook };
	struct annotation *a;
	int rc = query_options_analysis(&asked->lens, load_profile(l), ANALYSIS_TREE, &r.analysis,
					e);

	if (rc)
		return rc;
	set_limits(&r, o, out);
	r.min_percent = o->min_percent >= 0 ? o->min_percent : 0;
	rc = report_annotate_make(&r, load_annotate(l), o->function, &a, e);
	if (!rc && o->json) {
		report_annotate_json(&r, a, out->to);
	} else if (!rc) {
		put_heading(&r, asked, out->to);
		report_annotate_text(&r, a, out->to);
	}
	if (!rc)
		annotation_free(a);
	report_done(&r);
	analysis_free(r.analysis);
	return rc;
}

static int report_info(const struct options *o, const struct profile *p, FILE *to)
{
	if (o->json)
		report_info_json(p, to);
	else
		report_info_text(p, message_ascii(o->ascii), to);
	return 0;
}

/* Does the profile speak of a heap, and the user of nothing that its first view has no place for? */
static bool is_of_memory(const struct report_wish *w, const struct profile *p)
{
	const struct options *o = w->o;
	enum footprint_column by;
	struct metric named;
	struct lens lens;
	bool heap;

	if (w->view || w->lens.group || w->lens.metric[0] || o->min_percent >= 0 ||
	    (o->sort && !report_memory_column(o->sort, &by)))
		return false;
	lens_init(&lens, p);
	heap = metric_is_heap(p, lens.column[0].metric);
	lens_done(&lens);
	/* sums that a heap profile has beside it are in tables of their own */
	if (heap && w->lens.n_events > 0 &&
	    metric_find(p, w->lens.events[0], "", &named, NULL) == 0)
		heap = metric_is_heap(p, named);
	return heap;
}

/* A run of a file, as a comparison with itself has it. */
static int note_run(const struct report_wish *w, const struct profile *p,
		    const struct run_history *known, size_t capture, struct err *e)
{
	struct comparison sides = { .name = { xstrdup(w->o->files.at[capture]),
					      xstrdup(w->o->files.at[capture]) } };
	struct lens_wish wish = w->lens;
	struct analysis *a = NULL;
	struct lens lens;
	uint32_t n_added;
	char *filter = xasprintf("capture:%zu", capture + 1);
	int rc = 0;

	wish.group = NULL;
	for (int side = 0; side < N_SIDES && !rc; side++)
		rc = comparison_add(&sides, (enum side)side, filter, e);
	if (!rc)
		rc = comparison_options_lens(&wish, &sides, p, w->lens.metric, &lens, e);
	if (!rc) {
		analysis_new_parts(p, &lens, 0, NULL, &a); /* nobody cancels it */
		lens_done(&lens);
		rc = history_dir_add(w->o->history, known, a, &n_added, e);
	}
	analysis_free(a);
	comparison_done(&sides);
	free(filter);
	return rc;
}

static int note_runs(const struct report_wish *w, const struct profile *p, struct err *e)
{
	struct run_history known;
	int rc;

	if (!w->o->history)
		return 0;
	rc = history_dir_read(w->o->history, &known, e);
	for (size_t i = 0; i < w->o->files.n && !rc; i++)
		rc = note_run(w, p, &known, i, e);
	run_history_done(&known);
	return rc;
}

enum status report_loaded(const struct report_wish *w, struct load *l)
{
	struct err e = ERR_INIT;
	struct output out;
	enum view_kind view;
	int rc;

	view = VIEW_KIND_TOP;
	if (report_find_view(w->view, &view, &e))
		return message_error(&e, STATUS_USAGE);
	if (load_wait(l, &e))
		return message_error(&e, STATUS_UNUSABLE);
	if (output_open(&out, w->o->output, &e))
		return message_error(&e, STATUS_USAGE);
	if (is_of_memory(w, load_profile(l)))
		view = VIEW_KIND_MEMORY;
	rc = view == VIEW_KIND_ANNOTATE ? report_function(w, l, &out, &e)
	     : view == VIEW_KIND_INFO   ? report_info(w->o, load_profile(l), out.to)
					: report_view(w, load_profile(l), view, &out, &e);
	if (output_close(&out, !rc, &e) || rc || note_runs(w, load_profile(l), &e))
		return message_error(&e, STATUS_USAGE);
	return STATUS_GOOD;
}

/* What the view would leave out of account is refused before anything is read. */
static int check_asked(const struct options *o, enum view_kind *view, struct err *e)
{
	if (report_find_view(o->view, view, e))
		return -EINVAL;
	if (o->history && filter_n_terms(o->filter))
		return err_set(e, -EINVAL,
			       "--history notes whole runs: it does not go with a filter");
	if (o->function && *view != VIEW_KIND_ANNOTATE && *view != VIEW_KIND_BUTTERFLY &&
	    *view != VIEW_KIND_CALLERS)
		return err_set(
			e, -EINVAL,
			"--function goes with --view butterfly, callers or annotate; -f 'fn:%s' keeps "
			"the samples of a function in any",
			o->function);
	if (o->sort && !is_sorted(*view))
		return err_set(
			e, -EINVAL,
			"--sort goes with --view top, threads or memory: %s has an order of its own",
			o->view);
	return 0;
}

static enum status report(const struct options *o)
{
	struct load_wish read = load_of(o);
	struct report_wish w = {
		.o = o, .read = &read, .lens = load_heaps_lens(o), .view = o->view
	};
	struct err e = ERR_INIT;
	enum status status;
	enum view_kind view;
	struct load *l;

	if (check_asked(o, &view, &e))
		return message_error(&e, STATUS_USAGE); /* before anything is read */
	l = load_start(o, &read, &e);
	if (!l)
		return message_error(&e, STATUS_USAGE);
	status = report_loaded(&w, l);
	load_free(l);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.synopsis = "[--view NAME] [-n ROWS] [--json] FILE…",
	.summary = "Prints a view as text or JSON.",
	.verb = ON_REPORT,
	.run = report,
};
