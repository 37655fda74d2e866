/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures that know modules and flags, written as folded stacks: as the scripts that others have write them. */
#include "config.h"

#include "formats/format.h"
#include "profile/builder.h"
#include "tests/support/written.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* From captures of perf: as stackcollapse-perf.pl would print them, and merged where that is alike. */
Test(folded_captures, a_raw_capture)
{
	static const struct {
		const char *comm;
		const char *frame[3];
		int64_t weight;
	} stacks[] = {
		{ "my prog", { "main", "f(int)", NULL }, 5 },
		{ "my prog", { "main", "f(char)", NULL }, 7 },
		{ "java", { "La/b;::c", "(anonymous namespace)::g(x)", "p->q()" }, 1 },
		{ "perl", { "La/b;::c", NULL, NULL }, 2 },
		{ "perl", { NULL, NULL, NULL }, 3 },
	};
	static const struct write_options whole = { .whole_names = true };
	struct profile *p = profile_new();
	event_id event;
	char *out;

	builder_begin(p);
	build_capture(p, "x", "perf.data");
	event = build_event(p, "cycles", UNIT_COUNT, true);
	for (size_t i = 0; i < N(stacks); i++) {
		struct sample s = { .thread = { ID_NONE }, .event = event, .cpu = CPU_NONE };

		s.time_ns = TIME_NONE;
		s.weight = stacks[i].weight;
		s.stack = build_stack(p, s.stack,
				      build_comm_location(p, build_cstring(p, stacks[i].comm)));
		for (size_t k = 0; k < 3 && stacks[i].frame[k]; k++) {
			function_id f = build_function(p, build_cstring(p, stacks[i].frame[k]),
						       (module_id){ 0 }, 0, (string_id){ 0 }, 0);

			s.stack = build_stack(p, s.stack, build_symbol_location(p, f));
		}
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	out = written_folded(p, NULL, false);
	cr_expect_str_eq(
		out, "java;a/b:::c;(anonymous namespace)::g;p;q_[i] 1\nmy_prog;main;f 12\nperl 3\n"
		     "perl;La/b:::c 2\n");
	free(out);
	out = written_folded(p, &whole, false);
	cr_expect_str_eq(out, "java;La/b:::c;(anonymous namespace)::g(x);p->q() 1\n"
			      "my prog;main;f(char) 7\nmy prog;main;f(int) 5\nperl 3\n"
			      "perl;La/b:::c 2\n");
	free(out);
	profile_free(p);
}

/* What has no symbol is "[module]" for others, though we know where its functions begin. */
Test(folded_captures, what_has_no_symbol)
{
	static const char *const names[] = { "[x.so+0x10]", "[x.so+0x20]", "[x.so]" };
	static const struct write_options whole = { .whole_names = true };
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	module_id m;
	char *out;

	builder_begin(p);
	build_capture(p, "x", "perf.data");
	m = build_module(p, "/x.so", "ab", FAMILY_LIBRARY);
	s.event = build_event(p, "cycles", UNIT_COUNT, true);
	for (size_t i = 0; i < N(names); i++) {
		uint32_t flags = i < 2 ? FUNCTION_UNRESOLVED | FUNCTION_BEGIN : FUNCTION_UNRESOLVED;
		function_id f = build_function(p, build_cstring(p, names[i]), m, flags,
					       (string_id){ 0 }, 0);

		s.weight = 1 << i;
		s.stack = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f));
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	out = written_folded(p, NULL, false);
	cr_assert_str_eq(out, "[x.so] 7\n");
	free(out);
	out = written_folded(p, &whole, false);
	cr_assert_str_eq(out, "[x.so+0x10] 1\n[x.so+0x20] 2\n[x.so] 4\n");
	free(out);
	profile_free(p);
}
