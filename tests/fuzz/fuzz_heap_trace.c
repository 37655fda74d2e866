/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a heap trace, read with the checksums that its blocks should have. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/heap_trace.h"
#include "heaptrace/heap_wire.h"
#include "input/input.h"
#include "profile/builder.h"
#include "query/analysis.h"

#include <stdlib.h>
#include <string.h>

/* Else no change of a block would be looked at. */
static void mend_checksums(uint8_t *bytes, size_t n)
{
	struct heap_file_header head = {
		.version = 1, .unit_ns = 1000, .arch = HEAP_X86_64, .id_chunk_bits = 8
	};
	struct heap_block b;
	size_t need;

	if (n < HEAP_FILE_HEADER_SIZE)
		return;
	heap_put_file_header(bytes, &head);
	for (size_t at = HEAP_FILE_HEADER_SIZE; at < n; at += b.size) {
		if (heap_take_block(bytes + at, n - at, false, &b, &need) != HEAP_OK ||
		    b.size > n - at)
			return;
		heap_seal_block(bytes + at, &b);
	}
}

/* All that is asked of a profile: no weight may be more than there is. */
static void look(const struct profile *p)
{
	struct profile_counts counts;
	struct analysis *a;
	struct lens l;

	profile_counts_read(p, &counts);
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

void fuzz_heap_trace(const uint8_t *bytes, size_t n)
{
	uint8_t *mended = xmalloc(n + 1);
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct input *in;
	capture_id c;
	int rc;

	memcpy(mended, bytes, n);
	mend_checksums(mended, n);
	in = input_of_bytes(mended, n, "fuzz");
	builder_begin(p);
	c = build_capture(p, "fuzz", "heap");
	builder_end(p);
	rc = format_heap_trace.read(in, p, c, NULL, NULL, &e);
	if (rc != e.code || (rc < 0 && strncmp(err_text(&e), "fuzz: ", 6) != 0))
		abort();
	if (rc == 0)
		look(p);
	err_clear(&e);
	input_close(in);
	profile_free(p);
	free(mended);
}
