/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of a recording: what each was asked to record, its name, and which one a record is of.
 *
 * A sample says by an id (one per event, cpu and sometimes thread) which event it belongs to; where
 * that id stands is the same in all events of a file (perf sees to it).
 */
#ifndef PROFTOP_PERF_RECORDS_PERF_EVENTS_H
#define PROFTOP_PERF_RECORDS_PERF_EVENTS_H

#include "base/map.h"
#include "base/mem.h"
#include "perf/abi/perf_abi.h"
#include "profile/profile.h"

#define PERF_EVENT_NONE UINT32_MAX

struct perf_event {
	struct perf_attr attr;
	char *name;         /* as recorded, or NULL until perf_event_name_of() made one; owned */
	uint32_t event;     /* event_id of the profile; ID_NONE before its first sample */
	uint64_t n_samples; /* that were added */
	int64_t weight;     /* of these together */
};

struct perf_event_id {
	uint64_t id;
	uint64_t last_value; /* of the counter in the READ sample before, for `:S` groups */
	uint32_t event;      /* index in perf_events.all */
};

/* Zeroed is a valid empty set. */
struct perf_events {
	VEC(struct perf_event) all;
	VEC(struct perf_event_id) ids;
	struct map by_id;      /* hash of an id → index in ids */
	uint32_t last_id;      /* index in ids that was found last: mostly the next one too */
	size_t n_ids_left_out; /* ids that came after PERF_IDS_MAX */
};

/* More than 64 events on 512 cpus of 32 threads each; what a hostile file may make us hold. */
#define PERF_IDS_MAX (1u << 20)

void perf_events_done(struct perf_events *e);

/* Copies all; name may be NULL. Returns its index. Ids that are known already keep their event. */
uint32_t perf_events_add(struct perf_events *e, const struct perf_attr *a, const char *name);
void perf_events_add_id(struct perf_events *e, uint32_t event, uint64_t id);
/* Names the event of that id (EVENT_UPDATE); nothing for an unknown id. */
void perf_events_rename(struct perf_events *e, uint64_t id, const char *name, size_t len);

/* By id: an index in ids, or MAP_NONE. */
uint32_t perf_events_find_id(struct perf_events *e, uint64_t id);

/* The event of a sample: an index in all, or PERF_EVENT_NONE when its id is of none. */
uint32_t perf_events_of_sample(struct perf_events *e, const struct perf_record *r);
/* The same for one of several threads that ask while nothing is added; *last is its own, 0 at first. */
uint32_t perf_events_peek(const struct perf_events *e, const struct perf_record *r, uint32_t *last);
/* The event whose trailer another record has. NULL without events. */
const struct perf_attr *perf_events_of_record(struct perf_events *e, const struct perf_record *r);

/* The recorded name, or the one that perf gives to such an attr. Borrowed from the event. */
const char *perf_event_name_of(struct perf_event *e);
/* perf's name for an attr; the caller frees. */
char *perf_attr_name(const struct perf_attr *a);
/*
 * The attr's type and config for a name that perf gives to one, or for what else perf takes for it ("faults",
 * "cs"); n bytes of text. False: it is none of the kernel's own events.
 */
bool perf_attr_by_name(const char *name, size_t n, struct perf_attr *out);

/* What its periods are: nanoseconds of clocks, else a count. */
enum unit perf_attr_unit(const struct perf_attr *a);

#endif
