/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/memray/memray.h"
#include "tests/fuzz/fuzz_format.h"

void fuzz_memray(const uint8_t *bytes, size_t n)
{
	fuzz_format(&format_memray, bytes, n);
}
