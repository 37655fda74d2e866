/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "symbols/space/interval_map.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define N_ITEMS 700

static uint32_t state = 1;

/* A small reproducible generator. */
static uint32_t draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(state >> 8) * below >> 24);
}

static struct interval_map_item draw_item(uint32_t seq)
{
	struct interval_map_item it = { .time = draw(50), .seq = seq, .value = seq };

	it.start = draw(1000);
	it.end = it.start + 1 + draw(draw(4) ? 20 : 600);
	return it;
}

/* The answer by looking at every item. */
static const struct interval_map_item *slow(const struct interval_map_item *items, size_t n,
					    uint64_t point, int64_t time, int64_t *next)
{
	const struct interval_map_item *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (point < items[i].start || point >= items[i].end)
			continue;
		if (items[i].time > time)
			*next = items[i].time < *next ? items[i].time : *next;
		else if (!best || items[i].time >= best->time)
			best = &items[i];
	}
	return best;
}

static void check(const struct interval_map *c, const struct interval_map_item *items, size_t n)
{
	for (int i = 0; i < 200; i++) {
		uint64_t point = draw(1700), end = point + 1 + draw(30);
		int64_t time = draw(52) - 1, next = INT64_MAX, want_next = INT64_MAX;
		const struct interval_map_item *want = slow(items, n, point, time, &want_next);
		const struct interval_map_item *got = interval_map_find(c, point, time, UINT32_MAX,
									&next);
		bool touches = false;

		cr_assert_eq(want == NULL, got == NULL, "%zu items, point %lu", n, point);
		if (want)
			cr_assert_eq(got->value, want->value);
		cr_assert_eq(next, want_next);
		for (size_t k = 0; k < n; k++)
			touches |= items[k].start < end && items[k].end > point;
		cr_assert_eq(interval_map_touches(c, point, end), touches);
	}
}

Test(cover, finds_what_a_look_at_every_item_finds)
{
	struct interval_map_item items[N_ITEMS] = { 0 };
	struct interval_map c = { 0 };

	check(&c, items, 0);
	for (uint32_t i = 0; i < N_ITEMS; i++) {
		items[i] = draw_item(i);
		interval_map_add(&c, &items[i]);
		if (i < 70 || i % 50 == 0)
			check(&c, items, i + 1);
	}
	interval_map_done(&c);
	interval_map_add_all(&c, items, N_ITEMS);
	check(&c, items, N_ITEMS);
	interval_map_done(&c);
}

Test(cover, ends_of_the_line)
{
	struct interval_map c = { 0 };
	struct interval_map_item all = { .start = 0, .end = UINT64_MAX, .value = 7 };
	int64_t next = INT64_MAX;

	for (uint32_t i = 0; i < 100; i++) {
		all.seq = i;
		interval_map_add(&c, &all);
	}
	cr_assert_eq(interval_map_find(&c, 0, 0, UINT32_MAX, &next)->seq, 99);
	cr_assert_eq(interval_map_find(&c, UINT64_MAX - 1, 0, UINT32_MAX, &next)->seq, 99);
	cr_assert_null(interval_map_find(&c, UINT64_MAX, 0, UINT32_MAX, &next));
	cr_assert_eq(interval_map_find(&c, 5, 0, 41, &next)->seq, 41, "not younger than asked for");
	interval_map_done(&c);
}
