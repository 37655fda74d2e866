/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the bytes as a pack, and a pack of sections that they are the bodies of, as checksums would keep anything else from what
 * sections hold: an id, a length of two bytes and the body, again and again.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "formats/pack/pack.h"
#include "formats/pack/pack_file.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"

#include <stdlib.h>

static void read_pack(const uint8_t *bytes, size_t n)
{
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "fuzz", "pack");
	builder_end(p);
	if (format_pack.read(in, p, c, NULL, NULL, &e) == 0) {
		struct analysis *a;
		struct lens lens;

		lens_init(&lens, p);
		if (analysis_new(p, &lens, NULL, &a) < 0)
			abort();
		analysis_footprint(a, NULL);
		analysis_free(a);
		lens_done(&lens);
	} else if (e.code == 0) {
		abort();
	}
	err_clear(&e);
	profile_free(p);
	input_close(in);
}

void fuzz_pack(const uint8_t *bytes, size_t n)
{
	pack_bytes file = { 0 }, body = { 0 };
	size_t at = 0;

	format_pack.probe(bytes, n);
	read_pack(bytes, n);
	pack_put_head(&file);
	while (at + 3 <= n) {
		size_t len = (size_t)bytes[at + 1] | (size_t)bytes[at + 2] << 8;

		len = len < n - at - 3 ? len : n - at - 3;
		for (size_t i = 0; i < len; i++)
			vec_push(&body, bytes[at + 3 + i]);
		pack_put_section(&file, (enum pack_section_id)bytes[at], &body);
		at += 3 + len;
	}
	pack_put_section(&file, PACK_END, &body);
	read_pack(file.at, file.n);
	vec_done(&file);
	vec_done(&body);
}
