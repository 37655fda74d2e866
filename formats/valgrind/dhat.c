/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Program points as a heap that is known at three moments: its start, the peak, and the end. What a point holds at the peak and
 * at the end has as many bytes in common as it must, given what it allocated in all; the rest of its blocks are sums. What a heap
 * has no place for (reads, writes, lifetimes) are events of their own.
 */
#include "config.h"

#include "formats/valgrind/dhat.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/valgrind/dhat_text.h"
#include "formats/valgrind/valgrind_frame.h"
#include "input/input.h"
#include "profile/heap/heap_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 2

/* Later times, in ns, are not worked with. */
#define MOST_NS (INT64_MAX / 8)

/* Points between two looks at whether to stop. */
#define BATCH 4096

/* An event beside the heap, or all there is of other modes. */
struct beside {
	event_id event;
	enum dhat_number number;
	int64_t scale; /* of one in the file */
};

#define MOST_BESIDE 5

struct reader {
	struct profile *p;
	capture_id capture;
	struct progress *progress;
	struct dhat_text t;
	struct json_end end;
	struct valgrind_frames frames;
	uint32_t *location; /* [t.strings.n] location_id, ID_NONE: not asked for yet; owned */
	uint32_t unknown;   /* location_id of frames that are not there, ID_NONE */
	bool is_heap;
	track_id track;
	event_id malloc_event;
	struct beside beside[MOST_BESIDE];
	int n_beside;
	VEC(uint32_t) stacks; /* [t.points.n] */
	VEC(uint32_t)
	at_peak; /* [t.points.n] allocation_id of what is freed before the end, or ID_NONE */
	uint64_t n_odd_frames, n_large, n_contradictory;
};

static bool is(const struct dhat_string *s, const char *text)
{
	return s->s && strcmp(s->s, text) == 0;
}

/* Nanoseconds that one of the file's unit of time is; 1 where it is no time. */
static int64_t unit_ns(const struct reader *r)
{
	return is(&r->t.time_unit, "\xc2\xb5s") || is(&r->t.time_unit, "us") ? 1000 : 1;
}

static int64_t time_of(const struct reader *r, int64_t t)
{
	return t > 0 && t < MOST_NS / unit_ns(r) ? t * unit_ns(r) : 0;
}

/* Stacks. */

static location_id location_of(struct reader *r, uint32_t frame)
{
	if (frame >= r->t.strings.n || !r->t.strings.at[frame].s) {
		r->n_odd_frames++;
		if (r->unknown == ID_NONE)
			r->unknown = valgrind_frame_location(&r->frames, "???", 3).v;
		return (location_id){ r->unknown };
	}
	if (r->location[frame] == ID_NONE)
		r->location[frame] = valgrind_frame_location(&r->frames, r->t.strings.at[frame].s,
							     r->t.strings.at[frame].n)
					     .v;
	return (location_id){ r->location[frame] };
}

static stack_id stack_of(struct reader *r, const struct dhat_point *p)
{
	stack_id s = { 0 };

	for (size_t i = p->n; i-- > 0;)
		s = build_stack(r->p, s, location_of(r, r->t.frames.at[p->first + i]));
	return s;
}

/* The heap. */

static bool claim(struct reader *r, int64_t bytes)
{
	if ((uint64_t)bytes <= SIZE_MOST &&
	    ((uint64_t)bytes < SIZE_LARGE || build_heap_claim(r->p, (uint64_t)bytes)))
		return true;
	r->n_large++;
	return false;
}

static uint32_t allocate(struct reader *r, uint32_t origin, int64_t bytes)
{
	if (bytes == 0 || !claim(r, bytes))
		return ID_NONE;
	return build_allocation(r->p, r->track, (uint64_t)bytes, (origin_id){ origin }).v;
}

/* What a point must hold at the peak and at the end alike, as it did not allocate more. */
static int64_t common(const struct dhat_point *p)
{
	int64_t twice = 0;

	if (__builtin_add_overflow(p->number[DHAT_GB], p->number[DHAT_EB], &twice))
		return 0;
	return twice > p->number[DHAT_TB] ? twice - p->number[DHAT_TB] : 0;
}

/* Says it more than it allocated? Then it is left as it is, and sums are what levels say. */
static bool contradicts(const struct dhat_point *p)
{
	return p->number[DHAT_GB] > p->number[DHAT_TB] || p->number[DHAT_EB] > p->number[DHAT_TB];
}

static uint32_t origin_of(struct reader *r, size_t i)
{
	const struct heap_origin o = { .stack = r->stacks.at[i],
				       .thread = ID_NONE,
				       .event = (uint16_t)r->malloc_event.v,
				       .track = (uint16_t)r->track.v };

	return build_heap_origin(r->p, &o).v;
}

/* All blocks but those that are rows. */
static void add_rest(struct reader *r, size_t i, int64_t n_rows, int64_t row_bytes)
{
	const struct dhat_point *p = &r->t.points.at[i];
	int64_t calls = p->number[DHAT_TBK] - n_rows, bytes = p->number[DHAT_TB] - row_bytes;
	struct heap_bulk bulk = { .origin = origin_of(r, i) };

	if (calls < 0 || bytes < 0) {
		r->n_contradictory++;
		return;
	}
	if (calls == 0 && bytes == 0)
		return;
	if (!build_heap_claim(r->p, (uint64_t)bytes)) {
		r->n_large++;
		return;
	}
	bulk.calls = (uint64_t)calls;
	bulk.bytes = (uint64_t)bytes;
	build_bulk(r->p, &bulk);
}

static void build_heap(struct reader *r)
{
	build_moment(r->p, r->track, 0);
	build_moment(r->p, r->track, time_of(r, r->t.peak));
	for (size_t i = 0; i < r->t.points.n; i++) {
		const struct dhat_point *p = &r->t.points.at[i];
		uint32_t origin = origin_of(r, i);
		int64_t stays = contradicts(p) ? 0 : common(p);

		allocate(r, origin, stays);
		vec_push(&r->at_peak, allocate(r, origin, p->number[DHAT_GB] - stays));
	}
	build_moment(r->p, r->track, time_of(r, r->t.end > r->t.peak ? r->t.end : r->t.peak));
	for (size_t i = 0; i < r->t.points.n; i++) {
		const struct dhat_point *p = &r->t.points.at[i];
		int64_t stays = contradicts(p) ? 0 : common(p), gb = p->number[DHAT_GB] - stays,
			eb = p->number[DHAT_EB] - stays;

		if (r->at_peak.at[i] != ID_NONE)
			build_release(r->p, (allocation_id){ r->at_peak.at[i] }, r->track, false,
				      (origin_id){ ID_NONE });
		allocate(r, origin_of(r, i), eb);
		add_rest(r, i, (stays > 0) + (gb > 0) + (eb > 0), stays + gb + eb);
	}
}

/* Events. */

static void add_event(struct reader *r, const char *name, enum unit unit, enum dhat_number number,
		      int64_t scale)
{
	r->beside[r->n_beside++] = (struct beside){ build_summed_event(r->p, name, unit), number,
						    scale };
}

/* What the modes count, in the words of the file where it has some. */
static void begin_events(struct reader *r)
{
	bool is_time = unit_ns(r) > 1;

	r->is_heap = r->t.has_lifetimes || !r->t.mode.s || is(&r->t.mode, "heap") ||
		     is(&r->t.mode, "rust-heap");
	if (r->is_heap) {
		r->malloc_event = build_heap_event(r->p, "malloc");
		build_event_default(r->p, r->malloc_event);
		r->track = build_heap_track(
			r->p, build_process_of_name(r->p, r->capture, (string_id){ 0 }), 0, 0);
		if (r->t.has_lifetimes) {
			add_event(r, "most of a stack", UNIT_BYTES, DHAT_MB, 1);
			add_event(r, "lifetimes", is_time ? UNIT_NS : UNIT_COUNT, DHAT_TL,
				  unit_ns(r));
		}
		if (r->t.has_accesses) {
			add_event(r, "reads", UNIT_BYTES, DHAT_RB, 1);
			add_event(r, "writes", UNIT_BYTES, DHAT_WB, 1);
		}
		return;
	}
	if (is(&r->t.mode, "copy")) {
		add_event(r, "copied", UNIT_BYTES, DHAT_TB, 1);
		add_event(r, "copies", UNIT_COUNT, DHAT_TBK, 1);
		return;
	}
	add_event(r, r->t.unit.s ? r->t.unit.s : "units", UNIT_COUNT, DHAT_TB, 1);
	add_event(r, r->t.blocks_unit.s ? r->t.blocks_unit.s : "events", UNIT_COUNT, DHAT_TBK, 1);
}

static void add_samples(struct reader *r, size_t i)
{
	for (int k = 0; k < r->n_beside; k++) {
		struct sample s = { .stack = { r->stacks.at[i] },
				    .thread = { ID_NONE },
				    .event = r->beside[k].event,
				    .cpu = CPU_NONE,
				    .time_ns = TIME_NONE };

		if (__builtin_mul_overflow(r->t.points.at[i].number[r->beside[k].number],
					   r->beside[k].scale, &s.weight) ||
		    (s.weight > 0 && build_sample(r->p, &s) < 0))
			r->n_large++;
	}
}

static int build(struct reader *r)
{
	int rc = 0;

	r->location = xmalloc((r->t.strings.n + 1) * sizeof(*r->location));
	for (size_t i = 0; i < r->t.strings.n; i++)
		r->location[i] = ID_NONE;
	builder_begin(r->p);
	begin_events(r);
	for (size_t i = 0; i < r->t.points.n && rc == 0; i++) {
		vec_push(&r->stacks, stack_of(r, &r->t.points.at[i]).v);
		add_samples(r, i);
		if (i % BATCH == BATCH - 1) {
			rc = builder_end(r->p);
			builder_begin(r->p);
			if (progress_cancelled(r->progress))
				rc = -ECANCELED;
		}
	}
	if (rc == 0 && r->is_heap)
		build_heap(r);
	return builder_end(r->p) < 0 ? -EFBIG : rc;
}

/* What `info` says. */

static void tell_heap(struct reader *r)
{
	bool is_time = unit_ns(r) > 1;

	build_heap_lacks(r->p, r->track,
			 HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES | HEAP_LACKS_TEMPORARY |
				 HEAP_LACKS_TIMES | HEAP_LACKS_SIZES);
	build_heap_gone(r->p, r->track, time_of(r, r->t.end));
	build_fact(r->p, r->capture, "heap", "single blocks", FACT_PLAIN,
		   "not in the file: which lived when, and which were temporary, is not known");
	build_fact(r->p, r->capture, "heap", "threads", FACT_PLAIN, "DHAT does not record them");
	build_fact(r->p, r->capture, "heap", "clock", FACT_PLAIN,
		   "%s: how much was in use is known at "
		   "t-gmax and at t-end only",
		   is_time ? "sums at the peak and the end" : "1 ns is 1 instruction");
}

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	if (r->t.command.s)
		build_fact(r->p, r->capture, "file", "command", FACT_PLAIN, "%s", r->t.command.s);
	if (r->t.mode.s)
		build_fact(r->p, r->capture, "file", "mode", FACT_PLAIN, "%s", r->t.mode.s);
	build_fact(r->p, r->capture, "file", "program points", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->t.points.n));
	if (r->is_heap)
		tell_heap(r);
	facts_json_end(r->p, r->capture, &r->end);
	facts_loss(r->p, r->capture, "frames", r->n_odd_frames, "frame",
		   "that is not in the table of frames");
	facts_loss(r->p, r->capture, "numbers", r->t.n_odd, "number", "that is none, or negative");
	facts_loss(r->p, r->capture, "sums", r->n_large, "number",
		   "left out, as it is more than can be");
	facts_loss(r->p, r->capture, "points", r->n_contradictory, "point",
		   "with more in use than it allocated: its calls and bytes are not whole");
	builder_end(r->p);
}

static int refuse_version(const struct reader *r, const struct input *in, struct err *e)
{
	return err_set(e, -EBADMSG,
		       "%s: is of version %" PRId64 " of DHAT's format; version %d is read",
		       input_name(in), r->t.version, FORMAT_VERSION);
}

static int read_dhat(struct input *in, struct profile *p, capture_id c,
		     const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = {
		.p = p, .capture = c, .progress = progress, .frames = { .p = p }, .unknown = ID_NONE
	};
	int rc = dhat_text_read(&r.t, in, &r.end, progress, e);

	(void)o; /* names are in the file */
	if (rc == 0 && r.t.version != FORMAT_VERSION)
		rc = refuse_version(&r, in, e);
	if (rc == 0 && r.t.points.n == 0)
		rc = facts_refuse_json(&r.end, in, "is a DHAT profile", e);
	if (rc == 0) {
		rc = build(&r);
		if (rc == -EFBIG)
			err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
		if (rc == -ECANCELED)
			err_set(e, rc, "%s: reading was stopped", input_name(in));
		if (rc != -ECANCELED)
			tell(&r);
	}
	dhat_text_done(&r.t);
	valgrind_frames_done(&r.frames);
	vec_done(&r.stacks);
	vec_done(&r.at_peak);
	free(r.location);
	free(r.end.why);
	return rc;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return json_has_key(bytes, n, "dhatFileVersion") ? FORMAT_SURE + 20 : 0;
}

const struct format format_dhat = {
	.name = "dhat",
	.title = "DHAT's JSON (valgrind, Rust's dhat)",
	.probe = probe,
	.read = read_dhat,
};
