/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules by which V8's profiles are gathered. What names an event of a trace may stand behind its chunk, so that a chunk is added to
 * its profile when the event ends.
 */
#include "config.h"

#include "formats/v8/v8_text.h"

#include "base/hash.h"
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of all threads of a trace with stackFrames. */
#define COPIES_MOST ((size_t)1 << 23)

static string_id text_of(struct v8_text *t, const struct json_value *v)
{
	/* ids of chunks are texts or numbers */
	if ((v->kind != JSON_STRING && v->kind != JSON_NUMBER) || v->n == 0)
		return (string_id){ 0 };
	return build_string(t->p, v->s, v->n);
}

/* A number, or a text that is one. */
static int64_t number_of(const struct json_value *v)
{
	struct json_value number = *v;

	if (v->kind == JSON_STRING && v->n > 0)
		number.kind = JSON_NUMBER;
	return json_int(&number, 0);
}

/* Nodes. */

static struct v8_node *node(struct v8_text *t)
{
	return t->nesting.n ? &t->now.nodes.at[t->nesting.at[t->nesting.n - 1]]
			    : &t->now.nodes.at[t->now.nodes.n - 1];
}

static void begin_node(void *to)
{
	struct v8_text *t = to;

	uint32_t within = t->nesting.n ? t->nesting.at[t->nesting.n - 1] + 1 : 0;

	vec_push(&t->nesting, (uint32_t)t->now.nodes.n);
	vec_push(&t->now.nodes,
		 ((struct v8_node){ .within = within, .first_tick = t->now.ticks.n }));
}

static void end_node(void *to)
{
	((struct v8_text *)to)->nesting.n--;
}

static void on_id(void *to, const struct json_value *v)
{
	node(to)->id = json_index(v);
}

static void on_parent(void *to, const struct json_value *v)
{
	node(to)->parent = json_index(v);
}

static void on_hits(void *to, const struct json_value *v)
{
	node(to)->hits = json_int(v, 0);
}

static void on_self_size(void *to, const struct json_value *v)
{
	node(to)->self_bytes = json_int(v, 0);
	((struct v8_text *)to)->now.is_heap = true;
}

static void on_child(void *to, const struct json_value *v)
{
	struct v8_text *t = to;
	uint32_t child = json_index(v);

	if (child != UINT32_MAX)
		vec_push(&t->now.edges, ((struct v8_edge){ node(t)->id, child }));
}

/* A node's stand together, as its object has no nodes in it. */
static void begin_tick(void *to)
{
	struct v8_text *t = to;

	vec_push(&t->now.ticks, (struct v8_tick){ 0 });
	node(t)->n_ticks++;
}

static void on_tick_line(void *to, const struct json_value *v)
{
	struct v8_text *t = to;
	uint32_t line = json_index(v);

	t->now.ticks.at[t->now.ticks.n - 1].line = line == UINT32_MAX ? 0 : line;
}

static void on_tick_number(void *to, const struct json_value *v)
{
	struct v8_text *t = to;
	uint32_t n = json_index(v);

	t->now.ticks.at[t->now.ticks.n - 1].n = n == UINT32_MAX ? 0 : n;
}

static void on_function(void *to, const struct json_value *v)
{
	node(to)->frame.name = text_of(to, v);
}

static void on_url(void *to, const struct json_value *v)
{
	node(to)->frame.file = text_of(to, v);
}

/* Counted from 0 in files, -1 where there is none. */
static void on_line(void *to, const struct json_value *v)
{
	int64_t line = json_int(v, -1) + 1;

	node(to)->frame.declared = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
	node(to)->frame.line = node(to)->frame.declared;
}

/* Samples. */

static void on_sample(void *to, const struct json_value *v)
{
	vec_push(&((struct v8_text *)to)->now.samples, json_index(v));
}

static void on_sample_line(void *to, const struct json_value *v)
{
	uint32_t line = json_index(v);

	vec_push(&((struct v8_text *)to)->now.lines, line == UINT32_MAX ? 0 : line);
}

static void on_delta(void *to, const struct json_value *v)
{
	vec_push(&((struct v8_text *)to)->now.deltas_us, json_int(v, 0));
}

static void on_at(void *to, const struct json_value *v)
{
	vec_push(&((struct v8_text *)to)->now.at_us, json_int(v, 0));
}

static void on_start(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->now.start_us = json_int(v, 0);
}

static void on_end(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->now.end_us = json_int(v, 0);
}

static void on_event_name(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->event = text_of(to, v);
}

static void on_event_pid(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->now.pid = number_of(v);
}

static void on_event_tid(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->now.tid = number_of(v);
}

static void on_event_id(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->now.key = text_of(to, v);
}

static void on_event_named(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->named = text_of(to, v);
}

/* Chunks. */

static void profile_done(struct v8_profile *p)
{
	vec_done(&p->nodes);
	vec_done(&p->edges);
	vec_done(&p->samples);
	vec_done(&p->ticks);
	vec_done(&p->lines);
	vec_done(&p->deltas_us);
	vec_done(&p->at_us);
}

static void add_chunk(struct v8_profile *to, const struct v8_profile *from)
{
	for (size_t i = 0; i < from->nodes.n; i++)
		vec_push(&to->nodes, from->nodes.at[i]);
	for (size_t i = 0; i < from->edges.n; i++)
		vec_push(&to->edges, from->edges.at[i]);
	for (size_t i = 0; i < from->samples.n; i++) {
		vec_push(&to->samples, from->samples.at[i]);
		vec_push(&to->lines, i < from->lines.n ? from->lines.at[i] : 0);
	}
	for (size_t i = 0; i < from->deltas_us.n; i++)
		vec_push(&to->deltas_us, from->deltas_us.at[i]);
	to->start_us = to->start_us ? to->start_us : from->start_us;
	to->end_us = from->end_us ? from->end_us : to->end_us;
}

static bool same_profile(const void *things, uint32_t value, const void *key)
{
	const struct v8_profile *a = &((const struct v8_profile *)things)[value], *b = key;

	return a->pid == b->pid && a->key.v == b->key.v;
}

/* The profile that chunks of this process and id are of. */
static struct v8_profile *profile_of(struct v8_text *t)
{
	uint64_t hash = hash_u64(hash_u64((uint64_t)t->now.pid) + t->now.key.v);
	uint32_t at = map_find(&t->by_key, hash, same_profile, t->profiles.at, &t->now);

	if (at != MAP_NONE)
		return &t->profiles.at[at];
	map_add(&t->by_key, hash, (uint32_t)t->profiles.n);
	vec_push(&t->profiles,
		 ((struct v8_profile){ .pid = t->now.pid, .tid = t->now.tid, .key = t->now.key }));
	return &t->profiles.at[t->profiles.n - 1];
}

static bool is_event(const struct v8_text *t, const char *name)
{
	return strcmp(profile_string(t->p, t->event, NULL), name) == 0;
}

static void begin_event(void *to)
{
	struct v8_text *t = to;

	t->event = t->named = (string_id){ 0 };
	t->span = (struct v8_span){ 0 };
	t->in_event = true;
	t->now.pid = t->now.tid = 0;
	t->now.key = (string_id){ 0 };
	t->now.start_us = t->now.end_us = 0;
}

/* A number of micro-seconds, or a text that is one. */
static double real_of(const struct json_value *v)
{
	struct json_value number = *v;

	if (v->kind == JSON_STRING && v->n > 0)
		number.kind = JSON_NUMBER;
	return json_double(&number, 0);
}

static void on_phase(void *to, const struct json_value *v)
{
	bool duration = v->kind == JSON_STRING && v->n == 1 &&
			(v->s[0] == 'B' || v->s[0] == 'E' || v->s[0] == 'X');

	((struct v8_text *)to)->span.phase = duration ? v->s[0] : '\0';
}

static void on_event_at(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->span.at_us = real_of(v);
}

static void on_event_for(void *to, const struct json_value *v)
{
	double us = real_of(v);

	((struct v8_text *)to)->span.for_us = us > 0 ? us : 0;
}

/* py-spy says where its functions are. */
static void on_event_file(void *to, const struct json_value *v)
{
	((struct v8_text *)to)->span.frame.file = text_of(to, v);
}

static void on_event_line(void *to, const struct json_value *v)
{
	uint32_t line = json_index(v);

	((struct v8_text *)to)->span.frame.line = line == UINT32_MAX ? 0 : line;
}

/* Samples of stackFrames. */

static void begin_stack_frame(void *to, const char *s, size_t n)
{
	struct v8_text *t = to;

	vec_push(&t->stack_frames, ((struct v8_node){ .id = build_string(t->p, s, n).v }));
}

static struct v8_node *last_stack_frame(void *to)
{
	return &((struct v8_text *)to)->stack_frames.at[((struct v8_text *)to)->stack_frames.n - 1];
}

static void on_stack_frame_name(void *to, const struct json_value *v)
{
	last_stack_frame(to)->frame.name = text_of(to, v);
}

static void on_stack_frame_parent(void *to, const struct json_value *v)
{
	last_stack_frame(to)->parent = text_of(to, v).v;
}

static void begin_frame_sample(void *to)
{
	vec_push(&((struct v8_text *)to)->frame_samples, (struct v8_frame_sample){ 0 });
}

static struct v8_frame_sample *last_frame_sample(void *to)
{
	struct v8_text *t = to;

	return &t->frame_samples.at[t->frame_samples.n - 1];
}

static void on_frame_sample_pid(void *to, const struct json_value *v)
{
	last_frame_sample(to)->pid = number_of(v);
}

static void on_frame_sample_tid(void *to, const struct json_value *v)
{
	last_frame_sample(to)->tid = number_of(v);
}

static void on_frame_sample_at(void *to, const struct json_value *v)
{
	last_frame_sample(to)->at_us = number_of(v);
}

static void on_frame_sample_frame(void *to, const struct json_value *v)
{
	last_frame_sample(to)->frame = text_of(to, v).v;
}

static void begin_array_event(void *to)
{
	((struct v8_text *)to)->is_array = true;
	begin_event(to);
}

static bool same_thread(const void *things, uint32_t value, const void *key)
{
	const struct v8_name *a = &((const struct v8_name *)things)[value], *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

static uint64_t hash_of_thread(int64_t pid, int64_t tid)
{
	return hash_u64(hash_u64((uint64_t)pid) + (uint64_t)tid);
}

static uint32_t find_name(const struct v8_text *t, const struct v8_name *key)
{
	return map_find(&t->by_thread, hash_of_thread(key->pid, key->tid), same_thread, t->names.at,
			key);
}

string_id v8_text_name(const struct v8_text *t, int64_t pid, int64_t tid)
{
	uint32_t at = find_name(t, &(struct v8_name){ .pid = pid, .tid = tid });

	return at != MAP_NONE ? t->names.at[at].name : (string_id){ 0 };
}

/* The last name that a trace gives counts. */
static void add_name(struct v8_text *t, int64_t tid)
{
	struct v8_name name = { t->now.pid, tid, t->named };
	uint32_t at = find_name(t, &name);

	if (at != MAP_NONE) {
		t->names.at[at].name = t->named;
	} else if (t->names.n < MAP_NONE) {
		map_add(&t->by_thread, hash_of_thread(name.pid, tid), (uint32_t)t->names.n);
		vec_push(&t->names, name);
	}
}

static void end_event(void *to)
{
	struct v8_text *t = to;

	if (is_event(t, "Profile") || is_event(t, "ProfileChunk")) {
		struct v8_profile *p = profile_of(t);

		/* the thread that was sampled is the one that begins it */
		if (is_event(t, "Profile"))
			p->tid = t->now.tid;
		add_chunk(p, &t->now);
	} else if (is_event(t, "thread_name")) {
		add_name(t, t->now.tid);
	} else if (is_event(t, "process_name")) {
		add_name(t, -1);
	} else if (t->span.phase && t->spans.n < UINT32_MAX) {
		t->span.pid = t->now.pid;
		t->span.tid = t->now.tid;
		t->span.frame.name = t->event;
		t->span.order = (uint32_t)t->spans.n;
		vec_push(&t->spans, t->span);
	} else {
		t->n_others++;
	}
	t->in_event = false;
	vec_clear(&t->now.nodes);
	vec_clear(&t->now.edges);
	vec_clear(&t->now.samples);
	vec_clear(&t->now.lines);
	vec_clear(&t->now.deltas_us);
}

#define NODE_FIELDS(at) \
	{ .path = at ".id", .value = on_id }, { .path = at ".parent", .value = on_parent }, \
		{ .path = at ".hitCount", .value = on_hits }, \
		{ .path = at ".selfSize", .value = on_self_size }, \
		{ .path = at ".callFrame.functionName", .value = on_function }, \
		{ .path = at ".callFrame.url", .value = on_url }, \
		{ .path = at ".callFrame.lineNumber", .value = on_line }, \
		{ .path = at ".functionName", .value = on_function }, \
		{ .path = at ".url", .value = on_url }, \
	{ \
		.path = at ".lineNumber", .value = on_line \
	}
#define EVENT_FIELDS(at, begins) \
	{ .path = at, .begin = begins, .end = end_event }, \
		{ .path = at ".name", .value = on_event_name }, \
		{ .path = at ".ph", .value = on_phase }, \
		{ .path = at ".ts", .value = on_event_at }, \
		{ .path = at ".dur", .value = on_event_for }, \
		{ .path = at ".args.filename", .value = on_event_file }, \
		{ .path = at ".args.line", .value = on_event_line }, \
		{ .path = at ".pid", .value = on_event_pid }, \
		{ .path = at ".tid", .value = on_event_tid }, \
		{ .path = at ".id", .value = on_event_id }, \
		{ .path = at ".args.name", .value = on_event_named }, \
		{ .path = at ".args.data.startTime", .value = on_start }, \
		{ .path = at ".args.data.endTime", .value = on_end }, \
		{ .path = at ".args.data.timeDeltas[]", .value = on_delta }, \
		{ .path = at ".args.data.lines[]", .value = on_sample_line }, \
		{ .path = at ".args.data.cpuProfile.samples[]", .value = on_sample }, \
		{ .path = at ".args.data.cpuProfile.nodes[]", \
		  .begin = begin_node, \
		  .end = end_node }, \
		NODE_FIELDS(at ".args.data.cpuProfile.nodes[]")

/* clang-format off */
static const struct json_rule rules[] = {
	{ .path = "nodes[]", .begin = begin_node, .end = end_node },
	NODE_FIELDS("nodes[]"),
	{ .path = "nodes[].children[]", .value = on_child },
	{ .path = "nodes[].positionTicks[]", .begin = begin_tick },
	{ .path = "nodes[].positionTicks[].line", .value = on_tick_line },
	{ .path = "nodes[].positionTicks[].ticks", .value = on_tick_number },
	{ .path = "head", .begin = begin_node, .end = end_node },
	NODE_FIELDS("head"),
	{ .path = "head.children[]", .same = "head", .begin = begin_node, .end = end_node },
	/* of a trace objects, of a profile ids */
	{ .path = "samples[]", .value = on_sample, .begin = begin_frame_sample },
	{ .path = "samples[].pid", .value = on_frame_sample_pid },
	{ .path = "samples[].tid", .value = on_frame_sample_tid },
	{ .path = "samples[].ts", .value = on_frame_sample_at },
	{ .path = "samples[].sf", .value = on_frame_sample_frame },
	{ .path = "stackFrames.*", .key = begin_stack_frame },
	{ .path = "stackFrames.*.name", .value = on_stack_frame_name },
	{ .path = "stackFrames.*.parent", .value = on_stack_frame_parent },
	{ .path = "timeDeltas[]", .value = on_delta },
	{ .path = "timestamps[]", .value = on_at },
	{ .path = "startTime", .value = on_start },
	{ .path = "endTime", .value = on_end },
	EVENT_FIELDS("traceEvents[]", begin_event),
	EVENT_FIELDS("[]", begin_array_event),
};
/* clang-format on */

static bool same_sampled(const void *things, uint32_t value, const void *key)
{
	const struct v8_profile *a = &((const struct v8_profile *)things)[value];
	const struct v8_frame_sample *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

/* A profile for each thread that was sampled, with all frames. */
static void add_frame_samples(struct v8_text *t)
{
	string_id key = build_cstring(t->p, "stackFrames");
	struct map by_sampled = { 0 };

	for (size_t i = 0; i < t->frame_samples.n; i++) {
		const struct v8_frame_sample *s = &t->frame_samples.at[i];
		uint64_t hash = hash_of_thread(s->pid, s->tid);
		uint32_t at = map_find(&by_sampled, hash, same_sampled, t->profiles.at, s);
		struct v8_profile *p = at != MAP_NONE ? &t->profiles.at[at] : NULL;

		/* each has a copy of all frames */
		if (!p && (t->profiles.n + 1) * t->stack_frames.n > COPIES_MOST) {
			t->n_others++;
			continue;
		}
		if (!p) {
			map_add(&by_sampled, hash, (uint32_t)t->profiles.n);
			vec_push(&t->profiles,
				 ((struct v8_profile){ .pid = s->pid, .tid = s->tid, .key = key }));
			p = &t->profiles.at[t->profiles.n - 1];
			for (size_t k = 0; k < t->stack_frames.n; k++)
				vec_push(&p->nodes, t->stack_frames.at[k]);
		}
		vec_push(&p->samples, s->frame);
		vec_push(&p->at_us, s->at_us);
		p->end_us = s->at_us;
	}
	map_done(&by_sampled);
}

int v8_text_read(struct v8_text *t, struct profile *p, struct input *in, struct json_end *end,
		 struct progress *progress, struct err *e)
{
	int rc;

	*t = (struct v8_text){ .p = p };
	builder_begin(p);
	rc = json_read(in, rules, sizeof(rules) / sizeof(*rules), t, end, progress, e);
	if (t->stack_frames.n > 0)
		add_frame_samples(t);
	builder_end(p);
	/* an array of events need not end (Chrome's description of the format): a comma is no damage */
	if (rc == 0 && end->why && t->is_array && !t->in_event &&
	    strstr(end->why, "premature EOF")) {
		free(end->why);
		end->why = NULL;
	}
	/* a file that is no trace is one profile */
	if (rc == 0 && t->now.nodes.n > 0 && t->profiles.n == 0) {
		vec_push(&t->profiles, t->now);
		t->now = (struct v8_profile){ 0 };
	}
	return rc;
}

void v8_text_done(struct v8_text *t)
{
	for (size_t i = 0; i < t->profiles.n; i++)
		profile_done(&t->profiles.at[i]);
	profile_done(&t->now);
	vec_done(&t->profiles);
	map_done(&t->by_key);
	vec_done(&t->names);
	map_done(&t->by_thread);
	vec_done(&t->spans);
	vec_done(&t->stack_frames);
	vec_done(&t->frame_samples);
	vec_done(&t->nesting);
}
