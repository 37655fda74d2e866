/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers come first and names last, so that long names need no cutting, as in report_text. */
#include "config.h"

#include "cli/diff/diff_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"
#include "cli/diff/diff_rows.h"
#include "cli/options/query_options.h"
#include "cli/report/report_info.h"
#include "cli/report/report_notes.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/diff_doubt.h"
#include "query/diff/diff_moves.h"
#include "query/diff/explain.h"
#include "query/diff/module_pairs.h"

#define NAME_COLS_MAX 64
#define NAME_COLS_MIN 16
/* So many more for both names of a function that was renamed, until they differ. */
#define MORE_COLS     16
#define MODULE_COLS   24
#define INDENT_COLS   2
#define MOST_REASONS  5
/* Pairs of functions that were renamed, as a report lists them. */
#define MOVED_MOST    5
#define INDENT_MAX    60
/* Totals that differ by more than this should perhaps be made equal. */
#define VERY_UNEQUAL  1.5

enum number {
	NUMBER_DELTA,
	NUMBER_PERCENT,
	NUMBER_HALF,
	NUMBER_BEFORE,
	NUMBER_AFTER,
	NUMBER_OTHER
};
#define N_NUMBERS 6

/* How rows are laid out. */
struct layout {
	int cols[N_NUMBERS]; /* of each number, two blanks in front included */
	size_t numbers;      /* of all that stands before a name */
	size_t name;    /* names are padded to so many, and folded to them where width is limited */
	size_t behind;  /* at most so many for modules; 0: as they are */
	size_t *indent; /* [n rows]; owned */
	bool modules;   /* some row has one */
};

static bool by_self(const struct diff_rows *r)
{
	return r->view == VIEW_KIND_TOP || r->view == VIEW_KIND_CALLERS;
}

static const char *const marks[] = {
	[VERDICT_NOISE] = "noise", [VERDICT_OWN] = "run?", [VERDICT_BEYOND] = ""
};

/* The other change with a mark of its own, a letter. */
static void put_other(const struct diff_rows *r, const struct diff_row *row, char out[FMT_SIZE])
{
	static const char *const short_marks[] = {
		[VERDICT_NOISE] = "~", [VERDICT_OWN] = "?", [VERDICT_BEYOND] = " "
	};
	const struct noise_delta *d = by_self(r) ? &row->total : &row->self;
	enum change_verdict v = by_self(r) ? row->total_verdict : row->self_verdict;
	char change[FMT_SIZE];

	snprintf(out, FMT_SIZE, "%s%s", fmt_change(change, diff_change(d), r->diff->unit),
		 diff_change(d) == 0 ? " " : short_marks[v]);
}

static const char *number_text(const struct diff_rows *r, const struct diff_row *row, int which,
			       char out[FMT_SIZE])
{
	const struct noise_delta *d = diff_rows_ruling(r, row);
	enum unit unit = r->diff->unit;

	out[0] = '\0';
	switch ((enum number)which) {
	case NUMBER_DELTA:
		return fmt_change(out, diff_change(d), unit);
	case NUMBER_PERCENT:
		return diff_rows_relative(out, r, row);
	case NUMBER_HALF:
		if (d->half > 0)
			fmt_amount(out, d->half, unit);
		return out;
	case NUMBER_BEFORE:
		return fmt_amount(out, d->before, unit);
	case NUMBER_AFTER:
		return fmt_amount(out, d->after, unit);
	case NUMBER_OTHER:
		if (by_self(r) || row->has_self)
			put_other(r, row, out);
		return out;
	}
	return out;
}

static const char *title(const struct diff_rows *r, int which)
{
	static const char *const self_first[] = { "CHANGE",      "%",          "+- 95 %",
						  "SELF BEFORE", "SELF AFTER", "TOTAL CHANGE" };
	static const char *const total_first[] = { "CHANGE",       "%",           "+- 95 %",
						   "TOTAL BEFORE", "TOTAL AFTER", "SELF CHANGE" };

	if (which == NUMBER_HALF && !r->ascii)
		return "± 95 %";
	return by_self(r) ? self_first[which] : total_first[which];
}

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

static const char *behind_of(const struct diff_rows *r, const struct diff_row *row,
			     char buffer[FMT_SIZE])
{
	const struct groups *k = r->diff->analysis->table_keys;

	if (row->key == KEY_NONE)
		return "";
	if (*k->key[row->key].module)
		return k->key[row->key].module;
	return key_detail(k, r->diff->analysis->profile, row->key, buffer);
}

static void find_indents(const struct diff_rows *r, struct layout *l)
{
	size_t most = INDENT_MAX;

	if (r->width > 0 && (size_t)r->width < l->numbers + 2 * most)
		most = (size_t)r->width > l->numbers ? ((size_t)r->width - l->numbers) / 2 : 0;
	l->indent = xcalloc(r->rows.n + 1, sizeof(*l->indent));
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct diff_row *row = &r->rows.at[i];

		if (row->parent == ROW_NONE)
			continue;
		l->indent[i] = l->indent[row->parent] + (row->only_child ? 0 : INDENT_COLS);
		if (l->indent[i] > most)
			l->indent[i] = most;
	}
}

static void make_layout(const struct diff_rows *r, struct layout *l)
{
	size_t widest = NAME_COLS_MIN, limit = NAME_COLS_MAX, taken;
	char text[FMT_SIZE];

	*l = (struct layout){ .behind = r->width > 0 ? MODULE_COLS : 0 };
	for (int n = 0; n < N_NUMBERS; n++) {
		l->cols[n] = width_of(title(r, n)) + 2;
		for (size_t i = 0; i < r->rows.n; i++) {
			int cols = width_of(number_text(r, &r->rows.at[i], n, text)) + 2;

			l->cols[n] = cols > l->cols[n] ? cols : l->cols[n];
		}
		l->numbers += (size_t)l->cols[n];
	}
	l->numbers += strlen("  noise  ");
	find_indents(r, l);
	for (size_t i = 0; i < r->rows.n; i++)
		l->modules |= *behind_of(r, &r->rows.at[i], text) != '\0';
	taken = l->numbers + (l->modules ? 2 + l->behind : 0);
	if (r->width > 0)
		limit = (size_t)r->width > taken + NAME_COLS_MIN ? (size_t)r->width - taken
								 : NAME_COLS_MIN;
	for (size_t i = 0; i < r->rows.n; i++) {
		size_t cols = (size_t)width_of(diff_rows_name(r, &r->rows.at[i])) + l->indent[i] +
			      (r->rows.at[i].only_child ? INDENT_COLS : 0);

		widest = cols > widest ? cols : widest;
	}
	l->name = widest < limit ? widest : limit;
}

static void put_padded(FILE *to, const char *s, int cols)
{
	fprintf(to, "%*s%s", cols > width_of(s) ? cols - width_of(s) : 0, "", s);
}

/* A name, folded where width is limited, padded unless it is the last of its line. */
static void put_name(const struct diff_rows *r, FILE *to, const char *name, size_t cols, bool last)
{
	char *folded = text_fold_name(name, r->width > 0 ? cols : 0, r->ascii);
	char *clean = text_clean(folded, strlen(folded), r->ascii);

	fputs(clean, to);
	if (!last && (size_t)width_of(clean) < cols)
		fprintf(to, "%*s", (int)cols - width_of(clean), "");
	free(clean);
	free(folded);
}

/* "  (now in libx.so)": where the other side has the function. */
static void put_move(const struct diff_rows *r, FILE *to, const struct diff_row *row)
{
	char *text = diff_move_text(r->diff, &r->moves[row->key]), *clean;

	if (!text)
		return;
	clean = text_clean(text, strlen(text), r->ascii);
	fprintf(to, "  (%s)", clean);
	free(clean);
	free(text);
}

static void put_row(const struct diff_rows *r, FILE *to, const struct layout *l, size_t i)
{
	const struct diff_row *row = &r->rows.at[i];
	size_t used = l->indent[i];
	char text[FMT_SIZE];
	const char *behind;

	for (int n = 0; n < N_NUMBERS; n++)
		put_padded(to, number_text(r, row, n, text), l->cols[n]);
	fprintf(to, "  %-5s  %*s", marks[diff_rows_verdict(r, row)], (int)used, "");
	if (row->only_child) {
		fputs(r->ascii ? "> " : "› ", to);
		used += INDENT_COLS;
	}
	behind = behind_of(r, row, text);
	put_name(r, to, diff_rows_name(r, row), l->name > used + 1 ? l->name - used : 1, !*behind);
	if (*behind) {
		fputs("  ", to);
		put_name(r, to, behind, l->behind, true);
	}
	if (r->moves && diff_rows_beyond(r, row))
		put_move(r, to, row);
	if (row->key != KEY_NONE && name_rules_was(&r->sides->names, diff_rows_name(r, row)))
		fputs("  (renamed?)", to);
	fputc('\n', to);
}

static void put_titles(const struct diff_rows *r, FILE *to, const struct layout *l,
		       const char *names)
{
	fputc('#', to);
	for (int n = 0; n < N_NUMBERS; n++)
		put_padded(to, title(r, n), l->cols[n] - (n == 0));
	if (l->modules)
		fprintf(to, "         %-*s  MODULE\n", (int)l->name, names);
	else
		fprintf(to, "         %s\n", names);
}

char *diff_metric_name(const struct diff_rows *r)
{
	const struct analysis *a = r->diff->analysis;
	struct metric before = a->lens.column[lens_side(&a->lens, SIDE_BEFORE)].metric;
	struct metric after = a->lens.column[lens_side(&a->lens, SIDE_AFTER)].metric;
	char *name = metric_name(a->profile, before), *other, *both;

	if (before.event.v == after.event.v)
		return name;
	other = metric_name(a->profile, after);
	both = xasprintf("%s and %s", name, other);
	free(name);
	free(other);
	return both;
}

static void put_clean(const struct diff_rows *r, FILE *to, const char *s)
{
	char *clean = text_clean(s, strlen(s), r->ascii);

	fputs(clean, to);
	free(clean);
}

/* "normalised by time: both sides as if 37.1 s long". */
static void put_normalisation(const struct diff_rows *r, FILE *to)
{
	const struct analysis *a = r->diff->analysis;
	enum normalise n = r->diff->normalise;
	char text[FMT_SIZE];
	double mean = a->amounts.run[n][0] * r->diff->factor[0];

	switch (n) {
	case NORMALISE_NONE:
		fputs("not normalised", to);
		return;
	case NORMALISE_TYPICAL:
		fprintf(to, "normalised by what most functions did (typical)");
		return;
	case NORMALISE_TOTAL:
		fprintf(to, "normalised by total: both sides as if %s",
			fmt_amount(text, mean, r->diff->unit));
		return;
	case NORMALISE_TIME:
		fprintf(to, "normalised by time: both sides as if %s long",
			fmt_amount(text, mean, UNIT_NS));
		return;
	case NORMALISE_SAMPLES:
		fprintf(to, "normalised by samples: both sides as if of %s",
			fmt_amount(text, round(mean), UNIT_COUNT));
		return;
	case NORMALISE_EVENT: {
		const struct event *e = profile_event(a->profile, a->lens.sides.reference);

		fputs("normalised by ", to);
		put_clean(r, to, profile_string(a->profile, e->name, NULL));
		fprintf(to, ": both sides as if of %s", fmt_amount(text, mean, e->unit));
		return;
	}
	case N_NORMALISATIONS:
		break;
	}
}

/* What is left of what nearly all did; rest: in words, NULL: all of it. */
static void put_rest(const struct diff_rows *r, FILE *to, const char *rest)
{
	fputs(rest ? "# that is as measured: "
		   : "# measured values; --normalise typical scales by that",
	      to);
	if (rest)
		put_clean(r, to, rest);
	fputc('\n', to);
}

/* That numbers are scaled, and what was measured. */
static void put_scale(const struct diff_rows *r, FILE *to)
{
	const struct diff *d = r->diff;
	char *scale = common_factor_scale(&d->analysis->amounts.typical);
	char from[FMT_SIZE], upto[FMT_SIZE], part[FMT_SIZE];
	double before, after;

	diff_measured(d, d->analysis->weights.total, &before, &after);
	fprintf(to,
		"# %s; the measured total is %s %s %s (%s %%), which --normalise none compares\n",
		scale, fmt_amount(from, before, d->unit), r->ascii ? "->" : "→",
		fmt_amount(upto, after, d->unit), fmt_change_percent(part, after - before, before));
	free(scale);
}

/* What nearly all did, and whether numbers are scaled by it. Returns whether there is anything to say. */
static bool put_typical(const struct diff_rows *r, FILE *to)
{
	const struct diff *d = r->diff;
	char *typical = diff_say_typical(d), *rest = diff_say_rest(d);

	if (!typical)
		return false;
	fprintf(to, "# %s\n", typical);
	free(typical);
	if (d->normalise == NORMALISE_TYPICAL)
		put_scale(r, to);
	else
		put_rest(r, to, rest);
	free(rest);
	return true;
}

static void put_whole(const struct diff_rows *r, FILE *to)
{
	const struct noise_delta *w = &r->diff->whole;
	enum unit unit = r->diff->unit;
	char before[FMT_SIZE], after[FMT_SIZE], change[FMT_SIZE], half[FMT_SIZE], part[FMT_SIZE];
	double larger = fmax(w->before, w->after), smaller = fmin(w->before, w->after);
	enum change_verdict verdict = diff_whole_verdict(r->diff);

	fprintf(to, "# total %s %s %s: %s", fmt_amount(before, w->before, unit),
		r->ascii ? "->" : "→", fmt_amount(after, w->after, unit),
		fmt_change(change, diff_change(w), unit));
	if (w->half > 0)
		fprintf(to, " %s %s", r->ascii ? "+-" : "±", fmt_amount(half, w->half, unit));
	if (w->before > 0)
		fprintf(to, " (%s %%)", fmt_change_percent(part, diff_change(w), w->before));
	if (diff_change(w) != 0 && verdict != VERDICT_BEYOND)
		fprintf(to, " %s", marks[verdict]);
	fputc('\n', to);
	if (put_typical(r, to))
		return;
	if (r->diff->normalise == NORMALISE_NONE && unit != UNIT_BYTES &&
	    larger > VERY_UNEQUAL * smaller)
		fputs("# the totals are far apart: --normalise time or total compares rates or shares\n",
		      to);
}

/* What only one run says: of rows, of the total, or of both. Of two files, what records and compares more is said in their order. */
static void put_own(const struct diff_rows *r, FILE *to)
{
	bool whole = diff_whole_verdict(r->diff) == VERDICT_OWN;
	uint32_t n_own = diff_rows_family(r)->n_own;
	char n[FMT_SIZE], more[FMT_SIZE + 16] = "";

	if (n_own)
		snprintf(more, sizeof(more), "%s%s more", whole ? " and " : "",
			 fmt_count(n, n_own));
	if (whole || n_own)
		fprintf(to,
			"# %s%s changed, or one run differs so of itself (run?, ?): three runs a side tell, as of "
			"proftop compare --runs 3 -- 'BEFORE' -- 'AFTER', or of record --runs 3\n",
			whole ? "the total" : "", more);
}

/* "95 %, each row's interval 99.9 %": as many nines as it takes. */
static const char *say_level(char out[FMT_SIZE], double level)
{
	int digits = level > 0 && level < 0.01 ? (int)ceil(-log10(level) - 1e-9) - 2 : 0;

	snprintf(out, FMT_SIZE, "%.*f %%",
		 digits > 0     ? digits
		 : level < 0.05 ? 1
				: 0,
		 100 * (1 - level));
	return out;
}

/* How rows beyond noise were told from the others. */
static void put_noise(const struct diff_rows *r, FILE *to)
{
	const struct diff_family *f = diff_rows_family(r);
	const struct lens_sides *sides = &r->diff->analysis->lens.sides;
	struct metric m = r->diff->analysis->lens.column[0].metric;
	char n[FMT_SIZE], tested[FMT_SIZE], beyond[FMT_SIZE], level[FMT_SIZE];
	uint32_t by_calls;

	if (f->n_changed == 0) {
		fputs("# nothing differs\n", to);
		return;
	}
	fprintf(to, "# %s row%s differ%s", fmt_count(n, f->n_changed), f->n_changed == 1 ? "" : "s",
		f->n_changed == 1 ? "s" : "");
	if (metric_is_heap(r->diff->analysis->profile, m) && !sides->squares &&
	    sides->n_runs[SIDE_BEFORE] == 1 && sides->n_runs[SIDE_AFTER] == 1) {
		fputs("; every allocation was recorded, so that differences are exact\n", to);
		return;
	}
	fmt_count(beyond, f->n_beyond);
	by_calls = f == &r->diff->self ? diff_n_by_calls(r->diff) : 0;
	if (by_calls > 0)
		fprintf(to, ", %s beyond noise in themselves and %s more by what they call", beyond,
			fmt_count(n, by_calls));
	else
		fprintf(to, ", %s of them beyond noise", beyond);
	fputs(" (95 %", to);
	if (f->level < NOISE_LEVEL)
		fprintf(to, " of the total and all together, the total's interval %s",
			say_level(level, f->level));
	else if (f->n_judged > 1)
		fputs(" of all together", to);
	if (f->n_judged > 1)
		fprintf(to, ", each row's interval %s", say_level(level, f->limit));
	if (sides->n_runs[SIDE_BEFORE] + sides->n_runs[SIDE_AFTER] > 2)
		fprintf(to, ", Welch over %u and %u runs", sides->n_runs[SIDE_BEFORE],
			sides->n_runs[SIDE_AFTER]);
	fprintf(to,
		", Benjamini-Hochberg over %s numbers with enough samples); the others come last\n",
		fmt_count(tested, f->n_judged));
	put_own(r, to);
}

/* What earlier runs say. */
static void put_history(const struct diff_rows *r, FILE *to)
{
	char runs[FMT_COUNTED_SIZE], functions[FMT_COUNTED_SIZE];
	uint32_t n = r->diff->n_history;

	if (!r->sides->history)
		return;
	fmt_counted(runs, n, "earlier run");
	if (n < HISTORY_LEAST_RUNS)
		fprintf(to, "# history: %s of this program; %d are needed\n", runs,
			HISTORY_LEAST_RUNS);
	else
		fprintf(to, "# history: %s; by these, intervals of %s are wider\n", runs,
			fmt_counted(functions, diff_n_widened(r->diff), "function"));
}

/* That counts may be no samples. */
static void put_doubt(const struct diff_rows *r, FILE *to)
{
	char *doubt = diff_say_doubt(r->diff);

	if (doubt)
		fprintf(to, "# %s\n", doubt);
	free(doubt);
}

/* What hinders comparing: info has all of it. */
static void put_losses(const struct diff_rows *r, FILE *to)
{
	const struct profile *p = r->diff->analysis->profile;

	if (r->overlap < LITTLE_OVERLAP && report_info_facts(p, FACT_MISSING) > 0)
		fputs("# names are missing, as of a program that was built anew since: see proftop info of each file\n",
		      to);
	if (report_info_facts(p, FACT_LOSS) > 0)
		fputs("# something was lost or could not be read: see proftop info\n", to);
}

/* Of a function that was renamed both names, folded as far as they still differ. */
static void put_renamed(const struct diff_rows *r, FILE *to, const struct renaming *one)
{
	size_t cols = r->width > 0 ? NAME_COLS_MAX : 0, most = strlen(one->from);
	char *from, *now;

	for (;; cols += MORE_COLS) {
		from = text_fold_name(one->from, cols < most ? cols : 0, r->ascii);
		now = text_fold_name(one->to, cols < most ? cols : 0, r->ascii);
		if (cols == 0 || cols >= most || strcmp(from, now) != 0)
			break;
		free(from);
		free(now);
	}
	fprintf(to, "# %s before is taken for %s after: renamed? --no-pairs takes them for two\n",
		from, now);
	free(from);
	free(now);
}

/* Which functions are taken for the same: the first few. */
static void put_moved(const struct diff_rows *r, FILE *to)
{
	const struct name_rules *names = &r->sides->names;
	char n[FMT_SIZE];

	for (size_t i = 0; i < names->moved.n && i < MOVED_MOST; i++)
		put_renamed(r, to, &names->moved.at[i]);
	for (size_t i = 0; i < names->unclear.n && i < MOVED_MOST; i++) {
		fputs("# which of those that are called ", to);
		put_clean(r, to, names->unclear.at[i]);
		fputs(" but for a number are the same on both sides cannot be told\n", to);
	}
	if (names->moved.n > MOVED_MOST)
		fprintf(to, "# %s more functions are taken for renamed\n",
			fmt_count(n, (int64_t)(names->moved.n - MOVED_MOST)));
}

/* Which programs are taken for the same, and whether there is anything to compare. */
static void put_programs(const struct diff_rows *r, FILE *to)
{
	const struct name_rules *names = &r->sides->names;
	char share[FMT_SIZE];

	for (size_t i = 0; i < names->paired.n; i++) {
		const char *now = names->paired.at[i].to;

		/* Of several runs there are many, one after another. */
		if (module_pairs_is_generated(now) && i > 0 &&
		    strcmp(names->paired.at[i - 1].to, now) == 0)
			continue;
		fputs("# ", to);
		if (module_pairs_is_generated(now)) {
			fprintf(to,
				"what processes generated is %s on both sides; --no-pairs keeps "
				"processes apart\n",
				now);
			continue;
		}
		put_clean(r, to, names->paired.at[i].from);
		fputs(" before is taken for ", to);
		put_clean(r, to, names->paired.at[i].to);
		fputs(" after, by its functions' names; --no-pairs takes them for two\n", to);
	}
	put_moved(r, to);
	if (r->overlap < LITTLE_OVERLAP)
		fprintf(to,
			"# only %s %% is in functions that both sides have: of different programs? "
			"--map OLD=NEW joins what was renamed, --loose-names what was compiled otherwise\n",
			fmt_percent(share, (int64_t)(1000 * r->overlap), 1000));
}

static void put_heading(const struct diff_rows *r, FILE *to)
{
	const struct analysis *a = r->diff->analysis;
	char *metric = diff_metric_name(r);

	fputs("# ", to);
	put_clean(r, to, r->sides->name[SIDE_BEFORE]);
	fputs(r->ascii ? " -> " : " → ", to);
	put_clean(r, to, r->sides->name[SIDE_AFTER]);
	fputs(": ", to);
	put_clean(r, to, metric);
	fputs(", ", to);
	put_normalisation(r, to);
	fputc('\n', to);
	free(metric);
	if (a->lens.filter) {
		char *filter = filter_text(a->lens.filter);

		fputs("# filter: ", to);
		put_clean(r, to, filter);
		fputc('\n', to);
		free(filter);
	}
	if (a->lens.grouping == GROUP_CAPTURE)
		fputs("# files of both sides are paired by their names, without directories\n", to);
	put_whole(r, to);
	put_noise(r, to);
	put_history(r, to);
	put_programs(r, to);
	put_doubt(r, to);
	put_losses(r, to);
	fputs("#\n", to);
}

/* A line of words behind a mark; text is freed. */
static void put_said(const struct diff_rows *r, FILE *to, const char *mark, char *text)
{
	fputs(mark, to);
	put_clean(r, to, text);
	fputc('\n', to);
	free(text);
}

/* Where the change is, in a few sentences. */
static void put_explanation(const struct diff_rows *r, FILE *to)
{
	struct explanation x;

	if (!r->diff->analysis->tree ||
	    !grouping_of_frames(r->diff->analysis->table_keys->grouping))
		return;
	explain(r->diff, MOST_REASONS, &x);
	if (x.reasons.n)
		put_said(r, to, "# ", explain_heading(r->diff, &x));
	for (size_t i = 0; i < x.reasons.n; i++) {
		fprintf(to, "#   %zu. ", i + 1);
		put_said(r, to, "", xstrdup(x.reasons.at[i].sentence));
	}
	if (x.reasons.n) {
		put_said(r, to, "# ", explain_sum(r->diff, &x));
		fputs("#\n", to);
	}
	explanation_done(&x);
}

static void put_notes(const struct diff_rows *r, FILE *to)
{
	VEC(uint32_t) keys = { 0 };

	for (size_t i = 0; i < r->rows.n; i++)
		vec_push(&keys, r->rows.at[i].key);
	report_notes_keys_text(r->notes, r->diff->analysis->table_keys, keys.at, keys.n, r->ascii,
			       to);
	vec_done(&keys);
}

static void put_rows(const struct diff_rows *r, FILE *to, const struct layout *l,
		     enum report_role role)
{
	for (size_t i = 0; i < r->rows.n && !ferror(to); i++)
		if (r->rows.at[i].role == role)
			put_row(r, to, l, i);
}

void diff_text(const struct diff_rows *r, FILE *to)
{
	struct layout l;
	char n[FMT_SIZE];

	put_heading(r, to);
	if (r->view == VIEW_KIND_TOP)
		put_explanation(r, to);
	put_notes(r, to);
	make_layout(r, &l);
	if (r->view == VIEW_KIND_BUTTERFLY) {
		put_titles(r, to, &l, "CALLERS");
		put_rows(r, to, &l, ROLE_CALLER);
		fputs("#\n", to);
		put_rows(r, to, &l, ROLE_CENTRE);
		put_titles(r, to, &l, "CALLEES");
		put_rows(r, to, &l, ROLE_CALLEE);
	} else if (r->rows.n) {
		put_titles(r, to, &l,
			   r->view == VIEW_KIND_TREE      ? "CALL TREE"
			   : r->view == VIEW_KIND_THREADS ? "PROCESS, THREAD"
			   : r->view == VIEW_KIND_CALLERS
				   ? "CALLERS"
				   : grouping_title(r->diff->analysis->table_keys->grouping));
		put_rows(r, to, &l, ROLE_ROW);
	}
	if (r->n_left_out)
		fprintf(to, "# %s more row%s left out; -n 0 --min 0 shows all\n",
			fmt_count(n, (int64_t)r->n_left_out), r->n_left_out == 1 ? " is" : "s are");
	free(l.indent);
}
