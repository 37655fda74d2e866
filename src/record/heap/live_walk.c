/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk, what it remembers, and when it may believe it. */
#include "config.h"

#include "live_walk.h"

#include <stddef.h>
#include <string.h>

/* A walk under way: the frame that it is at, and how much of the memory it may believe. */
struct step {
	uint64_t pc, sp, fp;
	bool exact;
	uint32_t n_good; /* remembered words, outermost first, that were seen to be as they were */
	bool checked;    /* n_good is as far as they are */
};

enum stepped { STEP_ON, STEP_END, STEP_LOST, STEP_COMPLEX };

static uint64_t mix(uint64_t hash, uint64_t pc)
{
	hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The word at address, if it lies on the stack, at or above the frame's sp. */
static bool load(const struct live_walk *w, const struct step *s, struct walk_fresh *f,
		 uint64_t address, uint64_t *out)
{
	const uint64_t *at = (const uint64_t *)address;

	if (address < s->sp || address > w->stack_high - sizeof(*at) || (address & 7))
		return false;
	*out = *at;
	f->word[f->n_words++] = (struct walk_word){ at, *out };
	return true;
}

static enum stepped step_by_fp(const struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	uint64_t fp, pc;

	f->uses_fp = true;
	if (!load(w, s, f, s->fp, &fp) || !load(w, s, f, s->fp + 8, &pc))
		return STEP_LOST;
	f->fp_word = 0;
	s->sp = s->fp + 16;
	s->fp = fp;
	s->pc = pc;
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
		return load(w, s, f, s->sp + offset, cfa);
	case CFA_AT_FP:
		f->uses_fp = true;
		return load(w, s, f, s->fp + offset, cfa);
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

static enum stepped step_by_rule(const struct live_walk *w, struct step *s, struct walk_fresh *f,
				 const struct cfi_rule *r)
{
	uint64_t cfa, pc, fp = s->fp, at;

	if (!find_cfa(w, s, f, r, &cfa))
		return STEP_LOST;
	if (r->ra_kind == SLOT_SAME ||
	    !load(w, s, f, slot_address(r->ra_kind, r->ra, cfa, s, f), &pc))
		return STEP_LOST;
	if (r->fp_kind == SLOT_UNDEFINED) {
		fp = 0;
	} else if (r->fp_kind != SLOT_SAME) {
		at = slot_address(r->fp_kind, r->fp, cfa, s, f);
		/* Below sp: has been popped already, though the rule still says where it was. */
		if (at >= s->sp && !load(w, s, f, at, &fp))
			return STEP_LOST;
		if (at >= s->sp)
			f->fp_word = (uint8_t)(f->n_words - 1);
	}
	/* A signal's frame may lead to another stack. */
	if (cfa <= s->sp || cfa > w->stack_high)
		return r->signal ? STEP_COMPLEX : STEP_LOST;
	s->sp = cfa;
	s->fp = fp;
	s->pc = pc;
	s->exact = r->signal;
	return STEP_ON;
}

/* From the frame at s to its caller, noting in f what that depended on. */
static inline enum stepped step(struct live_walk *w, struct step *s, struct walk_fresh *f)
{
	const struct live_rule *r = live_rules_at(&w->rules, s->pc - !s->exact);
	uint64_t at;

	switch ((enum live_kind)r->kind) {
	case LIVE_SP:
		at = s->sp + (uint64_t)(int64_t)r->rule.cfa - 8;
		if (!load(w, s, f, at, &s->pc))
			return STEP_LOST;
		if (r->rule.fp_kind == SLOT_CFA) {
			if (!load(w, s, f, at + 8 + (uint64_t)(int64_t)r->rule.fp, &s->fp))
				return STEP_LOST;
			f->fp_word = 1;
		}
		s->sp = at + 8;
		s->exact = false;
		return STEP_ON;
	case LIVE_RULE:
		return step_by_rule(w, s, f, &r->rule);
	case LIVE_FP:
		return step_by_fp(w, s, f);
	case LIVE_END:
		return STEP_END;
	case LIVE_COMPLEX:
		return STEP_COMPLEX;
	}
	return STEP_LOST;
}

/* Are the first n remembered words what they were? */
static bool words_hold(const struct live_walk *w, struct step *s, uint32_t n)
{
	uint32_t i = 0;

	if (s->checked)
		return n <= s->n_good;
	while (i < n && *w->word[i].at == w->word[i].value)
		i++;
	s->checked = true;
	s->n_good = i;
	return i == n;
}

/* How many remembered frames are outward of here, this one included; 0: go on walking. */
static inline uint32_t remembered(const struct live_walk *w, struct step *s, uint32_t *near)
{
	const struct walk_memo_frame *m;

	while (*near && w->frame[*near - 1].sp < s->sp)
		--*near;
	if (*near == 0)
		return 0;
	m = &w->frame[*near - 1];
	if (m->sp != s->sp || m->pc != s->pc || m->exact != s->exact ||
	    (m->needs_fp && m->fp != s->fp))
		return 0;
	return words_hold(w, s, m->n_words) ? *near : 0;
}

/* Adds f as the innermost of the remembered frames. */
static void remember(struct live_walk *w, const struct walk_fresh *f)
{
	const struct walk_memo_frame *outer = w->n ? &w->frame[w->n - 1] : NULL;
	struct walk_memo_frame *m = &w->frame[w->n++];
	bool outer_needs_fp = outer && outer->needs_fp;

	*m = (struct walk_memo_frame){ .pc = f->pc, .sp = f->sp, .fp = f->fp, .exact = f->exact };
	m->hash = mix(outer ? outer->hash : 0, f->pc << 1 | f->exact);
	m->n_words = outer ? outer->n_words : 0;
	m->needs_fp = f->uses_fp || (f->fp_word == WALK_MAX_WORDS && outer_needs_fp);
	for (unsigned i = 0; i < f->n_words; i++)
		if (i != f->fp_word || outer_needs_fp)
			w->word[m->n_words++] = f->word[i];
}

static void remember_lost(struct live_walk *w)
{
	/* No walk comes here again: no frame has this sp. */
	remember(w, &(struct walk_fresh){ .sp = UINT64_MAX, .fp_word = WALK_MAX_WORDS });
}

enum walk_result live_walk(struct live_walk *w, const struct walk_start *start)
{
	struct step s = { .pc = start->pc, .sp = start->sp, .fp = start->fp };
	uint32_t n_fresh = 0, near = w->n, kept = 0;
	enum stepped how = STEP_ON;

	if (s.sp < w->stack_low || s.sp >= w->stack_high)
		return WALK_COMPLEX;
	for (;;) {
		struct walk_fresh *f = &w->fresh[n_fresh];

		kept = remembered(w, &s, &near);
		if (kept)
			break;
		if (n_fresh == WALK_MAX_FRAMES)
			return WALK_COMPLEX;
		n_fresh++;
		f->pc = s.pc;
		f->sp = s.sp;
		f->fp = s.fp;
		f->exact = s.exact;
		f->n_words = 0;
		f->fp_word = WALK_MAX_WORDS;
		f->uses_fp = false;
		how = step(w, &s, f);
		if (how == STEP_COMPLEX)
			return WALK_COMPLEX;
		if (how != STEP_ON || s.pc == 0)
			break;
	}
	if (kept + n_fresh > WALK_MAX_FRAMES)
		return WALK_COMPLEX;
	w->n = kept;
	if (how == STEP_LOST)
		remember_lost(w);
	while (n_fresh)
		remember(w, &w->fresh[--n_fresh]);
	return WALK_DONE;
}

void live_walk_replace(struct live_walk *w, const uint64_t *pc, const bool *exact, uint32_t n,
		       bool complete)
{
	w->n = 0;
	if (!complete)
		remember_lost(w);
	for (uint32_t i = n; i-- > 0;)
		remember(w, &(struct walk_fresh){ .pc = pc[i],
						  .sp = UINT64_MAX,
						  .exact = exact[i],
						  .fp_word = WALK_MAX_WORDS });
}

void live_walk_flush(struct live_walk *w)
{
	w->n = 0;
	memset(w->rules.slot, 0, sizeof(w->rules.slot));
}
