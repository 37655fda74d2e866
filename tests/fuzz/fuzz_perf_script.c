/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "formats/folded/folded.h"
#include "formats/perf_script/perf_script.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"

#include <stdlib.h>
#include <string.h>

/* Both ways to read names lead to something that can be written. */
static void read_as(const uint8_t *bytes, size_t n, const struct read_options *o)
{
	const struct write_options marks = { .mark_kernel = true, .mark_jit = true };
	struct input *in = input_of_bytes(bytes, n, "fuzz");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	capture_id c;
	char *text = NULL;
	size_t len = 0;
	FILE *to;
	int rc;

	builder_begin(p);
	c = build_capture(p, "fuzz", "perf-script");
	builder_end(p);
	rc = format_perf_script.read(in, p, c, o, NULL, &e);
	if (rc != e.code || (rc < 0 && strncmp(err_text(&e), "fuzz: ", 6) != 0))
		abort();
	input_close(in);
	err_clear(&e);
	if (rc < 0) {
		profile_free(p);
		return;
	}
	lens_init(&lens, p);
	to = open_memstream(&text, &len);
	if (!to || analysis_new(p, &lens, NULL, &a) < 0 ||
	    format_folded.write(a, &marks, to, NULL) < 0)
		abort();
	fclose(to);
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\n' && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f))
			abort();
	free(text);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

void fuzz_perf_script(const uint8_t *bytes, size_t n)
{
	const struct read_options printed = { .as_printed = true,
					      .addresses = true,
					      .root_names = ROOT_TID };

	format_perf_script.probe(bytes, n);
	read_as(bytes, n, NULL);
	read_as(bytes, n, &printed);
}
