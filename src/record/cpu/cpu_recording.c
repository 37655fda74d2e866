/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns of the rings, with a FINISHED_ROUND between two of them. */
#include "config.h"

#include "record/cpu/cpu_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "perf/records/perf_events.h"
#include "record/cpu/build_id_cache.h"
#include "record/cpu/cgroup_fs.h"
#include "record/cpu/perf_rights.h"
#include "record/cpu/perf_writer.h"
#include "record/cpu/perf_writer_head.h"
#include "record/cpu/proc_synthesize.h"
#include "record/cpu/time_order.h"

/* Written so often, or when so much waits. */
#define FLUSH_NS    UINT64_C(1000000000)
/*
 * Where somebody watches, or may at the other end of a pipe: at each turn, or with two turns between a screen that is drawn
 * four times a second finds nothing new at times. Of all that runs, where each look costs more, at each second turn.
 */
#define WATCHED_NS  UINT64_C(90000000)
#define WHOLE_NS    UINT64_C(200000000)
#define FLUSH_BYTES ((size_t)4 << 20)

struct cpu_recording {
	struct sampler *sampler;
	struct callchain_unwinder *chains; /* NULL: records are written as they come */
	struct build_id_cache *ids;        /* of what processes map */
	struct perf_writer *file;
	struct perf_writer_head head;
	struct perf_put out; /* records of this turn */
	uint64_t flushed_ns; /* when */
	uint64_t flush_ns;   /* and how often */
	struct cpu_recording_stats stats;
	VEC(const char *) remarks;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct perf_events *events_of(const struct cpu_recording *r)
{
	return r->chains ? callchain_unwinder_events(r->chains) : sampler_events(r->sampler);
}

static int open_file(struct cpu_recording *r, const struct cpu_recording_options *o, struct err *e)
{
	r->head = (struct perf_writer_head){
		.events = events_of(r),
		.command = o->command,
		.zstd_level = o->zstd_level,
		.clock_ns = now_ns(CLOCK_MONOTONIC),
		.wall_ns = now_ns(CLOCK_REALTIME),
	};
	return perf_writer_open(o->path, &r->head, o->max_bytes, &r->file, e);
}

static void put_processes(struct proc_synthesize *p, const struct sampler_options *o,
			  struct perf_put *to)
{
	for (size_t i = 0; i < o->n_pids; i++)
		proc_synthesize_process(p, o->pids[i], to);
	for (size_t i = 0; i < o->n_tids; i++)
		proc_synthesize_process(p, proc_synthesize_process_of(o->tids[i]), to);
	if (o->n_pids == 0 && o->n_tids == 0)
		proc_synthesize_all(p, to);
}

/* What comes behind is younger than all before the round before it. */
static void put_round(struct perf_put *to)
{
	size_t begun = perf_put_begin(to, PERF_REC_FINISHED_ROUND, 0);

	perf_put_end(to, begun, NULL, NULL);
}

static void tell_no(struct cpu_recording *r, const struct perf_rights *rights,
		    enum rights_wish wish)
{
	vec_push(&r->remarks, perf_rights_why(rights, wish, -EPERM));
}

/* What was so before; with it the file can be opened. */
static int tell_beginning(struct cpu_recording *r, const struct sampler_options *o, struct err *e)
{
	const struct perf_attr *a = &events_of(r)->all.at[0].attr;
	struct proc_synthesize *p = proc_synthesize_new(a, o->data, r->ids);
	struct perf_put records = { 0 };
	struct perf_rights rights;

	perf_rights_read(&rights);
	if (!proc_synthesize_kernel(p, &records) && !(a->flags & PERF_ATTR_EXCLUDE_KERNEL))
		tell_no(r, &rights, RIGHTS_NAMES);
	if (o->n_pids == 0 && o->n_tids == 0 && !rights.may_ptrace)
		tell_no(r, &rights, RIGHTS_OTHERS);
	if (a->sample_type & PERF_S_CGROUP)
		cgroup_fs_tell(a, &records);
	if (!o->on_exec)
		put_processes(p, o, &records);
	proc_synthesize_free(p);
	if (r->chains)
		callchain_unwinder_look(r->chains, &(struct perf_records){ .at = records.at,
									   .n_bytes = records.n });
	put_round(&records);
	perf_writer_add(r->file, records.at, records.n);
	vec_done(&records);
	if (perf_writer_is_full(r->file))
		return err_set(
			e, -EFBIG,
			"what a recording of this begins with takes more than the file may have");
	return perf_writer_flush(r->file, e);
}

static uint64_t flush_ns(const struct cpu_recording_options *o)
{
	if (!o->watched && strcmp(o->path, "-") != 0)
		return FLUSH_NS;
	return o->sampler.n_pids + o->sampler.n_tids > 0 ? WATCHED_NS : WHOLE_NS;
}

int cpu_recording_open(const struct cpu_recording_options *o, struct cpu_recording **out,
		       struct err *e)
{
	struct cpu_recording *r = xcalloc(1, sizeof(*r));
	const char *const *remarks;
	size_t n;
	int rc;

	r->ids = build_id_cache_new();
	r->flush_ns = flush_ns(o);
	rc = sampler_open(&o->sampler, &r->sampler, e);
	if (rc == 0) {
		remarks = sampler_remarks(r->sampler, &n);
		for (size_t i = 0; i < n; i++)
			vec_push(&r->remarks, remarks[i]);
		if (o->unwind && o->sampler.stacks == SAMPLER_COPIES)
			r->chains = callchain_unwinder_new(sampler_events(r->sampler));
	}
	if (rc) {
		cpu_recording_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int cpu_recording_make_file(struct cpu_recording *r, const struct cpu_recording_options *o,
			    struct err *e)
{
	int rc = open_file(r, o, e);

	return rc ? rc : tell_beginning(r, &o->sampler, e);
}

void cpu_recording_free(struct cpu_recording *r)
{
	if (!r)
		return;
	perf_writer_close(r->file);
	callchain_unwinder_free(r->chains);
	build_id_cache_free(r->ids);
	sampler_free(r->sampler);
	vec_done(&r->out);
	vec_done(&r->remarks);
	free(r);
}

const char *const *cpu_recording_remarks(const struct cpu_recording *r, size_t *n)
{
	*n = r->remarks.n;
	return r->remarks.at;
}

int cpu_recording_start(struct cpu_recording *r, struct err *e)
{
	r->flushed_ns = now_ns(CLOCK_MONOTONIC);
	return sampler_start(r->sampler, e);
}

static void look(void *arg, const struct perf_records *records)
{
	struct cpu_recording *r = arg;

	callchain_unwinder_look(r->chains, records);
}

static void count_lost(struct cpu_recording *r, const struct perf_records *records)
{
	struct perf_record record;
	uint64_t n;

	for (size_t at = 0; at < records->n_bytes; at += record.size) {
		if (perf_record_at(records->at + at, false, &record) == 0)
			break;
		if ((record.type == PERF_REC_LOST || record.type == PERF_REC_LOST_SAMPLES) &&
		    perf_lost_decode(&record, &n))
			r->stats.n_lost += n;
	}
}

static void take(void *arg, const struct perf_records *records)
{
	struct cpu_recording *r = arg;

	count_lost(r, records);
	if (r->chains)
		callchain_unwinder_take(r->chains, records, &r->out);
	else
		perf_put_bytes(&r->out, records->at, records->n_bytes);
}

static void take_turn(struct cpu_recording *r)
{
	sampler_turn(r->sampler);
	if (r->chains)
		sampler_ahead(r->sampler, look, r);
	vec_clear(&r->out);
	sampler_take(r->sampler, take, r);
	if (r->out.n == 0)
		return;
	build_id_cache_fill(r->ids, r->out.at, r->out.n);
	/* Of those that are the last everything up to a moment is kept, whichever cpu it is of. */
	if (perf_writer_room(r->file) < r->out.n)
		time_order(events_of(r), &r->out);
	put_round(&r->out);
	perf_writer_add(r->file, r->out.at, r->out.n);
}

/* Where much was forgotten: what runs now, which is in the file already. */
static void tell_again(struct cpu_recording *r)
{
	const struct perf_attr *a = &events_of(r)->all.at[0].attr;
	struct proc_synthesize *p = proc_synthesize_new(a, false, r->ids);
	struct perf_put records = { 0 };

	proc_synthesize_all(p, &records);
	proc_synthesize_free(p);
	callchain_unwinder_look(r->chains,
				&(struct perf_records){ .at = records.at, .n_bytes = records.n });
	vec_done(&records);
}

int cpu_recording_turn(struct cpu_recording *r, const int *others, size_t n, int ms, struct err *e)
{
	uint64_t now;

	sampler_wait(r->sampler, others, n, ms);
	take_turn(r);
	if (r->chains && callchain_unwinder_forget(r->chains))
		tell_again(r);
	now = now_ns(CLOCK_MONOTONIC);
	if (now - r->flushed_ns < r->flush_ns && perf_writer_waiting(r->file) < FLUSH_BYTES)
		return 0;
	r->flushed_ns = now;
	return perf_writer_flush(r->file, e);
}

/* What was lost is told by the record that is written next; where none was, we tell it. */
static void tell_lost(struct cpu_recording *r)
{
	const struct perf_events *events = events_of(r);
	const struct perf_trailer now = { .time = now_ns(CLOCK_MONOTONIC) };
	uint64_t n = sampler_lost(r->sampler);
	struct perf_put record = { 0 };

	if (n <= r->stats.n_lost)
		return;
	perf_put_lost(&record, &events->all.at[0].attr, n - r->stats.n_lost, &now);
	r->stats.n_lost = n;
	perf_writer_add(r->file, record.at, record.n);
	vec_done(&record);
}

int cpu_recording_end(struct cpu_recording *r, struct err *e)
{
	sampler_stop(r->sampler);
	take_turn(r);
	tell_lost(r);
	return perf_writer_flush(r->file, e);
}

struct cpu_recording_stats cpu_recording_stats(const struct cpu_recording *r)
{
	struct cpu_recording_stats s = r->stats;

	if (r->chains)
		s.chains = *callchain_unwinder_stats(r->chains);
	s.n_samples = perf_writer_samples(r->file);
	s.n_left_out = perf_writer_left_out(r->file);
	s.full = perf_writer_is_full(r->file);
	s.n_bytes = perf_writer_bytes(r->file);
	s.hz = sampler_hz(r->sampler);
	return s;
}
