/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source files as rows: what they are called, and which paths of two builds are of one. */
#include "config.h"

#include "query/core/source_names.h"

#include "profile/builder.h"

#include <criterion/criterion.h>
#include <string.h>

#define MOST 8

struct file {
	const char *path;
	unsigned build;
	const char *label;
	unsigned as; /* which of them it is one file with */
};

static const struct {
	const char *what;
	bool compares;
	struct file file[MOST];
} cases[] = {
	{ "what is the only one of its name",
	  false,
	  { { "/w/src/a.c", 0, "a.c", 0 }, { "b.c", 0, "b.c", 1 } } },
	{ "the part that differs",
	  false,
	  { { "/w/src/io/mod.rs", 0, "io/mod.rs", 0 },
	    { "/w/src/fmt/mod.rs", 0, "src/fmt/mod.rs", 1 },
	    { "/w/lib/fmt/mod.rs", 0, "lib/fmt/mod.rs", 2 },
	    { "/w/src/main.rs", 0, "main.rs", 3 } } },
	{ "what is an end of another",
	  false,
	  { { "x.c", 0, "x.c", 0 },
	    { "/src/x.c", 0, "/src/x.c", 1 },
	    { "/w/src/x.c", 0, "/w/src/x.c", 2 },
	    { "src/xx.c", 0, "xx.c", 3 } } },
	{ "parts that end alike",
	  false,
	  { { "/p/mod.rs", 0, "/p/mod.rs", 0 }, { "/qp/mod.rs", 0, "/qp/mod.rs", 1 } } },
	{ "two directories of a build",
	  true,
	  { { "/a/one/src/x.c", 0, "x.c", 0 },
	    { "/b/two/src/x.c", 1, "x.c", 0 },
	    { "/a/one/src/io/mod.rs", 0, "io/mod.rs", 2 },
	    { "/a/one/src/fmt/mod.rs", 0, "fmt/mod.rs", 3 },
	    { "/b/two/src/fmt/mod.rs", 1, "fmt/mod.rs", 3 },
	    { "/b/two/src/io/mod.rs", 1, "io/mod.rs", 2 },
	    { "/usr/include/x.h", 0, "x.h", 6 },
	    { "/usr/include/x.h", 1, "x.h", 6 } } },
	{ "files at the top of a tree",
	  true,
	  { { "/a/one/x.c", 0, "x.c", 0 }, { "/b/two/x.c", 1, "x.c", 0 } } },
	{ "files of one name of which nobody knows which are one",
	  true,
	  { { "/a/one/io/mod.rs", 0, "io/mod.rs", 0 },
	    { "/a/one/new/mod.rs", 0, "new/mod.rs", 1 },
	    { "/b/two/old/mod.rs", 1, "old/mod.rs", 2 },
	    { "/b/two/io/mod.rs", 1, "io/mod.rs", 0 } } },
	{ "one build is no comparison",
	  true,
	  { { "/a/one/x.c", 0, "one/x.c", 0 }, { "/b/two/x.c", 0, "two/x.c", 1 } } },
	{ "nor is one file",
	  false,
	  { { "/a/one/x.c", 0, "one/x.c", 0 }, { "/b/two/x.c", 1, "two/x.c", 1 } } },
};

Test(source_names, tell_files_apart)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct file *f = cases[i].file;
		struct profile *p = profile_new();
		struct source_names s = { .p = p };
		string_id id[MOST];
		module_id build[2];
		const char *label;
		size_t n = 0;

		builder_begin(p);
		build[0] = build_module(p, "/bin/x", "00", FAMILY_PROGRAM);
		build[1] = build_module(p, "/bin/x", "01", FAMILY_PROGRAM);
		for (; n < MOST && f[n].path; n++)
			id[n] = build_string(p, f[n].path, strlen(f[n].path));
		builder_end(p);
		for (size_t k = 0; k < n; k++)
			source_names_add(&s, id[k], build[f[k].build]);
		source_names_add(&s, (string_id){ 0 }, build[0]);
		source_names_make(&s, cases[i].compares);
		for (size_t k = 0; k < n; k++) {
			cr_expect_eq(source_names_file(&s, id[k], &label).v, id[f[k].as].v,
				     "%s: %zu", cases[i].what, k);
			cr_expect_str_eq(label, f[k].label, "%s", cases[i].what);
		}
		source_names_done(&s);
		profile_free(p);
	}
}
