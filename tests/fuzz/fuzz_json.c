/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "formats/firefox/firefox.h"
#include "formats/format.h"
#include "formats/speedscope/speedscope.h"
#include "formats/v8/v8.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"

#include <stdlib.h>

static void read_as(const struct format *f, const uint8_t *bytes, size_t n)
{
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id c;

	f->probe(bytes, n);
	builder_begin(p);
	c = build_capture(p, "fuzz", f->name);
	builder_end(p);
	if (f->read(in, p, c, NULL, NULL, &e) == 0) {
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

void fuzz_json(const uint8_t *bytes, size_t n)
{
	read_as(&format_firefox, bytes, n);
	read_as(&format_speedscope, bytes, n);
	read_as(&format_v8, bytes, n);
}
