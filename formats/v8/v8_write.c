/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sample of a .cpuprofile lasts until the next one: weights are the distances of samples, and where a thread had none, the root is sampled.
 * Times are microseconds; each is rounded by itself, so that errors do not add up.
 */
#include "config.h"

#include "formats/v8/v8_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sum.h"
#include "formats/write/export_losses.h"
#include "formats/write/export_rows.h"
#include "formats/write/export_stacks.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000
/* A stretch without samples that is shorter than such a part of the next sample is none. */
#define LEAST_GAP 10

/* Samples of a node at a line; in the order in which lines were first met, as our reader puts samples on them. */
struct tick {
	uint32_t node, line;
	int64_t n;
};

struct writer {
	const struct analysis *a;
	const struct profile *p;
	VEC(struct tick) ticks;
	struct map by_tick;
	uint32_t *first_tick; /* [nodes] index + 1 of ticks, 0: none; owned */
	uint32_t *next_tick;  /* [ticks] likewise */
	struct export_stacks stacks;
	struct export_rows rows;
	size_t n_series; /* of what is shown; the others are not written */
	int64_t *self;   /* [nodes] owned, as what follows */
	uint32_t *child; /* [nodes] first one, 0: none */
	uint32_t *next;  /* [nodes] sibling */
	/* of the samples' columns: which is written, where it is, and whether something was */
	bool deltas, filled;
	int64_t at_ns, said_us;
	struct text_out out;
};

/* Nodes. */

static void link_nodes(struct writer *w)
{
	size_t n = w->stacks.nodes.n;

	w->child = xcalloc(n, sizeof(*w->child));
	w->next = xcalloc(n, sizeof(*w->next));
	for (uint32_t i = (uint32_t)n; i-- > 1;) {
		uint32_t up = w->stacks.nodes.at[i].parent;

		w->next[i] = w->child[up];
		w->child[up] = i;
	}
}

static void sum_nodes(struct writer *w)
{
	/* a first time to make them all */
	for (size_t i = 0; i < w->n_series; i++)
		for (size_t k = 0; k < w->rows.series.at[i].n; k++)
			export_stacks_framed(&w->stacks,
					     w->rows.rows.at[w->rows.series.at[i].first + k].stack);
	w->self = xcalloc(w->stacks.nodes.n, sizeof(*w->self));
	for (size_t i = 0; i < w->n_series; i++)
		for (size_t k = 0; k < w->rows.series.at[i].n; k++) {
			const struct export_row *row =
				&w->rows.rows.at[w->rows.series.at[i].first + k];
			uint32_t node = export_stacks_framed(&w->stacks, row->stack);

			if (node != EXPORT_GONE)
				w->self[node] = sum_of(w->self[node], row->weight);
		}
}

static void put_call_frame(struct writer *w, uint32_t node)
{
	const struct export_frame *f = NULL;
	string_id file = { 0 };
	const char *s;
	size_t n;

	text_out(&w->out, "\"callFrame\":{\"functionName\":");
	if (node == 0) {
		text_out(&w->out, "\"(root)\"");
	} else {
		f = &w->stacks.frames.at[w->stacks.nodes.at[node].frame];
		text_out_json(&w->out, f->name, strlen(f->name));
		file = f->file.v ? f->file : profile_module(w->p, (module_id){ f->module })->path;
	}
	s = profile_string(w->p, file, &n);
	text_out(&w->out, ",\"scriptId\":\"0\",\"url\":");
	text_out_json(&w->out, s, n);
	/* lines count from 0 */
	text_out(&w->out, ",\"lineNumber\":");
	text_out_int(&w->out, f && f->file.v && f->declared ? (int64_t)f->declared - 1 : -1);
	text_out(&w->out, ",\"columnNumber\":-1}");
}

/* Ticks: at which lines of their functions samples were. Where a transform or a grouping makes stacks, nobody knows. */

static bool same_tick(const void *things, uint32_t value, const void *key)
{
	const struct tick *a = (const struct tick *)things + value, *b = key;

	return a->node == b->node && a->line == b->line;
}

static uint32_t line_of(const struct writer *w, uint32_t stack)
{
	const struct frame *run = stack == 0 ? NULL
					     : location_frames(&w->stacks.locations,
							       w->stacks.stacks.location[stack]);

	return !run ? 0 : w->a->lens.inlines ? run[run->n_more].line : run->line;
}

static void add_tick(struct writer *w, const struct export_row *row)
{
	struct tick key = { .node = export_stacks_framed(&w->stacks, row->stack),
			    .line = line_of(w, row->stack) };
	uint64_t hash = hash_pair(key.node, key.line);
	uint32_t at;

	if (key.node == EXPORT_GONE || key.line == 0)
		return;
	at = map_find(&w->by_tick, hash, same_tick, w->ticks.at, &key);
	if (at == MAP_NONE) {
		at = (uint32_t)w->ticks.n;
		map_add(&w->by_tick, hash, at);
		vec_push(&w->ticks, key);
	}
	w->ticks.at[at].n = sum_of(w->ticks.at[at].n, row->count);
}

static void count_ticks(struct writer *w)
{
	w->first_tick = xcalloc(w->stacks.nodes.n, sizeof(*w->first_tick));
	if (export_drops_positions(w->a))
		return;
	for (size_t i = 0; i < w->n_series; i++)
		for (size_t k = 0; k < w->rows.series.at[i].n; k++)
			add_tick(w, &w->rows.rows.at[w->rows.series.at[i].first + k]);
	w->next_tick = xcalloc(w->ticks.n + 1, sizeof(*w->next_tick));
	for (uint32_t i = (uint32_t)w->ticks.n; i-- > 0;) {
		w->next_tick[i] = w->first_tick[w->ticks.at[i].node];
		w->first_tick[w->ticks.at[i].node] = i + 1;
	}
}

static void put_ticks(struct writer *w, uint32_t node)
{
	text_out(&w->out, ",\"positionTicks\":[");
	for (uint32_t i = w->first_tick[node]; i != 0; i = w->next_tick[i - 1]) {
		text_out(&w->out, i == w->first_tick[node] ? "{\"line\":" : ",{\"line\":");
		text_out_int(&w->out, w->ticks.at[i - 1].line);
		text_out(&w->out, ",\"ticks\":");
		text_out_int(&w->out, w->ticks.at[i - 1].n);
		text_out_char(&w->out, '}');
	}
	text_out_char(&w->out, ']');
}

static void put_nodes(struct writer *w, bool hits, int64_t scale)
{
	text_out(&w->out, "{\"nodes\":[");
	for (uint32_t i = 0; i < w->stacks.nodes.n; i++) {
		text_out(&w->out, i ? ",\n{\"id\":" : "\n{\"id\":");
		text_out_int(&w->out, (int64_t)i + 1);
		text_out_char(&w->out, ',');
		put_call_frame(w, i);
		text_out(&w->out, ",\"hitCount\":");
		text_out_int(&w->out, hits && w->self[i] > 0 ? w->self[i] / scale : 0);
		text_out(&w->out, ",\"children\":[");
		for (uint32_t c = w->child[i]; c != 0; c = w->next[c]) {
			if (c != w->child[i])
				text_out_char(&w->out, ',');
			text_out_int(&w->out, (int64_t)c + 1);
		}
		text_out_char(&w->out, ']');
		if (w->first_tick[i] != 0)
			put_ticks(w, i);
		text_out_char(&w->out, '}');
	}
	text_out_char(&w->out, ']');
}

/* Samples. */

/* Is the axis the recording's time? Of several threads it cannot be. */
static bool follows_time(const struct writer *w)
{
	return w->n_series == 1 && w->rows.series.at[0].timed;
}

/* A sample of a node that lasts so long, in the column that is being written. */
static void put_sample(struct writer *w, uint32_t node, int64_t ns)
{
	int64_t us = w->at_ns / NS_PER_US;

	if (w->filled)
		text_out_char(&w->out, ',');
	text_out_int(&w->out, w->deltas ? us - w->said_us : (int64_t)node + 1);
	w->filled = true;
	w->said_us = us;
	w->at_ns = sum_of(w->at_ns, ns > 0 ? ns : 0);
}

static void put_column(struct writer *w, bool deltas)
{
	bool timed = follows_time(w);

	w->deltas = deltas;
	w->filled = false;
	w->at_ns = timed && w->rows.series.at[0].n > 0
			   ? w->rows.rows.at[w->rows.series.at[0].first].time_ns
			   : 0;
	w->at_ns = w->at_ns == TIME_NONE ? 0 : w->at_ns;
	w->said_us = 0;
	for (size_t i = 0; i < w->n_series; i++)
		for (size_t k = 0; k < w->rows.series.at[i].n; k++) {
			const struct export_row *row =
				&w->rows.rows.at[w->rows.series.at[i].first + k];
			uint32_t node = export_stacks_framed(&w->stacks, row->stack);

			if (node == EXPORT_GONE)
				continue;
			if (timed && row->time_ns != TIME_NONE &&
			    row->time_ns - w->at_ns > row->weight / LEAST_GAP)
				put_sample(w, 0, row->time_ns - w->at_ns);
			put_sample(w, node, row->weight);
		}
}

static void put_cpu(struct writer *w, bool samples, int64_t scale)
{
	count_ticks(w);
	put_nodes(w, !samples, scale);
	text_out(&w->out, ",\n\"startTime\":0");
	if (samples) {
		text_out(&w->out, ",\n\"samples\":[");
		put_column(w, false);
		text_out(&w->out, "],\n\"timeDeltas\":[");
		put_column(w, true);
		text_out_char(&w->out, ']');
	}
	text_out(&w->out, ",\n\"endTime\":");
	text_out_int(&w->out, samples ? w->at_ns / NS_PER_US : 0);
	text_out(&w->out, "}\n");
}

/* Nested, without recursion: stacks may be deep. */
static void put_heap(struct writer *w, int64_t scale)
{
	uint32_t at = 0;
	bool down = true;

	text_out(&w->out, "{\"head\":");
	for (;;) {
		if (down) {
			text_out_char(&w->out, '{');
			put_call_frame(w, at);
			text_out(&w->out, ",\"selfSize\":");
			text_out_int(&w->out, w->self[at] > 0 ? w->self[at] / scale : 0);
			text_out(&w->out, ",\"id\":");
			text_out_int(&w->out, (int64_t)at + 1);
			text_out(&w->out, ",\"children\":[");
		}
		if (down && w->child[at]) {
			at = w->child[at];
			continue;
		}
		text_out(&w->out, "]}");
		if (at == 0)
			break;
		down = w->next[at] != 0;
		if (down)
			text_out(&w->out, ",\n");
		at = down ? w->next[at] : w->stacks.nodes.at[at].parent;
	}
	text_out(&w->out, ",\"samples\":[]}\n");
}

static int put_all(struct writer *w, struct err *e)
{
	const struct export_series *s = w->rows.series.at;

	while (w->n_series < w->rows.series.n && s[w->n_series].shown)
		w->n_series++;
	if (w->n_series == 0)
		return err_set(e, -ENODATA,
			       "there is nothing to write: no sample passes the filter");
	sum_nodes(w);
	link_nodes(w);
	if (s->unit == UNIT_BYTES)
		put_heap(w, s->scale);
	else
		put_cpu(w, s->unit == UNIT_NS && s->scale == 1, s->scale);
	return text_out_done(&w->out, e);
}

/* What a file says of a frame is its function's URL and line, and of a node the lines that were sampled. */

/* Has no function another module than its source file? */
static bool are_files_modules(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->counts.n_functions; i++) {
		const struct function *f = profile_function(a->profile, (function_id){ i });
		string_id file = function_file(f);

		if (file.v && f->module.v &&
		    file.v != profile_module(a->profile, f->module)->path.v)
			return false;
	}
	return true;
}

/* Is each frame that calls another at the line of its function? */
static bool are_callers_declared(const struct analysis *a)
{
	bool *calls = xcalloc(a->counts.n_locations + 1u, sizeof(*calls)), good = true;
	struct location_columns l;
	struct stack_columns s;

	profile_locations(a->profile, &l);
	profile_stacks_of(a->profile, &a->counts, &s);
	for (uint32_t i = 1; i < a->counts.n_stacks; i++)
		if (s.parent[i] != 0)
			calls[s.location[s.parent[i]]] = true;
	for (uint32_t i = 0; i < a->counts.n_locations && good; i++) {
		const struct frame *run = calls[i] ? location_frames(&l, i) : NULL;

		if (run && run->function < a->counts.n_functions)
			good = run->line == function_line(profile_function(
						    a->profile, (function_id){ run->function }));
	}
	free(calls);
	return good;
}

unsigned v8_holds_also(const struct analysis *a)
{
	bool timed = metric_unit(a->profile, a->lens.column[0].metric) == UNIT_NS;
	unsigned positions = HOLDS(ADDRESSES) | HOLDS(INLINED);

	return (timed && a->counts.n_threads <= 1 ? HOLDS(TIMES) : 0) |
	       (are_files_modules(a) ? HOLDS(MODULES) : 0) |
	       (!(export_has(a) & positions) && are_callers_declared(a) ? HOLDS(LINES) : 0);
}

int v8_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc, written = 0;

	(void)o;
	w->a = a;
	w->p = a->profile;
	text_out_init(&w->out, to);
	rc = export_stacks_init(&w->stacks, a, EXPORT_KEYS);
	if (rc == 0)
		rc = export_rows_init_shown(&w->rows, a);
	if (rc == 0)
		written = put_all(w, e);
	export_rows_done(&w->rows);
	export_stacks_done(&w->stacks);
	free(w->self);
	free(w->child);
	free(w->next);
	free(w->first_tick);
	free(w->next_tick);
	vec_done(&w->ticks);
	map_done(&w->by_tick);
	free(w);
	return rc ? err_set(e, rc, "cannot go through the samples") : written;
}
