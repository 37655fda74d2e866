/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/diff/diff_markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"
#include "cli/diff/diff_judge.h"
#include "cli/diff/diff_rows.h"
#include "cli/diff/diff_text.h"
#include "cli/options/query_options.h"
#include "query/analysis.h"
#include "query/diff/diff_doubt.h"
#include "query/diff/explain.h"

/* Sentences at most. */
#define MOST_CAUSES 5

/* Text where Markdown and HTML would read something else: names are code, so only what ends code or a cell counts. */
static void put_text(const char *s, bool code, FILE *to)
{
	char *clean = text_clean(s, strlen(s), false);

	fputs(code ? "<code>" : "", to);
	for (const char *at = clean; *at; at++)
		if (strchr("<>&|*_`[]\\~", *at))
			fprintf(to, "&#%d;", *at);
		else
			fputc(*at, to);
	fputs(code ? "</code>" : "", to);
	free(clean);
}

static void put_conditions(const struct judgement *j, FILE *to)
{
	for (size_t i = 0; i < j->all.n; i++) {
		const struct verdict *v = &j->all.at[i].verdict;

		fputs(v->failed ? "- **fails:** " : v->doubts.n ? "- **run?** " : "- holds: ", to);
		if (!v->failed)
			put_text(condition_text(j->all.at[i].condition), true, to);
		for (size_t k = 0; k < v->sentences.n; k++) {
			fputs(k ? "; " : "", to);
			put_text(v->sentences.at[k], false, to);
		}
		for (size_t k = 0; k < v->doubts.n; k++) {
			fputs("; ", to);
			put_text(v->doubts.at[k], false, to);
		}
		fputc('\n', to);
	}
	if (j->all.n)
		fputc('\n', to);
}

static void put_row(const struct diff_rows *r, const struct diff_row *row, FILE *to)
{
	const struct noise_delta *d = diff_rows_ruling(r, row);
	const struct groups *k = r->diff->analysis->table_keys;
	char change[FMT_SIZE], part[FMT_SIZE], half[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE];

	fprintf(to, "| %s | %s | %s | %s | %s | ",
		fmt_change(change, diff_change(d), r->diff->unit), diff_rows_relative(part, r, row),
		d->half > 0 ? fmt_amount(half, d->half, r->diff->unit) : "",
		fmt_amount(before, d->before, r->diff->unit),
		fmt_amount(after, d->after, r->diff->unit));
	for (uint32_t i = 0; i < row->depth; i++)
		fputs("&emsp;", to);
	put_text(diff_rows_name(r, row), true, to);
	fputs(" | ", to);
	put_text(row->key == KEY_NONE ? "" : k->key[row->key].module, false, to);
	fputs(" |\n", to);
}

static bool is_shown(const struct diff_rows *r, const struct diff_row *row)
{
	return diff_change(diff_rows_ruling(r, row)) != 0 && diff_rows_beyond(r, row);
}

/* What nearly all did, and whether numbers are scaled by it. */
static void put_typical(const struct diff_rows *r, FILE *to)
{
	char *typical = diff_say_typical(r->diff), *rest = diff_say_rest(r->diff);
	char *scale = common_factor_scale(&r->diff->analysis->amounts.typical);

	if (typical)
		fprintf(to, "%s %s", typical,
			rest ? "That is as measured: "
			: r->diff->normalise == NORMALISE_TYPICAL
				? scale
				: "`--normalise typical` scales by that");
	if (rest)
		put_text(rest, false, to);
	if (typical)
		fputs(".\n\n", to);
	free(typical);
	free(rest);
	free(scale);
}

static void put_doubt(const struct diff_rows *r, FILE *to)
{
	char *doubt = diff_say_doubt(r->diff);

	if (doubt) {
		fputs("**Doubtful**: ", to);
		put_text(doubt, false, to);
		fputs(".\n\n", to);
	}
	free(doubt);
}

/* The causes in sentences, and what they leave, as in the report. */
static void put_causes(const struct diff_rows *r, FILE *to)
{
	struct explanation x;
	char *sum;

	if (r->view != VIEW_KIND_TOP || !r->diff->analysis->tree ||
	    !grouping_of_frames(r->diff->analysis->table_keys->grouping))
		return;
	explain(r->diff, MOST_CAUSES, &x);
	for (size_t i = 0; i < x.reasons.n; i++) {
		fprintf(to, "%zu. ", i + 1);
		put_text(x.reasons.at[i].sentence, false, to);
		fputc('\n', to);
	}
	if (x.reasons.n) {
		sum = explain_sum(r->diff, &x);
		fputc('\n', to);
		put_text(sum, false, to);
		fputs("\n\n", to);
		free(sum);
	}
	explanation_done(&x);
}

void diff_markdown(const struct diff_rows *r, const struct judgement *j, FILE *to)
{
	const struct noise_delta *w = &r->diff->whole;
	char before[FMT_SIZE], after[FMT_SIZE], change[FMT_SIZE], part[FMT_SIZE], n[FMT_SIZE];
	char *metric = diff_metric_name(r);
	uint64_t n_noise = 0;

	fputs("**", to);
	put_text(metric, false, to);
	fprintf(to, "** from ");
	put_text(r->sides->name[SIDE_BEFORE], true, to);
	fputs(" to ", to);
	put_text(r->sides->name[SIDE_AFTER], true, to);
	fprintf(to, ": %s → %s, %s (%s %%)%s, %s%s\n\n",
		fmt_amount(before, w->before, r->diff->unit),
		fmt_amount(after, w->after, r->diff->unit),
		fmt_change(change, diff_change(w), r->diff->unit), diff_relative(part, w),
		diff_whole_verdict(r->diff) == VERDICT_OWN ? " run?" : "",
		r->diff->normalise == NORMALISE_NONE ? "not normalised" : "normalised by ",
		r->diff->normalise == NORMALISE_NONE ? "" : normalise_name(r->diff->normalise));
	free(metric);
	put_typical(r, to);
	put_doubt(r, to);
	put_conditions(j, to);
	put_causes(r, to);
	for (size_t i = 0; i < r->rows.n; i++)
		n_noise += !is_shown(r, &r->rows.at[i]);
	if (n_noise < r->rows.n)
		fputs("| change | % | ± 95 % | before | after | function | module |\n"
		      "|---:|---:|---:|---:|---:|---|---|\n",
		      to);
	for (size_t i = 0; i < r->rows.n; i++)
		if (is_shown(r, &r->rows.at[i]))
			put_row(r, &r->rows.at[i], to);
	fprintf(to, "%s%s more changes are within the noise or small.\n",
		n_noise < r->rows.n ? "\n" : "", fmt_count(n, (int64_t)(n_noise + r->n_left_out)));
	if (diff_whole_verdict(r->diff) == VERDICT_OWN)
		fputs("\nThe total changed, or one run differs so of itself (run?): three runs a side tell.\n",
		      to);
}
