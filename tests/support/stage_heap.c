/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service's heap over two minutes: what it starts with, a cache that grows, batches that come and go */
#include "config.h"

#include "tests/support/stage.h"

#include "base/mem.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"

#include <stdlib.h>
#include <string.h>

#define MS      INT64_C(1000000)
#define WHOLE   (120000 * MS)
#define STEP    (100 * MS)
#define N_STEPS (WHOLE / STEP)

static const struct {
	const char *name;
	enum family family;
} modules[] = {
	{ "my_program", FAMILY_PROGRAM },
	{ "libc.so.6", FAMILY_LIBC },
	{ "libz.so.1", FAMILY_LIBRARY },
};

/* Name, module, source. A function is called by its letter in the stacks below. */
static const struct {
	char letter;
	int module;
	const char *name, *file;
	uint32_t line;
} functions[] = {
	{ 'S', 1, "_start", "", 0 },
	{ 'm', 0, "main", "main.cc", 40 },
	{ 'l', 0, "load_tables(Config const&)", "main.cc", 57 },
	{ 's', 0, "serve(Listener&)", "server.cc", 77 },
	{ 'h', 0, "handle_request(Conn*)", "server.cc", 118 },
	{ 'c', 0, "Cache::insert(Key const&, Value&&)", "cache.cc", 88 },
	{ 't', 0, "to_string(Record const&)", "log.cc", 41 },
	{ 'b', 0, "read_batch(File&)", "io.cc", 70 },
	{ 'v', 0,
	  "void std::vector<Rec, std::allocator<Rec> >::_M_realloc_insert<Rec>(Rec*, Rec&&)",
	  "vector.tcc", 432 },
	{ 'n', 0, "operator new(unsigned long)", "new_op.cc", 50 },
	{ 'T', 1, "start_thread", "pthread_create.c", 442 },
	{ 'F', 0, "flush_loop(Queue<std::unique_ptr<Block> >&)", "flush.cc", 15 },
	{ 'Z', 2, "deflateInit2_", "", 0 },
	{ 'M', 1, "mmap64", "mmap64.c", 47 },
};

/* What asks for memory, and for how long: one every so many steps, which lives for so many. */
static const struct {
	int thread;
	const char *stack;
	int64_t size;
	int from, until, every; /* steps; until 0: to the end */
	int lives;              /* steps; 0: until the next is handed out at once; -1: for ever */
} habits[] = {
	{ 0, "Smlvn", 4100000, 3, 12, 2, -1 }, { 0, "Smshc", 46000, 20, 0, 1, -1 },
	{ 0, "Smshcn", 2000, 20, 0, 1, -1 },   { 0, "Smsht", 340, 10, 0, 1, 0 },
	{ 0, "Smshtn", 120, 10, 0, 1, 0 },     { 0, "Smshbvn", 260000, 15, 0, 1, 118 },
	{ 0, "Smsh", 9000, 12, 1000, 3, 40 },  { 1, "TFZ", 270000, 100, 900, 50, 30 },
	{ 1, "TF", 65536, 80, 1100, 7, 5 },
};

/* Ranges that are mapped for good. */
static const struct {
	int64_t size, at;
} mapped[] = { { 8 << 20, 2 }, { 64 << 20, 400 } };

static const struct {
	const char *name;
	int64_t at;
} marks[] = { { "warm", 10000 * MS }, { "load test", 60000 * MS }, { "cool-down", 100000 * MS } };

struct stage_heap_life {
	struct profile *p;
	function_id function[128]; /* by letter */
	thread_id thread[2];
	location_id root[2]; /* the threads' names */
	event_id event, map_event;
	track_id track;
	series_id rss;
	int64_t step; /* the next one */
	bool changed; /* it takes longer, and the cache grows twice as fast */
	bool freed;   /* it is known who frees */
	VEC(struct due) due;
	int64_t live;
};

/* A block that will be freed. */
struct due {
	allocation_id block;
	int64_t step, size;
};

static int64_t time_of(const struct stage_heap_life *m, int64_t step)
{
	return step * (m->changed ? STEP * 5 / 4 : STEP);
}

static void make_names(struct stage_heap_life *m, capture_id c)
{
	static const char *const names[] = { "my_program", "flusher" };
	module_id module[3];
	process_id p = build_process(m->p, c, 812);

	build_process_name(m->p, p, build_cstring(m->p, names[0]));
	for (int i = 0; i < 2; i++) {
		string_id name = build_cstring(m->p, names[i]);

		m->thread[i] = build_thread(m->p, p, 812 + 3 * i, name);
		m->root[i] = build_comm_location(m->p, name);
	}
	for (int i = 0; i < 3; i++)
		module[i] = build_module(m->p, modules[i].name, "", modules[i].family);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		m->function[(int)functions[i].letter] = build_function(
			m->p, build_cstring(m->p, functions[i].name), module[functions[i].module],
			0, build_cstring(m->p, functions[i].file), functions[i].line);
	m->track = build_heap_track(m->p, p, 0, 0);
	m->event = build_heap_event(m->p, "malloc");
	m->map_event = build_heap_event(m->p, "mmap");
}

static origin_id make_origin(struct stage_heap_life *m, int thread, const char *letters,
			     event_id event)
{
	struct heap_origin o = { .thread = m->thread[thread].v, .event = (uint16_t)event.v };
	stack_id s = build_stack(m->p, (stack_id){ 0 }, m->root[thread]);

	for (; *letters; letters++)
		s = build_stack(m->p, s, build_symbol_location(m->p, m->function[(int)*letters]));
	o.stack = s.v;
	o.track = (uint16_t)m->track.v;
	return build_heap_origin(m->p, &o);
}

/* The flusher frees batches, and the cache all else. */
static origin_id who_frees(struct stage_heap_life *m, bool batch)
{
	if (!m->freed)
		return (origin_id){ ID_NONE };
	return make_origin(m, batch, batch ? "TF" : "Smshc", m->event);
}

static void hand_out(struct stage_heap_life *m, size_t i, int64_t step)
{
	origin_id who = make_origin(m, habits[i].thread, habits[i].stack, m->event);
	int64_t size = habits[i].size + (step * 37 + (int64_t)i * 11) % 64, at = time_of(m, step);
	struct due due = { .step = step + habits[i].lives, .size = size };

	if (m->changed && strcmp(habits[i].stack, "Smshc") == 0)
		due.size = size *= 2;
	build_moment(m->p, m->track, at);
	due.block = build_allocation(m->p, m->track, (uint64_t)size, who);
	m->live += size;
	if (habits[i].lives > 0)
		vec_push(&m->due, due);
	if (habits[i].lives != 0)
		return;
	build_moment(m->p, m->track, at);
	build_release(m->p, due.block, m->track, true, who_frees(m, false));
	m->live -= size;
}

/* Batches are freed together, twelve seconds after the first of them. */
static void take_back(struct stage_heap_life *m, int64_t step)
{
	for (size_t i = 0; i < m->due.n; i++) {
		struct due d = m->due.at[i];
		bool batch = d.size >= 260000 && d.size < 261000;

		if (batch ? step % 120 != 119 : d.step > step)
			continue;
		build_moment(m->p, m->track, time_of(m, step));
		build_release(m->p, d.block, m->track, false, who_frees(m, batch));
		m->live -= d.size;
		m->due.at[i--] = m->due.at[--m->due.n];
	}
}

static void make_mark(struct stage_heap_life *m, capture_id c, size_t i)
{
	build_heap_mark(m->p, &(struct heap_mark){ .capture = c,
						   .name = build_cstring(m->p, marks[i].name),
						   .thread = ID_NONE,
						   .time_ns = time_of(m, marks[i].at / STEP) });
}

static void make_step(struct stage_heap_life *m, capture_id c, int64_t step)
{
	take_back(m, step);
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (step >= habits[i].from && (!habits[i].until || step < habits[i].until) &&
		    step % habits[i].every == 0)
			hand_out(m, i, step);
	for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++) {
		if (mapped[i].at != step)
			continue;
		build_moment(m->p, m->track, time_of(m, step));
		build_allocation(m->p, m->track, (uint64_t)mapped[i].size,
				 make_origin(m, 0, "SmM", m->map_event));
		m->live += mapped[i].size;
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (marks[i].at == step * STEP)
			make_mark(m, c, i);
	if (step % 10 == 0)
		build_heap_reading(m->p, m->rss, time_of(m, step), m->live + (24 << 20));
}

static void start_heap(struct stage_heap_life *m, capture_id c)
{
	m->live = m->step = 0;
	make_names(m, c);
	m->rss = build_heap_series(m->p, c, "RSS", UNIT_BYTES);
	build_moment(m->p, m->track, 0);
	build_fact(m->p, c, "file", "command", FACT_PLAIN, "./my_program --listen 0.0.0.0:8080");
}

static void make_heap(struct stage_heap_life *m, capture_id c)
{
	start_heap(m, c);
	while (m->step <= N_STEPS)
		make_step(m, c, m->step++);
	vec_done(&m->due);
}

static struct profile *one_heap(bool freed)
{
	struct stage_heap_life m = { .p = profile_new(), .freed = freed };

	builder_begin(m.p);
	make_heap(&m, build_capture(m.p, "service.heap", "heap"));
	builder_end(m.p);
	return m.p;
}

struct profile *stage_heap(void)
{
	return one_heap(false);
}

struct profile *stage_heap_freed(void)
{
	return one_heap(true);
}

struct profile *stage_heap_changed(void)
{
	struct stage_heap_life m = { .p = profile_new() };

	builder_begin(m.p);
	make_heap(&m, build_capture(m.p, "before.heap", "heap"));
	m.changed = true;
	make_heap(&m, build_capture(m.p, "after.heap", "heap"));
	builder_end(m.p);
	return m.p;
}

struct stage_heap_life *stage_heap_begin(struct profile *p)
{
	struct stage_heap_life *m = xcalloc(1, sizeof(*m));

	m->p = p;
	builder_begin(p);
	start_heap(m, build_capture(p, "service.heap", "heap"));
	builder_end(p);
	return m;
}

void stage_heap_go_on(struct stage_heap_life *m, int64_t to_ns)
{
	builder_begin(m->p);
	while (m->step * STEP < to_ns && m->step <= N_STEPS)
		make_step(m, (capture_id){ 0 }, m->step++);
	builder_end(m->p);
}

void stage_heap_end(struct stage_heap_life *m)
{
	vec_done(&m->due);
	free(m);
}
