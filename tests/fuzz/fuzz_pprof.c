/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/pprof/pprof.h"
#include "tests/fuzz/fuzz_format.h"

void fuzz_pprof(const uint8_t *bytes, size_t n)
{
	fuzz_format(&format_pprof, bytes, n);
}
