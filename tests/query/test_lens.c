/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is shown first, and what stands beside it where there are samples and allocations. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/core/lens.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof(*(array)))

/* So many samples of a clock and of faults, and allocations, of one process. */
static struct profile *make(unsigned n_clock, unsigned n_faults, unsigned n_blocks)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 1 };
	struct heap_origin origin = { .thread = ID_NONE };
	process_id process;
	track_id track;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "made");
	process = build_process(p, c, 1);
	s.event = build_event(p, "cpu-clock", UNIT_NS, true);
	for (unsigned i = 0; i < n_clock; i++)
		build_sample(p, &s);
	s.event = build_event(p, "page-faults", UNIT_COUNT, true);
	for (unsigned i = 0; i < n_faults; i++)
		build_sample(p, &s);
	/* Readers of traces know this one before anything is there. */
	origin.event = (uint16_t)build_heap_event(p, "mmap").v;
	origin.event = (uint16_t)build_heap_event(p, "malloc").v;
	track = build_heap_track(p, process, 0, 0);
	for (unsigned i = 0; i < n_blocks; i++) {
		build_moment(p, track, i);
		build_allocation(p, track, 100, build_heap_origin(p, &origin));
	}
	builder_end(p);
	return p;
}

static char *columns(const struct profile *p, const struct lens *l)
{
	char *out = xstrdup("");

	for (uint32_t i = 0; i < l->n_columns; i++) {
		char *name = metric_name(p, l->column[i].metric);
		char *longer = xasprintf("%s%s%s", out, i ? ", " : "", name);

		free(name);
		free(out);
		out = longer;
	}
	return out;
}

static const struct {
	unsigned n_clock, n_faults, n_blocks;
	const char *opens, *next, *leaked;
} cases[] = {
	{ 3, 1, 0, "cpu-clock", "cpu-clock samples", "no metric is called \"leaked\"" },
	{ 1, 3, 2, "cpu-clock, malloc peak", "cpu-clock samples, malloc peak",
	  "malloc leaked, cpu-clock" },
	{ 0, 3, 2, "page-faults, malloc peak", "page-faults samples, malloc peak",
	  "malloc leaked, page-faults" },
	{ 3, 0, 9, "cpu-clock, malloc peak", "cpu-clock samples, malloc peak",
	  "malloc leaked, cpu-clock" },
};

Test(lens, what_stands_beside)
{
	for (size_t i = 0; i < N(cases); i++) {
		struct profile *p = make(cases[i].n_clock, cases[i].n_faults, cases[i].n_blocks);
		struct err e = ERR_INIT;
		struct metric m;
		struct lens l;
		char *text;

		lens_init(&l, p);
		text = columns(p, &l);
		cr_expect_str_eq(text, cases[i].opens, "%zu: %s", i, text);
		free(text);
		lens_choose(&l, p, metric_next(p, l.column[0].metric, NULL));
		text = columns(p, &l);
		cr_expect_str_eq(text, cases[i].next, "%zu: %s", i, text);
		free(text);
		m = l.column[0].metric;
		if (metric_find_measure(p, "leaked", &m, &e)) {
			cr_expect(strstr(err_text(&e), cases[i].leaked) != NULL, "%s",
				  err_text(&e));
		} else {
			lens_choose(&l, p, m);
			text = columns(p, &l);
			cr_expect_str_eq(text, cases[i].leaked, "%zu: %s", i, text);
			free(text);
		}
		err_clear(&e);
		lens_done(&l);
		profile_free(p);
	}
}

/* m comes by everything once, and back to where it began; what stands beside it is of the other kind each time. */
Test(lens, around)
{
	struct profile *p = make(3, 1, 2);
	unsigned n = 0;
	struct metric first;
	struct lens l;

	lens_init(&l, p);
	first = l.column[0].metric;
	do {
		lens_choose(&l, p, metric_next(p, l.column[0].metric, NULL));
		cr_assert_eq(l.n_columns, 2);
		cr_expect_neq(metric_is_heap(p, l.column[0].metric),
			      metric_is_heap(p, l.column[1].metric));
		cr_assert_lt(++n, 100);
	} while (l.column[0].metric.event.v != first.event.v ||
		 l.column[0].metric.measure != first.measure);
	/* Two of each event of samples, seven of the one heap event that has any. */
	cr_expect_eq(n, 2 + 2 + 7);
	lens_done(&l);
	profile_free(p);
}
