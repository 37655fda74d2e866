/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the bytes as a pack, and a pack of sections that they are the bodies of, as checksums would keep anything else from what
 * sections hold: an id, a length of two bytes and the body, again and again.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "formats/pack/pack.h"
#include "formats/pack/pack_file.h"
#include "tests/fuzz/fuzz_format.h"

#include <stdlib.h>

/* The first screen's question, and that of memory over time. */
static void ask(const struct profile *p)
{
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	if (analysis_new(p, &lens, NULL, &a) < 0)
		abort();
	analysis_footprint(a, NULL);
	analysis_free(a);
	lens_done(&lens);
}

void fuzz_pack(const uint8_t *bytes, size_t n)
{
	pack_bytes file = { 0 }, body = { 0 };
	size_t at = 0;

	format_pack.probe(bytes, n);
	fuzz_read(&format_pack, bytes, n, ask);
	pack_put_head(&file, PACK_MAGIC);
	while (at + 3 <= n) {
		size_t len = (size_t)bytes[at + 1] | (size_t)bytes[at + 2] << 8;

		len = len < n - at - 3 ? len : n - at - 3;
		for (size_t i = 0; i < len; i++)
			vec_push(&body, bytes[at + 3 + i]);
		pack_put_section(&file, (enum pack_section_id)bytes[at], PACK_SMALL, &body);
		at += 3 + len;
	}
	pack_put_section(&file, PACK_END, PACK_SMALL, &body);
	fuzz_read(&format_pack, file.at, file.n, ask);
	vec_done(&file);
	vec_done(&body);
}
