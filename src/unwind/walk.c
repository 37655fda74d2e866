/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk: fast with rules while they suffice, complete with rows when not.
 *
 * Every step must move the stack pointer up (or, in the innermost frame of AArch64 and one that a signal interrupted, leave
 * it), so a walk ends even on a hostile dump.
 */
#include "config.h"

#include "unwind/walk.h"

#include "base/hash.h"
#include "base/mem.h"
#include "unwind/cfi.h"
#include "unwind/cfi_program.h"
#include "unwind/epilogue.h"

#include <stdlib.h>

#define N_SLOTS 16384 /* of the cache; direct mapped, 32 bytes each */

/* Code that a program begins with is written by hand, often without CFI, and short. */
#define START_BYTES 128

/* What is known of a pc. */
enum known {
	KNOWN_RULE,
	KNOWN_NO_CFI,
	KNOWN_NO_FILE,
	KNOWN_UNMAPPED,
	KNOWN_START, /* nobody called what is there */
	KNOWN_GIVEN, /* nor that, where it is a return address */
	KNOWN_FP     /* no CFI, but frame pointers that can be believed */
};

struct slot {
	uint64_t pc;
	struct cfi_rule rule;
	uint32_t epoch; /* of the cache when this was found; others are stale */
	uint8_t known;  /* enum known */
	bool keeps_fp;  /* of its module */
};

struct walker {
	struct slot slot[N_SLOTS];
	uint32_t epoch; /* never 0 */
	enum unwind_arch arch;
};

/* A walk under way. */
struct walk {
	struct walker *w;
	const struct unwind_memory *memory;
	walk_find_fn *find;
	void *find_arg;
	struct walk_frame *out;
	size_t n, max;
	enum walk_end end;
	uint64_t missing;
	bool keeps_fp; /* of the module of the last frame that CFI covered */
};

struct walker *walker_new(enum unwind_arch arch)
{
	struct walker *w = xcalloc(1, sizeof(*w));

	w->epoch = 1;
	w->arch = arch;
	return w;
}

void walker_free(struct walker *w)
{
	free(w);
}

void walker_flush(struct walker *w)
{
	if (++w->epoch == 0) {
		for (size_t i = 0; i < N_SLOTS; i++)
			w->slot[i].epoch = 0;
		w->epoch = 1;
	}
}

/* Where a frame's rule is looked up: a return address may be past its function's end. */
static uint64_t lookup_pc(const struct walk_frame *f)
{
	return f->exact ? f->pc : f->pc - 1;
}

/*
 * The rule at an address of the module. sigreturn is the last instruction of the function that signal
 * handlers return to: a thread that is in that system call is behind it, where *address is moved back.
 */
static bool find_rule(struct cfi *c, uint64_t *address, struct cfi_rule *out)
{
	if (cfi_find(c, *address, out))
		return true;
	if (*address == 0 || !cfi_find(c, *address - 1, out) || !out->signal)
		return false;
	--*address;
	return true;
}

/* Is it in the code that the program begins with, which nobody called, and which has no CFI? */
static bool is_start(const struct walk_module *m, uint64_t address)
{
	struct cfi_rule r;

	if (m->entry == 0 || address < m->entry || address - m->entry >= START_BYTES)
		return false;
	for (uint64_t at = m->entry; at < address; at++)
		if (cfi_find(m->cfi, at, &r))
			return false;
	return true;
}

enum walk_start_kind walk_start_kind(const struct walk_module *m, uint64_t address)
{
	struct cfi_rule r;

	if (is_start(m, address))
		return WALK_START;
	return cfi_find(m->cfi, address + 1, &r) && !r.signal ? WALK_START_GIVEN : WALK_START_NONE;
}

/* Moves *address to where the rule is. */
static enum known find_known(const struct walk_module *m, uint64_t *address, struct cfi_rule *r)
{
	if (!m->mapped)
		return KNOWN_UNMAPPED;
	if (m->cfi && find_rule(m->cfi, address, r))
		return KNOWN_RULE;
	if (m->alone) {
		*r = *m->alone;
		return KNOWN_RULE;
	}
	if (!m->cfi)
		return KNOWN_NO_FILE;
	switch (walk_start_kind(m, *address)) {
	case WALK_START:
		return KNOWN_START;
	case WALK_START_GIVEN:
		return KNOWN_GIVEN;
	case WALK_START_NONE:
		break;
	}
	return m->keeps_fp ? KNOWN_FP : KNOWN_NO_CFI;
}

static void fill(struct walk *k, struct slot *s, uint64_t pc)
{
	struct walk_module m = k->find(k->find_arg, pc);

	uint64_t address = pc - m.bias;

	*s = (struct slot){ .pc = pc, .epoch = k->w->epoch, .keeps_fp = m.keeps_fp };
	s->known = (uint8_t)find_known(&m, &address, &s->rule);
}

static const struct slot *look_up(struct walk *k, uint64_t pc)
{
	struct slot *s = &k->w->slot[hash_u64(pc) % N_SLOTS];

	if (s->pc != pc || s->epoch != k->w->epoch)
		fill(k, s, pc);
	return s;
}

static bool stop(struct walk *k, enum walk_end why)
{
	k->end = why;
	return false;
}

/*
 * The word at address; when it is not there, says whether that is the dump's end. What a signal interrupted
 * may lie below it, if the handler has a stack of its own.
 */
static bool load(struct walk *k, uint64_t address, uint64_t *out)
{
	uint64_t begin = k->memory->address, sp = k->out[k->n - 1].sp;
	bool left, far = address - begin >= WALK_DUMP_MAX || sp - begin >= WALK_DUMP_MAX;

	if (unwind_load(k->memory, address, out))
		return true;
	if (k->memory->n + k->memory->n_missing == 0 && !k->memory->also)
		return stop(k, WALK_NO_DUMP);
	left = address >= begin || sp < begin;
	return stop(k, !left ? WALK_UNREADABLE : far ? WALK_OTHER_STACK : WALK_TRUNCATED);
}

/* Adds the caller with return address pc, where the stack pointer is sp; false when there is none. */
static bool add_frame(struct walk *k, uint64_t pc, uint64_t sp, bool exact)
{
	if (pc == 0)
		return stop(k, WALK_COMPLETE);
	if (k->n == k->max)
		return stop(k, WALK_TOO_DEEP);
	k->out[k->n++] = (struct walk_frame){ .pc = pc, .sp = sp, .exact = exact };
	return true;
}

struct fast {
	uint64_t sp, fp;
	bool least; /* AArch64, where frame pointers led here: sp is this or more */
};

/* CFA by rule; false when it takes more than sp and fp, or memory that is not there. */
static bool find_cfa(struct walk *k, const struct cfi_rule *r, const struct fast *f,
		     const struct unwind_regs *inner, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)(int64_t)r->cfa;

	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_SP:
		*cfa = f->sp + offset;
		return true;
	case CFA_FP:
		*cfa = f->fp + offset;
		return true;
	case CFA_REGISTER:
		*cfa = inner->at[r->reg] + offset;
		return true;
	case CFA_AT_SP:
		return load(k, f->sp + offset, cfa);
	case CFA_AT_FP:
		return load(k, f->fp + offset, cfa);
	case CFA_PLT:
		*cfa = f->sp + 8 +
		       ((k->out[k->n - 1].pc & 15) >= offset ? UINT64_C(8) : UINT64_C(0));
		return true;
	case CFA_GENERAL:
		break;
	}
	return stop(k, WALK_UNREADABLE);
}

static uint64_t slot_address(uint8_t kind, int16_t offset, uint64_t cfa, const struct fast *f)
{
	uint64_t base = kind == SLOT_CFA ? cfa : kind == SLOT_SP ? f->sp : f->fp;

	return base + (uint64_t)(int64_t)offset;
}

/*
 * Frame pointers where nothing else is known: [fp] is the caller's fp, [fp + 8] its pc. They end the frame on x86_64; on AArch64
 * they are anywhere in it.
 */
static bool step_fp(struct walk *k, struct fast *f, enum walk_end otherwise, uint64_t pc)
{
	uint64_t fp, ra;

	k->missing = pc;
	if (f->fp < f->sp || (f->fp & 7) || !unwind_has(k->memory, f->fp))
		return stop(k, otherwise);
	if (!load(k, f->fp, &fp) || !load(k, f->fp + 8, &ra))
		return false;
	f->sp = f->fp + 16;
	f->fp = fp;
	f->least = k->w->arch == UNWIND_AARCH64;
	return add_frame(k, unwind_strip(k->w->arch, ra), f->sp, false);
}

/* What the rule says of sp where only fp is known. False: nothing, though it makes use of sp. */
static bool find_sp(struct walk *k, const struct cfi_rule *r, struct fast *f)
{
	uint64_t sp;

	if (!f->least)
		return true;
	if (cfi_rule_sp(r, f->fp, &sp) && sp >= f->sp && sp <= f->fp &&
	    unwind_has(k->memory, f->fp)) {
		f->sp = k->out[k->n - 1].sp = sp;
		f->least = false;
		return true;
	}
	return !cfi_rule_needs_sp(r);
}

/* Goes on to the stack that a frame pointer leads to, if that is another one that is known. */
static void change_stack(struct walk *k, struct fast *f)
{
	const struct unwind_memory *next;

	if (!k->memory->next || (f->fp & 7) || (f->fp >= f->sp && unwind_has(k->memory, f->fp)))
		return;
	next = k->memory->next(k->memory, f->sp, f->fp);
	if (!next)
		return;
	k->memory = next;
	f->sp = f->fp;
}

/*
 * Is the caller's stack above the callee's? The one that a signal interrupted may lie anywhere, but not where
 * a copy that is of one stack has been walked already.
 */
static bool moves_on(const struct walk *k, uint64_t sp, uint64_t caller_sp, bool signal)
{
	bool interrupted = k->n == 1 || (k->out[k->n - 1].exact && k->w->arch == UNWIND_AARCH64);

	if (caller_sp > sp || (caller_sp == sp && interrupted && !(signal && k->n > 1)))
		return true;
	return signal && (k->memory->also || !unwind_has(k->memory, caller_sp));
}

/* The outermost frame so far is what handlers of signals return to. */
static void note_signal(struct walk *k)
{
	k->out[k->n - 1].exact = k->out[k->n - 1].signal = true;
}

/* One step by a compact rule. */
static bool step_rule(struct walk *k, const struct cfi_rule *r, struct fast *f,
		      const struct unwind_regs *inner)
{
	bool innermost = k->n == 1;
	uint64_t cfa, ra, fp = f->fp;

	if (r->signal)
		note_signal(k);
	if (r->ra_kind == SLOT_UNDEFINED)
		return stop(k, WALK_COMPLETE);
	if (!find_cfa(k, r, f, inner, &cfa))
		return false;
	if (r->ra_kind == SLOT_SAME) {
		if (!innermost || !unwind_reg_known(inner, unwind_ra(k->w->arch)))
			return stop(k, WALK_UNREADABLE);
		ra = inner->at[unwind_ra(k->w->arch)];
	} else if (!load(k, slot_address(r->ra_kind, r->ra, cfa, f), &ra)) {
		return false;
	}
	/* A slot below sp: fp has been popped already, though the rule still says where it was. */
	if (r->fp_kind != SLOT_SAME && r->fp_kind != SLOT_UNDEFINED &&
	    !unwind_load(k->memory, slot_address(r->fp_kind, r->fp, cfa, f), &fp))
		fp = slot_address(r->fp_kind, r->fp, cfa, f) < f->sp ? f->fp : 0;
	if (!moves_on(k, f->sp, cfa, r->signal))
		return stop(k, WALK_UNREADABLE);
	f->sp = cfa;
	f->fp = fp;
	f->least = false;
	return add_frame(k, unwind_strip(k->w->arch, ra), f->sp, r->signal);
}

static bool needs_all_registers(const struct walk *k, const struct cfi_rule *r,
				const struct unwind_regs *inner)
{
	/* A signal interrupted it before it saved its return address, which the signal's frame has. */
	if (r->ra_kind == SLOT_SAME && k->n > 1 && k->w->arch == UNWIND_AARCH64)
		return true;
	if (r->cfa_kind == CFA_GENERAL)
		return r->ra_kind != SLOT_UNDEFINED;
	return r->cfa_kind == CFA_REGISTER && (k->n > 1 || !unwind_reg_known(inner, r->reg));
}

/*
 * Where all code keeps frame pointers, but CFI does not say which frame is the outermost, as Go has it: do they end
 * in the copy with 0?
 */
static bool pointers_end(const struct walk *k, uint64_t fp)
{
	uint64_t next;

	for (; fp != 0; fp = next)
		if (!unwind_load(k->memory, fp, &next) || (next != 0 && next <= fp))
			return false;
	return true;
}

static bool stop_at(struct walk *k, enum known known, uint64_t pc, struct fast *f)
{
	switch (known) {
	case KNOWN_UNMAPPED:
		if (k->keeps_fp && pointers_end(k, f->fp)) {
			k->n--;
			return stop(k, WALK_COMPLETE);
		}
		k->missing = pc;
		return stop(k, WALK_NO_MODULE);
	case KNOWN_NO_FILE:
		return step_fp(k, f, WALK_NO_MODULE, pc);
	case KNOWN_START:
		return stop(k, WALK_COMPLETE);
	case KNOWN_GIVEN:
		if (!k->out[k->n - 1].exact)
			return stop(k, WALK_COMPLETE);
		return step_fp(k, f, WALK_NO_CFI, pc);
	case KNOWN_FP:
		if (f->fp == 0)
			return stop(k, WALK_COMPLETE);
		change_stack(k, f);
		return step_fp(k, f, WALK_NO_CFI, pc);
	case KNOWN_NO_CFI:
	case KNOWN_RULE:
		return step_fp(k, f, WALK_NO_CFI, pc);
	}
	return false;
}

/* True when done, false when the stack must be walked with all registers. */
static bool walk_fast(struct walk *k, const struct unwind_regs *regs)
{
	enum unwind_arch arch = k->w->arch;
	struct fast f = { .sp = regs->at[unwind_sp(arch)], .fp = regs->at[unwind_fp(arch)] };

	for (;;) {
		uint64_t pc = lookup_pc(&k->out[k->n - 1]);
		const struct slot *s = look_up(k, pc);

		if (s->known != KNOWN_RULE) {
			if (!stop_at(k, s->known, pc, &f))
				return true;
			continue;
		}
		k->keeps_fp = s->keeps_fp;
		if (!find_sp(k, &s->rule, &f)) {
			if (!step_fp(k, &f, WALK_NO_CFI, pc))
				return true;
			continue;
		}
		if (needs_all_registers(k, &s->rule, regs))
			return false;
		if (!step_rule(k, &s->rule, &f, regs))
			return true;
	}
}

static bool step_row(struct walk *k, const struct cfi_row *row, struct unwind_regs *regs)
{
	enum unwind_arch arch = k->w->arch;
	uint64_t sp = regs->at[unwind_sp(arch)];

	if (row->signal)
		note_signal(k);
	switch (cfi_apply(row, arch, k->memory, regs)) {
	case CFI_OUTERMOST:
		return stop(k, WALK_COMPLETE);
	case CFI_UNREADABLE:
		return stop(k, k->memory->n ? WALK_TRUNCATED : WALK_NO_DUMP);
	case CFI_UNKNOWN:
		return stop(k, WALK_UNREADABLE);
	case CFI_STEPPED:
		break;
	}
	if (!moves_on(k, sp, regs->at[unwind_sp(arch)], row->signal))
		return stop(k, WALK_UNREADABLE);
	return add_frame(k, regs->at[unwind_pc(arch)], regs->at[unwind_sp(arch)], row->signal);
}

/* The registers of what a signal interrupted, which the kernel of AArch64 keeps in the frame that begins at sp. */
static void take_interrupted(const struct walk *k, uint64_t sp, struct unwind_regs *regs)
{
	uint64_t value;

	regs->known = 0;
	for (unsigned i = ARM_X19; i <= ARM_LR; i++)
		if (unwind_load(k->memory, sp + EPILOGUE_ARM_SIGNAL_X0 + 8 * i, &value))
			unwind_reg_set(regs, i, value);
}

static void walk_full(struct walk *k, struct unwind_regs regs)
{
	enum unwind_arch arch = k->w->arch;
	bool more = true, least = false;
	struct cfi_row row;

	while (more) {
		uint64_t pc = lookup_pc(&k->out[k->n - 1]);
		struct walk_module m = k->find(k->find_arg, pc);
		uint64_t address = pc - m.bias;
		struct cfi_rule rule;
		enum known known = find_known(&m, &address, &rule);
		struct fast f = { regs.at[unwind_sp(arch)], regs.at[unwind_fp(arch)], least };

		if (known == KNOWN_RULE && !find_sp(k, &rule, &f)) {
			known = KNOWN_NO_CFI;
		} else if (known == KNOWN_RULE) {
			unwind_reg_set(&regs, unwind_sp(arch), f.sp);
			least = false;
		}
		if (known == KNOWN_RULE && m.cfi && cfi_row_at(m.cfi, address, &row)) {
			k->keeps_fp = m.keeps_fp;
			more = step_row(k, &row, &regs);
			continue;
		}
		if (known == KNOWN_RULE && m.alone) {
			uint64_t sp = f.sp;

			more = step_rule(k, &rule, &f, &regs);
			if (rule.signal && arch == UNWIND_AARCH64)
				take_interrupted(k, sp, &regs);
		} else {
			more = stop_at(k, known, pc, &f);
			/* Frame pointers restore nothing else. */
			regs.known = 0;
		}
		least = f.least;
		unwind_reg_set(&regs, unwind_sp(arch), f.sp);
		unwind_reg_set(&regs, unwind_fp(arch), f.fp);
	}
}

size_t walk_stack(struct walker *w, const struct unwind_regs *regs, const struct unwind_memory *m,
		  walk_find_fn *find, void *arg, struct walk_frame *out, size_t max,
		  enum walk_end *end, uint64_t *missing)
{
	struct walk k = {
		.w = w, .memory = m, .find = find, .find_arg = arg, .out = out, .max = max
	};

	*missing = 0;
	if (max == 0)
		return 0;
	out[k.n++] = (struct walk_frame){ .pc = regs->at[unwind_pc(w->arch)],
					  .sp = regs->at[unwind_sp(w->arch)],
					  .exact = true };
	if (!walk_fast(&k, regs)) {
		k.n = 1;
		k.keeps_fp = false;
		walk_full(&k, *regs);
	}
	*end = k.end;
	*missing = k.missing;
	return k.n;
}

bool walk_rule(struct walker *w, uint64_t pc, walk_find_fn *find, void *arg, struct cfi_rule *out)
{
	struct walk k = { .w = w, .find = find, .find_arg = arg };
	const struct slot *s = look_up(&k, pc);

	if (s->known != KNOWN_RULE)
		return false;
	*out = s->rule;
	return true;
}
