/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a perf.data: read, or refused with a sentence; what was read is consistent. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/perf_data.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "profile/sample_rows.h"

#include <stdlib.h>
#include <string.h>

static void check_profile(const struct profile *p)
{
	struct profile_counts n;
	struct stack_columns stacks;
	struct sample_columns columns;
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	uint32_t n_rows;

	profile_counts_read(p, &n);
	profile_stacks(p, &stacks);
	profile_samples(p, &columns);
	for (uint32_t i = 1; i < n.n_stacks; i++)
		if (stacks.parent[i] >= i || stacks.location[i] >= n.n_locations)
			abort();
	for (uint64_t row = 0; row < n.n_samples; row += n_rows) {
		n_rows = sample_rows_next(rows, &columns, row, n.n_samples, ROWS_ALL);
		for (uint32_t i = 0; i < n_rows; i++)
			if (rows->stack[i] >= n.n_stacks || sample_rows_weight(rows, i) < 0 ||
			    sample_rows_event(rows, i) >= n.n_events)
				abort();
	}
	free(rows);
}

void fuzz_perf_data(const uint8_t *bytes, size_t n)
{
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct read_options o = { .stitch = n > 0 && bytes[n - 1] & 1 };
	struct err e = ERR_INIT;
	capture_id c;
	int rc;

	format_perf_data.probe(bytes, n);
	builder_begin(p);
	c = build_capture(p, "fuzz", "perf.data");
	builder_end(p);
	rc = format_perf_data.read(in, p, c, &o, NULL, &e);
	if (rc != e.code || (rc < 0 && strncmp(err_text(&e), "fuzz: ", 6) != 0))
		abort();
	check_profile(p);
	err_clear(&e);
	input_close(in);
	profile_free(p);
}
