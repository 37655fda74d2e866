/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols by address; see symtab.h. The rules are those that perf 6.1 shows, checked over whole
 * libraries by tests/interop; deliberate differences: where symbols overlap, the one that begins
 * nearest before the address is taken (perf takes the first that its tree meets), and labels
 * inside functions are none.
 */
#include "config.h"

#include "elf/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/mem.h"
#include "elf/demangle.h"

#define PAGE          UINT64_C(4096)
/* How many enclosing candidates are looked at when the nearest symbol ended before the address. */
#define ENCLOSING_MAX 1024

/* The symbols that start at one address: [first, end). */
struct group {
	size_t first, end;
	const struct symbol *best; /* the one that names it */
};

struct symtab {
	VEC(struct symbol) symbol; /* by start once sealed, then in the order they were added */
	uint64_t *reach;           /* [symbol.n] largest end of symbols 0..i; owned */
	VEC(void *) text;          /* owned */
	uint64_t text_bytes;       /* sizes of text together */
	struct group last;         /* the last one that was asked for */
};

struct symtab *symtab_new(void)
{
	return xcalloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->text.n; i++)
		free(t->text.at[i]);
	vec_done(&t->text);
	vec_done(&t->symbol);
	free(t->reach);
	free(t);
}

void symtab_keep(struct symtab *t, void *text, size_t n)
{
	vec_push(&t->text, text);
	t->text_bytes += n;
}

void symtab_reserve(struct symtab *t, size_t n)
{
	vec_reserve(&t->symbol, t->symbol.n + n);
}

void symtab_add(struct symtab *t, const struct symbol *s)
{
	vec_push(&t->symbol, *s);
}

/* A symbol's place in the order. */
struct place {
	uint64_t start; /* its address */
	size_t index;   /* where it is now */
};

/* One stable pass by the byte at shift; returns where the result is. */
static struct place *sort_by_byte(struct place *from, struct place *to, size_t n, unsigned shift)
{
	size_t count[257] = { 0 };

	for (size_t i = 0; i < n; i++)
		count[(from[i].start >> shift & 255) + 1]++;
	/* All alike: nothing to do. */
	if (count[(from[0].start >> shift & 255) + 1] == n)
		return from;
	for (size_t i = 1; i < 257; i++)
		count[i] += count[i - 1];
	for (size_t i = 0; i < n; i++)
		to[count[from[i].start >> shift & 255]++] = from[i];
	return to;
}

static bool is_sorted(const struct symtab *t)
{
	for (size_t i = 1; i < t->symbol.n; i++) {
		if (t->symbol.at[i].start < t->symbol.at[i - 1].start)
			return false;
	}
	return true;
}

/* Stable, by address. Half a million take some milliseconds. */
static void sort(struct symtab *t)
{
	size_t n = t->symbol.n;
	struct place *a, *b, *from, *to;
	struct symbol *sorted;

	if (is_sorted(t))
		return;
	from = a = xreallocarray(NULL, n, sizeof(*a));
	to = b = xreallocarray(NULL, n, sizeof(*b));
	sorted = xreallocarray(NULL, n, sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		a[i] = (struct place){ .start = t->symbol.at[i].start, .index = i };
	for (unsigned shift = 0; shift < 64; shift += 8) {
		struct place *got = sort_by_byte(from, to, n, shift);

		if (got == to) {
			to = from;
			from = got;
		}
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = t->symbol.at[from[i].index];
	free(a);
	free(b);
	free(t->symbol.at);
	t->symbol.at = sorted;
	t->symbol.cap = n;
}

static uint64_t page_up(uint64_t x)
{
	return x > UINT64_MAX - PAGE ? UINT64_MAX : (x + PAGE - 1) & ~(PAGE - 1);
}

/*
 * A symbol without a size ends where the next one begins. A label inside a function with a size names nothing: the function
 * does, as in symbolizers. (The kernel's entry points, whose labels kallsyms has too, are no such functions.)
 */
static void find_ends(struct symtab *t)
{
	uint64_t function_end = 0;

	for (size_t i = 0; i < t->symbol.n; i++) {
		struct symbol *s = &t->symbol.at[i];

		if (s->end != s->start) {
			if (s->kind == SYMBOL_CODE && s->end > function_end)
				function_end = s->end;
			continue;
		}
		if (s->kind == SYMBOL_LABEL && s->start < function_end)
			continue;
		if (i + 1 == t->symbol.n)
			s->end = page_up(s->start) > UINT64_MAX - PAGE ? UINT64_MAX
								       : page_up(s->start) + PAGE;
		else
			s->end = s[1].start;
	}
}

void symtab_seal(struct symtab *t)
{
	uint64_t reach = 0;

	if (t->symbol.n == 0)
		return;
	sort(t);
	find_ends(t);
	t->reach = xreallocarray(NULL, t->symbol.n, sizeof(*t->reach));
	for (size_t i = 0; i < t->symbol.n; i++) {
		if (reach < t->symbol.at[i].end)
			reach = t->symbol.at[i].end;
		t->reach[i] = reach;
	}
}

static size_t leading_underscores(const char *s)
{
	return strspn(s, "_");
}

/* By their names alone: 0 for a, 1 for b. */
static int better_name(const struct symbol *a, const struct symbol *b)
{
	char *x = demangle(a->name, DEMANGLE_BARE), *y = demangle(b->name, DEMANGLE_BARE);
	const char *p = x ? x : a->name, *q = y ? y : b->name;
	size_t m = leading_underscores(p), n = leading_underscores(q);
	int r = m != n ? m > n : strlen(p) < strlen(q);

	free(x);
	free(y);
	return r;
}

/* Which of two at one address names it: 0 for a, 1 for b. */
static int better(const struct symbol *a, const struct symbol *b)
{
	bool x = a->end > a->start, y = b->end > b->start;

	if (x != y)
		return y;
	if ((a->kind == SYMBOL_LABEL) != (b->kind == SYMBOL_LABEL))
		return a->kind == SYMBOL_LABEL;
	if ((a->binding == BINDING_WEAK) != (b->binding == BINDING_WEAK))
		return a->binding == BINDING_WEAK;
	if ((a->binding == BINDING_GLOBAL) != (b->binding == BINDING_GLOBAL))
		return b->binding == BINDING_GLOBAL;
	return better_name(a, b);
}

/* The symbols that start where symbol i does. Remembered, as neighbours are asked for in turn. */
static const struct group *group_of(struct symtab *t, size_t i)
{
	const struct symbol *s = t->symbol.at;
	struct group g = { .first = i, .end = i + 1 };

	if (i >= t->last.first && i < t->last.end)
		return &t->last;
	while (g.first > 0 && s[g.first - 1].start == s[i].start)
		g.first--;
	while (g.end < t->symbol.n && s[g.end].start == s[i].start)
		g.end++;
	g.best = &s[g.first];
	for (size_t k = g.first + 1; k < g.end; k++) {
		if (better(g.best, &s[k]) == 1)
			g.best = &s[k];
	}
	t->last = g;
	return &t->last;
}

const struct symbol *symtab_find(struct symtab *t, uint64_t address)
{
	size_t lo = 0;

	BISECT(lo, t->symbol.n, k, t->symbol.at[k].start <= address);
	for (int i = 0; lo > 0 && t->reach[lo - 1] > address && i < ENCLOSING_MAX; i++) {
		const struct group *g = group_of(t, lo - 1);

		if (address < g->best->end)
			return g->best;
		lo = g->first;
	}
	return NULL;
}

size_t symtab_n(const struct symtab *t)
{
	return t->symbol.n;
}

const struct symbol *symtab_at(const struct symtab *t, size_t i)
{
	return &t->symbol.at[i];
}

uint64_t symtab_bytes(const struct symtab *t)
{
	return t->symbol.cap * (sizeof(struct symbol) + sizeof(uint64_t)) + t->text_bytes;
}
