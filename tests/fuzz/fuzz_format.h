/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What targets of whole formats do: probe, read, and ask for what a first screen asks for. */
#ifndef PROFTOP_TESTS_FUZZ_FORMAT_H
#define PROFTOP_TESTS_FUZZ_FORMAT_H

#include "base/err.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline void fuzz_format(const struct format *f, const uint8_t *bytes, size_t n)
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

#endif
