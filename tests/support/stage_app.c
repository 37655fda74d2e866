/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/stage_app.h"

#include "base/err.h"
#include "profile/profile.h"
#include "tests/support/stage.h"
#include "tui/app/app_draw.h"
#include "tui/app/app_state.h"
#include "tui/app/worker.h"
#include "tui/contract/keymap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool finished(void *arg, struct err *e)
{
	const struct stage_loader *l = arg;

	if (l->over && l->code != 0)
		err_set(e, l->code, "%s", l->error);
	return l->over;
}

static void say_target(void *arg, struct tui_target *out)
{
	const struct stage_app *f = arg;

	*out = (struct tui_target){ .cpu_ns = f->target_cpu_ns, .n_forked = f->n_forked };
	snprintf(out->text, sizeof(out->text), "%s", f->target ? f->target : "");
	snprintf(out->hint, sizeof(out->hint), "%s", f->hint ? f->hint : "");
	out->has_ended = strstr(out->text, "exited");
	out->is_still = out->has_ended || strstr(out->text, "stopped");
	if (out->has_ended)
		out->cpu_ns = -1;
}

/* Code of any function, on the app's thread for it. */
static int annotate_made(void *arg, const struct analysis *an, const struct code_wish *wish,
			 struct progress *progress, struct annotation **out)
{
	(void)arg;
	(void)progress;
	*out = stage_code(an, wish, true);
	return 0;
}

static void open_app(struct stage_app *f, struct profile *p, bool loaded, bool live, int cols,
		     int rows)
{
	struct err e = ERR_INIT;

	setlocale(LC_ALL, "C.UTF-8");
	*f = (struct stage_app){ .profile = p, .loader = { .over = loaded } };
	f->source = (struct tui_source){ .profile = p,
					 .title = live ? "my_program" : "demo.data",
					 .progress = &f->progress,
					 .finished = finished,
					 .arg = &f->loader,
					 .live = live,
					 .annotate = annotate_made,
					 .target = live ? say_target : NULL,
					 .target_arg = f,
					 .wake_fd = -1 };
	f->options = (struct tui_options){ .hints = true, .mouse = true };
	settings_init(&f->settings);
	canvas_init(&f->canvas, cols, rows, false);
	f->app = app_new(&f->source, &f->options, &f->settings, &e);
	cr_assert_not_null(f->app, "%s", err_text(&e));
	app_resize(f->app, cols, rows);
}

void stage_app_init(struct stage_app *f, struct profile *p, bool loaded, int cols, int rows)
{
	open_app(f, p, loaded, false, cols, rows);
}

void stage_app_live(struct stage_app *f, struct profile *p, int cols, int rows)
{
	open_app(f, p, false, true, cols, rows);
}

void stage_app_done(struct stage_app *f)
{
	app_free(f->app);
	canvas_done(&f->canvas);
	settings_done(&f->settings);
	profile_free(f->profile);
}

void stage_app_settle(struct stage_app *f)
{
	for (int i = 0; i < 2000; i++) {
		struct pollfd polls[2];
		int fds[2];

		app_tick(f->app, f->now += 300);
		if (app_settled(f->app) || (!f->loader.over && i > 20))
			return;
		app_wake_fds(f->app, fds);
		for (int k = 0; k < 2; k++)
			polls[k] = (struct pollfd){ .fd = fds[k], .events = POLLIN };
		poll(polls, 2, 5);
	}
	cr_assert_fail("the app does not settle");
}

void stage_app_catch_up(struct stage_app *f)
{
	/* What one answer brings may lead to another question: twice without one is the end. */
	for (int i = 0, idle = 0; i < 20000; i++) {
		struct pollfd worker = { .fd = worker_fd(f->app->worker), .events = POLLIN };

		app_tick(f->app, f->now);
		idle = worker_busy(f->app->worker) || worker_drawing(f->app->worker) ||
				       f->app->own.coming
			       ? 0
			       : idle + 1;
		if (idle > 1)
			return;
		poll(&worker, 1, idle ? 0 : 5);
	}
	cr_assert_fail("the app does not catch up");
}

void stage_app_play(struct stage_app *f, const char *keys)
{
	stage_app_settle(f);
	while (*keys != '\0') {
		uint32_t key = keycode_take(&keys, NULL);

		cr_assert(key != KEYCODE_NONE, "bad test: %s", keys);
		app_key(f->app, key);
		stage_app_settle(f);
	}
}

char *stage_app_draw(struct stage_app *f)
{
	app_draw(f->app, &f->canvas);
	return canvas_text(&f->canvas);
}

bool stage_app_mentions(struct stage_app *f, const char *text)
{
	char *all = stage_app_draw(f);
	bool found = strstr(all, text) != NULL;

	free(all);
	return found;
}

bool stage_app_shows(struct stage_app *f, const char *text)
{
	char *all = stage_app_draw(f);
	bool found = strstr(all, text) != NULL;

	if (!found)
		fprintf(stderr, "no \"%s\" on:\n%s", text, all);
	free(all);
	return found;
}

bool stage_app_hides(struct stage_app *f, const char *text)
{
	char *all = stage_app_draw(f);
	bool found = strstr(all, text) != NULL;

	if (found)
		fprintf(stderr, "\"%s\" on:\n%s", text, all);
	free(all);
	return !found;
}

void stage_app_expect(const struct stage_case *cases, size_t n, int cols, int rows)
{
	for (size_t i = 0; i < n; i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, cols, rows);
		stage_app_play(&f, cases[i].keys);
		cr_expect(stage_app_shows(&f, cases[i].shows), "%s", cases[i].what);
		cr_expect(stage_app_hides(&f, cases[i].hides), "%s", cases[i].what);
		cr_expect(!app_over(f.app), "%s", cases[i].what);
		stage_app_done(&f);
	}
}

void stage_app_expect_drags(const struct stage_drag *cases, size_t n, int cols, int rows)
{
	for (size_t i = 0; i < n; i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, cols, rows);
		stage_app_play(&f, cases[i].keys);
		free(stage_app_draw(&f));
		app_click(f.app, cases[i].row, cases[i].from, f.now);
		app_release(f.app, cases[i].to_row, cases[i].to);
		stage_app_settle(&f);
		cr_expect(stage_app_shows(&f, cases[i].shows), "%s", cases[i].what);
		cr_expect(stage_app_hides(&f, cases[i].hides), "%s", cases[i].what);
		app_release(f.app, 5, 5); /* without a press */
		stage_app_done(&f);
	}
}
