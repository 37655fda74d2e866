/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols that recordings of simpleperf bring: of all layouts, by address, cut and damaged. */
#include "config.h"

#include "perf/file/simpleperf_files.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void put_string(struct made *m, const char *s)
{
	made_bytes(m, s, strlen(s) + 1);
}

static void put_file(struct made *m, const char *path, uint32_t type, uint64_t min_vaddr,
		     uint64_t start, const char *name, uint64_t code_offset)
{
	struct made body = { .big = m->big };

	put_string(&body, path);
	made_u32(&body, type);
	made_u64(&body, min_vaddr);
	made_u32(&body, 1);
	made_u64(&body, start);
	made_u32(&body, 0x10);
	put_string(&body, name);
	if (code_offset != UINT64_MAX)
		made_u64(&body, code_offset);
	made_u32(m, (uint32_t)body.bytes.n);
	made_bytes(m, body.bytes.at, body.bytes.n);
	made_done(&body);
}

/* The kernel, a program of fixed addresses, a library whose code is at another offset than address. */
static void put_files(struct made *m)
{
	put_file(m, "[kernel.kallsyms]", 0, 0, 0xffffffff81000100, "do_it", UINT64_MAX);
	put_file(m, "/data/fixed", 2, 0x400000, 0x400120, "main", UINT64_MAX);
	put_file(m, "/lib/x.so", 2, 0x2000, 0x2030, "_ZN1a1bEv", 0x1000);
}

static void put_length(struct made *m, uint8_t field, const void *bytes, size_t n)
{
	uint8_t head[] = { (uint8_t)(field << 3 | 2), (uint8_t)n };

	cr_assert_lt(n, 128);
	made_bytes(m, head, 2);
	made_bytes(m, bytes, n);
}

static void put_number(struct made *m, uint8_t field, uint64_t v)
{
	uint8_t head = (uint8_t)(field << 3), byte;

	made_bytes(m, &head, 1);
	do {
		byte = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		made_bytes(m, &byte, 1);
		v >>= 7;
	} while (v > 0);
}

/* The same as protocol buffers. */
static void put_file2(struct made *m, const char *path, uint32_t type, uint64_t min_vaddr,
		      uint64_t start, const char *name, uint64_t code_offset)
{
	struct made body = { 0 }, symbol = { 0 }, elf = { 0 };

	put_length(&body, 1, path, strlen(path));
	if (type)
		put_number(&body, 2, type);
	put_number(&body, 3, min_vaddr);
	put_number(&symbol, 1, start);
	put_number(&symbol, 2, 0x10);
	put_length(&symbol, 3, name, strlen(name));
	put_length(&body, 4, symbol.bytes.at, symbol.bytes.n);
	if (code_offset != UINT64_MAX) {
		put_number(&elf, 1, code_offset);
		put_length(&body, 6, elf.bytes.at, elf.bytes.n);
	}
	made_u32(m, (uint32_t)body.bytes.n);
	made_bytes(m, body.bytes.at, body.bytes.n);
	made_done(&body);
	made_done(&symbol);
	made_done(&elf);
}

static void put_files2(struct made *m)
{
	put_file2(m, "[kernel.kallsyms]", 0, 0, 0xffffffff81000100, "do_it", UINT64_MAX);
	put_file2(m, "/data/fixed", 2, 0x400000, 0x400120, "main", UINT64_MAX);
	put_file2(m, "/lib/x.so", 2, 0x2000, 0x2030, "_ZN1a1bEv", 0x1000);
}

static const struct {
	uint64_t ip;
	enum cpu_mode mode;
	const char *name;
} places[] = {
	{ 0xffffffff81000105, MODE_KERNEL, "do_it" },
	{ 0xffffffff81000110, MODE_KERNEL, "[kernel]" },
	{ 0x400121, MODE_USER, "main" },
	{ 0x400131, MODE_USER, "[fixed]" },
	{ 0x7000003f, MODE_USER, "a::b()" },
	{ 0x70000041, MODE_USER, "[x.so]" },
};

static void map(struct resolver *r, int32_t pid, uint64_t start, uint64_t offset, const char *path)
{
	struct mapping_event m = { .time_ns = 0,
				   .pid = pid,
				   .start = start,
				   .length = 0x10000,
				   .file_offset = offset,
				   .path = path,
				   .executable = true };

	resolver_map(r, &m);
}

/* How many of the places have the right name; told is what the reader said. */
static size_t count_named(const struct made *m, size_t n, bool second, bool *told)
{
	static const struct resolver_options elsewhere;
	struct profile *p = profile_new();
	struct location_columns c;
	struct resolver *r;
	location_id l[6];
	size_t right = 0;

	builder_begin(p);
	r = resolver_new(p, build_capture(p, "made", "perf.data"), &elsewhere);
	*told = second ? simpleperf_files2(r, m->bytes.at, n)
		       : simpleperf_files(r, m->bytes.at, n, made_swaps(m));
	map(r, -1, 0xffffffff81000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	map(r, 7, 0x400000, 0, "/data/fixed");
	map(r, 7, 0x70000000, 0x1000, "/lib/x.so");
	for (size_t i = 0; i < 6; i++)
		l[i] = resolver_locate(r, 7, 5, places[i].ip, places[i].mode, false);
	builder_end(p);
	cr_assert_eq(resolver_name(r, NULL), 0);
	profile_locations(p, &c);
	for (size_t i = 0; i < 6; i++) {
		uint32_t f = location_function(&c, l[i].v);

		right += strcmp(profile_string(p, profile_function(p, (function_id){ f })->name,
					       NULL),
				places[i].name) == 0;
	}
	resolver_free(r);
	profile_free(p);
	return right;
}

Test(simpleperf_files, name_addresses)
{
	for (int i = 0; i < 3; i++) {
		struct made m = { .big = i == 1 };
		size_t before = 0, n;
		bool told;

		if (i == 2)
			put_files2(&m);
		else
			put_files(&m);
		cr_expect_eq(count_named(&m, m.bytes.n, i == 2, &told), 6, "layout %d", i);
		cr_expect(told);
		for (size_t cut = 0; cut < m.bytes.n; cut += 3) {
			n = count_named(&m, cut, i == 2, &told);
			cr_expect_geq(n, before, "cut at %zu", cut);
			before = n;
		}
		cr_expect_lt(before, 6);
		made_done(&m);
	}
}

Test(simpleperf_files, any_damaged_byte_is_survived)
{
	for (int i = 0; i < 2; i++) {
		struct made m = { 0 };
		bool told;

		if (i)
			put_files2(&m);
		else
			put_files(&m);
		for (size_t k = 0; k < m.bytes.n; k++) {
			m.bytes.at[k] ^= 0xff;
			cr_expect_leq(count_named(&m, m.bytes.n, i, &told), 6);
			m.bytes.at[k] ^= 0xff;
		}
		made_done(&m);
	}
}
