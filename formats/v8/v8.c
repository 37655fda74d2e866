/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * V8's profiles into the model. A sample of a .cpuprofile lasts until the next one, and weighs that time; one of a
 * .heapprofile is a node's bytes that were alive. Profiles without samples have counts of hits.
 */
#include "config.h"

#include "formats/v8/v8.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/facts.h"
#include "formats/v8/v8_spans.h"
#include "formats/v8/v8_text.h"
#include "formats/v8/v8_threads.h"
#include "formats/v8/v8_write.h"
#include "input/input.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

/* A node at a line of its function. */
struct leaf {
	uint32_t node, line, stack; /* stack: stack_id */
};

/* A profile whose nodes are known by their ids. */
struct tree {
	const struct v8_profile *v;
	struct map by_id; /* indexes of nodes */
	uint32_t *parent; /* [nodes] index + 1; 0: none; owned */
	uint32_t *stack;  /* [nodes] stack_id, ID_NONE: not asked for yet; owned */
	VEC(struct leaf) leaves;
	struct map by_leaf;
	struct v8_tick *
		left; /* [nodes] the next of each node's ticks, and how many of that were taken; owned */
	stack_id root;
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct progress *progress;
	enum root_names root_names;
	struct v8_text t;
	struct json_end end;
	VEC(uint32_t) path; /* of nodes up to one that has a stack */
	struct v8_spans_result spans;
	uint64_t n_rows;
	uint64_t n_odd;   /* samples of no node, and nodes in a circle */
	uint64_t n_large; /* that make a sum too large */
};

/* The tree. */

static bool same_id(const void *things, uint32_t value, const void *key)
{
	return ((const struct v8_node *)things)[value].id == *(const uint32_t *)key;
}

/* UINT32_MAX: there is none. */
static uint32_t node_of(const struct tree *t, uint32_t id)
{
	return map_find(&t->by_id, hash_u64(id), same_id, t->v->nodes.at, &id);
}

static void tree_init(struct tree *t, const struct v8_profile *v, stack_id root)
{
	*t = (struct tree){ .v = v, .root = root };
	t->parent = xcalloc(v->nodes.n + 1, sizeof(*t->parent));
	t->stack = xmalloc((v->nodes.n + 1) * sizeof(*t->stack));
	t->left = xcalloc(v->nodes.n + 1, sizeof(*t->left));
	for (uint32_t i = 0; i < v->nodes.n; i++) {
		t->stack[i] = ID_NONE;
		t->parent[i] = v->nodes.at[i].within;
		if (node_of(t, v->nodes.at[i].id) == MAP_NONE)
			map_add(&t->by_id, hash_u64(v->nodes.at[i].id), i);
	}
	for (uint32_t i = 0; i < v->nodes.n; i++)
		if (v->nodes.at[i].parent != 0 && t->parent[i] == 0)
			t->parent[i] = node_of(t, v->nodes.at[i].parent) + 1;
	for (size_t i = 0; i < v->edges.n; i++) {
		uint32_t child = node_of(t, v->edges.at[i].child);
		uint32_t parent = node_of(t, v->edges.at[i].parent);

		if (child != MAP_NONE && parent != MAP_NONE && t->parent[child] == 0)
			t->parent[child] = parent + 1;
	}
}

static void tree_done(struct tree *t)
{
	map_done(&t->by_id);
	free(t->parent);
	free(t->stack);
	free(t->left);
	vec_done(&t->leaves);
	map_done(&t->by_leaf);
}

/* "(root)" is above all others and no frame. */
static bool is_root(const struct reader *r, const struct tree *t, uint32_t node)
{
	const struct v8_node *n = &t->v->nodes.at[node];

	return t->parent[node] == 0 &&
	       strcmp(profile_string(r->p, n->frame.name, NULL), "(root)") == 0;
}

static stack_id stack_of(struct reader *r, struct tree *t, uint32_t node)
{
	stack_id stack = t->root;
	uint32_t at = node;

	vec_clear(&r->path);
	while (t->stack[at] == ID_NONE && r->path.n <= t->v->nodes.n) {
		vec_push(&r->path, at);
		if (t->parent[at] == 0)
			break;
		at = t->parent[at] - 1;
	}
	/* nodes that are below each other in a circle are a stack of one */
	if (r->path.n > t->v->nodes.n) {
		r->n_odd++;
		r->path.n = 1;
	} else if (t->stack[at] != ID_NONE) {
		stack.v = t->stack[at];
	}
	while (r->path.n > 0) {
		at = r->path.at[--r->path.n];
		if (!is_root(r, t, at))
			stack = build_stack(r->p, stack,
					    named_frame_location(r->p, &t->v->nodes.at[at].frame));
		t->stack[at] = stack.v;
	}
	return stack;
}

/* Lines. */

static bool same_leaf(const void *things, uint32_t value, const void *key)
{
	const struct leaf *a = (const struct leaf *)things + value, *b = key;

	return a->node == b->node && a->line == b->line;
}

/* The same where the node's function is at that line; 0: nothing says at which. */
static stack_id stack_at(struct reader *r, struct tree *t, uint32_t node, uint32_t line)
{
	struct named_frame f = t->v->nodes.at[node].frame;
	stack_id plain = stack_of(r, t, node), up = t->root;
	struct leaf key = { .node = node, .line = line };
	uint64_t hash = hash_pair(node, line);
	uint32_t at;

	if (line == 0 || line == f.line || is_root(r, t, node))
		return plain;
	at = map_find(&t->by_leaf, hash, same_leaf, t->leaves.at, &key);
	if (at == MAP_NONE) {
		if (t->parent[node] != 0 && t->stack[t->parent[node] - 1] != ID_NONE)
			up.v = t->stack[t->parent[node] - 1];
		f.line = line;
		key.stack = build_stack(r->p, up, named_frame_location(r->p, &f)).v;
		at = (uint32_t)t->leaves.n;
		map_add(&t->by_leaf, hash, at);
		vec_push(&t->leaves, key);
	}
	return (stack_id){ t->leaves.at[at].stack };
}

/* The line of the node's next samples, *n of them at most; 0: nothing says it. Its samples are on its lines one line after the other. */
static uint32_t take_ticks(struct tree *t, uint32_t node, uint32_t *n)
{
	const struct v8_node *of = &t->v->nodes.at[node];
	struct v8_tick *left = &t->left[node]; /* its line is the number of the tick here */

	while (left->line < of->n_ticks) {
		const struct v8_tick *tick = &t->v->ticks.at[of->first_tick + left->line];

		if (left->n < tick->n) {
			*n = *n < tick->n - left->n ? *n : tick->n - left->n;
			left->n += *n;
			return tick->line;
		}
		*left = (struct v8_tick){ .line = left->line + 1 };
	}
	return 0;
}

/* Rows. */

/* At a line of the node's function; 0: nothing says at which. */
static void add_row(struct reader *r, struct tree *t, struct sample *s, uint32_t node,
		    uint32_t line)
{
	if (node == MAP_NONE) {
		r->n_odd++;
		return;
	}
	s->stack = stack_at(r, t, node, line);
	/* nothing but the root: V8 was not there yet */
	if (s->stack.v == t->root.v)
		return;
	if (build_sample(r->p, s) < 0)
		r->n_large++;
	else
		r->n_rows++;
}

/* At which line a sample was. */
static uint32_t line_of(struct tree *t, size_t sample, uint32_t node)
{
	uint32_t n = 1;

	if (sample < t->v->lines.n)
		return t->v->lines.at[sample];
	return node != MAP_NONE ? take_ticks(t, node, &n) : 0;
}

/* When the sample was taken, in us since what V8 counts from. */
static int64_t time_at(const struct v8_profile *v, size_t i, int64_t before)
{
	int64_t at = before;

	if (i < v->at_us.n)
		return v->at_us.at[i];
	if (i < v->deltas_us.n && !__builtin_add_overflow(before, v->deltas_us.at[i], &at))
		return at;
	return before;
}

static void add_samples(struct reader *r, struct tree *t, struct sample *s)
{
	const struct v8_profile *v = t->v;
	int64_t at = time_at(v, 0, v->start_us), next;

	for (size_t i = 0; i < v->samples.n && !progress_cancelled(r->progress); i++, at = next) {
		uint32_t node = node_of(t, v->samples.at[i]);
		uint32_t line = line_of(t, i, node);
		int64_t us;

		/* old profiles tell their end in seconds, but have one moment more than samples */
		next = i + 1 < v->samples.n || i + 1 < v->at_us.n ? time_at(v, i + 1, at)
								  : v->end_us;
		if (__builtin_sub_overflow(next, at, &us) || us < 0)
			us = 0;
		if (__builtin_mul_overflow(us, NS_PER_US, &s->weight) ||
		    __builtin_mul_overflow(at, NS_PER_US, &s->time_ns)) {
			r->n_large++;
			continue;
		}
		add_row(r, t, s, node, line);
	}
}

static void add_sums(struct reader *r, struct tree *t, struct sample *s)
{
	for (uint32_t i = 0; i < t->v->nodes.n && !progress_cancelled(r->progress); i++) {
		const struct v8_node *n = &t->v->nodes.at[i];

		int64_t left = t->v->is_heap ? n->self_bytes : n->hits;

		while (left > 0) {
			uint32_t most = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
			uint32_t line = take_ticks(t, i, &most);

			s->weight = line > 0 ? most : left;
			left -= s->weight;
			add_row(r, t, s, i, line);
		}
	}
}

/* Profiles. */

static void add_profile(struct reader *r, const struct v8_profile *v)
{
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	bool timed = !v->is_heap && v->samples.n > 0;
	stack_id root = { 0 };
	struct tree t;

	if (v->is_heap)
		s.event = build_summed_event(r->p, "live", UNIT_BYTES);
	else if (timed)
		s.event = build_event(r->p, "cpu", UNIT_NS, true);
	else
		s.event = build_counted_event(r->p, "samples");
	s.thread = v8_thread(&r->t, r->capture, v->pid, v->tid, r->root_names, &root);
	tree_init(&t, v, root);
	if (timed)
		add_samples(r, &t, &s);
	else
		add_sums(r, &t, &s);
	tree_done(&t);
}

/* Time by what a thread had open; where a processor's profile is in the file, too, that opens first. */
static int build_spans(struct reader *r)
{
	event_id event;
	int rc;

	builder_begin(r->p);
	event = build_summed_event(r->p, "time", UNIT_NS);
	if (r->n_rows == 0)
		build_event_default(r->p, event);
	builder_end(r->p);
	rc = v8_spans_build(&r->t, r->capture, r->root_names, event, r->progress, &r->spans);
	r->n_rows += r->spans.n_rows;
	return rc;
}

static int build(struct reader *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->t.profiles.n && rc == 0; i++) {
		builder_begin(r->p);
		add_profile(r, &r->t.profiles.at[i]);
		rc = builder_end(r->p);
		if (progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	if (rc == 0 && r->t.spans.n > 0)
		rc = build_spans(r);
	return rc;
}

/* What `info` says. */

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	if (r->t.profiles.n > 0)
		build_fact(r->p, r->capture, "file", "profiles", FACT_PLAIN, "%s",
			   fmt_count(text, (int64_t)r->t.profiles.n));
	if (r->t.profiles.n > 0 && r->t.profiles.at[0].is_heap)
		build_fact(
			r->p, r->capture, "file", "times", FACT_PLAIN,
			"the format has none: bytes that were alive at its end, by where they were allocated");
	if (r->t.n_others > 0)
		build_fact(r->p, r->capture, "file", "other events", FACT_PLAIN,
			   "%s, not shown: instants, counters, flows and the like",
			   fmt_count(text, (int64_t)r->t.n_others));
	if (r->spans.n_open > 0)
		build_fact(r->p, r->capture, "file", "durations without an end", FACT_PLAIN,
			   "%s: they last as long as their threads",
			   fmt_count(text, (int64_t)r->spans.n_open));
	facts_json_end(r->p, r->capture, &r->end);
	facts_loss(r->p, r->capture, "durations", r->spans.n_odd, "duration",
		   "not nested: ended by others, or never begun");
	facts_loss(r->p, r->capture, "times", r->spans.n_large, "duration",
		   "left out, as the sum would be too large");
	facts_loss(r->p, r->capture, "nodes", r->n_odd, "sample",
		   "of nodes that are not in the file");
	facts_loss(r->p, r->capture, "sums", r->n_large, "sample",
		   "left out, as the sum would be too large");
	builder_end(r->p);
}

static int refuse(const struct reader *r, struct input *in, struct err *e)
{
	if (!r->end.why && r->t.profiles.n == 0)
		return err_set(
			e, -EBADMSG,
			"%s: is a trace with neither durations nor a profile of the processor: record it with the category "
			"disabled-by-default-v8.cpu_profiler",
			input_name(in));
	return facts_refuse_json(&r->end, in, "is a profile of V8", e);
}

static int read_v8(struct input *in, struct profile *p, capture_id c, const struct read_options *o,
		   struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .progress = progress,
			    .root_names = o ? o->root_names : ROOT_COMM };
	int rc = v8_text_read(&r.t, p, in, &r.end, progress, e);

	if (rc == 0)
		rc = build(&r);
	if (rc == 0 && r.n_rows == 0)
		rc = refuse(&r, in, e);
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == 0 || rc == -EFBIG)
		tell(&r);
	v8_text_done(&r.t);
	vec_done(&r.path);
	free(r.end.why);
	return rc;
}

static bool has_text(const uint8_t *bytes, size_t n, const char *text)
{
	return n > 0 && memmem(bytes, n, text, strlen(text));
}

static int probe(const uint8_t *bytes, size_t n)
{
	if (json_has_key(bytes, n, "nodes") && has_text(bytes, n, "\"callFrame\""))
		return FORMAT_SURE + 10;
	if (json_has_key(bytes, n, "head") && has_text(bytes, n, "\"functionName\""))
		return FORMAT_SURE + 10;
	return 0;
}

/* Traces have their profile's chunks anywhere. */
static int probe_trace(const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	while (at < n && at < 64 && (bytes[at] == '\n' || bytes[at] == ' ' || bytes[at] == '\r'))
		at++;
	bytes += at;
	n -= at;
	if (json_has_key(bytes, n, "traceEvents") ||
	    (n > 0 && bytes[0] == '[' && has_text(bytes, n, "\"ph\"") &&
	     has_text(bytes, n, "\"pid\"")))
		return FORMAT_SURE;
	return 0;
}

const struct format format_v8 = {
	.name = "v8",
	.title = "V8's .cpuprofile and .heapprofile (node, DevTools)",
	.probe = probe,
	.one_event = true,
	.inlined = true,
	.holds = HOLDS(STACKS) | HOLDS(SAMPLES),
	.holds_also = v8_holds_also,
	.read = read_v8,
	.write = v8_write,
};

const struct format format_chrome_trace = {
	.name = "chrome-trace",
	.title =
		"Chrome's trace events: durations, and V8's CPU profiles in them (DevTools, py-spy)",
	.probe = probe_trace,
	.read = read_v8,
};
