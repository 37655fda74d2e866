/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a trace of heaptrack's. Files that they name are not opened: paths of the input become relative ones. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "formats/heaptrack/heaptrack.h"
#include "tests/fuzz/fuzz_format.h"

#include <stdlib.h>

void fuzz_heaptrack(const uint8_t *bytes, size_t n)
{
	uint8_t *tame = xmalloc(n + 1);

	for (size_t i = 0; i < n; i++)
		tame[i] = bytes[i] == '/' ? '_' : bytes[i];
	format_heaptrack.probe(tame, n);
	fuzz_read(&format_heaptrack, tame, n, fuzz_ask_heap);
	free(tame);
}
