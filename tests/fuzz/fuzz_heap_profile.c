/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the text of a heap profile. Files that it names are not opened: paths of the input become relative ones. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "formats/heap_profile/heap_profile.h"
#include "tests/fuzz/fuzz_format.h"

#include <stdlib.h>

void fuzz_heap_profile(const uint8_t *bytes, size_t n)
{
	uint8_t *tame = xmalloc(n + 1);

	for (size_t i = 0; i < n; i++)
		tame[i] = bytes[i] == '/' && i > 12 ? '_' : bytes[i];
	fuzz_format(&format_heap_profile, tame, n);
	free(tame);
}
