/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk, what it remembers, and when it may believe it.
 *
 * This is the hot path of every event: most steps are of the kind LIVE_SP and stay in registers.
 */
#include "config.h"

#include "live_walk.h"

#include <stddef.h>
#include <string.h>

/* How often a walk tries to resume what is remembered, as each look takes time. */
#define MAX_TRIES 4u

/* A walk under way: the frame that it is at. */
struct step {
	uint64_t pc, sp, fp;
	const uint64_t *at; /* where pc was found */
	bool exact;
};

enum stepped { STEP_ON, STEP_END, STEP_LOST, STEP_COMPLEX };

static inline uint64_t mix(uint64_t hash, uint64_t pc)
{
	return (hash + pc) * UINT64_C(0x9e3779b97f4a7c15);
}

void live_rules_fill(struct live_rules *r, uint64_t pc)
{
	struct live_found f = r->find(pc);
	uint32_t slot = live_rules_slot(pc);

	r->quick[slot] = f.quick;
	r->full[slot] = f.full;
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
	return STEP_ON;
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

	if (!find_cfa(w, s, f, r, &cfa) || r->ra_kind == SLOT_SAME)
		return STEP_LOST;
	if (!load(w, s, slot_address(r->ra_kind, r->ra, cfa, s, f), &pc) ||
	    !find_fp(w, s, f, r, cfa, &fp))
		return STEP_LOST;
	/* A signal's frame may lead to another stack. */
	if (cfa <= s->sp || cfa > w->stack_high)
		return r->signal ? STEP_COMPLEX : STEP_LOST;
	*s = (struct step){ pc.value, cfa, fp, pc.at, r->signal };
	return STEP_ON;
}

/* A step of any kind but LIVE_SP. */
static __attribute__((noinline)) enum stepped other_step(const struct live_walk *w, struct step *s,
							 struct walk_fresh *f,
							 const struct live_rule *r)
{
	switch ((enum live_kind)r->kind) {
	case LIVE_SP:
		break;
	case LIVE_RULE:
		return step_by_rule(w, s, f, &w->rules.full[r - w->rules.quick]);
	case LIVE_FP:
		return step_by_fp(w, s, f);
	case LIVE_END:
		return STEP_END;
	case LIVE_COMPLEX:
		return STEP_COMPLEX;
	}
	return STEP_LOST;
}

/*
 * How many of the n outermost frames have return addresses that are what they were, and all the other
 * words on which their steps depended as well.
 */
static uint32_t unchanged(const struct live_walk *w, uint32_t n)
{
	uint32_t k = 0, word = 0, n_words;

	while (k < n && *w->return_address[k].at == w->return_address[k].value)
		k++;
	n_words = k ? w->frame[k - 1].n_words : 0;
	while (word < n_words && *w->word[word].at == w->word[word].value)
		word++;
	if (__builtin_expect(word < n_words, 0))
		for (k = 0; w->frame[k].n_words <= word;)
			k++;
	return k;
}

/*
 * Puts pc, found at `at`, into remembered frame i. That is good if the step from there is of the common
 * kind, leads to the next frame outward as it is remembered, and no fp is needed there.
 */
static inline bool replace(struct live_walk *w, uint32_t i, uint64_t pc, const uint64_t *at)
{
	const struct live_rule *r = live_rules_at(&w->rules, pc - 1);
	struct walk_frame_memo *m = &w->frame[i];

	if (i == 0 || r->kind != LIVE_SP || m->sp + (uint64_t)(int64_t)r->cfa != m[-1].sp ||
	    m[-1].needs_fp)
		return false;
	w->return_address[i] = (struct walk_word){ at, pc };
	m->hash = mix(m[-1].hash, pc << 1);
	m->n_words = m[-1].n_words;
	m->node = 0;
	m->exact = false;
	m->needs_fp = false;
	return true;
}

/*
 * The walk has come to the sp of remembered frame n - 1. Makes the n outermost frames what is outward of
 * here: what changed of their return addresses is put in. That is sound whatever the order, as each step
 * is checked to lead from one frame to the next: the same sp, and the return address that is there now.
 * False: it does not fit; fewer frames are remembered then.
 */
static bool resume(struct live_walk *w, const struct step *s, uint32_t n)
{
	uint32_t i = unchanged(w, n - 1);
	const struct walk_frame_memo *m = &w->frame[i];

	if (i == n - 1 && w->return_address[i].value == s->pc && m->exact == s->exact) {
		w->return_address[i].at = s->at;
		if (!m->needs_fp || m->fp == s->fp)
			return true;
	}
	for (; i < n - 1; i++) {
		const uint64_t *at = w->return_address[i].at;

		if (!replace(w, i, *at, at)) {
			w->n = i;
			return false;
		}
	}
	if (!s->exact && replace(w, i, s->pc, s->at))
		return true;
	w->n = i;
	return false;
}

/* Adds f as the innermost of the remembered frames. */
static inline void remember(struct live_walk *w, const struct walk_fresh *f)
{
	uint32_t i = w->n++;
	struct walk_frame_memo *m = &w->frame[i];
	bool outer_needs_fp = i && m[-1].needs_fp;
	uint32_t n_words = i ? m[-1].n_words : 0;

	w->return_address[i] = (struct walk_word){ f->at, f->pc };
	if (__builtin_expect(f->cfa_word.at != NULL, 0))
		w->word[n_words++] = f->cfa_word;
	if (__builtin_expect(outer_needs_fp && f->fp_word.at, 0))
		w->word[n_words++] = f->fp_word;
	m->sp = f->sp;
	m->fp = f->fp;
	m->hash = mix(i ? m[-1].hash : 0, f->pc << 1 | f->exact);
	m->n_words = n_words;
	m->node = 0;
	m->exact = f->exact;
	m->needs_fp = f->uses_fp || (!f->fp_word.at && outer_needs_fp);
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
	f->uses_fp = false;
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
	s->at = (const uint64_t *)(cfa - 8);
	s->pc = *s->at;
	s->sp = cfa;
	s->exact = false;
	return true;
}

/* Adds the frame at s to the fresh ones and steps to its caller. */
static inline enum stepped step_fresh(struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	const struct live_rule *r = live_rules_at(&w->rules, s->pc - !s->exact);
	struct step copy;
	enum stepped how;

	begin_fresh(f, s);
	if (__builtin_expect(r->kind == LIVE_SP, 1))
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

	while (how == STEP_ON && s.pc != 0) {
		while (place && w->frame[place - 1].sp < s.sp)
			place--;
		if (place && tries && w->frame[place - 1].sp == s.sp) {
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

enum walk_result live_walk(struct live_walk *w, const struct walk_start *start)
{
	struct step s = { .pc = start->pc, .sp = start->sp, .fp = start->fp };
	enum stepped how;
	uint32_t n = 0;

	if (s.sp < w->stack_low || s.sp >= w->stack_high)
		return WALK_COMPLEX;
	s.at = (const uint64_t *)(s.sp - 8);
	how = walk_fresh(w, s, &n);
	if (how == STEP_COMPLEX || w->n + n > WALK_MAX_FRAMES)
		return WALK_COMPLEX;
	if (how == STEP_LOST)
		remember_lost(w);
	while (n)
		remember(w, &w->fresh[--n]);
	return WALK_DONE;
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
