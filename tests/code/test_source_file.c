/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/annotate.h"
#include "code/code_archive.h"
#include "code/md5.h"
#include "code/source_file.h"
#include "profile/builder.h"
#include "symbols/search/resolver_options.h"

static const struct {
	const char *text, *is;
} sums[] = {
	/* RFC 1321, A.5 */
	{ "", "d41d8cd98f00b204e9800998ecf8427e" },
	{ "a", "0cc175b9c0f1b6a831c399e269772661" },
	{ "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	  "d174ab98d277d9f5a5611c2c9f419d9f" },
	{ "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
	  "57edf4a22be3c955ac49da2e2107b67a" },
};

Test(md5, is_that_of_the_rfc)
{
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		uint8_t sum[MD5_BYTES];
		char hex[2 * MD5_BYTES + 1];

		md5_of(sums[i].text, strlen(sums[i].text), sum);
		for (size_t k = 0; k < MD5_BYTES; k++)
			snprintf(hex + 2 * k, 3, "%02x", sum[k]);
		cr_expect_str_eq(hex, sums[i].is);
	}
}

static char root[] = "/tmp/proftop-source-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", root, name);
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void make_files(void)
{
	char *path;

	cr_assert_not_null(mkdtemp(root));
	path = xasprintf("%s/lib", root);
	mkdir(path, 0700);
	write_file("lib/a.c", "one\ntwo\r\n\nfour");
	write_file("a.c", "another\n");
	free(path);
}

static void remove_files(void)
{
	char *command = xasprintf("rm -rf %s", root);

	cr_assert_eq(system(command), 0); /* NOLINT */
	free(command);
}

/* Each case: the recorded path; %s is the directory of the files. */
static const struct {
	const char *path, *dir, *map, *found, *line2;
} finds[] = {
	{ "%s/lib/a.c", NULL, NULL, "%s/lib/a.c", "two" },
	{ "/build/x/lib/a.c", "%s", NULL, "%s/lib/a.c", "two" }, /* the longest end that is there */
	{ "/build/x/src/a.c", "%s", NULL, "%s/a.c", NULL },
	{ "/build/x/lib/a.c", NULL, "/build/x=%s", "%s/lib/a.c", "two" },
	{ "/build/x/lib/a.c", NULL, "/build/x/=%s", "%s/lib/a.c", "two" },
	{ "/build/xy/lib/a.c", NULL, "/build/x=%s", NULL, NULL }, /* whole names only */
	{ "lib/a.c", NULL, NULL, NULL, NULL },                    /* beside what? */
	{ "lib/a.c", "%s", NULL, "%s/lib/a.c", "two" },
	{ "file://%s/lib/a.c", NULL, NULL, "%s/lib/a.c", "two" },
	{ "../lib/a.c", "%s/lib", NULL, "%s/lib/a.c", "two" }, /* never out of the directory */
	{ "/build/nowhere.c", "%s", NULL, NULL, NULL },
	{ "%s/lib", NULL, NULL, NULL, NULL }, /* a directory */
};

static char *filled(const char *form)
{
	return !form                ? NULL
	       : strstr(form, "%s") ? xasprintf("%.*s%s%s", (int)(strstr(form, "%s") - form), form,
						root, strstr(form, "%s") + 2)
				    : xstrdup(form);
}

Test(source_file, is_found)
{
	make_files();
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		char *path = filled(finds[i].path), *dir = filled(finds[i].dir);
		char *map = filled(finds[i].map), *found = filled(finds[i].found);
		const char *const dirs[] = { dir }, *const maps[] = { map };
		struct source_options o = { dirs, dir != NULL, maps, map != NULL, NULL, false };
		struct source_file f;

		source_file_open(&f, path, &o, NULL, 0);
		cr_expect_eq(f.state, found ? SOURCE_FOUND : SOURCE_MISSING, "case %zu", i);
		cr_expect_eq(f.why != NULL, found == NULL, "case %zu", i);
		if (found && f.path)
			cr_expect_str_eq(f.path, found, "case %zu: %s", i, f.path);
		if (finds[i].line2 && source_file_line(&f, 2))
			cr_expect_str_eq(source_file_line(&f, 2), finds[i].line2);
		source_file_done(&f);
		free(path);
		free(dir);
		free(map);
		free(found);
	}
	remove_files();
}

/* A link below a directory that was named is followed on screens; into a pack nothing comes from outside by it. */
Test(source_file, links_lead_out_of_no_pack)
{
	static const struct {
		const char *path;
		bool for_pack, found;
	} cases[] = { { "/b/out/c.c", false, true },
		      { "/b/out/c.c", true, false },
		      { "/b/in/a.c", false, true },
		      { "/b/in/a.c", true, true } };
	char *dir, *map, *in, *out, *outside;

	make_files();
	dir = xasprintf("%s/lib", root);
	map = xasprintf("/b=%s/lib", root);
	in = xasprintf("%s/lib/in", root);
	out = xasprintf("%s/lib/out", root);
	outside = xasprintf("%s/outside", root);
	mkdir(outside, 0700);
	write_file("outside/c.c", "secret\n");
	cr_assert(symlink(".", in) == 0 && symlink("../outside", out) == 0);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const dirs[] = { dir }, *const maps[] = { map };
		struct source_options o = { dirs,        i % 2, maps,
					    (i + 1) % 2, NULL,  cases[i / 2].for_pack };
		struct source_file f;

		source_file_open(&f, cases[i / 2].path, &o, NULL, 0);
		cr_expect_eq(f.state == SOURCE_FOUND, cases[i / 2].found, "case %zu", i);
		source_file_done(&f);
	}
	free(dir);
	free(map);
	free(in);
	free(out);
	free(outside);
	remove_files();
}

Test(source_file, has_lines_and_is_compared)
{
	const struct source_options nowhere = { .n_dirs = 0 };
	uint8_t md5[MD5_BYTES];
	struct source_file f;
	char *path;

	make_files();
	path = xasprintf("%s/lib/a.c", root);
	md5_of("one\ntwo\r\n\nfour", 14, md5);
	source_file_open(&f, path, &nowhere, md5, 1);
	cr_expect_eq(f.state, SOURCE_CHECKED);
	cr_expect_eq(f.n_lines, 4);
	cr_expect_str_eq(source_file_line(&f, 1), "one");
	cr_expect_str_eq(source_file_line(&f, 3), "");
	cr_expect_str_eq(source_file_line(&f, 4), "four");
	cr_expect_null(source_file_line(&f, 0));
	cr_expect_null(source_file_line(&f, 5));
	source_file_done(&f);
	md5[3] ^= 1;
	source_file_open(&f, path, &nowhere, md5, 0);
	cr_expect_eq(f.state, SOURCE_DIFFERENT);
	source_file_done(&f);
	source_file_open(&f, path, &nowhere, NULL, 1);
	cr_expect_eq(f.state, SOURCE_NEWER);
	source_file_done(&f);
	remove_files();
	free(path);
}

Test(source_map, wants_both_sides)
{
	cr_expect(source_map_is_right("/a=/b"));
	cr_expect(source_map_is_right("/a="));
	cr_expect_not(source_map_is_right("=/b"));
	cr_expect_not(source_map_is_right("/a"));
}

/* Lines of a pack, of two packs, and of one that is cut anywhere: what is whole is there, and no other line. */
Test(source_file, lines_of_packs)
{
	static const uint8_t first[] = { 1,
					 'x',
					 SOURCE_CHECKED,
					 9,
					 2,
					 1,
					 2,
					 2,
					 'a',
					 'b',
					 0,
					 3,
					 1,
					 3,
					 'c',
					 'd',
					 'e',
					 1,
					 2,
					 0xab,
					 0xcd,
					 SOURCE_DIFFERENT };
	static const uint8_t second[] = {
		1, 'x', SOURCE_CHECKED, 9, 1, 2, 2, 1, '?', 1, 'f', 1, 2, 0xab, 0xce, SOURCE_NEWER
	};
	const struct source_build programs[] = { { .of = build_id_of("\xab\xcd", 2) },
						 { .of = build_id_of("\xab\xce", 2) },
						 { .of = build_id_of("\xab\xcf", 2) } };

	for (size_t n = 0; n <= sizeof(first); n++) {
		struct profile *p = profile_new();
		struct source_options o = { .packed = p };
		struct source_file f;
		uint8_t *copy = xmalloc(sizeof(first)), *other = xmalloc(sizeof(second));

		memcpy(copy, first, n);
		memcpy(other, second, sizeof(second));
		build_attachment(p, ATTACHMENT_SOURCE, "/no/such/x.c", copy, n);
		build_attachment(p, ATTACHMENT_SOURCE, "/no/such/x.c", other, sizeof(second));
		source_file_open(&f, "/no/such/x.c", &o, NULL, 0);
		cr_expect_str_eq(f.path, "x");
		cr_expect_eq(f.n_lines, 9);
		cr_expect_str_eq(source_file_line(&f, 4), "f");
		if (n == sizeof(first)) {
			cr_expect_str_eq(source_file_line(&f, 2), "ab");
			cr_expect_str_eq(source_file_line(&f, 3), "");
			cr_expect_str_eq(source_file_line(&f, 7), "cde");
			cr_expect_eq(source_file_state(&f, &programs[0]), SOURCE_DIFFERENT);
			cr_expect_eq(source_file_state(&f, &programs[2]), SOURCE_CHECKED);
		}
		cr_expect_eq(source_file_state(&f, &programs[1]), SOURCE_NEWER);
		cr_expect_null(source_file_line(&f, 1));
		cr_expect_null(source_file_line(&f, 8));
		source_file_done(&f);
		source_file_open(&f, "/no/such/y.c", &o, NULL, 0);
		cr_expect_eq(f.state, SOURCE_MISSING);
		source_file_done(&f);
		profile_free(p);
	}
}

/* What packs take of a profile that names files, and no program that is here. */
static struct code_archive archive_of(const struct profile *p, const char *dir, bool paths)
{
	const struct resolver_options symbols = { .n_symbol_dirs = 0 };
	const struct annotate_options where = {
		.symbols = &symbols, .sources = { .dirs = &dir, .n_dirs = dir != NULL }
	};
	const struct code_archive_wish wish = {
		.where = &where, .code = true, .sources = true, .paths = paths
	};
	struct code_archive a;

	cr_assert_eq(code_archive_make(&a, p, &wish, NULL), 0);
	return a;
}

static void name_file(struct profile *p, const char *name)
{
	char *path = xasprintf("%s/%s", root, name);
	string_id file = build_cstring(p, path);
	function_id f = build_function(p, build_cstring(p, name), (module_id){ 0 }, 0, file, 1);
	const struct frame run[] = { { f.v, file.v, 1, 0 } };

	build_frames_location(p, run, 1);
	free(path);
}

/* A profile may name any file: one that is private stays here. */
Test(source_file, packs_take_no_file_that_a_profile_only_names)
{
	struct profile *p = profile_new();
	struct code_archive a;

	make_files();
	builder_begin(p);
	name_file(p, "a.c");
	name_file(p, "lib/../a.c");
	builder_end(p);
	a = archive_of(p, NULL, true);
	cr_expect_eq(a.sources.n, 0);
	cr_expect_eq(a.n_files_untold, 2);
	code_archive_done(&a);
	a = archive_of(p, root, true);
	cr_expect_eq(a.sources.n, 2);
	cr_expect_eq(a.n_files_untold, 0);
	code_archive_done(&a);
	remove_files();
	profile_free(p);
}

/* Without paths, a.c is not told from lib/a.c: lines of neither are taken, whichever was found. */
Test(source_file, packs_without_paths_tell_files_apart)
{
	struct profile *p = profile_new();
	struct code_archive a;

	make_files();
	write_file("lib/b.c", "alone\n");
	builder_begin(p);
	name_file(p, "a.c");
	name_file(p, "lib/a.c");
	name_file(p, "lib/b.c");
	name_file(p, "lib/../lib/b.c");
	builder_end(p);
	a = archive_of(p, root, true);
	cr_expect_eq(a.sources.n, 4);
	code_archive_done(&a);
	a = archive_of(p, root, false);
	cr_expect_eq(a.sources.n, 2);
	for (size_t i = 0; i < a.sources.n; i++)
		cr_expect_str_eq(a.sources.at[i].path, "b.c");
	cr_expect_eq(a.n_files_shared, 2);
	cr_expect_eq(a.n_lines, 2);
	code_archive_done(&a);
	remove_files();
	profile_free(p);
}

/* Two packs have a file of that name, and not the same one. */
Test(source_file, lines_of_packs_do_not_mix)
{
	static const uint8_t packed[2][8] = { { 1, 'x', SOURCE_FOUND, 9, 1, 0, 1, 0 },
					      { 1, 'x', SOURCE_FOUND, 8, 1, 2, 1, 0 } };
	struct profile *p = profile_new();
	struct source_options o = { .packed = p };
	struct source_file f;

	for (size_t i = 0; i < 2; i++) {
		uint8_t *copy = xmalloc(sizeof(packed[i]));

		memcpy(copy, packed[i], sizeof(packed[i]));
		build_attachment(p, ATTACHMENT_SOURCE, "/no/such/x.c", copy, sizeof(packed[i]));
	}
	source_file_open(&f, "/no/such/x.c", &o, NULL, 0);
	cr_expect_eq(f.state, SOURCE_MISSING);
	cr_expect_str_eq(f.why, "packs have several files of this name");
	source_file_done(&f);
	profile_free(p);
}
