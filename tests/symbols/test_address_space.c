/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "symbols/space/address_space.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* One event: 'm'ap start end dso, 'f'ork of pid by start, 'e'xec; at a time. */
struct event {
	char kind;
	int32_t pid;
	int64_t time;
	uint64_t start, end;
	uint32_t dso;
};

struct question {
	int32_t pid;
	int64_t time;
	uint64_t address;
	uint32_t dso; /* 0: nothing there */
};

static const struct {
	const char *what;
	struct event events[8];
	struct question questions[8];
} cases[] = {
	{ "a younger mapping cuts an older one",
	  { { 'm', 1, 10, 100, 200, 1 }, { 'm', 1, 20, 140, 160, 2 } },
	  { { 1, 15, 150, 1 },
	    { 1, 20, 150, 2 },
	    { 1, 99, 139, 1 },
	    { 1, 99, 160, 1 },
	    { 1, 9, 150, 0 },
	    { 1, 99, 200, 0 } } },
	{ "the order of telling does not matter",
	  { { 'm', 1, 20, 140, 160, 2 }, { 'm', 1, 10, 100, 200, 1 } },
	  { { 1, 15, 150, 1 }, { 1, 20, 150, 2 }, { 1, 99, 170, 1 } } },
	{ "of one time, the later told",
	  { { 'm', 1, INT64_MIN, 0, 50, 1 }, { 'm', 1, INT64_MIN, 10, 20, 2 } },
	  { { 1, INT64_MIN, 15, 2 }, { 1, 7, 5, 1 } } },
	{ "exec drops all",
	  { { 'm', 1, 10, 0, 50, 1 }, { 'e', 1, 20, 0, 0, 0 }, { 'm', 1, 21, 60, 70, 2 } },
	  { { 1, 19, 5, 1 }, { 1, 20, 5, 0 }, { 1, 30, 65, 2 } } },
	{ "a child has what its parent had then, not later",
	  { { 'm', 1, 10, 0, 50, 1 },
	    { 'f', 2, 20, 1, 0, 0 },
	    { 'm', 1, 30, 0, 50, 2 },
	    { 'm', 2, 40, 10, 20, 3 } },
	  { { 2, 35, 5, 1 },
	    { 2, 45, 15, 3 },
	    { 2, 45, 25, 1 },
	    { 1, 45, 15, 2 },
	    { 2, 19, 5, 0 } } },
	{ "late news of the parent reach the child",
	  { { 'f', 2, 20, 1, 0, 0 }, { 'm', 1, 10, 0, 50, 1 } },
	  { { 2, 25, 5, 1 } } },
	{ "a grandchild, then exec",
	  { { 'm', 1, 1, 0, 50, 1 },
	    { 'f', 2, 2, 1, 0, 0 },
	    { 'f', 3, 3, 2, 0, 0 },
	    { 'e', 3, 4, 0, 0, 0 } },
	  { { 3, 3, 5, 1 }, { 3, 4, 5, 0 }, { 2, 9, 5, 1 } } },
	{ "a pid that comes again starts anew",
	  { { 'm', 5, 1, 0, 50, 1 }, { 'f', 5, 10, 6, 0, 0 }, { 'm', 6, 1, 90, 99, 2 } },
	  { { 5, 9, 5, 1 }, { 5, 10, 5, 0 }, { 5, 10, 95, 2 } } },
	{ "processes that are each other's parents",
	  { { 'f', 1, 5, 2, 0, 0 }, { 'f', 2, 5, 1, 0, 0 }, { 'f', 1, 5, 2, 0, 0 } },
	  { { 1, 9, 5, 0 }, { 2, 9, 5, 0 } } },
};

static void tell(struct spaces *s, const struct event *e)
{
	uint32_t space = spaces_of(s, e->pid);

	if (e->kind == 'm')
		spaces_map(s, space, e->time, e->start, e->end, e->dso, e->start);
	else if (e->kind == 'f')
		spaces_fork(s, space, spaces_of(s, (int32_t)e->start), e->time);
	else
		spaces_exec(s, space, e->time);
}

Test(space, answers)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct spaces *s = spaces_new();

		for (const struct event *e = cases[i].events; e->kind; e++)
			tell(s, e);
		for (const struct question *q = cases[i].questions; q->pid; q++) {
			struct sighting got;

			spaces_look(s, spaces_of(s, q->pid), q->time, q->address, &got);
			cr_expect_eq(got.dso, q->dso ? q->dso : SPACE_NONE,
				     "%s: pid %d at %ld, address %lu: %u", cases[i].what, q->pid,
				     (long)q->time, (unsigned long)q->address, got.dso);
			cr_expect(got.from <= q->time && q->time < got.to, "%s", cases[i].what);
		}
		spaces_free(s);
	}
}

static uint32_t state = 7;

static uint32_t draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(state >> 8) * below >> 24);
}

/* Remembered answers must be right for as long as they say they are. */
Test(space, answers_hold_while_they_say_so)
{
	struct {
		struct sighting s;
		struct address_space_stamps stamps;
		uint64_t address;
		uint32_t space;
	} kept[64];
	struct spaces *s = spaces_new();
	size_t n = 0;

	for (int i = 0; i < 20000; i++) {
		static const char kinds[] = "mmmmmmmfe";
		struct event e = { .kind = kinds[draw(9)], .pid = 1 + (int32_t)draw(3) };
		struct sighting now;
		size_t k = draw(64);

		e.time = draw(8) ? i : (int)draw((uint32_t)i + 1);
		e.start = e.kind == 'f' ? 1 + draw(3) : draw(60);
		e.end = e.start + 1 + draw(8);
		e.dso = 1 + draw(1000);
		if (draw(3) == 0)
			tell(s, &e);
		if (k < n) {
			struct address_space_stamps st = spaces_stamps(s, kept[k].space);
			bool good = kept[k].s.dso == SPACE_NONE ? st.empty == kept[k].stamps.empty
								: st.found == kept[k].stamps.found;
			int64_t t = kept[k].s.from > 0 ? kept[k].s.from : 0;

			t += kept[k].s.to == INT64_MAX ? draw(100) : 0;
			spaces_look(s, kept[k].space, t, kept[k].address, &now);
			cr_assert(!good || now.dso == kept[k].s.dso, "step %d", i);
		}
		k = n < 64 ? n++ : k;
		kept[k].space = spaces_of(s, 1 + (int32_t)draw(3));
		kept[k].address = draw(70);
		kept[k].stamps = spaces_stamps(s, kept[k].space);
		spaces_look(s, kept[k].space, draw((uint32_t)i + 2), kept[k].address, &kept[k].s);
	}
	spaces_free(s);
}

Test(space, many_children_cost_little)
{
	struct spaces *s = spaces_new();
	struct sighting got;

	for (uint32_t i = 0; i < 2000; i++)
		spaces_map(s, spaces_of(s, 1), 1, i * 16, i * 16 + 16, i + 1, 0);
	for (int32_t pid = 2; pid < 20000; pid++)
		spaces_fork(s, spaces_of(s, pid), spaces_of(s, 1), pid);
	spaces_look(s, spaces_of(s, 19999), 30000, 160, &got);
	cr_assert_eq(got.dso, 11);
	cr_assert_eq(spaces_dropped(s), 0);
	cr_assert(spaces_any(s, spaces_of(s, 500)));
	cr_assert_not(spaces_any(s, spaces_of(s, 777777)));
	spaces_free(s);
}

Test(space, a_fork_chain_ends)
{
	struct spaces *s = spaces_new();
	struct sighting got;

	spaces_map(s, spaces_of(s, 1), 0, 0, 100, 1, 0);
	for (int32_t pid = 2; pid < 100000; pid++)
		spaces_fork(s, spaces_of(s, pid), spaces_of(s, pid - 1), pid);
	spaces_look(s, spaces_of(s, 200), 1000000, 5, &got);
	cr_assert_eq(got.dso, 1);
	spaces_look(s, spaces_of(s, 99999), 1000000, 5, &got);
	cr_assert_eq(got.dso, SPACE_NONE, "cut, and in no time");
	spaces_free(s);
}
