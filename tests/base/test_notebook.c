/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved views and notes: what is written is read again, whatever it has in it, and hostile files cost nothing else. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "notebook/notebook.h"

static char stage[] = "/tmp/notebook-XXXXXX";

static void begin(void)
{
	strcpy(stage + sizeof(stage) - 7, "XXXXXX");
	cr_assert_not_null(mkdtemp(stage));
	setenv("XDG_CONFIG_HOME", stage, 1);
	setenv("XDG_STATE_HOME", stage, 1);
}

static void end(void)
{
	char *command = xasprintf("rm -rf %s", stage);

	cr_expect_eq(system(command), 0);
	free(command);
}

TestSuite(notebook, .init = begin, .fini = end);

static char *profile(const char *name)
{
	char *path = xasprintf("%s/%s", stage, name);
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fclose(f);
	return path;
}

Test(notebook, finds_again_what_it_kept)
{
	static const char *const texts[] = {
		"plain", "two words", "\"quoted\" \\ back", "a=b # c", "tab\tline\nend\x01\x7f",
		"µ ¶ ü", "x"
	};
	char *path = profile("x.data");
	struct notebook b;

	notebook_open(&b, path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct note n = { .of = (char *)"function",
				  .name = (char *)texts[i],
				  .module = (char *)"m o",
				  .text = (char *)texts[i] };

		cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	}
	notebook_done(&b);
	notebook_open(&b, path);
	cr_expect_null(b.complaint, "%s", b.complaint);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct note *n = notebook_note(&b, "function", texts[i], "m o");

		cr_assert_not_null(n, "%s", texts[i]);
		cr_expect_str_eq(n->text, texts[i]);
		cr_expect_null(notebook_note(&b, "module", texts[i], "m o"));
		cr_expect_null(notebook_note(&b, "function", texts[i], "other"));
	}
	notebook_done(&b);
	free(path);
}

Test(notebook, keeps_in_the_state_directory_what_cannot_be_beside)
{
	struct note n = { .of = (char *)"function", .name = (char *)"f", .text = (char *)"t" };
	const char *path = NULL;
	struct notebook b;
	struct err e = ERR_INIT;

	notebook_open(&b, "/proc/version");
	cr_assert_eq(notebook_put_note(&b, &n, &path, &e), 0, "%s", err_text(&e));
	cr_expect(strstr(path, "/proftop/notes/%proc%version.proftop") != NULL, "%s", path);
	notebook_done(&b);
	notebook_open(&b, "/proc/version");
	cr_assert_not_null(notebook_note(&b, "function", "f", "any"));
	n.text = NULL;
	cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	cr_expect_null(notebook_note(&b, "function", "f", "any"));
	notebook_done(&b);
}

/* Two programs have the same profile open. */
Test(notebook, loses_nothing_of_another_program)
{
	char *path = profile("y.data");
	struct saved_view one = { .name = (char *)"one", .filter = (char *)"is:alloc" };
	struct saved_view two = { .name = (char *)"two", .view = (char *)"flame" };
	struct notebook a, b;

	notebook_open(&a, path);
	notebook_open(&b, path);
	cr_expect_eq(notebook_put_view(&a, &one, false, NULL, NULL), 0);
	cr_expect_eq(notebook_put_view(&b, &two, false, NULL, NULL), 0);
	cr_expect_not_null(notebook_view(&b, "one", NULL));
	cr_expect_not_null(notebook_view(&b, "two", NULL));
	notebook_done(&a);
	notebook_done(&b);
	free(path);
}

Test(notebook, has_views_for_all_files_without_a_file)
{
	struct saved_view v = { .name = (char *)"v" };
	enum notebook_page where;
	struct notebook b;
	struct err e = ERR_INIT;

	notebook_open(&b, "-");
	cr_expect_eq(notebook_put_view(&b, &v, false, NULL, &e), -EINVAL);
	err_clear(&e);
	cr_expect_eq(notebook_put_view(&b, &v, true, NULL, NULL), 0);
	cr_assert_not_null(notebook_view(&b, "v", &where));
	cr_expect_eq(where, PAGE_ALL);
	cr_expect_eq(notebook_drop_view(&b, "v", where, NULL), 0);
	cr_expect_null(notebook_view(&b, "v", NULL));
	v.name = (char *)"no name";
	cr_expect_eq(notebook_put_view(&b, &v, true, NULL, &e), -EINVAL);
	err_clear(&e);
	notebook_done(&b);
}

static const struct {
	const char *line;
	const char *says; /* part of the sentence; NULL: it is good */
} lines[] = {
	{ "view x", NULL },
	{ "  note of=a name=b text=\"\" # remark", NULL },
	{ "view x filter=\"a \\x41\"\r", NULL },
	{ "view", "begins with view or note" },
	{ "view \"x y\"", "one word" },
	{ "view x colour=red", "no key 'colour'" },
	{ "view x filter", "key=value" },
	{ "view x filter=\"a", "does not end" },
	{ "view x filter=\"a\\", "something unknown" },
	{ "view x filter=\"\\x\"", "something unknown" },
	{ "view x filter=\"\\x4", "something unknown" },
	{ "view x filter=\"\\x00\"", "something unknown" },
	{ "view x filter=\"a\"b", "a blank is missing" },
	{ "note of=a name=b", "says of=" },
	{ "bind all q quit", "begins with view or note" },
};

Test(notebook, says_what_is_wrong_in_a_line)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		/* without a NUL behind it, for sanitizers to see what reads on */
		size_t n = strlen(lines[i].line);
		char *text = xmalloc(n + 1);
		struct note_page p = { .views = { 0 } };
		struct err e = ERR_INIT;
		int rc;

		memcpy(text, lines[i].line, n);
		rc = page_parse(&p, text, n, "f", &e);
		if (lines[i].says)
			cr_expect(rc == -EINVAL && strstr(err_text(&e), lines[i].says), "%s: %s",
				  lines[i].line, err_text(&e));
		else
			cr_expect_eq(rc, 0, "%s: %s", lines[i].line, err_text(&e));
		cr_expect_eq(p.others.n, rc ? 1 : 0);
		err_clear(&e);
		page_done(&p);
		free(text);
	}
}
