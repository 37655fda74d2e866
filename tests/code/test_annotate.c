/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations of tests/data/demo, a small program without debug information: its lines come from the profile. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "symbols/search/resolver_options.h"
#include "tests/support/made_profile.h"

#define BUILD_ID "32643c76f7d37e7439ba4965b451d2d48106f28e"
#define OTHER_ID "0000000000000000000000000000000000000001"

/* match_length() of the demo, whose offsets are its addresses. */
#define CMP 0x173d
#define JE  0x1740

struct story {
	struct profile *p;
	struct lens lens;
	struct analysis *a;
};

/*
 * Two samples of match_length: one at an instruction, one in the middle of another, as callers are. What is inlined at the first
 * is "same", or the function itself; the second is on a line, or on none (0).
 */
static struct story make_of(const char *path, const char *build_id, const char *source,
			    bool recursive, uint32_t second_line)
{
	struct story s = { .p = profile_new() };
	static const struct {
		uint64_t address;
		uint32_t line;
		int64_t weight;
	} at[] = { { CMP, 3, 30 }, { JE + 1, 5, 10 } };
	uint32_t line[] = { at[0].line, second_line };
	module_id m;
	function_id f, in;
	string_id file;
	event_id e;

	builder_begin(s.p);
	m = build_module(s.p, path, build_id, path[0] == '[' ? FAMILY_KERNEL : FAMILY_PROGRAM);
	e = build_event(s.p, "cycles", UNIT_COUNT, true);
	file = build_cstring(s.p, source ? source : "");
	f = build_function(s.p, build_cstring(s.p, "match_length"), m, 0, file, 2);
	in = build_function(s.p, build_cstring(s.p, "same"), m, 0, file, 1);
	for (size_t i = 0; i < 2; i++) {
		struct sample sample = { .thread = { ID_NONE },
					 .cpu = CPU_NONE,
					 .event = e,
					 .weight = at[i].weight,
					 .time_ns = TIME_NONE };
		location_id l = build_location(s.p, m, at[i].address);
		const struct frame run[] = { { f.v, file.v, line[i], 0 },
					     { recursive ? f.v : in.v, file.v, 1, 0 } };

		build_location_function(s.p, l, f);
		if (source)
			build_location_inlines(s.p, l, run, i == 0 ? 2 : 1);
		sample.stack = build_stack(s.p, (stack_id){ 0 }, l);
		build_sample(s.p, &sample);
	}
	builder_end(s.p);
	made_lens(&s.lens, s.p, "");
	cr_assert_eq(analysis_new(s.p, &s.lens, NULL, &s.a), 0);
	return s;
}

static struct story make(const char *path, const char *build_id, const char *source)
{
	return make_of(path, build_id, source, false, 5);
}

static struct annotation *annotate_in(const struct story *s, const char *const *dirs)
{
	const struct resolver_options symbols = { .symbol_dirs = dirs, .n_symbol_dirs = 1 };
	const struct annotate_options o = { .symbols = &symbols };
	struct code_wish wish = { .path = 0 };
	struct annotation *a = NULL;

	for (uint32_t i = 0; i < s->a->keys.n; i++)
		if (strcmp(s->a->keys.key[i].label, "match_length") == 0)
			wish.key_id = s->a->keys.key[i].id;
	cr_assert_eq(annotate(s->a, &o, &wish, NULL, &a), 0);
	return a;
}

static struct annotation *annotate_it(const struct story *s)
{
	const char *const dirs[] = { TEST_DATA };

	return annotate_in(s, dirs);
}

static void end(struct story *s, struct annotation *a)
{
	annotation_free(a);
	analysis_free(s->a);
	lens_done(&s->lens);
	profile_free(s->p);
}

static const struct annotation_code *at_address(const struct annotation *a, uint64_t shown)
{
	for (size_t i = 0; i < a->code.n; i++)
		if (a->code.at[i].shown == shown)
			return &a->code.at[i];
	return NULL;
}

Test(annotate, instructions_have_their_weights)
{
	struct story s = make("/opt/demo", BUILD_ID, NULL);
	struct annotation *a = annotate_it(&s);
	const struct annotation_code *cmp = at_address(a, CMP), *je = at_address(a, JE);

	cr_assert_eq(a->blocks.n, 1);
	cr_expect_null(a->blocks.at[0].why);
	cr_expect_eq(a->code.n, 16);
	cr_expect_eq(a->sources.n, 0);
	cr_assert(cmp && je);
	cr_expect_str_eq(cmp->text, "cmpb    %dl, (%rdi, %rcx)");
	cr_expect_eq(annotation_self(a, cmp->numbers)[0], 30);
	cr_expect_eq(annotation_self(a, je->numbers)[0], 10);
	cr_expect_eq(je->flow, FLOW_BRANCH);
	cr_assert_neq(je->target, ANNOTATION_NONE);
	cr_expect_eq(a->code.at[je->target].shown, 0x1730);
	cr_expect(a->code.at[je->target].is_target);
	cr_expect_eq(at_address(a, 0x1720)->numbers, ANNOTATION_NONE);
	end(&s, a);
}

Test(annotate, without_the_recorded_file_says_so)
{
	struct story s = make("/opt/demo", OTHER_ID, NULL);
	struct annotation *a = annotate_it(&s);

	cr_expect_eq(a->code.n, 0);
	cr_assert_not_null(a->nothing);
	cr_expect_not_null(strstr(a->nothing, "has build-id " BUILD_ID), "%s", a->nothing);
	end(&s, a);
	s = make("/nowhere/at_all", OTHER_ID, NULL);
	a = annotate_it(&s);
	cr_expect_not_null(strstr(a->nothing, "no file of /nowhere/at_all with build-id"), "%s",
			   a->nothing);
	end(&s, a);
}

/* What has no file, or another one, says why there is no code. */
static const struct {
	const char *path, *build_id, *says;
} without[] = {
	{ "[kernel.kallsyms]", OTHER_ID, "a vmlinux with its build-id" },
	{ "[kernel.kallsyms]", "", "a vmlinux with its build-id" },
	{ "[nf_tables]", OTHER_ID, "build-id" },
	{ "/tmp/jit-1.dump", "", "/tmp/jit-1.dump was not found" },
	{ "/tmp/perf-4194305.map", "", "only a jitdump keeps the bytes" },
	{ "/tmp/perf-4194305.mapped", "", "/tmp/perf-4194305.mapped was not found" },
	{ "//anon", "", "only a jitdump keeps the bytes" },
	{ "[vdso]", OTHER_ID, "build-id" },
	{ "", "", "" },
};

/* The analysis anew, with a filter. */
static void look_with(struct story *s, const char *filter)
{
	analysis_free(s->a);
	lens_done(&s->lens);
	made_lens(&s->lens, s->p, filter);
	cr_assert_eq(analysis_new(s->p, &s->lens, NULL, &s->a), 0);
}

/* A file of stacks without addresses has no code, and that is no fault of the code. */
Test(annotate, without_addresses)
{
	static const char *const paths[] = { "/opt/demo", "" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct story s = { .p = profile_new() };
		struct sample sample = { .thread = { ID_NONE }, .weight = 7, .time_ns = TIME_NONE };
		struct annotation *a;
		module_id m;

		builder_begin(s.p);
		m = build_module(s.p, paths[i], "", FAMILY_PROGRAM);
		sample.event = build_event(s.p, "cycles", UNIT_COUNT, true);
		sample.stack = build_stack(
			s.p, (stack_id){ 0 },
			build_symbol_location(
				s.p, build_function(s.p, build_cstring(s.p, "match_length"), m, 0,
						    (string_id){ 0 }, 0)));
		build_sample(s.p, &sample);
		builder_end(s.p);
		made_lens(&s.lens, s.p, "");
		cr_assert_eq(analysis_new(s.p, &s.lens, NULL, &s.a), 0);
		a = annotate_it(&s);
		cr_expect(strstr(a->nothing, "the file keeps no addresses"), "%s", a->nothing);
		end(&s, a);
	}
}

Test(annotate, without_any_code)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		struct story s = make(without[i].path, without[i].build_id, NULL);
		struct annotation *a = annotate_it(&s);

		cr_expect_eq(a->code.n, 0, "%s", without[i].path);
		cr_assert_not_null(a->nothing);
		cr_expect_not_null(strstr(a->nothing, without[i].says), "%s: %s", without[i].path,
				   a->nothing);
		end(&s, a);
	}
}

static void put(FILE *f, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputc((int)(value >> 8 * i & 0xff), f);
}

/* Generated code is in its dump: push, a jump back to it, return. */
Test(annotate, generated_code_is_read_from_its_dump)
{
	static const uint8_t bytes[] = { 0x55, 0xeb, 0xfd, 0xc3 };
	char dir[] = "/tmp/proftop-jit-XXXXXX", *path;
	struct annotation *a;
	struct story s = { .p = profile_new() };
	struct sample sample = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 7, .time_ns = TIME_NONE
	};
	const char *dirs[1];
	location_id l;
	module_id m;
	FILE *f;

	cr_assert_not_null(mkdtemp(dir));
	dirs[0] = dir;
	path = xasprintf("%s/jit-4194305.dump", dir);
	f = fopen(path, "wb");
	cr_assert_not_null(f);
	put(f, 0x4a695444, 4); /* jitdump-specification.txt: head of 40 bytes, for EM_X86_64 */
	put(f, 1, 4);
	put(f, 40, 4);
	put(f, 62, 4);
	put(f, 0, 4);
	put(f, 4194305, 4);
	put(f, 1, 8);
	put(f, 0, 8);
	put(f, 0, 4); /* JIT_CODE_LOAD of 56 bytes, name, code */
	put(f, 56 + 5 + sizeof(bytes), 4);
	put(f, 2, 8);
	put(f, 4194305, 4);
	put(f, 4194305, 4);
	put(f, 0x1000, 8);
	put(f, 0x1000, 8);
	put(f, sizeof(bytes), 8);
	put(f, 1, 8);
	fwrite("spin", 1, 5, f);
	fwrite(bytes, 1, sizeof(bytes), f);
	fclose(f);

	builder_begin(s.p);
	m = build_module(s.p, "/tmp/jit-4194305.dump", "", FAMILY_JIT);
	sample.event = build_event(s.p, "cycles", UNIT_COUNT, true);
	l = build_location(s.p, m, 40 + 56 + 5 + 1);
	build_location_function(
		s.p, l,
		build_function(s.p, build_cstring(s.p, "match_length"), m, 0, (string_id){ 0 }, 0));
	sample.stack = build_stack(s.p, (stack_id){ 0 }, l);
	build_sample(s.p, &sample);
	builder_end(s.p);
	made_lens(&s.lens, s.p, "");
	cr_assert_eq(analysis_new(s.p, &s.lens, NULL, &s.a), 0);
	a = annotate_in(&s, dirs);
	cr_expect_eq(a->code.n, 3, "%s", a->nothing ? a->nothing : "");
	if (a->code.n == 3) {
		cr_expect_str_eq(a->code.at[0].text, "pushq   %rbp");
		cr_expect_eq(annotation_self(a, a->code.at[1].numbers)[0], 7);
		cr_expect_eq(a->code.at[1].target, 0);
		cr_expect_eq(a->code.at[2].flow, FLOW_RETURN);
	}
	end(&s, a);
	unlink(path);
	rmdir(dir);
	free(path);
}

static char *rows_text(const struct annotation *a, enum annotation_mode mode)
{
	struct annotation_rows rows = { .mode = mode };
	char *out = NULL;
	size_t n;
	FILE *to = open_memstream(&out, &n);

	annotation_rows_make(&rows, a, mode);
	for (size_t i = 0; i < rows.all.n; i++) {
		const struct annotation_row *r = &rows.all.at[i];
		uint32_t numbers = annotation_row_numbers(a, r);

		if (r->kind == ANNOTATION_ROW_SOURCE)
			fprintf(to, "%u %s", a->sources.at[r->at].line,
				a->sources.at[r->at].text ? a->sources.at[r->at].text : "?");
		else if (r->kind == ANNOTATION_ROW_INLINE)
			fprintf(to, " > %s:%u", a->inlines.at[r->at].function,
				a->inlines.at[r->at].line);
		else if (r->kind == ANNOTATION_ROW_FILE)
			fprintf(to, "%s", a->files.at[r->at].name);
		else if (r->kind == ANNOTATION_ROW_WARNING)
			fprintf(to, "!");
		else
			continue;
		if (numbers != ANNOTATION_NONE)
			fprintf(to, " %ld/%ld", (long)annotation_self(a, numbers)[0],
				(long)annotation_total(a, numbers)[0]);
		fputc('\n', to);
	}
	annotation_rows_done(&rows);
	fclose(to);
	return out;
}

Test(annotate, lines_have_inlined_calls_in_place)
{
	char source[] = "/tmp/proftop-annotate-XXXXXX";
	int fd = mkstemp(source);
	struct annotation *a;
	struct story s;
	char *text, *is;

	cr_assert(fd >= 0 && write(fd, "a\nb\nc\nd\ne\nf\ng\nh\n", 16) == 16);
	close(fd);
	s = make("/opt/demo", BUILD_ID, source);
	a = annotate_it(&s);
	text = rows_text(a, ANNOTATION_SOURCE);
	/* The inlined function's cost is in the total of the line that it was inlined into. */
	is = xasprintf("%s\n1 a\n2 b\n3 c 0/30\n > same:1 30/30\n4 d\n5 e 10/10\n6 f\n7 g\n",
		       strrchr(source, '/') + 1);
	cr_expect_str_eq(text, is, "%s", text);
	cr_expect_eq(a->total[0], 40);
	cr_expect_eq(a->self[0], 10);
	cr_expect_eq(a->code_self[0], 40);
	free(text);
	annotation_free(a);
	/* Transforms that take the inlined frame away leave its cost to the line, once. */
	for (int i = 0; i < 2; i++) {
		look_with(&s, i ? "merge:^same$" : "collapse:^match_length$");
		a = annotate_it(&s);
		text = rows_text(a, ANNOTATION_SOURCE);
		free(is);
		is = xasprintf("%s\n1 a\n2 b\n3 c 30/30\n4 d\n5 e 10/10\n6 f\n7 g\n",
			       strrchr(source, '/') + 1);
		cr_expect_str_eq(text, is, "%s", text);
		cr_expect_eq(a->self[0], 40);
		cr_expect_eq(a->no_line[0], 0);
		free(text);
		if (i == 0)
			annotation_free(a);
	}
	free(is);
	end(&s, a);
	/* Inlined into itself it counts once, at the line further in; what is on no line is said. */
	s = make_of("/opt/demo", BUILD_ID, source, true, 0);
	a = annotate_it(&s);
	text = rows_text(a, ANNOTATION_SOURCE);
	is = xasprintf("!\n%s\n1 a 30/30\n2 b\n3 c 0/30\n > match_length:1 0/30\n4 d\n5 e\n",
		       strrchr(source, '/') + 1);
	cr_expect_str_eq(text, is, "%s", text);
	cr_expect_str_eq(a->no_line_text, "25.0 % of what ended in its code is on no source line");
	free(text);
	free(is);
	end(&s, a);
	unlink(source);
	/* Gone: the lines stay, and a sentence says what is missing. */
	s = make("/opt/demo", BUILD_ID, source);
	a = annotate_it(&s);
	text = rows_text(a, ANNOTATION_SOURCE);
	cr_expect_str_eq(text, "!\n", "%s", text); /* the assembly alone, and why */
	free(text);
	end(&s, a);
	s = make("/opt/demo", OTHER_ID, source);
	a = annotate_it(&s);
	text = rows_text(a, ANNOTATION_SOURCE);
	is = xasprintf("%s\n!\n3 ? 0/30\n > same:1 30/30\n5 ? 10/10\n", strrchr(source, '/') + 1);
	cr_expect_str_eq(text, is, "%s", text);
	cr_expect_not_null(strstr(a->files.at[0].why, "--source DIR"));
	free(text);
	free(is);
	end(&s, a);
}
