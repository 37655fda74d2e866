/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "formats/pprof/pprof.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"

#include <stdlib.h>

void fuzz_pprof(const uint8_t *bytes, size_t n)
{
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id c;

	format_pprof.probe(bytes, n);
	builder_begin(p);
	c = build_capture(p, "fuzz", "pprof");
	builder_end(p);
	if (format_pprof.read(in, p, c, NULL, NULL, &e) == 0) {
		struct analysis *a;
		struct lens lens;

		lens_init(&lens, p);
		if (analysis_new(p, &lens, NULL, &a) < 0)
			abort();
		analysis_free(a);
		lens_done(&lens);
	} else if (e.code == 0) {
		abort();
	}
	err_clear(&e);
	profile_free(p);
	input_close(in);
}
