/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/perf_result.h"

#include "formats/perf_data.h"
#include "input/input.h"
#include "profile/builder.h"

#include <criterion/criterion.h>
#include <string.h>

struct perf_result perf_result_of(struct input *in)
{
	struct perf_result r = { .error = ERR_INIT, .profile = profile_new() };
	capture_id c;

	builder_begin(r.profile);
	c = build_capture(r.profile, input_name(in), "perf.data");
	builder_end(r.profile);
	r.rc = format_perf_data.read(in, r.profile, c, NULL, NULL, &r.error);
	input_close(in);
	return r;
}

struct perf_result perf_result_of_bytes(const void *bytes, size_t n)
{
	return perf_result_of(input_of_bytes(bytes, n, "x.data"));
}

struct perf_result perf_result_of_path(const char *path)
{
	struct err e = ERR_INIT;
	struct input *in = NULL;

	cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
	return perf_result_of(in);
}

void perf_result_done(struct perf_result *r)
{
	err_clear(&r->error);
	profile_free(r->profile);
}

uint64_t perf_result_samples(const struct perf_result *r)
{
	struct profile_counts n;

	profile_counts_read(r->profile, &n);
	return n.n_samples;
}

const char *perf_result_fact(const struct perf_result *r, const char *section, const char *name)
{
	struct profile_counts n;

	profile_counts_read(r->profile, &n);
	for (uint32_t i = 0; i < n.n_facts; i++) {
		struct fact f = profile_fact(r->profile, i);

		if (!strcmp(profile_string(r->profile, f.section, NULL), section) &&
		    !strcmp(profile_string(r->profile, f.name, NULL), name))
			return profile_string(r->profile, f.text, NULL);
	}
	return "(none)";
}

bool perf_result_tells_loss(const struct perf_result *r)
{
	struct profile_counts n;

	profile_counts_read(r->profile, &n);
	for (uint32_t i = 0; i < n.n_facts; i++)
		if (profile_fact(r->profile, i).kind == FACT_LOSS)
			return true;
	return false;
}
