/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A speedscope file into the model: a profile of it is a thread. Sampled ones are samples with weights; of evented ones each stretch
 * between two events is a row, of the stack that was open then.
 */
#include "config.h"

#include "formats/speedscope/speedscope.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/speedscope/speedscope_text.h"
#include "formats/speedscope/speedscope_write.h"
#include "input/input.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights in no unit keep so many parts of one where they are fractions. */
#define PARTS      1000
/* Frames of one stack. */
#define MOST_DEPTH ((size_t)1 << 20)
/* Rows between two looks at whether to stop. */
#define BATCH      4096

struct unit_name {
	const char *name;
	enum unit unit;
	double each;
};

static const struct unit_name unit_names[] = {
	{ "none", UNIT_COUNT, 1 },        { "nanoseconds", UNIT_NS, 1 },
	{ "microseconds", UNIT_NS, 1e3 }, { "milliseconds", UNIT_NS, 1e6 },
	{ "seconds", UNIT_NS, 1e9 },      { "bytes", UNIT_BYTES, 1 },
};

/* A frame on the stack that is being built. */
struct placed_frame {
	uint32_t frame; /* index of the text's */
	uint32_t stack; /* stack_id up to it, ID_NONE: not asked for yet */
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct progress *progress;
	enum root_names root_names;
	struct speedscope_text t;
	struct json_end end;
	uint32_t *location;   /* [t.frames.n] location_id, ID_NONE: not asked for yet; owned */
	uint32_t *times_open; /* [t.frames.n] how often each is in open; owned */
	/* what an evented profile has open, or the frames of the sample before, outermost first */
	VEC(struct placed_frame) open;
	uint64_t n_rows;
	uint64_t n_empty; /* samples without a frame */
	uint64_t n_short; /* without a weight */
	/* of a frame that is not in the file, or that end what is not open, or earlier than it began */
	uint64_t n_odd;
	uint64_t n_large; /* that make a sum too large */
	/* Of the profile that is being built: */
	struct unit_name unit;
	event_id event;
	int64_t scale;
	struct sample like;
	stack_id root;
};

/* What a profile is about. */

static struct unit_name unit_of(const struct profile *p, string_id name)
{
	const char *text = profile_string(p, name, NULL);

	for (size_t i = 0; i < sizeof(unit_names) / sizeof(*unit_names); i++)
		if (strcmp(text, unit_names[i].name) == 0)
			return unit_names[i];
	return unit_names[0];
}

static bool has_fractions(const struct speedscope_profile *s)
{
	for (size_t i = 0; i < s->weights.n; i++)
		if (s->weights.at[i] != trunc(s->weights.at[i]))
			return true;
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i].at != trunc(s->events.at[i].at))
			return true;
	return false;
}

/* Of a profile that proftop wrote: the event that it had been. */
static event_id own_event(struct reader *r, const struct speedscope_profile *s)
{
	const char *kind = profile_string(r->p, s->kind, NULL);
	const char *name = profile_string(r->p, s->metric, NULL);

	if (strcmp(kind, "counted") == 0)
		return build_counted_event(r->p, name);
	if (strcmp(kind, "summed") == 0)
		return build_summed_event(r->p, name, r->unit.unit);
	return build_event(r->p, name, r->unit.unit, strcmp(kind, "samples") != 0);
}

static event_id event_of(struct reader *r, const struct speedscope_profile *s)
{
	static const char *const names[] = {
		[UNIT_COUNT] = "weight", [UNIT_NS] = "time", [UNIT_BYTES] = "bytes"
	};
	const char *name = names[r->unit.unit];

	if (s->own)
		return own_event(r, s);
	return s->evented ? build_summed_event(r->p, name, r->unit.unit)
			  : build_event(r->p, name, r->unit.unit, true);
}

static int32_t number(int64_t n)
{
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* The thread of a profile that proftop wrote; none: it is of all of them. */
static void set_own_thread(struct reader *r, const struct speedscope_profile *s)
{
	int32_t pid = number(s->pid), tid = number(s->tid);
	process_id process;

	if (pid < 0 && tid < 0 && s->thread.v == 0)
		return;
	process = pid >= 0 ? build_process(r->p, r->capture, pid)
			   : build_process_of_name(r->p, r->capture, s->process);
	if (pid >= 0 && s->process.v)
		build_process_name(r->p, process, s->process);
	r->like.thread = build_thread(r->p, process, tid, s->thread);
	r->root = build_stack(r->p, r->root,
			      build_root_location(r->p, s->thread, pid, tid, r->root_names));
}

static void set_thread(struct reader *r, const struct speedscope_profile *s)
{
	process_id process = build_process_of_name(r->p, r->capture, s->name);

	r->like.thread = build_thread(r->p, process, -1, s->name);
	if (r->t.profiles.n > 1)
		r->root = build_stack(r->p, r->root,
				      build_root_location(r->p, s->name, -1, -1, r->root_names));
}

static void begin_profile(struct reader *r, const struct speedscope_profile *s)
{
	r->unit = unit_of(r->p, s->unit);
	r->event = event_of(r, s);
	if (r->unit.unit == UNIT_COUNT && has_fractions(s) &&
	    profile_event(r->p, r->event)->scale % PARTS != 0)
		build_scale(r->p, r->event, PARTS);
	r->scale = profile_event(r->p, r->event)->scale;
	r->like = (struct sample){ .event = r->event, .cpu = CPU_NONE, .thread = { ID_NONE } };
	r->root = (stack_id){ 0 };
	if (s->own)
		set_own_thread(r, s);
	else
		set_thread(r, s);
}

/* Rows. */

static location_id location_of(struct reader *r, uint32_t frame)
{
	const struct named_frame *f = &r->t.frames.at[frame];
	module_id module = named_frame_object(r->p, r->t.modules.at[frame]);

	return module.v ? named_frame_location_in(r->p, f, module) : named_frame_location(r->p, f);
}

/* The stack of all that is open. What was known of outer frames is not asked for again: stacks may be deep. */
static stack_id open_stack(struct reader *r)
{
	size_t i = r->open.n;
	stack_id stack;

	while (i > 0 && r->open.at[i - 1].stack == ID_NONE)
		i--;
	stack.v = i > 0 ? r->open.at[i - 1].stack : r->root.v;
	for (; i < r->open.n; i++) {
		uint32_t frame = r->open.at[i].frame;

		if (r->location[frame] == ID_NONE)
			r->location[frame] = location_of(r, frame).v;
		stack = build_stack(r->p, stack, (location_id){ r->location[frame] });
		r->open.at[i].stack = stack.v;
	}
	return stack;
}

/* In ns where the unit is of time. */
static int64_t time_of(const struct reader *r, double at)
{
	double ns = at * r->unit.each;

	return r->unit.unit == UNIT_NS && fabs(ns) < 9e18 ? (int64_t)ns : TIME_NONE;
}

static void add_row(struct reader *r, stack_id stack, double at, double weight)
{
	double scaled = round(weight * r->unit.each * (double)r->scale);

	r->like.stack = stack;
	r->like.time_ns = time_of(r, at);
	r->like.weight = (int64_t)(fabs(scaled) < 9e18 ? scaled : 0);
	if (fabs(scaled) >= 9e18 || build_sample(r->p, &r->like) < 0)
		r->n_large++;
	else
		r->n_rows++;
}

/* Publishes now and then; false when somebody wants it to end. */
static bool go_on(struct reader *r, size_t i)
{
	if (i % BATCH == BATCH - 1) {
		builder_end(r->p);
		builder_begin(r->p);
	}
	return !progress_cancelled(r->progress);
}

static uint32_t take_frame(const uint16_t **at)
{
	uint32_t frame = *(*at)++;

	if (frame < SPEEDSCOPE_LARGE)
		return frame;
	*at += 2;
	return (uint32_t)(*at)[-2] << 16 | (*at)[-1];
}

/* Opens what the sample has of its own. False: a frame is not in the file. */
static bool open_sample(struct reader *r, const struct speedscope_sample *s, const uint16_t **own)
{
	bool good = s->n_shared <= r->open.n;

	r->open.n = good ? s->n_shared : r->open.n;
	for (uint32_t i = 0; i < s->n_own; i++) {
		uint32_t frame = take_frame(own);

		good = good && frame < r->t.frames.n;
		if (good)
			vec_push(&r->open, ((struct placed_frame){ frame, ID_NONE }));
	}
	return good;
}

static void build_samples(struct reader *r, const struct speedscope_profile *s)
{
	const uint16_t *own = s->frames.at;
	double at = s->start;

	vec_clear(&r->open);
	for (size_t i = 0; i < s->samples.n && go_on(r, i); i++) {
		const struct speedscope_sample *sample = &s->samples.at[i];
		double weight = i < s->weights.n ? s->weights.at[i] : 0;
		bool good = open_sample(r, sample, &own);

		r->n_short += i >= s->weights.n;
		r->n_odd += !good;
		r->n_empty += good && r->open.n == 0;
		if (good && r->open.n > 0 && i < s->weights.n)
			add_row(r, open_stack(r), at, weight);
		at += weight;
	}
}

static void open_frame(struct reader *r, uint32_t frame)
{
	vec_push(&r->open, ((struct placed_frame){ frame, ID_NONE }));
	r->times_open[frame]++;
}

/* The frame ends, and with it all that is open inside of it. */
static void close_frame(struct reader *r, uint32_t frame)
{
	size_t n = r->open.n;

	if (r->times_open[frame] == 0) {
		r->n_odd += n > 0;
		return;
	}
	do
		r->times_open[r->open.at[--n].frame]--;
	while (r->open.at[n].frame != frame);
	r->n_odd += n + 1 != r->open.n;
	r->open.n = n;
}

static void add_stretch(struct reader *r, double from, double to)
{
	r->n_odd += to < from;
	if (to > from && r->open.n > 0)
		add_row(r, open_stack(r), from, to - from);
}

static void build_events(struct reader *r, const struct speedscope_profile *s)
{
	double at = s->start;

	vec_clear(&r->open);
	for (size_t i = 0; i < s->events.n && go_on(r, i); i++) {
		const struct speedscope_event *e = &s->events.at[i];

		if (e->frame >= r->t.frames.n || (e->opens && r->open.n >= MOST_DEPTH)) {
			r->n_odd++;
			continue;
		}
		add_stretch(r, at, e->at);
		at = e->at > at ? e->at : at;
		if (e->opens)
			open_frame(r, e->frame);
		else
			close_frame(r, e->frame);
	}
	if (r->open.n > 0 && s->end > at)
		add_stretch(r, at, s->end);
	for (size_t i = 0; i < r->open.n; i++)
		r->times_open[r->open.at[i].frame] = 0;
}

static int build(struct reader *r)
{
	int rc = 0;

	r->location = xmalloc((r->t.frames.n + 1) * sizeof(*r->location));
	r->times_open = xcalloc(r->t.frames.n + 1, sizeof(*r->times_open));
	for (size_t i = 0; i < r->t.frames.n; i++)
		r->location[i] = ID_NONE;
	for (size_t i = 0; i < r->t.profiles.n && rc == 0; i++) {
		const struct speedscope_profile *s = &r->t.profiles.at[i];

		builder_begin(r->p);
		begin_profile(r, s);
		if (s->evented)
			build_events(r, s);
		else
			build_samples(r, s);
		rc = builder_end(r->p);
		if (progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	return rc;
}

/* What `info` says. */

static void tell(struct reader *r)
{
	const char *exporter = profile_string(r->p, r->t.exporter, NULL);
	char text[FMT_SIZE];

	builder_begin(r->p);
	if (*exporter)
		build_fact(r->p, r->capture, "file", "exporter", FACT_PLAIN, "%s", exporter);
	build_fact(r->p, r->capture, "file", "profiles", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->t.profiles.n));
	if (r->n_empty > 0)
		build_fact(r->p, r->capture, "file", "empty stacks", FACT_PLAIN,
			   "%s, not shown: nothing ran", fmt_count(text, (int64_t)r->n_empty));
	facts_json_end(r->p, r->capture, &r->end);
	facts_loss(r->p, r->capture, "weights", r->n_short, "sample", "without a weight");
	facts_loss(r->p, r->capture, "frames", r->n_odd, "row",
		   "of frames that are not in the file, or that end out of order");
	facts_loss(r->p, r->capture, "sums", r->n_large, "row",
		   "left out, as the sum would be too large");
	builder_end(r->p);
}

static int read_speedscope(struct input *in, struct profile *p, capture_id c,
			   const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .progress = progress,
			    .root_names = o ? o->root_names : ROOT_COMM };
	int rc = speedscope_text_read(&r.t, p, in, &r.end, progress, e);

	if (rc == 0)
		rc = build(&r);
	if (rc == 0 && r.n_rows == 0)
		rc = facts_refuse_json(&r.end, in, "is a speedscope file", e);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == 0 || rc == -EFBIG)
		tell(&r);
	speedscope_text_done(&r.t);
	vec_done(&r.open);
	free(r.location);
	free(r.times_open);
	free(r.end.why);
	return rc;
}

static int probe(const uint8_t *bytes, size_t n)
{
	static const char site[] = "speedscope.app/file-format-schema";

	if (n > 0 && memmem(bytes, n, site, sizeof(site) - 1) && json_has_key(bytes, n, "$schema"))
		return FORMAT_SURE + 20;
	return json_has_key(bytes, n, "shared") && json_has_key(bytes, n, "profiles") ? FORMAT_SURE
										      : 0;
}

static unsigned holds_also(const struct analysis *a)
{
	return speedscope_has_lines(a) ? HOLDS(LINES) : 0;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.title = "speedscope's JSON (speedscope, py-spy, rbspy)",
	.probe = probe,
	.read = read_speedscope,
	.inlined = true,
	.holds = HOLDS(STACKS) | HOLDS(SAMPLES) | HOLDS(TIMES) | HOLDS(THREADS) | HOLDS(MODULES),
	.holds_also = holds_also,
	.write = speedscope_write,
};
