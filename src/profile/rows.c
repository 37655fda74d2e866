/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The other half of builder.h: inputs, processes, threads, events, samples, facts.
 *
 * A sample column comes into being when the first sample has something to say there; the rows before
 * are then filled with what their absence meant.
 */
#include "config.h"

#include "profile/builder.h"

#include "base/hash.h"
#include "profile/compact.h"
#include "profile/heap/heap_builder.h"
#include "profile/store.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

capture_id build_capture(struct profile *p, const char *path, const char *format)
{
	struct capture c = { .begin_ns = TIME_NONE,
			     .end_ns = TIME_NONE,
			     .first_sample = p->now.n_samples };
	uint32_t n = p->now.n_captures;

	if (!store_room(p, &p->captures, (uint64_t)n + 1))
		return (capture_id){ 0 };
	STORE_AT(struct capture, p->captures, n) = c;
	p->now.n_captures++;
	build_part(p, (capture_id){ n }, path, format);
	return (capture_id){ n };
}

static part_id add_part(struct profile *p, capture_id c, const char *path, const char *format)
{
	struct capture_part part = { .capture = c };
	uint32_t n = p->now.n_parts;

	assert(c.v < p->now.n_captures);
	part.path = build_cstring(p, path);
	part.format = build_cstring(p, format);
	if (!store_room(p, &p->parts, (uint64_t)n + 1))
		return (part_id){ 0 };
	STORE_AT(struct capture_part, p->parts, n) = part;
	p->now.n_parts++;
	return (part_id){ n };
}

part_id build_part(struct profile *p, capture_id c, const char *path, const char *format)
{
	part_id part = add_part(p, c, path, format);

	STORE_AT(struct capture, p->captures, c.v).part = part;
	return part;
}

void build_part_aside(struct profile *p, capture_id c, const char *path, const char *format)
{
	vec_push(&p->asides,
		 ((struct store_aside){ pthread_self(), add_part(p, c, path, format) }));
}

void build_part_done(struct profile *p)
{
	for (size_t i = 0; i < p->asides.n; i++)
		if (pthread_equal(p->asides.at[i].thread, pthread_self()))
			p->asides.at[i--] = p->asides.at[--p->asides.n];
}

/* Which part is what this thread states of a capture of? */
static part_id stated_part(const struct profile *p, capture_id c)
{
	for (size_t i = 0; i < p->asides.n; i++)
		if (pthread_equal(p->asides.at[i].thread, pthread_self()))
			return p->asides.at[i].part;
	return STORE_AT(struct capture, p->captures, c.v).part;
}

static bool same_process(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct process *a = &STORE_AT(struct process, p->processes, value), *k = key;

	return a->pid == k->pid && a->capture.v == k->capture.v &&
	       (k->pid >= 0 || a->name.v == k->name.v);
}

static void set_flag(struct store_flags *f, uint32_t id)
{
	while (f->n <= id)
		vec_push(f, false);
	f->at[id] = true;
}

static void clear_flag(struct store_flags *f, uint32_t id)
{
	if (id < f->n)
		f->at[id] = false;
}

static process_id intern_process(struct profile *p, const struct process *key)
{
	uint64_t hash = hash_u64(hash_pair(key->capture.v, (uint32_t)key->pid) + key->name.v);
	uint32_t n = p->now.n_processes, id;

	assert(key->capture.v < p->now.n_captures);
	id = map_find(&p->processes_by_pid, hash, same_process, p, key);
	if (id != MAP_NONE) {
		clear_flag(&p->ended_processes, id);
		return (process_id){ id };
	}
	if (!store_room(p, &p->processes, (uint64_t)n + 1))
		return (process_id){ 0 };
	STORE_AT(struct process, p->processes, n) = *key;
	map_add(&p->processes_by_pid, hash, n);
	p->now.n_processes++;
	return (process_id){ n };
}

process_id build_process(struct profile *p, capture_id c, int32_t pid)
{
	return intern_process(p, &(struct process){ .capture = c, .pid = pid });
}

process_id build_process_of_name(struct profile *p, capture_id c, string_id name)
{
	return intern_process(p, &(struct process){ .capture = c, .pid = -1, .name = name });
}

void build_process_name(struct profile *p, process_id id, string_id name)
{
	struct process *a = &STORE_AT(struct process, p->processes, id.v);

	assert(id.v < p->now.n_processes && name.v < p->now.n_strings);
	__atomic_store_n(&a->name.v, name.v, __ATOMIC_RELEASE);
}

static bool same_cgroup(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct cgroup *a = &STORE_AT(struct cgroup, p->cgroups, value), *k = key;

	return a->number == k->number && a->capture.v == k->capture.v;
}

cgroup_id build_cgroup(struct profile *p, capture_id c, uint64_t number)
{
	struct cgroup key = { .capture = c, .number = number };
	uint64_t hash = hash_u64(hash_u64(number) + c.v);
	uint32_t n = p->now.n_cgroups, id;

	assert(c.v < p->now.n_captures);
	id = map_find(&p->cgroups_by_number, hash, same_cgroup, p, &key);
	if (id != MAP_NONE)
		return (cgroup_id){ id };
	if (!store_room(p, &p->cgroups, (uint64_t)n + 1))
		return (cgroup_id){ 0 };
	STORE_AT(struct cgroup, p->cgroups, n) = key;
	map_add(&p->cgroups_by_number, hash, n);
	p->now.n_cgroups++;
	return (cgroup_id){ n };
}

void build_cgroup_path(struct profile *p, cgroup_id id, string_id path)
{
	struct cgroup *g = &STORE_AT(struct cgroup, p->cgroups, id.v);

	assert(id.v < p->now.n_cgroups && path.v < p->now.n_strings);
	__atomic_store_n(&g->path.v, path.v, __ATOMIC_RELEASE);
}

static bool same_thread(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct thread *a = &STORE_AT(struct thread, p->threads, value), *k = key;

	return a->tid == k->tid && a->process.v == k->process.v && a->name.v == k->name.v &&
	       a->cgroup == k->cgroup && a->labels.v == k->labels.v;
}

static uint64_t hash_thread(const struct thread *t)
{
	return hash_u64(hash_pair(t->process.v, (uint32_t)t->tid) +
			hash_pair(t->name.v, t->cgroup) + hash_u64(t->labels.v));
}

uint32_t store_find_thread(const struct profile *p, const struct thread *key)
{
	return map_find(&p->threads_by_tid, hash_thread(key), same_thread, p, key);
}

thread_id store_thread(struct profile *p, const struct thread *key)
{
	uint64_t hash = hash_thread(key);
	uint32_t n = p->now.n_threads, id = store_find_thread(p, key);

	if (id != MAP_NONE && id < p->merge_exited_threads.n && p->merge_exited_threads.at[id]) {
		p->merge_exited_threads.at[id] = false;
		p->n_ended--;
	}
	if (id != MAP_NONE)
		return (thread_id){ id };
	if (!store_room(p, &p->threads, (uint64_t)n + 1))
		return (thread_id){ 0 };
	STORE_AT(struct thread, p->threads, n) = *key;
	map_add(&p->threads_by_tid, hash, n);
	p->now.n_threads++;
	return (thread_id){ n };
}

thread_id build_thread(struct profile *p, process_id process, int32_t tid, string_id name)
{
	struct thread key = { .process = process, .tid = tid, .name = name, .cgroup = ID_NONE };

	assert(process.v < p->now.n_processes && name.v < p->now.n_strings);
	return store_thread(p, &key);
}

thread_id build_thread_in(struct profile *p, thread_id thread, uint32_t cgroup)
{
	struct thread key = STORE_AT(struct thread, p->threads, thread.v);

	assert(thread.v < p->now.n_threads);
	assert(cgroup == ID_NONE || cgroup < p->now.n_cgroups);
	key.cgroup = cgroup;
	return store_thread(p, &key);
}

thread_id build_thread_labelled(struct profile *p, thread_id thread, string_id labels)
{
	struct thread key = STORE_AT(struct thread, p->threads, thread.v);
	uint32_t n = p->now.n_threads;
	thread_id id;

	assert(thread.v < p->now.n_threads && labels.v < p->now.n_strings);
	key.labels = labels;
	id = store_thread(p, &key);
	p->now.n_labelled += p->now.n_threads - n;
	return id;
}

void build_thread_ended(struct profile *p, thread_id thread)
{
	if (thread.v < p->merge_exited_threads.n && p->merge_exited_threads.at[thread.v])
		return;
	set_flag(&p->merge_exited_threads, thread.v);
	p->n_ended++;
}

void build_process_ended(struct profile *p, process_id process)
{
	set_flag(&p->ended_processes, process.v);
}

static bool same_event(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const string_id *name = key;

	return STORE_AT(struct event, p->events, value).name.v == name->v;
}

static event_id add_event(struct profile *p, const char *name, struct event key)
{
	uint32_t n = p->now.n_events, id;
	uint64_t hash;

	key.name = build_cstring(p, name);
	key.scale = 1;
	hash = hash_u64(key.name.v);
	id = map_find(&p->events_by_name, hash, same_event, p, &key.name);
	if (id != MAP_NONE)
		return (event_id){ id };
	if (!store_room(p, &p->events, (uint64_t)n + 1) ||
	    !store_room(p, &p->event_weights, (uint64_t)n + 1) ||
	    !store_room(p, &p->samples.versions->scale, (uint64_t)n + 1))
		return (event_id){ 0 };
	STORE_AT(struct event, p->events, n) = key;
	STORE_AT(uint64_t, p->event_weights, n) = 0;
	STORE_AT(int64_t, p->samples.versions->scale, n) = 1;
	map_add(&p->events_by_name, hash, n);
	p->now.n_events++;
	return (event_id){ n };
}

event_id build_event(struct profile *p, const char *name, enum unit unit, bool has_weight)
{
	return add_event(p, name, (struct event){ .unit = unit, .has_weight = has_weight });
}

event_id build_summed_event(struct profile *p, const char *name, enum unit unit)
{
	return add_event(p, name,
			 (struct event){ .unit = unit, .has_weight = true, .is_summed = true });
}

void build_event_default(struct profile *p, event_id e)
{
	assert(e.v < p->now.n_events);
	STORE_AT(struct event, p->events, e.v).is_default = true;
}

event_id build_derived_event(struct profile *p, const char *name, enum unit unit)
{
	return add_event(p, name,
			 (struct event){ .unit = unit, .has_weight = true, .is_derived = true });
}

event_id build_counted_event(struct profile *p, const char *name)
{
	return add_event(
		p, name,
		(struct event){ .unit = UNIT_COUNT, .has_weight = true, .is_counted = true });
}

event_id build_heap_event(struct profile *p, const char *name)
{
	return add_event(p, name,
			 (struct event){ .unit = UNIT_BYTES, .has_weight = true, .is_heap = true });
}

static uint16_t row_event(const struct profile *p, uint64_t row)
{
	return p->samples.row_event.base ? STORE_AT(uint16_t, p->samples.row_event, row) : 0;
}

/* The weights of v with those of e times factor, in a new version that is not in use yet. */
static struct weight_version *scaled_copy(struct profile *p, event_id e, int64_t factor)
{
	const struct weight_version *v = p->samples.versions;
	struct weight_version *to = weight_version_new();
	uint64_t n = v->weight.base ? p->now.n_samples : 0;

	if (!store_room(p, &to->scale, p->now.n_events) ||
	    (n > 0 && !store_room(p, &to->weight, n))) {
		weight_versions_free(to);
		return NULL;
	}
	memcpy(to->scale.base, v->scale.base, p->now.n_events * sizeof(int64_t));
	STORE_AT(int64_t, to->scale, e.v) *= factor;
	for (uint64_t i = p->samples.n_packed; i < n; i++)
		STORE_AT(int64_t, to->weight, i) = STORE_AT(int64_t, v->weight, i) *
						   (row_event(p, i) == e.v ? factor : 1);
	return to;
}

static bool is_clock(const struct profile *p, event_id e)
{
	return STORE_AT(struct event, p->events, e.v).unit == UNIT_NS;
}

bool store_add_weight(struct profile *p, event_id e, uint64_t size)
{
	uint64_t *sum = &STORE_AT(uint64_t, p->event_weights, e.v);
	bool clock = is_clock(p, e);

	if (size > INT64_MAX - *sum || (clock && size > INT64_MAX - p->clock_weights))
		return false;
	*sum += size;
	p->clock_weights += clock ? size : 0;
	return true;
}

int build_scale(struct profile *p, event_id e, int64_t scale)
{
	int64_t *now = &STORE_AT(struct event, p->events, e.v).scale, factor = scale / *now;
	uint64_t *sum = &STORE_AT(uint64_t, p->event_weights, e.v), scaled;
	struct weight_version *v;

	assert(e.v < p->now.n_events && scale > 0 && scale % *now == 0);
	if (factor == 1)
		return 0;
	if (__builtin_mul_overflow(*sum, (uint64_t)factor, &scaled) || scaled > INT64_MAX)
		return -ERANGE;
	if (is_clock(p, e) && scaled - *sum > INT64_MAX - p->clock_weights)
		return -ERANGE;
	v = scaled_copy(p, e, factor);
	if (!v)
		return -EFBIG;
	v->older = p->samples.versions;
	p->samples.versions = v;
	p->roomy_rows = 0;
	p->clock_weights += is_clock(p, e) ? scaled - *sum : 0;
	*sum = scaled;
	__atomic_store_n(now, scale, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Room for one more row in a column that there is or that a value, needing it, brings into being;
 * the rows so far, but for packed ones, then get the usual value.
 */
static bool row_room(struct profile *p, struct column *c, bool needed, const void *usual)
{
	uint64_t n = p->now.n_samples;

	if (!c->base && !needed)
		return true;
	if (c->base)
		return store_room(p, c, n + 1);
	if (!store_room(p, c, n + 1))
		return false;
	for (uint64_t i = p->samples.n_packed; i < n; i++)
		memcpy((char *)c->base + i * c->element_bytes, usual, c->element_bytes);
	return true;
}

/* As row_room(), where the usual weight is one unit of each row's event. */
static bool weight_room(struct profile *p, bool needed)
{
	struct weight_version *v = p->samples.versions;
	static const int64_t unset = 0;
	bool fresh = !v->weight.base;

	if (!row_room(p, &v->weight, needed, &unset))
		return false;
	if (fresh && v->weight.base)
		for (uint64_t i = p->samples.n_packed; i < p->now.n_samples; i++)
			STORE_AT(int64_t, v->weight, i) = STORE_AT(int64_t, v->scale,
								   row_event(p, i));
	return true;
}

/* Rows for which all columns that there are have room. */
static uint64_t roomy_rows(const struct profile *p)
{
	const struct store_rows *r = &p->samples;
	const struct column *const columns[] = {
		&r->row_stack, &r->row_thread, &r->row_event,
		&r->row_cpu,   &r->row_time,   &r->versions->weight,
	};
	uint64_t n = UINT64_MAX;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		uint64_t room = columns[i]->usable_bytes / columns[i]->element_bytes;

		if (columns[i]->base && room < n)
			n = room;
	}
	return n;
}

static bool sample_room(struct profile *p, const struct sample *s)
{
	static const uint32_t no_thread = ID_NONE;
	static const uint16_t no_cpu = CPU_NONE, first_event = 0;
	static const int64_t no_time = TIME_NONE;
	int64_t unit = STORE_AT(int64_t, p->samples.versions->scale, s->event.v);

	if (p->now.n_samples < p->roomy_rows &&
	    (p->samples.row_thread.base || s->thread.v == ID_NONE) &&
	    (p->samples.row_event.base || s->event.v == 0) &&
	    (p->samples.row_cpu.base || s->cpu == CPU_NONE) &&
	    (p->samples.row_time.base || s->time_ns == TIME_NONE) &&
	    (p->samples.versions->weight.base || s->weight == unit))
		return true;
	p->roomy_rows = 0;
	if (!row_room(p, &p->samples.row_stack, true, NULL) ||
	    !row_room(p, &p->samples.row_thread, s->thread.v != ID_NONE, &no_thread) ||
	    !row_room(p, &p->samples.row_event, s->event.v != 0, &first_event) ||
	    !row_room(p, &p->samples.row_cpu, s->cpu != CPU_NONE, &no_cpu) ||
	    !row_room(p, &p->samples.row_time, s->time_ns != TIME_NONE, &no_time) ||
	    !weight_room(p, s->weight != unit))
		return false;
	p->roomy_rows = roomy_rows(p);
	return true;
}

/* When it ends: see event_lasts(). */
static int64_t end_of(const struct profile *p, const struct sample *s)
{
	const struct event *e = &STORE_AT(struct event, p->events, s->event.v);
	int64_t end;

	if (!event_lasts(e) || s->weight < 0 ||
	    __builtin_add_overflow(s->time_ns, s->weight / e->scale, &end))
		return s->time_ns;
	return end;
}

void store_note_time(struct profile *p, const struct sample *s)
{
	uint32_t capture = p->now.n_captures - 1;
	struct capture *c;
	int64_t end_ns;

	if (s->time_ns == TIME_NONE || p->now.n_captures == 0)
		return;
	if (s->thread.v != ID_NONE) {
		uint32_t a = STORE_AT(struct thread, p->threads, s->thread.v).process.v;

		capture = STORE_AT(struct process, p->processes, a).capture.v;
	}
	c = &STORE_AT(struct capture, p->captures, capture);
	if (c->begin_ns == TIME_NONE || s->time_ns < c->begin_ns)
		__atomic_store_n(&c->begin_ns, s->time_ns, __ATOMIC_RELAXED);
	end_ns = end_of(p, s);
	if (c->end_ns == TIME_NONE || end_ns > c->end_ns)
		__atomic_store_n(&c->end_ns, end_ns, __ATOMIC_RELAXED);
}

static uint64_t size_of_weight(const struct sample *s)
{
	return s->weight < 0 ? -(uint64_t)s->weight : (uint64_t)s->weight;
}

int build_sample(struct profile *p, const struct sample *s)
{
	uint64_t row;

	assert(s->stack.v < p->now.n_stacks && s->event.v < p->now.n_events);
	assert(s->thread.v == ID_NONE || s->thread.v < p->now.n_threads);
	if (!sample_room(p, s))
		return -EFBIG;
	if (!store_add_weight(p, s->event, size_of_weight(s)))
		return -ERANGE;
	row = p->now.n_samples++;
	p->now.n_taken++;
	STORE_AT(uint32_t, p->samples.row_stack, row) = s->stack.v;
	if (p->samples.row_thread.base)
		STORE_AT(uint32_t, p->samples.row_thread, row) = s->thread.v;
	if (p->samples.row_event.base)
		STORE_AT(uint16_t, p->samples.row_event, row) = (uint16_t)s->event.v;
	if (p->samples.row_cpu.base)
		STORE_AT(uint16_t, p->samples.row_cpu, row) = s->cpu;
	if (p->samples.row_time.base)
		STORE_AT(int64_t, p->samples.row_time, row) = s->time_ns;
	if (p->samples.versions->weight.base)
		STORE_AT(int64_t, p->samples.versions->weight, row) = s->weight;
	store_note_time(p, s);
	return 0;
}

static bool is_like(const struct profile *p, uint64_t row, const struct sample *s)
{
	uint32_t thread = p->samples.row_thread.base
				  ? STORE_AT(uint32_t, p->samples.row_thread, row)
				  : ID_NONE;
	uint16_t cpu = p->samples.row_cpu.base ? STORE_AT(uint16_t, p->samples.row_cpu, row)
					       : CPU_NONE;
	int64_t at = p->samples.row_time.base ? STORE_AT(int64_t, p->samples.row_time, row)
					      : TIME_NONE;

	return STORE_AT(uint32_t, p->samples.row_stack, row) == s->stack.v &&
	       row_event(p, row) == s->event.v && thread == s->thread.v && cpu == s->cpu &&
	       at == s->time_ns;
}

/* The weight of a sample to which that of s may be added, or NULL; readers have not seen it. */
static int64_t *growing_weight(struct profile *p, uint64_t row, const struct sample *s)
{
	int64_t *weight;

	if (row < p->published.n_samples || row >= p->now.n_samples || !is_like(p, row, s))
		return NULL;
	if (!p->samples.versions->weight.base) {
		if (!weight_room(p, true))
			return NULL;
		p->roomy_rows = 0;
	}
	weight = &STORE_AT(int64_t, p->samples.versions->weight, row);
	return (*weight < 0) == (s->weight < 0) ? weight : NULL;
}

int build_counted_sample(struct profile *p, const struct sample *s, uint64_t *row)
{
	int64_t *weight = *row > 0 ? growing_weight(p, *row - 1, s) : NULL;
	int rc;

	if (!weight) {
		rc = build_sample(p, s);
		if (rc == 0)
			*row = p->now.n_samples;
		return rc;
	}
	if (!store_add_weight(p, s->event, size_of_weight(s)))
		return -ERANGE;
	*weight += s->weight;
	return 0;
}

/* Facts. */

static bool same_fact(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct fact *a = &STORE_AT(struct fact, p->facts, value), *k = key;

	return a->part.v == k->part.v && a->section.v == k->section.v && a->name.v == k->name.v;
}

/* Says the fact anew, or for the first time; readers of facts see one or the other. */
static void put_fact(struct profile *p, const struct fact *f)
{
	uint64_t hash = hash_u64(hash_pair(f->section.v, f->name.v) + f->part.v);
	uint32_t id = map_find(&p->facts_by_name, hash, same_fact, p, f);

	if (id == MAP_NONE) {
		id = p->now.n_facts;
		if (!store_room(p, &p->facts, (uint64_t)id + 1))
			return;
		map_add(&p->facts_by_name, hash, id);
		p->now.n_facts++;
	}
	pthread_mutex_lock(&p->publication);
	STORE_AT(struct fact, p->facts, id) = *f;
	pthread_mutex_unlock(&p->publication);
}

__attribute__((format(printf, 5, 0))) static void state(struct profile *p, struct fact f,
							const char *section, const char *name,
							const char *fmt, va_list ap)
{
	char *text = NULL;
	int len = vasprintf(&text, fmt, ap);

	if (len < 0)
		mem_fail(0);
	f.section = build_string_of_fact(p, section, strlen(section));
	f.name = build_string_of_fact(p, name, strlen(name));
	f.text = build_string_of_fact(p, text, (size_t)len);
	free(text);
	put_fact(p, &f);
}

void build_fact(struct profile *p, capture_id c, const char *section, const char *name,
		enum fact_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	state(p, (struct fact){ .part = stated_part(p, c), .kind = kind }, section, name, fmt, ap);
	va_end(ap);
}

void build_fact_of_all(struct profile *p, const char *section, const char *name,
		       enum fact_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	state(p, (struct fact){ .kind = kind }, section, name, fmt, ap);
	va_end(ap);
}
