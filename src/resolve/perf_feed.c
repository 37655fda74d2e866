/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records → resolver and builder.
 *
 * Times: records carry the clock of the recording where the events asked for it, both in samples and
 * (sample_id_all) behind other records. What perf synthesises has time 0 and holds since ever. Without
 * sample_id_all, a record has the time of the last sample before it; without any times, all have
 * the number of the record in the file.
 *
 * EXIT changes nothing here: a leader may end before its threads, and samples of a task's last moments
 * come after it. A number that is used again comes with a FORK. An exec gives a new name but leaves the
 * mappings, which the new ones replace: while the kernel still works on the exec, samples show the
 * address in the old program from which it was called.
 */
#include "config.h"

#include "perf_feed.h"

#include "mem.h"
#include "perf_chains.h"
#include "perf_gap.h"
#include "perf_labels.h"
#include "perf_tasks.h"
#include "resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* How perf calls the kernel's own mapping, with _text or _stext behind. */
#define KERNEL_PATH     "[kernel.kallsyms]"
#define KERNEL_PATH_LEN (sizeof(KERNEL_PATH) - 1)

/* A record beside the samples, to be told by time. */
struct beside {
	int64_t time_ns;
	uint64_t number; /* of the record, to keep the file's order at equal times */
	struct perf_record record;
};

/* A sample whose chain was added; it has no stack yet. */
struct waiting {
	struct perf_event *event;
	uint64_t weight;
	struct sample sample;
};

struct perf_feed {
	struct profile *profile;
	capture_id capture;
	struct resolver *resolver;
	struct perf_events *events;
	struct perf_tasks *tasks;
	struct perf_chains *chains;
	struct perf_frames *frames;
	struct perf_offcpu *offcpu;               /* NULL: no switches are recorded; owned */
	bool switch_records;                      /* SWITCH records tell of them, not samples */
	size_t n_events_known;                    /* events looked at for that */
	struct perf_labels *labels;               /* NULL: fields are not shown; owned */
	VEC(struct perf_chain_part) labelled;     /* scratch: a label and what it is inside of */
	int64_t last_time_ns;                     /* of the last sample looked at */
	uint64_t n_rounds_told;                   /* finished ones in what was told */
	bool may_ask;                             /* for looking ahead */
	VEC(struct beside) beside;                /* of the batch being looked at */
	struct waiting waiting[PERF_CHAINS_MOST]; /* by number of their chains */
	VEC(char) path;                           /* scratch: a path with its NUL */
	struct perf_feed_stats stats;
};

static int by_time(const void *va, const void *vb)
{
	const struct beside *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool records_have_times(const struct perf_feed *f)
{
	return f->events->all.n > 0 && f->events->all.at[0].attr.sample_type & PERF_S_TIME;
}

/* When a record beside the samples holds from. */
static int64_t time_of_record(struct perf_feed *f, const struct perf_record *r, uint64_t number)
{
	const struct perf_attr *a = perf_events_of_record(f->events, r);
	struct perf_trailer t;

	if (!a || !records_have_times(f))
		return (int64_t)number;
	if (!(a->flags & PERF_ATTR_SAMPLE_ID_ALL) || !perf_trailer_decode(a, r, &t))
		return f->last_time_ns;
	if (t.time == 0)
		return INT64_MIN;
	return t.time > INT64_MAX ? f->last_time_ns : (int64_t)t.time;
}

/* Do other records carry a time of their own, too? */
static bool has_own_times(const struct perf_feed *f)
{
	return records_have_times(f) && f->events->all.at[0].attr.flags & PERF_ATTR_SAMPLE_ID_ALL;
}

/* Do those of samples have to serve? */
static bool borrows_times(const struct perf_feed *f)
{
	return records_have_times(f) && !has_own_times(f);
}

static void note_sample_time(struct perf_feed *f, const struct perf_record *r, struct perf_gap *g)
{
	uint32_t event = perf_events_of_sample(f->events, r);
	struct perf_sample s;

	if (event != PERF_EVENT_NONE && perf_gap_decode(g, &f->events->all.at[event].attr, r, &s) &&
	    s.time <= INT64_MAX)
		f->last_time_ns = (int64_t)s.time;
}

static void count_record(struct perf_feed *f, const struct perf_record *r)
{
	struct perf_feed_stats *s = &f->stats;
	uint64_t n_lost = 0;

	if (r->type == PERF_REC_SAMPLE)
		s->n_records[PERF_REC_SAMPLE]++;
	else if (r->type - PERF_REC_SIMPLEPERF < PERF_REC_SIMPLEPERF_COUNT)
		s->n_simpleperf++;
	else if (r->type < PERF_FEED_TYPES && perf_record_name(r->type))
		s->n_records[r->type]++;
	else if (s->n_unknown++ == 0)
		s->unknown_type = r->type;
	if (r->type == PERF_REC_LOST && perf_lost_decode(r, &n_lost))
		s->n_lost += n_lost;
	if (r->type == PERF_REC_LOST_SAMPLES && perf_lost_decode(r, &n_lost))
		s->n_lost_samples += n_lost;
}

/* Only the trailer says whose chain it is. */
static void keep_deferred(struct perf_feed *f, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(f->events, r);
	struct perf_deferred_chain c;
	struct perf_trailer t;

	if (a && perf_trailer_decode(a, r, &t) && perf_deferred_decode(r, &c))
		perf_frames_defer(f->frames, t.tid, &c);
	else
		f->stats.n_bad_records++;
}

static bool is_beside(uint32_t type)
{
	return type == PERF_REC_MMAP || type == PERF_REC_MMAP2 || type == PERF_REC_COMM ||
	       type == PERF_REC_FORK || type == PERF_REC_KSYMBOL;
}

static void tell_mapping(struct perf_feed *f, int64_t time_ns, const struct perf_mmap *m,
			 bool kernel)
{
	struct mapping_event e = { .time_ns = time_ns,
				   .pid = kernel ? -1 : m->pid,
				   .start = m->start,
				   .length = m->length,
				   .file_offset = m->file_offset,
				   .executable = m->executable };

	vec_reserve(&f->path, m->path_len + 1);
	memcpy(f->path.at, m->path, m->path_len);
	f->path.at[m->path_len] = '\0';
	e.path = f->path.at;
	memcpy(e.build_id.bytes, m->build_id, m->n_build_id);
	e.build_id.n = m->n_build_id;
	resolver_map(f->resolver, &e);
	perf_tasks_remapped(f->tasks, e.pid, time_ns);
}

static bool tell_mmap(struct perf_feed *f, const struct beside *b, size_t trailer)
{
	uint32_t cpumode = b->record.misc & PERF_MISC_CPUMODE;
	struct perf_mmap m;

	if (!perf_mmap_decode(&b->record, trailer, &m))
		return false;
	/* What a guest maps is in another machine's memory. */
	if (cpumode == PERF_CPU_GUEST_KERNEL || cpumode == PERF_CPU_GUEST_USER)
		return true;
	/* perf ends the kernel at _etext; .init.text, where the idle task began, lies beyond. */
	if (m.pid == -1 && m.path_len >= KERNEL_PATH_LEN &&
	    memcmp(m.path, KERNEL_PATH, KERNEL_PATH_LEN) == 0)
		m.length = UINT64_MAX - m.start;
	tell_mapping(f, b->time_ns, &m, cpumode == PERF_CPU_KERNEL || m.pid == -1);
	return true;
}

static bool tell_comm(struct perf_feed *f, const struct beside *b, size_t trailer)
{
	struct perf_comm c;

	if (!perf_comm_decode(&b->record, trailer, &c))
		return false;
	perf_tasks_name(f->tasks, c.tid, b->time_ns, c.name, c.name_len);
	/*
	 * What the process had mapped went with its old program; the new one's mappings come after. Where
	 * nothing but the order of the file says when, samples of before may come after it, too.
	 */
	if (b->record.misc & PERF_MISC_COMM_EXEC && has_own_times(f)) {
		resolver_exec(f->resolver, c.pid, b->time_ns);
		perf_tasks_remapped(f->tasks, c.pid, b->time_ns);
	}
	return true;
}

static bool tell_fork(struct perf_feed *f, const struct beside *b)
{
	struct perf_task t;

	if (!perf_task_decode(&b->record, &t))
		return false;
	perf_tasks_fork(f->tasks, t.tid, t.ptid, b->time_ns);
	/* perf also makes up forks, for threads that it finds; they tell nothing of mappings. */
	if (t.pid != t.ppid && !(b->record.misc & PERF_MISC_FORK_EXEC)) {
		resolver_fork(f->resolver, t.pid, t.ppid, b->time_ns);
		perf_tasks_remapped(f->tasks, t.pid, b->time_ns);
	}
	return true;
}

/*
 * Kernel code that is in no file: BPF programs and trampolines, each its own module. BPF_EVENT says no
 * more of them than their number; what else there is to know is told before (resolver_declared()).
 */
static bool tell_ksymbol(struct perf_feed *f, const struct beside *b, size_t trailer)
{
	struct perf_mmap m = { .executable = true };
	struct perf_ksymbol k;

	if (!perf_ksymbol_decode(&b->record, trailer, &k))
		return false;
	if (k.unregister || k.length == 0)
		return true;
	m.start = k.start;
	m.length = k.length;
	m.path = k.name;
	m.path_len = k.name_len;
	tell_mapping(f, b->time_ns, &m, true);
	return true;
}

static void tell(struct perf_feed *f, const struct beside *b)
{
	const struct perf_attr *a = perf_events_of_record(f->events, &b->record);
	size_t trailer = a ? perf_trailer_bytes(a) : 0;
	bool good = true;

	switch (b->record.type) {
	case PERF_REC_MMAP:
	case PERF_REC_MMAP2:
		good = tell_mmap(f, b, trailer);
		break;
	case PERF_REC_COMM:
		good = tell_comm(f, b, trailer);
		break;
	case PERF_REC_FORK:
		good = tell_fork(f, b);
		break;
	case PERF_REC_KSYMBOL:
		good = tell_ksymbol(f, b, trailer);
		break;
	default:
		break;
	}
	f->stats.n_bad_records += !good;
}

static void count_frames(struct perf_feed *f, const struct perf_chain_part *parts, size_t n_parts)
{
	uint64_t n = 0;

	f->stats.n_decoded++;
	for (size_t i = 0; i < n_parts; i++)
		n += parts[i].ips.n > 0 ? parts[i].ips.n : 1;
	f->stats.n_frames += n;
	f->stats.n_leaf_only += n == 1;
	f->stats.n_no_frames += n == 0;
}

static bool is_sched_switch(struct perf_event *e)
{
	return e->attr.type == PERF_T_TRACEPOINT &&
	       strcmp(perf_event_name_of(e), "sched:sched_switch") == 0;
}

/* Which of the events, if any, say when threads leave the cpu. */
static void look_for_switches(struct perf_feed *f)
{
	for (; f->n_events_known < f->events->all.n; f->n_events_known++) {
		struct perf_event *e = &f->events->all.at[f->n_events_known];
		bool records = (e->attr.flags & PERF_ATTR_CONTEXT_SWITCH) != 0;

		f->switch_records = f->switch_records || records;
		if (!f->offcpu && (records || is_sched_switch(e)))
			f->offcpu = perf_offcpu_new(f->profile);
	}
}

/* SWITCH, SWITCH_CPU_WIDE and EXIT; of the idle task there is nothing to say. */
static void feed_switch(struct perf_feed *f, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(f->events, r);
	struct perf_task_view task;
	struct perf_trailer t;
	struct perf_task exit;
	struct sample at;

	if (r->type == PERF_REC_EXIT) {
		if (perf_task_decode(r, &exit) && exit.tid > 0 && exit.time <= INT64_MAX)
			perf_offcpu_end(f->offcpu, exit.tid, (int64_t)exit.time);
		return;
	}
	if (!a || !perf_trailer_decode(a, r, &t) || t.tid <= 0 || t.time > INT64_MAX)
		return;
	if (!(r->misc & PERF_MISC_SWITCH_OUT)) {
		perf_offcpu_in(f->offcpu, t.tid, (int64_t)t.time);
		return;
	}
	task = perf_tasks_at(f->tasks, t.pid, t.tid, (int64_t)t.time);
	at = (struct sample){ .stack = task.root,
			      .thread = task.thread,
			      .cpu = t.cpu < CPU_NONE ? (uint16_t)t.cpu : CPU_NONE,
			      .time_ns = (int64_t)t.time };
	perf_offcpu_out(f->offcpu, t.tid, &at);
}

/* What a sample says of threads that leave the cpu. */
static void watch_sample(struct perf_feed *f, struct perf_event *e, const struct perf_sample *s,
			 bool swap, const struct sample *out)
{
	struct perf_sched_switch w;
	bool is_switch = !f->switch_records && is_sched_switch(e);

	if (out->time_ns == TIME_NONE)
		return;
	if (s->tid > 0)
		perf_offcpu_sample(f->offcpu, s->tid, out, !f->switch_records && !is_switch);
	if (s->tid > 0 && is_switch)
		perf_offcpu_out(f->offcpu, s->tid, out);
	if (is_switch && perf_sched_switch_decode(s, swap, &w) && w.next_tid > 0)
		perf_offcpu_in(f->offcpu, w.next_tid, out->time_ns);
}

/* False when the profile is full. */
static bool add_sample(struct perf_feed *f, struct perf_event *e, struct sample *s, uint64_t weight)
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
static bool add_group(struct perf_feed *f, const struct perf_read *values, struct sample *s)
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

static uint64_t weight_of(const struct perf_attr *a, const struct perf_sample *s)
{
	if (s->has_period)
		return s->period;
	if (a->flags & PERF_ATTR_FREQ || a->sample_period == 0)
		return 1;
	return a->sample_period;
}

/* Is it worth looking for what is told late of this thread? */
static bool is_stranger(const struct perf_feed *f, const struct perf_record *r,
			const struct perf_sample *s)
{
	if (!f->may_ask || s->pid <= 0)
		return false;
	if (!perf_tasks_knows(f->tasks, s->tid))
		return true;
	return (r->misc & PERF_MISC_CPUMODE) == PERF_CPU_USER &&
	       !resolver_knows(f->resolver, s->pid);
}

/* With what the event recorded inside of where it was; *n parts. */
static const struct perf_chain_part *add_label(struct perf_feed *f, struct perf_event *e,
					       const struct perf_record *r,
					       const struct perf_sample *s, int64_t time_ns,
					       const struct perf_chain_part *parts, size_t *n)
{
	struct perf_chain_part label;

	if (!f->labels || !perf_labels_part(f->labels, e, s, time_ns, r->swap, &label))
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
static int64_t time_of_chain(struct perf_feed *f, const struct perf_sample *s,
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

/* Builds the chains that were added, and adds their samples. False when the profile is full. */
static bool add_waiting(struct perf_feed *f)
{
	uint32_t n = perf_chains_build(f->chains);

	for (uint32_t i = 0; i < n; i++) {
		struct waiting *w = &f->waiting[i];

		w->sample.stack = perf_chains_stack(f->chains, i);
		if (!add_sample(f, w->event, &w->sample, w->weight))
			return false;
	}
	return true;
}

/* The same for one that more is to be made of than a sample. */
static bool add_single(struct perf_feed *f, struct perf_event *e, const struct perf_record *r,
		       const struct perf_sample *s, struct sample *out)
{
	perf_chains_build(f->chains);
	out->stack = perf_chains_stack(f->chains, 0);
	if (f->offcpu)
		watch_sample(f, e, s, r->swap, out);
	if (s->read.n > 0 && s->read.has_id)
		return add_group(f, &s->read, out);
	return add_sample(f, e, out, weight_of(&e->attr, s));
}

static enum perf_fed feed_sample(struct perf_feed *f, const struct perf_record *r,
				 struct perf_gap *g, uint64_t number, uint64_t offset)
{
	uint32_t index = perf_events_of_sample(f->events, r);
	const struct perf_chain_part *parts;
	struct perf_task_view task;
	struct perf_chain_owner owner;
	struct perf_event *e;
	struct perf_sample s;
	struct sample out;
	uint32_t n_waiting;
	size_t n_parts;
	bool is_single;

	if (index == PERF_EVENT_NONE) {
		f->stats.n_no_event++;
		return PERF_FED_ALL;
	}
	e = &f->events->all.at[index];
	if (!perf_gap_decode(g, &e->attr, r, &s)) {
		if (f->stats.n_bad_samples++ == 0)
			f->stats.bad_sample_offset = offset;
		return PERF_FED_ALL;
	}
	if (is_stranger(f, r, &s))
		return PERF_FED_AHEAD;
	owner = (struct perf_chain_owner){ .pid = s.pid, .tid = s.tid, .time_ns = (int64_t)number };
	out.time_ns = TIME_NONE;
	if (e->attr.sample_type & PERF_S_TIME) {
		owner.time_ns = s.time > INT64_MAX ? INT64_MAX : (int64_t)s.time;
		out.time_ns = s.time > INT64_MAX ? TIME_NONE : owner.time_ns;
	}
	task = perf_tasks_at(f->tasks, s.pid, s.tid, owner.time_ns);
	owner.root = task.root;
	parts = perf_frames_find(f->frames, &e->attr, r, &s, owner.time_ns, &n_parts);
	count_frames(f, parts, n_parts);
	owner.time_ns = time_of_chain(f, &s, parts, n_parts, owner.time_ns);
	parts = add_label(f, e, r, &s, owner.time_ns, parts, &n_parts);
	out.thread = task.thread;
	out.cpu = s.cpu < CPU_NONE ? (uint16_t)s.cpu : CPU_NONE;
	is_single = f->offcpu || (s.read.n > 0 && s.read.has_id);
	/* What looks at samples one by one wants those before to be there. */
	if (is_single && !add_waiting(f))
		return PERF_FED_FULL;
	n_waiting = perf_chains_add(f->chains, &owner, parts, n_parts) + 1;
	f->waiting[n_waiting - 1] = (struct waiting){ e, weight_of(&e->attr, &s), out };
	if (is_single)
		return add_single(f, e, r, &s, &out) ? PERF_FED_ALL : PERF_FED_FULL;
	return n_waiting < PERF_CHAINS_MOST || add_waiting(f) ? PERF_FED_ALL : PERF_FED_FULL;
}

struct perf_feed *perf_feed_new(struct profile *p, capture_id c, struct resolver *r,
				struct perf_events *events, const char *machine)
{
	struct perf_feed *f = xcalloc(1, sizeof(*f));
	struct utsname here;

	f->profile = p;
	f->capture = c;
	f->resolver = r;
	f->events = events;
	f->tasks = perf_tasks_new(p, c);
	f->chains = perf_chains_new(p, r, f->tasks);
	f->last_time_ns = INT64_MIN;
	if (!machine && uname(&here) == 0)
		machine = here.machine;
	f->frames = perf_frames_new(p, r, machine ? machine : "", &f->stats.frames);
	return f;
}

void perf_feed_free(struct perf_feed *f)
{
	if (!f)
		return;
	perf_labels_free(f->labels);
	vec_done(&f->labelled);
	perf_frames_free(f->frames);
	perf_offcpu_free(f->offcpu);
	perf_chains_free(f->chains);
	perf_tasks_free(f->tasks);
	vec_done(&f->beside);
	vec_done(&f->path);
	free(f);
}

void perf_feed_root_names(struct perf_feed *f, enum root_names names)
{
	perf_tasks_root_names(f->tasks, names);
}

void perf_feed_stitch(struct perf_feed *f)
{
	perf_frames_stitch(f->frames);
}

void perf_feed_branch_depth(struct perf_feed *f, uint32_t depth)
{
	perf_frames_branch_depth(f->frames, depth);
}

void perf_feed_fields(struct perf_feed *f, const struct trace_fields *fields, const char *list)
{
	if (!f->labels)
		f->labels = perf_labels_new(f->profile, f->resolver, fields, list);
}

void perf_feed_look(struct perf_feed *f, const struct perf_records *batch, unsigned what)
{
	bool borrow = borrows_times(f);
	uint64_t number = batch->first;
	struct beside b;
	size_t gap = 0;

	vec_clear(&f->beside);
	if (what & PERF_FEED_COUNT)
		perf_frames_turn(f->frames);
	for (size_t at = 0; at < batch->n_bytes; at += b.record.size, number++) {
		perf_record_at(batch->at + at, batch->swap, &b.record);
		if (what & PERF_FEED_COUNT)
			count_record(f, &b.record);
		if (what & PERF_FEED_COUNT && b.record.type == PERF_REC_CALLCHAIN_DEFERRED)
			keep_deferred(f, &b.record);
		if (!(what & PERF_FEED_TELL))
			continue;
		f->n_rounds_told += b.record.type == PERF_REC_FINISHED_ROUND;
		if (borrow && b.record.type == PERF_REC_SAMPLE)
			note_sample_time(f, &b.record,
					 perf_gap_find(batch, batch->offset + at, &gap));
		if (!is_beside(b.record.type))
			continue;
		b.number = number;
		b.time_ns = time_of_record(f, &b.record, number);
		vec_push(&f->beside, b);
	}
	if (f->beside.n > 1)
		qsort(f->beside.at, f->beside.n, sizeof(*f->beside.at), by_time);
	for (size_t i = 0; i < f->beside.n; i++)
		tell(f, &f->beside.at[i]);
}

uint64_t perf_feed_rounds_told(const struct perf_feed *f)
{
	return f->n_rounds_told;
}

void perf_feed_may_ask(struct perf_feed *f, bool may)
{
	f->may_ask = may;
}

/* Those up to `end`; some may be left waiting. */
static enum perf_fed feed_samples(struct perf_feed *f, const struct perf_records *batch,
				  struct perf_feed_cursor *c, size_t end)
{
	struct perf_record r;

	for (; c->at < end; c->at += r.size, c->number++) {
		enum perf_fed fed;
		uint64_t offset;

		perf_record_at(batch->at + c->at, batch->swap, &r);
		if (f->offcpu && (r.type == PERF_REC_SWITCH || r.type == PERF_REC_SWITCH_CPU_WIDE ||
				  r.type == PERF_REC_EXIT))
			feed_switch(f, &r);
		if (r.type != PERF_REC_SAMPLE)
			continue;
		offset = batch->offset + c->at;
		fed = feed_sample(f, &r, perf_gap_find(batch, offset, &c->gap), c->number, offset);
		if (fed != PERF_FED_ALL)
			return fed;
	}
	return c->at < batch->n_bytes ? PERF_FED_SOME : PERF_FED_ALL;
}

enum perf_fed perf_feed_samples(struct perf_feed *f, const struct perf_records *batch,
				struct perf_feed_cursor *c, size_t max_bytes)
{
	size_t end = batch->n_bytes - c->at < max_bytes ? batch->n_bytes : c->at + max_bytes;
	enum perf_fed fed;

	look_for_switches(f);
	fed = feed_samples(f, batch, c, end);
	return add_waiting(f) ? fed : PERF_FED_FULL;
}

bool perf_feed_settle(struct perf_feed *f)
{
	perf_tasks_name_processes(f->tasks);
	return !f->offcpu || perf_offcpu_finish(f->offcpu, &f->stats.waits);
}

void perf_feed_end(struct perf_feed *f)
{
	perf_frames_facts(f->frames, f->capture);
}

const struct perf_feed_stats *perf_feed_stats(const struct perf_feed *f)
{
	return &f->stats;
}
