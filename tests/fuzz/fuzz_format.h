/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What targets of whole formats do: probe, read, and ask for what a first screen asks for. */
#ifndef PROFTOP_TESTS_FUZZ_FORMAT_H
#define PROFTOP_TESTS_FUZZ_FORMAT_H

#include "base/err.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first screen's question. */
static inline void fuzz_ask(const struct profile *p)
{
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	if (analysis_new(p, &lens, NULL, &a) < 0)
		abort();
	analysis_free(a);
	lens_done(&lens);
}

/* All that is asked of a heap: no weight may be more than there is. */
static inline void fuzz_ask_heap(const struct profile *p)
{
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	lens.n_columns = MEASURE_TEMPORARY + 1;
	for (uint32_t i = 0; i < lens.n_columns; i++)
		lens.column[i].metric.measure = (enum measure)i;
	if (analysis_new(p, &lens, NULL, &a) < 0)
		abort();
	for (uint32_t i = 0; i < lens.n_columns; i++)
		if (a->weights.total[i] < 0 || a->weights.total[i] > a->weights.whole[i])
			abort();
	analysis_free(a);
	lens_done(&lens);
}

/* Reads the bytes, and asks where they could be read. A refusal is a sentence that names the file. */
static inline void fuzz_read(const struct format *f, const uint8_t *bytes, size_t n,
			     void (*ask)(const struct profile *))
{
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id c;
	int rc;

	builder_begin(p);
	c = build_capture(p, "fuzz", f->name);
	builder_end(p);
	rc = f->read(in, p, c, NULL, NULL, &e);
	if (rc != e.code || (rc < 0 && strncmp(err_text(&e), "fuzz: ", 6) != 0))
		abort();
	if (rc == 0)
		ask(p);
	err_clear(&e);
	profile_free(p);
	input_close(in);
}

static inline void fuzz_format(const struct format *f, const uint8_t *bytes, size_t n)
{
	f->probe(bytes, n);
	fuzz_read(f, bytes, n, fuzz_ask);
}

#endif
