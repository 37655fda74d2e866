/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns of numbers come first and names last, so that long names need no cutting. On a terminal, and
 * where a width is asked for, names fold to it, as they do on screens; in a file they are whole.
 */
#include "config.h"

#include "cli/report/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options/query_options.h"
#include "cli/report/report.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"
#include "query/over_time.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/view.h"

/* Names are padded to the widest one, up to this; where width is unlimited, longer ones push the module aside. */
#define NAME_COLS_MAX   64
#define NAME_COLS_MIN   16
#define MODULE_COLS     24
#define MODULE_COLS_MIN 12
#define WIDE_COLS       80 /* below, modules have only the latter */
#define PERCENT_COLS    9
#define SAMPLES_COLS    13
#define INDENT_COLS     2
#define RATIO_COLS      10
#define INTERVAL_COLS   16 /* behind a ratio */
/* Deeper trees go on at this indentation. */
#define INDENT_MAX      60
#define FLAME_COLS      120
#define FLAME_ROWS_MAX  1000
#define NS_PER_S        1000000000

static void put_spaces(FILE *to, size_t n)
{
	fprintf(to, "%*s", (int)n, "");
}

/* Cleaned, padded to cols unless it is the last of its line. */
static void put_text(const struct report *r, FILE *to, const char *s, size_t cols, bool last)
{
	char *clean = text_clean(s, strlen(s), r->ascii);
	size_t width = text_width(clean, strlen(clean));

	fputs(clean, to);
	if (!last && width < cols)
		put_spaces(to, cols - width);
	free(clean);
}

static const char *row_label(const struct report *r, const struct report_row *row)
{
	return row->key == KEY_NONE ? "(no caller)" : report_keys(r, row)->key[row->key].label;
}

/* What stands behind the name: the module, or a thread's number. */
static const char *row_behind(const struct report *r, const struct report_row *row,
			      char buffer[FMT_SIZE])
{
	const struct groups *keys = report_keys(r, row);

	if (row->key == KEY_NONE)
		return "";
	if (*keys->key[row->key].module)
		return keys->key[row->key].module;
	return key_detail(keys, r->analysis->profile, row->key, buffer);
}

static bool is_tree(const struct report *r)
{
	return r->view == VIEW_KIND_TREE || r->view == VIEW_KIND_CALLERS;
}

/* Tables of functions, threads, …: where samples are counted beside the shares. */
static bool is_table(const struct report *r)
{
	return r->view == VIEW_KIND_TOP || r->view == VIEW_KIND_THREADS;
}

/* What is counted beside the shares. */
static const char *count_title(const struct report *r)
{
	const struct profile *p = r->analysis->profile;
	struct metric m = r->analysis->lens.column[0].metric;

	if (metric_is_heap(p, m))
		return "BLOCKS";
	return metric_is_summed(p, m) ? "STACKS" : "SAMPLES";
}

/* A sample has one thread, so that self and total are the same. */
static bool has_self(const struct report *r)
{
	return !is_table(r) || grouping_of_frames(r->keys->grouping);
}

/* A row's samples. */
static const char *samples_text(const struct report *r, size_t i, char out[FMT_SIZE])
{
	return fmt_weight(out, (int64_t)r->rows.at[i].n_samples, UNIT_COUNT,
			  r->analysis->weights.sample_scale);
}

static size_t samples_cols(const struct report *r)
{
	char text[FMT_SIZE];
	size_t cols = SAMPLES_COLS;

	for (size_t i = 0; i < r->rows.n; i++) {
		size_t n = strlen(samples_text(r, i, text)) + 2;

		cols = n > cols ? n : cols;
	}
	return cols;
}

/* How rows are laid out. */
struct layout {
	size_t samples; /* columns of the count of samples; 0: it is not shown */
	size_t ratio;   /* of each ratio; 0: none is shown */
	bool intervals; /* behind ratios */
	size_t numbers; /* of all that stands before a name */
	size_t name;    /* names are padded to these, and where width is limited folded to them */
	size_t behind;  /* at most so many for what stands behind a name; 0: as it is */
	bool brief;     /* there is no room for what stands behind names */
	size_t *indent; /* [n rows] columns between the numbers and the name; owned */
};

/*
 * How far to the right a row's name begins: frames that are all there is below another stay put. Where width is
 * limited, names keep half of what the numbers leave.
 */
static size_t *make_indents(const struct report *r, size_t numbers)
{
	size_t *indent = xcalloc(r->rows.n + 1, sizeof(*indent)), most = INDENT_MAX;

	if (r->width > 0 && ((size_t)r->width < numbers + 2 * most))
		most = (size_t)r->width > numbers ? ((size_t)r->width - numbers) / 2 : 0;

	for (size_t i = 0; i < r->rows.n; i++) {
		const struct report_row *row = &r->rows.at[i];

		if (row->parent == ROW_NONE)
			continue;
		indent[i] = indent[row->parent] + (row->only_child ? 0 : INDENT_COLS);
		if (indent[i] > most)
			indent[i] = most;
	}
	return indent;
}

static const char *row_prefix(const struct report *r, const struct report_row *row)
{
	if (!row->only_child)
		return "";
	return r->ascii ? "> " : "› ";
}

/* Columns of the widest of what stands behind names, up to a limit; 0: nothing does, as in folded stacks. */
static size_t behind_cols(const struct report *r, size_t limit)
{
	char buffer[FMT_SIZE];
	size_t widest = 0;

	for (size_t i = 0; i < r->rows.n && widest < limit; i++) {
		const char *behind = row_behind(r, &r->rows.at[i], buffer);
		size_t cols = text_width(behind, strlen(behind));

		widest = cols > widest ? cols : widest;
	}
	return widest < limit ? widest : limit;
}

/* The width that names are padded to; where width is limited also the most they may take. */
static size_t name_cols(const struct report *r, const struct layout *l)
{
	size_t widest = NAME_COLS_MIN, limit = NAME_COLS_MAX;
	size_t taken = l->numbers + (l->behind ? 2 + l->behind : 0);

	if (r->width > 0)
		limit = (size_t)r->width > taken + NAME_COLS_MIN ? (size_t)r->width - taken
								 : NAME_COLS_MIN;
	for (size_t i = 0; i < r->rows.n && widest < limit; i++) {
		const char *label = row_label(r, &r->rows.at[i]);
		size_t width = l->indent[i] + text_width(label, strlen(label)) + INDENT_COLS;

		if (width > widest)
			widest = width;
	}
	return widest < limit ? widest : limit;
}

/* Is there too little room for names? */
static bool is_too_wide(const struct report *r, const struct layout *l)
{
	size_t least = l->numbers + NAME_COLS_MIN + (l->behind ? 2 + l->behind : 0);

	return r->width > 0 && (size_t)r->width < least;
}

static void drop_intervals(const struct report *r, struct layout *l)
{
	l->intervals = false;
	l->ratio = RATIO_COLS;
	l->numbers -= (size_t)INTERVAL_COLS * report_n_ratios(r);
}

/*
 * What is missed least goes where width is limited: intervals of ratios, modules, counts of samples, ratios. The caller
 * frees l->indent.
 */
static void make_layout(const struct report *r, struct layout *l)
{
	size_t each = has_self(r) ? 2 * PERCENT_COLS : PERCENT_COLS;

	*l = (struct layout){ .samples = is_table(r) ? samples_cols(r) : 0 };
	l->intervals = report_n_ratios(r) > 0;
	l->ratio = l->intervals ? RATIO_COLS + INTERVAL_COLS : 0;
	l->numbers = r->n_columns * each + l->samples + report_n_ratios(r) * l->ratio + 2;
	if (r->width > 0)
		l->behind = behind_cols(r, r->width >= WIDE_COLS ? MODULE_COLS : MODULE_COLS_MIN);
	if (is_too_wide(r, l) && l->intervals)
		drop_intervals(r, l);
	if (is_too_wide(r, l)) {
		l->brief = true;
		l->behind = 0;
	}
	if (is_too_wide(r, l)) {
		l->numbers -= l->samples;
		l->samples = 0;
	}
	if (is_too_wide(r, l)) {
		l->numbers -= report_n_ratios(r) * l->ratio;
		l->ratio = 0;
	}
	l->indent = make_indents(r, l->numbers);
	l->name = name_cols(r, l);
}

static void put_name(const struct report *r, FILE *to, const struct layout *l, size_t i, bool last)
{
	const struct report_row *row = &r->rows.at[i];
	const char *prefix = row_prefix(r, row), *label = row_label(r, row);
	size_t used = l->indent[i] + (*prefix ? INDENT_COLS : 0);
	size_t left = l->name > used + 1 ? l->name - used : 1;
	char *name = text_fold_name(label, r->width > 0 ? left : 0, r->ascii);

	put_spaces(to, l->indent[i]);
	fputs(prefix, to);
	put_text(r, to, name, left, last);
	free(name);
}

static void put_percent(FILE *to, int64_t part, int64_t whole)
{
	char text[FMT_SIZE];

	fprintf(to, "%*s", PERCENT_COLS, fmt_percent(text, part, whole));
}

/* Ratios are of what stands first in all rows. */
static bool ratios_of_total(const struct report *r)
{
	return is_tree(r) || r->view == VIEW_KIND_BUTTERFLY;
}

/* "0.93 (0.85-1.02)", or nothing where there are too few samples. */
static void put_ratio(const struct report *r, FILE *to, const struct layout *l, size_t i,
		      uint32_t k)
{
	struct ratio_value v = { .value = 0 };
	char value[FMT_SIZE], low[FMT_SIZE], high[FMT_SIZE];
	int used = 0;

	if (!report_ratio(r, i, k, ratios_of_total(r), &v)) {
		put_spaces(to, l->ratio);
		return;
	}
	fprintf(to, "%*s", RATIO_COLS, fmt_ratio(value, v.value));
	if (!l->intervals)
		return;
	if (v.has_interval)
		used = fprintf(to, " (%s-%s)", fmt_ratio(low, v.low), fmt_ratio(high, v.high));
	if (used < INTERVAL_COLS)
		put_spaces(to, (size_t)(INTERVAL_COLS - (used > 0 ? used : 0)));
}

/* Names of ratios, above their numbers. */
static void put_ratio_titles(const struct report *r, FILE *to, const struct layout *l)
{
	for (uint32_t k = 0; l->ratio && k < report_n_ratios(r); k++) {
		const char *name = r->ratios->at[k].name;
		char *clean = text_clean(name, strlen(name), r->ascii);
		char *folded = text_fold_name(clean, RATIO_COLS - 1, r->ascii);
		size_t cols = text_width(folded, strlen(folded));

		put_spaces(to, cols < RATIO_COLS ? RATIO_COLS - cols : 0);
		fputs(folded, to);
		if (l->intervals)
			fprintf(to, "%-*s", INTERVAL_COLS, " (95 %)");
		free(folded);
		free(clean);
	}
}

/* What the ratios are, below the rows. */
static void put_ratio_legend(const struct report *r, FILE *to, const struct layout *l)
{
	const struct analysis *a = r->analysis;
	char number[FMT_SIZE];

	if (!l->ratio || !report_n_ratios(r))
		return;
	for (uint32_t k = 0; k < report_n_ratios(r); k++) {
		const struct ratio *ratio = &r->ratios->at[k];
		const struct lens_column *column = a->lens.column;
		char *text =
			xasprintf("%s = %s / %s%s%s", ratio->name,
				  metric_event_name(a->profile, column[ratio->numerator].metric),
				  metric_event_name(a->profile, column[ratio->denominator].metric),
				  ratio->factor != 1 ? " * " : "",
				  ratio->factor != 1 ? fmt_ratio(number, ratio->factor) : "");
		char *clean = text_clean(text, strlen(text), r->ascii);

		fprintf(to, "%s%s", k ? "; " : "# ", clean);
		free(clean);
		free(text);
	}
	fprintf(to, "\n# ratios are of %s; blank where samples are too few\n",
		ratios_of_total(r) ? "a row's total"
		: has_self(r)      ? "what ends in the row (SELF)"
				   : "the row's samples");
}

static void put_numbers(const struct report *r, FILE *to, const struct layout *l, size_t i)
{
	const struct report_row *row = &r->rows.at[i];
	const int64_t *whole = report_whole(r, row);
	bool total_first = is_tree(r);
	char text[FMT_SIZE];

	for (uint32_t c = 0; c < r->n_columns; c++) {
		int64_t self = report_self(r, i)[c], total = report_total(r, i)[c];

		if (row->role == ROLE_CALLER || row->role == ROLE_CALLEE)
			put_spaces(to, PERCENT_COLS);
		else if (has_self(r))
			put_percent(to, total_first ? total : self, whole[c]);
		put_percent(to, total_first ? self : total, whole[c]);
	}
	if (l->samples)
		fprintf(to, "%*s", (int)l->samples, samples_text(r, i, text));
	for (uint32_t k = 0; l->ratio && k < report_n_ratios(r); k++)
		put_ratio(r, to, l, i, k);
	fputs("  ", to);
}

static void put_column_names(const struct report *r, FILE *to)
{
	if (r->n_columns < 2)
		return;
	fputc('#', to);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		int cols = (has_self(r) ? 2 : 1) * PERCENT_COLS - (c == 0);
		char *name = metric_name(r->analysis->profile, r->analysis->lens.column[c].metric);
		char *clean = text_clean(name, strlen(name), r->ascii);

		fprintf(to, "%*.*s", cols, cols - 1, clean);
		free(clean);
		free(name);
	}
	fputc('\n', to);
}

/* Folded stacks know no modules. */
static bool has_modules(const struct report *r)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.at[i].key != KEY_NONE &&
		    *report_keys(r, &r->rows.at[i])->key[r->rows.at[i].key].module)
			return true;
	return false;
}

static void put_titles(const struct report *r, FILE *to, const struct layout *l, const char *names)
{
	bool total_first = is_tree(r);

	put_column_names(r, to);
	fputc('#', to);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		if (has_self(r))
			fprintf(to, "%*s", PERCENT_COLS - (c == 0),
				total_first ? "TOTAL %" : "SELF %");
		fprintf(to, "%*s", PERCENT_COLS - (c == 0 && !has_self(r)),
			total_first ? "SELF %" : "TOTAL %");
	}
	if (l->samples)
		fprintf(to, "%*s", (int)l->samples, count_title(r));
	put_ratio_titles(r, to, l);
	if (has_modules(r) && !l->brief)
		fprintf(to, "  %-*s  MODULE\n", (int)l->name, names);
	else
		fprintf(to, "  %s\n", names);
}

/* What stands behind a name, at most as wide as there is room for. */
static void put_behind(const struct report *r, FILE *to, const struct layout *l, const char *text)
{
	char *folded = text_fold_name(text, l->behind, r->ascii);

	fputs("  ", to);
	put_text(r, to, folded, 0, true);
	free(folded);
}

static void put_rows(const struct report *r, FILE *to, const struct layout *l,
		     enum report_role role)
{
	for (size_t i = 0; i < r->rows.n && !ferror(to); i++) {
		const struct report_row *row = &r->rows.at[i];
		char buffer[FMT_SIZE];
		const char *behind = row_behind(r, row, buffer);

		if (row->role != role)
			continue;
		put_numbers(r, to, l, i);
		put_name(r, to, l, i, l->brief || !*behind);
		if (*behind && !l->brief)
			put_behind(r, to, l, behind);
		fputc('\n', to);
	}
}

static void put_left_out(const struct report *r, FILE *to)
{
	char n[FMT_SIZE];

	if (r->n_left_out)
		fprintf(to, "# %s more row%s left out; -n 0 --min 0 shows all\n",
			fmt_count(n, (int64_t)r->n_left_out), r->n_left_out == 1 ? " is" : "s are");
}

/* Do the callers of some function add up to more than it? Recursive ones have samples of several. */
static bool callers_overlap(const struct report *r)
{
	int64_t *sum = xcalloc(r->rows.n + 1, sizeof(*sum));
	bool overlap = false;

	for (size_t i = 0; i < r->rows.n; i++) {
		uint32_t parent = r->rows.at[i].parent;

		if (parent == ROW_NONE)
			continue;
		/* A caller has no more than the function, so the sum stays small until it is too large. */
		sum[parent] += report_total(r, i)[0];
		overlap |= sum[parent] > report_total(r, parent)[0];
		if (overlap)
			break;
	}
	free(sum);
	return overlap;
}

void report_text(const struct report *r, FILE *to)
{
	struct layout l;

	make_layout(r, &l);
	switch (r->view) {
	case VIEW_KIND_BUTTERFLY:
		fputs("# callers and callees: shares of the function's own total; it: of everything\n",
		      to);
		put_titles(r, to, &l, "CALLERS");
		put_rows(r, to, &l, ROLE_CALLER);
		fputs("#\n", to);
		put_rows(r, to, &l, ROLE_CENTRE);
		fputs("#                   CALLEES\n", to);
		put_rows(r, to, &l, ROLE_CALLEE);
		break;
	case VIEW_KIND_CALLERS:
		put_titles(r, to, &l, "CALLERS");
		put_rows(r, to, &l, ROLE_ROW);
		if (callers_overlap(r))
			fputs("# callers of a recursive function add up to more than it: a sample "
			      "counts for each of them once\n",
			      to);
		break;
	case VIEW_KIND_TREE:
		put_titles(r, to, &l, "CALL TREE");
		put_rows(r, to, &l, ROLE_ROW);
		break;
	case VIEW_KIND_THREADS:
		put_titles(r, to, &l, "PROCESS, THREAD");
		put_rows(r, to, &l, ROLE_ROW);
		break;
	case VIEW_KIND_TOP:
	case VIEW_KIND_FLAME:
	case VIEW_KIND_TIMELINE:
	case VIEW_KIND_HEAT:
	case VIEW_KIND_MEMORY:
	case VIEW_KIND_ANNOTATE:
	case VIEW_KIND_INFO:
	case VIEW_KIND_FINDINGS:
CASES_OF_HEAP:
	case N_VIEW_KINDS:
		put_titles(r, to, &l, grouping_title(r->keys->grouping));
		put_rows(r, to, &l, ROLE_ROW);
		break;
	}
	put_left_out(r, to);
	put_ratio_legend(r, to, &l);
	free(l.indent);
}

void report_text_timeline(const struct report *r, FILE *to)
{
	const struct weights *w = &r->analysis->weights;
	enum unit unit = metric_unit(r->analysis->profile, r->analysis->lens.column[0].metric);
	char from[FMT_SIZE], end[FMT_SIZE], weight[FMT_SIZE], share[FMT_SIZE];

	fputs("#     FROM s         TO s      AMOUNT   TOTAL %\n", to);
	for (size_t i = 0; i < r->rows.n && !ferror(to); i++) {
		const struct report_row *row = &r->rows.at[i];
		int64_t total = report_total(r, i)[0];

		fprintf(to, "%12s %12s %11s %9s\n", fmt_exact(from, row->from_ns, NS_PER_S),
			fmt_exact(end, row->to_ns, NS_PER_S),
			fmt_weight(weight, total, unit, w->scale[0]),
			fmt_percent(share, total, w->total[0]));
	}
}

/* One row of cells for each level that has a frame wide enough to be seen. */
static int flame_rows(const struct report *r)
{
	uint32_t deepest = r->analysis->tree->max_depth + 1;

	return deepest < FLAME_ROWS_MAX ? (int)deepest : FLAME_ROWS_MAX;
}

/* What a view that was laid out shows. */
static void put_view(const struct report *r, FILE *to, const struct view_ops *ops,
		     const struct scene *scene, void *state, struct rect all)
{
	struct canvas canvas;
	char *text;

	canvas_init(&canvas, all.cols, all.rows, r->ascii);
	ops->draw(state, scene, &canvas, all);
	text = canvas_text(&canvas);
	fputs(text, to);
	free(text);
	canvas_done(&canvas);
}

void report_text_heat(const struct report *r, FILE *to)
{
	const struct view_ops *ops = views[VIEW_KIND_HEAT];
	const struct scene scene = { .analysis = r->analysis, .percent = true };
	/* its rows, with a line above and one below */
	struct rect all = { .rows = (int)report_heat_rows(r) + 2,
			    .cols = r->cols ? r->cols : FLAME_COLS };
	struct over_time_wish wish;
	struct over_time *made;
	void *state = ops->new ();

	ops->update(state, &scene);
	ops->layout(state, &scene, all);
	if (ops->wish(state, &wish)) {
		over_time_new(r->analysis, &wish, NULL, NULL, &made); /* nobody cancels it */
		analysis_set_over(r->analysis, made);
		ops->update(state, &scene);
	}
	put_view(r, to, ops, &scene, state, all);
	ops->free(state);
}

void report_text_flame(const struct report *r, FILE *to)
{
	const struct view_ops *ops = views[VIEW_KIND_FLAME];
	const struct scene scene = { .analysis = r->analysis, .percent = true };
	struct rect all = { .rows = flame_rows(r), .cols = r->cols ? r->cols : FLAME_COLS };
	void *state = ops->new ();

	ops->update(state, &scene);
	ops->layout(state, &scene, all);
	put_view(r, to, ops, &scene, state, all);
	ops->free(state);
}
