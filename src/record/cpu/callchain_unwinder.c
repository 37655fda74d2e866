/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A resolver knows what is mapped where, as it does for readers; nothing of it but modules goes into a profile. */
#include "config.h"

#include "record/cpu/callchain_unwinder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "perf/abi/perf_put.h"
#include "perf/callchain/perf_regs.h"
#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#define MAX_FRAMES 4096

/* perf's numbers of registers. */
#define X86_BP 6
#define X86_SP 7

/*
 * What is known of processes goes some seconds after they ended. Beyond so much more than there was at first, some 10 to 20 MB,
 * it all begins anew, and after so many records, as of those that live some of it is kept over time and never less.
 */
#define KNOWN_MAX   ((size_t)1 << 15)
#define TOLD_MAX    (UINT64_C(1) << 18)
#define MAPPED_PART 16 /* a file counts for so much: it has unwind tables, and is held open */

struct callchain_unwinder {
	struct perf_events *kernels; /* borrowed */
	struct perf_events events;   /* ours, of the same ids */
	enum unwind_arch arch;
	struct profile *profile; /* what the resolver and the feed want; nobody reads it */
	struct resolver_options options;
	struct resolver *resolver;
	struct ingest *feed;
	struct walk_frame frames[MAX_FRAMES];
	struct chain_stats stats;
	uint64_t n_told; /* records beside the samples since it knew of nothing */
	size_t n_first;  /* see n_known(), when it had been told what runs; 0: it was not yet */
	int64_t last_ns; /* time of the newest sample */
};

/* An attr without what is left out of samples; that stacks were copied stays as a sign. */
static struct perf_attr thin_attr(const struct perf_attr *from)
{
	struct perf_attr a = *from;

	a.sample_type &= ~(PERF_S_REGS_USER | PERF_S_STACK_USER);
	a.flags &= ~PERF_ATTR_EXCLUDE_CALLCHAIN_USER;
	a.sample_regs_user = 0;
	return a;
}

static void copy_events(struct callchain_unwinder *m)
{
	for (size_t i = 0; i < m->kernels->all.n; i++) {
		const struct perf_event *e = &m->kernels->all.at[i];
		struct perf_attr a = thin_attr(&e->attr);

		perf_events_add(&m->events, &a, e->name);
	}
	for (size_t i = 0; i < m->kernels->ids.n; i++)
		perf_events_add_id(&m->events, m->kernels->ids.at[i].event,
				   m->kernels->ids.at[i].id);
}

/* One that has ended, or that may not be looked into, has none. */
static size_t read_code(int32_t pid, uint64_t address, uint8_t *to, size_t n)
{
	struct iovec ours = { to, n }, theirs = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Knows of nothing yet. */
static void begin(struct callchain_unwinder *m)
{
	struct utsname here;
	capture_id c;

	uname(&here);
	m->profile = profile_new();
	builder_begin(m->profile);
	c = build_capture(m->profile, "", "perf.data");
	builder_end(m->profile);
	m->resolver = resolver_new(m->profile, c, &m->options);
	m->feed = ingest_new(m->profile, c, m->resolver, m->kernels, here.machine);
	m->n_told = 0;
	m->n_first = 0;
}

static void end(struct callchain_unwinder *m)
{
	ingest_free(m->feed);
	resolver_free(m->resolver);
	profile_free(m->profile);
}

struct callchain_unwinder *callchain_unwinder_new(struct perf_events *kernels)
{
	struct callchain_unwinder *m;
	enum unwind_arch arch;
	struct utsname here;

	if (uname(&here) != 0 || !perf_regs_arch(here.machine, &arch))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->kernels = kernels;
	m->arch = arch;
	m->options = (struct resolver_options){
		.same_machine = true, .no_inlines = true, .hold_files = true, .read_code = read_code
	};
	begin(m);
	copy_events(m);
	return m;
}

void callchain_unwinder_free(struct callchain_unwinder *m)
{
	if (!m)
		return;
	end(m);
	perf_events_done(&m->events);
	free(m);
}

/* How much, in processes and mappings. */
static size_t n_known(const struct callchain_unwinder *m)
{
	return ingest_n_tasks(m->feed) + resolver_n_mappings(m->resolver) +
	       MAPPED_PART * resolver_n_mapped(m->resolver);
}

bool callchain_unwinder_forget(struct callchain_unwinder *m)
{
	builder_begin(m->profile);
	ingest_retire_by(m->feed, m->last_ns);
	builder_end(m->profile);
	if (m->n_first == 0)
		m->n_first = n_known(m);
	if (m->n_told < TOLD_MAX && n_known(m) < m->n_first + KNOWN_MAX)
		return false;
	end(m);
	begin(m);
	return true;
}

struct perf_events *callchain_unwinder_events(struct callchain_unwinder *m)
{
	return &m->events;
}

void callchain_unwinder_look(struct callchain_unwinder *m, const struct perf_records *records)
{
	ingest_look(m->feed, records, PRESCAN_TELL);
}

/* Walks the sample's stack; the number of frames. */
static size_t walk(struct callchain_unwinder *m, const struct perf_sample *s, enum walk_end *end)
{
	struct unwind_memory memory = { .bytes = s->stack };
	struct resolver_walk how;
	struct unwind_regs regs;
	size_t n;

	perf_regs_take(m->arch, &s->regs_user, &regs);
	*end = WALK_COMPLETE;
	if (!unwind_reg_known(&regs, unwind_pc(m->arch)))
		return 0;
	memory.address = regs.at[unwind_sp(m->arch)];
	if (unwind_reg_known(&regs, unwind_sp(m->arch)))
		memory.n = (size_t)s->stack_filled;
	n = resolver_walk_stack(m->resolver, s->pid, (int64_t)s->time, m->arch, &regs, &memory,
				m->frames, MAX_FRAMES, &how);
	*end = how.end;
	m->stats.n_walked++;
	m->stats.n_frames += n;
	m->stats.n_by_end[how.end]++;
	return n;
}

/* The word so far above the stack pointer in a copied stack of a 32-bit program. */
static bool load_32(const struct perf_sample *s, uint64_t at, uint64_t *out)
{
	uint32_t word;

	if (at > s->stack_filled || s->stack_filled - at < sizeof(word))
		return false;
	memcpy(&word, s->stack + at, sizeof(word));
	*out = word;
	return true;
}

/*
 * A 32-bit program on an x86_64 kernel, whose tables are not known here: by frame pointers alone, the outermost of which is
 * 0. Returns the number of frames, the innermost first.
 */
static size_t walk_32(struct callchain_unwinder *m, const struct perf_sample *s, uint64_t ip,
		      enum walk_end *end)
{
	uint64_t sp, fp = 1, ra, next;
	size_t n = 0;

	*end = WALK_NO_CFI;
	m->frames[n++] = (struct walk_frame){ .pc = ip };
	if (m->arch != UNWIND_X86_64 || !perf_reg(&s->regs_user, X86_SP, &sp) ||
	    !perf_reg(&s->regs_user, X86_BP, &fp))
		return n;
	while (n < MAX_FRAMES && fp >= sp && load_32(s, fp - sp, &next) &&
	       load_32(s, fp - sp + 4, &ra) && ra != 0) {
		m->frames[n++] = (struct walk_frame){ .pc = ra };
		if (next != 0 && next <= fp)
			break;
		fp = next;
	}
	if (fp == 0)
		*end = WALK_COMPLETE;
	m->stats.n_walked++;
	m->stats.n_frames += n;
	m->stats.n_by_end[*end]++;
	return n;
}

/* Puts the user part of the chain; how that ends. */
static enum walk_end put_user(struct callchain_unwinder *m, const struct perf_sample *s,
			      struct perf_put *to)
{
	const unsigned pc = m->arch == UNWIND_X86_64 ? 8 : 32; /* by perf's numbers */
	enum walk_end end = WALK_COMPLETE;
	uint64_t ip;
	size_t n;

	if (!perf_reg(&s->regs_user, pc, &ip))
		return end;
	perf_put_u64(to, PERF_CTX_USER);
	n = s->regs_user.abi == 2 ? walk(m, s, &end) : walk_32(m, s, ip, &end);
	if (n == 0)
		perf_put_u64(to, ip);
	for (size_t i = 0; i < n; i++)
		perf_put_u64(to, m->frames[i].pc + (i > 0 && m->frames[i].exact));
	return end;
}

static uint16_t made_misc(uint16_t misc, enum walk_end end)
{
	_Static_assert(N_WALK_ENDS - 1 <= PERF_MISC_CHAIN_END >> PERF_MISC_CHAIN_END_AT,
		       "they fit");
	return (uint16_t)(misc | PERF_MISC_CHAIN_MADE | (uint32_t)end << PERF_MISC_CHAIN_END_AT);
}

/* The fields of a sample in front of its chain, which all have the same place in both. */
static size_t head_bytes(const struct perf_attr *a)
{
	uint64_t fields = PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_ID |
			  PERF_S_CPU | PERF_S_PERIOD;

	return 8 * (size_t)__builtin_popcountll(a->sample_type & fields);
}

static void put_sample(struct callchain_unwinder *m, const struct perf_attr *a,
		       const struct perf_record *r, struct perf_put *to)
{
	size_t begun, count_at;
	struct perf_sample s;
	uint16_t misc;
	uint64_t n;

	if (!perf_sample_decode(a, r, &s))
		return;
	if (s.time < INT64_MAX && (int64_t)s.time > m->last_ns)
		m->last_ns = (int64_t)s.time;
	begun = perf_put_begin(to, r->type, r->misc);
	perf_put_bytes(to, r->at + PERF_RECORD_HEADER_BYTES, head_bytes(a));
	count_at = to->n;
	perf_put_u64(to, 0);
	perf_put_bytes(to, s.chain.at, 8 * (size_t)s.chain.n);
	misc = made_misc(r->misc, put_user(m, &s, to));
	memcpy(to->at + begun + PERF_RECORD_MISC_AT, &misc, sizeof(misc));
	n = (to->n - count_at) / 8 - 1;
	memcpy(to->at + count_at, &n, sizeof(n));
	if (a->sample_type & PERF_S_RAW) {
		perf_put_u32(to, s.raw_bytes);
		perf_put_bytes(to, s.raw, s.raw_bytes);
	}
	if (a->sample_type & PERF_S_CGROUP)
		perf_put_u64(to, s.cgroup);
	perf_put_end(to, begun, NULL, NULL);
}

void callchain_unwinder_take(struct callchain_unwinder *m, const struct perf_records *records,
			     struct perf_put *to)
{
	struct perf_record r;

	builder_begin(m->profile);
	for (size_t at = 0; at < records->n_bytes; at += r.size) {
		uint32_t event;

		if (perf_record_at(records->at + at, false, &r) == 0)
			break;
		event = r.type == PERF_REC_SAMPLE ? perf_events_of_sample(m->kernels, &r)
						  : PERF_EVENT_NONE;
		if (event != PERF_EVENT_NONE &&
		    m->kernels->all.at[event].attr.sample_type & PERF_S_STACK_USER)
			put_sample(m, &m->kernels->all.at[event].attr, &r, to);
		else
			perf_put_bytes(to, r.at, r.size);
		m->n_told += r.type != PERF_REC_SAMPLE;
	}
	builder_end(m->profile);
}

const struct chain_stats *callchain_unwinder_stats(const struct callchain_unwinder *m)
{
	return &m->stats;
}
