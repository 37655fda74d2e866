/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What processes had mapped where, over time; see address_space.h.
 *
 * Each space is one cover of all its mappings ever, and a short list of its lives: moments of fork
 * and exec. The newest mapping over an address counts if it is younger than the life that the time
 * falls into; else, in a forked life, the parent is asked as of the moment of the fork.
 */
#include "config.h"

#include "symbols/space/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbols/space/interval_map.h"

/* Kept per recording; 4 M mappings are 0.3 GB. Real recordings have some thousands. */
#define MAPPINGS_MAX  (UINT32_C(4) << 20)
/* Kept per space: a pid lives rarely more than a few times in a recording. */
#define LIVES_MAX     4096
/* Fork chains longer than this are cut. */
#define ANCESTORS_MAX 256

/* A fork or exec. */
struct life {
	int64_t time;    /* when */
	uint32_t seq;    /* orders events of one time */
	uint32_t parent; /* the space it was forked from; SPACE_NONE: it started empty */
};

enum space_state {
	SPACE_LIVES,
	SPACE_ENDED, /* only those that were forked from it look there */
	SPACE_FREE   /* nobody does */
};

struct space {
	int32_t pid;                        /* -1: the kernel */
	struct interval_map cover;          /* values are indices of spaces.mapping */
	VEC(struct life) life;              /* by (time, seq) */
	struct address_space_stamps stamps; /* see address_space.h */
	int64_t last_child;                 /* latest time at which it was forked from */
	enum space_state state;
	bool needed; /* scratch: of what is looked at still */
};

struct mapping {
	uint64_t bias; /* the caller's */
	uint32_t dso;  /* the caller's */
};

struct spaces {
	VEC(struct space) space;
	VEC(struct mapping) mapping;
	VEC(uint32_t) free_spaces;   /* indices of those that were given back */
	VEC(uint32_t) free_mappings; /* likewise */
	struct map by_pid;           /* into space; those that live */
	uint32_t next_seq;           /* of the next event */
	uint32_t next_stamp;         /* handed out next; never twice */
	uint64_t n_dropped;          /* see spaces_dropped() */
};

static bool same_pid(const void *things, uint32_t value, const void *key)
{
	const struct spaces *s = things;

	return s->space.at[value].pid == *(const int32_t *)key;
}

static void restamp(struct spaces *s, struct space *p, bool found_too)
{
	p->stamps.empty = s->next_stamp++;
	if (found_too)
		p->stamps.found = s->next_stamp++;
}

static uint32_t space_add(struct spaces *s, int32_t pid)
{
	const struct space new = { .pid = pid, .last_child = INT64_MIN };
	uint32_t id = (uint32_t)s->space.n;

	if (s->free_spaces.n > 0) {
		id = s->free_spaces.at[--s->free_spaces.n];
		s->space.at[id] = new;
	} else {
		vec_push(&s->space, new);
	}
	restamp(s, &s->space.at[id], true);
	map_add(&s->by_pid, hash_u64((uint32_t)pid), id);
	return id;
}

struct spaces *spaces_new(void)
{
	struct spaces *s = xcalloc(1, sizeof(*s));

	s->next_stamp = 1;
	space_add(s, -1);
	return s;
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->space.n; i++) {
		interval_map_done(&s->space.at[i].cover);
		vec_done(&s->space.at[i].life);
	}
	vec_done(&s->space);
	vec_done(&s->mapping);
	vec_done(&s->free_spaces);
	vec_done(&s->free_mappings);
	map_done(&s->by_pid);
	free(s);
}

uint32_t spaces_find(const struct spaces *s, int32_t pid)
{
	if (pid <= 0)
		return SPACE_KERNEL;
	/* MAP_NONE is SPACE_NONE. */
	return map_find(&s->by_pid, hash_u64((uint32_t)pid), same_pid, s, &pid);
}

uint32_t spaces_of(struct spaces *s, int32_t pid)
{
	uint32_t id = spaces_find(s, pid);

	return id == SPACE_NONE ? space_add(s, pid) : id;
}

/* The index of the first life that is younger than (time, seq). */
static size_t life_after(const struct space *p, int64_t time, uint32_t seq)
{
	const struct life *l = p->life.at;
	size_t low = 0;

	BISECT(low, p->life.n, i, l[i].time < time || (l[i].time == time && l[i].seq <= seq));
	return low;
}

/* Late news of a parent reach its children: all that was cached is void. */
void spaces_changed(struct spaces *s)
{
	for (size_t i = 0; i < s->space.n; i++)
		restamp(s, &s->space.at[i], true);
}

/* Its index. */
static uint32_t add_mapping(struct spaces *s, struct mapping m)
{
	uint32_t at = (uint32_t)s->mapping.n;

	if (s->free_mappings.n == 0) {
		vec_push(&s->mapping, m);
		return at;
	}
	at = s->free_mappings.at[--s->free_mappings.n];
	s->mapping.at[at] = m;
	return at;
}

void spaces_map(struct spaces *s, uint32_t space, int64_t time, uint64_t start, uint64_t end,
		uint32_t dso, uint64_t bias)
{
	struct space *p = &s->space.at[space];
	struct interval_map_item item = { .start = start, .end = end, .time = time };
	size_t life = life_after(p, time, s->next_seq);
	bool hides = life > 0 && p->life.at[life - 1].parent != SPACE_NONE;

	if (s->mapping.n >= MAPPINGS_MAX && s->free_mappings.n == 0) {
		s->n_dropped++;
		return;
	}
	if (time <= p->last_child)
		spaces_changed(s);
	else
		restamp(s, p, hides || interval_map_touches(&p->cover, start, end));
	item.seq = s->next_seq++;
	item.value = add_mapping(s, (struct mapping){ .bias = bias, .dso = dso });
	interval_map_add(&p->cover, &item);
}

static void add_life(struct spaces *s, uint32_t space, uint32_t parent, int64_t time)
{
	struct space *p = &s->space.at[space];
	struct life l = { .time = time, .seq = s->next_seq++, .parent = parent };
	size_t at = life_after(p, l.time, l.seq);

	if (p->life.n >= LIVES_MAX) {
		s->n_dropped++;
		return;
	}
	vec_reserve(&p->life, p->life.n + 1);
	memmove(p->life.at + at + 1, p->life.at + at, (p->life.n - at) * sizeof(l));
	p->life.at[at] = l;
	p->life.n++;
	if (time <= p->last_child)
		spaces_changed(s);
	else
		restamp(s, p, true);
}

void spaces_fork(struct spaces *s, uint32_t space, uint32_t parent, int64_t time)
{
	struct space *from = &s->space.at[parent];

	if (space == parent || space == SPACE_KERNEL)
		return;
	if (parent == SPACE_KERNEL) {
		add_life(s, space, SPACE_NONE, time);
		return;
	}
	if (from->last_child < time)
		from->last_child = time;
	add_life(s, space, parent, time);
}

void spaces_exec(struct spaces *s, uint32_t space, int64_t time)
{
	if (space != SPACE_KERNEL)
		add_life(s, space, SPACE_NONE, time);
}

/* Whoever lives needs those that it was forked from, and these the ones that they were. */
static void mark_needed(struct spaces *s)
{
	VEC(uint32_t) todo = { 0 };

	for (uint32_t i = 0; i < s->space.n; i++) {
		s->space.at[i].needed = s->space.at[i].state == SPACE_LIVES;
		if (s->space.at[i].needed)
			vec_push(&todo, i);
	}
	while (todo.n > 0) {
		const struct space *p = &s->space.at[todo.at[--todo.n]];

		for (size_t i = 0; i < p->life.n; i++) {
			uint32_t parent = p->life.at[i].parent;

			if (parent == SPACE_NONE || s->space.at[parent].needed)
				continue;
			s->space.at[parent].needed = true;
			vec_push(&todo, parent);
		}
	}
	vec_done(&todo);
}

/* interval_map_each() */
static void free_mapping(void *spaces, const struct interval_map_item *item)
{
	struct spaces *s = spaces;

	vec_push(&s->free_mappings, item->value);
}

static void free_space(struct spaces *s, uint32_t id)
{
	struct space *p = &s->space.at[id];

	interval_map_each(&p->cover, free_mapping, s);
	interval_map_done(&p->cover);
	vec_done(&p->life);
	p->state = SPACE_FREE;
	vec_push(&s->free_spaces, id);
}

void spaces_end(struct spaces *s, const int32_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t id = spaces_find(s, pids[i]);

		if (id != SPACE_NONE && id != SPACE_KERNEL)
			s->space.at[id].state = SPACE_ENDED;
	}
	mark_needed(s);
	map_done(&s->by_pid);
	for (uint32_t i = 0; i < s->space.n; i++) {
		struct space *p = &s->space.at[i];

		if (p->state == SPACE_LIVES)
			map_add(&s->by_pid, hash_u64((uint32_t)p->pid), i);
		else if (p->state == SPACE_ENDED && !p->needed)
			free_space(s, i);
	}
}

size_t spaces_n(const struct spaces *s)
{
	return s->space.n - s->free_spaces.n;
}

size_t spaces_n_mappings(const struct spaces *s)
{
	return s->mapping.n - s->free_mappings.n;
}

/* The sighting in one space; sets *up to the life whose parent is to be asked, or NULL. */
static const struct interval_map_item *look_here(const struct space *p, int64_t time, uint32_t seq,
						 uint64_t address, int64_t *from, int64_t *to,
						 const struct life **up)
{
	size_t after = life_after(p, time, seq);
	const struct life *life = after > 0 ? &p->life.at[after - 1] : NULL;
	const struct interval_map_item *it;

	if (after < p->life.n && p->life.at[after].time < *to)
		*to = p->life.at[after].time;
	*from = life ? life->time : INT64_MIN;
	it = interval_map_find(&p->cover, address, time, seq, to);
	*up = NULL;
	if (it && life &&
	    (it->time < life->time || (it->time == life->time && it->seq < life->seq)))
		it = NULL;
	if (it && it->time > *from)
		*from = it->time;
	if (!it && life && life->parent != SPACE_NONE)
		*up = life;
	return it;
}

void spaces_look(const struct spaces *s, uint32_t space, int64_t time, uint64_t address,
		 struct sighting *out)
{
	const struct life *up;
	const struct interval_map_item *it;
	int64_t from, to = INT64_MAX;
	uint32_t seq = UINT32_MAX;

	it = look_here(&s->space.at[space], time, seq, address, &from, &to, &up);
	*out = (struct sighting){ .dso = SPACE_NONE, .from = from, .to = to };
	for (int i = 0; !it && up && i < ANCESTORS_MAX; i++) {
		space = up->parent;
		time = up->time;
		seq = up->seq;
		it = look_here(&s->space.at[space], time, seq, address, &from, &to, &up);
	}
	if (!it)
		return;
	out->dso = s->mapping.at[it->value].dso;
	out->bias = s->mapping.at[it->value].bias;
}

int64_t spaces_before_exec(const struct spaces *s, uint32_t space, int64_t time)
{
	const struct space *p = &s->space.at[space];
	size_t after = life_after(p, time, UINT32_MAX);
	const struct life *life = after > 0 ? &p->life.at[after - 1] : NULL;

	if (!life || life->parent != SPACE_NONE || life->time == INT64_MIN)
		return time;
	return life->time - 1;
}

bool spaces_any(const struct spaces *s, uint32_t space)
{
	const struct space *p = &s->space.at[space];

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		if (p->cover.fresh.n > 0 || p->cover.level.n > 0)
			return true;
		if (p->life.n == 0 || p->life.at[p->life.n - 1].parent == SPACE_NONE)
			return false;
		p = &s->space.at[p->life.at[p->life.n - 1].parent];
	}
	return false;
}

struct address_space_stamps spaces_stamps(const struct spaces *s, uint32_t space)
{
	return s->space.at[space].stamps;
}

uint64_t spaces_dropped(const struct spaces *s)
{
	return s->n_dropped;
}
