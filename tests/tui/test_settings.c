/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "tui/app/settings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static int parse(struct settings *s, const char *text, struct err *e)
{
	settings_init(s);
	return settings_parse(s, text, strlen(text), "config", e);
}

Test(settings, everything_can_be_set)
{
	static const char text[] = "# mine\n"
				   "\n"
				   "set colour = 16\r\n"
				   "  set ascii=yes\n"
				   "set mouse = no   # rather not\n"
				   "set hints = off\n"
				   "set percent = false\n"
				   "set wide = 1\n"
				   "set sync = no\n"
				   "set focus = no\n"
				   "set view = flame\n"
				   "set clipboard = \"xclip -in\"\n"
				   "bind tree x hot-path\n"
				   "bind all <F9> quit # bye";
	struct settings s;
	struct err e = ERR_INIT;

	cr_assert_eq(parse(&s, text, &e), 0, "%s", err_text(&e));
	cr_assert_eq((int)s.colour, COLOUR_16);
	cr_assert(s.ascii && !s.mouse && !s.hints && !s.percent && s.wide && !s.sync && !s.focus);
	cr_assert_str_eq(s.view, "flame");
	cr_assert_str_eq(s.clipboard, "xclip -in");
	cr_assert_eq(s.keymap.n, (size_t)2);
	cr_assert_eq((int)keymap_find(&s.keymap, VIEW_KIND_INFO, IN_TEXT, KEYCODE_F9), ACTION_QUIT);
	settings_done(&s);
}

Test(settings, what_is_wrong_is_told_with_its_line)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "set color = 8\n", "config:1: there is no setting 'color'" },
		{ "\n\nset colour = red\n",
		  "config:3: colour is auto, never, 8, 16 or 256, not 'red'" },
		{ "set mouse maybe\n", "config:1: expected: set name = value" },
		{ "set mouse = maybe\n", "config:1: mouse is yes or no, not 'maybe'" },
		{ "set mouse = \n", "config:1: mouse is yes or no, not ''" },
		{ "set mouse = yes no\n", "config:1: 'no' is left over after the value" },
		{ "set a b = c\n", "config:1: expected: set name = value" },
		{ "map x y\n", "config:1: a line begins with set or bind, not 'map'" },
		{ "bind tree x\n", "config:1: expected: bind view key action" },
		{ "bind tree x open close\n", "config:1: expected: bind view key action" },
		{ "bind tree x jump\n",
		  "config:1: no action is called 'jump' (see doc/keys.md, or none)" },
		{ "bind forest x open\n", "config:1: no view is called 'forest' (or all)" },
		{ "bind tree <Nil> open\n",
		  "config:1: no key is called <Nil> (a < itself is written <lt>)" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct settings s;
		struct err e = ERR_INIT;

		cr_assert_eq(parse(&s, cases[i].text, &e), -EINVAL, "%s", cases[i].text);
		cr_assert_str_eq(err_text(&e), cases[i].error);
		err_clear(&e);
		settings_done(&s);
	}
}

Test(settings, good_lines_count_beside_bad_ones)
{
	struct settings s;
	struct err e = ERR_INIT;

	cr_assert_eq(parse(&s, "set wide = yes\nrubbish\nset hints = no\nmore\n", &e), -EINVAL);
	cr_assert_str_eq(err_text(&e), "config:2: a line begins with set or bind, not 'rubbish'; "
				       "wrong too: line 4");
	cr_assert(s.wide && !s.hints);
	err_clear(&e);
	settings_done(&s);
	cr_assert_eq(parse(&s, "a\nb\n\nc\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", &e), -EINVAL);
	cr_assert_str_eq(err_text(&e), "config:1: a line begins with set or bind, not 'a'; "
				       "wrong too: lines 2, 4, 5, 6, 7, 8, 9, 10 and more");
	err_clear(&e);
	settings_done(&s);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

Test(settings, the_file_is_found_and_may_be_missing)
{
	char dir[] = "/tmp/proftop-config-XXXXXX", path[100];
	struct settings s;
	struct err e = ERR_INIT;

	cr_assert_not_null(mkdtemp(dir));
	setenv("XDG_CONFIG_HOME", dir, 1);
	settings_init(&s);
	cr_assert_eq(settings_read(&s, NULL, &e), 0, "%s", err_text(&e));
	snprintf(path, sizeof(path), "%s/none", dir);
	cr_assert_eq(settings_read(&s, path, &e), -ENOENT);
	cr_assert(strstr(err_text(&e), path), "%s", err_text(&e));
	err_clear(&e);
	snprintf(path, sizeof(path), "%s/proftop", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proftop/config", dir);
	write_file(path, "set view = info\n");
	cr_assert_eq(settings_read(&s, NULL, &e), 0, "%s", err_text(&e));
	cr_assert_str_eq(s.view, "info");
	settings_done(&s);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proftop", dir);
	rmdir(path);
	rmdir(dir);
}
