/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "read_recording.h"

#include <criterion/criterion.h>

#include "builder.h"
#include "err.h"
#include "format.h"
#include "input.h"
#include "perf_data.h"
#include "profile.h"

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
