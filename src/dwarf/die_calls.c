/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and inlined calls that hold addresses; see die_calls.h. */
#include "config.h"

#include "dwarf/die_calls.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "dwarf/die_entry.h"
#include "dwarf/die_name.h"
#include "dwarf/die_ranges.h"
#include "dwarf/line_table.h"

/* A walk, and the entry whose ranges are being told. */
struct walk {
	struct die_reader *r;
	struct die_unit *u;
	struct calls *calls;
	struct call_want *want; /* sorted by address */
	size_t n;
	uint32_t of;   /* function or call that the ranges are of; CALL_NONE: nobody's */
	bool function; /* that is a function */
	bool hit;      /* a range holds an address */
};

/* The first want at or above an address. */
static size_t first_at(const struct walk *w, uint64_t address)
{
	size_t low = 0;

	BISECT(low, w->n, i, w->want[i].address < address);
	return low;
}

/* die_range_take: does it hold any address at all? */
static void look(void *arg, uint64_t begin, uint64_t end)
{
	struct walk *w = arg;
	size_t at = w->hit ? w->n : first_at(w, begin);

	if (at < w->n && w->want[at].address < end)
		w->hit = true;
}

/* die_range_take: gives what it holds to w->of; of two functions, the one with the narrower range. */
static void claim(void *arg, uint64_t begin, uint64_t end)
{
	struct walk *w = arg;

	for (size_t i = first_at(w, begin); i < w->n && w->want[i].address < end; i++) {
		struct call_want *want = &w->want[i];

		w->r->work--;
		if (w->function) {
			if (want->function != CALL_NONE && want->width <= end - begin)
				continue;
			want->function = want->call = w->of;
			want->width = end - begin;
		} else {
			want->call = w->of;
		}
	}
}

static bool hits(struct walk *w, const struct die *d)
{
	w->hit = false;
	die_each_range(w->r, w->u, d, look, w);
	return w->hit;
}

static uint32_t add(struct walk *w, const struct die *d, uint32_t parent, uint32_t level)
{
	uint32_t n = (uint32_t)w->calls->all.n;

	vec_push(&w->calls->all, ((struct call){ .offset = die_offset(w->u, d->at),
						 .parent = parent == CALL_NONE ? n : parent,
						 .level = level }));
	w->of = n;
	w->function = parent == CALL_NONE;
	die_each_range(w->r, w->u, d, claim, w);
	return n;
}

/* Entries that may have functions with code below them. */
static bool holds_functions(unsigned tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/*
 * Finds the functions: a walk over the unit, insides of types and of functions with code left out. all:
 * functions inside functions too.
 */
static int find_functions(struct walk *w, bool all)
{
	const uint8_t *at = die_bytes(w->u, w->u->first), *end = die_bytes(w->u, w->u->end);
	uint64_t depth = 0;
	struct die d;

	do {
		bool own;

		if (w->r->work-- <= 0 || at >= end || !die_read(w->u, at, end, &d))
			return -1;
		at = d.next;
		if (!d.abbrev) {
			/* Padding may follow the last list. */
			depth -= depth > 0;
			continue;
		}
		own = d.abbrev->tag == DW_TAG_subprogram && die_has_code(&d);
		if (own && hits(w, &d))
			add(w, &d, CALL_NONE, 0);
		if (!d.abbrev->children)
			continue;
		if (depth > 0 && !all && (own || !holds_functions(d.abbrev->tag))) {
			at = die_skip_children(w->r, w->u, &d);
			if (!at)
				return -1;
			continue;
		}
		depth++;
	} while (depth > 0);
	return 0;
}

/* Where a walk through a function has come to. */
struct level {
	uint32_t depth; /* how many lists of children it is in */
	uint32_t call;  /* innermost call around */
};

/* Does the entry belong to the function's code, and hold an address? */
static bool worth_entering(struct walk *w, const struct die *d)
{
	switch (d->abbrev->tag) {
	case DW_TAG_inlined_subroutine:
		return die_has_code(d) && hits(w, d);
	case DW_TAG_lexical_block:
		return !die_has_code(d) || hits(w, d);
	default:
		return false;
	}
}

/* What to read after an entry that is not the end of a list; NULL: damaged. */
static const uint8_t *visit(struct walk *w, struct level *l, const struct die *d)
{
	bool enter = worth_entering(w, d);

	if (enter && d->abbrev->tag == DW_TAG_inlined_subroutine) {
		uint32_t n = add(w, d, l->call, l->depth + 1);

		if (d->abbrev->children)
			l->call = n;
	}
	if (!d->abbrev->children)
		return d->next;
	if (!enter)
		return die_skip_children(w->r, w->u, d);
	l->depth++;
	return d->next;
}

/* Collects a function's inlined calls, in preorder. */
static int find_calls(struct walk *w, uint32_t function)
{
	const uint8_t *at = die_bytes(w->u, w->calls->all.at[function].offset);
	const uint8_t *end = die_bytes(w->u, w->u->end);
	struct level l = { .depth = 1, .call = function };
	struct die d;

	if (!die_read(w->u, at, end, &d) || !d.abbrev)
		return -1;
	if (!d.abbrev->children)
		return 0;
	at = d.next;
	while (l.depth > 0) {
		if (w->r->work-- <= 0 || at >= end || !die_read(w->u, at, end, &d))
			return -1;
		if (d.abbrev) {
			at = visit(w, &l, &d);
			if (!at)
				return -1;
			continue;
		}
		at = d.next;
		l.depth--;
		if (l.call != function && l.depth < w->calls->all.at[l.call].level)
			l.call = w->calls->all.at[l.call].parent;
	}
	return 0;
}

static int by_function(const void *x, const void *y)
{
	const struct call_want *a = x, *b = y;

	return COMPARE(a->function, b->function) ?: COMPARE(a->address, b->address);
}

static int by_address(const void *x, const void *y)
{
	const struct call_want *a = x, *b = y;

	return COMPARE(a->address, b->address);
}

static bool any_without(const struct call_want *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i].function == CALL_NONE)
			return true;
	return false;
}

int die_calls_find(struct die_reader *r, struct die_unit *u, struct call_want *w, size_t n,
		   struct calls *out)
{
	struct walk walk = { .r = r, .u = u, .calls = out, .want = w, .n = n };
	int rc = die_unit_load(u) ? 0 : -1;

	for (size_t i = 0; i < n; i++)
		w[i].function = CALL_NONE;
	if (rc == 0)
		rc = find_functions(&walk, false);
	/* Functions inside functions are rare enough to be looked for only when one is missed. */
	if (rc == 0 && any_without(w, n))
		rc = find_functions(&walk, true);
	out->n_functions = (uint32_t)out->all.n;
	qsort(w, n, sizeof(*w), by_function);
	for (size_t at = 0, end; at < n && w[at].function != CALL_NONE; at = end) {
		for (end = at + 1; end < n && w[end].function == w[at].function;)
			end++;
		walk.want = w + at;
		walk.n = end - at;
		if (find_calls(&walk, w[at].function) != 0)
			rc = -1;
	}
	qsort(w, n, sizeof(*w), by_address);
	return rc;
}

void die_call_name(struct die_reader *r, struct die_unit *u, struct die_unit *files, struct call *c)
{
	struct die_place p = { u, c->offset };
	struct die_value v;
	struct die d;

	c->called = die_name(r, &p);
	if (!die_at(&p, &d) || !d.abbrev)
		return;
	if (die_find(u, &d, DW_AT_call_line, &v))
		c->line = (uint32_t)die_value_number(u, &v);
	if (die_find(u, &d, DW_AT_call_file, &v))
		c->file = line_file_path(r, files, die_value_number(u, &v));
}
