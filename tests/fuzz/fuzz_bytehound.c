/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the events of a bytehound file, in one chunk that is stored; and as the chunks of one. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "formats/bytehound/bytehound.h"
#include "tests/fuzz/fuzz_format.h"

#include <stdlib.h>
#include <string.h>

/* Files that it names are not opened: paths become relative ones. */
static void read_tame(uint8_t *bytes, size_t n, size_t from)
{
	for (size_t i = from; i < n; i++)
		if (bytes[i] == '/' && i + 1 < n && bytes[i + 1] != 'p' && bytes[i + 1] != 's' &&
		    bytes[i + 1] != 'm')
			bytes[i] = '_';
	fuzz_format(&format_bytehound, bytes, n);
}

void fuzz_bytehound(const uint8_t *bytes, size_t n)
{
	uint8_t *stored = xmalloc(n + 5);
	uint32_t length = (uint32_t)n;

	memcpy(stored, bytes, n);
	read_tame(stored, n, 0);
	stored[0] = 2;
	memcpy(stored + 1, &length, sizeof(length));
	memcpy(stored + 5, bytes, n);
	read_tame(stored, n + 5, 5);
	free(stored);
}
