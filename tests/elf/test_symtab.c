/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "elf/symtab.h"

#include <criterion/criterion.h>

#define CODE(start, end, name, binding) \
	{ \
		start, end, name, SYMBOL_CODE, binding \
	}

#define LABEL(start, end, name) \
	{ \
		start, end, name, SYMBOL_LABEL, BINDING_LOCAL \
	}

static const struct {
	const char *what;
	struct symbol symbols[5];
	uint64_t address;
	const char *name; /* NULL: none */
} cases[] = {
	{ "inside", { CODE(10, 20, "a", BINDING_LOCAL) }, 19, "a" },
	{ "past the end", { CODE(10, 20, "a", BINDING_LOCAL) }, 20, NULL },
	{ "before all", { CODE(10, 20, "a", BINDING_LOCAL) }, 9, NULL },
	{ "without a size it ends at the next",
	  { CODE(50, 60, "b", BINDING_LOCAL), CODE(10, 10, "a", BINDING_LOCAL) },
	  49,
	  "a" },
	{ "the last one ends a page on", { CODE(10, 10, "a", BINDING_LOCAL) }, 8191, "a" },
	{ "… and no further", { CODE(10, 10, "a", BINDING_LOCAL) }, 8192, NULL },
	{ "a size beats everything",
	  { CODE(10, 10, "global", BINDING_GLOBAL), CODE(10, 20, "_x", BINDING_WEAK) },
	  10,
	  "_x" },
	{ "strong beats weak",
	  { CODE(10, 20, "weak_name", BINDING_WEAK), CODE(10, 20, "__x", BINDING_LOCAL) },
	  10,
	  "__x" },
	{ "global beats local",
	  { CODE(10, 20, "longer", BINDING_LOCAL), CODE(10, 20, "_g", BINDING_GLOBAL) },
	  10,
	  "_g" },
	{ "fewer underscores",
	  { CODE(10, 20, "__memcpy_long", BINDING_GLOBAL), CODE(10, 20, "memcpy", BINDING_GLOBAL) },
	  15,
	  "memcpy" },
	{ "longer name",
	  { CODE(10, 20, "memcpy", BINDING_GLOBAL), CODE(10, 20, "memcpy_v2", BINDING_GLOBAL) },
	  15,
	  "memcpy_v2" },
	{ "lengths are those of the demangled names",
	  { CODE(10, 20, "_ZN1a1bEiiiiiiiiii", BINDING_GLOBAL),
	    CODE(10, 20, "abcdef", BINDING_GLOBAL) },
	  15,
	  "abcdef" },
	{ "else the first",
	  { CODE(10, 20, "abc", BINDING_GLOBAL), CODE(10, 20, "xyz", BINDING_GLOBAL) },
	  15,
	  "abc" },
	{ "the nearest of two that overlap",
	  { CODE(10, 90, "outer", BINDING_LOCAL), CODE(30, 40, "inner", BINDING_LOCAL) },
	  35,
	  "inner" },
	{ "a label in a function with a size is none",
	  { CODE(10, 90, "function", BINDING_LOCAL), LABEL(30, 30, "loop"), LABEL(50, 50, "out") },
	  55,
	  "function" },
	{ "… nor is one at its begin",
	  { LABEL(10, 10, "begin"), CODE(10, 90, "function", BINDING_LOCAL) },
	  10,
	  "function" },
	{ "one behind it names what follows",
	  { CODE(10, 30, "function", BINDING_LOCAL), LABEL(30, 30, "start") },
	  35,
	  "start" },
	{ "one in code that is no function, as the kernel's entries",
	  { LABEL(10, 90, "entry_SYSCALL_64"), LABEL(30, 30, "entry_SYSCALL_64_after_hwframe") },
	  35,
	  "entry_SYSCALL_64_after_hwframe" },
	{ "the enclosing one after the inner one ended",
	  { CODE(10, 90, "outer", BINDING_LOCAL), CODE(30, 40, "inner", BINDING_LOCAL) },
	  50,
	  "outer" },
};

Test(symtab, finds)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symtab *t = symtab_new();
		const struct symbol *s;

		for (const struct symbol *p = cases[i].symbols; p->name; p++)
			symtab_add(t, p);
		symtab_seal(t);
		s = symtab_find(t, cases[i].address);
		cr_expect_eq(s == NULL, cases[i].name == NULL, "%s", cases[i].what);
		if (s && cases[i].name)
			cr_expect_str_eq(s->name, cases[i].name, "%s: %s", cases[i].what, s->name);
		symtab_free(t);
	}
}

/* Sealed, they are in order, and equals in that in which they were added. */
static void check_order(struct symtab *t, size_t n)
{
	symtab_seal(t);
	cr_assert_eq(symtab_n(t), n);
	for (size_t i = 1; i < n; i++) {
		const struct symbol *a = symtab_at(t, i - 1), *b = symtab_at(t, i);

		cr_assert_leq(a->start, b->start);
		if (a->start == b->start)
			cr_assert_lt(a->end, b->end, "added earlier");
	}
	symtab_free(t);
}

Test(symtab, sorts_many_and_keeps_order_of_equals)
{
	struct symtab *t = symtab_new();
	uint32_t state = 3;

	for (uint32_t i = 0; i < 100000; i++) {
		struct symbol s = { .name = "x" };

		state = state * 1664525u + 1013904223u;
		s.start = (uint64_t)(state >> 12) << (i % 3 * 20);
		s.end = s.start + i + 1;
		symtab_add(t, &s);
	}
	check_order(t, 100000);
}

/* So many in order, the rest not: none, few, more than half. */
Test(symtab, sorts_what_is_partly_sorted)
{
	static const uint32_t in_order[] = { 0, 1, 400, 500, 501, 900, 999, 1000 };
	uint32_t state = 7;

	for (size_t k = 0; k < sizeof(in_order) / sizeof(*in_order); k++) {
		/* The rest lies among the others, behind all, and before all. */
		static const uint64_t base[] = { 1000, 9000, 0 };

		for (size_t b = 0; b < 3; b++) {
			struct symtab *t = symtab_new();

			for (uint32_t i = 0; i < 1000; i++) {
				struct symbol s = { .name = "x", .start = 1000 + i / 2 };

				state = state * 1664525u + 1013904223u;
				if (i >= in_order[k])
					s.start = base[b] + (state >> 12) % 600;
				s.end = s.start + i + 1;
				symtab_add(t, &s);
			}
			check_order(t, 1000);
		}
	}
}

Test(symtab, empty)
{
	struct symtab *t = symtab_new();

	symtab_seal(t);
	cr_assert_null(symtab_find(t, 0));
	cr_assert_null(symtab_find(t, UINT64_MAX));
	symtab_free(t);
}
