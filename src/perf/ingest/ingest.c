/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records → resolver and builder.
 *
 * Times of samples are as perf_look has them.
 */
#include "config.h"

#include "perf/ingest/ingest.h"

#include "base/mem.h"
#include "perf/abi/lazy_stack.h"
#include "perf/callchain/callchain_cache.h"
#include "perf/callchain/callchain_intern.h"
#include "perf/ingest/predecode.h"
#include "perf/ingest/prescan.h"
#include "perf/records/apply.h"
#include "perf/records/perf_cgroups.h"
#include "perf/records/perf_switches.h"
#include "perf/records/perf_tasks.h"
#include "perf/tracepoint/tracepoint_frames.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* A sample that has no stack yet. */
struct waiting {
	struct perf_event *event;
	struct perf_record record; /* only where it is, before it is decoded */
	bool is_decoded;
	struct perf_sample said;       /* by the record; valid when is_decoded */
	uint64_t weight;               /* as predecode_weight() */
	struct perf_chain_owner owner; /* of its chain */
	bool is_plain;                 /* nothing but the recorded chain says what its stack is */
	/* its chain; only the hash is valid before it is built, when is_plain */
	struct known_chain known;
	uint32_t chain; /* its number, where it was added; NOT_ADDED: it is known */
	struct sample sample;
};

#define NOT_ADDED UINT32_MAX

/* What ended so long before the last sample is known as a whole: recorders hand over all they have several times a second. */
#define RETIRE_NS INT64_C(10000000000)

/* Of what goes on and on; while processes come and go, equal stacks are of ever new chains. */
#define CHAINS_KEPT ((size_t)1 << 16)

struct ingest {
	struct profile *profile;
	capture_id capture;
	struct resolver *resolver;
	struct perf_events *events;
	struct perf_tasks *tasks;
	struct perf_cgroups *cgroups;
	struct apply *teller; /* to these three */
	struct callchain_intern *chains;
	struct callchain *frames;
	struct prescan *look; /* at records, before samples are fed */
	struct perf_switches *switches;
	bool has_switches;                        /* some event records them */
	bool watches;                             /* what others make of stacks */
	struct tracepoint_frames *labels;         /* NULL: fields are not shown; owned */
	VEC(struct perf_chain_part) labelled;     /* scratch: a label and what it is inside of */
	bool may_ask;                             /* for looking ahead */
	struct callchain_cache *known;            /* chains that were fed; owned */
	struct waiting waiting[PERF_CHAINS_MOST]; /* in the order of the file */
	uint32_t n_waiting;                       /* of them */
	int64_t last_ns;                          /* the latest time of a sample; INT64_MIN: none */
	struct ingest_stats stats;
};

static uint32_t length_of_parts(const struct perf_chain_part *parts, size_t n_parts)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_parts; i++)
		n += parts[i].ips.n > 0 ? parts[i].ips.n : 1;
	return n;
}

/* Of one sample. */
static void count_frames(struct ingest *f, uint32_t n)
{
	f->stats.n_decoded++;
	f->stats.n_frames += n;
	f->stats.n_leaf_only += n == 1;
	f->stats.n_no_frames += n == 0;
}

/* False when the profile is full. */
static bool add_sample(struct ingest *f, struct perf_event *e, struct sample *s, uint64_t weight)
{
	int rc;

	if (e->event == ID_NONE)
		e->event = build_event(f->profile, perf_event_name_of(e), perf_attr_unit(&e->attr),
				       e->attr.sample_type & (PERF_S_PERIOD | PERF_S_READ) ||
					       e->attr.sample_period > 1)
				   .v;
	s->event = (event_id){ e->event };
	s->weight = weight <= INT64_MAX ? (int64_t)weight : 0;
	rc = build_sample(f->profile, s);
	if (weight > INT64_MAX || rc == -ERANGE)
		f->stats.n_too_heavy++;
	if (rc == -ERANGE) {
		s->weight = 0;
		rc = build_sample(f->profile, s);
	}
	if (rc < 0)
		return false;
	e->n_samples++;
	e->weight += s->weight;
	f->stats.n_samples++;
	return true;
}

/*
 * A sample of counter values stands for one sample of each: the weight is what the counter has gone up
 * since its value before. Those that stand still give none.
 */
static bool add_group(struct ingest *f, const struct perf_read *values, struct sample *s)
{
	for (uint32_t i = 0; i < values->n; i++) {
		struct perf_value v = perf_read_value(values, i);
		uint32_t at = perf_events_find_id(f->events, v.id);
		struct perf_event_id *id;
		uint64_t weight;

		if (at == MAP_NONE) {
			f->stats.n_no_event++;
			continue;
		}
		id = &f->events->ids.at[at];
		weight = v.value - id->last_value;
		id->last_value = v.value;
		if (weight > 0 && !add_sample(f, &f->events->all.at[id->event], s, weight))
			return false;
	}
	return true;
}

/* Is it worth looking for what is told late of this thread? */
static bool is_stranger(const struct ingest *f, uint32_t misc, int32_t pid, int32_t tid)
{
	if (!f->may_ask || pid <= 0)
		return false;
	if (!perf_tasks_knows(f->tasks, tid))
		return true;
	return (misc & PERF_MISC_CPUMODE) == PERF_CPU_USER && !resolver_knows(f->resolver, pid);
}

/* With what the event recorded inside of where it was; *n parts. */
static const struct perf_chain_part *add_label(struct ingest *f, struct perf_event *e,
					       const struct perf_record *r,
					       const struct perf_sample *s, int64_t time_ns,
					       const struct perf_chain_part *parts, size_t *n)
{
	struct perf_chain_part label;

	if (!f->labels || !tracepoint_frames_part(f->labels, e, s, time_ns, r->swap, &label))
		return parts;
	vec_clear(&f->labelled);
	vec_push(&f->labelled, label);
	for (size_t i = 0; i < *n; i++)
		vec_push(&f->labelled, parts[i]);
	*n = f->labelled.n;
	return f->labelled.at;
}

/*
 * When the chain's addresses were what they are. In the middle of an exec the place where the process
 * went into the kernel is one of the old program, and none of the new one is in the chain.
 */
static int64_t time_of_chain(struct ingest *f, const struct perf_sample *s,
			     const struct perf_chain_part *parts, size_t n, int64_t time_ns)
{
	const struct perf_chain_part *user = n < 2 ? NULL : &parts[1];
	int64_t before = time_ns;

	if (!user || parts[0].mode != MODE_KERNEL || user->mode != MODE_USER || user->is_mark)
		return time_ns;
	for (uint32_t i = 0; i == 0 || i < user->ips.n; i++) {
		before = resolver_before_exec(f->resolver, s->pid, time_ns,
					      user->ips.n > 0 ? perf_word(&user->ips, i)
							      : user->ip);
		if (before == time_ns)
			break;
	}
	return before;
}

/* What was digested can be decoded, and has no gap. */
static void decode(struct waiting *w)
{
	perf_record_at(w->record.at, w->record.swap, &w->record);
	perf_sample_decode(&w->event->attr, &w->record, &w->said);
	w->is_decoded = true;
}

/* Has the leaf of the chain that was added last noted. It was located at that time, or looked up before an exec. */
static void note_leaf(struct ingest *f, struct waiting *w, int64_t time_ns)
{
	location_id at = { ID_NONE };
	uint32_t depth;

	if (w->owner.time_ns == time_ns && callchain_has_leaf(f->frames, &depth))
		at = callchain_intern_location(f->chains, w->chain, depth);
	w->is_plain = callchain_note_leaf(f->frames, w->said.pid, time_ns, at, &w->known.leaf) &&
		      w->is_plain;
}

/* Finds out what the chain of a sample is, and adds it to those that are to be built. */
static void add_chain(struct ingest *f, struct waiting *w)
{
	int64_t time_ns = w->owner.time_ns;
	const struct perf_chain_part *parts;
	size_t n_parts;

	if (!w->is_decoded)
		decode(w);
	parts = callchain_find(f->frames, &w->event->attr, &w->record, &w->said, time_ns, &n_parts);
	w->known.n_frames = length_of_parts(parts, n_parts);
	count_frames(f, w->known.n_frames);
	w->owner.time_ns = time_of_chain(f, &w->said, parts, n_parts, time_ns);
	parts = add_label(f, w->event, &w->record, &w->said, w->owner.time_ns, parts, &n_parts);
	w->chain = callchain_intern_add(f->chains, &w->owner, parts, n_parts);
	note_leaf(f, w, time_ns);
}

/* The stack of a sample whose chain came before. */
static bool recall_chain(struct ingest *f, struct waiting *w)
{
	const struct known_chain *k = callchain_cache_find(f->known, w->known.hash);

	if (!k)
		return false;
	callchain_again(f->frames, k->leaf);
	count_frames(f, k->n_frames);
	w->known = *k;
	w->chain = NOT_ADDED;
	return true;
}

/* Of those that wait for it, finds the stacks that are known, and adds the chains of the others. */
static void recall_waiting(struct ingest *f)
{
	struct waiting *unknown[PERF_CHAINS_MOST];
	uint32_t n_unknown = 0;

	for (uint32_t i = 0; i < f->n_waiting; i++) {
		struct waiting *w = &f->waiting[i];

		if (!w->is_plain || recall_chain(f, w))
			continue;
		if (!w->is_decoded)
			predecode_fetch(&w->record);
		unknown[n_unknown++] = w;
	}
	for (uint32_t i = 0; i < n_unknown; i++)
		add_chain(f, unknown[i]);
}

/* Finds the stacks of those that wait. */
static void build_waiting(struct ingest *f)
{
	recall_waiting(f);
	callchain_intern_build(f->chains);
	for (uint32_t i = 0; i < f->n_waiting; i++) {
		struct waiting *w = &f->waiting[i];

		if (w->chain == NOT_ADDED)
			continue;
		w->known.stack = callchain_intern_stack(f->chains, w->chain).v;
		if (w->is_plain)
			callchain_cache_add(f->known, &w->known);
	}
}

/* Adds the samples that wait. False when the profile is full. */
static bool add_waiting(struct ingest *f)
{
	bool good = true;

	build_waiting(f);
	for (uint32_t i = 0; i < f->n_waiting && good; i++) {
		struct waiting *w = &f->waiting[i];

		w->sample.stack.v = w->known.stack;
		if (f->has_switches)
			perf_switches_sample(f->switches, w->event, &w->said, w->record.swap,
					     &w->sample);
		if (w->is_decoded && w->said.read.n > 0 && w->said.read.has_id)
			good = add_group(f, &w->said.read, &w->sample);
		else
			good = add_sample(f, w->event, &w->sample, w->weight);
	}
	f->n_waiting = 0;
	return good;
}

/* Whose sample it is, and when and where it was taken. */
static void place_sample(struct ingest *f, struct waiting *w, const struct predecode *d,
			 uint64_t number)
{
	struct perf_chain_owner *o = &w->owner;
	struct perf_task_view task;

	*o = (struct perf_chain_owner){ .pid = d->pid, .tid = d->tid, .time_ns = (int64_t)number };
	w->sample.time_ns = TIME_NONE;
	if (w->event->attr.sample_type & PERF_S_TIME) {
		o->time_ns = d->time > INT64_MAX ? INT64_MAX : (int64_t)d->time;
		w->sample.time_ns = d->time > INT64_MAX ? TIME_NONE : o->time_ns;
		if (w->sample.time_ns > f->last_ns)
			f->last_ns = w->sample.time_ns;
	}
	task = perf_tasks_at(f->tasks, d->pid, d->tid, o->time_ns);
	o->root = task.root;
	w->sample.thread = task.thread;
	if (w->event->attr.sample_type & PERF_S_CGROUP)
		w->sample.thread = perf_cgroups_thread(f->cgroups, task.thread, d->cgroup);
	w->sample.cpu = d->cpu < CPU_NONE ? (uint16_t)d->cpu : CPU_NONE;
	w->weight = d->weight;
}

/* Makes of a hash of the chain one of all that matters: whose it is, and the mappings that it was taken in. */
static struct hash128 hash_of_owner(struct ingest *f, const struct perf_chain_owner *o,
				    struct hash128 hash)
{
	hash.low ^= hash_pair(o->root.v, perf_tasks_epoch(f->tasks, o->pid, o->time_ns));
	hash.high ^= hash_u64((uint64_t)perf_tasks_epoch(f->tasks, -1, o->time_ns) << 32);
	return hash;
}

/* Generated code may be another one at the same address. */
static bool may_be_plain(struct ingest *f, const struct perf_chain_owner *o)
{
	return !f->labels && resolver_age(f->resolver, o->pid, o->time_ns) == 0;
}

/* Has a sample wait for its stack; those of chains that may be known wait for these, too. */
static enum perf_fed wait_for_stack(struct ingest *f, struct waiting *w, struct hash128 chain)
{
	if (w->is_plain) {
		w->known.hash = hash_of_owner(f, &w->owner, chain);
		callchain_cache_fetch(f->known, w->known.hash);
	} else {
		add_chain(f, w);
	}
	f->n_waiting++;
	/* What looks at switches wants the samples before them to be there. */
	if (f->n_waiting < PERF_CHAINS_MOST && !f->has_switches)
		return INGEST_ALL;
	return add_waiting(f) ? INGEST_ALL : INGEST_FULL;
}

static void count_bad(struct ingest *f, uint64_t offset)
{
	if (f->stats.n_bad_samples++ == 0)
		f->stats.bad_sample_offset = offset;
}

static enum perf_fed feed_sample(struct ingest *f, const struct perf_record *r,
				 struct lazy_stack *g, uint64_t number, uint64_t offset)
{
	uint32_t index = perf_events_of_sample(f->events, r);
	struct waiting *w = &f->waiting[f->n_waiting];
	const struct perf_sample *s = &w->said;
	struct hash128 chain = { 0 };

	if (index == PERF_EVENT_NONE) {
		f->stats.n_no_event++;
		return INGEST_ALL;
	}
	w->event = &f->events->all.at[index];
	if (!lazy_stack_decode(g, &w->event->attr, r, &w->said) &&
	    !perf_sample_decode_head(&w->event->attr, r, &w->said)) {
		count_bad(f, offset);
		f->stats.n_bad_heads++;
		return INGEST_ALL;
	}
	if (is_stranger(f, r->misc, s->pid, s->tid))
		return INGEST_AHEAD;
	if (s->is_head)
		count_bad(f, offset);
	f->stats.n_long_samples += s->n_behind > 0;
	w->record = *r;
	w->is_decoded = true;
	place_sample(f, w,
		     &(struct predecode){ .pid = s->pid,
					  .tid = s->tid,
					  .time = s->time,
					  .cpu = s->cpu,
					  .cgroup = s->cgroup,
					  .weight = predecode_weight(&w->event->attr, s) },
		     number);
	w->is_plain = predecode_is_plain(&w->event->attr, s) && may_be_plain(f, &w->owner);
	if (w->is_plain)
		chain = predecode_chain(r, s);
	return wait_for_stack(f, w, chain);
}

/* A sample that was digested when it was read. */
static enum perf_fed feed_digest(struct ingest *f, const struct predecode *d,
				 const struct perf_records *batch)
{
	struct waiting *w = &f->waiting[f->n_waiting];

	if (is_stranger(f, d->misc, d->pid, d->tid))
		return INGEST_AHEAD;
	w->event = &f->events->all.at[d->event];
	w->is_decoded = false;
	w->record = (struct perf_record){ .at = batch->at + d->at, .swap = batch->swap };
	place_sample(f, w, d, batch->first + d->number);
	w->is_plain = may_be_plain(f, &w->owner);
	return wait_for_stack(f, w, d->chain);
}

struct ingest *ingest_new(struct profile *p, capture_id c, struct resolver *r,
			  struct perf_events *events, const char *machine)
{
	struct ingest *f = xcalloc(1, sizeof(*f));
	bool is_assumed = !machine;
	struct utsname here;

	f->profile = p;
	f->capture = c;
	f->last_ns = INT64_MIN;
	f->resolver = r;
	f->events = events;
	f->tasks = perf_tasks_new(p, c);
	f->cgroups = perf_cgroups_new(p, c);
	f->teller = apply_new(r, f->tasks, f->cgroups);
	f->chains = callchain_intern_new(p, r, f->tasks);
	f->known = callchain_cache_new();
	if (!machine && uname(&here) == 0)
		machine = here.machine;
	f->frames = callchain_new(p, r, machine ? machine : "", &f->stats.frames);
	if (is_assumed)
		callchain_assume(f->frames);
	f->look = prescan_new(events, f->teller, f->frames, &f->stats.look);
	f->switches = perf_switches_new(p, events, f->tasks, f->cgroups);
	return f;
}

void ingest_free(struct ingest *f)
{
	if (!f)
		return;
	if (f->watches) {
		builder_begin(f->profile);
		build_watch_end(f->profile, f);
		builder_end(f->profile);
	}
	tracepoint_frames_free(f->labels);
	vec_done(&f->labelled);
	callchain_free(f->frames);
	perf_switches_free(f->switches);
	prescan_free(f->look);
	callchain_intern_free(f->chains);
	callchain_cache_free(f->known);
	apply_free(f->teller);
	perf_cgroups_free(f->cgroups);
	perf_tasks_free(f->tasks);
	free(f);
}

void ingest_root_names(struct ingest *f, enum root_names names)
{
	perf_tasks_root_names(f->tasks, names);
}

void ingest_stitch(struct ingest *f)
{
	callchain_stitch(f->frames);
}

void ingest_branch_depth(struct ingest *f, uint32_t depth)
{
	callchain_branch_depth(f->frames, depth);
}

void ingest_fields(struct ingest *f, const struct trace_fields *fields, const char *list)
{
	if (!f->labels)
		f->labels = tracepoint_frames_new(f->profile, f->resolver, fields, list);
}

void ingest_look(struct ingest *f, const struct perf_records *batch, unsigned what)
{
	prescan_at(f->look, batch, what);
	resolver_follow(f->resolver);
}

uint64_t ingest_rounds_told(const struct ingest *f)
{
	return prescan_rounds_told(f->look);
}

void ingest_may_ask(struct ingest *f, bool may)
{
	f->may_ask = may;
}

/* The record at the cursor, and no other, if it is a sample. */
static enum perf_fed feed_record(struct ingest *f, const struct perf_records *batch,
				 struct ingest_cursor *c, struct perf_record *r)
{
	uint64_t offset = batch->offset + c->at;

	perf_record_at(batch->at + c->at, batch->swap, r);
	if (r->type != PERF_REC_SAMPLE) {
		if (f->has_switches)
			perf_switches_record(f->switches, r);
		return INGEST_ALL;
	}
	return feed_sample(f, r, lazy_stack_find(batch, offset, &c->gap), c->number, offset);
}

/* Those up to `end`; some may be left waiting. */
static enum perf_fed feed_samples(struct ingest *f, const struct perf_records *batch,
				  struct ingest_cursor *c, size_t end)
{
	struct perf_record r;

	for (; c->at < end; c->at += r.size, c->number++) {
		enum perf_fed fed = feed_record(f, batch, c, &r);

		if (fed != INGEST_ALL)
			return fed;
	}
	return c->at < batch->n_bytes ? INGEST_SOME : INGEST_ALL;
}

/* The same for a batch whose samples were digested: other records are not looked at. */
static enum perf_fed feed_digests(struct ingest *f, const struct perf_records *batch,
				  struct ingest_cursor *c, size_t end)
{
	const struct predecode *d;
	struct perf_record r;

	while (c->digest < batch->n_samples && batch->digest[c->digest].at < c->at)
		c->digest++;
	for (; c->digest < batch->n_samples; c->digest++) {
		enum perf_fed fed;

		d = &batch->digest[c->digest];
		c->at = d->at;
		c->number = batch->first + d->number;
		if (c->at >= end)
			return INGEST_SOME;
		fed = d->event == PERF_EVENT_NONE ? feed_record(f, batch, c, &r)
						  : feed_digest(f, d, batch);
		if (fed != INGEST_ALL)
			return fed;
	}
	c->at = batch->n_bytes;
	return INGEST_ALL;
}

enum perf_fed ingest_samples(struct ingest *f, const struct perf_records *batch,
			     struct ingest_cursor *c, size_t max_bytes)
{
	size_t end = batch->n_bytes - c->at < max_bytes ? batch->n_bytes : c->at + max_bytes;
	enum perf_fed fed;

	f->has_switches = perf_switches_told(f->switches);
	if (batch->digest && !f->has_switches)
		fed = feed_digests(f, batch, c, end);
	else
		fed = feed_samples(f, batch, c, end);
	perf_tasks_name_processes(f->tasks);
	return add_waiting(f) ? fed : INGEST_FULL;
}

bool ingest_waits(struct ingest *f)
{
	return perf_switches_settle(f->switches);
}

void ingest_retire(struct ingest *f)
{
	ingest_retire_by(f, f->last_ns);
}

void ingest_retire_by(struct ingest *f, int64_t time_ns)
{
	struct perf_retired gone = { 0 };

	if (time_ns >= RETIRE_NS && perf_tasks_retire(f->tasks, time_ns - RETIRE_NS, &gone)) {
		resolver_end(f->resolver, gone.pids.at, gone.pids.n);
		perf_switches_forget(f->switches, gone.tids.at, gone.tids.n);
	}
	vec_done(&gone.tids);
	vec_done(&gone.pids);
}

size_t ingest_n_tasks(const struct ingest *f)
{
	return perf_tasks_n(f->tasks) + resolver_n_spaces(f->resolver);
}

static void move_stacks(void *arg, const uint32_t *to, uint32_t n)
{
	struct ingest *f = arg;

	callchain_cache_forget(f->known);
	perf_tasks_forget_roots(f->tasks);
	perf_switches_move(f->switches, to, n);
}

void ingest_shorten(struct ingest *f)
{
	/* From now on others may do so, too. */
	if (!f->watches)
		build_watch(f->profile, &(struct build_watch){ .stacks = move_stacks, .arg = f });
	f->watches = true;
	if (callchain_cache_n(f->known) > CHAINS_KEPT)
		callchain_cache_forget(f->known);
	build_shorten(f->profile, NULL, NULL);
}

bool ingest_settle(struct ingest *f)
{
	perf_tasks_name_processes(f->tasks);
	perf_cgroups_settle(f->cgroups);
	return perf_switches_finish(f->switches, &f->stats.waits);
}

void ingest_end(struct ingest *f)
{
	callchain_facts(f->frames, f->capture);
	perf_cgroups_facts(f->cgroups);
}

const struct ingest_stats *ingest_stats(const struct ingest *f)
{
	return &f->stats;
}
