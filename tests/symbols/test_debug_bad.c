/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug information that is meant to hurt. What is whole is answered, what is not is counted, and
 * nothing takes long or runs out of stack; and any damage, a few thousand times.
 */
#include "dwarf/debug_info.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/made_dwarf.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE       0x1000u
#define CODE_BYTES 0x1000u
#define ASKED      0x1234u
#define MAX_FRAMES 4

/* Codes of the abbreviations that all cases share. */
enum {
	A_UNIT = 1,
	A_FUNCTION,
	A_BLOCK,
	A_INLINED,
	A_INSTANCE,
	A_NAMESPACE,
	A_DECLARATION,
	A_MEMBER,
	A_RANGES,
	A_SIBLING,
	A_INDIRECT
};

static void put_abbrev(struct made_bytes *b, unsigned code, unsigned tag, bool children,
		       const uint16_t (*attrs)[2], size_t n)
{
	put_uleb(b, code);
	put_uleb(b, tag);
	put_u8(b, children);
	for (size_t i = 0; i < n; i++) {
		put_uleb(b, attrs[i][0]);
		put_uleb(b, attrs[i][1]);
	}
	put_u16(b, 0);
}

#define ABBREV(b, code, tag, children, ...) \
	do { \
		static const uint16_t attrs_[][2] = { __VA_ARGS__ }; \
		put_abbrev(b, code, tag, children, attrs_, sizeof(attrs_) / sizeof(*attrs_)); \
	} while (0)

static void put_abbrevs(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_ABBREV];

	ABBREV(b, A_UNIT, DW_TAG_compile_unit, true, { DW_AT_low_pc, DW_FORM_addr },
	       { DW_AT_high_pc, DW_FORM_data4 }, { DW_AT_stmt_list, DW_FORM_sec_offset },
	       { DW_AT_language, DW_FORM_data1 });
	ABBREV(b, A_FUNCTION, DW_TAG_subprogram, true, { DW_AT_name, DW_FORM_string },
	       { DW_AT_low_pc, DW_FORM_addr }, { DW_AT_high_pc, DW_FORM_data4 });
	put_abbrev(b, A_BLOCK, DW_TAG_lexical_block, true, NULL, 0);
	ABBREV(b, A_INLINED, DW_TAG_inlined_subroutine, true,
	       { DW_AT_abstract_origin, DW_FORM_ref4 }, { DW_AT_low_pc, DW_FORM_addr },
	       { DW_AT_high_pc, DW_FORM_data4 }, { DW_AT_call_line, DW_FORM_data1 });
	ABBREV(b, A_INSTANCE, DW_TAG_subprogram, false, { DW_AT_abstract_origin, DW_FORM_ref4 },
	       { DW_AT_specification, DW_FORM_ref4 });
	ABBREV(b, A_NAMESPACE, DW_TAG_namespace, true, { DW_AT_name, DW_FORM_string });
	ABBREV(b, A_DECLARATION, DW_TAG_subprogram, false, { DW_AT_name, DW_FORM_string });
	ABBREV(b, A_MEMBER, DW_TAG_subprogram, false, { DW_AT_specification, DW_FORM_ref4 },
	       { DW_AT_low_pc, DW_FORM_addr }, { DW_AT_high_pc, DW_FORM_data4 });
	ABBREV(b, A_RANGES, DW_TAG_subprogram, false, { DW_AT_name, DW_FORM_string },
	       { DW_AT_ranges, DW_FORM_sec_offset });
	ABBREV(b, A_SIBLING, DW_TAG_structure_type, true, { DW_AT_sibling, DW_FORM_ref4 });
	ABBREV(b, A_INDIRECT, DW_TAG_variable, false, { DW_AT_name, DW_FORM_indirect });
	put_u8(b, 0);
}

/* The head of a unit that covers the code; its length is set by end_unit(). */
static size_t begin_unit(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t at = b->v.n;

	put_u32(b, 0);
	put_u16(b, 5);
	put_u8(b, DW_UT_compile);
	put_u8(b, 8);
	put_u32(b, 0);
	put_uleb(b, A_UNIT);
	put_u64(b, CODE);
	put_u32(b, CODE_BYTES);
	put_u32(b, 0);
	put_u8(b, DW_LANG_C_plus_plus_14);
	return at;
}

static void end_unit(struct made_dwarf *m, size_t at)
{
	put_u8(&m->section[MADE_INFO], 0);
	set_u32(&m->section[MADE_INFO], at, m->section[MADE_INFO].v.n - at - 4);
}

static void put_code(struct made_bytes *b)
{
	put_u64(b, CODE);
	put_u32(b, CODE_BYTES);
}

static void put_function(struct made_bytes *b, const char *name)
{
	put_uleb(b, A_FUNCTION);
	put_text(b, name);
	put_code(b);
}

/* Number of bytes of the unit before what comes next: what DW_FORM_ref4 says. */
static uint64_t here(const struct made_dwarf *m, size_t unit)
{
	return m->section[MADE_INFO].v.n - unit;
}

static void put_inlined(struct made_bytes *b, uint64_t origin)
{
	put_uleb(b, A_INLINED);
	put_u32(b, origin);
	put_code(b);
	put_u8(b, 7);
}

static void plain(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);
	uint64_t g = here(m, u);

	put_uleb(b, A_DECLARATION);
	put_text(b, "g");
	put_function(b, "f");
	put_inlined(b, g);
	put_u8(b, 0);
	put_u8(b, 0);
	end_unit(m, u);
}

static void circular_origin(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);
	uint64_t first = here(m, u), second = first + 9;

	put_uleb(b, A_INSTANCE);
	put_u32(b, second);
	put_u32(b, first);
	put_uleb(b, A_INSTANCE);
	put_u32(b, first);
	put_u32(b, second);
	put_function(b, "f");
	put_inlined(b, first);
	put_u8(b, 0);
	put_u8(b, 0);
	end_unit(m, u);
}

static void own_origin(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_inlined(b, here(m, u));
	put_u8(b, 0);
	put_u8(b, 0);
	end_unit(m, u);
}

static void origin_outside(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_inlined(b, 0xfffffff0);
	put_u8(b, 0);
	put_u8(b, 0);
	end_unit(m, u);
}

static void deep(struct made_dwarf *m, unsigned code, const char *name)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m), n = 1000000;

	if (code != A_NAMESPACE)
		put_function(b, "f");
	for (size_t i = 0; i < n; i++) {
		put_uleb(b, code);
		if (name)
			put_text(b, name);
	}
	if (code == A_NAMESPACE)
		put_function(b, "f");
	for (size_t i = 0; i < n + 1; i++)
		put_u8(b, 0);
	end_unit(m, u);
}

static void deep_blocks(struct made_dwarf *m)
{
	deep(m, A_BLOCK, NULL);
}

static void deep_namespaces(struct made_dwarf *m)
{
	deep(m, A_NAMESPACE, "n");
}

/* No lists of children end. */
static void open_blocks(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	for (size_t i = 0; i < 1000000; i++)
		put_uleb(b, A_BLOCK);
	set_u32(b, u, b->v.n - u - 4);
}

static void deep_calls(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m), n = 100000;
	uint64_t g = here(m, u);

	put_uleb(b, A_DECLARATION);
	put_text(b, "g");
	put_function(b, "f");
	for (size_t i = 0; i < n; i++)
		put_inlined(b, g);
	for (size_t i = 0; i < n + 1; i++)
		put_u8(b, 0);
	end_unit(m, u);
}

static void many_functions(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	for (size_t i = 0; i < 200000; i++) {
		put_function(b, "f");
		put_u8(b, 0);
	}
	end_unit(m, u);
}

static void backward_sibling(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_uleb(b, A_SIBLING);
	put_u32(b, here(m, u) - 1);
	put_u8(b, 0);
	put_uleb(b, A_SIBLING);
	put_u32(b, 0xffffffff);
	put_u8(b, 0);
	put_function(b, "f");
	put_u8(b, 0);
	end_unit(m, u);
}

static void circular_indirect(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_u8(b, 0);
	put_uleb(b, A_INDIRECT);
	for (size_t i = 0; i < 100000; i++)
		put_uleb(b, DW_FORM_indirect);
	end_unit(m, u);
}

static void unknown_code(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_u8(b, 0);
	put_uleb(b, 99);
	end_unit(m, u);
}

/* The second unit claims more than there is. */
static void long_unit(struct made_dwarf *m)
{
	plain(m);
	set_u32(&m->section[MADE_INFO], begin_unit(m), 0x7fffffff);
}

static void reserved_length(struct made_dwarf *m)
{
	plain(m);
	set_u32(&m->section[MADE_INFO], begin_unit(m), 0xfffffff5);
}

/* Units that contain nothing but themselves. */
static void many_units(struct made_dwarf *m)
{
	plain(m);
	for (size_t i = 0; i < 100000; i++) {
		put_u32(&m->section[MADE_INFO], 3);
		put_bytes(&m->section[MADE_INFO], "\5\0\1", 3);
	}
}

static void many_abbrevs(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_ABBREV];

	plain(m);
	vec_clear(&b->v);
	for (size_t i = 1; i < 10000000 / 8; i++) {
		put_uleb(b, i + 100);
		put_uleb(b, DW_TAG_variable);
		put_u8(b, 0);
		put_u16(b, 0);
	}
	put_u8(b, 0);
}

static void endless_attributes(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_ABBREV];

	plain(m);
	vec_clear(&b->v);
	put_uleb(b, A_UNIT);
	put_uleb(b, DW_TAG_compile_unit);
	put_u8(b, 1);
	for (size_t i = 0; i < 3000000; i++) {
		put_uleb(b, DW_AT_name);
		put_uleb(b, DW_FORM_flag_present);
	}
}

/* Base addresses without end, then a range. */
static void long_list(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO], *l = &m->section[MADE_RNGLISTS];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_u8(b, 0);
	for (size_t i = 0; i < 100; i++) {
		put_uleb(b, A_RANGES);
		put_text(b, "g");
		put_u32(b, i * 9);
	}
	end_unit(m, u);
	for (size_t i = 0; i < 1000000; i++) {
		put_u8(l, DW_RLE_base_address);
		put_u64(l, i);
	}
}

static void list_outside(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_INFO];
	size_t u = begin_unit(m);

	put_function(b, "f");
	put_u8(b, 0);
	put_uleb(b, A_RANGES);
	put_text(b, "g");
	put_u32(b, 0xffffff00);
	end_unit(m, u);
}

/* A line table's head, of version 5; the caller adds what follows and sets the lengths. */
static void put_lines(struct made_bytes *b, unsigned range, unsigned opcode_base)
{
	static const uint8_t n_args[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

	put_u32(b, 0);
	put_u16(b, 5);
	put_u8(b, 8);
	put_u8(b, 0);
	put_u32(b, 0);
	put_u8(b, 1);
	put_u8(b, 1);
	put_u8(b, 1);
	put_u8(b, 0xfb);
	put_u8(b, range);
	put_u8(b, opcode_base);
	put_bytes(b, n_args, opcode_base > 1 ? sizeof(n_args) : 0);
}

static void end_head(struct made_bytes *b)
{
	set_u32(b, 8, b->v.n - 12);
}

static void put_address(struct made_bytes *b, uint64_t address)
{
	put_u8(b, 0);
	put_u8(b, 9);
	put_u8(b, DW_LNE_set_address);
	put_u64(b, address);
}

static void good_lines(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_LINE];

	plain(m);
	put_lines(b, 14, 13);
	put_bytes(b, "\1\1\x08\1/\0\1\1\x08\1a\0", 12);
	end_head(b);
	put_address(b, CODE);
	put_u8(b, DW_LNS_advance_line);
	put_uleb(b, 41);
	put_u8(b, DW_LNS_set_file);
	put_uleb(b, 0);
	put_u8(b, DW_LNS_copy);
	put_u8(b, DW_LNS_advance_pc);
	put_uleb(b, CODE_BYTES);
	put_bytes(b, "\0\1\1", 3);
	set_u32(b, 0, b->v.n - 4);
}

static void range_0(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_LINE];

	plain(m);
	put_lines(b, 0, 13);
	end_head(b);
	for (unsigned i = 0; i < 64; i++)
		put_u8(b, 200);
	set_u32(b, 0, b->v.n - 4);
}

/* Entries of no bytes, 2^60 of them, twice. */
static void files_of_nothing(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_LINE];

	plain(m);
	put_lines(b, 14, 13);
	for (unsigned i = 0; i < 2; i++) {
		put_u8(b, 0);
		put_uleb(b, UINT64_C(1) << 60);
	}
	end_head(b);
	set_u32(b, 0, b->v.n - 4);
}

static void lines_outside(struct made_dwarf *m)
{
	good_lines(m);
	set_u32(&m->section[MADE_LINE], 8, 0x7fffffff);
}

/* One address advance after the other, each as far as numbers go. */
static void wild_lines(struct made_dwarf *m)
{
	struct made_bytes *b = &m->section[MADE_LINE];

	plain(m);
	put_lines(b, 14, 13);
	put_bytes(b, "\0\0\0\0", 4);
	end_head(b);
	for (size_t i = 0; i < 300000; i++) {
		put_u8(b, DW_LNS_advance_pc);
		put_uleb(b, UINT64_MAX - i);
		put_u8(b, DW_LNS_copy);
	}
	set_u32(b, 0, b->v.n - 4);
}

/* What is told of ASKED, innermost first, and the units that were damaged. */
static const struct {
	const char *what;
	void (*make)(struct made_dwarf *m);
	const char *frames;
	uint64_t n_damaged;
} cases[] = {
	{ "nothing wrong", plain, "g:0 f:7", 0 },
	{ "lines", good_lines, "g:42 f:7", 0 },
	{ "origins in a circle", circular_origin, "?:0 f:7", 0 },
	{ "a call that is its own origin", own_origin, "?:0 f:7", 0 },
	{ "an origin outside its unit", origin_outside, "?:0 f:7", 0 },
	{ "a million blocks inside one another", deep_blocks, "f:0", 0 },
	{ "a million namespaces", deep_namespaces, "f:0", 0 },
	{ "blocks that do not end", open_blocks, "f:0", 1 },
	{ "a hundred thousand calls", deep_calls, "g:7 g:7 g:7 f:7", 0 },
	{ "functions that all cover the same", many_functions, "f:0", 0 },
	{ "siblings that lead back or out", backward_sibling, "f:0", 0 },
	{ "forms that lead to themselves", circular_indirect, "f:0", 1 },
	{ "a code without abbreviation", unknown_code, "f:0", 1 },
	{ "a unit longer than the section", long_unit, "g:0 f:7", 1 },
	{ "a reserved length", reserved_length, "g:0 f:7", 1 },
	{ "units of no entries", many_units, "g:0 f:7", 100000 },
	{ "more abbreviations than anyone has", many_abbrevs, "", 1 },
	{ "attributes without end", endless_attributes, "", 1 },
	{ "a list of ranges that says nothing", long_list, "f:0", 0 },
	{ "a list of ranges outside the section", list_outside, "f:0", 0 },
	{ "lines of a range of 0", range_0, "g:0 f:7", 0 },
	{ "files of no bytes", files_of_nothing, "g:0 f:7", 0 },
	{ "a line table longer than the section", lines_outside, "g:0 f:7", 0 },
	{ "wild advances", wild_lines, "g:0 f:7", 0 },
};

/* debug_take */
static void write_frames(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct made_bytes *text = arg;
	char one[64];

	(void)which;
	for (size_t i = 0; i < n; i++) {
		snprintf(one, sizeof(one), "%s%.20s:%u", i ? " " : "",
			 frames[i].name ? frames[i].name : "?", frames[i].line);
		put_bytes(text, one, strlen(one));
	}
}

Test(debug_bad, answers_what_is_whole, .timeout = 300)
{
	uint64_t asked = ASKED;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_dwarf m = { 0 };
		struct made_bytes text = { 0 };
		struct debug_info *d;
		struct debug_plan *p;
		struct debug_reader *r;

		put_abbrevs(&m);
		cases[i].make(&m);
		d = debug_info_of(made_dwarf_elf(&m));
		cr_assert_not_null(d);
		p = debug_plan_new(d, &asked, 1);
		r = debug_reader_new(d, MAX_FRAMES);
		for (size_t k = 0; k < debug_plan_n_groups(p); k++)
			debug_reader_answer(r, p, k, write_frames, &text);
		put_u8(&text, 0);
		cr_expect_str_eq((char *)text.v.at, cases[i].frames, "%s: %s", cases[i].what,
				 (char *)text.v.at);
		cr_expect_eq(debug_info_n_damaged(d), cases[i].n_damaged, "%s: %ju damaged",
			     cases[i].what, (uintmax_t)debug_info_n_damaged(d));
		debug_reader_free(r);
		debug_plan_free(p);
		debug_info_free(d);
		vec_done(&text.v);
		made_dwarf_done(&m);
	}
}

/* A case as fuzz_debug_info() takes it. */
static void put_seed(struct made_bytes *seed, const struct made_dwarf *m)
{
	for (unsigned i = 0; i < N_MADE; i++)
		put_u16(seed, m->section[i].v.n);
	while (seed->v.n < 29)
		put_u8(seed, 0);
	put_u8(seed, CODE_BYTES / 64 - 1);
	put_u8(seed, CODE >> 8);
	put_u8(seed, CODE & 0xff);
	for (unsigned i = 0; i < N_MADE; i++)
		put_bytes(seed, m->section[i].v.at, m->section[i].v.n);
}

Test(debug_bad, survives_variations, .timeout = 300)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_dwarf m = { 0 };
		struct made_bytes seed = { 0 };

		put_abbrevs(&m);
		cases[i].make(&m);
		put_seed(&seed, &m);
		if (seed.v.n < 4096)
			fuzz_vary(fuzz_debug_info, seed.v.at, seed.v.n, 400);
		vec_done(&seed.v);
		made_dwarf_done(&m);
	}
}

/* What gcc and clang write for a small program, whole and damaged. */
Test(debug_bad, compilers_and_their_variations, .timeout = 300)
{
	glob_t found;

	cr_assert_eq(glob(TEST_DATA "/debug_info/*", 0, NULL, &found), 0);
	cr_assert_geq(found.gl_pathc, 5);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *f = fopen(found.gl_pathv[i], "r");
		uint8_t bytes[8192];
		size_t n;

		cr_assert_not_null(f);
		n = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		cr_assert(n > 0 && n < sizeof(bytes));
		fuzz_vary(fuzz_debug_info, bytes, n, 1000);
	}
	globfree(&found);
}
