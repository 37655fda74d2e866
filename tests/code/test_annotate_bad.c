/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations from a damaged program: whatever its file holds, what is told holds together. */
#include "config.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "code/code_archive.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "symbols/search/resolver_options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_profile.h"

#define ROUNDS 400
#define STEP   61     /* bytes between two cuts of the file */
#define MOST   32768  /* bytes of the program */
#define AT     0x173d /* in match_length() of the demo, whose offsets are its addresses */
#define WEIGHT 30

static struct {
	char dir[32], path[64];
	struct profile *p;
	struct lens lens;
	struct analysis *a;
	struct code_wish wish;
	unsigned n_code; /* annotations with instructions */
} stage;

static void set_up(void)
{
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = WEIGHT, .time_ns = TIME_NONE
	};
	module_id m;
	location_id l;
	function_id f;

	snprintf(stage.dir, sizeof(stage.dir), "/tmp/proftop-elf-XXXXXX");
	cr_assert_not_null(mkdtemp(stage.dir));
	snprintf(stage.path, sizeof(stage.path), "%s/demo", stage.dir);
	stage.p = profile_new();
	builder_begin(stage.p);
	/* no build-id, so that damage to the file's own keeps nothing out */
	m = build_module(stage.p, "/opt/demo", "", FAMILY_PROGRAM);
	s.event = build_event(stage.p, "cycles", UNIT_COUNT, true);
	f = build_function(stage.p, build_cstring(stage.p, "match_length"), m, 0, (string_id){ 0 },
			   0);
	l = build_location(stage.p, m, AT);
	build_location_function(stage.p, l, f);
	s.stack = build_stack(stage.p, (stack_id){ 0 }, l);
	build_sample(stage.p, &s);
	builder_end(stage.p);
	made_lens(&stage.lens, stage.p, "");
	cr_assert_eq(analysis_new(stage.p, &stage.lens, NULL, &stage.a), 0);
	stage.wish.key_id = code_hottest(stage.a);
	cr_assert_neq(stage.wish.key_id, ID_NONE);
}

static void tear_down(void)
{
	analysis_free(stage.a);
	lens_done(&stage.lens);
	profile_free(stage.p);
	unlink(stage.path);
	rmdir(stage.dir);
}

static void check(const struct annotation *a)
{
	int64_t self = 0;

	for (size_t i = 0; i < a->blocks.n; i++) {
		const struct annotation_block *b = &a->blocks.at[i];

		cr_assert(b->first <= a->code.n && b->n <= a->code.n - b->first);
		cr_assert(b->why || b->n > 0, "neither code nor a reason");
	}
	for (size_t i = 0; i < a->code.n; i++) {
		const struct annotation_code *c = &a->code.at[i];

		cr_assert_lt(c->block, a->blocks.n);
		cr_assert_not_null(c->text);
		if (c->target != ANNOTATION_NONE) {
			cr_assert_lt(c->target, a->code.n);
			cr_assert_eq(a->code.at[c->target].block, c->block);
		}
		self += annotation_self(a, c->numbers)[0];
	}
	/* The one sample is at one instruction, or nowhere. */
	cr_assert(self == 0 || self == WEIGHT, "%ld", (long)self);
	cr_assert(a->code.n > 0 || a->nothing);
}

/* What a pack brings of the program's code, in place of the program. */
static void annotate_packed(const uint8_t *bytes, size_t n)
{
	const struct resolver_options symbols = { .n_symbol_dirs = 0 };
	const struct annotate_options o = { .symbols = &symbols };
	struct annotation *a = NULL;
	uint8_t *copy = xmalloc(n + 1);

	memcpy(copy, bytes, n);
	tear_down();
	set_up();
	build_attachment(stage.p, ATTACHMENT_CODE, "/opt/demo", copy, n);
	cr_assert_eq(annotate(stage.a, &o, &stage.wish, NULL, &a), 0);
	check(a);
	stage.n_code += a->code.n > 0;
	annotation_free(a);
}

static void annotate_bytes(const uint8_t *bytes, size_t n)
{
	const char *const dirs[] = { stage.dir };
	const struct resolver_options symbols = { .symbol_dirs = dirs, .n_symbol_dirs = 1 };
	const struct annotate_options o = { .symbols = &symbols };
	struct annotation *a = NULL;
	int fd = open(stage.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	cr_assert_eq(annotate(stage.a, &o, &stage.wish, NULL, &a), 0);
	check(a);
	stage.n_code += a->code.n > 0;
	annotation_free(a);
}

static size_t read_demo(uint8_t *bytes)
{
	FILE *f = fopen(TEST_DATA "/demo", "rb");
	size_t n;

	cr_assert_not_null(f);
	n = fread(bytes, 1, MOST, f);
	fclose(f);
	cr_assert(n > 0 && n < MOST);
	return n;
}

TestSuite(annotate_bad, .init = set_up, .fini = tear_down, .timeout = 300);

Test(annotate_bad, survives_variations)
{
	uint8_t *bytes = xmalloc(MOST);
	size_t n = read_demo(bytes);

	fuzz_vary(annotate_bytes, bytes, n, ROUNDS);
	/* Else nothing but the refusal of a file was tried. */
	cr_expect_gt(stage.n_code, ROUNDS / 20, "%u of %d have code", stage.n_code, ROUNDS);
	free(bytes);
}

/* Heads and tables are where damage leads furthest. */
Test(annotate_bad, survives_each_byte_of_heads)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint8_t *bytes = xmalloc(MOST);
	size_t n = read_demo(bytes);
	uint64_t sections;

	memcpy(&sections, bytes + 40, sizeof(sections)); /* e_shoff */
	cr_assert_lt(sections, n);
	for (size_t at = 16; at < n; at += 3) {
		uint8_t was;

		if (at >= 64 && at < sections)
			at = (size_t)sections;
		was = bytes[at];
		bytes[at] = values[at / 3 % sizeof(values)];
		annotate_bytes(bytes, n);
		bytes[at] = was;
	}
	cr_expect_gt(stage.n_code, 100, "%u have code", stage.n_code);
	free(bytes);
}

Test(annotate_bad, survives_cuts)
{
	uint8_t *bytes = xmalloc(MOST);
	size_t n = read_demo(bytes);
	unsigned before;

	/* Behind the function only tables are lost, and what unwind tables tell of it is there still. */
	for (size_t cut = 0; cut < n; cut += STEP) {
		annotate_bytes(bytes, cut);
		cr_assert(stage.n_code == 0 || cut > AT, "code that is not in the %zu bytes", cut);
	}
	before = stage.n_code;
	annotate_bytes(bytes, n);
	cr_expect_eq(stage.n_code, before + 1);
	cr_expect_lt(before, n / STEP, "%u before", before);
	free(bytes);
}

Test(annotate_bad, survives_damaged_packs)
{
	const char *const dirs[] = { stage.dir };
	const struct resolver_options symbols = { .symbol_dirs = dirs, .n_symbol_dirs = 1 };
	const struct annotate_options where = { .symbols = &symbols };
	const struct code_archive_wish wish = {
		.where = &where, .code = true, .sources = true, .paths = true
	};
	uint8_t *bytes = xmalloc(MOST), *code;
	struct code_archive archive;
	unsigned before;
	size_t n = read_demo(bytes);

	annotate_bytes(bytes, n);
	cr_assert_eq(code_archive_make(&archive, stage.p, &wish, NULL), 0);
	cr_assert_eq(archive.modules.n, 1);
	cr_assert_eq(archive.n_functions, 1);
	code = archive.modules.at[0].bytes.at;
	n = archive.modules.at[0].bytes.n;
	before = stage.n_code;
	annotate_packed(code, n);
	cr_expect_eq(stage.n_code, before + 1, "a pack's code is not shown");
	fuzz_vary(annotate_packed, code, n, ROUNDS);
	for (size_t cut = 0; cut < n; cut += 1 + n / 100)
		annotate_packed(code, cut);
	code_archive_done(&archive);
	free(bytes);
}
