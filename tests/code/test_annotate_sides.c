/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations of a comparison where the source was edited between the two builds: of which side the lines may be others. */
#include "config.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "symbols/search/resolver_options.h"
#include "tests/support/made_profile.h"

/* The function that is annotated: this program is on both sides, with its own debug information. */
__attribute__((noinline)) static int edited(int x)
{
	for (int i = 0; i < 3; i++)
		x = x * 7 ^ (x >> 3);
	return x;
}

/* The times of the two programs and of the source, and what stands in front of the warning; NULL: there is none. */
static const struct {
	time_t built[N_SIDES], changed;
	const char *side;
} cases[] = {
	{ { 1000, 3000 }, 2000, "BEFORE: " },
	{ { 3000, 1000 }, 2000, "AFTER: " },
	{ { 1000, 1000 }, 2000, "" },
	{ { 3000, 3000 }, 2000, NULL },
};

static void set_time(const char *path, time_t t)
{
	const struct timespec times[] = { { .tv_sec = t }, { .tv_sec = t } };

	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void copy_self(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	char buffer[1 << 16];
	ssize_t n;

	cr_assert(from >= 0 && to >= 0);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		cr_assert_eq(write(to, buffer, (size_t)n), n);
	close(from);
	close(to);
}

/* The offset in the program's file of an address, for dl_iterate_phdr(), whose first object is the program. */
static int find_offset(struct dl_phdr_info *of, size_t size, void *arg)
{
	uint64_t *address = arg, at = *address - of->dlpi_addr;

	(void)size;
	for (int i = 0; i < of->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &of->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && at >= h->p_vaddr && at - h->p_vaddr < h->p_memsz)
			*address = at - h->p_vaddr + h->p_offset;
	}
	return 1;
}

/* One sample on cpu 0 in the program before, one on cpu 1 in the program after. */
static struct profile *make_profile(char *const *program)
{
	struct profile *p = profile_new();
	uint64_t address = (uint64_t)(uintptr_t)edited;
	event_id e;

	dl_iterate_phdr(find_offset, &address);
	builder_begin(p);
	e = build_event(p, "cycles", UNIT_COUNT, true);
	for (uint32_t side = 0; side < N_SIDES; side++) {
		module_id m = build_module(p, program[side], "", FAMILY_PROGRAM);
		location_id l = build_location(p, m, address);
		struct sample sample = { .thread = { ID_NONE },
					 .cpu = (uint16_t)side,
					 .event = e,
					 .weight = 10,
					 .time_ns = TIME_NONE };

		build_location_function(
			p, l,
			build_function(p, build_cstring(p, "edited"), m, 0, (string_id){ 0 }, 0));
		sample.stack = build_stack(p, (stack_id){ 0 }, l);
		build_sample(p, &sample);
	}
	builder_end(p);
	return p;
}

static struct annotation *annotate_below(const struct analysis *of, const char *dir)
{
	const struct resolver_options symbols = { .same_machine = true };
	const struct annotate_options o = { .symbols = &symbols,
					    .sources = { .dirs = &dir, .n_dirs = 1 } };
	struct code_wish wish = { .path = 0 };
	struct annotation *a = NULL;

	for (uint32_t i = 0; i < of->keys.n; i++)
		if (strcmp(of->keys.key[i].label, "edited") == 0)
			wish.key_id = of->keys.key[i].id;
	cr_assert_eq(annotate(of, &o, &wish, NULL, &a), 0);
	return a;
}

/* Compilers that write MD5s tell the file apart on both sides, whatever its time. */
static void expect_warning(const struct annotation *a, const char *side, const char *source)
{
	const char *is = a->files.at[0].warning ? a->files.at[0].warning : "";
	char *want;

	if (strstr(is, "MD5 differs"))
		want = xasprintf("%s is not what was compiled (its MD5 differs): lines may be "
				 "others",
				 source);
	else if (side)
		want = xasprintf("%s%s is newer than the program (no MD5 to check): lines may be "
				 "others",
				 side, source);
	else
		want = xstrdup("");
	cr_expect_eq(a->files.n, 1);
	cr_expect_str_eq(is, want, "%s, not %s", is, want);
	free(want);
}

/* Without a comparison, of several programs with one source: of which. */
static void expect_program(const struct profile *p, const char *dir, const char *program)
{
	struct analysis *of = NULL;
	struct annotation *a;
	struct lens l;
	char *start;

	made_lens(&l, p, "");
	cr_assert_eq(analysis_new(p, &l, NULL, &of), 0);
	lens_done(&l);
	a = annotate_below(of, dir);
	start = program ? xasprintf("%s: %s/test_annotate_sides.c is newer", program, dir)
			: xasprintf("%s/test_annotate_sides.c is newer", dir);
	cr_expect_eq(a->files.n, 1);
	if (a->files.n > 0 &&
	    !(a->files.at[0].warning && strstr(a->files.at[0].warning, "MD5 differs")))
		cr_expect(a->files.at[0].warning &&
				  strncmp(a->files.at[0].warning, start, strlen(start)) == 0,
			  "%s, not %s", a->files.at[0].warning, start);
	free(start);
	annotation_free(a);
	analysis_free(of);
}

Test(annotate_sides, say_of_which_side_the_source_may_be_another)
{
	char dir[] = "/tmp/proftop-sides-XXXXXX", *program[N_SIDES], *sub[N_SIDES], *source;
	struct profile *p;
	struct analysis *of;
	bool has_lines = true;
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_neq(edited((int)getpid()), INT32_MAX - 1);
	source = xasprintf("%s/test_annotate_sides.c", dir);
	fd = open(source, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && write(fd, "a\n", 2) == 2);
	close(fd);
	for (int side = 0; side < N_SIDES; side++) {
		sub[side] = xasprintf("%s/%d", dir, side);
		cr_assert_eq(mkdir(sub[side], 0700), 0);
		program[side] = xasprintf("%s/prog", sub[side]);
		copy_self(program[side]);
	}
	p = make_profile(program);
	of = made_comparison(p, "cpu:0", "cpu:1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases) && has_lines; i++) {
		struct annotation *a;

		set_time(source, cases[i].changed);
		for (int side = 0; side < N_SIDES; side++)
			set_time(program[side], cases[i].built[side]);
		a = annotate_below(of, dir);
		has_lines = a->files.n > 0;
		/* The two programs have no build-id in common: each has its own code. */
		cr_expect_eq(a->blocks.n, 2);
		for (size_t k = 0; k < a->blocks.n; k++)
			cr_expect_eq(a->blocks.at[k].of_side[SIDE_BEFORE],
				     strcmp(a->blocks.at[k].path, program[SIDE_BEFORE]) == 0);
		for (size_t k = 0; k < a->blocks.n; k++)
			cr_expect_eq(a->blocks.at[k].of_side[SIDE_AFTER],
				     strcmp(a->blocks.at[k].path, program[SIDE_AFTER]) == 0);
		if (has_lines)
			expect_warning(a, cases[i].side, source);
		annotation_free(a);
	}
	for (int old = 0; old < N_SIDES && has_lines; old++) {
		for (int side = 0; side < N_SIDES; side++)
			set_time(program[side], side == old ? 1000 : 3000);
		set_time(source, 2000);
		expect_program(p, dir, program[old]);
	}
	set_time(source, 4000);
	if (has_lines)
		expect_program(p, dir, NULL);
	analysis_free(of);
	profile_free(p);
	for (int side = 0; side < N_SIDES; side++) {
		unlink(program[side]);
		rmdir(sub[side]);
		free(program[side]);
		free(sub[side]);
	}
	unlink(source);
	rmdir(dir);
	free(source);
	if (!has_lines)
		cr_skip_test("this program was built without debug information of lines");
}
