/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a heap trace, read with the checksums that its blocks should have. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "formats/heap_trace.h"
#include "heaptrace/heap_wire.h"
#include "tests/fuzz/fuzz_format.h"

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

void fuzz_heap_trace(const uint8_t *bytes, size_t n)
{
	uint8_t *mended = xmalloc(n + 1);

	memcpy(mended, bytes, n);
	mend_checksums(mended, n);
	fuzz_read(&format_heap_trace, mended, n, fuzz_ask_heap);
	free(mended);
}
