/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Snapshots as a heap: a moment each, at which each stack has one block of what it holds then. Single blocks are not known, nor who
 * freed what. A snapshot without a tree has that of the nearest one with a tree, as far as it fits; one
 * whose heap is no smaller than at what massif calls the peak has that of the peak.
 */
#include "config.h"

#include "formats/valgrind/massif.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "formats/facts.h"
#include "formats/text_read.h"
#include "formats/valgrind/massif_tree.h"
#include "input/input.h"
#include "profile/heap/heap_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_TREE SIZE_MAX

/* Stacks that are shown at snapshots that have none of their own, as far as there may be any number of these. */
#define MOST_BORROWED 4000000u

/* The latest time, in ns: what is worked out from it must not overflow. */
#define MOST_NS 1e18

enum part { PART_HEAP, PART_EXTRA, PART_STACKS };
#define N_PARTS 3

struct part_of {
	const char *key;   /* in the file */
	const char *event; /* what it is called here */
	const char *mark;  /* what has no tree is the stack of this frame */
};

static const struct part_of parts[N_PARTS] = {
	[PART_HEAP] = { "mem_heap_B=", "malloc", "[no tree]" },
	[PART_EXTRA] = { "mem_heap_extra_B=", "overhead", "[overhead of the heap]" },
	[PART_STACKS] = { "mem_stacks_B=", "stacks", "[stacks of threads]" },
};

struct time_unit {
	const char *name;  /* in the file */
	double ns;         /* of one in views */
	const char *clock; /* what a nanosecond is where it is none, or NULL */
};

static const struct time_unit units[] = {
	{ "i", 1, "1 ns is 1 instruction" },
	{ "ms", 1e6, NULL },
	{ "B", 1, "1 ns is 1 byte allocated or freed" },
	{ "s", 1e9, NULL },
};

struct snapshot {
	double time;
	uint64_t bytes[N_PARTS];
	unsigned has; /* bits: of parts that were read */
	bool has_time;
	bool has_tree;
	bool is_peak;    /* massif says so */
	size_t first, n; /* in the tree's leaves */
};

/* A block that stands for what a stack holds. */
struct held {
	uint32_t stack, allocation; /* stack_id; allocation_id */
	uint64_t bytes;
};

struct reader {
	struct text_read text;
	struct profile *p;
	capture_id capture;
	struct massif_tree tree;
	VEC(struct snapshot) snapshots;
	const struct time_unit *unit;
	bool pages; /* of pages as heap, not of blocks */
	bool in_snapshot;
	bool large;     /* something was more than can be */
	uint64_t n_odd; /* snapshots that cannot be used */
	/* While rows are built: */
	track_id track;
	event_id event[N_PARTS];
	stack_id alone[N_PARTS];    /* of what has no tree */
	VEC(struct held) held;      /* of the heap, by stack */
	VEC(struct held) next_held; /* after the snapshot that is being built */
	struct held single[N_PARTS];
	size_t tree_before, tree_after; /* see nearest_tree() */
	size_t peak;                    /* what massif calls the peak, with a tree, or NO_TREE */
	uint64_t peak_sum;              /* bytes of that tree in all */
	size_t shown;                   /* the snapshot whose tree is held, or NO_TREE */
	size_t summed;                  /* the one whose tree has these bytes in all, or NO_TREE */
	uint64_t sum;
	uint64_t n_borrowed; /* stacks of trees that were shown at other snapshots */
};

/* Lines. */

static bool starts(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

/* All of a text as a decimal number; false where it is none, or too large. */
static bool take_number(const char *s, size_t n, uint64_t *to)
{
	uint64_t v = 0;

	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	*to = v;
	return true;
}

/* The same with a fraction, of times. */
static bool take_time(const char *s, size_t n, double *to)
{
	double v = 0, place = 1;
	bool fraction = false;

	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (s[i] < '0' || s[i] > '9')
			return false;
		place = fraction ? place / 10 : 1;
		v = fraction ? v + place * (s[i] - '0') : 10 * v + (s[i] - '0');
	}
	*to = v;
	return true;
}

/* The snapshot that was read last is whole. */
static void end_snapshot(struct reader *r)
{
	struct snapshot *s;

	if (!r->in_snapshot)
		return;
	r->in_snapshot = false;
	s = &r->snapshots.at[r->snapshots.n - 1];
	if (s->has_tree && massif_tree_end(&r->tree) > 0)
		text_read_complain(&r->text, "has fewer callers in the tree before than it says");
	s->n = r->tree.leaves.n - s->first;
	if (s->has_time && s->has & 1u << PART_HEAP)
		return;
	r->n_odd++;
	r->snapshots.n--;
}

static const char *take_head(struct reader *r, const char *s, size_t n)
{
	static const char desc[] = "desc:", cmd[] = "cmd: ", unit[] = "time_unit: ";

	if (starts(s, n, desc)) {
		r->pages |= memmem(s, n, "--pages-as-heap=yes", 19) != NULL;
		if (n > sizeof(desc))
			build_fact(r->p, r->capture, "file", "options", FACT_PLAIN, "%.*s",
				   (int)(n - sizeof(desc)), s + sizeof(desc));
		return NULL;
	}
	if (starts(s, n, cmd)) {
		build_fact(r->p, r->capture, "file", "command", FACT_PLAIN, "%.*s",
			   (int)(n - sizeof(cmd) + 1), s + sizeof(cmd) - 1);
		return NULL;
	}
	if (!starts(s, n, unit))
		return "is no line of a snapshot";
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (n - sizeof(unit) + 1 == strlen(units[i].name) &&
		    memcmp(s + sizeof(unit) - 1, units[i].name, strlen(units[i].name)) == 0) {
			r->unit = &units[i];
			return NULL;
		}
	return "has an unknown unit of time";
}

static const char *take_part(struct reader *r, struct snapshot *now, const char *s, size_t n)
{
	if (starts(s, n, "time=")) {
		now->has_time = take_time(s + 5, n - 5, &now->time);
		return now->has_time ? NULL : "has no time";
	}
	if (starts(s, n, "heap_tree=")) {
		now->has_tree = !starts(s, n, "heap_tree=empty");
		now->is_peak = starts(s, n, "heap_tree=peak");
		now->first = r->tree.leaves.n;
		if (now->has_tree)
			massif_tree_begin(&r->tree);
		return NULL;
	}
	for (int i = 0; i < N_PARTS; i++) {
		size_t key = strlen(parts[i].key);

		if (!starts(s, n, parts[i].key))
			continue;
		if (!take_number(s + key, n - key, &now->bytes[i]))
			return "has no number of bytes";
		now->has |= 1u << i;
		return NULL;
	}
	return "is no line of a snapshot";
}

static const char *take_line(struct reader *r, const char *s, size_t n)
{
	if (n == 0 || *s == '#')
		return NULL;
	if (starts(s, n, "snapshot=")) {
		end_snapshot(r);
		vec_push(&r->snapshots, ((struct snapshot){ .first = r->tree.leaves.n }));
		r->in_snapshot = true;
		return NULL;
	}
	if (starts(s, n, "desc:") || starts(s, n, "cmd:")) {
		end_snapshot(r); /* heaptrack_print has its head at the end */
		return take_head(r, s, n);
	}
	if (!r->in_snapshot)
		return take_head(r, s, n);
	if (*s == ' ' || *s == 'n')
		return massif_tree_line(&r->tree, s, n);
	return take_part(r, &r->snapshots.at[r->snapshots.n - 1], s, n);
}

static void take(void *arg, bool ended)
{
	struct reader *r = arg;
	const char *s, *problem;
	size_t n;

	while (lines_next(&r->text.lines, &s, &n)) {
		problem = s ? take_line(r, s, n) : "is too long";
		if (problem)
			text_read_complain(&r->text, problem);
	}
	if (ended)
		end_snapshot(r);
}

/* Rows. */

static bool claim(struct reader *r, uint64_t bytes)
{
	if (bytes <= SIZE_MOST && (bytes < SIZE_LARGE || build_heap_claim(r->p, bytes)))
		return true;
	r->large = true;
	return false;
}

static uint32_t allocate(struct reader *r, enum part part, uint32_t stack, uint64_t bytes)
{
	struct heap_origin o = { .stack = stack,
				 .thread = ID_NONE,
				 .event = (uint16_t)r->event[part].v,
				 .track = (uint16_t)r->track.v };

	if (bytes == 0 || !claim(r, bytes))
		return ID_NONE;
	return build_allocation(r->p, r->track, bytes, build_heap_origin(r->p, &o)).v;
}

static void release(struct reader *r, uint32_t allocation)
{
	if (allocation != ID_NONE)
		build_release(r->p, (allocation_id){ allocation }, r->track, false,
			      (origin_id){ ID_NONE });
}

/* What one stack holds now; equal blocks go on. before: of the same stack, or NULL. */
static void hold(struct reader *r, uint32_t stack, uint64_t bytes, const struct held *before)
{
	struct held h = { .stack = stack, .bytes = bytes };

	if (before && before->bytes == bytes) {
		h.allocation = before->allocation;
	} else {
		if (before)
			release(r, before->allocation);
		h.allocation = allocate(r, PART_HEAP, stack, bytes);
	}
	vec_push(&r->next_held, h);
}

/* The snapshot with a tree that is nearest to one, itself in the end; n: there is none. Snapshots are asked for in their order. */
static size_t nearest_tree(struct reader *r, size_t at)
{
	size_t n = r->snapshots.n;

	if (r->snapshots.at[at].has_tree)
		r->tree_before = at;
	while (r->tree_after < n &&
	       (r->tree_after < at || !r->snapshots.at[r->tree_after].has_tree))
		r->tree_after++;
	if (r->tree_before == NO_TREE)
		return r->tree_after;
	if (r->tree_after == n || at - r->tree_before < r->tree_after - at)
		return r->tree_before;
	return r->tree_after;
}

static uint64_t sum_of(const struct reader *r, const struct snapshot *s)
{
	uint64_t sum = 0;

	for (size_t i = s->first; i < s->first + s->n; i++)
		if (__builtin_add_overflow(sum, r->tree.leaves.at[i].bytes, &sum))
			return UINT64_MAX;
	return sum;
}

static void build_single(struct reader *r, enum part part, uint64_t bytes)
{
	struct held *h = &r->single[part];

	if (h->bytes == bytes)
		return;
	if (h->bytes > 0)
		release(r, h->allocation);
	h->bytes = bytes;
	h->allocation = allocate(r, part, r->alone[part].v, bytes);
}

/* What stacks hold as of a tree; NO_TREE: of none. Both lists are by rising stack. What is held no more is freed. */
static void build_tree(struct reader *r, size_t with)
{
	const struct snapshot *s = with != NO_TREE ? &r->snapshots.at[with] : NULL;
	size_t k = 0;

	vec_clear(&r->next_held);
	for (size_t i = 0; s && i < s->n; i++) {
		const struct massif_leaf *leaf = &r->tree.leaves.at[s->first + i];

		for (; k < r->held.n && r->held.at[k].stack < leaf->stack; k++)
			release(r, r->held.at[k].allocation);
		if (k < r->held.n && r->held.at[k].stack == leaf->stack)
			hold(r, leaf->stack, leaf->bytes, &r->held.at[k++]);
		else
			hold(r, leaf->stack, leaf->bytes, NULL);
	}
	for (; k < r->held.n; k++)
		release(r, r->held.at[k].allocation);
	vec_clear(&r->held);
	for (size_t i = 0; i < r->next_held.n; i++)
		vec_push(&r->held, r->next_held.at[i]);
}

/* A tree that is another snapshot's is shown as often as costs no more than the file itself. */
static void build_heap(struct reader *r, size_t at)
{
	const struct snapshot *s = &r->snapshots.at[at];
	size_t with = nearest_tree(r, at);
	uint64_t sum = 0;

	if (!s->has_tree && r->peak != NO_TREE &&
	    s->bytes[PART_HEAP] >= r->snapshots.at[r->peak].bytes[PART_HEAP])
		with = r->peak;
	if (with == r->snapshots.n || (with != at && r->n_borrowed > MOST_BORROWED))
		with = NO_TREE;
	if (with != NO_TREE && with == r->peak) {
		sum = r->peak_sum;
	} else if (with != NO_TREE) {
		sum = with == r->summed ? r->sum : sum_of(r, &r->snapshots.at[with]);
		r->summed = with;
		r->sum = sum;
	}
	if (sum > s->bytes[PART_HEAP]) {
		with = NO_TREE;
		sum = 0;
	}
	if (with != r->shown) {
		r->n_borrowed += with != at && with != NO_TREE ? r->snapshots.at[with].n : 0;
		build_tree(r, with);
	}
	r->shown = with;
	build_single(r, PART_HEAP, s->bytes[PART_HEAP] - sum);
}

static bool has_part(const struct reader *r, enum part part)
{
	for (size_t i = 0; i < r->snapshots.n; i++)
		if (r->snapshots.at[i].bytes[part] > 0)
			return true;
	return false;
}

/* Names on the timeline the snapshots that have a tree: the others' stacks are guesses. */
static void mark(struct reader *r, size_t i, int64_t time_ns)
{
	struct heap_mark m = { .capture = r->capture, .thread = ID_NONE, .time_ns = time_ns };

	if (!r->snapshots.at[i].has_tree)
		return;
	m.name = build_cstring(r->p, i == r->peak ? "massif's peak" : "tree");
	build_heap_mark(r->p, &m);
}

static void build(struct reader *r)
{
	bool has[N_PARTS];

	r->track = build_heap_track(r->p, build_process_of_name(r->p, r->capture, (string_id){ 0 }),
				    0, 0);
	for (int i = 0; i < N_PARTS; i++) {
		has[i] = has_part(r, (enum part)i) ||
			 (i == PART_HEAP && !has_part(r, PART_EXTRA) && !has_part(r, PART_STACKS));
		if (!has[i])
			continue;
		r->event[i] = build_heap_event(r->p, i == PART_HEAP && r->pages ? "pages"
										: parts[i].event);
		r->alone[i] = build_stack(r->p, (stack_id){ 0 },
					  valgrind_frame_mark(r->p, parts[i].mark));
	}
	for (size_t i = 0; i < r->snapshots.n; i++)
		if (r->snapshots.at[i].is_peak)
			r->peak = i;
	if (r->peak != NO_TREE)
		r->peak_sum = sum_of(r, &r->snapshots.at[r->peak]);
	for (size_t i = 0; i < r->snapshots.n; i++) {
		double ns = r->snapshots.at[i].time * r->unit->ns;
		int64_t time_ns = ns < MOST_NS ? (int64_t)ns : (int64_t)MOST_NS;

		build_moment(r->p, r->track, time_ns);
		mark(r, i, time_ns);
		if (has[PART_HEAP])
			build_heap(r, i);
		for (int k = PART_EXTRA; k < N_PARTS; k++)
			if (has[k])
				build_single(r, (enum part)k, r->snapshots.at[i].bytes[k]);
	}
}

/* What `info` says. */

static void tell(struct reader *r)
{
	char n[FMT_SIZE], trees[FMT_SIZE];
	int64_t n_trees = 0;

	for (size_t i = 0; i < r->snapshots.n; i++)
		n_trees += r->snapshots.at[i].has_tree;
	build_heap_lacks(r->p, r->track,
			 HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES | HEAP_LACKS_CALLS |
				 (r->unit->clock ? HEAP_LACKS_TIMES : 0));
	build_heap_lives_on(r->p, r->track);
	build_fact(r->p, r->capture, "file", "snapshots", FACT_PLAIN,
		   "%s, %s of them with a tree: others show the nearest one as far as it fits",
		   fmt_count(n, (int64_t)r->snapshots.n), fmt_count(trees, n_trees));
	build_fact(r->p, r->capture, "heap", "single blocks", FACT_PLAIN,
		   "not in the file: calls, lifetimes, temporary and leaked blocks are not known");
	build_fact(r->p, r->capture, "heap", "threads", FACT_PLAIN, "massif does not record them");
	if (r->unit->clock)
		build_fact(r->p, r->capture, "heap", "clock", FACT_PLAIN,
			   "%s: massif --time-unit=ms has times", r->unit->clock);
	text_read_tell(&r->text);
	facts_loss(r->p, r->capture, "snapshots", r->n_odd, "snapshot",
		   "without a time or a size: left out");
	if (r->large)
		build_fact(r->p, r->capture, "losses", "sizes", FACT_LOSS,
			   "some are more bytes than there can be: left out");
}

static int read_massif(struct input *in, struct profile *p, capture_id c,
		       const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .unit = &units[0],
			    .tree_before = NO_TREE,
			    .peak = NO_TREE,
			    .shown = NO_TREE,
			    .summed = NO_TREE };
	int rc;

	(void)o; /* names are in the file */
	text_read_init(&r.text, in, p, c);
	massif_tree_init(&r.tree, p);
	rc = text_read_all(&r.text, take, &r, progress);
	if (rc == -ECANCELED || r.snapshots.n == 0) {
		rc = text_read_refuse(&r.text, rc, "snapshot", e);
	} else {
		builder_begin(p);
		build(&r);
		tell(&r);
		rc = builder_end(p);
		if (rc == -EFBIG)
			err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	}
	massif_tree_done(&r.tree);
	vec_done(&r.snapshots);
	vec_done(&r.held);
	vec_done(&r.next_held);
	text_read_done(&r.text);
	return rc;
}

/* "desc: …" and "cmd: …"; heaptrack_print begins with its first snapshot. */
static int probe_text(const char *text, size_t n)
{
	const char *line = memchr(text, '\n', n);
	size_t left = line ? n - (size_t)(line + 1 - text) : 0;

	if (starts(text, n, "desc:") && line && starts(line + 1, left, "cmd:"))
		return FORMAT_SURE + 20;
	return starts(text, n, "#-----------\nsnapshot=") ? FORMAT_SURE + 10 : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_massif = {
	.name = "massif",
	.title = "massif.out of valgrind and heaptrack_print",
	.probe = probe,
	.read = read_massif,
};
