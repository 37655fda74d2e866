/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inlined functions and lines in files of the kernel: a vmlinux that was moved when it was booted, and
 * a module that is not linked. They are compiled here; skipped without a compiler.
 */
#include "config.h"

#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE 0xffffffff9a000000u

/* The label is where inlined code is; first of all something at address 0. */
static const char source[] = "int data;\n"
			     "__attribute__((noinline)) int before(int x) { return x + 1; }\n"
			     "static inline __attribute__((always_inline)) void inner(int x)\n"
			     "{\n"
			     "	__asm__ volatile(\".globl mark\\nmark: nop\" : : \"r\"(x));\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) void outer(int x)\n"
			     "{\n"
			     "	inner(x * data);\n"
			     "}\n"
			     "__attribute__((noinline)) int whole(int x)\n"
			     "{\n"
			     "	outer(x);\n"
			     "	return before(x) * 3;\n"
			     "}\n"
			     "__attribute__((section(\".init.text\"))) int start(int x)\n"
			     "{\n"
			     "	return whole(x) - 1;\n"
			     "}\n";

/* A function's own frame has the name of the symbol there, which is no label inside of it. */
static const struct {
	const char *name;
	uint32_t line;
} frames[] = { { "whole", 13 }, { "outer", 9 }, { "inner", 5 } };

static int sh(const char *dir, const char *text)
{
	char *command = xasprintf("cd %s && { %s; } >log 2>&1", dir, text);
	int rc = system(command);

	free(command);
	return rc;
}

static bool begin(char *dir)
{
	char *path = NULL;
	FILE *f;

	cr_assert_not_null(mkdtemp(dir));
	path = xasprintf("%s/x.c", dir);
	f = fopen(path, "w");
	free(path);
	cr_assert(f && fputs(source, f) >= 0 && fclose(f) == 0);
	/* The kernel's model of code is asked for below, which other machines have no name for. */
	if (sh(dir, "gcc --version && ld --version && nm --version && objcopy --version && "
		    "test $(uname -m) = x86_64") == 0)
		return true;
	rmdir(dir);
	cr_skip_test("no compiler and binutils for x86_64");
	return false;
}

static void end(const char *dir)
{
	sh(dir, "rm -f ./* 2>/dev/null");
	rmdir(dir);
}

/* What nm says of a symbol in a file. */
static uint64_t value_of(const char *dir, const char *file, const char *name)
{
	char *command = xasprintf("cd %s && nm %s", dir, file), line[200];
	FILE *p = popen(command, "r");
	uint64_t value = UINT64_MAX;

	while (p && fgets(line, sizeof(line), p)) {
		size_t n = strlen(line), m = strlen(name);

		if (n > m + 1 && strncmp(line + n - 1 - m, name, m) == 0 && line[n - m - 2] == ' ')
			value = strtoull(line, NULL, 16);
	}
	if (p)
		pclose(p);
	free(command);
	cr_assert_neq(value, UINT64_MAX, "%s in %s", name, file);
	return value;
}

static struct build_id id_of(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file);
	struct elf_file *f;
	struct build_id id;

	cr_assert_eq(elf_file_open(path, &f, NULL), 0, "%s", path);
	id = *elf_file_build_id(f);
	elf_file_close(f);
	free(path);
	return id;
}

static void check(const struct profile *p, location_id l, const char *what)
{
	struct location_columns c;
	const struct frame *f;

	profile_locations(p, &c);
	f = location_frames(&c, l.v);
	cr_assert_not_null(f, "%s: no frames", what);
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		function_id id = { f[i].function };
		const char *name = profile_string(p, profile_function(p, id)->name, NULL);

		cr_expect_str_eq(name, frames[i].name, "%s: %s", what, name);
		cr_expect_eq(f[i].line, frames[i].line, "%s: %s: line %u", what, name, f[i].line);
	}
}

/* The frames at distance from where m is mapped; what NULL: they may be any. */
static void ask(const char *what, const char *dir, struct mapping_event m, uint64_t distance)
{
	const struct resolver_options o = { .symbol_dirs = &dir, .n_symbol_dirs = 1 };
	struct profile *p = profile_new();
	struct resolver *r;
	location_id l;

	m.time_ns = INT64_MIN;
	m.pid = -1;
	m.start = BASE;
	m.length = 1 << 20;
	m.executable = true;
	builder_begin(p);
	r = resolver_new(p, build_capture(p, "test", "perf.data"), &o);
	resolver_map(r, &m);
	l = resolver_locate(r, 1, 5, BASE + distance, MODE_KERNEL, false);
	builder_end(p);
	cr_assert_eq(resolver_name(r, NULL), 0);
	cr_assert_eq(resolver_inline(r, NULL), 0);
	if (what)
		check(p, l, what);
	resolver_free(r);
	profile_free(p);
}

static const struct {
	const char *what, *make; /* what makes mod.ko; m has the symbols, if that has not */
} modules[] = {
	{ "dwarf 5", "gcc -g -O2 -c x.c && ld -r --build-id x.o -o mod.ko" },
	{ "dwarf 4", "gcc -gdwarf-4 -O2 -c x.c && ld -r --build-id x.o -o mod.ko" },
	{ "a debug file", "gcc -g -O2 -c x.c && ld -r --build-id x.o -o mod.ko && "
			  "objcopy --only-keep-debug mod.ko mod.ko.debug && strip -g mod.ko && "
			  "objcopy --strip-unneeded mod.ko" },
	{ "a packed file", "gcc -g -O2 -c x.c && ld -r --build-id x.o -o mod.ko && "
			   "cp mod.ko m && gzip -9 <m >mod.ko" },
};

Test(kernel_files, modules)
{
	char dir[] = "/tmp/proftop-kernel-XXXXXX";
	bool can = begin(dir);

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules) && can; i++) {
		struct mapping_event m = { .path = "/lib/modules/6.1.0/kernel/mod.ko" };

		cr_assert_eq(sh(dir, modules[i].make), 0, "%s", modules[i].what);
		m.build_id = id_of(dir, "mod.ko");
		sh(dir, "test -e m || cp mod.ko m");
		ask(modules[i].what, dir, m, value_of(dir, "m", "mark"));
		sh(dir, "rm -f mod.ko mod.ko.debug m x.o");
	}
	end(dir);
}

/* What the kernel has in memory: code that stays, section by section; that of the start is elsewhere. */
Test(kernel_files, modules_with_several_sections)
{
	static const char make[] =
		"sed '1s/^/__attribute__((section(\".init.text\"))) int first(void) { return 7; } /; "
		"s/whole(int x)$/__attribute__((section(SECTION), aligned(16))) &/' x.c >y.c && "
		"gcc -g -O2 -fno-toplevel-reorder -DSECTION='\"%s\"' -c y.c && ld -r --build-id y.o -o mod.ko";
	static const char *const sections[] = { ".text.unlikely", ".exit.text", ".noinstr.text" };
	char dir[] = "/tmp/proftop-kernel-XXXXXX", *command;
	bool can = begin(dir);

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && can; i++) {
		struct mapping_event m = { .path = "/lib/modules/6.1.0/kernel/mod.ko" };

		command = xasprintf(make, sections[i]);
		cr_assert_eq(sh(dir, command), 0, "%s", command);
		m.build_id = id_of(dir, "mod.ko");
		/* before() is all of .text: it has less than 16 bytes. */
		ask(sections[i], dir, m, 16 + value_of(dir, "mod.ko", "mark"));
		free(command);
	}
	end(dir);
}

/* Ways in which sections with debug information may be packed; binutils may not know all of them. */
static const char *const packings[] = { "none", "zlib-gnu", "zlib-gabi", "zstd" };

/* Packs those of a file. False, and said, where that cannot be. */
static bool packed(const char *dir, const char *file, const char *how)
{
	char *command = xasprintf("objcopy --compress-debug-sections=%s %s", how, file);
	bool can = sh(dir, command) == 0;

	free(command);
	if (!can)
		cr_log_info("skipped: objcopy packs no sections by %s", how);
	return can;
}

Test(kernel_files, kernel_that_was_moved)
{
	char dir[] = "/tmp/proftop-kernel-XXXXXX";
	bool can = begin(dir);

	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings) && can; i++) {
		struct mapping_event m = { .path = "[kernel.kallsyms]_text", .file_offset = BASE };

		cr_assert_eq(sh(dir, "gcc -g -O2 -mcmodel=kernel -fno-pic -c x.c && "
				     "ld --build-id --defsym=_text=before -e whole "
				     "-Ttext=0xffffffff81000000 x.o -o vmlinux"),
			     0);
		if (!packed(dir, "vmlinux", packings[i]))
			continue;
		m.build_id = id_of(dir, "vmlinux");
		ask(packings[i], dir, m,
		    value_of(dir, "vmlinux", "mark") - value_of(dir, "vmlinux", "before"));
	}
	end(dir);
}

Test(kernel_files, modules_with_packed_sections)
{
	char dir[] = "/tmp/proftop-kernel-XXXXXX";
	bool can = begin(dir);

	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings) && can; i++) {
		struct mapping_event m = { .path = "/lib/modules/6.1.0/kernel/mod.ko" };

		cr_assert_eq(sh(dir, modules[0].make), 0);
		if (!packed(dir, "mod.ko", packings[i]))
			continue;
		m.build_id = id_of(dir, "mod.ko");
		ask(packings[i], dir, m, value_of(dir, "mod.ko", "mark"));
	}
	end(dir);
}

Test(kernel_files, damaged_modules_are_survived)
{
	char dir[] = "/tmp/proftop-kernel-XXXXXX", *path;
	struct mapping_event m = { .path = "/lib/modules/6.1.0/kernel/mod.ko" };
	bool can = begin(dir);
	uint8_t bytes[65536];
	uint32_t drawn = 1;
	size_t n;
	FILE *f;

	path = xasprintf("%s/mod.ko", dir);
	if (can) {
		cr_assert_eq(sh(dir, modules[0].make), 0);
		f = fopen(path, "r");
		n = fread(bytes, 1, sizeof(bytes), f);
		cr_assert(n > 0 && n < sizeof(bytes) && fclose(f) == 0);
	}
	for (size_t i = 0; can && i < 600; i++) {
		uint8_t was;
		size_t at;

		drawn = drawn * 1664525 + 1013904223;
		at = (drawn >> 8) % n;
		was = bytes[at];
		bytes[at] ^= (uint8_t)(drawn | 1);
		f = fopen(path, "w");
		cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
		bytes[at] = was;
		ask(NULL, dir, m, i % 64);
	}
	free(path);
	end(dir);
}
