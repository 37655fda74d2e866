/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedscope has a list of frames that all profiles share, and spells each sample's stack out in indexes of it. The axis of a sampled
 * profile is the sum of its weights: a sample of time stands where it was taken only if what is between samples has a weight, too.
 */
#include "config.h"

#include "formats/speedscope/speedscope_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "formats/write/export_losses.h"
#include "formats/write/export_own.h"
#include "formats/write/export_rows.h"
#include "formats/write/export_stacks.h"
#include "formats/write/text_out.h"
#include "query/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A stretch without samples that is shorter than such a part of the next sample is no stretch. */
#define LEAST_GAP 10

struct writer {
	const struct analysis *a;
	struct export_stacks stacks;
	struct export_rows rows;
	VEC(uint32_t) path;
	VEC(uint32_t)
	frames; /* of the stacks', the first of each that is written: those of one function at one line are one */
	VEC(uint32_t)
	number; /* [stacks.frames.n so far] index in frames; UINT32_MAX: not asked for yet */
	struct map by_position; /* of frames */
	struct text_out out;
};

/* What is written of a series: its samples, or their weights. */
enum part { SAMPLES, WEIGHTS };

static void put_text(struct writer *w, const char *key, const char *s, size_t n)
{
	text_out_char(&w->out, '"');
	text_out(&w->out, key);
	text_out(&w->out, "\":");
	text_out_json(&w->out, s, n);
}

static bool same_position(const void *things, uint32_t value, const void *key)
{
	const struct writer *w = things;
	const struct export_frame *a = &w->stacks.frames.at[w->frames.at[value]], *b = key;

	return a->key == b->key && a->line == b->line && a->file.v == b->file.v;
}

/* Which frame of the file one of the stacks' is. */
static uint32_t number_of(struct writer *w, uint32_t frame)
{
	const struct export_frame *f = &w->stacks.frames.at[frame];
	uint64_t hash = hash_u64(hash_pair(f->key, f->line) + f->file.v);

	while (w->number.n <= frame)
		vec_push(&w->number, UINT32_MAX);
	if (w->number.at[frame] == UINT32_MAX)
		w->number.at[frame] = map_find(&w->by_position, hash, same_position, w, f);
	if (w->number.at[frame] == MAP_NONE) {
		w->number.at[frame] = (uint32_t)w->frames.n;
		map_add(&w->by_position, hash, (uint32_t)w->frames.n);
		vec_push(&w->frames, frame);
	}
	return w->number.at[frame];
}

/* The frames of a sample, outermost first. */
static void put_stack(struct writer *w, uint32_t node)
{
	vec_clear(&w->path);
	for (; node != 0; node = w->stacks.nodes.at[node].parent)
		vec_push(&w->path, w->stacks.nodes.at[node].frame);
	text_out_char(&w->out, '[');
	while (w->path.n > 0) {
		text_out_int(&w->out, number_of(w, w->path.at[--w->path.n]));
		if (w->path.n > 0)
			text_out_char(&w->out, ',');
	}
	text_out_char(&w->out, ']');
}

/* Is the axis the recording's time? */
static bool follows_time(const struct export_series *s)
{
	return s->unit == UNIT_NS && s->timed && s->scale == 1;
}

/* One sample of a series, in the part that is being written. */
static void put(struct writer *w, enum part part, bool first, uint32_t node, int64_t weight,
		int64_t scale)
{
	if (!first)
		text_out_char(&w->out, ',');
	if (part == SAMPLES)
		put_stack(w, node);
	else
		text_out_scaled(&w->out, weight, scale);
}

/* Where the series begins and ends on its axis. */
struct extent {
	int64_t begin, end;
};

static struct extent put_part(struct writer *w, const struct export_series *s, enum part part)
{
	const struct export_row *row = &w->rows.rows.at[s->first];
	bool timed = follows_time(s), first = true;
	struct extent x = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		uint32_t node = export_stacks_framed(&w->stacks, row[i].stack);

		if (node == EXPORT_GONE)
			continue;
		if (timed && first && row[i].time_ns != TIME_NONE)
			x.begin = x.end = row[i].time_ns;
		if (timed && row[i].time_ns != TIME_NONE &&
		    row[i].time_ns - x.end > row[i].weight / LEAST_GAP) {
			put(w, part, first, 0, row[i].time_ns - x.end, 1);
			first = false;
			x.end = row[i].time_ns;
		}
		put(w, part, first, node, row[i].weight, s->scale);
		first = false;
		if (__builtin_add_overflow(x.end, row[i].weight, &x.end))
			x.end = INT64_MAX;
	}
	return x;
}

static void put_profile(struct writer *w, const struct export_series *s)
{
	static const char *const units[] = {
		[UNIT_COUNT] = "none", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes"
	};
	char *name = export_rows_name(&w->rows, w->a, s);
	struct extent x;

	text_out(&w->out, "{\"type\":\"sampled\",");
	put_text(w, "name", name, strlen(name));
	text_out_char(&w->out, ',');
	export_own_put(&w->out, w->a, s);
	text_out(&w->out, ",\"unit\":\"");
	text_out(&w->out, units[s->unit]);
	text_out(&w->out, "\",\"samples\":[");
	put_part(w, s, SAMPLES);
	text_out(&w->out, "],\n\"weights\":[");
	x = put_part(w, s, WEIGHTS);
	text_out(&w->out, "],\"startValue\":");
	text_out_scaled(&w->out, x.begin, s->scale);
	text_out(&w->out, ",\"endValue\":");
	text_out_scaled(&w->out, x.end, s->scale);
	text_out(&w->out, "}");
	free(name);
}

/* Where the frame is, or else where its function is declared, which our reader does not take for the former. */
static void put_line(struct writer *w, const struct export_frame *f)
{
	if (!f->file.v || (f->line == 0 && f->declared == 0))
		return;
	text_out(&w->out, ",\"line\":");
	text_out_int(&w->out, f->line ? f->line : f->declared);
	if (f->declared == 0)
		return;
	text_out(&w->out, f->line ? ",\"declared\":" : ",\"only_declared\":");
	text_out_int(&w->out, f->declared);
}

static void put_frames(struct writer *w)
{
	const struct profile *p = w->a->profile;

	for (size_t i = 0; i < w->frames.n; i++) {
		const struct export_frame *f = &w->stacks.frames.at[w->frames.at[i]];
		string_id path = profile_module(p, (module_id){ f->module })->path;
		size_t n;
		const char *file = profile_string(p, f->file.v ? f->file : path, &n);

		text_out(&w->out, i ? ",\n{" : "\n{");
		put_text(w, "name", f->name, strlen(f->name));
		if (n > 0) {
			text_out_char(&w->out, ',');
			put_text(w, "file", file, n);
		}
		if (f->file.v && path.v) {
			const char *module = profile_string(p, path, &n);

			text_out_char(&w->out, ',');
			put_text(w, "module", module, n);
		}
		put_line(w, f);
		text_out_char(&w->out, '}');
	}
}

static void put_all(struct writer *w)
{
	const char *path = profile_string(w->a->profile,
					  profile_part(w->a->profile, (part_id){ 0 })->path, NULL);
	bool first = true;

	text_out(&w->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
	text_out(&w->out, "\"exporter\":\"proftop " VERSION "\",\"activeProfileIndex\":0,");
	put_text(w, "name", path, strlen(path));
	text_out(&w->out, ",\n\"profiles\":[");
	for (size_t i = 0; i < w->rows.series.n; i++) {
		text_out(&w->out, first ? "\n" : ",\n");
		put_profile(w, &w->rows.series.at[i]);
		first = false;
	}
	/* frames are known when all samples are written */
	text_out(&w->out, "],\n\"shared\":{\"frames\":[");
	put_frames(w);
	text_out(&w->out, "]}}\n");
}

/* Functions are frames, but a profile whose frames have no addresses was of functions at lines already. */
bool speedscope_has_lines(const struct analysis *a)
{
	return !(export_has(a) & HOLDS(ADDRESSES));
}

int speedscope_write(const struct analysis *a, const struct write_options *o, FILE *to,
		     struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc, written = 0;

	(void)o;
	w->a = a;
	text_out_init(&w->out, to);
	rc = export_stacks_init(&w->stacks, a,
				speedscope_has_lines(a) ? EXPORT_LOCATIONS : EXPORT_KEYS);
	if (rc == 0)
		rc = export_rows_init(&w->rows, a);
	if (rc == 0) {
		put_all(w);
		written = text_out_done(&w->out, e);
	}
	export_rows_done(&w->rows);
	export_stacks_done(&w->stacks);
	vec_done(&w->path);
	vec_done(&w->frames);
	vec_done(&w->number);
	map_done(&w->by_position);
	free(w);
	return rc ? err_set(e, rc, "cannot go through the samples") : written;
}
