/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved views and notes: what is written is read again, whatever it has in it, and hostile files cost nothing else. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static struct note note_of(char *name)
{
	return (struct note){ .of = (char *)"function", .name = name, .text = (char *)"t" };
}

/* Writers begin when `start` is closed elsewhere; each has the file as it was before any of them. */
static _Noreturn void write_note(const char *path, int writer, int start)
{
	char name[16], end;
	struct notebook b;
	struct note n = note_of(name);
	int rc;

	snprintf(name, sizeof(name), "f%d", writer);
	notebook_open(&b, path);
	rc = read(start, &end, 1) != 0 || notebook_put_note(&b, &n, NULL, NULL);
	_exit(rc != 0);
}

static void write_at_once(const char *path, int n_writers)
{
	int start[2], status;

	cr_assert_eq(pipe(start), 0);
	for (int i = 0; i < n_writers; i++) {
		pid_t pid = fork();

		cr_assert_geq(pid, 0);
		if (pid == 0) {
			close(start[1]);
			write_note(path, i, start[0]);
		}
	}
	close(start[1]);
	for (int i = 0; i < n_writers; i++)
		cr_expect(wait(&status) > 0 && status == 0, "status %d", status);
	close(start[0]);
}

/* Whether the file was there before or not; it stays as private as it was. */
Test(notebook, keeps_what_many_programs_write_at_once)
{
	for (int old = 0; old < 2; old++) {
		char *path = profile(old ? "old.data" : "new.data");
		char *beside = xasprintf("%s.proftop", path);
		struct notebook b;
		struct stat st;

		if (old) {
			FILE *f = fopen(beside, "w");

			cr_assert(f && fputs("# mine\n", f) >= 0 && fclose(f) == 0);
			cr_assert_eq(chmod(beside, 0600), 0);
		}
		write_at_once(path, 10);
		notebook_open(&b, path);
		cr_expect_eq(b.page[PAGE_BESIDE].notes.n, (size_t)10, "%zu notes",
			     b.page[PAGE_BESIDE].notes.n);
		cr_assert_eq(stat(beside, &st), 0);
		cr_expect(!old || (st.st_mode & 0777) == 0600, "mode %o", (unsigned)st.st_mode);
		notebook_done(&b);
		free(beside);
		free(path);
	}
}

/* Taking away what is not there makes no file; what is no file is left alone. */
Test(notebook, makes_no_file_for_nothing)
{
	char *path = profile("z.data"), *beside = xasprintf("%s.proftop", path);
	struct note n = note_of((char *)"f");
	struct notebook b;
	struct err e = ERR_INIT;

	notebook_open(&b, path);
	cr_expect_eq(notebook_drop_view(&b, "v", PAGE_BESIDE, NULL), 0);
	cr_expect_neq(access(beside, F_OK), 0);
	cr_assert_eq(mkfifo(beside, 0600), 0);
	cr_expect_eq(notebook_put_note(&b, &n, NULL, &e), -EINVAL);
	cr_expect(strstr(err_text(&e), "is no file of saved views"), "%s", err_text(&e));
	err_clear(&e);
	notebook_done(&b);
	free(beside);
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
		cr_expect_eq(p.views.n + p.notes.n, rc ? 0 : 1);
		cr_expect_eq(p.lines.n, 1);
		err_clear(&e);
		page_done(&p);
		free(text);
	}
}

static void put_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	cr_assert(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void expect_file(const char *path, const char *text, size_t n)
{
	char have[1000];
	FILE *f = fopen(path, "r");
	size_t got;

	cr_assert_not_null(f);
	got = fread(have, 1, sizeof(have), f);
	fclose(f);
	cr_expect(got == n && memcmp(have, text, n) == 0, "%.*s", (int)got, have);
}

/* A change of one line is a change of that line alone: order, remarks and bytes of the others stay. */
Test(notebook, changes_only_the_line_of_a_change)
{
	static const char before[] = "# first\n"
				     "note text=old of=function name=f # why\n"
				     "\n"
				     "view v  filter=a # mine\n"
				     "wrong\0 behind a NUL\n"
				     "# about g\n"
				     "note of=function name=g text=t\n"
				     "view v filter=b\n";
	static const char after[] = "# first\n"
				    "note text=old of=function name=f # why\n"
				    "\n"
				    "wrong\0 behind a NUL\n"
				    "# about g\n"
				    "note of=function name=g text=new\n"
				    "view v filter=b\n"
				    "note of=function name=h text=t\n";
	char *path = profile("k.data"), *beside = xasprintf("%s.proftop", path);
	struct note g = note_of((char *)"g"), h = note_of((char *)"h");
	struct notebook b;

	put_file(beside, before, sizeof(before) - 1);
	notebook_open(&b, path);
	cr_expect(b.complaint && strstr(b.complaint, ":5: a line has a NUL byte"), "%s",
		  b.complaint);
	g.text = (char *)"new";
	cr_expect_eq(notebook_put_note(&b, &g, NULL, NULL), 0);
	cr_expect_eq(notebook_put_note(&b, &h, NULL, NULL), 0);
	expect_file(beside, after, sizeof(after) - 1);
	/* The last of two views of a name is the one that counts. */
	cr_expect_str_eq(notebook_view(&b, "v", NULL)->filter, "b");
	cr_expect_eq(notebook_drop_view(&b, "v", PAGE_BESIDE, NULL), 0);
	notebook_done(&b);
	notebook_open(&b, path);
	cr_expect_null(notebook_view(&b, "v", NULL));
	notebook_done(&b);
	free(beside);
	free(path);
}

/* A recording is the same one by whatever link it is opened. */
Test(notebook, finds_what_is_kept_beside_the_file_of_a_link)
{
	char *path = profile("real.data"), *link = xasprintf("%s/link.data", stage);
	struct note n = note_of((char *)"f");
	struct notebook b;
	const char *where = NULL;

	cr_assert_eq(symlink("real.data", link), 0);
	notebook_open(&b, link);
	cr_expect_eq(notebook_put_note(&b, &n, &where, NULL), 0);
	cr_expect(strstr(where, "/real.data.proftop"), "%s", where);
	notebook_done(&b);
	notebook_open(&b, path);
	cr_expect_not_null(notebook_note(&b, "function", "f", NULL));
	notebook_done(&b);
	free(link);
	free(path);
}

/* What a pack brings is read, and stays in it: what is noted beside goes before it, and hides it. */
Test(notebook, takes_what_a_pack_brings)
{
	static const char brought[] =
		"note of=function name=f text=theirs\nview v filter=a\n\0wrong\n";
	char *path = profile("p.pack"), *text;
	struct note n = note_of((char *)"f");
	struct notebook b;
	struct err e = ERR_INIT;

	notebook_open(&b, path);
	notebook_take_packed(&b, path, brought, sizeof(brought) - 1);
	cr_expect(b.complaint && strstr(b.complaint, "p.pack:3: a line has a NUL"), "%s",
		  b.complaint);
	cr_expect_str_eq(notebook_note(&b, "function", "f", "m")->text, "theirs");
	cr_expect_eq(notebook_drop_view(&b, "v", PAGE_PACKED, &e), -EPERM);
	cr_expect(strstr(err_text(&e), "which is not changed"), "%s", err_text(&e));
	err_clear(&e);
	n.text = (char *)"mine";
	cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	cr_expect_str_eq(notebook_note(&b, "function", "f", "m")->text, "mine");
	text = notebook_text(&b);
	cr_expect(strstr(text, "view v filter=a\n") && strstr(text, "text=mine") &&
			  !strstr(text, "theirs"),
		  "%s", text);
	free(text);
	n.text = NULL;
	cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	cr_expect_null(notebook_note(&b, "function", "f", "m"));
	notebook_done(&b);
	free(path);
}

/* With another user's $HOME nobody asked for what cannot be read there, so nothing is complained of. */
Test(notebook, is_quiet_about_another_users_home)
{
	char *path = profile("x.data"), *home = xasprintf("%s/home", stage);
	struct notebook b;

	cr_assert_eq(mkdir(home, 0700), 0);
	setenv("XDG_CONFIG_HOME", home, 1);
	setenv("XDG_STATE_HOME", home, 1);
	cr_assert_eq(chmod(stage, 0755), 0);
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	else
		cr_assert_eq(chmod(home, 0), 0);
	notebook_open(&b, path);
	cr_expect_null(b.complaint, "%s", b.complaint);
	cr_expect(b.barred && strstr(b.barred, "Permission denied"));
	notebook_done(&b);
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	else
		cr_assert_eq(chmod(home, 0700), 0);
	free(home);
	free(path);
}

static void note_in(const char *path, const char *name, const char *text)
{
	struct notebook b;
	struct note n = { .of = (char *)"function", .name = (char *)name, .text = (char *)text };

	notebook_open(&b, path);
	cr_assert_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	notebook_done(&b);
}

static const char *text_of(const struct notebook *b, const char *name)
{
	const struct note *n = notebook_note(b, "function", name, NULL);

	return n ? n->text : "none";
}

/* Of the files that are open one is written; the others say what it does not. */
Test(notebook, shows_notes_of_the_other_files)
{
	static const char pack[] =
		"note of=function name=packed text=p\nnote of=function name=both text=c\n";
	char *before = profile("a.data"), *after = profile("b.data"), *text;
	struct notebook b;
	struct note n = { .of = (char *)"function", .name = (char *)"old", .text = (char *)"" };

	note_in(before, "both", "a");
	note_in(before, "old", "was slow");
	note_in(after, "mine", "is fast");
	notebook_open(&b, after);
	notebook_add_other(&b, before, NULL, 0);
	cr_expect_str_eq(text_of(&b, "mine"), "is fast");
	text = xasprintf("%s: was slow", before);
	cr_expect_str_eq(text_of(&b, "old"), text);
	free(text);
	notebook_add_other(&b, "c.data", pack, sizeof(pack) - 1);
	text = xasprintf("%s: a; c.data: c", before);
	cr_expect_str_eq(text_of(&b, "both"), text);
	cr_expect_str_eq(text_of(&b, "packed"), "c.data: p");
	free(text);
	/* It is neither taken away nor packed with this file. */
	cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	cr_expect_str_neq(text_of(&b, "old"), "none");
	cr_expect(notebook_is_others(&b, notebook_note(&b, "function", "old", NULL)));
	cr_expect_not(notebook_is_others(&b, notebook_note(&b, "function", "mine", NULL)));
	text = notebook_text(&b);
	cr_expect_not_null(strstr(text, "name=mine"));
	cr_expect_null(strstr(text, "name=old"));
	free(text);
	/* One of its own goes before. */
	n.text = (char *)"is gone";
	cr_expect_eq(notebook_put_note(&b, &n, NULL, NULL), 0);
	cr_expect_str_eq(text_of(&b, "old"), "is gone");
	notebook_done(&b);
	free(before);
	free(after);
}
