/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events of a recording by id, and the names that perf gives them.
 *
 * Names follow `perf evlist`: the table's name, then a colon and what was excluded or made precise.
 */
#include "config.h"

#include "perf/records/perf_events.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

/* {with a result behind it, alone} */
static const char *const cache_ops[][2] = {
	{ "load", "loads" },
	{ "store", "stores" },
	{ "prefetch", "prefetches" },
};

/* What else perf takes for a name. */
static const char *const other_names[][2] = {
	{ "cpu-cycles", "cycles" },
	{ "branch-instructions", "branches" },
	{ "idle-cycles-frontend", "stalled-cycles-frontend" },
	{ "idle-cycles-backend", "stalled-cycles-backend" },
	{ "faults", "page-faults" },
	{ "cs", "context-switches" },
	{ "migrations", "cpu-migrations" },
};

/* Configs of caches: {cache, operation, result} in a byte each. */
#define CACHE_CONFIGS (UINT64_C(2) << 16)

static bool same_id(const void *things, uint32_t value, const void *key)
{
	const struct perf_event_id *ids = things;

	return ids[value].id == *(const uint64_t *)key;
}

/* ":u", ":ppp", ":ppH": which modes are counted, and how precisely. Empty when it is the default. */
static void modifiers(const struct perf_attr *a, char out[16])
{
	unsigned precise = a->flags >> PERF_ATTR_PRECISE_SHIFT & 3;
	bool guest_left_out_by_default = false;
	bool no_host = (a->flags & PERF_ATTR_EXCLUDE_HOST) != 0;
	bool no_guest = (a->flags & PERF_ATTR_EXCLUDE_GUEST) != 0;
	size_t n = 1;

	if (a->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)) {
		if (!(a->flags & PERF_ATTR_EXCLUDE_KERNEL))
			out[n++] = 'k';
		if (!(a->flags & PERF_ATTR_EXCLUDE_USER))
			out[n++] = 'u';
		if (!(a->flags & PERF_ATTR_EXCLUDE_HV))
			out[n++] = 'h';
		guest_left_out_by_default = true;
	}
	if (precise) {
		memset(out + n, 'p', precise);
		n += precise;
		guest_left_out_by_default = true;
	}
	if (no_host || no_guest == guest_left_out_by_default) {
		if (!no_host)
			out[n++] = 'H';
		if (!no_guest)
			out[n++] = 'G';
	}
	out[0] = n > 1 ? ':' : '\0';
	out[n] = '\0';
}

static char *cache_name(uint64_t config, const char *mods)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(cache_names))
		return xasprintf("unknown-ext-hardware-cache-type%s", mods);
	if (op >= COUNT(cache_ops))
		return xasprintf("unknown-ext-hardware-cache-op%s", mods);
	if (result > 1)
		return xasprintf("unknown-ext-hardware-cache-result%s", mods);
	if (result)
		return xasprintf("%s-%s-misses%s", cache_names[cache], cache_ops[op][0], mods);
	return xasprintf("%s-%s%s", cache_names[cache], cache_ops[op][1], mods);
}

void perf_events_done(struct perf_events *e)
{
	for (size_t i = 0; i < e->all.n; i++)
		free(e->all.at[i].name);
	vec_done(&e->all);
	vec_done(&e->ids);
	map_done(&e->by_id);
}

uint32_t perf_events_add(struct perf_events *e, const struct perf_attr *a, const char *name)
{
	struct perf_event event = { .attr = *a, .event = ID_NONE };

	event.name = name && name[0] ? xstrdup(name) : NULL;
	vec_push(&e->all, event);
	return (uint32_t)(e->all.n - 1);
}

void perf_events_add_id(struct perf_events *e, uint32_t event, uint64_t id)
{
	struct perf_event_id entry = { .id = id, .event = event };
	uint64_t hash = hash_u64(id);

	if (map_find(&e->by_id, hash, same_id, e->ids.at, &id) != MAP_NONE)
		return;
	if (e->ids.n >= PERF_IDS_MAX) {
		e->n_ids_left_out++;
		return;
	}
	map_add(&e->by_id, hash, (uint32_t)e->ids.n);
	vec_push(&e->ids, entry);
}

void perf_events_rename(struct perf_events *e, uint64_t id, const char *name, size_t len)
{
	uint32_t at = perf_events_find_id(e, id);
	struct perf_event *event;

	if (at == MAP_NONE || len == 0)
		return;
	event = &e->all.at[e->ids.at[at].event];
	free(event->name);
	event->name = xstrndup(name, len);
}

/* *last is the index that was found last. */
static uint32_t find_id(const struct perf_events *e, uint64_t id, uint32_t *last)
{
	uint32_t at;

	if (*last < e->ids.n && e->ids.at[*last].id == id)
		return *last;
	at = map_find(&e->by_id, hash_u64(id), same_id, e->ids.at, &id);
	if (at != MAP_NONE)
		*last = at;
	return at;
}

uint32_t perf_events_find_id(struct perf_events *e, uint64_t id)
{
	return find_id(e, id, &e->last_id);
}

/* An id of 0 is one that nobody gave: of the first event, as perf has it. */
static uint32_t event_of_id(const struct perf_events *e, uint64_t id, uint32_t *last)
{
	uint32_t at = id ? find_id(e, id, last) : MAP_NONE;

	if (id == 0)
		return 0;
	if (at != MAP_NONE)
		return e->ids.at[at].event;
	return e->all.at[0].attr.flags & PERF_ATTR_SAMPLE_ID_ALL ? PERF_EVENT_NONE : 0;
}

uint32_t perf_events_peek(const struct perf_events *e, const struct perf_record *r, uint32_t *last)
{
	struct bytes b = perf_record_body(r);
	int words;

	if (e->all.n == 0)
		return PERF_EVENT_NONE;
	/* A recorder may have changed the attr since it was added, for an old kernel. */
	words = perf_id_position(e->all.at[0].attr.sample_type);
	if (e->all.n == 1 || words < 0)
		return 0;
	take_bytes(&b, (size_t)words * 8);
	return event_of_id(e, take_u64(&b), last);
}

uint32_t perf_events_of_sample(struct perf_events *e, const struct perf_record *r)
{
	return perf_events_peek(e, r, &e->last_id);
}

const struct perf_attr *perf_events_of_record(struct perf_events *e, const struct perf_record *r)
{
	struct bytes b = perf_record_body(r);
	uint32_t event;
	size_t back;

	if (e->all.n == 0)
		return NULL;
	back = 8 * (size_t)perf_trailer_id_position(&e->all.at[0].attr);
	if (e->all.n == 1 || back == 0 || back > bytes_left(&b))
		return &e->all.at[0].attr;
	take_bytes(&b, bytes_left(&b) - back);
	event = event_of_id(e, take_u64(&b), &e->last_id);
	return &e->all.at[event == PERF_EVENT_NONE ? 0 : event].attr;
}

const char *perf_event_name_of(struct perf_event *e)
{
	if (!e->name)
		e->name = perf_attr_name(&e->attr);
	return e->name;
}

char *perf_attr_name(const struct perf_attr *a)
{
	/* The upper half says which PMU of a machine with several. */
	uint64_t config = a->type == PERF_T_HARDWARE ? a->config & UINT32_MAX : a->config;
	char mods[16];

	modifiers(a, mods);
	switch (a->type) {
	case PERF_T_HARDWARE:
		return xasprintf("%s%s",
				 config < COUNT(hardware_names) ? hardware_names[config]
								: "unknown-hardware",
				 mods);
	case PERF_T_SOFTWARE:
		return xasprintf("%s%s",
				 config < COUNT(software_names) ? software_names[config]
								: "unknown-software",
				 mods);
	case PERF_T_TRACEPOINT:
		return xstrdup("unknown tracepoint");
	case PERF_T_HW_CACHE:
		return cache_name(config, mods);
	case PERF_T_RAW:
		return xasprintf("raw 0x%" PRIx64 "%s", config, mods);
	case PERF_T_BREAKPOINT:
		return xasprintf("mem:0x%" PRIx64 ":%s%s%s%s", a->bp_addr,
				 a->bp_type & 1 ? "r" : "", a->bp_type & 2 ? "w" : "",
				 a->bp_type & 4 ? "x" : "", mods);
	default:
		return xasprintf("unknown attr type: %" PRIu32, a->type);
	}
}

static bool is_name(const struct perf_attr *a, const char *name, size_t n)
{
	char *own = perf_attr_name(a);
	bool same = strlen(own) == n && memcmp(own, name, n) == 0;

	free(own);
	return same;
}

/* One of the events of a type whose configs are below n_configs. */
static bool find_name(uint32_t type, uint64_t n_configs, const char *name, size_t n,
		      struct perf_attr *out)
{
	struct perf_attr a = { .type = type, .flags = PERF_ATTR_EXCLUDE_GUEST }; /* the usual */

	for (a.config = 0; a.config < n_configs; a.config++) {
		if (!is_name(&a, name, n))
			continue;
		out->type = a.type;
		out->config = a.config;
		return true;
	}
	return false;
}

bool perf_attr_by_name(const char *name, size_t n, struct perf_attr *out)
{
	for (size_t i = 0; i < COUNT(other_names); i++) {
		if (strlen(other_names[i][0]) != n || memcmp(other_names[i][0], name, n) != 0)
			continue;
		name = other_names[i][1];
		n = strlen(name);
		break;
	}
	return find_name(PERF_T_HARDWARE, COUNT(hardware_names), name, n, out) ||
	       find_name(PERF_T_SOFTWARE, COUNT(software_names), name, n, out) ||
	       find_name(PERF_T_HW_CACHE, CACHE_CONFIGS, name, n, out);
}

enum unit perf_attr_unit(const struct perf_attr *a)
{
	return a->type == PERF_T_SOFTWARE && a->config <= 1 ? UNIT_NS : UNIT_COUNT;
}
