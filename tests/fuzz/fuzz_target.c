/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libFuzzer calls: FUZZ_TARGET, one of fuzz.h. Only fuzz.sh builds this. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FUZZ_TARGET(bytes, n);
	return 0;
}
