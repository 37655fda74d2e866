/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two ways to run the app: on a terminal, and headless for --screen.
 *
 * Both take in what happened, and draw once for all of it.
 */
#include "config.h"

#include "tui/app/tui.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/app/app.h"
#include "tui/app/app_draw.h"
#include "tui/app/app_lens.h"
#include "tui/app/settings.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/keymap.h"
#include "tui/term/term.h"

/* How long the first frame waits for something to show. */
#define FIRST_FRAME_MS 100
/* So long a frame waits for what is not there yet, rather than be painted twice. */
#define MOMENT_MS      12
#define MAX_SCREEN     2000

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What we have used of processors, with the recorder, if there is one. */
static int64_t own_cpu_ns(const struct tui_source *source)
{
	struct timespec t, more;
	clockid_t clock;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	if (source->recorder && clock_getcpuclockid(source->recorder, &clock) == 0 &&
	    clock_gettime(clock, &more) == 0) {
		t.tv_sec += more.tv_sec;
		t.tv_nsec += more.tv_nsec;
	}
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say_copied(struct app *a, size_t n_bytes, const char *how)
{
	char *text = xasprintf("copied %zu bytes (%s)", n_bytes, how);

	app_say(a, false, text);
	free(text);
}

/* What a running terminal program consists of. */
struct run {
	const struct tui_source *source;
	struct app *app;
	struct term *term;
	const struct settings *settings;
	struct canvas canvas; /* of the terminal's size */
	bool gone;            /* the terminal, or our right to be */
	bool unfocused;       /* what goes on is not shown, only what is done to the terminal */
	bool owed;            /* something was, since the last frame */
};

/* Makes the canvas fit the terminal. */
static void fit(struct run *r, bool ascii)
{
	int cols, rows;

	term_size(r->term, &cols, &rows);
	if (r->canvas.cell && r->canvas.cols == cols && r->canvas.rows == rows)
		return;
	if (r->canvas.cell) {
		ascii = r->canvas.ascii;
		canvas_done(&r->canvas);
	}
	canvas_init(&r->canvas, cols, rows, ascii);
	r->canvas.mono = term_colours(r->term) == 0;
	r->canvas.shaded = term_colours(r->term) > 8;
	app_resize(r->app, cols, rows);
}

static void copy(struct run *r, const char *text)
{
	char *clean = text_clean(text, strlen(text), false);
	size_t n = strlen(clean);

	if (r->settings->clipboard) {
		if (term_feed(r->term, r->settings->clipboard, clean) == 0)
			say_copied(r->app, n, r->settings->clipboard);
		else
			app_say(r->app, true, "the clipboard command failed");
	} else if (term_copy(r->term, clean)) {
		say_copied(r->app, n, "OSC 52");
	} else {
		app_say(r->app, true, "too long to copy");
	}
	free(clean);
}

/* $VISUAL or $EDITOR, which may be words, at a line of a file that exists. */
static void edit(struct run *r, const char *file, uint32_t line)
{
	const char *editor = getenv("VISUAL");
	char at[16], *path, *command, *said = NULL;
	struct stat st;

	if (!editor || *editor == '\0')
		editor = getenv("EDITOR");
	if (!editor || *editor == '\0')
		editor = "vi";
	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode)) {
		said = xasprintf("%s is not here", file);
	} else {
		snprintf(at, sizeof(at), "+%u", line > 0 ? line : 1);
		/* a name must not look like an option */
		path = xasprintf("%s%s", file[0] == '/' ? "" : "./", file);
		command = xasprintf("exec %s \"$@\"", editor);
		char *const argv[] = { (char *)"sh", (char *)"-c", command, (char *)"sh",
				       at,           path,         NULL };

		if (term_run(r->term, argv) != 0)
			said = xasprintf("the editor '%s' failed", editor);
		free(command);
		free(path);
	}
	if (said)
		app_say(r->app, true, said);
	free(said);
}

static void grant_wish(struct run *r)
{
	struct terminal_request w;

	while (app_take_request(r->app, &w)) {
		switch (w.kind) {
		case REQUEST_COPY:
			copy(r, w.text);
			break;
		case REQUEST_EDIT:
			edit(r, w.text, w.line);
			break;
		case REQUEST_REPAINT:
			term_repaint(r->term);
			break;
		case REQUEST_NONE:
			break;
		}
		free(w.text);
	}
}

/* Who types or clicks here has the focus, whatever was reported. */
static void set_focus(struct run *r, const struct term_event *e)
{
	if (e->kind == TERM_FOCUS)
		r->unfocused = !e->has_focus;
	else if (e->kind == TERM_KEY || e->kind == TERM_PASTE || e->kind == TERM_CLICK)
		r->unfocused = false;
	else
		return;
	app_focus(r->app, !r->unfocused);
}

/* Everything that happened since the last frame. */
static void take_events(struct run *r)
{
	struct term_event e;

	while (!app_over(r->app) && !r->gone) {
		term_next(r->term, &e);
		set_focus(r, &e);
		r->owed |= e.kind != TERM_NOTHING;
		switch (e.kind) {
		case TERM_NOTHING:
			return;
		case TERM_FOCUS:
			break;
		case TERM_KEY:
			app_key(r->app, e.key);
			break;
		case TERM_PASTE:
			app_paste(r->app, e.key);
			break;
		case TERM_CLICK:
			app_click(r->app, e.row, e.col, now_ms());
			break;
		case TERM_RELEASE:
			app_release(r->app, e.row, e.col);
			break;
		case TERM_WHEEL:
			app_wheel(r->app, e.notches);
			break;
		case TERM_RESIZE:
			fit(r, false);
			break;
		case TERM_GONE:
			r->gone = true;
			break;
		}
		grant_wish(r);
	}
}

static void wait_a_moment(struct run *r)
{
	int64_t until = now_ms() + MOMENT_MS, now;

	while (app_drawing(r->app) && (now = now_ms()) < until) {
		struct pollfd made = { .events = POLLIN };
		int fds[2];

		app_wake_fds(r->app, fds);
		made.fd = fds[0];
		poll(&made, 1, (int)(until - now));
		app_tick(r->app, now_ms());
	}
}

/* Without the focus nothing is sent but what somebody did to the screen. */
static void show(struct run *r, bool changed)
{
	if (r->unfocused && !r->owed)
		return;
	if (changed || r->owed) {
		wait_a_moment(r);
		app_draw(r->app, &r->canvas);
	}
	r->owed = app_glances(r->app);
	/* also unchanged: somebody else may have had the screen */
	term_draw(r->term, &r->canvas);
}

static void loop(struct run *r)
{
	int64_t start = now_ms();
	bool drawn = false;

	while (!app_over(r->app) && !r->gone) {
		int fds[2], wait;
		bool changed;

		app_told_cpu(r->app, now_ms(), own_cpu_ns(r->source));
		changed = app_tick(r->app, now_ms());
		grant_wish(r);

		/* a frame of nothing is not worth drawing while something is on its way */
		if (drawn || app_has_data(r->app) || now_ms() - start >= FIRST_FRAME_MS) {
			show(r, changed || !drawn);
			drawn = true;
		}
		app_wake_fds(r->app, fds);
		wait = app_wait_ms(r->app, now_ms());
		term_wait(r->term, fds, 2, !drawn && (wait < 0 || wait > 10) ? 10 : wait);
		take_events(r);
	}
}

/* The user's own config; what is wrong with it is said, and the rest of it holds. */
static int read_settings(struct settings *s, const struct tui_options *o, bool headless,
			 char **complaint, struct err *e)
{
	struct err bad = ERR_INIT;

	*complaint = NULL;
	settings_init(s);
	if (o->config)
		return settings_read(s, o->config, e);
	if (!headless && settings_read(s, NULL, &bad) < 0)
		*complaint = xstrdup(err_text(&bad));
	err_clear(&bad);
	return 0;
}

int tui_possible(struct err *e)
{
	return term_possible(e);
}

static int run_app(const struct tui_source *source, const struct tui_options *o,
		   const struct settings *s, const char *complaint, struct err *e)
{
	struct term_options to = { .colour = o->colour != COLOUR_AUTO ? o->colour : s->colour,
				   .mouse = o->mouse && s->mouse,
				   .sync = s->sync,
				   .focus = source->live && s->focus };
	bool ascii = o->ascii || s->ascii;
	struct run r = { .source = source, .settings = s };
	int ret;

	r.app = app_new(source, o, s, e);
	if (!r.app)
		return e && e->code < 0 ? e->code : -EINVAL;
	ret = term_open(&to, &r.term, e);
	if (ret == 0) {
		if (complaint)
			app_say(r.app, true, complaint);
		fit(&r, ascii);
		loop(&r);
		canvas_done(&r.canvas);
		term_close(r.term);
		ret = app_failure(r.app, e);
	}
	app_free(r.app);
	return ret;
}

int tui_run(const struct tui_source *source, const struct tui_options *o, struct err *e)
{
	struct settings s;
	char *complaint;
	int ret = read_settings(&s, o, false, &complaint, e);

	if (ret == 0)
		ret = run_app(source, o, &s, complaint, e);
	free(complaint);
	settings_done(&s);
	return ret;
}

/* Until everything known is in what would be drawn. */
static void settle(struct app *a)
{
	for (;;) {
		struct pollfd polls[2];
		int fds[2], wait;

		app_tick(a, now_ms());
		if (app_settled(a))
			return;
		app_wake_fds(a, fds);
		for (int i = 0; i < 2; i++)
			polls[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		wait = app_wait_ms(a, now_ms());
		poll(polls, 2, wait);
	}
}

/* What only a terminal could do is only said. */
static void pretend_wish(struct app *a)
{
	struct terminal_request w;

	while (app_take_request(a, &w)) {
		if (w.kind == REQUEST_COPY)
			say_copied(a, strlen(w.text), "OSC 52");
		else if (w.kind == REQUEST_EDIT)
			app_say(a, false, "there is no terminal for an editor");
		free(w.text);
	}
}

/* Each key is drawn, as it would be for a person. */
static int play(struct app *a, struct canvas *c, const char *keys, struct err *e)
{
	settle(a);
	app_draw(a, c);
	while (*keys != '\0' && !app_over(a)) {
		uint32_t key = keycode_take(&keys, e);

		if (key == KEYCODE_NONE)
			return -EINVAL;
		app_key(a, key);
		settle(a);
		pretend_wish(a);
		app_draw(a, c);
	}
	return app_failure(a, e);
}

static int screen(const struct tui_source *source, const struct tui_options *o,
		  const struct settings *s, const char *keys, struct canvas *c, struct err *e)
{
	struct app *a = app_new(source, o, s, e);
	int ret;

	if (!a)
		return e && e->code < 0 ? e->code : -EINVAL;
	app_resize(a, c->cols, c->rows);
	ret = play(a, c, keys, e);
	app_free(a);
	return ret;
}

int tui_screen(const struct tui_source *source, const struct tui_options *o, const char *keys,
	       int cols, int rows, char **out, struct err *e)
{
	struct settings s;
	struct canvas c;
	char *complaint;
	int ret;

	if (cols < 1 || rows < 1 || cols > MAX_SCREEN || rows > MAX_SCREEN)
		return err_set(e, -EINVAL, "a screen has 1x1 to %dx%d cells, not %dx%d", MAX_SCREEN,
			       MAX_SCREEN, cols, rows);
	ret = read_settings(&s, o, true, &complaint, e);
	canvas_init(&c, cols, rows, o->ascii || s.ascii);
	c.mono = o->colour == COLOUR_NEVER;
	if (ret == 0)
		ret = screen(source, o, &s, keys, &c, e);
	if (ret == 0)
		*out = canvas_text(&c);
	canvas_done(&c);
	free(complaint);
	settings_done(&s);
	return ret;
}
