/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/firefox/firefox.h"
#include "formats/speedscope/speedscope.h"
#include "formats/v8/v8.h"
#include "tests/fuzz/fuzz_format.h"

void fuzz_json(const uint8_t *bytes, size_t n)
{
	fuzz_format(&format_firefox, bytes, n);
	fuzz_format(&format_speedscope, bytes, n);
	fuzz_format(&format_v8, bytes, n);
}
