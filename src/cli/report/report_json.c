/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_json.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/query_options.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "cli/report/report_findings.h"
#include "cli/report/report_heap.h"
#include "cli/report/report_info.h"
#include "cli/report/report_notes.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/heap_table.h"
#include "query/heat_map.h"

static const char *const view_names[N_VIEW_KINDS] = {
#define X(name, text) [VIEW_KIND_##name] = text,
	VIEWS(X)
#undef X
};

static void put_time(struct json_out *j, const char *key, int64_t ns)
{
	if (ns == TIME_NONE)
		json_put_null(j, key);
	else
		json_put_int(j, key, ns);
}

static void put_files(struct json_out *j, const struct analysis *a)
{
	json_begin(j, "files", '[', false);
	for (uint32_t i = 0; i < a->counts.n_parts; i++) {
		const struct capture_part *part = profile_part(a->profile, (part_id){ i });

		json_begin(j, NULL, '{', false);
		json_put_text(j, "path", profile_string(a->profile, part->path, NULL));
		json_put_text(j, "format", profile_string(a->profile, part->format, NULL));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_events(struct json_out *j, const struct analysis *a)
{
	json_begin(j, "events", '[', false);
	for (uint32_t i = 0; i < a->counts.n_events; i++) {
		const struct event *event = profile_event(a->profile, (event_id){ i });

		json_put_text(j, NULL, profile_string(a->profile, event->name, NULL));
	}
	json_end(j, ']');
}

static void put_columns(struct json_out *j, const struct report *r)
{
	const struct analysis *a = r->analysis;

	json_begin(j, "columns", '[', false);
	for (uint32_t i = 0; i < r->n_columns && a->counts.n_events; i++) {
		struct metric m = a->lens.column[i].metric;
		const struct event *event = profile_event(a->profile, m.event);
		bool counts = !event->has_weight || event->is_counted;

		if (counts)
			m.measure = MEASURE_SAMPLES;
		json_begin(j, NULL, '{', false);
		json_put_text(j, "event", metric_event_name(a->profile, m));
		json_put_text(j, "metric", metric_word(a->profile, m));
		json_put_text(j, "unit", query_options_unit_name(metric_unit(a->profile, m)));
		json_put_weight(j, "total", a->weights.total[i], a->weights.scale[i]);
		json_put_weight(j, "whole", a->weights.whole[i], a->weights.scale[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static const char *group_of(const struct report *r)
{
	return r->heap && r->heap->form->sites ? footprint_rows_name(r->heap->footprint)
	       : r->heap && r->heap->question == HEAP_ALLOCATORS ? "size"
								 : grouping_name(r->keys->grouping);
}

void report_json_head(struct json_out *j, const struct report *r, const char *view)
{
	const struct analysis *a = r->analysis;
	char *filter = a->lens.filter ? filter_text(a->lens.filter) : NULL;

	json_put_text(j, "proftop", VERSION);
	json_put_text(j, "view", view);
	put_files(j, a);
	json_put_text(j, "filter", filter ? filter : "");
	if (analysis_gave_up(a))
		json_put_text(j, "gave_up", analysis_gave_up(a));
	json_put_text(j, "group", group_of(r));
	json_put_bool(j, "inlines", a->lens.inlines);
	json_put_weight(j, "samples", (int64_t)a->weights.n_samples, a->weights.sample_scale);
	json_put_int(j, "threads", (int64_t)a->weights.n_threads);
	put_time(j, "begin_ns", a->weights.begin_ns);
	put_time(j, "end_ns", a->weights.end_ns);
	put_events(j, a);
	put_columns(j, r);
	if (report_is_estimated(r))
		json_put_bool(j, "estimated", true);
	if (report_info_facts(a->profile, FACT_LOSS) > 0)
		json_put_bool(j, "lost", true);
	json_put_int(j, "left_out", (int64_t)r->n_left_out);
	free(filter);
}

static void put_numbers(struct json_out *j, const struct report *r, const char *key,
			const int64_t *numbers)
{
	json_begin(j, key, '[', false);
	for (uint32_t i = 0; i < r->n_columns; i++)
		json_put_weight(j, NULL, numbers[i], r->analysis->weights.scale[i]);
	json_end(j, ']');
}

/* Beside a butterfly's centre: the parts of its total, as the screens have them. */
static void put_shares(struct json_out *j, const struct report *r, size_t i)
{
	const int64_t *total = report_total(r, i), *whole = report_whole(r, &r->rows.at[i]);

	json_begin(j, "share_of_function", '[', false);
	for (uint32_t c = 0; c < r->n_columns; c++)
		json_put_ratio(j, NULL, total[c], whole[c]);
	json_end(j, ']');
}

bool report_json_name(struct json_out *j, const struct groups *keys, uint32_t key)
{
	if (key == KEY_NONE) {
		json_put_null(j, "name");
		return false;
	}
	json_put_text(j, "name", keys->key[key].label);
	if (*keys->key[key].module)
		json_put_text(j, "module", keys->key[key].module);
	return true;
}

static void put_name(struct json_out *j, const struct report *r, const struct report_row *row)
{
	const struct groups *keys = report_keys(r, row);
	uint32_t key = row->key;
	int32_t pid, tid;

	if (!report_json_name(j, keys, key))
		return;
	pid = key_pid(keys, r->analysis->profile, key);
	tid = key_tid(keys, r->analysis->profile, key);
	if (pid >= 0)
		json_put_int(j, "pid", pid);
	if (tid >= 0)
		json_put_int(j, "tid", tid);
}

/* "ratios": [{"numerator", …}], or of a row {"self", "total"} each: [value, low, high], or null. */
static void put_ratio_names(struct json_out *j, const struct report *r)
{
	const struct analysis *a = r->analysis;

	if (!report_n_ratios(r))
		return;
	json_begin(j, "ratios", '[', false);
	for (uint32_t k = 0; k < report_n_ratios(r); k++) {
		const struct ratio *ratio = &r->ratios->at[k];
		const struct lens_column *column = a->lens.column;

		json_begin(j, NULL, '{', false);
		json_put_text(j, "name", ratio->name);
		json_put_text(j, "numerator",
			      metric_event_name(a->profile, column[ratio->numerator].metric));
		json_put_text(j, "denominator",
			      metric_event_name(a->profile, column[ratio->denominator].metric));
		json_put_double(j, "factor", ratio->factor);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_ratio(struct json_out *j, const struct report *r, size_t i, uint32_t k, bool total)
{
	const char *key = total ? "total" : "self";
	struct ratio_value v = { .value = 0 };

	if (!report_ratio(r, i, k, total, &v)) {
		json_put_null(j, key);
		return;
	}
	json_begin(j, key, '[', false);
	json_put_double(j, NULL, v.value);
	if (v.has_interval) {
		json_put_double(j, NULL, v.low);
		json_put_double(j, NULL, v.high);
	}
	json_end(j, ']');
}

static void put_ratios(struct json_out *j, const struct report *r, size_t i)
{
	const struct report_row *row = &r->rows.at[i];

	if (!report_n_ratios(r))
		return;
	json_begin(j, "ratios", '[', false);
	for (uint32_t k = 0; k < report_n_ratios(r); k++) {
		json_begin(j, NULL, '{', false);
		if (row->role == ROLE_ROW || row->role == ROLE_CENTRE)
			put_ratio(j, r, i, k, false);
		put_ratio(j, r, i, k, true);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_row(struct json_out *j, const struct report *r, size_t i)
{
	const struct report_row *row = &r->rows.at[i];
	bool tree = r->view == VIEW_KIND_TREE || r->view == VIEW_KIND_CALLERS ||
		    r->view == VIEW_KIND_FLAME || r->view == VIEW_KIND_THREADS;

	json_begin(j, NULL, '{', false);
	if (r->view == VIEW_KIND_TIMELINE || r->view == VIEW_KIND_HEAT) {
		json_put_int(j, "from_ns", row->from_ns);
		json_put_int(j, "to_ns", row->to_ns);
		put_numbers(j, r, "total", report_total(r, i));
		json_end(j, '}');
		return;
	}
	if (row->role != ROLE_ROW)
		json_put_text(j, "role", report_role_name(row->role));
	put_name(j, r, row);
	if (tree) {
		json_put_int(j, "depth", row->depth);
		if (row->parent == ROW_NONE)
			json_put_null(j, "parent");
		else
			json_put_int(j, "parent", row->parent);
	}
	if (row->inlined)
		json_put_bool(j, "inlined", true);
	if (row->role == ROLE_ROW || row->role == ROLE_CENTRE)
		put_numbers(j, r, "self", report_self(r, i));
	put_numbers(j, r, "total", report_total(r, i));
	if (row->role == ROLE_CALLER || row->role == ROLE_CALLEE)
		put_shares(j, r, i);
	if (row->has_samples)
		json_put_weight(j, "samples", (int64_t)row->n_samples,
				r->analysis->weights.sample_scale);
	put_ratios(j, r, i);
	report_notes_row_json(r, i, j);
	json_end(j, '}');
}

void report_json(const struct report *r, FILE *to)
{
	struct json_out j = { .to = to };

	json_begin(&j, NULL, '{', true);
	report_json_head(&j, r, view_names[r->view]);
	if (r->heap) {
		report_heap_json(r, &j);
		json_end(&j, '}');
		return;
	}
	if (r->view == VIEW_KIND_FINDINGS) {
		report_findings_json(r, &j);
		json_end(&j, '}');
		return;
	}
	put_ratio_names(&j, r);
	if (r->heat) {
		json_put_int(&j, "period_ns", r->heat->period_ns);
		json_put_int(&j, "cell_ns", heat_cell_ns(r->heat));
	}
	json_begin(&j, "rows", '[', true);
	for (size_t i = 0; i < r->rows.n && !ferror(to); i++)
		put_row(&j, r, i);
	json_end(&j, ']');
	json_end(&j, '}');
}
