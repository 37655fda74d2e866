/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/report/json_out.h"
#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/fact_order.h"
#include "query/core/heap_pass.h"

#define NAME_COLS 24

static const char *const unit_names[] = {
	[UNIT_COUNT] = "count",
	[UNIT_NS] = "ns",
	[UNIT_BYTES] = "bytes",
};

static const char *const kind_names[] = {
	[FACT_PLAIN] = "plain",
	[FACT_GOOD] = "good",
	[FACT_LOSS] = "loss",
	[FACT_MISSING] = "missing",
};

/* What was sampled of one event, all in all. */
struct event_sum {
	int64_t weight;
	int64_t n_samples; /* in 1/sample_scale */
	int64_t sample_scale;
};

/* Two columns an event: its weight and its samples, as many events as fit in a pass. */
static void sum_batch(const struct profile *p, const struct profile_counts *counts,
		      struct event_sum *sums, uint32_t first, uint32_t n)
{
	struct lens lens = { .n_columns = 2 * n };
	struct weights w;

	for (uint32_t i = 0; i < n; i++) {
		event_id event = { first + i };

		lens.column[2 * i].metric = (struct metric){ event, MEASURE_WEIGHT, false };
		lens.column[2 * i + 1].metric = (struct metric){ event, MEASURE_SAMPLES, false };
	}
	if (aggregate(p, counts, &lens, NULL, &w))
		return;
	for (uint32_t i = 0; i < n; i++) {
		sums[first + i].weight = w.whole[2 * i];
		sums[first + i].n_samples = w.whole[2 * i + 1];
		sums[first + i].sample_scale = w.scale[2 * i + 1];
	}
	weights_done(&w);
}

/* [n_events]; the caller frees. */
static struct event_sum *sum_events(const struct profile *p, const struct profile_counts *counts)
{
	struct event_sum *sums = xcalloc((size_t)counts->n_events + 1, sizeof(*sums));
	const uint32_t batch = LENS_MAX_COLUMNS / 2;

	for (uint32_t i = 0; i < counts->n_events; i += batch) {
		uint32_t left = counts->n_events - i;

		sum_batch(p, counts, sums, i, left < batch ? left : batch);
	}
	return sums;
}

static void put_clean(FILE *to, const char *s, bool ascii, size_t cols)
{
	char *clean = text_clean(s, strlen(s), ascii);
	size_t width = text_width(clean, strlen(clean));

	fputs(clean, to);
	if (width < cols)
		fprintf(to, "%*s", (int)(cols - width), "");
	free(clean);
}

static const char *text_of(const struct profile *p, string_id s)
{
	return profile_string(p, s, NULL);
}

/* order: of fact_order() */
static void put_facts(const struct profile *p, const struct profile_counts *counts,
		      const uint32_t *order, uint32_t part, bool ascii, FILE *to)
{
	string_id section = { 0 };

	for (uint32_t i = 0; i < counts->n_facts; i++) {
		const struct fact f = profile_fact(p, order[i]);

		if (f.part.v != part)
			continue;
		if (f.section.v != section.v) {
			put_clean(to, text_of(p, f.section), ascii, 0);
			fputc('\n', to);
			section = f.section;
		}
		fputs(f.kind == FACT_LOSS ? "! " : f.kind == FACT_MISSING ? "? " : "  ", to);
		put_clean(to, text_of(p, f.name), ascii, NAME_COLS);
		fputs("  ", to);
		put_clean(to, text_of(p, f.text), ascii, 0);
		fputc('\n', to);
	}
}

static void put_events(const struct profile *p, const struct profile_counts *counts, bool ascii,
		       FILE *to)
{
	struct event_sum *sums = sum_events(p, counts);
	char n[FMT_SIZE], weight[FMT_SIZE];

	fputs("events\n", to);
	for (uint32_t i = 0; i < counts->n_events; i++) {
		const struct event *event = profile_event(p, (event_id){ i });

		fputs("  ", to);
		put_clean(to, text_of(p, event->name), ascii, NAME_COLS);
		if (event->is_heap && heap_manner_of(p, counts).lacks & HEAP_LACKS_CALLS) {
			fputs("  snapshots\n", to);
			continue;
		}
		fmt_weight(n, sums[i].n_samples, UNIT_COUNT, sums[i].sample_scale);
		fprintf(to, "  %s %s%s", n, event->is_heap ? "allocation" : "sample",
			strcmp(n, "1") == 0 ? "" : "s");
		if (event->has_weight && !event->is_counted)
			fprintf(to, ", %s",
				fmt_weight(weight, sums[i].weight, event->unit, event->scale));
		fputc('\n', to);
	}
	free(sums);
}

void report_info_text(const struct profile *p, bool ascii, FILE *to)
{
	struct profile_counts counts;
	uint32_t n_event_facts = 0, *order;

	profile_counts_read(p, &counts);
	order = fact_order(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		n_event_facts += !strcmp(text_of(p, profile_fact(p, i).section), "events");
	for (uint32_t i = 0; i < counts.n_parts; i++) {
		const struct capture_part *part = profile_part(p, (part_id){ i });

		put_clean(to, text_of(p, part->path), ascii, 0);
		fputs(": ", to);
		put_clean(to, text_of(p, part->format), ascii, 0);
		fputc('\n', to);
		put_facts(p, &counts, order, i, ascii, to);
	}
	free(order);
	if (!n_event_facts)
		put_events(p, &counts, ascii, to);
}

static void json_facts(struct json_out *j, const struct profile *p,
		       const struct profile_counts *counts, const uint32_t *order, uint32_t part)
{
	json_begin(j, "facts", '[', true);
	for (uint32_t i = 0; i < counts->n_facts; i++) {
		const struct fact f = profile_fact(p, order[i]);

		if (f.part.v != part)
			continue;
		json_begin(j, NULL, '{', false);
		json_put_text(j, "section", text_of(p, f.section));
		json_put_text(j, "name", text_of(p, f.name));
		json_put_text(j, "text", text_of(p, f.text));
		json_put_text(j, "kind", kind_names[f.kind]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_time(struct json_out *j, const char *key, int64_t ns)
{
	if (ns == TIME_NONE)
		json_put_null(j, key);
	else
		json_put_int(j, key, ns);
}

static void json_files(struct json_out *j, const struct profile *p,
		       const struct profile_counts *counts)
{
	uint32_t *order = fact_order(p, counts);

	json_begin(j, "files", '[', true);
	for (uint32_t i = 0; i < counts->n_parts; i++) {
		const struct capture_part *part = profile_part(p, (part_id){ i });
		const struct capture *c = profile_capture(p, part->capture);

		json_begin(j, NULL, '{', false);
		json_put_text(j, "path", text_of(p, part->path));
		json_put_text(j, "format", text_of(p, part->format));
		json_time(j, "begin_ns", c->begin_ns);
		json_time(j, "end_ns", c->end_ns);
		json_facts(j, p, counts, order, i);
		json_end(j, '}');
	}
	json_end(j, ']');
	free(order);
}

static void json_events(struct json_out *j, const struct profile *p,
			const struct profile_counts *counts)
{
	struct event_sum *sums = sum_events(p, counts);

	json_begin(j, "events", '[', true);
	for (uint32_t i = 0; i < counts->n_events; i++) {
		const struct event *event = profile_event(p, (event_id){ i });

		json_begin(j, NULL, '{', false);
		json_put_text(j, "name", text_of(p, event->name));
		json_put_text(j, "unit", unit_names[event->unit]);
		json_put_weight(j, "samples", sums[i].n_samples, sums[i].sample_scale);
		json_put_weight(j, "total", sums[i].weight, event->scale);
		json_end(j, '}');
	}
	json_end(j, ']');
	free(sums);
}

void report_info_json(const struct profile *p, FILE *to)
{
	struct json_out j = { .to = to };
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	json_begin(&j, NULL, '{', true);
	json_put_text(&j, "proftop", VERSION);
	json_put_text(&j, "view", "info");
	json_put_int(&j, "samples", (int64_t)counts.n_samples);
	json_put_int(&j, "processes", counts.n_processes);
	json_put_int(&j, "threads", (int64_t)aggregate_count_threads(p, NULL, counts.n_threads));
	json_put_int(&j, "modules", counts.n_modules);
	json_put_int(&j, "functions", counts.n_functions);
	json_put_int(&j, "stacks", counts.n_stacks);
	json_events(&j, p, &counts);
	json_files(&j, p, &counts);
	json_end(&j, '}');
}

unsigned report_info_facts(const struct profile *p, enum fact_kind kind)
{
	struct profile_counts counts;
	unsigned n = 0;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		n += profile_fact(p, i).kind == kind;
	return n;
}
