/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of threads, whose rows come later than the view. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"
#include "tui/app/app.h"
#include "tui/app/app_draw.h"
#include "tui/contract/keymap.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void press(struct stage_app *f, const char *keys)
{
	while (*keys != '\0')
		app_key(f->app, keycode_take(&keys, NULL));
}

/* The line of the cursor, without its numbers' blanks; the caller frees. */
static char *marked(struct stage_app *f)
{
	char *all = stage_app_draw(f), *line = strstr(all, "▸"), *out;

	out = line ? xstrndup(line, strcspn(line, "\n")) : NULL;
	free(all);
	return out;
}

/* Nothing is on screen that is of something else, and the terminal does not wait for it. */
Test(thread_list, comes_when_it_is_made)
{
	static const char *const keys[] = { "6", "7" };

	for (size_t i = 0; i < N(keys); i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, 100, 30);
		stage_app_settle(&f);
		press(&f, keys[i]);
		cr_expect(stage_app_shows(&f, "counting threads"), "%s", keys[i]);
		cr_expect(stage_app_hides(&f, "flusher"), "%s", keys[i]);
		stage_app_settle(&f);
		cr_expect(stage_app_hides(&f, "counting threads"), "%s", keys[i]);
		cr_expect(stage_app_shows(&f, "flusher"), "%s", keys[i]);
		stage_app_done(&f);
	}
}

/* An analysis comes with them, where they are in sight: they do not go and come again. */
Test(thread_list, come_with_an_analysis)
{
	struct stage_app f;

	stage_app_init(&f, stage_heap(), true, 100, 30);
	stage_app_play(&f, "6");
	press(&f, "m");
	while (!app_settled(f.app)) {
		cr_assert(stage_app_hides(&f, "counting threads"));
		app_tick(f.app, f.now);
	}
	stage_app_done(&f);
}

/* The cursor finds its row again, although there was none in between. */
Test(thread_list, cursor_waits_for_its_row)
{
	static const char *const ways[] = {
		"7<Left>6",       /* to a neighbour that has an axis of its own, and back */
		"&fn:.<Enter>",   /* other rows */
		"<Enter><Esc>",   /* into a thread, and back */
		"2&fn:.<Enter>6", /* other rows while it is out of sight */
	};

	for (size_t i = 0; i < N(ways); i++) {
		struct stage_app f;
		char *was, *is;

		stage_app_init(&f, stage_heap(), true, 100, 30);
		stage_app_play(&f, "6jj");
		was = marked(&f);
		cr_assert_not_null(was);
		cr_assert_not_null(strstr(was, "tid "), "%s", was);
		stage_app_play(&f, ways[i]);
		is = marked(&f);
		cr_assert_not_null(is, "%s", ways[i]);
		cr_expect_str_eq(strstr(is, "tid ") ? strstr(is, "tid ") : is, strstr(was, "tid "),
				 "%s: %s", ways[i], is);
		free(was);
		free(is);
		stage_app_done(&f);
	}
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Until the slices of another span are there, those that are show where they belong. */
Test(thread_list, zoom_shows_what_there_is)
{
	struct stage_app f;
	char *coarse, *fine;

	stage_app_init(&f, stage_heap(), true, 100, 30);
	stage_app_play(&f, "7");
	press(&f, "+");
	coarse = stage_app_draw(&f);
	cr_expect_null(strstr(coarse, "counting threads"));
	cr_expect_not_null(strstr(coarse, "flusher"));
	cr_expect_gt(count(coarse, "█"), 300, "the graph is there: %s", coarse);
	stage_app_settle(&f);
	fine = stage_app_draw(&f);
	cr_expect_str_neq(coarse, fine, "it is finer in the end");
	free(coarse);
	free(fine);
	stage_app_done(&f);
}

/* Where a name and a number do not fit, threads of one name are their numbers; others keep their names. */
Test(thread_list, narrow_threads_of_one_name_are_told_apart)
{
	static const char text[] =
		"=lanes;a@m 4000000 name=lanes event=ns:cpu-clock pid=7001 tid=7001 t=0\n"
		"=lanes;a@m 3000000 name=lanes event=ns:cpu-clock pid=7001 tid=7002 t=5000000\n"
		"=http-worker;a@m 2000000 name=http-worker event=ns:cpu-clock pid=7001 tid=7003 t=9000000\n"
		"=collector;a@m 1000000 name=collector event=ns:cpu-clock pid=7001 tid=7004 t=9900000\n";
	struct stage_app f;

	stage_app_init(&f, made_profile(text), true, 40, 14);
	stage_app_play(&f, "7");
	cr_expect(stage_app_shows(&f, "▸lanes  7001"));
	cr_expect(stage_app_shows(&f, "    tid 7001"));
	cr_expect(stage_app_shows(&f, "    tid 7002"));
	cr_expect(stage_app_shows(&f, "http-"));
	cr_expect(stage_app_shows(&f, "collector"));
	stage_app_done(&f);
}
