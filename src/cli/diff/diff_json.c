/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/diff/diff_json.h"

#include <math.h>
#include <stdlib.h>

#include "cli/diff/diff_judge.h"
#include "cli/diff/diff_rows.h"
#include "cli/options/query_options.h"
#include "cli/report/json_out.h"
#include "cli/report/report_annotate.h"
#include "cli/report/report_info.h"
#include "cli/report/report_json.h"
#include "cli/report/report_notes.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/diff_doubt.h"
#include "query/diff/diff_moves.h"
#include "query/diff/explain.h"

#define MOST_REASONS 8

static const char *const view_names[N_VIEW_KINDS] = {
#define X(name, text) [VIEW_KIND_##name] = text,
	VIEWS(X)
#undef X
};

static void put_side(struct json_out *j, const struct diff_rows *r, enum side side, const char *key)
{
	const struct analysis *a = r->diff->analysis;
	uint32_t first = lens_side(&a->lens, side);
	struct metric m = a->lens.column[first].metric;
	const struct event *event = profile_event(a->profile, m.event);

	if (!event->has_weight || event->is_counted)
		m.measure = MEASURE_SAMPLES;
	json_begin(j, key, '{', false);
	json_put_text(j, "name", r->sides->name[side]);
	json_put_text(j, "event", profile_string(a->profile, event->name, NULL));
	json_put_text(j, "metric", metric_word(a->profile, m));
	json_begin(j, "runs", '[', false);
	for (size_t i = 0; i < r->sides->run[side].n; i++) {
		json_begin(j, NULL, '{', false);
		json_put_text(j, "filter", r->sides->run[side].at[i]);
		json_put_double(j, "factor", r->diff->factor[first - SIDES_FIRST + i]);
		json_put_weight(j, "total", a->weights.total[first + i],
				a->weights.scale[first + i]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void put_delta(struct json_out *j, const char *key, const struct noise_delta *d,
		      enum change_verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_NOISE] = "noise", [VERDICT_OWN] = "own", [VERDICT_BEYOND] = "beyond"
	};

	json_begin(j, key, '{', false);
	json_put_double(j, "before", d->before);
	json_put_double(j, "after", d->after);
	json_put_double(j, "change", diff_change(d));
	json_put_double(j, "interval", d->half);
	if (d->tested)
		json_put_double(j, "p", d->p);
	else
		json_put_null(j, "p");
	json_put_bool(j, "beyond_noise", verdict == VERDICT_BEYOND);
	json_put_text(j, "verdict", names[verdict]);
	json_end(j, '}');
}

/* What most functions did, as parts: 0.48 is +48 %. */
static void put_typical(struct json_out *j, const struct diff *d)
{
	const struct common_factor *t = &d->analysis->amounts.typical;

	if (!t->known) {
		json_put_null(j, "typical");
		return;
	}
	json_begin(j, "typical", '{', false);
	json_put_double(j, "change", t->ratio - 1);
	json_put_double(j, "low", t->low - 1);
	json_put_double(j, "high", t->high - 1);
	json_put_int(j, "functions", t->n_rows);
	json_put_int(j, "alike", t->n_alike);
	json_put_bool(j, "differs", t->differs);
	json_put_double(j, "spread", sqrt(d->spread.square));
	json_end(j, '}');
}

static void put_pairs(struct json_out *j, const char *name, const struct renaming *pairs, size_t n)
{
	json_begin(j, name, '[', false);
	for (size_t i = 0; i < n; i++) {
		json_begin(j, NULL, '{', false);
		json_put_text(j, "before", pairs[i].from);
		json_put_text(j, "after", pairs[i].to);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_head(struct json_out *j, const struct diff_rows *r)
{
	const struct analysis *a = r->diff->analysis;
	const struct diff_family *f = diff_rows_family(r);
	char *doubt = diff_say_doubt(r->diff);
	char *filter = a->lens.filter ? filter_text(a->lens.filter) : NULL;

	json_put_text(j, "proftop", VERSION);
	json_put_text(j, "view", view_names[r->view]);
	put_side(j, r, SIDE_BEFORE, "before");
	put_side(j, r, SIDE_AFTER, "after");
	json_put_text(j, "unit", query_options_unit_name(r->diff->unit));
	json_put_text(j, "normalise", normalise_name(r->diff->normalise));
	put_typical(j, r->diff);
	json_put_text(j, "filter", filter ? filter : "");
	json_put_text(j, "group", grouping_name(a->table_keys->grouping));
	put_delta(j, "total", &r->diff->whole, diff_whole_verdict(r->diff));
	json_put_int(j, "changed", f->n_changed);
	json_put_int(j, "tested", f->n_tested);
	json_put_int(j, "beyond_noise", f->n_beyond);
	json_put_int(j, "own", f->n_own);
	json_put_double(j, "level", 1 - f->limit);
	json_put_double(j, "overlap", r->overlap);
	if (r->sides->history) {
		json_begin(j, "history", '{', false);
		json_put_int(j, "runs", r->diff->n_history);
		json_put_int(j, "widened", diff_n_widened(r->diff));
		json_end(j, '}');
	}
	if (doubt)
		json_put_text(j, "doubt", doubt);
	free(doubt);
	if (report_info_facts(a->profile, FACT_LOSS) > 0)
		json_put_bool(j, "lost", true);
	put_pairs(j, "paired", r->sides->names.paired.at, r->sides->names.paired.n);
	put_pairs(j, "renamed", r->sides->names.moved.at, r->sides->names.moved.n);
	json_put_int(j, "left_out", (int64_t)r->n_left_out);
	free(filter);
}

/* Where the other side has a function that one side lacks; of rows beyond noise, as in the report. */
static void put_move(struct json_out *j, const struct diff_rows *r, const struct diff_row *row)
{
	static const char *const kinds[] = { [MOVE_MODULE] = "module", [MOVE_CALLER] = "caller" };
	const struct diff_move *m = &r->moves[row->key];
	char *text = diff_move_text(r->diff, m);

	if (!text)
		return;
	json_begin(j, "moved", '{', false);
	json_put_text(j, "to", kinds[m->move]);
	json_put_bool(j, "gone", m->gone);
	json_put_text(j, "note", text);
	json_end(j, '}');
	free(text);
}

static void put_row(struct json_out *j, const struct diff_rows *r, const struct diff_row *row)
{
	json_begin(j, NULL, '{', false);
	if (row->role != ROLE_ROW)
		json_put_text(j, "role", report_role_name(row->role));
	if (row->name)
		json_put_text(j, "name", row->name);
	else
		report_json_name(j, r->diff->analysis->table_keys, row->key);
	if (r->view == VIEW_KIND_TREE || r->view == VIEW_KIND_CALLERS ||
	    r->view == VIEW_KIND_THREADS) {
		json_put_int(j, "depth", row->depth);
		if (row->parent == ROW_NONE)
			json_put_null(j, "parent");
		else
			json_put_int(j, "parent", row->parent);
	}
	if (row->has_self)
		put_delta(j, "self", &row->self, row->self_verdict);
	put_delta(j, "total", &row->total, row->total_verdict);
	if (r->moves && diff_rows_beyond(r, row))
		put_move(j, r, row);
	report_notes_key_json(r->notes, r->diff->analysis->table_keys, row->key, j);
	json_end(j, '}');
}

static void put_conditions(struct json_out *j, const struct judgement *judgement)
{
	json_begin(j, "conditions", '[', true);
	for (size_t i = 0; i < judgement->all.n; i++) {
		const struct judged *one = &judgement->all.at[i];

		json_begin(j, NULL, '{', false);
		json_put_text(j, "condition", condition_text(one->condition));
		json_put_bool(j, "fails", one->verdict.failed);
		json_begin(j, "sentences", '[', false);
		for (size_t k = 0; k < one->verdict.sentences.n; k++)
			json_put_text(j, NULL, one->verdict.sentences.at[k]);
		for (size_t k = 0; k < one->verdict.doubts.n; k++)
			json_put_text(j, NULL, one->verdict.doubts.at[k]);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_explanation(struct json_out *j, const struct diff_rows *r)
{
	const struct analysis *a = r->diff->analysis;
	struct explanation x;

	explain(r->diff, MOST_REASONS, &x);
	json_begin(j, "explanation", '{', false);
	json_put_double(j, "accounted", x.accounted);
	json_put_double(j, "sum", x.sum);
	json_put_int(j, "functions_left", x.n_left);
	json_begin(j, "reasons", '[', true);
	for (size_t i = 0; i < x.reasons.n; i++) {
		const struct reason *reason = &x.reasons.at[i];

		json_begin(j, NULL, '{', false);
		json_put_text(j, "name", a->keys.key[reason->key].label);
		json_put_double(j, "change", reason->change);
		json_put_text(j, "sentence", reason->sentence);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	explanation_done(&x);
}

static void begin(struct json_out *j, const struct diff_rows *r, const struct judgement *judgement)
{
	json_begin(j, NULL, '{', true);
	put_head(j, r);
	if (judgement->all.n)
		put_conditions(j, judgement);
}

void diff_json_code(const struct diff_rows *r, const struct judgement *judgement,
		    const struct report *report, const struct annotation *a, FILE *to)
{
	struct json_out j = { .to = to };

	begin(&j, r, judgement);
	json_begin(&j, "annotate", '{', true);
	report_annotate_members(report, a, &j);
	json_end(&j, '}');
	json_end(&j, '}');
}

void diff_json(const struct diff_rows *r, const struct judgement *judgement, FILE *to)
{
	struct json_out j = { .to = to };

	begin(&j, r, judgement);
	if (r->diff->analysis->tree)
		put_explanation(&j, r);
	json_begin(&j, "rows", '[', true);
	for (size_t i = 0; i < r->rows.n && !ferror(to); i++)
		put_row(&j, r, &r->rows.at[i]);
	json_end(&j, ']');
	json_end(&j, '}');
}
