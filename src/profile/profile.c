/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Birth, death and reading of a profile. The writing side is builder.c and rows.c. */
#include "config.h"

#include "profile/profile.h"

#include "profile/sample_rows.h"
#include "profile/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every column but those of samples: which, element, most elements. */
#define COLUMNS(X) \
	X(text, char, STORE_MOST_TEXT) \
	X(string_end, uint32_t, STORE_MOST_IDS + 1) \
	X(string_function, uint32_t, STORE_MOST_IDS) \
	X(captures, struct capture, STORE_MOST_IDS) \
	X(parts, struct capture_part, STORE_MOST_IDS) \
	X(modules, struct module, STORE_MOST_IDS) \
	X(functions, struct function, STORE_MOST_IDS) \
	X(symbols, uint32_t, STORE_MOST_IDS) \
	X(loc_module, uint32_t, STORE_MOST_IDS) \
	X(loc_address, uint64_t, STORE_MOST_IDS) \
	X(loc_function, uint32_t, STORE_MOST_IDS) \
	X(loc_inlines, uint32_t, STORE_MOST_IDS) \
	X(frames, struct frame, STORE_MOST_IDS) \
	X(processes, struct process, STORE_MOST_IDS) \
	X(cgroups, struct cgroup, STORE_MOST_CGROUPS) \
	X(threads, struct thread, STORE_MOST_IDS) \
	X(events, struct event, STORE_MOST_EVENTS) \
	X(event_weights, uint64_t, STORE_MOST_EVENTS) \
	X(facts, struct fact, STORE_MOST_IDS)

#define MAPS(X) \
	X(strings_by_text) \
	X(modules_by_path) \
	X(functions_by_name) \
	X(locations_by_address) \
	X(locations_by_frames) \
	X(processes_by_pid) \
	X(cgroups_by_number) \
	X(threads_by_tid) \
	X(events_by_name) \
	X(facts_by_name)

bool store_grow(struct profile *p, struct column *c, uint64_t n)
{
	int rc = column_extend(c, n);

	if (rc < 0)
		p->sticky = rc == -ENOSPC ? rc : -EFBIG;
	return rc == 0;
}

struct weight_version *weight_version_new(void)
{
	struct weight_version *v = xcalloc(1, sizeof(*v));

	column_init(&v->weight, sizeof(int64_t), STORE_MOST_SAMPLES);
	column_init(&v->scale, sizeof(int64_t), STORE_MOST_EVENTS);
	return v;
}

void weight_versions_free(struct weight_version *v)
{
	while (v) {
		struct weight_version *older = v->older;

		column_done(&v->weight);
		column_done(&v->scale);
		free(v);
		v = older;
	}
}

void store_rows_init(struct store_rows *r)
{
	*r = (struct store_rows){ .n = 0 };
#define X(name, type) column_init(&r->name, sizeof(type), STORE_MOST_SAMPLES);
	STORE_ROW_COLUMNS(X)
#undef X
	column_init(&r->packed, 1, STORE_MOST_PACKED);
	column_init(&r->blocks, sizeof(struct packed_block),
		    STORE_MOST_SAMPLES / SAMPLE_ROWS_BATCH);
	r->versions = weight_version_new();
}

void store_rows_done(struct store_rows *r)
{
#define X(name, type) column_done(&r->name);
	STORE_ROW_COLUMNS(X)
#undef X
	column_done(&r->packed);
	column_done(&r->blocks);
	weight_versions_free(r->versions);
	r->versions = NULL;
}

bool store_trie_init(struct store_trie *t)
{
	*t = (struct store_trie){ .n_tables = 0 };
	column_init(&t->parent, sizeof(uint32_t), STORE_MOST_IDS);
	column_init(&t->location, sizeof(uint32_t), STORE_MOST_IDS);
	column_init(&t->child, sizeof(struct store_child), STORE_MOST_IDS);
	column_init(&t->beyond_frames, sizeof(struct beyond_frame), STORE_MOST_IDS);
	store_rows_init(&t->beyond);
	if (column_extend(&t->parent, 2) < 0 || column_extend(&t->location, 2) < 0 ||
	    column_extend(&t->child, 2) < 0)
		return false;
	STORE_AT(uint32_t, t->location, 0) = ID_NONE;
	return true;
}

void store_trie_close(struct store_trie *t)
{
	column_done(&t->child);
	stack_index_done(&t->by_parent);
	map_done(&t->by_chain);
	vec_done(&t->chains);
}

void store_trie_done(struct store_trie *t)
{
	store_trie_close(t);
	column_done(&t->parent);
	column_done(&t->location);
	column_done(&t->beyond_frames);
	store_rows_done(&t->beyond);
}

struct sample_columns store_rows_shown(const struct store_rows *r)
{
	return (struct sample_columns){
		.stack = r->row_stack.base,
		.thread = r->row_thread.base,
		.event = r->row_event.base,
		.cpu = r->row_cpu.base,
		.weight = r->versions->weight.base,
		.time_ns = r->row_time.base,
		.scale = r->versions->scale.base,
		.count = r->row_count.base,
		.square = r->row_square.base,
		.last_ns = r->row_last.base,
		.n_folded = r->n_folded,
		.n_packed = r->n_packed,
		.packed = r->packed.base,
		.blocks = r->blocks.base,
	};
}

/* Things of id 0: the empty string, no module, the root of the trie. */
static void make_zeroes(struct profile *p)
{
	STORE_AT(uint32_t, p->string_end, 1) = 1;
	p->now.n_strings = 1;
	p->now.n_modules = 1;
	p->now.n_stacks = 1;
	p->published = p->now;
	p->shown.stacks = (struct stack_columns){ p->trie.parent.base, p->trie.location.base };
}

struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->pen, NULL);
	pthread_mutex_init(&p->publication, NULL);
#define MAKE(name, type, most) \
	column_init(&p->name, sizeof(type), most); \
	store_grow(p, &p->name, 2);
	COLUMNS(MAKE)
#undef MAKE
	store_heap_init(&p->heap);
	store_rows_init(&p->samples);
	store_grow(p, &p->samples.versions->scale, 1);
	p->fence_ns[0] = p->fence_ns[1] = TIME_NONE;
	if (p->sticky < 0 || !store_trie_init(&p->trie))
		mem_fail(sizeof(*p));
	make_zeroes(p);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
#define FREE(name, type, most) column_done(&p->name);
	COLUMNS(FREE)
#undef FREE
#define FREE(name) map_done(&p->name);
	MAPS(FREE)
#undef FREE
	store_heap_done(&p->heap);
	store_rows_done(&p->samples);
	store_trie_done(&p->trie);
	store_states_done(p);
	store_attachments_done(p);
	vec_done(&p->asides);
	vec_done(&p->watches);
	vec_done(&p->merge_exited_threads);
	vec_done(&p->ended_processes);
	pthread_mutex_destroy(&p->publication);
	pthread_mutex_destroy(&p->pen);
	free(p);
}

void profile_counts_read(const struct profile *p, struct profile_counts *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	*c = p->published;
	pthread_mutex_unlock(&mutable->publication);
}

void profile_fences(struct profile *p, const int64_t at_ns[BUILD_FENCES])
{
	pthread_mutex_lock(&p->publication);
	memcpy(p->fence_ns, at_ns, sizeof(p->fence_ns));
	pthread_mutex_unlock(&p->publication);
}

const char *profile_string(const struct profile *p, string_id s, size_t *len)
{
	const uint32_t *end = p->string_end.base;

	if (len)
		*len = end[s.v + 1] - end[s.v] - 1;
	return (const char *)p->text.base + end[s.v];
}

const struct capture *profile_capture(const struct profile *p, capture_id id)
{
	return &STORE_AT(struct capture, p->captures, id.v);
}

const struct capture_part *profile_part(const struct profile *p, part_id id)
{
	return &STORE_AT(struct capture_part, p->parts, id.v);
}

const struct module *profile_module(const struct profile *p, module_id id)
{
	return &STORE_AT(struct module, p->modules, id.v);
}

const struct function *profile_function(const struct profile *p, function_id id)
{
	return &STORE_AT(struct function, p->functions, id.v);
}

const struct process *profile_process(const struct profile *p, process_id id)
{
	return &STORE_AT(struct process, p->processes, id.v);
}

const struct cgroup *profile_cgroup(const struct profile *p, cgroup_id id)
{
	return &STORE_AT(struct cgroup, p->cgroups, id.v);
}

const struct thread *profile_thread(const struct profile *p, thread_id id)
{
	return &STORE_AT(struct thread, p->threads, id.v);
}

const struct event *profile_event(const struct profile *p, event_id id)
{
	return &STORE_AT(struct event, p->events, id.v);
}

struct fact profile_fact(const struct profile *p, uint32_t i)
{
	struct profile *mutable = (struct profile *)p;
	struct fact f;

	pthread_mutex_lock(&mutable->publication);
	f = STORE_AT(struct fact, p->facts, i);
	pthread_mutex_unlock(&mutable->publication);
	return f;
}

void profile_stacks(const struct profile *p, struct stack_columns *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	*c = p->shown.stacks;
	pthread_mutex_unlock(&mutable->publication);
}

void profile_locations(const struct profile *p, struct location_columns *c)
{
	*c = (struct location_columns){
		.module = p->loc_module.base,
		.address = p->loc_address.base,
		.function = p->loc_function.base,
		.inlines = p->loc_inlines.base,
		.frames = p->frames.base,
	};
}

void profile_samples(const struct profile *p, struct sample_columns *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	*c = p->shown.rows;
	pthread_mutex_unlock(&mutable->publication);
}
