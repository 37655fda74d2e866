/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/heap_verdict.h"

#include <math.h>
#include <stdbool.h>

/* Fewer numbers show no shape. */
#define LEAST_SLOTS 16u

/* Parts of the line between which growth is measured, and Student's t of 95 % for one less than their steps. */
#define PARTS     8u
#define STUDENT_6 2.447

/* What counts as the beginning, and as the end, as parts of the run. */
#define BEGINNING 0.15
#define ENDING    0.9

/* What a site frees in this last part of the line is freed for the exit. */
#define EXIT_PART 16

/* A steady growth is so many times its error. */
#define CLEAR_RATE 1.5

/* Fewer falls make no saw. */
#define LEAST_FALLS 2u

#define NS_PER_HOUR 3.6e12

static int64_t highest(const struct heap_run *r, uint32_t from, uint32_t to)
{
	int64_t most = 0;

	for (uint32_t i = from; i < to; i++)
		if (r->line[i] > most)
			most = r->line[i];
	return most;
}

static int64_t lowest(const struct heap_run *r, uint32_t from, uint32_t to)
{
	int64_t least = r->line[from];

	for (uint32_t i = from; i < to; i++)
		if (r->line[i] < least)
			least = r->line[i];
	return least;
}

static double mean(const struct heap_run *r, uint32_t from, uint32_t to)
{
	double sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += (double)r->line[i];
	return sum / (to - from);
}

/* Falls to less than half of a top that is half of the highest or more. */
static uint32_t count_falls(const struct heap_run *r, int64_t most)
{
	uint32_t n = 0;
	int64_t top = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->line[i] > top)
			top = r->line[i];
		if (top < most / 2 || r->line[i] > top / 2)
			continue;
		n++;
		top = r->line[i];
	}
	return n;
}

/* What stands for a part of the line: its mean, or the lowest of it where a saw's teeth hide what is below them. */
static double level(const struct heap_run *r, bool is_saw, uint32_t from, uint32_t to)
{
	return is_saw ? (double)lowest(r, from, to) : mean(r, from, to);
}

/* The mean growth from part to part, and the error of that mean. */
static void find_rate(const struct heap_run *r, bool is_saw, struct heap_growth *g)
{
	double step[PARTS], sum = 0, squares = 0; /* bytes a slot */
	uint32_t n = PARTS - 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = r->n * i / PARTS, middle = r->n * (i + 1) / PARTS,
			 end = r->n * (i + 2) / PARTS;

		step[i] = (level(r, is_saw, middle, end) - level(r, is_saw, at, middle)) * 2 /
			  (end - at);
		sum += step[i];
	}
	for (uint32_t i = 0; i < n; i++)
		squares += (step[i] - sum / n) * (step[i] - sum / n);
	g->bytes_per_hour = sum / n / r->slot_ns * NS_PER_HOUR;
	g->error = STUDENT_6 * sqrt(squares / (n - 1) / n) / r->slot_ns * NS_PER_HOUR;
}

/*
 * Its least rises from quarter to quarter, by a quarter in all, and its highest still does so in the last eighth, by no less than
 * a third of what an eighth grows on average: what fills up slows down. The troughs of a saw rise by a quarter of its highest, so
 * that no chance of where the slots lie makes them do so.
 */
static bool rises(const struct heap_run *r, bool is_saw, int64_t most)
{
	uint32_t q = r->n / 4, late = r->n - r->n / PARTS;
	int64_t least[4];
	double growth;

	for (uint32_t i = 0; i < 4; i++) {
		least[i] = lowest(r, r->n * i / 4, r->n * (i + 1) / 4);
		if (i > 0 && least[i] <= least[i - 1])
			return false;
	}
	if (least[3] - least[0] <= (is_saw ? most : least[0]) / 4)
		return false;
	/* From the middle of the first quarter to that of the last one: of six eighths. */
	growth = level(r, is_saw, r->n - q, r->n) - level(r, is_saw, 0, q);
	return growth > 0 && (double)(most - highest(r, 0, late)) >= growth / 6 / 3;
}

/* A growth whose error is nearly as large is no steady one. */
static bool is_steady(const struct heap_run *r, struct heap_growth *g)
{
	bool is_saw = g->n_falls >= LEAST_FALLS;

	if (!rises(r, is_saw, g->highest))
		return false;
	find_rate(r, is_saw, g);
	if (g->bytes_per_hour > CLEAR_RATE * g->error)
		return true;
	g->bytes_per_hour = g->error = 0;
	return false;
}

/* The first number from which on the line stays within a fifth of where it ends. */
static uint32_t level_from(const struct heap_run *r)
{
	double end = mean(r, r->n - r->n / 8, r->n);
	uint32_t i = r->n;

	while (i > 0 && fabs((double)r->line[i - 1] - end) <= end / 5)
		i--;
	return i;
}

/* Where it ends before its site freed all for the exit, in the last slots. */
static uint32_t before_exit(const struct heap_run *r)
{
	uint32_t i = r->n, from = r->n - r->n / EXIT_PART;
	int64_t most = highest(r, r->n - r->n / PARTS, r->n);

	if (!r->ended || r->line[r->n - 1] > 0)
		return r->n;
	while (i >= from && r->line[i - 1] < most - most / 4)
		i--;
	return i >= from ? i : r->n;
}

/* Where it begins: not before the first allocations, if they are in its first half. */
static uint32_t first_slot(const struct heap_run *r)
{
	uint32_t i = 0;

	while (i < r->n / 2 && r->line[i] == 0)
		i++;
	return i < r->n / 2 ? i : 0;
}

struct heap_growth heap_judge_growth(const struct heap_run *whole)
{
	struct heap_growth g = { .verdict = VERDICT_SHORT, .n = whole->n };
	struct heap_run run = *whole, *r = &run;
	uint32_t since, from;

	if (r->n < LEAST_SLOTS || highest(r, 0, r->n) == 0)
		return g;
	g.n = r->n = before_exit(r);
	from = first_slot(r);
	if (r->n - from >= LEAST_SLOTS) {
		r->line += from;
		r->n -= from;
	} else {
		from = 0;
	}
	g.highest = highest(r, 0, r->n);
	g.n_falls = count_falls(r, g.highest);
	since = level_from(r);
	g.level_since = (double)(from + since) / whole->n * r->ends;
	if (r->last <= BEGINNING * r->ends && lowest(r, r->n / 4, r->n) > 0)
		g.verdict = VERDICT_STARTUP;
	else if (r->first >= ENDING * r->ends)
		g.verdict = VERDICT_AT_END;
	else if (is_steady(r, &g))
		g.verdict = VERDICT_STEADY;
	else if (g.n_falls >= LEAST_FALLS)
		g.verdict = VERDICT_SAWTOOTH;
	else if (since <= r->n * 3 / 4 && r->line[r->n - 1] > 0)
		g.verdict = VERDICT_BOUNDED;
	else
		g.verdict = VERDICT_OTHER;
	/* Its last fall is one of many. */
	if (g.verdict == VERDICT_SAWTOOTH)
		g.n = whole->n;
	return g;
}
