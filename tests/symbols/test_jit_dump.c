/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jitdumps of both byte orders, whole, cut and damaged, and what they make of addresses over time. */
#include "config.h"

#include "base/err.h"
#include "profile/builder.h"
#include "symbols/jit/jit_dump.h"
#include "symbols/resolver.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_perf.h"
#include "unwind/cfi_rule.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t begin(struct made *m, uint32_t type, uint64_t time)
{
	size_t at = m->bytes.n;

	made_u32(m, type);
	made_u32(m, 0); /* the size, see end() */
	made_u64(m, time);
	return at;
}

static void end(struct made *m, size_t at)
{
	uint32_t n = (uint32_t)(m->bytes.n - at);
	struct made size = { .big = m->big };

	made_u32(&size, n);
	memcpy(m->bytes.at + at + 4, size.bytes.at, 4);
	made_done(&size);
}

static void head(struct made *m, uint64_t time, uint64_t flags)
{
	made_u32(m, 0x4a695444);
	made_u32(m, 1);
	made_u32(m, 40);
	made_u32(m, 62);
	made_u32(m, 0);
	made_u32(m, 7);
	made_u64(m, time);
	made_u64(m, flags);
}

static void load(struct made *m, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
		 const char *name)
{
	size_t at = begin(m, 0, time);

	made_u64(m, 0);
	made_u64(m, address);
	made_u64(m, address);
	made_u64(m, size);
	made_u64(m, index);
	made_bytes(m, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		made_bytes(m, "\x90", 1);
	end(m, at);
}

static void move(struct made *m, uint64_t time, uint64_t to, uint64_t index)
{
	size_t at = begin(m, 1, time);

	made_u64(m, 0);
	made_u64(m, 0);
	made_u64(m, 0);
	made_u64(m, to);
	made_u64(m, 0);
	made_u64(m, index);
	end(m, at);
}

static void debug_info(struct made *m, uint64_t address, const char *file, uint32_t line)
{
	size_t at = begin(m, 2, 0);

	made_u64(m, address);
	made_u64(m, 1);
	made_u64(m, address);
	made_u32(m, line);
	made_u32(m, 0);
	made_bytes(m, file, strlen(file) + 1);
	end(m, at);
}

/* A header of 20 bytes, as far as it is told from an entry. */
static void table_head(struct made *m)
{
	made_bytes(m, "\x01\x1b\x03\x3b", 4);
	made_bytes(m, "0123456789abcdef", 16);
}

/* Unwind tables of code of size bytes, a multiple of 8: CFA is sp + 8, from byte 4 on sp + 32. */
static void unwinding(struct made *m, uint32_t size, bool head_in_front)
{
	size_t at = begin(m, 4, 0);

	made_u64(m, 20 + 24 + 24 + 4);
	made_u64(m, 20);
	made_u64(m, 0);
	if (head_in_front)
		table_head(m);
	made_u32(m, 20);
	made_bytes(m, "\0\0\0\0\001zR\0\001\x78\x10\001\x1b\x0c\x07\x08\x90\x01\0\0", 20);
	made_u32(m, 20);
	made_u32(m, 28);
	made_u32(m, 0 - (size + 24 + 8));
	made_u32(m, size);
	made_bytes(m, "\0\x44\x0e\x20\0\0\0\0", 8);
	made_u32(m, 0);
	if (!head_in_front)
		table_head(m);
	end(m, at);
}

/* Two functions at one address, a record of a kind that nobody knows, and a move. */
static void put_dump(struct made *m)
{
	head(m, 1000, 0);
	debug_info(m, 0x5000, "a.js", 12);
	load(m, 1100, 0x5000, 64, 0, "first");
	end(m, begin(m, 99, 1150));
	unwinding(m, 32, false);
	load(m, 1200, 0x5000, 32, 1, "second");
	move(m, 1300, 0x6000, 1);
	end(m, begin(m, 3, 1400));
}

static void write_dump(const char *path, const struct made *m, size_t n)
{
	FILE *f = fopen(path, "w");

	cr_assert(f && fwrite(m->bytes.at, 1, n, f) == n && fclose(f) == 0);
}

struct trial {
	char dir[32], path[64];
};

static void setup(struct trial *t)
{
	strcpy(t->dir, "/tmp/proftop-test-XXXXXX");
	cr_assert_not_null(mkdtemp(t->dir));
	snprintf(t->path, sizeof(t->path), "%s/jit-7.dump", t->dir);
}

static void teardown(const struct trial *t)
{
	unlink(t->path);
	rmdir(t->dir);
}

Test(jit_dump, both_byte_orders)
{
	struct trial t;

	setup(&t);
	for (int big = 0; big < 2; big++) {
		struct made m = { .big = big };
		const struct jit_place *p;
		struct jit_dump *d = NULL;
		uint32_t line = 0;
		size_t n;

		put_dump(&m);
		write_dump(t.path, &m, m.bytes.n);
		cr_assert_eq(jit_dump_load(t.path, &d, NULL), 0);
		cr_expect_eq(jit_dump_head(d)->pid, 7);
		cr_expect_eq(jit_dump_head(d)->time, 1000);
		cr_expect_not(jit_dump_cut(d));
		p = jit_dump_places(d, &n);
		cr_assert_eq(n, 3);
		cr_expect_eq(p[1].address, 0x5000);
		cr_expect_eq(p[1].time, 1200);
		cr_expect_eq(p[2].address, 0x6000);
		cr_expect_eq(p[2].size, 32);
		cr_expect_eq(p[2].offset, p[1].offset, "moved code is the same code");
		cr_expect_str_eq(jit_dump_name(d, p[0].offset + 63), "first");
		cr_expect_str_eq(jit_dump_name(d, p[1].offset), "second");
		cr_expect_null(jit_dump_name(d, p[0].offset + 64));
		cr_expect_null(jit_dump_name(d, 0));
		cr_expect_str_eq(jit_dump_source(d, p[0].offset, &line), "a.js");
		cr_expect_eq(line, 12);
		cr_expect_null(jit_dump_source(d, p[1].offset, &line), "told of the first only");
		jit_dump_free(d);
		made_done(&m);
	}
	teardown(&t);
}

Test(jit_dump, cut_anywhere_it_gives_what_is_whole)
{
	struct made m = { 0 };
	struct trial t;
	size_t n, before = 0;

	setup(&t);
	put_dump(&m);
	for (size_t cut = 0; cut <= m.bytes.n; cut++) {
		struct jit_dump *d = NULL;
		struct err e = ERR_INIT;
		int rc;

		write_dump(t.path, &m, cut);
		rc = jit_dump_load(t.path, &d, &e);
		cr_expect_eq(rc, cut < 40 ? -EBADMSG : 0, "%zu: %s", cut, err_text(&e));
		if (rc == 0) {
			jit_dump_places(d, &n);
			cr_expect(n >= before && n <= 3, "%zu", cut);
			before = n;
		}
		jit_dump_free(d);
		err_clear(&e);
	}
	cr_expect_eq(before, 3);
	made_done(&m);
	teardown(&t);
}

/* Read once at one length and then at another, it has what it has at once. */
Test(jit_dump, reads_on_where_its_program_writes)
{
	struct made m = { 0 };
	struct trial t;

	setup(&t);
	put_dump(&m);
	for (size_t first = 40; first <= m.bytes.n; first += 3)
		for (size_t second = first; second <= m.bytes.n; second += 131) {
			struct jit_dump *d = NULL;
			const struct jit_place *p;
			uint32_t line = 0;
			size_t n;

			write_dump(t.path, &m, first);
			cr_assert_eq(jit_dump_load(t.path, &d, NULL), 0);
			write_dump(t.path, &m, second);
			jit_dump_more(d);
			write_dump(t.path, &m, m.bytes.n);
			jit_dump_more(d);
			cr_expect_not(jit_dump_more(d), "there is no more");
			cr_expect_not(jit_dump_cut(d));
			p = jit_dump_places(d, &n);
			cr_assert_eq(n, 3, "%zu, %zu: %zu", first, second, n);
			cr_assert_eq(jit_dump_n(d), 2);
			cr_expect_str_eq(jit_dump_name(d, p[0].offset), "first");
			cr_expect_str_eq(jit_dump_name(d, p[1].offset), "second");
			cr_expect_eq(p[2].offset, p[1].offset);
			cr_expect_not_null(jit_dump_source(d, p[0].offset, &line));
			cr_expect_eq(line, 12);
			cr_expect(jit_dump_has_tables(d));
			jit_dump_free(d);
		}
	made_done(&m);
	teardown(&t);
}

Test(jit_dump, any_damaged_byte_is_survived)
{
	struct made m = { 0 };
	struct trial t;

	setup(&t);
	put_dump(&m);
	for (size_t i = 0; i < m.bytes.n * 3; i++) {
		static const uint8_t with[] = { 0xff, 0x80, 0x01 };
		uint8_t *at = &m.bytes.at[i / 3], was = *at;
		struct jit_dump *d = NULL;
		const struct jit_place *p;
		size_t n;

		*at ^= with[i % 3];
		write_dump(t.path, &m, m.bytes.n);
		*at = was;
		if (jit_dump_load(t.path, &d, NULL) != 0)
			continue;
		p = jit_dump_places(d, &n);
		for (size_t k = 0; k < n; k++) {
			cr_expect_gt(p[k].size, 0);
			cr_expect_gt(p[k].address + p[k].size, p[k].address);
			cr_expect_not_null(jit_dump_name(d, p[k].offset), "byte %zu", i / 3);
		}
		for (size_t k = 0; k < jit_dump_n(d); k++) {
			struct jit_tables tables;
			uint8_t *bytes = jit_dump_read_tables(d, k, &tables);

			cr_expect_leq(tables.n, m.bytes.n);
			free(bytes);
		}
		jit_dump_free(d);
	}
	made_done(&m);
	teardown(&t);
}

/* Where addresses are at times, by a dump and a recording of several clocks. */
static const struct {
	const char *what;
	bool monotonic;
	uint64_t cpu_mult; /* of the recording: time = stamp * mult / 2 + 50 */
	uint64_t flags;    /* of the dump: 1: its times are the cpu's */
	int64_t mapped_ns; /* when the recording has the dump mapped */
	struct {
		int64_t time;
		uint64_t address;
		const char *name; /* NULL: none */
	} at[6];
} clocks[] = {
	{ "one clock",
	  true,
	  0,
	  0,
	  1000,
	  { { 1050, 0x5000, NULL },
	    { 1150, 0x5010, "first" },
	    { 1250, 0x5010, "second" },
	    { 1250, 0x5030, "first" },
	    { 1250, 0x6000, NULL },
	    { 1350, 0x6000, "second" } } },
	{ "another clock, tied together by the mapping",
	  false,
	  0,
	  0,
	  500,
	  { { 550, 0x5000, NULL },
	    { 650, 0x5010, "first" },
	    { 750, 0x5010, "second" },
	    { 750, 0x6000, NULL },
	    { 850, 0x6000, "second" },
	    { 900, 0x6020, NULL } } },
	{ "another clock, and mapped before the recording: the last code counts",
	  false,
	  0,
	  0,
	  INT64_MIN,
	  { { 5, 0x5010, "second" },
	    { 5, 0x5030, "first" },
	    { 5, 0x6000, "second" },
	    { 5, 0x7000, NULL },
	    { 9999, 0x5010, "second" },
	    { 9999, 0x6000, "second" } } },
	{ "the cpu's clock",
	  true,
	  1,
	  1,
	  550,
	  { { 590, 0x5000, NULL },
	    { 601, 0x5010, "first" },
	    { 651, 0x5010, "second" },
	    { 651, 0x6000, NULL },
	    { 701, 0x6000, "second" },
	    { 701, 0x6020, NULL } } },
	{ "the cpu's clock, which the recording does not tell of",
	  true,
	  0,
	  1,
	  550,
	  { { 549, 0x5000, NULL },
	    { 550, 0x5010, "second" },
	    { 551, 0x5030, "first" },
	    { 551, 0x6000, "second" },
	    { 551, 0x7000, NULL },
	    { 9999, 0x6000, "second" } } },
};

static const char *name_at(const struct profile *p, location_id l)
{
	struct location_columns c;
	uint32_t f;

	profile_locations(p, &c);
	f = location_function(&c, l.v);
	if (f == ID_NONE || profile_function(p, (function_id){ f })->flags & FUNCTION_UNRESOLVED)
		return NULL;
	return profile_string(p, profile_function(p, (function_id){ f })->name, NULL);
}

Test(jit_dump, addresses_have_the_name_of_their_time)
{
	struct made m = { 0 };
	struct trial t;

	setup(&t);
	/* Every second time the dump is empty when it is mapped, cut when it is looked at first, and then whole. */
	for (size_t trial = 0; trial < 2 * sizeof(clocks) / sizeof(*clocks); trial++) {
		size_t i = trial / 2;
		bool grows = trial % 2;
		struct resolver_options o = { .same_machine = true };
		struct profile *p = profile_new();
		struct resolver_clock clock = { .monotonic = clocks[i].monotonic,
						.cpu_zero = 50,
						.cpu_mult = clocks[i].cpu_mult,
						.cpu_shift = 1 };
		struct mapping_event map = { .time_ns = clocks[i].mapped_ns,
					     .pid = 4242424,
					     .start = 0x100000,
					     .length = 4096,
					     .path = t.path,
					     .executable = true };
		struct mapping_event anon = { .time_ns = INT64_MIN,
					      .pid = 4242424,
					      .start = 0x5000,
					      .length = 0x3000,
					      .path = "//anon",
					      .executable = true };
		struct resolver *r;
		location_id l[6];
		capture_id c;

		m.bytes.n = 0;
		head(&m, 1000, clocks[i].flags);
		load(&m, 1100, 0x5000, 64, 0, "first");
		load(&m, 1200, 0x5000, 32, 1, "second");
		move(&m, 1300, 0x6000, 1);
		write_dump(t.path, &m, grows ? 0 : m.bytes.n);
		builder_begin(p);
		c = build_capture(p, "made", "perf.data");
		r = resolver_new(p, c, &o);
		resolver_clock(r, &clock);
		resolver_map(r, &map);
		for (size_t n = 0; grows && n <= m.bytes.n; n += m.bytes.n / 5) {
			write_dump(t.path, &m, n);
			resolver_follow(r);
		}
		write_dump(t.path, &m, m.bytes.n);
		resolver_follow(r);
		resolver_map(r, &anon);
		/* The program changes what may be done with its memory: that hides nothing. */
		anon.time_ns = 1340;
		resolver_map(r, &anon);
		for (size_t k = 0; k < 6; k++)
			l[k] = resolver_locate(r, 4242424, clocks[i].at[k].time,
					       clocks[i].at[k].address, MODE_USER, false);
		builder_end(p);
		cr_assert_eq(resolver_name(r, NULL), 0);
		for (size_t k = 0; k < 6; k++) {
			const char *got = name_at(p, l[k]), *want = clocks[i].at[k].name;

			cr_expect(got && want ? !strcmp(got, want) : got == want,
				  "%s: %zu is %s, not %s", clocks[i].what, k, got ? got : "(none)",
				  want ? want : "(none)");
		}
		resolver_free(r);
		profile_free(p);
	}
	made_done(&m);
	teardown(&t);
}

/* The third has tables too, but not the second, which is between them. */
static void put_tables(struct made *m, bool head_in_front)
{
	head(m, 1000, 0);
	unwinding(m, 64, head_in_front);
	load(m, 1100, 0x5000, 64, 0, "first");
	load(m, 1200, 0x5000, 32, 1, "second");
	debug_info(m, 0x5800, "a.js", 12);
	unwinding(m, 32, head_in_front);
	load(m, 1250, 0x5800, 32, 2, "third");
	move(m, 1300, 0x6000, 2);
}

Test(jit_dump, tables_are_found_before_or_behind_their_header)
{
	struct trial t;

	setup(&t);
	for (int i = 0; i < 4; i++) {
		struct made m = { .big = i & 1 };
		const struct jit_place *p;
		struct jit_dump *d = NULL;
		struct jit_tables tables;
		uint8_t *bytes;
		size_t n;

		put_tables(&m, i & 2);
		write_dump(t.path, &m, m.bytes.n);
		cr_assert_eq(jit_dump_load(t.path, &d, NULL), 0);
		p = jit_dump_places(d, &n);
		cr_assert_eq(n, 4);
		cr_expect(jit_dump_has_tables(d));
		cr_expect_eq(jit_dump_index(d, p[3].offset + 31), 2);
		cr_expect_eq(jit_dump_index(d, p[3].offset + 32), SIZE_MAX);
		bytes = jit_dump_read_tables(d, 2, &tables);
		cr_assert_not_null(bytes);
		cr_expect_eq(tables.n, 52);
		cr_expect_eq(tables.address, 0x5820);
		cr_expect_eq(tables.code, 0x5800);
		cr_expect_eq(tables.eh_frame[i & 1 ? 3 : 0], 20);
		free(bytes);
		cr_expect_null(jit_dump_read_tables(d, 1, &tables));
		unlink(t.path);
		cr_expect_null(jit_dump_read_tables(d, 0, &tables), "a file that is gone");
		jit_dump_free(d);
		made_done(&m);
	}
	teardown(&t);
}

Test(jit_dump, anything_may_be_in_the_file)
{
	for (int in_front = 0; in_front < 2; in_front++) {
		struct made m = { 0 };

		put_tables(&m, in_front);
		fuzz_vary(fuzz_jit_dump, m.bytes.at, m.bytes.n, 1000);
		made_done(&m);
	}
}

/* Rules of addresses at times; cfa 0: there are none. */
static const struct {
	int64_t time;
	uint64_t address;
	int32_t cfa;
} rules[] = {
	{ 1050, 0x5000, 0 },  { 1150, 0x5000, 8 }, { 1150, 0x5004, 32 }, { 1250, 0x5004, 0 },
	{ 1250, 0x5024, 32 }, { 1260, 0x5801, 8 }, { 1260, 0x5804, 32 }, { 1260, 0x5820, 0 },
	{ 1299, 0x6000, 0 },  { 1301, 0x6000, 8 }, { 1301, 0x601f, 32 }, { 1150, 0x5004, 32 },
	{ 1301, 0x5804, 32 }, { 1301, 0x6020, 0 },
};

static void expect_rules(struct resolver *r, const char *what)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct cfi_rule rule = { .cfa = 0 };
		bool found = resolver_rule(r, 4242424, rules[i].time, UNWIND_X86_64,
					   rules[i].address, &rule);

		cr_expect_eq(found, rules[i].cfa != 0, "%s: %zu", what, i);
		cr_expect_eq(rule.cfa, rules[i].cfa, "%s: %zu: %d", what, i, rule.cfa);
	}
}

Test(jit_dump, rules_are_those_of_the_code_of_the_time)
{
	struct trial t;

	setup(&t);
	for (int in_front = 0; in_front < 2; in_front++) {
		struct resolver_options o = { .same_machine = true };
		struct resolver_clock clock = { .monotonic = true };
		struct profile *p = profile_new();
		struct mapping_event map = { .time_ns = 900,
					     .pid = 4242424,
					     .start = 0x100000,
					     .length = 4096,
					     .path = t.path,
					     .executable = true };
		struct mapping_event anon = { .time_ns = 900,
					      .pid = 4242424,
					      .start = 0x5000,
					      .length = 0x3000,
					      .path = "//anon",
					      .executable = true };
		struct made m = { 0 };
		struct resolver *r;

		put_tables(&m, in_front);
		write_dump(t.path, &m, m.bytes.n);
		builder_begin(p);
		r = resolver_new(p, build_capture(p, "made", "perf.data"), &o);
		resolver_clock(r, &clock);
		resolver_map(r, &map);
		resolver_map(r, &anon);
		expect_rules(r, in_front ? "header in front" : "header behind");
		builder_end(p);
		resolver_free(r);
		profile_free(p);
		made_done(&m);
	}
	teardown(&t);
}
