/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program between the terminal and the views: keys and clicks in, a canvas out. It knows no
 * terminal and no clock: the time is told. tui.c runs it on a real terminal and headless.
 */
#ifndef PROFTOP_TUI_APP_APP_H
#define PROFTOP_TUI_APP_APP_H

#include "tui/app/settings.h"
#include "tui/app/tui.h"
#include "tui/term/terminal_request.h"

#include <stdbool.h>
#include <stdint.h>

struct app;
struct err;

/*
 * Source, options and settings are borrowed for the app's life. NULL with a sentence: -EINVAL for an
 * unknown view.
 */
struct app *app_new(const struct tui_source *source, const struct tui_options *o,
		    const struct settings *settings, struct err *e);
void app_free(struct app *a);

/* The screen's size, at first and whenever it changes. */
void app_resize(struct app *a, int cols, int rows);

/* One key of keymap.h. */
void app_key(struct app *a, uint32_t key);
/* A character of pasted text: prompts take it, nothing else does. */
void app_paste(struct app *a, uint32_t cp);
/* A click of the first button, with the monotonic time, by which double clicks are known. */
void app_click(struct app *a, int row, int col, int64_t now_ms);
/* The button is let go of: where it was pressed elsewhere, that is a drag from there to here. */
void app_release(struct app *a, int row, int col);
/* The wheel by so many notches, down is positive. */
void app_wheel(struct app *a, int notches);

/* Takes in what loader and worker have made, and asks for what is due. True when the screen changes. */
bool app_tick(struct app *a, int64_t now_ms);
/* Does the terminal have the focus? Without it a live profile says that it is not shown as it goes on. */
void app_focus(struct app *a, bool has_focus);
/* Is the screen shown anew without it, as something was done to it, once what has come since is counted? */
bool app_glances(const struct app *a);
/* Of a live profile: what processor time this program has used so far. */
void app_told_cpu(struct app *a, int64_t now_ms, int64_t cpu_ns);
/* Milliseconds until app_tick() has to be called again at the latest; -1: not before a descriptor wakes. */
int app_wait_ms(const struct app *a, int64_t now_ms);
/* Descriptors that wake (-1 where there is none). */
void app_wake_fds(const struct app *a, int fds[2]);
/* Is there an analysis of what is loaded, be it the beginning? */
bool app_has_data(const struct app *a);
/* Is something of what is in sight being made, beside what is there? */
bool app_drawing(const struct app *a);
/* Loading is over and everything that is known is in what would be drawn. */
bool app_settled(const struct app *a);

/* False when there is none. */
bool app_take_request(struct app *a, struct terminal_request *out);

/* Has the user quit, or did loading fail with nothing to show? */
bool app_over(const struct app *a);
/* 0, or how loading failed with nothing to show. */
int app_failure(const struct app *a, struct err *e);

#endif
