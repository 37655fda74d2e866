/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events are sorted by thread and time, those of one time as they are in the file, but the longer of two that are whole first. A stack of
 * what is open follows them.
 */
#include "config.h"

#include "formats/v8/v8_spans.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/named_frames.h"
#include "formats/v8/v8_text.h"
#include "formats/v8/v8_threads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NS_PER_US  1000
/* Rows between two publications. */
#define BATCH      4096
/* What is open at once. */
#define DEPTH_MOST ((size_t)1 << 16)

/* What is open. */
struct open_span {
	const struct v8_span *span;
	double end_us;   /* INFINITY: told later */
	double least_us; /* the least end of it and of what is around it */
	stack_id stack;  /* with it on top */
	size_t around; /* index + 1 of what is open of the same name, told later and around it; 0: none … */
	size_t around_any; /* … and of any name */
};

/* What is open of a name and told later. */
struct open_name {
	uint32_t name;    /* string_id */
	size_t innermost; /* index + 1 in open; 0: none */
};

struct place {
	struct named_frame frame;
	location_id location;
};

struct spans {
	struct v8_text *t;
	struct profile *p;
	struct progress *progress;
	struct v8_spans_result *result;
	VEC(struct open_span) open;
	VEC(struct open_name) names;
	struct map by_name;
	size_t innermost; /* as of names, of any name */
	VEC(struct place) places;
	struct map by_place;
	struct sample like;
	stack_id root;
	double at_us; /* up to here rows were made */
	int rc;
};

/* By thread, time, and order in the file. */
static int compare_spans(const void *a, const void *b)
{
	const struct v8_span *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	if (x->phase == 'X' && y->phase == 'X' && x->for_us != y->for_us)
		return x->for_us > y->for_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_place(const void *things, uint32_t value, const void *key)
{
	const struct named_frame *a = &((const struct place *)things)[value].frame, *b = key;

	return a->name.v == b->name.v && a->file.v == b->file.v && a->line == b->line;
}

static location_id location_of(struct spans *s, const struct named_frame *f)
{
	uint64_t hash = hash_u64(hash_pair(f->name.v, f->file.v) ^ f->line);
	uint32_t at = map_find(&s->by_place, hash, same_place, s->places.at, f);
	struct place place = { .frame = *f };

	if (at != MAP_NONE)
		return s->places.at[at].location;
	place.location = named_frame_location(s->p, f);
	map_add(&s->by_place, hash, (uint32_t)s->places.n);
	vec_push(&s->places, place);
	return place.location;
}

static bool same_name(const void *things, uint32_t value, const void *key)
{
	return ((const struct open_name *)things)[value].name == *(const uint32_t *)key;
}

/* NULL: nothing of the name was open yet. */
static struct open_name *open_name(struct spans *s, uint32_t name)
{
	uint32_t at = map_find(&s->by_name, hash_u64(name), same_name, s->names.at, &name);

	return at != MAP_NONE ? &s->names.at[at] : NULL;
}

/* Puts it on top. */
static void push(struct spans *s, struct open_span o)
{
	uint32_t name = o.span->frame.name.v;
	struct open_name *of;

	vec_push(&s->open, o);
	if (o.span->phase == 'X')
		return;
	of = open_name(s, name);
	if (!of) {
		map_add(&s->by_name, hash_u64(name), (uint32_t)s->names.n);
		vec_push(&s->names, ((struct open_name){ .name = name }));
		of = &s->names.at[s->names.n - 1];
	}
	s->open.at[s->open.n - 1].around = of->innermost;
	s->open.at[s->open.n - 1].around_any = s->innermost;
	of->innermost = s->innermost = s->open.n;
}

/* Leaves n of what is open. */
static void pop_to(struct spans *s, size_t n)
{
	while (s->open.n > n) {
		const struct open_span *o = &s->open.at[--s->open.n];

		if (o->span->phase == 'X')
			continue;
		open_name(s, o->span->frame.name.v)->innermost = o->around;
		s->innermost = o->around_any;
	}
}

static stack_id top(const struct spans *s)
{
	return s->open.n ? s->open.at[s->open.n - 1].stack : s->root;
}

/* A row of what is open, from where the last one ended. */
static void stretch_to(struct spans *s, double to_us)
{
	double ns = round((to_us - s->at_us) * NS_PER_US), at_ns = round(s->at_us * NS_PER_US);

	if (s->open.n > 0 && to_us > s->at_us) {
		s->like.stack = top(s);
		s->like.weight = ns < 9e18 ? (int64_t)ns : 0;
		s->like.time_ns = fabs(at_ns) < 9e18 ? (int64_t)at_ns : TIME_NONE;
		if (ns >= 9e18 || build_sample(s->p, &s->like) < 0)
			s->result->n_large++;
		else if (++s->result->n_rows % BATCH == 0) {
			s->rc = builder_end(s->p);
			builder_begin(s->p);
		}
	}
	if (to_us > s->at_us)
		s->at_us = to_us;
}

/* Ends what is whole and over by then, the innermost first; what is inside of it and lasts longer ends with it. */
static void end_until(struct spans *s, double us)
{
	while (s->open.n > 0 && s->open.at[s->open.n - 1].least_us <= us) {
		double first = s->open.at[s->open.n - 1].least_us;
		size_t at = s->open.n - 1;

		/* of those that end at once, the outermost */
		while (at > 0 && s->open.at[at - 1].least_us <= first)
			at--;
		stretch_to(s, first);
		for (size_t i = at; i < s->open.n; i++)
			s->result->n_odd += s->open.at[i].end_us > first;
		pop_to(s, at);
	}
}

static void begin_span(struct spans *s, const struct v8_span *span)
{
	struct open_span o = { .span = span,
			       .end_us = span->phase == 'X' ? span->at_us + span->for_us
							    : INFINITY };

	if (s->open.n >= DEPTH_MOST) {
		s->result->n_odd++;
		return;
	}
	o.least_us = s->open.n ? fmin(o.end_us, s->open.at[s->open.n - 1].least_us) : o.end_us;
	o.stack = build_stack(s->p, top(s), location_of(s, &span->frame));
	push(s, o);
}

/* Ends may leave out the name; then they end what is innermost. */
static void end_span(struct spans *s, const struct v8_span *span)
{
	const struct open_name *of = open_name(s, span->frame.name.v);
	size_t n = span->frame.name.v == 0 ? s->innermost : of ? of->innermost : 0;

	if (n == 0) {
		s->result->n_odd++;
		return;
	}
	s->result->n_odd += n != s->open.n;
	pop_to(s, n - 1);
}

static void add_thread(struct spans *s, const struct v8_span *span, size_t n)
{
	double last_us = span->at_us;

	pop_to(s, 0);
	s->at_us = span->at_us;
	for (size_t i = 0; i < n && s->rc == 0; i++) {
		end_until(s, span[i].at_us);
		stretch_to(s, span[i].at_us);
		if (span[i].phase == 'E')
			end_span(s, &span[i]);
		else
			begin_span(s, &span[i]);
		last_us = fmax(last_us,
			       span[i].at_us + (span[i].phase == 'X' ? span[i].for_us : 0));
		if (progress_cancelled(s->progress))
			s->rc = -ECANCELED;
	}
	end_until(s, last_us);
	s->result->n_open += s->open.n;
	stretch_to(s, last_us);
}

int v8_spans_build(struct v8_text *t, capture_id c, enum root_names root_names, event_id event,
		   struct progress *progress, struct v8_spans_result *result)
{
	struct spans s = { .t = t, .p = t->p, .progress = progress, .result = result };
	size_t n;
	int rc;

	*result = (struct v8_spans_result){ 0 };
	if (t->spans.n > 0)
		qsort(t->spans.at, t->spans.n, sizeof(*t->spans.at), compare_spans);
	builder_begin(t->p);
	for (size_t i = 0; i < t->spans.n && s.rc == 0; i += n) {
		const struct v8_span *first = &t->spans.at[i];

		for (n = 1; i + n < t->spans.n && first[n].pid == first->pid &&
			    first[n].tid == first->tid;)
			n++;
		s.like = (struct sample){ .event = event, .cpu = CPU_NONE };
		s.root = (stack_id){ 0 };
		s.like.thread = v8_thread(t, c, first->pid, first->tid, root_names, &s.root);
		add_thread(&s, first, n);
	}
	rc = builder_end(t->p);
	vec_done(&s.open);
	vec_done(&s.names);
	map_done(&s.by_name);
	vec_done(&s.places);
	map_done(&s.by_place);
	return s.rc ? s.rc : rc;
}
