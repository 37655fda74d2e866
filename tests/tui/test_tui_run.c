/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tui_run() on a pseudo terminal, with a made-up profile that knows its sources. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"
#include "tests/support/stage.h"
#include "tui/app/tui.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory with a source file, an editor and a config. */
static char dir[] = "/tmp/proftop-run-XXXXXX";

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void put_file(const char *name, const char *text, mode_t mode)
{
	char *path = in_dir(name);
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
	free(path);
}

static void make_dir(void)
{
	char *config;

	cr_assert_not_null(mkdtemp(dir));
	config = in_dir("proftop");
	cr_assert_eq(mkdir(config, 0700), 0);
	free(config);
}

static void drop_dir(void)
{
	static const char *const names[] = { "parser.cc", "editor",  "proftop/config",
					     "clip",      "proftop", "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = in_dir(names[i]);

		remove(path);
		free(path);
	}
}

static bool always(void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	return true;
}

static int run(void *arg)
{
	struct tui_options o = { .mouse = true, .hints = true };
	struct tui_source source = { .title = "demo", .finished = always, .wake_fd = -1 };
	struct profile *p;
	struct err e = ERR_INIT;
	int ret;

	(void)arg;
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (chdir(dir) < 0)
		return 99;
	source.profile = p = stage_profile();
	ret = tui_run(&source, &o, &e);
	profile_free(p);
	return ret == 0 ? 0 : 1;
}

#define WITH_DIR .init = make_dir, .fini = drop_dir, .timeout = 60

Test(tui_run, the_editor_has_the_terminal_and_gives_it_back, WITH_DIR)
{
	char *editor = xasprintf("EDITOR=%s/editor -x", dir);
	const char *const env[] = { editor, NULL };
	struct pty p;

	put_file("parser.cc", "int x;\n", 0600);
	put_file("editor",
		 "#!/bin/sh\ntrap 'echo interrupted' INT\necho EDITING \"$@\"\n"
		 "read a || read a\necho GOT $a\n",
		 0700);
	pty_start_call(&p, 100, 30, "xterm-256color", env, run, NULL);
	pty_wait(&p, "[1 top]");
	pty_wait(&p, "parse_record");
	pty_type(&p, "/parse_record\rE");
	pty_wait(&p, "EDITING -x +118 ./parser.cc");
	cr_assert(!p.altscreen && !p.mouse);
	pty_type(&p, "\003"); /* the editor's business, not ours */
	pty_wait(&p, "interrupted");
	pty_type(&p, "text\n");
	pty_wait(&p, "[1 top]");
	pty_wait(&p, "search  /parse_record");
	cr_assert(p.altscreen && p.mouse);
	pty_wait_idle(&p);
	quit_proftop(&p);
	free(editor);
}

Test(tui_run, an_editor_that_fails_is_told, WITH_DIR)
{
	static const char *const env[] = { "EDITOR=false", NULL };
	struct pty p;

	put_file("parser.cc", "int x;\n", 0600);
	pty_start_call(&p, 100, 30, "xterm-256color", env, run, NULL);
	pty_wait(&p, "parse_record");
	pty_type(&p, "/parse_record\rE");
	pty_wait(&p, "the editor 'false' failed");
	quit_proftop(&p);
}

Test(tui_run, a_source_that_is_elsewhere_is_told, WITH_DIR)
{
	struct pty p;

	pty_start_call(&p, 100, 30, "xterm-256color", NULL, run, NULL);
	pty_wait(&p, "parse_record");
	pty_type(&p, "/parse_record\rE");
	pty_wait(&p, "parser.cc is not here");
	quit_proftop(&p);
}

Test(tui_run, a_clipboard_command_takes_the_copy, WITH_DIR)
{
	char *home = xasprintf("XDG_CONFIG_HOME=%s", dir), *clip = in_dir("clip");
	char *config = xasprintf("set clipboard = \"cat > %s\"\n", clip), text[100] = "";
	const char *const env[] = { home, NULL };
	struct pty p;
	FILE *f;

	put_file("proftop/config", config, 0600);
	pty_start_call(&p, 100, 30, "xterm-256color", env, run, NULL);
	pty_wait(&p, "parse_record");
	pty_type(&p, "/parse_record\ry");
	pty_wait(&p, "copied 27 bytes (cat > ");
	cr_assert(!pty_sent(&p, "\033]52;"));
	f = fopen(clip, "r");
	cr_assert_not_null(f);
	cr_assert_not_null(fgets(text, sizeof(text), f));
	fclose(f);
	cr_assert_str_eq(text, "Parser::parse_record(Slice)");
	quit_proftop(&p);
	free(home);
	free(clip);
	free(config);
}

Test(tui_run, what_is_wrong_in_the_config_is_told_and_the_rest_holds, WITH_DIR)
{
	char *home = xasprintf("XDG_CONFIG_HOME=%s", dir);
	const char *const env[] = { home, NULL };
	struct pty p;

	put_file("proftop/config", "set view = tree\nset nonsense = 1\nbind all x quit-all\n",
		 0600);
	pty_start_call(&p, 100, 30, "xterm-256color", env, run, NULL);
	pty_wait(&p, "[2 tree]");
	pty_wait(&p, "config:2: there is no setting 'nonsense'");
	pty_type(&p, "x");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_expect_restored(&p);
	pty_end(&p);
	free(home);
}
