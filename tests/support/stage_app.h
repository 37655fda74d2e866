/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stage for the app: the app on a canvas, a loader that does what a test says, and keys. */
#ifndef PROFTOP_TESTS_SUPPORT_STAGE_APP_H
#define PROFTOP_TESTS_SUPPORT_STAGE_APP_H

#include "base/task.h"
#include "tui/app/app.h"
#include "tui/app/settings.h"
#include "tui/app/tui.h"
#include "tui/canvas/canvas.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* A loader as the app sees it. */
struct stage_loader {
	bool over;         /* has it ended? */
	int code;          /* how */
	const char *error; /* the sentence, when code is not 0 */
};

/* An app on a canvas, and what it looks at. */
struct stage_app {
	struct profile *profile;
	struct stage_loader loader;
	struct progress progress;
	struct tui_source source;
	struct tui_options options;
	struct settings settings;
	struct app *app;
	struct canvas canvas;
	int64_t now;           /* the time it is told */
	const char *target;    /* of live: what is recorded, and how it is; NULL: not known */
	int64_t target_cpu_ns; /* likewise: processor time that it has taken */
	const char *hint;      /* likewise: why there may be nothing yet; NULL: not known */
	uint64_t n_forked;     /* likewise: processes that came from it */
};

/* p is the stage's from now on. */
void stage_app_init(struct stage_app *f, struct profile *p, bool loaded, int cols, int rows);
/* The same of one that is being recorded; all that is known of the time is f->now. */
void stage_app_live(struct stage_app *f, struct profile *p, int cols, int rows);
void stage_app_done(struct stage_app *f);

/* Until nothing is being worked on; a growing profile has had its turn then. */
void stage_app_settle(struct stage_app *f);
/* Until all that is there is shown, without that time goes by. */
void stage_app_catch_up(struct stage_app *f);
/* Keys, each after all work of the one before is done. */
void stage_app_play(struct stage_app *f, const char *keys);

/* What is drawn now; the caller frees. */
char *stage_app_draw(struct stage_app *f);
/* Is a text on it? The last two say so on standard error when it is not as it should be. */
bool stage_app_mentions(struct stage_app *f, const char *text);
bool stage_app_shows(struct stage_app *f, const char *text);
bool stage_app_hides(struct stage_app *f, const char *text);

/* Keys pressed in the profile of stage.h, what the screen has then, and what it has not. */
struct stage_case {
	const char *what, *keys, *shows, *hides;
};

/* Each case in an app of its own; the test fails where a screen is not as it should be, or where the keys end the app. */
void stage_app_expect(const struct stage_case *cases, size_t n, int cols, int rows);

/* The button pressed at one cell and let go of at another one, after keys. */
struct stage_drag {
	const char *what, *keys;
	int row, from, to_row, to;
	const char *shows, *hides;
};

void stage_app_expect_drags(const struct stage_drag *cases, size_t n, int cols, int rows);

#endif
