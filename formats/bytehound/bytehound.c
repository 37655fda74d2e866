/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events of a bytehound file as a heap. They come in any order and each has its time: they are sorted, and a free finds its block by
 * id, or by address where it has none. A free may have an earlier time than its allocation: then it ends the block at once.
 */
#include "config.h"

#include "formats/bytehound/bytehound.h"

#include "base/compare.h"
#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/task.h"
#include "formats/bytehound/bytehound_events.h"
#include "formats/facts.h"
#include "input/input.h"
#include "profile/heap/heap_builder.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

/* Later times, in µs, are not worked with. */
#define MOST_US (UINT64_C(1) << 52)

/* Events between two publications. */
#define BATCH 65536

/* Frames of a stack, the innermost ones: those that stacks share cost their file nothing. */
#define MOST_FRAMES  4096
/* Frames between two publications. */
#define BATCH_FRAMES 1000000

/* A block, by its id or by its address. */
struct block {
	struct bytehound_id id; /* both 0: by address */
	uint64_t address;
	uint32_t row; /* allocation_id; ID_NONE: none */
	bool live;
	bool freed_early; /* a free came before the allocation */
};

/* Who allocates where. */
struct place {
	uint64_t backtrace;
	uint32_t thread; /* tid */
	uint32_t flags;  /* ORIGIN_… */
	uint32_t origin; /* origin_id */
};

struct tid {
	uint32_t tid;
	uint32_t thread; /* thread_id */
	uint32_t root;   /* stack_id */
	uint32_t
		fresh; /* allocation_id of what its last deed allocated; ID_NONE: that was another */
};

struct reader {
	struct profile *p;
	capture_id capture;
	struct bytehound_events e;
	struct resolver_options options;
	struct resolver *resolver;
	enum root_names root_names;
	process_id process;
	string_id name; /* of the process */
	track_id track;
	event_id event;
	VEC(struct block) blocks;
	struct map by_key; /* of blocks */
	VEC(struct place) places;
	struct map by_place;
	VEC(struct tid) tids;
	struct map by_tid;
	VEC(struct frame) frames; /* of a location, while it is made */
	VEC(uint64_t) addresses;  /* of a stack, while it is made */
	struct map by_string;     /* of e.strings, by their id */
	uint32_t *order;          /* [e.all.n] events by time; owned */
	uint64_t n_unknown, n_odd_sizes, n_no_stack;
	uint64_t n_deep;   /* stacks of more than MOST_FRAMES */
	uint64_t n_frames; /* that were looked up since the last publication */
	int64_t end_ns;
};

/* Times. */

static int64_t time_ns(uint64_t us)
{
	return us < MOST_US ? (int64_t)us * NS_PER_US : 0;
}

static int by_time(const void *a, const void *b, void *arg)
{
	const struct bytehound_event *all = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return COMPARE(all[x].time_us, all[y].time_us) ?: COMPARE(x, y);
}

static void sort(struct reader *r)
{
	r->order = xmalloc((r->e.all.n + 1) * sizeof(*r->order));
	for (size_t i = 0; i < r->e.all.n; i++)
		r->order[i] = (uint32_t)i;
	qsort_r(r->order, r->e.all.n, sizeof(*r->order), by_time, r->e.all.at);
}

/* Stacks. */

static bool same_string(const void *things, uint32_t value, const void *key)
{
	return ((const struct bytehound_string *)things)[value].id == *(const uint32_t *)key;
}

static string_id string_of(const struct reader *r, uint32_t id)
{
	uint32_t i = map_find(&r->by_string, hash_u64(id), same_string, r->e.strings.at, &id);

	return (string_id){ i != MAP_NONE ? r->e.strings.at[i].text : 0 };
}

static struct frame frame_of(struct reader *r, uint32_t id)
{
	const struct bytehound_frame *f = id < r->e.frames.n ? &r->e.frames.at[id] : NULL;
	const char *path = f ? profile_string(r->p, string_of(r, f->library), NULL) : "";
	module_id m = *path ? build_module(r->p, path, "",
					   strstr(path, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM)
			    : (module_id){ 0 };
	string_id name = f ? string_of(r, f->function) : (string_id){ 0 };
	const char *text = profile_string(r->p, name, NULL);
	struct frame out = { 0 };
	char *made = NULL;

	if (*text == '\0') {
		text = profile_string(r->p, profile_module(r->p, m)->name, NULL);
		made = xasprintf("[%s]", *text ? text : "unknown");
		name = build_cstring(r->p, made);
	}
	out.function = build_function(r->p, name, m, made ? FUNCTION_UNRESOLVED : 0,
				      (string_id){ 0 }, 0)
			       .v;
	free(made);
	if (f && f->source != UINT32_MAX)
		out.file = string_of(r, f->source).v;
	if (f && f->line != UINT32_MAX)
		out.line = f->line;
	return out;
}

/* Frames are innermost first, and those that were inlined stand before what they were inlined into. */
static stack_id decoded_stack(struct reader *r, const struct bytehound_backtrace *t, stack_id root)
{
	/* Without a frame there may be no list of them at all. */
	const uint32_t *ids = t->n ? &r->e.frame_ids.at[t->first] : NULL;

	for (uint32_t i = t->n; i-- > 0;) {
		vec_push(&r->frames, frame_of(r, ids[i]));
		if (i > 0 && ids[i - 1] < r->e.frames.n && r->e.frames.at[ids[i - 1]].inlined)
			continue;
		root = build_stack(
			r->p, root,
			build_frames_location(r->p, r->frames.at, (uint32_t)r->frames.n));
		vec_clear(&r->frames);
	}
	vec_clear(&r->frames);
	return root;
}

static stack_id stack_of(struct reader *r, uint64_t backtrace, uint64_t us, stack_id root)
{
	const struct bytehound_backtrace *t = bytehound_backtrace_of(&r->e, backtrace);

	if (!t) {
		r->n_no_stack++;
		return root;
	}
	if (t->decoded)
		return decoded_stack(r, t, root);
	r->n_deep += t->n > MOST_FRAMES;
	vec_clear(&r->addresses);
	for (size_t at = t->first; at != BYTEHOUND_NO_LINK && r->addresses.n < MOST_FRAMES;
	     at = r->e.links.at[at].outer)
		vec_push(&r->addresses, r->e.links.at[at].address);
	r->n_frames += r->addresses.n;
	for (size_t i = r->addresses.n; i-- > 0;)
		root = build_stack(r->p, root,
				   resolver_locate(r->resolver, (int32_t)(r->e.pid & INT32_MAX),
						   time_ns(us), r->addresses.at[i], MODE_USER,
						   true));
	return root;
}

static bool same_tid(const void *things, uint32_t value, const void *key)
{
	return ((const struct tid *)things)[value].tid == *(const uint32_t *)key;
}

static struct tid *tid_of(struct reader *r, uint32_t tid)
{
	struct tid t = { .tid = tid, .fresh = ID_NONE };
	int32_t number = (int32_t)(tid & INT32_MAX);
	uint32_t known = map_find(&r->by_tid, hash_u64(tid), same_tid, r->tids.at, &tid);

	if (known != MAP_NONE)
		return &r->tids.at[known];
	t.thread = build_thread(r->p, r->process, number, r->name).v;
	t.root = build_stack(r->p, (stack_id){ 0 },
			     build_root_location(r->p, r->name, (int32_t)(r->e.pid & INT32_MAX),
						 number, r->root_names))
			 .v;
	map_add(&r->by_tid, hash_u64(tid), (uint32_t)r->tids.n);
	vec_push(&r->tids, t);
	return &r->tids.at[r->tids.n - 1];
}

static bool same_place(const void *things, uint32_t value, const void *key)
{
	const struct place *a = &((const struct place *)things)[value], *b = key;

	return a->backtrace == b->backtrace && a->thread == b->thread && a->flags == b->flags;
}

static origin_id origin_of(struct reader *r, uint64_t backtrace, uint32_t thread, uint32_t flags,
			   uint64_t us)
{
	struct place key = { .backtrace = backtrace, .thread = thread, .flags = flags };
	uint64_t hash = hash_u64(backtrace * 31 + thread + ((uint64_t)flags << 32));
	uint32_t known = map_find(&r->by_place, hash, same_place, r->places.at, &key);
	struct heap_origin o = { .event = (uint16_t)r->event.v,
				 .track = (uint16_t)r->track.v,
				 .flags = flags };
	struct tid *t;

	if (known != MAP_NONE)
		return (origin_id){ r->places.at[known].origin };
	t = tid_of(r, thread);
	o.thread = t->thread;
	o.stack = stack_of(r, backtrace, us, (stack_id){ t->root }).v;
	key.origin = build_heap_origin(r->p, &o).v;
	vec_push(&r->places, key);
	map_add(&r->by_place, hash, (uint32_t)r->places.n - 1);
	return (origin_id){ key.origin };
}

/* Blocks. */

static bool same_block(const void *things, uint32_t value, const void *key)
{
	const struct block *a = &((const struct block *)things)[value], *b = key;

	return a->id.thread == b->id.thread && a->id.number == b->id.number &&
	       a->address == b->address;
}

/* The block that an event is about, a new one if need be. */
static struct block *block_of(struct reader *r, const struct bytehound_id *id, uint64_t address)
{
	struct block key = { .id = *id, .row = ID_NONE };
	uint64_t hash;
	uint32_t known;

	if (id->thread == 0 && id->number == 0)
		key.address = address;
	hash = hash_u64(hash_u64(id->thread) ^ hash_u64(id->number * 3) ^ key.address);
	known = map_find(&r->by_key, hash, same_block, r->blocks.at, &key);
	if (known == MAP_NONE) {
		known = (uint32_t)r->blocks.n;
		vec_push(&r->blocks, key);
		map_add(&r->by_key, hash, known);
	}
	return &r->blocks.at[known];
}

static void allocate(struct reader *r, const struct bytehound_event *v, uint32_t flags)
{
	origin_id origin = origin_of(r, v->backtrace, v->thread, flags, v->time_us);
	struct block *b = block_of(r, &v->id, v->pointer);

	b->live = v->size <= SIZE_MOST && (v->size < SIZE_LARGE || build_heap_claim(r->p, v->size));
	if (!b->live) {
		r->n_odd_sizes++;
		return;
	}
	b->row = build_allocation(r->p, r->track, v->size, origin).v;
	tid_of(r, v->thread)->fresh = b->row;
	if (!b->freed_early)
		return;
	b->live = b->freed_early = false;
	build_moment(r->p, r->track, r->end_ns);
	build_release(r->p, (allocation_id){ b->row }, r->track, false, (origin_id){ ID_NONE });
}

/* Ends the block of an event. One whose allocation is still to come, by its id, ends then. */
static void release(struct reader *r, const struct bytehound_event *v, uint64_t address)
{
	struct block *b = block_of(r, &v->id, address);
	bool tracked = v->id.thread != 0 || v->id.number != 0;
	struct tid *t = tid_of(r, v->thread);
	bool fresh = t->fresh == b->row && v->deed == BYTEHOUND_FREE;
	origin_id by = { ID_NONE };

	t->fresh = ID_NONE;
	if (!b->live) {
		b->freed_early |= tracked && b->row == ID_NONE;
		r->n_unknown += !b->freed_early;
		return;
	}
	b->live = false;
	if (v->deed == BYTEHOUND_FREE && v->backtrace != 0)
		by = origin_of(r, v->backtrace, v->thread, 0, v->time_us);
	build_release(r->p, (allocation_id){ b->row }, r->track, fresh, by);
}

static void apply(struct reader *r, const struct bytehound_event *v)
{
	r->end_ns = time_ns(v->time_us) > r->end_ns ? time_ns(v->time_us) : r->end_ns;
	build_moment(r->p, r->track, r->end_ns);
	if (v->deed == BYTEHOUND_FREE)
		release(r, v, v->pointer);
	if (v->deed == BYTEHOUND_REALLOC)
		release(r, v, v->old_pointer);
	if (v->deed != BYTEHOUND_FREE)
		allocate(r, v, v->deed == BYTEHOUND_REALLOC ? ORIGIN_REALLOC : 0);
}

static void apply_groups(struct reader *r)
{
	struct heap_track t = profile_heap_track(r->p, r->track);

	for (size_t i = 0; i < r->e.groups.n; i++) {
		const struct bytehound_group *g = &r->e.groups.at[i];
		struct heap_bulk bulk = { .calls = g->calls, .bytes = g->bytes };

		if (g->calls == 0)
			continue;
		if (!build_heap_claim(r->p, g->bytes)) {
			r->n_odd_sizes++;
			continue;
		}
		bulk.origin = origin_of(r, g->backtrace, r->e.pid, 0, g->first_us).v;
		bulk.moment = heap_track_moment(&t, time_ns(g->first_us));
		build_bulk(r->p, &bulk);
	}
}

/* The file. */

static void begin(struct reader *r)
{
	const char *path = profile_string(r->p, (string_id){ r->e.executable }, NULL);

	r->name = build_cstring(r->p, *path ? path_last_part(path) : "[unknown]");
	r->process = build_process(r->p, r->capture, (int32_t)(r->e.pid & INT32_MAX));
	build_process_name(r->p, r->process, r->name);
	r->event = build_heap_event(r->p, "malloc");
	r->track = build_heap_track(r->p, r->process, 0, 0);
	r->resolver = resolver_new(r->p, r->capture, &r->options);
	for (size_t i = 0; i < r->e.regions.n; i++) {
		const struct bytehound_region *g = &r->e.regions.at[i];
		const struct mapping_event m = { .time_ns = time_ns(g->time_us),
						 .pid = (int32_t)(r->e.pid & INT32_MAX),
						 .start = g->start,
						 .length = g->bytes,
						 .file_offset = g->offset,
						 .path = profile_string(
							 r->p, (string_id){ g->path }, NULL),
						 .executable = g->executable };

		if (g->bytes > 0 && g->start <= UINT64_MAX - g->bytes)
			resolver_map(r->resolver, &m);
	}
	for (size_t i = 0; i < r->e.strings.n; i++) {
		const uint32_t *id = &r->e.strings.at[i].id;

		if (map_find(&r->by_string, hash_u64(*id), same_string, r->e.strings.at, id) ==
		    MAP_NONE)
			map_add(&r->by_string, hash_u64(*id), (uint32_t)i);
	}
}

static int build(struct reader *r, struct progress *progress)
{
	int rc = 0;

	sort(r);
	builder_begin(r->p);
	begin(r);
	for (size_t i = 0; i < r->e.all.n && rc == 0; i++) {
		apply(r, &r->e.all.at[r->order[i]]);
		if (i % BATCH == BATCH - 1 || r->n_frames >= BATCH_FRAMES) {
			r->n_frames = 0;
			rc = builder_end(r->p);
			builder_begin(r->p);
			if (rc == 0 && progress_cancelled(progress))
				rc = -ECANCELED;
		}
	}
	if (builder_end(r->p) < 0)
		rc = -EFBIG;
	builder_begin(r->p);
	if (rc == 0)
		apply_groups(r);
	return builder_end(r->p) < 0 ? -EFBIG : rc;
}

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	builder_begin(r->p);
	build_fact(r->p, r->capture, "file", "command", FACT_PLAIN, "%s",
		   profile_string(r->p, (string_id){ r->e.command }, NULL));
	build_fact(r->p, r->capture, "file", "events", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->e.all.n));
	if (r->e.groups.n > 0)
		build_fact(r->p, r->capture, "file", "stripped", FACT_PLAIN,
			   "short-lived blocks are sums by stack: which lived when is not known");
	if (r->e.n_markers > 0)
		build_fact(r->p, r->capture, "file", "markers", FACT_PLAIN, "%s, not shown",
			   fmt_count(text, (int64_t)r->e.n_markers));
	if (r->e.n_maps > 0)
		build_fact(r->p, r->capture, "file", "memory maps", FACT_PLAIN, "%s, not shown",
			   fmt_count(text, (int64_t)r->e.n_maps));
	if (r->e.damage.code != 0) {
		build_fact(r->p, r->capture, "losses", "rest of the file", FACT_LOSS, "%s",
			   err_text(&r->e.damage));
		build_heap_lives_on(r->p, r->track);
	} else {
		build_heap_gone(r->p, r->track, r->end_ns);
	}
	for (size_t i = 0; i < r->blocks.n; i++)
		r->n_unknown += r->blocks.at[i].freed_early;
	facts_loss(r->p, r->capture, "frees", r->n_unknown, "free",
		   "of blocks that are not in the file");
	facts_loss(r->p, r->capture, "sizes", r->n_odd_sizes, "allocation",
		   "of more bytes than there can be: left out");
	facts_loss(r->p, r->capture, "stacks", r->n_no_stack, "stack", "that is not in the file");
	facts_loss(r->p, r->capture, "deep stacks", r->n_deep, "stack",
		   "of more than 4,096 frames: the outer ones are left out");
	facts_loss(r->p, r->capture, "shared stacks", r->e.n_odd, "stack",
		   "that shares more with the one before than that has");
	builder_end(r->p);
}

static int refuse(const struct reader *r, const struct input *in, struct err *e)
{
	if (r->e.damage.code != 0)
		return err_set(e, -EBADMSG, "%s", err_text(&r->e.damage));
	return err_set(e, -EBADMSG, "%s: is a bytehound file without an allocation",
		       input_name(in));
}

static void reader_done(struct reader *r)
{
	resolver_free(r->resolver);
	bytehound_events_done(&r->e);
	vec_done(&r->blocks);
	map_done(&r->by_key);
	vec_done(&r->places);
	map_done(&r->by_place);
	vec_done(&r->tids);
	map_done(&r->by_tid);
	vec_done(&r->frames);
	vec_done(&r->addresses);
	map_done(&r->by_string);
	free(r->order);
}

static int read_bytehound(struct input *in, struct profile *p, capture_id c,
			  const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p,
			    .capture = c,
			    .root_names = o ? o->root_names : ROOT_COMM,
			    .e = { .p = p, .damage = ERR_INIT } };
	int rc;

	if (o && o->resolve)
		r.options = *o->resolve;
	rc = bytehound_events_read(&r.e, in, progress);
	if (rc == 0 && r.e.all.n == 0 && r.e.groups.n == 0)
		rc = refuse(&r, in, e);
	else if (rc == 0)
		rc = build(&r, progress);
	if (rc == 0) {
		tell(&r);
		rc = resolver_name(r.resolver, progress);
		if (rc == 0)
			rc = resolver_inline(r.resolver, progress);
	}
	if (rc == -EFBIG)
		err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
	if (rc == -ECANCELED)
		err_set(e, rc, "%s: reading was stopped", input_name(in));
	reader_done(&r);
	return rc;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return bytehound_events_begin(bytes, n) ? FORMAT_SURE + 20 : 0;
}

const struct format format_bytehound = {
	.name = "bytehound",
	.title = "data files of bytehound (memory-profiler)",
	.probe = probe,
	.read = read_bytehound,
};
