/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/read_recording.h"

#include <criterion/criterion.h>

#include "base/err.h"
#include "formats/format.h"
#include "formats/perf_data.h"
#include "formats/perf_script/perf_script.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "symbols/resolver.h"

struct profile *read_recording(const char *path)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct input *in = NULL;
	capture_id c;

	cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
	builder_begin(p);
	c = build_capture(p, path, "perf.data");
	builder_end(p);
	cr_expect_eq(format_perf_data.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	err_clear(&e);
	input_close(in);
	return p;
}

/* Reads a text; NULL where that fails, with the sentence in e. */
struct profile *read_script_text(const char *text, const struct read_options *o, struct err *e)
{
	struct input *in = input_of_bytes((const uint8_t *)text, strlen(text), "x");
	struct profile *p = profile_new();
	capture_id c;
	int rc;

	builder_begin(p);
	c = build_capture(p, "x", "perf-script");
	builder_end(p);
	rc = format_perf_script.read(in, p, c, o, NULL, e);
	input_close(in);
	if (rc == 0)
		return p;
	profile_free(p);
	return NULL;
}

struct profile *read_as(const char *format, const char *text)
{
	const struct resolver_options resolve = { 0 };
	const struct read_options options = { .resolve = &resolve };
	struct input *in = input_of_bytes(text, strlen(text), "test");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id capture;

	builder_begin(p);
	capture = build_capture(p, "test", format);
	cr_assert_eq(builder_end(p), 0);
	cr_assert_eq(format_by_name(format)->read(in, p, capture, &options, NULL, &e), 0, "%s",
		     err_text(&e));
	input_close(in);
	return p;
}
