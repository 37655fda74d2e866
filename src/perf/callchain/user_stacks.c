/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers by perf's numbers become registers by DWARF's, the walk's frames become parts: a new part
 * begins where a frame is no return address (the leaf, and what a signal interrupted).
 */
#include "config.h"

#include "perf/callchain/user_stacks.h"

#include "base/compare.h"
#include "base/mem.h"
#include "perf/abi/lazy_stack.h"
#include "perf/callchain/frame_marks.h"
#include "perf/callchain/perf_regs.h"
#include "symbols/resolver.h"
#include "symbols/stack_unwinder.h"
#include "unwind/stitch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES   4096
#define FACT_MODULES 8     /* at most so many modules are named as the cause */
#define COPY_FULL    65000 /* a copy of so many had no room for more, beside the rest of its record */

/* What a stack that does not reach its root ends with, and what `info` says of it. */
static const struct {
	enum perf_mark mark; /* unused of complete ones */
	const char *fact, *advice;
} ends[N_WALK_ENDS] = {
	[WALK_COMPLETE] = { N_PERF_MARKS, "complete", "" },
	[WALK_TRUNCATED] = { PERF_MARK_TRUNCATED, "truncated",
			     "; they end with the copy: record with a larger --call-graph dwarf,SIZE, or see "
			     "--stitch" },
	[WALK_NO_MODULE] = { PERF_MARK_NO_FILE, "no file",
			     "; they lead into memory that is of no file, or whose file is missing" },
	[WALK_NO_CFI] = { PERF_MARK_NO_TABLES, "no tables",
			  "; they lead into code without unwind tables" },
	[WALK_UNREADABLE] = { PERF_MARK_BROKEN, "broken",
			      "; what lies on them is no sane frame: hand-written or generated code" },
	[WALK_TOO_DEEP] = { PERF_MARK_TOO_DEEP, "too deep", "; only the inner frames are kept" },
	[WALK_OTHER_STACK] = { PERF_MARK_TRUNCATED, "other stacks",
			       "; they leave the copied stack for another, which a signal, a coroutine or the heap "
			       "tracer came from: no SIZE has both" },
	[WALK_NO_DUMP] = { PERF_MARK_TRUNCATED, "not copied",
			   "; the kernel copied nothing of them, as where one program becomes another" },
};

/* Stacks that end in a module for a reason. */
struct cause {
	uint32_t module; /* module_id */
	enum walk_end end;
	uint64_t n;
};

struct user_stacks {
	struct profile *profile;
	struct resolver *resolver;
	struct frame_marks *marks;
	enum unwind_arch arch;
	bool assumed;              /* the recording does not name its machine */
	bool supported;            /* the machine's stacks can be walked */
	char machine[32];          /* its name, for a sentence; cut where it is longer */
	int pc;                    /* perf's number of the program counter there; -1: not known */
	struct stitcher *stitcher; /* NULL: truncated stacks stay so; owned */
	struct walk_frame frames[MAX_FRAMES];
	uint64_t ips[MAX_FRAMES]; /* of the frames, for the parts to point to */
	VEC(struct perf_chain_part) parts;
	uint64_t n_by_end[N_WALK_ENDS]; /* stacks that ended so */
	uint64_t n_stitched;            /* truncated ones that were continued, not in n_by_end */
	uint64_t n_32;                  /* stacks of 32-bit programs, which are not walked */
	uint64_t n_other;  /* stacks of machines whose registers or order of bytes are not known */
	uint64_t n_frames; /* of all */
	uint64_t most_bytes; /* longest copy */
	bool made;           /* they were unwound when they were recorded */
	VEC(struct cause) causes;
};

static void set_machine(struct user_stacks *s, const char *machine)
{
	s->supported = perf_regs_arch(machine, &s->arch);
	s->pc = perf_regs_pc(machine);
	snprintf(s->machine, sizeof(s->machine), "%s", machine);
}

struct user_stacks *user_stacks_new(struct profile *p, struct resolver *r, struct frame_marks *m,
				    const char *machine)
{
	struct user_stacks *s = xcalloc(1, sizeof(*s));

	s->profile = p;
	s->resolver = r;
	s->marks = m;
	set_machine(s, machine);
	return s;
}

void user_stacks_assume(struct user_stacks *s)
{
	s->assumed = true;
}

void user_stacks_free(struct user_stacks *s)
{
	if (!s)
		return;
	vec_done(&s->parts);
	stitcher_free(s->stitcher);
	vec_done(&s->causes);
	free(s);
}

void user_stacks_stitch(struct user_stacks *s)
{
	if (!s->stitcher)
		s->stitcher = stitcher_new();
}

static void note_cause(struct user_stacks *s, enum walk_end end, uint32_t module)
{
	for (size_t i = 0; i < s->causes.n; i++) {
		if (s->causes.at[i].module != module || s->causes.at[i].end != end)
			continue;
		s->causes.at[i].n++;
		return;
	}
	vec_push(&s->causes, ((struct cause){ module, end, 1 }));
}

/* frames[from, to), of which the first is exact and the others return addresses. */
static void add_part(struct user_stacks *s, size_t from, size_t to)
{
	struct perf_chain_part p = { .mode = MODE_USER };

	p.ips.at = (const uint8_t *)&s->ips[from];
	p.ips.n = (uint32_t)(to - from);
	vec_push(&s->parts, p);
}

/* frames[from, n): where it does not begin with the leaf, the call is what stands before the address. */
static void add_frames(struct user_stacks *s, size_t from, size_t n)
{
	s->n_frames += n - from;
	for (size_t i = from; i < n; i++) {
		s->ips[i] = s->frames[i].pc - (i == from && !s->frames[i].exact);
		if (i == from || !s->frames[i].exact)
			continue;
		add_part(s, from, i);
		from = i;
	}
	if (n > from)
		add_part(s, from, n);
}

static void add_mark(struct user_stacks *s, enum perf_mark mark)
{
	vec_push(&s->parts, frame_marks_part(s->marks, mark));
}

/* The frames of a stack, and what it ends with. */
static void add_stack(struct user_stacks *s, const struct perf_sample *sample, size_t n,
		      const struct resolver_walk *how)
{
	size_t n_all = n;

	if (s->stitcher)
		n_all = stitcher_take(s->stitcher, sample->pid, sample->tid, how->end, s->frames, n,
				      MAX_FRAMES);
	add_frames(s, 0, n);
	if (n_all > n) {
		add_mark(s, PERF_MARK_STITCHED);
		add_frames(s, n, n_all);
		s->n_stitched++;
		return;
	}
	s->n_by_end[how->end]++;
	if (how->end != WALK_COMPLETE)
		add_mark(s, ends[how->end].mark);
}

/* Walks what was read of the copy, and again when that was not enough. */
static size_t walk_read(struct user_stacks *s, const struct perf_sample *sample, int64_t time_ns,
			const struct unwind_regs *regs, struct unwind_memory *m,
			struct resolver_walk *how)
{
	bool missed = false;
	size_t n;

	m->missed = &missed;
	m->n_missing = m->n > 0 ? (size_t)sample->stack_filled - m->n : 0;
	n = resolver_walk_stack(s->resolver, sample->pid, time_ns, s->arch, regs, m, s->frames,
				MAX_FRAMES, how);
	if (!missed)
		return n;
	lazy_stack_fill(sample->gap);
	m->n += m->n_missing;
	m->n_missing = 0;
	return resolver_walk_stack(s->resolver, sample->pid, time_ns, s->arch, regs, m, s->frames,
				   MAX_FRAMES, how);
}

static void walk(struct user_stacks *s, const struct perf_sample *sample, int64_t time_ns)
{
	struct unwind_memory memory = { .bytes = sample->stack };
	struct unwind_regs regs;
	struct resolver_walk how;
	size_t n;

	perf_regs_take(s->arch, &sample->regs_user, &regs);
	if (!unwind_reg_known(&regs, unwind_pc(s->arch)))
		return;
	memory.address = regs.at[unwind_sp(s->arch)];
	if (unwind_reg_known(&regs, unwind_sp(s->arch)))
		memory.n = (size_t)lazy_stack_stack(sample);
	n = walk_read(s, sample, time_ns, &regs, &memory, &how);
	/* No file would help where nothing could be copied. */
	if (sample->stack_filled == 0 && how.end != WALK_COMPLETE)
		how = (struct resolver_walk){ .end = WALK_NO_DUMP, .module = { ID_NONE } };
	add_stack(s, sample, n, &how);
	if (how.module.v != ID_NONE)
		note_cause(s, how.end, how.module.v);
}

/* Of a stack that is not walked: its leaf alone. */
static void add_leaf(struct user_stacks *s, const struct perf_regs *regs)
{
	struct perf_chain_part leaf = { .mode = MODE_USER };
	bool is_32 = regs->abi == 1;

	if (s->pc < 0 || !perf_reg(regs, (unsigned)s->pc, &leaf.ip))
		return;
	vec_push(&s->parts, leaf);
	add_mark(s, is_32 ? PERF_MARK_BITS_32 : PERF_MARK_NOT_UNWOUND);
	if (is_32)
		s->n_32++;
	else
		s->n_other++;
}

const struct perf_chain_part *user_stacks_unwind(struct user_stacks *s,
						 const struct perf_sample *sample, int64_t time_ns,
						 size_t *n)
{
	const struct perf_regs *regs = &sample->regs_user;
	const char *machine = s->assumed && regs->mask ? perf_regs_machine(regs->mask) : NULL;

	if (machine && strcmp(machine, s->machine) != 0)
		set_machine(s, machine);
	vec_clear(&s->parts);
	if (sample->stack_filled > s->most_bytes)
		s->most_bytes = sample->stack_filled;
	if (s->supported && regs->abi == 2 && !regs->words.swap)
		walk(s, sample, time_ns);
	else if (regs->abi != 0)
		add_leaf(s, regs);
	*n = s->parts.n;
	return s->parts.at;
}

bool user_stacks_made(struct user_stacks *s, uint64_t end, size_t n, uint32_t n_bytes,
		      struct perf_chain_part *mark)
{
	s->made = true;
	s->most_bytes = n_bytes;
	s->n_frames += n;
	s->n_by_end[end < N_WALK_ENDS ? end : WALK_UNREADABLE]++;
	if (end == WALK_COMPLETE)
		return false;
	*mark = frame_marks_part(s->marks, end < N_WALK_ENDS ? ends[end].mark : PERF_MARK_BROKEN);
	return true;
}

static int by_n(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	return COMPARE(y->n, x->n) ?: COMPARE(x->module, y->module);
}

static void cause_facts(const struct user_stacks *s, capture_id c)
{
	VEC(struct cause) causes = { 0 };

	for (size_t i = 0; i < s->causes.n; i++)
		vec_push(&causes, s->causes.at[i]);
	if (causes.n > 0)
		qsort(causes.at, causes.n, sizeof(*causes.at), by_n);
	for (size_t i = 0; i < causes.n && i < FACT_MODULES; i++) {
		const struct module *m = profile_module(s->profile,
							(module_id){ causes.at[i].module });
		char n[FMT_COUNTED_SIZE];

		build_fact(s->profile, c, "stacks", profile_string(s->profile, m->name, NULL),
			   FACT_MISSING, "the end of %s: %s",
			   fmt_counted(n, (int64_t)causes.at[i].n, "stack"),
			   causes.at[i].end == WALK_NO_CFI
				   ? "it has no unwind tables for the address"
				   : "its file is not to be had");
	}
	vec_done(&causes);
}

/* What to do about stacks that ended so. */
static const char *advice(const struct user_stacks *s, enum walk_end end)
{
	bool full = s->most_bytes >= COPY_FULL;

	/* Of what we unwound there is no copy to be continued, and the size was asked for by another name. */
	if (end == WALK_TRUNCATED && s->made)
		return full ? "; they end with the copy, and the kernel makes no larger ones"
			    : "; they end with the copy: record with a larger --call-graph unwound,SIZE";
	if (end == WALK_TRUNCATED && full)
		return "; they end with the copy, and perf makes no larger ones: see --stitch";
	return ends[end].advice;
}

void user_stacks_facts(const struct user_stacks *s, capture_id c)
{
	uint64_t n_all = s->n_32 + s->n_other + s->n_stitched;
	char n[FMT_COUNTED_SIZE], percent[FMT_SIZE];

	for (size_t i = 0; i < N_WALK_ENDS; i++)
		n_all += s->n_by_end[i];
	if (n_all == 0)
		return;
	if (n_all > s->n_other)
		build_fact(s->profile, c, "stacks", "unwound", FACT_PLAIN,
			   "%s of up to %" PRIu64 " bytes, %.1f frames each%s",
			   fmt_counted(n, (int64_t)n_all, "copied stack"), s->most_bytes,
			   (double)s->n_frames / (double)n_all,
			   s->made ? "; unwound while they were recorded" : "");
	for (size_t i = 0; i < N_WALK_ENDS; i++)
		if (s->n_by_end[i])
			build_fact(s->profile, c, "stacks", ends[i].fact,
				   i == WALK_COMPLETE ? FACT_PLAIN : FACT_MISSING,
				   "%s %% of stacks%s",
				   fmt_percent(percent, (int64_t)s->n_by_end[i], (int64_t)n_all),
				   advice(s, (enum walk_end)i));
	if (s->n_stitched)
		build_fact(
			s->profile, c, "stacks", "stitched", FACT_PLAIN,
			"%s %% of stacks; truncated, and continued as earlier ones of the thread",
			fmt_percent(percent, (int64_t)s->n_stitched, (int64_t)n_all));
	if (s->n_32)
		build_fact(s->profile, c, "stacks", "32-bit", FACT_MISSING,
			   "%s of 32-bit programs with nothing but the leaf; --call-graph fp has "
			   "callers of those that keep frame pointers",
			   fmt_counted(n, (int64_t)s->n_32, "stack"));
	if (s->n_other)
		build_fact(
			s->profile, c, "stacks", "not unwound", FACT_MISSING,
			"%s of %s%s with nothing but the leaf: copies of little-endian x86_64 and aarch64 are "
			"unwound; --call-graph fp has callers of programs that keep frame pointers",
			fmt_counted(n, (int64_t)s->n_other, "stack"), s->machine,
			s->supported ? ", big-endian," : "");
	cause_facts(s, c);
}
