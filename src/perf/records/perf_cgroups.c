/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread is mostly where it was before: its last group is kept by its id. */
#include "config.h"

#include "perf/records/perf_cgroups.h"

#include "base/arena.h"
#include "base/compare.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Groups with facts of their own; machines with many containers have thousands. */
#define FACTS_MOST 12

#define MADE_UP 48

struct group {
	uint64_t number;
	const char *path; /* in the arena; NULL: nobody said */
	size_t len;
	uint32_t id;       /* cgroup_id; ID_NONE: no sample was in it */
	bool has_path;     /* the profile was told */
	int64_t n_samples; /* that were in it */
};

/* Where a thread of the profile was last. */
struct stay {
	uint32_t group;  /* index; ID_NONE: no sample said */
	uint32_t thread; /* thread_id in that group */
};

struct perf_cgroups {
	struct profile *profile;
	capture_id capture;
	struct arena paths;
	VEC(struct group) groups;
	struct map by_number;
	VEC(struct stay) stays; /* by thread_id, as far as any was in a group */
};

static bool same_number(const void *things, uint32_t value, const void *key)
{
	return ((const struct group *)things)[value].number == *(const uint64_t *)key;
}

/* Its index. */
static uint32_t get_group(struct perf_cgroups *g, uint64_t number)
{
	uint64_t hash = hash_u64(number);
	uint32_t at = map_find(&g->by_number, hash, same_number, g->groups.at, &number);
	struct group new = { .number = number, .id = ID_NONE };

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)g->groups.n;
	map_add(&g->by_number, hash, at);
	vec_push(&g->groups, new);
	return at;
}

struct perf_cgroups *perf_cgroups_new(struct profile *p, capture_id c)
{
	struct perf_cgroups *g = xcalloc(1, sizeof(*g));

	g->profile = p;
	g->capture = c;
	arena_init(&g->paths);
	return g;
}

void perf_cgroups_free(struct perf_cgroups *g)
{
	if (!g)
		return;
	vec_done(&g->groups);
	vec_done(&g->stays);
	map_done(&g->by_number);
	arena_done(&g->paths);
	free(g);
}

void perf_cgroups_name(struct perf_cgroups *g, uint64_t number, const char *path, size_t len)
{
	uint32_t at = get_group(g, number);
	struct group *group = &g->groups.at[at];

	if (group->path && group->len == len && memcmp(group->path, path, len) == 0)
		return;
	group->path = arena_strndup(&g->paths, path, len);
	group->len = len;
	group->has_path = false;
}

static void tell_path(struct perf_cgroups *g, struct group *group)
{
	if (!group->path || group->id == ID_NONE || group->has_path)
		return;
	build_cgroup_path(g->profile, (cgroup_id){ group->id },
			  build_string(g->profile, group->path, group->len));
	group->has_path = true;
}

/* What a group is called whose path nobody said. */
static const char *make_up(const struct group *group, char out[MADE_UP])
{
	snprintf(out, MADE_UP, "[cgroup %" PRIu64 "]", group->number);
	return out;
}

static struct stay *stay_of(struct perf_cgroups *g, thread_id thread)
{
	while (g->stays.n <= thread.v)
		vec_push(&g->stays, ((struct stay){ .group = ID_NONE, .thread = ID_NONE }));
	return &g->stays.at[thread.v];
}

thread_id perf_cgroups_thread(struct perf_cgroups *g, thread_id thread, uint64_t number)
{
	struct stay *stay = stay_of(g, thread);
	struct group *group;

	if (stay->group == ID_NONE || g->groups.at[stay->group].number != number) {
		stay->group = get_group(g, number);
		group = &g->groups.at[stay->group];
		if (group->id == ID_NONE)
			group->id = build_cgroup(g->profile, g->capture, number).v;
		tell_path(g, group);
		stay->thread = build_thread_in(g->profile, thread, group->id).v;
	}
	g->groups.at[stay->group].n_samples++;
	return (thread_id){ stay->thread };
}

thread_id perf_cgroups_last(const struct perf_cgroups *g, thread_id thread)
{
	if (thread.v >= g->stays.n || g->stays.at[thread.v].group == ID_NONE)
		return thread;
	return (thread_id){ g->stays.at[thread.v].thread };
}

void perf_cgroups_settle(struct perf_cgroups *g)
{
	for (size_t i = 0; i < g->groups.n; i++) {
		struct group *group = &g->groups.at[i];
		char made_up[MADE_UP];

		tell_path(g, group);
		if (group->id != ID_NONE && !group->path)
			build_cgroup_path(g->profile, (cgroup_id){ group->id },
					  build_cstring(g->profile, make_up(group, made_up)));
	}
}

static int by_samples(const void *va, const void *vb)
{
	const struct group *a = va, *b = vb;

	return COMPARE(b->n_samples, a->n_samples) ?: COMPARE(a->number, b->number);
}

void perf_cgroups_facts(const struct perf_cgroups *g)
{
	struct group *group = xreallocarray(NULL, g->groups.n + 1, sizeof(*group));
	char samples[FMT_COUNTED_SIZE], made_up[MADE_UP];
	int64_t n_others = 0, n_left = 0;

	if (g->groups.n > 0)
		memcpy(group, g->groups.at, g->groups.n * sizeof(*group));
	qsort(group, g->groups.n, sizeof(*group), by_samples);
	for (size_t i = 0; i < g->groups.n && group[i].n_samples > 0; i++) {
		if (i >= FACTS_MOST) {
			n_others += group[i].n_samples;
			n_left++;
			continue;
		}
		build_fact(g->profile, g->capture, "cgroups",
			   group[i].path ? group[i].path : make_up(&group[i], made_up),
			   group[i].path ? FACT_PLAIN : FACT_MISSING, "%s%s",
			   fmt_counted(samples, group[i].n_samples, "sample"),
			   group[i].path ? "" : "; the recording does not say its path");
	}
	if (n_left > 0)
		build_fact(g->profile, g->capture, "cgroups", "others", FACT_PLAIN,
			   "%s of %" PRId64 " more", fmt_counted(samples, n_others, "sample"),
			   n_left);
	free(group);
}
