/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "base/task.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A profile with a capture and its resolver. */
struct bench {
	struct profile *p;
	capture_id c;
	struct resolver *r;
	struct resolver_options o;
};

static void set_up(struct bench *b, const struct resolver_options *o)
{
	b->o = *o;
	b->p = profile_new();
	builder_begin(b->p);
	b->c = build_capture(b->p, "test", "perf.data");
	builder_end(b->p);
	b->r = resolver_new(b->p, b->c, &b->o);
}

static void tear_down(struct bench *b)
{
	resolver_free(b->r);
	profile_free(b->p);
}

static void map(struct bench *b, int32_t pid, int64_t time, uint64_t start, uint64_t length,
		uint64_t offset, const char *path)
{
	struct mapping_event m = { .time_ns = time,
				   .pid = pid,
				   .start = start,
				   .length = length,
				   .file_offset = offset,
				   .path = path,
				   .executable = true };

	resolver_map(b->r, &m);
}

static location_id locate(struct bench *b, int32_t pid, int64_t time, uint64_t ip,
			  enum cpu_mode mode)
{
	location_id l;

	builder_begin(b->p);
	l = resolver_locate(b->r, pid, time, ip, mode, false);
	builder_end(b->p);
	return l;
}

static const char *name_of(struct bench *b, location_id l, uint32_t *flags)
{
	struct location_columns c;
	const struct function *f;
	uint32_t id;

	profile_locations(b->p, &c);
	id = location_function(&c, l.v);
	cr_assert_neq(id, ID_NONE);
	f = profile_function(b->p, (function_id){ id });
	if (flags)
		*flags = f->flags;
	return profile_string(b->p, f->name, NULL);
}

static const char *module_of(struct bench *b, location_id l)
{
	struct location_columns c;

	profile_locations(b->p, &c);
	return profile_string(b->p, profile_module(b->p, (module_id){ c.module[l.v] })->path, NULL);
}

static uint64_t address_of(struct bench *b, location_id l)
{
	struct location_columns c;

	profile_locations(b->p, &c);
	return c.address[l.v];
}

/* The text of a fact of section "symbols" whose name ends like this, or "". */
static const char *fact(struct bench *b, const char *end)
{
	struct profile_counts n;

	profile_counts_read(b->p, &n);
	for (uint32_t i = 0; i < n.n_facts; i++) {
		struct fact f = profile_fact(b->p, i);
		size_t len;
		const char *name = profile_string(b->p, f.name, &len);

		if (len >= strlen(end) && strcmp(name + len - strlen(end), end) == 0)
			return profile_string(b->p, f.text, NULL);
	}
	return "";
}

/* Maps what this process has mapped; its own path goes to exe. */
static void map_self(struct bench *b, int32_t pid, char exe[4096])
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4600], path[4096], perms[8];
	uint64_t start, end, offset;

	exe[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]",
			   &start, &end, perms, &offset, path) < 4 ||
		    perms[2] != 'x')
			continue;
		map(b, pid, 1, start, end - start, offset, path);
		if ((uintptr_t)&set_up >= start && (uintptr_t)&set_up < end)
			strcpy(exe, path);
	}
	fclose(f);
}

Test(resolver, names_this_process)
{
	struct bench b;
	char exe[4096];
	location_id own, libc, vdso_or_libc, nowhere;
	uint32_t flags;

	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map_self(&b, 7, exe);
	own = locate(&b, 7, 5, (uintptr_t)&set_up + 1, MODE_USER);
	libc = locate(&b, 7, 5, (uintptr_t)&strtoull, MODE_USER);
	vdso_or_libc = locate(&b, 7, 5, (uintptr_t)&getenv, MODE_USER);
	nowhere = locate(&b, 7, 5, 16, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, own, &flags), "set_up");
	cr_expect_eq(flags, 0);
	cr_expect_str_eq(module_of(&b, own), exe);
	cr_expect_not_null(strstr(name_of(&b, libc, NULL), "strto"), "%s", name_of(&b, libc, NULL));
	cr_expect_not_null(strstr(name_of(&b, vdso_or_libc, NULL), "getenv"));
	cr_expect_str_eq(name_of(&b, nowhere, &flags), "[unknown]");
	cr_expect_eq(flags, FUNCTION_UNRESOLVED);
	cr_expect_eq(address_of(&b, nowhere), 16);
	cr_expect_not_null(strstr(fact(&b, "names"), "3 of 4"));
	/* Again, with more. */
	own = locate(&b, 7, 5, (uintptr_t)&tear_down, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, own, NULL), "tear_down");
	tear_down(&b);
}

/* Two functions of no instruction that anybody runs, behind bytes of no function. */
__asm__(".text\n"
	".skip 64\n"
	".type __restore_rt, %function\n"
	".globl __restore_rt\n"
	".hidden __restore_rt\n"
	"__restore_rt: .skip 16\n"
	".size __restore_rt, 16\n"
	".skip 64\n"
	".type not_a_trampoline, %function\n"
	".globl not_a_trampoline\n"
	".hidden not_a_trampoline\n"
	"not_a_trampoline: .skip 16\n"
	".size not_a_trampoline, 16\n"
	".skip 64\n");
extern const char __restore_rt[], not_a_trampoline[];

/* A handler's frame says that it was called from before the beginning of what it returns to. */
Test(resolver, what_handlers_of_signals_return_to_has_its_name)
{
	struct bench b;
	location_id trampoline, other, before;
	char exe[4096];

	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map_self(&b, 7, exe);
	trampoline = locate(&b, 7, 5, (uintptr_t)__restore_rt - 1, MODE_USER);
	before = locate(&b, 7, 5, (uintptr_t)__restore_rt - 2, MODE_USER);
	other = locate(&b, 7, 5, (uintptr_t)not_a_trampoline - 1, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, trampoline, NULL), "__restore_rt");
	cr_expect_eq(name_of(&b, before, NULL)[0], '[');
	cr_expect_eq(name_of(&b, other, NULL)[0], '[');
	tear_down(&b);
}

Test(resolver, another_build_id_is_never_used)
{
	struct build_id id = { .bytes = { 0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8 }, .n = 8 };
	struct bench b;
	char exe[4096], want[4200];
	location_id l;
	uint32_t flags;

	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map_self(&b, 1, exe);
	tear_down(&b);
	set_up(&b, &(struct resolver_options){ .same_machine = true });
	resolver_build_id(b.r, exe, &id, false);
	map_self(&b, 7, exe);
	l = locate(&b, 7, 5, (uintptr_t)&set_up, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	snprintf(want, sizeof(want), "[%s]", strrchr(exe, '/') + 1);
	cr_expect_str_eq(name_of(&b, l, &flags), want);
	cr_expect_eq(flags, FUNCTION_UNRESOLVED);
	cr_expect_not_null(strstr(fact(&b, strrchr(exe, '/') + 1), "recorded was deadbeef05060708"),
			   "%s", fact(&b, strrchr(exe, '/') + 1));
	tear_down(&b);
}

Test(resolver, files_of_another_machine_are_not_used_unless_told)
{
	const char *dirs[] = { "/" };
	struct bench b;
	char exe[4096];
	location_id l;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	map_self(&b, 7, exe);
	l = locate(&b, 7, 5, (uintptr_t)&set_up, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_eq(name_of(&b, l, NULL)[0], '[');
	cr_expect_not_null(strstr(fact(&b, strrchr(exe, '/') + 1), "--symbols"), "%s",
			   fact(&b, strrchr(exe, '/') + 1));
	tear_down(&b);
	/* Of this machine, but seen in a container. */
	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map(&b, 7, 1, 0x400000, 0x1000, 0, "/nonexistent/contained");
	locate(&b, 7, 5, 0x400010, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_not_null(strstr(fact(&b, "contained"), "--symbols"), "%s", fact(&b, "contained"));
	tear_down(&b);
	set_up(&b, &(struct resolver_options){ .symbol_dirs = dirs, .n_symbol_dirs = 1 });
	map_self(&b, 7, exe);
	l = locate(&b, 7, 5, (uintptr_t)&set_up, MODE_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, l, NULL), "set_up");
	cr_expect_not_null(strstr(fact(&b, "unverified"), "1 module "));
	tear_down(&b);
}

Test(resolver, locations_by_time_and_kind)
{
	struct bench b;
	location_id l;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	map(&b, 7, 10, 0x1000, 0x1000, 0x4000, "/bin/a");
	l = locate(&b, 7, 10, 0x1234, MODE_USER);
	cr_expect_eq(address_of(&b, l), 0x4234);
	cr_expect_str_eq(module_of(&b, l), "/bin/a");
	cr_expect_eq(locate(&b, 7, 900, 0x1234, MODE_USER).v, l.v);
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 9, 0x1234, MODE_USER)), "[unknown]");
	/* Remapped: what was remembered must not be used after that. */
	map(&b, 7, 500, 0x1200, 0x100, 0, "/bin/b");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 900, 0x1234, MODE_USER)), "/bin/b");
	cr_expect_eq(locate(&b, 7, 499, 0x1234, MODE_USER).v, l.v);
	cr_expect_eq(locate(&b, 7, 900, 0x1334, MODE_USER).v,
		     locate(&b, 7, 20, 0x1334, MODE_USER).v);
	resolver_fork(b.r, 8, 7, 600);
	cr_expect_str_eq(module_of(&b, locate(&b, 8, 900, 0x1234, MODE_USER)), "/bin/b");
	resolver_exec(b.r, 8, 700);
	cr_expect_str_eq(module_of(&b, locate(&b, 8, 900, 0x1234, MODE_USER)), "[unknown]");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 900, 0x1234, MODE_USER)), "/bin/b");
	/* No time at all: by all that was told. */
	cr_expect_str_eq(module_of(&b, locate(&b, 7, TIME_NONE, 0x1234, MODE_USER)), "/bin/b");
	/* A hole that is filled. */
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 900, 0x9000, MODE_USER)), "[unknown]");
	map(&b, 7, 800, 0x9000, 0x100, 0, "/bin/c");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 900, 0x9000, MODE_USER)), "/bin/c");
	/* The kernel is one for all, and moves with _text. */
	map(&b, -1, INT64_MIN, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
	    "[kernel.kallsyms]_text");
	l = locate(&b, 7, 1, 0xffffffff81000010, MODE_KERNEL);
	cr_expect_eq(l.v, locate(&b, 99, 5, 0xffffffff81000010, MODE_KERNEL).v);
	cr_expect_eq(address_of(&b, l), 0x10);
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, 0xffffffff81000010, MODE_USER)),
			 "[unknown]");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, 0x10, MODE_GUEST_USER)), "[guest]");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, 0x10, MODE_HYPERVISOR)), "[hypervisor]");
	cr_expect(resolver_knows(b.r, 7));
	cr_expect_not(resolver_knows(b.r, 4711));
	tear_down(&b);
}

Test(resolver, says_why_memory_of_no_file_has_no_names)
{
	struct mapping_event m = {
		.time_ns = 1, .pid = 7, .start = 0x5000, .length = 0x1000, .path = "//anon"
	};
	struct bench b;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	resolver_map(b.r, &m);
	locate(&b, 7, 10, 0x5010, MODE_USER);
	locate(&b, 7, 10, 0x9010, MODE_USER);
	locate(&b, 7, 10, 0x9010, MODE_GUEST_USER);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect(strstr(fact(&b, "//anon"), "it is memory of no file"), "%s", fact(&b, "//anon"));
	cr_expect(strstr(fact(&b, "[unknown]"), "no mapping says"), "%s", fact(&b, "[unknown]"));
	cr_expect(strstr(fact(&b, "[guest]"), "of guests"), "%s", fact(&b, "[guest]"));
	tear_down(&b);
}

Test(resolver, return_addresses_are_looked_up_before)
{
	struct bench b;
	location_id at, back;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	map(&b, 7, 1, 0x1000, 0x1000, 0, "/bin/a");
	map(&b, 7, 1, 0x2000, 0x1000, 0, "/bin/b");
	builder_begin(b.p);
	back = resolver_locate(b.r, 7, 5, 0x2000, MODE_USER, true);
	at = resolver_locate(b.r, 7, 5, 0x1fff, MODE_USER, false);
	builder_end(b.p);
	cr_expect_str_eq(module_of(&b, back), "/bin/a");
	cr_expect_eq(address_of(&b, back), 0xfff);
	cr_expect_eq(at.v, back.v);
	tear_down(&b);
}

Test(resolver, absurd_mappings)
{
	struct bench b;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	map(&b, 7, 1, 0x1000, 0, 0, "/bin/empty");
	map(&b, 7, 1, UINT64_MAX - 10, 100, UINT64_MAX, "/bin/over the end");
	map(&b, 7, 1, UINT64_MAX, 1, 0, "/bin/nothing");
	map(&b, -1, 1, 0, 0, 0, "[kernel.kallsyms]_text");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, 0x1000, MODE_USER)), "[unknown]");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, UINT64_MAX - 5, MODE_USER)),
			 "/bin/over the end");
	cr_expect_str_eq(module_of(&b, locate(&b, 7, 5, 0xffffffff81000000, MODE_KERNEL)),
			 "[kernel.kallsyms]");
	tear_down(&b);
}

static void put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void drop(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	unlink(path);
	free(path);
}

Test(resolver, generated_code_and_kernel_from_a_directory)
{
	char dir[] = "/tmp/proftop-symbols-XXXXXX";
	const char *dirs[] = { dir };
	struct bench b;
	location_id jit, kernel, module, gap;

	cr_assert_not_null(mkdtemp(dir));
	put(dir, "perf-77.map", "5000 100 LazyCompile:*hot a.js:1\n");
	put(dir, "kallsyms",
	    "ffffffff81000000 T _text\nffffffff81000100 T do_syscall_64\n"
	    "ffffffff81000200 T _etext\nffffffffc0000000 t nft_do_chain\t[nf_tables]\n");
	set_up(&b, &(struct resolver_options){ .symbol_dirs = dirs, .n_symbol_dirs = 1 });
	map(&b, 77, 1, 0x5000, 0x1000, 0, "//anon");
	/* Recorded at another place than the copy has it. */
	map(&b, -1, 1, 0xffffffff91000000, 0x1000000, 0xffffffff91000000, "[kernel.kallsyms]_text");
	map(&b, -1, 1, 0xffffffffc0000000, 0x1000, 0, "[nf_tables]");
	jit = locate(&b, 77, 5, 0x5010, MODE_USER);
	gap = locate(&b, 77, 5, 0x5800, MODE_USER);
	kernel = locate(&b, 77, 5, 0xffffffff91000110, MODE_KERNEL);
	module = locate(&b, 77, 5, 0xffffffffc0000010, MODE_KERNEL);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, jit, NULL), "LazyCompile:*hot a.js:1");
	cr_expect_str_eq(module_of(&b, jit), "/tmp/perf-77.map");
	cr_expect_str_eq(name_of(&b, gap, NULL), "[perf-77.map]");
	cr_expect_str_eq(name_of(&b, kernel, NULL), "do_syscall_64");
	cr_expect_str_eq(name_of(&b, module, NULL), "nft_do_chain");
	tear_down(&b);
	drop(dir, "perf-77.map");
	drop(dir, "kallsyms");
	rmdir(dir);
}

/* At once, before anything was named; what nobody knows is not guessed. */
static const struct {
	uint64_t address;
	const char *name; /* or NULL */
	uint64_t offset;
} at_once[] = {
	{ 0xffffffff91000110, "do_syscall_64", 0x10 },
	{ 0xffffffff91000000, "_text", 0 },
	{ 0xffffffffc0000010, "nft_do_chain", 0x10 },
	{ 0xffffffffc0005b10, "bpf_prog_6deef7357e7b4530_hide", 0x10 },
	{ 0xffffffff80000000, NULL, 0 },
	{ 0x5010, NULL, 0 },
};

Test(resolver, functions_of_the_kernel_at_once)
{
	char dir[] = "/tmp/proftop-symbols-XXXXXX";
	const char *dirs[] = { dir };
	struct bench b;

	cr_assert_not_null(mkdtemp(dir));
	put(dir, "kallsyms",
	    "ffffffff81000000 T _text\nffffffff81000100 T do_syscall_64\n"
	    "ffffffff81000200 T _etext\nffffffffc0000000 t nft_do_chain\t[nf_tables]\n");
	for (int has_symbols = 1; has_symbols >= 0; has_symbols--) {
		set_up(&b, &(struct resolver_options){ .symbol_dirs = dirs,
						       .n_symbol_dirs = (size_t)has_symbols });
		map(&b, 77, 1, 0x5000, 0x1000, 0, "/bin/a");
		map(&b, -1, 1, 0xffffffff91000000, 0x1000000, 0xffffffff91000000,
		    "[kernel.kallsyms]_text");
		map(&b, -1, 1, 0xffffffffc0000000, 0x1000, 0, "[nf_tables]");
		map(&b, -1, 10, 0xffffffffc0005b00, 0x100, 0, "bpf_prog_6deef7357e7b4530_hide");
		for (size_t i = 0; i < sizeof(at_once) / sizeof(*at_once); i++) {
			uint64_t address = at_once[i].address, offset = 0;
			const char *want = at_once[i].name, *got;

			/* A program says itself what it is called. */
			if (!has_symbols && want && strncmp(want, "bpf_", 4) != 0)
				want = NULL;
			got = resolver_kernel_symbol(b.r, 15, address, &offset);
			cr_expect_eq(got != NULL, want != NULL, "%zu: %s", i, got ? got : "none");
			if (got && want)
				cr_expect_str_eq(got, want);
			if (want)
				cr_expect_eq(offset, at_once[i].offset, "%zu", i);
		}
		tear_down(&b);
	}
	drop(dir, "kallsyms");
	rmdir(dir);
}

Test(resolver, bpf_programs_have_their_own_names)
{
	struct bench b;
	location_id one, other, after;
	uint32_t flags;

	set_up(&b, &(struct resolver_options){ .same_machine = false });
	map(&b, -1, 10, 0xffffffffc0005b90, 2020, 0, "bpf_prog_1cbc7de961fe8a38_my_filter");
	map(&b, -1, 20, 0xffffffffc0005b90, 100, 0, "bpf_prog_0000000000000000_next");
	one = locate(&b, 77, 15, 0xffffffffc0005bff, MODE_KERNEL);
	other = locate(&b, 77, 25, 0xffffffffc0005b90, MODE_KERNEL);
	after = locate(&b, 77, 25, 0xffffffffc0006374, MODE_KERNEL);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	cr_expect_str_eq(name_of(&b, one, &flags), "bpf_prog_1cbc7de961fe8a38_my_filter");
	cr_expect_eq(flags, 0);
	cr_expect_str_eq(module_of(&b, one), "bpf_prog_1cbc7de961fe8a38_my_filter");
	cr_expect_str_eq(name_of(&b, other, NULL), "bpf_prog_0000000000000000_next");
	cr_expect_str_eq(name_of(&b, after, NULL), "[unknown]");
	tear_down(&b);
}

Test(resolver, naming_stops_when_asked)
{
	struct bench b;
	struct progress progress = { .cancel = true };
	char exe[4096];

	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map_self(&b, 7, exe);
	locate(&b, 7, 5, (uintptr_t)&set_up, MODE_USER);
	locate(&b, 7, 5, (uintptr_t)&strtoull, MODE_USER);
	cr_assert_eq(resolver_name(b.r, &progress), -ECANCELED);
	tear_down(&b);
}

/* Locating on one thread, naming on another. */
static int name_often(void *arg)
{
	struct bench *b = arg;
	int r = 0;

	for (int i = 0; i < 200 && r == 0; i++)
		r = resolver_name(b->r, NULL);
	return r;
}

Test(resolver, locates_while_it_names)
{
	struct bench b;
	char exe[4096];
	struct task *t;
	struct profile_counts n;
	struct location_columns c;

	set_up(&b, &(struct resolver_options){ .same_machine = true });
	map_self(&b, 7, exe);
	t = task_start(name_often, &b, -1);
	cr_assert_not_null(t);
	for (uint64_t i = 0; i < 20000; i++) {
		char path[32];

		if (i % 100 == 0) {
			snprintf(path, sizeof(path), "/bin/x%" PRIu64, i);
			map(&b, 7, 1, (i + 1) << 20, 4096, 0, path);
		}
		locate(&b, 7, 5, (uintptr_t)&strtoull + i, MODE_USER);
		locate(&b, 7, 5, (i << 20) + 5, MODE_USER);
	}
	cr_assert_eq(task_join(t), 0);
	cr_assert_eq(resolver_name(b.r, NULL), 0);
	profile_counts_read(b.p, &n);
	profile_locations(b.p, &c);
	for (uint32_t i = 0; i < n.n_locations; i++)
		cr_assert_neq(location_function(&c, i), ID_NONE);
	tear_down(&b);
}
