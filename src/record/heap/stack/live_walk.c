/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk, what it remembers, and when it may believe it.
 *
 * This is the hot path of every event: most steps are of the kind LIVE_SP and stay in registers.
 */
#include "config.h"

#include "record/heap/stack/live_walk.h"

#include "record/heap/stack/live_go.h"

#include <stddef.h>
#include <string.h>

/* How often a walk tries to resume what is remembered, as each look takes time. */
#define MAX_TRIES 4u

/* How sp of a frame is known. */
enum sp_known {
	SP_KNOWN,
	SP_BY_FP, /* it follows from fp and the rule */
	SP_LEAST  /* AArch64, where frame pointers led here: it is this or more */
};

/* A walk under way: the frame that it is at. */
struct step {
	uint64_t pc, sp, fp; /* pc as it stands on the stack */
	const uint64_t *at;  /* where pc was found */
	bool exact;
	enum sp_known sp_known;
	/* On a goroutine's stack: where that ends, and where the thread's own stack was left; else 0. */
	uint64_t high, own_sp;
};

enum stepped { STEP_ON, STEP_END, STEP_LOST, STEP_COMPLEX };

/* pc as it stands on the stack. */
static inline uint64_t mix(uint64_t hash, uint64_t pc, bool exact)
{
	return (hash + (unwind_strip(UNWIND_HERE, pc) << 1 | exact)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The rule at pc, as it stands on the stack; exact: at pc itself, not at the call before. */
static inline const struct live_rule *rule_at(struct live_walk *w, uint64_t pc, bool exact)
{
	return live_rules_at(&w->rules, unwind_strip(UNWIND_HERE, pc) - !exact);
}

/* The word at address, if it lies on the stack, at or above the frame's sp. */
static bool load(const struct live_walk *w, const struct step *s, uint64_t address,
		 struct walk_word *out)
{
	const uint64_t *at = (const uint64_t *)address;

	if (address < s->sp || address > w->stack_high - sizeof(*at) || (address & 7))
		return false;
	*out = (struct walk_word){ at, *at };
	return true;
}

static enum stepped step_by_fp(const struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	struct walk_word pc;

	f->uses_fp = true;
	if (!load(w, s, s->fp, &f->fp_word) || !load(w, s, s->fp + 8, &pc))
		return STEP_LOST;
	s->sp = s->fp + 16;
	s->fp = f->fp_word.value;
	s->pc = pc.value;
	s->at = pc.at;
	s->exact = false;
	s->sp_known = UNWIND_HERE == UNWIND_X86_64 ? SP_KNOWN : SP_LEAST;
	return STEP_ON;
}

/* Where frame pointers lead from the thread's own stack, or from the goroutine's that they led to. */
static bool find_link(const struct live_walk *w, struct step *s)
{
	bool is_own = s->fp >= s->own_sp && s->fp <= w->stack_high - 16;
	struct live_go_stack go;
	uint64_t word[2] = { 0 };

	if (s->own_sp == 0) {
		if (s->fp >= s->sp && is_own)
			return true;
		if (s->sp > w->stack_high - 16)
			return false;
		memcpy(word, (const void *)s->sp, sizeof(word));
		s->own_sp = s->sp;
	} else if (s->fp >= s->sp && s->fp <= s->high - 16) {
		return true;
	} else if (is_own) {
		s->own_sp = 0;
		return true;
	} else if (s->fp < s->sp) {
		return false;
	}
	if (!live_go_stack_at(word, s->fp, &go))
		return false;
	s->high = go.high;
	return true;
}

/*
 * In Go's code. A goroutine's stack has frames of such code only: what a frame pointer led to is believed when there is a
 * return address into it.
 */
static enum stepped step_by_go(struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	f->uses_fp = true;
	if (s->fp == 0)
		return STEP_END;
	if ((s->fp & 7) || !find_link(w, s))
		return STEP_LOST;
	f->fp_word = (struct walk_word){ (const uint64_t *)s->fp, *(const uint64_t *)s->fp };
	s->at = (const uint64_t *)(s->fp + 8);
	s->sp = s->fp + 16;
	s->fp = f->fp_word.value;
	s->pc = *s->at;
	s->exact = false;
	s->sp_known = UNWIND_HERE == UNWIND_X86_64 ? SP_KNOWN : SP_LEAST;
	return s->own_sp == 0 || rule_at(w, s->pc, false)->kind == LIVE_GO ? STEP_ON : STEP_LOST;
}

static bool find_cfa(const struct live_walk *w, const struct step *s, struct walk_fresh *f,
		     const struct cfi_rule *r, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)(int64_t)r->cfa;

	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_SP:
		*cfa = s->sp + offset;
		return true;
	case CFA_FP:
		f->uses_fp = true;
		*cfa = s->fp + offset;
		return true;
	case CFA_AT_SP:
	case CFA_AT_FP:
		f->uses_fp = r->cfa_kind == CFA_AT_FP;
		if (!load(w, s, (f->uses_fp ? s->fp : s->sp) + offset, &f->cfa_word))
			return false;
		*cfa = f->cfa_word.value;
		return true;
	case CFA_PLT:
		*cfa = s->sp + (((s->pc - !s->exact) & 15) >= offset ? 16u : 8u);
		return true;
	case CFA_REGISTER:
	case CFA_GENERAL:
		break;
	}
	return false;
}

static uint64_t slot_address(uint8_t kind, int16_t offset, uint64_t cfa, const struct step *s,
			     struct walk_fresh *f)
{
	uint64_t base = kind == SLOT_CFA ? cfa : kind == SLOT_SP ? s->sp : s->fp;

	f->uses_fp |= kind == SLOT_FP;
	return base + (uint64_t)(int64_t)offset;
}

/* The caller's fp; false when it should be where it cannot be. */
static bool find_fp(const struct live_walk *w, const struct step *s, struct walk_fresh *f,
		    const struct cfi_rule *r, uint64_t cfa, uint64_t *fp)
{
	uint64_t at;

	*fp = s->fp;
	if (r->fp_kind == SLOT_SAME)
		return true;
	if (r->fp_kind == SLOT_UNDEFINED) {
		*fp = 0;
		return true;
	}
	at = slot_address(r->fp_kind, r->fp, cfa, s, f);
	/* Below sp: has been popped already, though the rule still says where it was. */
	if (at < s->sp)
		return true;
	if (!load(w, s, at, &f->fp_word))
		return false;
	*fp = f->fp_word.value;
	return true;
}

static enum stepped step_by_rule(const struct live_walk *w, struct step *s, struct walk_fresh *f,
				 const struct cfi_rule *r)
{
	struct walk_word pc;
	uint64_t cfa, fp;

	/* In a register: that of what a signal interrupted, which is among all those that the signal's frame keeps. */
	if (r->ra_kind == SLOT_SAME)
		return UNWIND_HERE == UNWIND_X86_64 ? STEP_LOST : STEP_COMPLEX;
	if (!find_cfa(w, s, f, r, &cfa))
		return STEP_LOST;
	if (!load(w, s, slot_address(r->ra_kind, r->ra, cfa, s, f), &pc) ||
	    !find_fp(w, s, f, r, cfa, &fp))
		return STEP_LOST;
	/* A signal's frame may lead to another stack. */
	if (cfa <= s->sp || cfa > w->stack_high)
		return r->signal ? STEP_COMPLEX : STEP_LOST;
	*s = (struct step){ .pc = pc.value, .sp = cfa, .fp = fp, .at = pc.at, .exact = r->signal };
	return STEP_ON;
}

/*
 * Where frame pointers led on AArch64: they point to where the caller's fp and return address are saved, and by that to its sp,
 * when the rule says where it saves them.
 */
static __attribute__((noinline)) void find_sp(struct live_walk *w, struct step *s)
{
	const struct live_rule *quick = rule_at(w, s->pc, s->exact);
	const struct cfi_rule *r = &w->rules.full[quick - w->rules.quick];
	uint64_t sp;

	if ((quick->kind != LIVE_SP && quick->kind != LIVE_RULE) || !cfi_rule_sp(r, s->fp, &sp) ||
	    sp < s->sp || s->fp < sp || s->fp > w->stack_high - 16)
		return;
	s->sp = sp;
	s->sp_known = SP_BY_FP;
}

/* A step of any kind but LIVE_SP where sp is known. */
static __attribute__((noinline)) enum stepped other_step(struct live_walk *w, struct step *s,
							 struct walk_fresh *f,
							 const struct live_rule *r)
{
	switch ((enum live_kind)r->kind) {
	case LIVE_SP:
		return step_by_fp(w, s, f);
	case LIVE_RULE:
		if (s->sp_known == SP_LEAST &&
		    cfi_rule_needs_sp(&w->rules.full[r - w->rules.quick]))
			return step_by_fp(w, s, f);
		/* Handlers of signals return to it: nobody called what stands before. */
		f->exact |= w->rules.full[r - w->rules.quick].signal;
		return step_by_rule(w, s, f, &w->rules.full[r - w->rules.quick]);
	case LIVE_FP:
		return step_by_fp(w, s, f);
	case LIVE_GO:
		return step_by_go(w, s, f);
	case LIVE_END:
		return STEP_END;
	case LIVE_GIVEN:
		return s->exact ? step_by_fp(w, s, f) : STEP_END;
	case LIVE_COMPLEX:
		return STEP_COMPLEX;
	}
	return STEP_LOST;
}

/* 0 when the word is what it was. */
static inline uint64_t change(const struct walk_word *w)
{
	return *w->at ^ w->value;
}

/*
 * How many of the n outermost frames have return addresses that are what they were, and all the other
 * words on which their steps depended as well.
 */
static inline uint32_t unchanged(const struct live_walk *w, uint32_t n)
{
	const struct walk_word *a = w->return_address, *end = a + n, *word = w->word;
	uint32_t k = 0, n_words;

	/* Four at a time, and no jump that depends on which of them it is. */
	for (; end - a >= 4; a += 4) {
		uint64_t first = change(a), second = first | change(a + 1);
		uint64_t third = second | change(a + 2);

		if ((third | change(a + 3)) != 0) {
			k = (uint32_t)(first == 0) + (second == 0) + (third == 0);
			end = a;
			break;
		}
	}
	while (a < end && change(a) == 0)
		a++;
	k += (uint32_t)(a - w->return_address);
	n_words = k ? w->frame[k - 1].about.n_words : 0;
	while (n_words && change(word) == 0)
		word++, n_words--;
	if (__builtin_expect(n_words != 0, 0))
		for (k = 0; w->frame[k].about.n_words <= word - w->word;)
			k++;
	return k;
}

/*
 * Puts the return addresses that are on the stack now into the remembered frames i … n - 1, as long as the
 * step from there is of the common kind and leads to the next frame outward as it is remembered, where no
 * fp is needed. Returns the first frame into which none was put.
 */
static inline uint32_t put_in(struct live_walk *w, uint32_t i, uint32_t n)
{
	struct walk_word *a = &w->return_address[i], *end = &w->return_address[n];
	struct walk_frame_memo *m = &w->frame[i];
	struct walk_about about = { 0 };
	uint64_t hash, sp;

	if (i == 0 || m[-1].about.needs_fp)
		return i;
	about.n_words = m[-1].about.n_words;
	hash = m[-1].hash;
	sp = m[-1].sp;
	for (; a < end; a++, m++) {
		uint64_t pc = *a->at;
		const struct live_rule *r = rule_at(w, pc, false);

		if ((((m->sp + (uint64_t)(int64_t)r->cfa) ^ sp) | r->kind) != 0)
			break;
		/* Of x86_64 it always is just below. */
		if (UNWIND_HERE != UNWIND_X86_64 &&
		    (uint64_t)a[-1].at != sp - live_rule_ra_bytes(r))
			break;
		a->value = pc;
		m->hash = hash = mix(hash, pc, false);
		memcpy(&m->about, &about, sizeof(about)); /* in one go */
		sp = m->sp;
	}
	return (uint32_t)(a - w->return_address);
}

/*
 * The walk has come to the sp of remembered frame n - 1. Makes the n outermost frames what is outward of
 * here: what changed of their return addresses is put in. That is sound whatever the order, as each step
 * is checked to lead from one frame to the next: the same sp, and the return address that is there now.
 * False: it does not fit; fewer frames are remembered then.
 */
static inline __attribute__((always_inline)) bool resume(struct live_walk *w, const struct step *s,
							 uint32_t n)
{
	uint32_t top = n - 1, i = unchanged(w, top);
	const struct walk_frame_memo *m = &w->frame[top];

	w->return_address[top].at = s->at;
	if (i == top && w->return_address[top].value == s->pc && m->about.exact == s->exact &&
	    (!m->about.needs_fp || m->fp == s->fp))
		return true;
	/*
	 * Where frames are plain, begins at a multiple of 4: then most walks of a program that goes many
	 * ways from one place put in as many, and the processor foresees how many.
	 */
	if (i < top && i - i % 4 >= w->n_firm)
		i -= i % 4;
	i = put_in(w, i, s->exact ? top : n);
	if (i == n)
		return true;
	w->n = i;
	return false;
}

/*
 * Adds f as the innermost of the remembered frames. It is plain when its step depends on nothing but sp
 * and pc, and so do those of all frames outward of it.
 */
static inline void remember(struct live_walk *w, const struct walk_fresh *f)
{
	uint32_t i = w->n++;
	struct walk_frame_memo *m = &w->frame[i];
	bool outer_needs_fp = i && m[-1].about.needs_fp, needs_fp;
	uint32_t n_words = i ? m[-1].about.n_words : 0;

	w->return_address[i] = (struct walk_word){ f->at, f->pc };
	if (__builtin_expect(f->cfa_word.at != NULL, 0))
		w->word[n_words++] = f->cfa_word;
	if (__builtin_expect(outer_needs_fp && f->fp_word.at, 0))
		w->word[n_words++] = f->fp_word;
	needs_fp = f->uses_fp || (!f->fp_word.at && outer_needs_fp);
	m->sp = f->sp;
	m->fp = f->fp;
	m->hash = mix(i ? m[-1].hash : 0, f->pc, f->exact);
	m->about = (struct walk_about){ .n_words = (uint16_t)n_words,
					.exact = f->exact,
					.needs_fp = needs_fp };
	if (needs_fp || outer_needs_fp || f->exact || f->cfa_word.at || i == 0)
		w->n_firm = i + 1;
	else if (i < w->n_firm)
		w->n_firm = i;
}

static void remember_lost(struct live_walk *w)
{
	static const uint64_t nothing = 0;

	/* No walk comes here again: no frame has this sp. */
	remember(w, &(struct walk_fresh){ .sp = UINT64_MAX, .at = &nothing });
}

/* Begins a fresh frame at s. */
static inline void begin_fresh(struct walk_fresh *f, const struct step *s)
{
	f->pc = s->pc;
	f->sp = s->sp;
	f->fp = s->fp;
	f->at = s->at;
	f->fp_word.at = NULL;
	f->cfa_word.at = NULL;
	f->uses_fp = s->sp_known != SP_KNOWN;
	f->exact = s->exact;
}

/* The step of most frames; false when it would leave the stack. */
static inline bool step_by_sp(const struct live_walk *w, struct step *s, struct walk_fresh *f,
			      const struct live_rule *r)
{
	uint64_t cfa = s->sp + (uint64_t)(int64_t)r->cfa;

	if (__builtin_expect(cfa > w->stack_high, 0))
		return false;
	if (r->fp) {
		f->fp_word.at = (const uint64_t *)(cfa + (uint64_t)(int64_t)r->fp);
		f->fp_word.value = s->fp = *f->fp_word.at;
	}
	s->at = (const uint64_t *)(cfa - live_rule_ra_bytes(r));
	s->pc = *s->at;
	s->sp = cfa;
	s->exact = false;
	s->sp_known = SP_KNOWN;
	return true;
}

/* Adds the frame at s to the fresh ones and steps to its caller. */
static inline enum stepped step_fresh(struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	const struct live_rule *r = rule_at(w, s->pc, s->exact);
	struct step copy;
	enum stepped how;

	begin_fresh(f, s);
	if (__builtin_expect(r->kind == LIVE_SP && s->sp_known != SP_LEAST, 1))
		return step_by_sp(w, s, f, r) ? STEP_ON : STEP_LOST;
	copy = *s; /* so that s stays in registers */
	how = other_step(w, &copy, f, r);
	*s = copy;
	return how;
}

/*
 * Walks until it meets remembered frames that can be resumed, which are those that w->n says then; else
 * that is 0. *n_fresh frames were walked.
 */
static enum stepped walk_fresh(struct live_walk *w, struct step s, uint32_t *n_fresh)
{
	enum stepped how = STEP_ON;
	uint32_t place = w->n, n = 0;
	unsigned tries = MAX_TRIES;

	while (how == STEP_ON && unwind_strip(UNWIND_HERE, s.pc) != 0) {
		if (__builtin_expect(s.sp_known == SP_LEAST, 0))
			find_sp(w, &s);
		while (place && w->frame[place - 1].sp < s.sp)
			place--;
		if (place && tries && w->frame[place - 1].sp == s.sp && s.sp_known != SP_LEAST) {
			if (resume(w, &s, place)) {
				w->n = place;
				*n_fresh = n;
				return STEP_ON;
			}
			place = w->n;
			tries--;
		}
		if (n == WALK_MAX_FRAMES)
			return STEP_COMPLEX;
		how = step_fresh(w, &s, &w->fresh[n++]);
	}
	w->n = 0;
	*n_fresh = n;
	return how;
}

/* A walk that does not begin at a frame that is remembered and can be resumed. */
static __attribute__((noinline)) enum walk_result walk_on(struct live_walk *w,
							  const struct step *start)
{
	enum stepped how;
	uint32_t n = 0;

	how = walk_fresh(w, *start, &n);
	if (how == STEP_COMPLEX || w->n + n > WALK_MAX_FRAMES)
		return WALK_COMPLEX;
	if (how == STEP_LOST)
		remember_lost(w);
	while (n)
		remember(w, &w->fresh[--n]);
	return WALK_DONE;
}

enum walk_result live_walk(struct live_walk *w, const struct walk_start *start)
{
	struct step s = { .pc = *start->at, .sp = start->sp, .fp = start->fp, .at = start->at };
	uint32_t place = w->n;

	if (s.sp < w->stack_low || s.sp >= w->stack_high)
		return WALK_COMPLEX;
	while (place && w->frame[place - 1].sp < s.sp)
		place--;
	if (place && w->frame[place - 1].sp == s.sp && resume(w, &s, place)) {
		w->n = place;
		return WALK_DONE;
	}
	return walk_on(w, &s);
}

void live_walk_replace(struct live_walk *w, const uint64_t *pc, const bool *exact, uint32_t n,
		       bool complete)
{
	static const uint64_t nothing = 0;

	w->n = 0;
	if (!complete)
		remember_lost(w);
	for (uint32_t i = n; i-- > 0;)
		remember(w, &(struct walk_fresh){ .pc = pc[i],
						  .sp = UINT64_MAX,
						  .at = &nothing,
						  .exact = exact[i] });
}

void live_walk_flush(struct live_walk *w)
{
	w->n = 0;
	memset(w->rules.quick, 0, sizeof(w->rules.quick));
}
