/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BPF programs that recordings tell of: of a real kernel, of both byte orders, cut and damaged.
 * tests/data/bpf was recorded of a program with two functions beside its own.
 */
#include "config.h"

#include "perf/file/bpf_programs.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_ADDRESSES 8

/* What the features say of addresses. */
struct answer {
	uint64_t address;
	const char *name; /* NULL: nothing known */
	const char *file; /* "": nothing known */
	uint32_t line;
};

static const struct answer recorded[N_ADDRESSES] = {
	{ 0xffffffffc0022108, "bpf_prog_25536b2c9f346f47_proftop_test", "/src/p.bpf.c", 22 },
	{ 0xffffffffc0022125, "bpf_prog_25536b2c9f346f47_proftop_test", "/src/p.bpf.c", 22 },
	{ 0xffffffffc002212f, NULL, "", 0 },
	{ 0xffffffffc002214c, "bpf_prog_7de61239ab535aae_spin_outer", "/src/p.bpf.c", 12 },
	{ 0xffffffffc0025beb, "bpf_prog_49c59329039960aa_spin_inner", "/src/p.bpf.c", 3 },
	/* Gone when the others came, whose memory had been theirs. */
	{ 0xffffffffc0022128, "bpf_prog_62efe59b7d4f5ea1", "", 0 },
	{ 0xffffffffc0022190, "bpf_prog_7de61239ab535aae_spin_outer", "/src/p.bpf.c", 12 },
	{ 0xffffffffc0022198, "bpf_prog_59f4a931744dcdc6_libbpf_nametest", "", 0 },
};

static const struct answer made[N_ADDRESSES] = {
	{ 0x1000, "bpf_prog_0102030405060708_first", "dir/a.c", 7 },
	{ 0x101f, "bpf_prog_0102030405060708_first", "dir/a.c", 7 },
	{ 0x1020, NULL, "", 0 },
	{ 0x2000, "bpf_prog_1112131415161718_second", "dir/a.c", 99 },
	{ 0x200f, "bpf_prog_1112131415161718_second", "dir/a.c", 99 },
	{ 0x3000, "bpf_prog_2122232425262728_plain", "", 0 },
	{ 0x3010, NULL, "", 0 },
	{ 0x4000, NULL, "", 0 },
};

/* A type and what is behind it. */
static void put_type(struct made *m, uint32_t name, uint32_t kind, uint32_t n, uint32_t size,
		     size_t behind)
{
	made_u32(m, name);
	made_u32(m, kind << 24 | n);
	made_u32(m, size);
	for (size_t i = 0; i < behind; i++)
		made_bytes(m, "", 1);
}

static void put_types(struct made *m)
{
	static const char strings[] = "\0first\0second\0dir/a.c";
	struct made t = { .big = m->big };

	put_type(&t, 0, 1, 0, 4, 4);
	put_type(&t, 0, 4, 3, 24, 36);
	put_type(&t, 0, 13, 2, 1, 16);
	put_type(&t, 1, 12, 0, 3, 0);
	put_type(&t, 7, 12, 0, 3, 0);
	made_u32(m, 1);
	made_u32(m, 5); /* id */
	made_u32(m, (uint32_t)(24 + t.bytes.n + sizeof(strings)));
	made_u16(m, 0xeb9f);
	made_u16(m, 1);
	made_u32(m, 24);
	made_u32(m, 0);
	made_u32(m, (uint32_t)t.bytes.n);
	made_u32(m, (uint32_t)t.bytes.n);
	made_u32(m, sizeof(strings));
	made_bytes(m, t.bytes.at, t.bytes.n);
	made_bytes(m, strings, sizeof(strings));
	made_done(&t);
}

/* Where the arrays of a program are in its data; UINT64_MAX: it has none. */
struct layout {
	uint64_t arrays, ksyms, lengths, functions, lines, addresses, tags;
	uint32_t n, n_lines, types;
	const char *tag, *name;
};

static void put_program(struct made *m, const struct layout *l, const struct made *data)
{
	char name[16] = "";

	snprintf(name, sizeof(name), "%s", l->name);
	made_u32(m, 192);
	made_u32(m, (uint32_t)data->bytes.n);
	made_u64(m, l->arrays);
	made_u64(m, 0); /* type, id */
	made_bytes(m, l->tag, 8);
	for (size_t i = 0; i < 6; i++)
		made_u64(m, 0);
	made_bytes(m, name, 16);
	for (size_t i = 0; i < 3; i++)
		made_u64(m, 0);
	made_u32(m, l->n);
	made_u32(m, l->n);
	made_u64(m, l->ksyms);
	made_u64(m, l->lengths);
	made_u32(m, l->types);
	made_u32(m, 8);
	made_u64(m, l->functions);
	made_u32(m, l->n);
	made_u32(m, l->n_lines);
	made_u64(m, l->lines);
	made_u64(m, l->addresses);
	made_u32(m, l->n_lines);
	made_u32(m, 16);
	made_u32(m, 8);
	made_u32(m, l->n);
	made_u64(m, l->tags);
	made_bytes(m, data->bytes.at, data->bytes.n);
}

static void put_lines(struct made *data, const uint64_t *addresses, const uint32_t *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		made_u32(data, 0);
		made_u32(data, 14); /* dir/a.c */
		made_u32(data, 0);
		made_u32(data, lines[i] << 10 | 3);
	}
	for (size_t i = 0; i < n; i++)
		made_u64(data, addresses[i]);
}

/* One with two functions and their lines, which are in no order, and one with neither. */
static void put_programs(struct made *m)
{
	static const uint64_t addresses[] = { 0x2008, 0x1000, 0x2001, 0x1004, 0x9000 };
	static const uint32_t lines[] = { 100, 7, 99, 8, 5 };
	struct layout two = { .arrays = 0x1f8, .n = 2, .n_lines = 5, .types = 5 };
	struct layout plain = { .arrays = 0x118, .n = 1 };
	struct made data = { .big = m->big };

	two.tag = "\1\2\3\4\5\6\7\10";
	two.name = "unused";
	made_u64(&data, 0x1000);
	made_u64(&data, 0x2000);
	two.lengths = 16;
	made_u32(&data, 0x20);
	made_u32(&data, 0x10);
	two.functions = 24;
	made_u32(&data, 0);
	made_u32(&data, 4);
	made_u32(&data, 30);
	made_u32(&data, 5);
	two.lines = 40;
	two.addresses = 40 + 5 * 16;
	put_lines(&data, addresses, lines, 5);
	two.tags = data.bytes.n;
	made_bytes(&data, "not used\x11\x12\x13\x14\x15\x16\x17\x18", 16);
	made_u32(m, 2);
	put_program(m, &two, &data);
	data.bytes.n = 0;
	plain.tag = "\x21\x22\x23\x24\x25\x26\x27\x28";
	plain.name = "plain";
	made_u64(&data, 0x3000);
	plain.lengths = 8;
	made_u32(&data, 0x10);
	/* Bits say that the other arrays are not there, whatever their offsets say. */
	plain.functions = plain.lines = 0;
	put_program(m, &plain, &data);
	made_done(&data);
}

static void check(const struct profile *p, const struct location_columns *c, location_id l,
		  const struct answer *want)
{
	uint32_t id = location_function(c, l.v);
	const struct function *f = id == ID_NONE ? NULL : profile_function(p, (function_id){ id });
	const char *name = f && !(f->flags & FUNCTION_UNRESOLVED) ? profile_string(p, f->name, NULL)
								  : "(none)";

	cr_expect_str_eq(name, want->name ? want->name : "(none)", "%lx: %s",
			 (unsigned long)want->address, name);
	if (!f || !want->name)
		return;
	cr_expect_str_eq(profile_string(p, function_file(f), NULL), want->file, "%s", name);
	cr_expect_eq(function_line(f), want->line, "%s: line %u", name, function_line(f));
}

/* What is said of addresses; want NULL: whatever. */
static bool tell(struct bpf_feature programs, struct bpf_feature types, bool swap,
		 const struct answer *want)
{
	struct resolver_options o = { .no_inlines = true };
	struct profile *p = profile_new();
	location_id at[N_ADDRESSES];
	struct location_columns c;
	struct resolver *r;
	bool good;

	builder_begin(p);
	r = resolver_new(p, build_capture(p, "made", "perf.data"), &o);
	good = bpf_programs(r, programs, types, swap);
	for (size_t i = 0; i < N_ADDRESSES && want; i++)
		at[i] = resolver_locate(r, 1, 1000, want[i].address, MODE_KERNEL, false);
	builder_end(p);
	if (want) {
		cr_assert_eq(resolver_name(r, NULL), 0);
		profile_locations(p, &c);
		for (size_t i = 0; i < N_ADDRESSES; i++)
			check(p, &c, at[i], &want[i]);
	}
	resolver_free(r);
	profile_free(p);
	return good;
}

static struct bpf_feature feature_of(const struct made *m)
{
	return (struct bpf_feature){ m->bytes.at, m->bytes.n };
}

static void load(struct made *m, const char *path)
{
	FILE *f = fopen(path, "r");
	char bytes[4096];
	size_t n;

	cr_assert_not_null(f, "%s", path);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		made_bytes(m, bytes, n);
	fclose(f);
}

Test(bpf_programs, of_a_real_kernel)
{
	struct made programs = { 0 }, types = { 0 };

	load(&programs, TEST_DATA "/bpf/programs");
	load(&types, TEST_DATA "/bpf/types");
	cr_expect(tell(feature_of(&programs), feature_of(&types), made_swaps(&programs), recorded));
	made_done(&programs);
	made_done(&types);
}

Test(bpf_programs, of_both_byte_orders)
{
	for (int big = 0; big < 2; big++) {
		struct made programs = { .big = big }, types = { .big = big };

		put_programs(&programs);
		put_types(&types);
		cr_expect(tell(feature_of(&programs), feature_of(&types), made_swaps(&programs),
			       made));
		made_done(&programs);
		made_done(&types);
	}
}

Test(bpf_programs, a_mapping_of_the_time_counts_more)
{
	struct made programs = { 0 }, types = { 0 };
	struct resolver_options o = { .no_inlines = true };
	struct profile *p = profile_new();
	struct mapping_event m = { .time_ns = 500, .pid = -1, .start = 0x1000, .length = 0x20 };
	struct resolver *r;
	location_id before, after;

	put_programs(&programs);
	put_types(&types);
	m.path = "bpf_prog_ffff_other";
	m.executable = true;
	builder_begin(p);
	r = resolver_new(p, build_capture(p, "made", "perf.data"), &o);
	bpf_programs(r, feature_of(&programs), feature_of(&types), made_swaps(&programs));
	resolver_map(r, &m);
	before = resolver_locate(r, 1, 400, 0x1001, MODE_KERNEL, false);
	after = resolver_locate(r, 1, 600, 0x1001, MODE_KERNEL, false);
	cr_expect_neq(before.v, after.v);
	builder_end(p);
	resolver_free(r);
	profile_free(p);
	made_done(&programs);
	made_done(&types);
}

/* Exactly as large, so that a step too far is seen by sanitizers. */
static struct bpf_feature part(const struct made *m, size_t n, size_t at, uint8_t with)
{
	uint8_t *copy = malloc(n ? n : 1);

	memcpy(copy, m->bytes.at, n);
	if (at < n)
		copy[at] ^= with;
	return (struct bpf_feature){ copy, n };
}

Test(bpf_programs, cut_and_damaged_ones_are_survived)
{
	struct made m[2] = { { .big = false }, { .big = false } };

	put_programs(&m[0]);
	put_types(&m[1]);
	for (int which = 0; which < 2; which++) {
		const struct made *whole = &m[which];
		bool swap = made_swaps(whole);

		for (size_t i = 0; i < whole->bytes.n * 4; i++) {
			static const uint8_t with[] = { 0xff, 0x80, 0x01, 0 };
			bool cut = i % 4 == 3;
			struct bpf_feature f = part(whole, cut ? i / 4 : whole->bytes.n, i / 4,
						    with[i % 4]);
			struct bpf_feature other = feature_of(&m[!which]);
			bool good = which ? tell(other, f, swap, NULL) : tell(f, other, swap, NULL);

			cr_expect(!cut || !good || f.n == 0, "%d: cut at %zu", which, i / 4);
			free((void *)f.at);
		}
	}
	made_done(&m[0]);
	made_done(&m[1]);
}
