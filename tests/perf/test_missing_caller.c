/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Callchains that lack a caller, told by the unwind tables of this very program, and those of 32-bit programs. */
#include "config.h"

#include "perf/callchain/missing_caller.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PID 7

/* A function with a frame like any other; its first byte is what matters. */
__attribute__((noinline)) static int some_function(int n)
{
	return n > 0 ? n * 3 : snprintf(NULL, 0, "%d", n);
}

/* Maps what this process has mapped at an address, as it is. */
static void map_own(struct resolver *r, uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], path[4200];
	unsigned long long start, end, offset;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct mapping_event m = { .time_ns = INT64_MIN, .pid = PID, .executable = true };

		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4199s", &start, &end, &offset,
			   path) != 4 ||
		    address < start || address >= end)
			continue;
		m.start = start;
		m.length = end - start;
		m.file_offset = offset;
		m.path = path;
		resolver_map(r, &m);
	}
	fclose(maps);
}

static const struct {
	const char *what, *machine;
	uint64_t off;   /* bytes behind the function's first one */
	uint64_t n;     /* addresses in the chain */
	bool is_marked; /* the caller is missing */
} cases[] = {
	{ "before the frame is made", "x86_64", 0, 2, true },
	{ "the leaf alone", "x86_64", 0, 1, true },
	{ "no chain", "x86_64", 0, 0, false },
	{ "where nothing is mapped", "x86_64", UINT64_C(1) << 46, 2, false },
	{ "a machine that is not known", "riscv64", 0, 2, false },
};

Test(perf_leaves, callers_left_out)
{
	static const struct resolver_options options = { .same_machine = true };
	union {
		int (*code)(int);
		uint64_t address;
	} function = { some_function };

#ifndef __x86_64__
	cr_skip_test("the cases are of x86");
#endif
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t chain[2] = { function.address + cases[i].off, 0x1234 };
		struct perf_chain_part user = { .mode = MODE_USER,
						.ips = { .at = (const uint8_t *)chain,
							 .n = (uint32_t)cases[i].n } };
		struct profile *p = profile_new();
		struct profile_counts counts;
		struct missing_caller *l;
		struct resolver *r;
		location_id at;
		uint32_t leaf;
		capture_id c;

		builder_begin(p);
		c = build_capture(p, "made", "perf.data");
		r = resolver_new(p, c, &options);
		l = missing_caller_new(p, r, cases[i].machine);
		map_own(r, function.address);
		at = resolver_locate(r, PID, 10, chain[0], MODE_USER, false);
		leaf = missing_caller_note(l, PID, 10, &user, (location_id){ ID_NONE });
		/* By its location, which is new first and then known. */
		cr_expect_eq(missing_caller_note(l, PID, 10, &user, at), leaf, "%s", cases[i].what);
		cr_expect_eq(missing_caller_note(l, PID, 10, &user, at), leaf, "%s", cases[i].what);
		missing_caller_facts(l, c);
		builder_end(p);
		/* One for all, one for the module. */
		profile_counts_read(p, &counts);
		cr_expect_eq(counts.n_facts, cases[i].is_marked ? 2 : 0, "%s", cases[i].what);
		if (cases[i].is_marked)
			cr_expect_eq(strncmp(profile_string(p, profile_fact(p, 1).text, NULL),
					     "3 callchains", 12),
				     0, "%s", cases[i].what);
		missing_caller_free(l);
		resolver_free(r);
		profile_free(p);
	}
	cr_expect_eq(some_function(1), 3);
}

/* A file of one segment of code, of either class, that needs no more to be opened. */
static void write_program(char *path, int class)
{
	Elf32_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', (unsigned char)class, ELFDATA2LSB,
					 1 },
			    .e_type = ET_EXEC,
			    .e_machine = EM_386,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 1 };
	Elf32_Phdr code = { .p_type = PT_LOAD,
			    .p_vaddr = 0x8048000,
			    .p_filesz = 0x1000,
			    .p_memsz = 0x1000,
			    .p_flags = PF_R | PF_X };
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, &head, sizeof(head)), sizeof(head));
	cr_assert_eq(write(fd, &code, sizeof(code)), sizeof(code));
	cr_assert_eq(ftruncate(fd, 0x1000), 0);
	close(fd);
}

static const struct {
	const char *what;
	int class;
	uint64_t chain[3];
	uint64_t n;
	const char *fact; /* NULL: none */
} programs[] = {
	{ "a chain",
	  ELFCLASS32,
	  { 0x8048010, 0x8048020, 0x8048030 },
	  3,
	  "2 callchains of 32-bit programs" },
	{ "from the vdso",
	  ELFCLASS32,
	  { 0xf7f00010, 0x8048020 },
	  2,
	  "2 callchains of 32-bit programs" },
	{ "from nowhere", ELFCLASS32, { 0xf7f00010, 0xf7f00020, 0x8048020 }, 3, NULL },
	{ "above", ELFCLASS32, { UINT64_C(0x108048010), 0x8048020 }, 2, NULL },
	{ "no program", ELFCLASSNONE, { 0x8048010 }, 1, NULL },
};

Test(perf_leaves, chains_of_32_bit_programs_are_counted)
{
	static const struct resolver_options options = { .same_machine = true };

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		char path[] = "/tmp/proftop-leaves-XXXXXX";
		struct perf_chain_part user = { .mode = MODE_USER,
						.ips = { .at = (const uint8_t *)programs[i].chain,
							 .n = (uint32_t)programs[i].n } };
		struct profile *p = profile_new();
		struct profile_counts counts;
		struct missing_caller *l;
		struct resolver *r;
		capture_id c;

		write_program(path, programs[i].class);
		builder_begin(p);
		c = build_capture(p, "made", "perf.data");
		r = resolver_new(p, c, &options);
		l = missing_caller_new(p, r, "x86_64");
		resolver_map(r, &(struct mapping_event){ .time_ns = INT64_MIN,
							 .pid = PID,
							 .start = 0x8048000,
							 .length = 0x1000,
							 .path = path,
							 .executable = true });
		missing_caller_again(
			l, missing_caller_note(l, PID, 10, &user, (location_id){ ID_NONE }));
		missing_caller_facts(l, c);
		builder_end(p);
		profile_counts_read(p, &counts);
		cr_expect_eq(counts.n_facts, programs[i].fact != NULL, "%s", programs[i].what);
		if (programs[i].fact && counts.n_facts > 0)
			cr_expect_str_eq(profile_string(p, profile_fact(p, 0).text, NULL),
					 programs[i].fact, "%s", programs[i].what);
		missing_caller_free(l);
		resolver_free(r);
		profile_free(p);
		unlink(path);
	}
}
