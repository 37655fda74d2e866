/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a trace of heaptrack's. Files that they name are not opened: paths of the input become relative ones. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/heaptrack/heaptrack.h"
#include "input/input.h"
#include "profile/builder.h"
#include "query/analysis.h"

#include <stdlib.h>
#include <string.h>

/* All that is asked of a heap: no weight may be more than there is. */
static void look(const struct profile *p)
{
	struct analysis *a;
	struct lens l;

	lens_init(&l, p);
	l.n_columns = MEASURE_TEMPORARY + 1;
	for (uint32_t i = 0; i < l.n_columns; i++)
		l.column[i].metric.measure = (enum measure)i;
	if (analysis_new(p, &l, NULL, &a) < 0)
		abort();
	for (uint32_t i = 0; i < l.n_columns; i++)
		if (a->weights.total[i] < 0 || a->weights.total[i] > a->weights.whole[i])
			abort();
	analysis_free(a);
	lens_done(&l);
}

void fuzz_heaptrack(const uint8_t *bytes, size_t n)
{
	struct profile *p = profile_new();
	uint8_t *tame = xmalloc(n + 1);
	struct err e = ERR_INIT;
	struct input *in;
	capture_id c;
	int rc;

	for (size_t i = 0; i < n; i++)
		tame[i] = bytes[i] == '/' ? '_' : bytes[i];
	in = input_of_bytes(tame, n, "fuzz");
	format_heaptrack.probe(tame, n);
	builder_begin(p);
	c = build_capture(p, "fuzz", "heaptrack");
	builder_end(p);
	rc = format_heaptrack.read(in, p, c, NULL, NULL, &e);
	if (rc != e.code || (rc < 0 && strncmp(err_text(&e), "fuzz: ", 6) != 0))
		abort();
	if (rc == 0)
		look(p);
	err_clear(&e);
	input_close(in);
	profile_free(p);
	free(tame);
}
