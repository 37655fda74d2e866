/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden screens of live: the whole screen while the made-up service is being recorded. First lines of
 * tests/screens/live/NAME.txt are steps, in this order:
 *
 *   size 120x40, mono, colours 16, heap    at first: the terminal, and that its heap is recorded; both: its CPU, too
 *   piped                                  likewise: others record it, and nothing is known of who is
 *   to 12                                  the service goes on to its 12th second, a second after the other
 *   changed                                from now on it is the service after the change
 *   keys B                                 typed at that moment
 *   named my_program (812)                 it is a process, and not a command
 *   lost 41                                as the recorder says
 *   behind 12000                           milliseconds; likewise
 *   target my_program (812) exited         likewise
 *   hint my_program takes no cpu           likewise
 *   wait 12                                so many seconds nothing comes, looked at four times a second
 *   at_once 8                              8 seconds of the service come together, as they do through a pipe
 *   forked 3                               processes come from it
 *   ended                                  the recording has
 */
#include "config.h"

#include "base/mem.h"
#include "base/task.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "tests/support/golden.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"
#include "tui/app/app.h"
#include "tui/app/app_state.h"
#include "tui/app/worker.h"
#include "tui/contract/keymap.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S      INT64_C(1000000000)
#define PATIENCE_MS   10000
#define OWN_NS_PER_MS 12000  /* cpu time that we take: 1.2 % */
#define ITS_NS_PER_MS 873000 /* and the service */

struct play {
	struct stage_app f;
	int cols, rows, colours; /* colours 0: styles are told */
	bool mono, changed, open, both, piped;
	struct stage_heap_life *heap; /* NULL: it is of the CPU */
	struct profile *profile;      /* the stage's, once that is open */
	int64_t second;               /* of the service, so far */
	char title[64], target[64], hint[128];
};

static const char *say_waiting(void *arg)
{
	(void)arg;
	return "perf record waits until a buffer is half full";
}

static void open_stage(struct play *p)
{
	if (p->open)
		return;
	stage_app_live(&p->f, p->profile, p->cols, p->rows);
	p->f.canvas.mono = p->mono;
	p->f.target = "my_program (812)";
	if (p->piped) {
		p->f.source.target = NULL;
		p->f.source.waiting = say_waiting;
	}
	p->f.now = 1000;
	p->open = true;
}

static void tick(struct play *p)
{
	p->f.now += 1000;
	p->f.target_cpu_ns = p->f.now * ITS_NS_PER_MS;
	app_told_cpu(p->f.app, p->f.now, p->f.now * OWN_NS_PER_MS);
	stage_app_catch_up(&p->f);
}

static void go_on_to(struct play *p, int64_t second)
{
	for (; p->second < second; p->second++) {
		if (p->heap)
			stage_heap_go_on(p->heap, (p->second + 1) * NS_PER_S);
		if (!p->heap || p->both)
			stage_profile_add(p->profile, p->second * NS_PER_S,
					  (p->second + 1) * NS_PER_S, p->changed);
		tick(p);
	}
}

static void wait_for(struct play *p, int seconds)
{
	for (int i = 0; i < 4 * seconds; i++) {
		p->f.now += 250;
		stage_app_catch_up(&p->f);
	}
}

static void come_at_once(struct play *p, int64_t seconds)
{
	wait_for(p, (int)seconds - 1);
	stage_profile_add(p->profile, p->second * NS_PER_S, (p->second + seconds) * NS_PER_S,
			  p->changed);
	p->second += seconds;
	tick(p);
}

static void type(struct play *p, const char *keys)
{
	while (*keys) {
		app_key(p->f.app, keycode_take(&keys, NULL));
		stage_app_catch_up(&p->f);
	}
}

/* The line is a word and its value; false: it is none of these. */
static bool set_up(struct play *p, const char *word, const char *value)
{
	if (strcmp(word, "size") == 0)
		cr_assert_eq(sscanf(value, "%dx%d", &p->cols, &p->rows), 2);
	else if (strcmp(word, "mono") == 0)
		p->mono = true;
	else if (strcmp(word, "colours") == 0)
		p->colours = atoi(value);
	else if (strcmp(word, "heap") == 0 || strcmp(word, "both") == 0)
		p->heap = stage_heap_begin(p->profile);
	else if (strcmp(word, "piped") == 0)
		p->piped = true;
	else
		return false;
	p->both |= strcmp(word, "both") == 0;
	return true;
}

/* SECTION|NAME|TEXT: something that the recording says of itself. */
static void tell_fact(struct play *p, const char *value)
{
	char section[32], name[32];
	int n = 0;

	cr_assert_eq(sscanf(value, "%31[^|]|%31[^|]|%n", section, name, &n), 2);
	cr_assert_gt(n, 0);
	builder_begin(p->profile);
	build_fact(p->profile, (capture_id){ 0 }, section, name, FACT_PLAIN, "%s", value + n);
	builder_end(p->profile);
}

static void step(struct play *p, const char *word, const char *value, const char *path)
{
	if (set_up(p, word, value)) {
		cr_assert_not(p->open, "%s: %s comes too late", path, word);
		return;
	}
	open_stage(p);
	if (strcmp(word, "to") == 0) {
		go_on_to(p, atoi(value));
	} else if (strcmp(word, "changed") == 0) {
		p->changed = true;
	} else if (strcmp(word, "keys") == 0) {
		type(p, value);
	} else if (strcmp(word, "named") == 0) {
		snprintf(p->title, sizeof(p->title), "%s", value);
		p->f.source.title = p->title;
	} else if (strcmp(word, "lost") == 0) {
		atomic_store(&p->f.progress.lost, (uint64_t)atoi(value));
	} else if (strcmp(word, "behind") == 0) {
		progress_behind(&p->f.progress, (uint32_t)atoi(value));
		tick(p);
	} else if (strcmp(word, "target") == 0) {
		snprintf(p->target, sizeof(p->target), "%s", value);
		p->f.target = p->target;
		tick(p);
	} else if (strcmp(word, "hint") == 0) {
		snprintf(p->hint, sizeof(p->hint), "%s", value);
		p->f.hint = p->hint;
		tick(p);
	} else if (strcmp(word, "wait") == 0) {
		wait_for(p, atoi(value));
	} else if (strcmp(word, "at_once") == 0) {
		come_at_once(p, atoi(value));
	} else if (strcmp(word, "forked") == 0) {
		p->f.n_forked = (uint64_t)atoi(value);
		tick(p);
	} else if (strcmp(word, "fact") == 0) {
		tell_fact(p, value);
	} else if (strcmp(word, "ended") == 0) {
		p->f.loader.over = true;
		tick(p);
	} else {
		cr_assert_fail("%s: what is %s?", path, word);
	}
}

static char *play_file(const char *path, const char *script, void *arg)
{
	struct play p = { .cols = 120, .rows = 40, .profile = profile_new() };
	char line[512], *value, *text, *styles, *out;

	(void)arg;
	while (golden_line(&script, line, sizeof(line), &value))
		step(&p, line, value, path);
	cr_assert(p.open, "%s: nothing is done", path);
	text = stage_app_draw(&p.f);
	styles = p.colours ? stage_canvas_looks(&p.f.canvas, p.colours)
			   : canvas_style_text(&p.f.canvas);
	out = xasprintf("%s---\n%s", text, styles);
	free(text);
	free(styles);
	if (p.heap)
		stage_heap_end(p.heap);
	stage_app_done(&p.f);
	return out;
}

Test(screens_live, golden)
{
	cr_assert_gt(golden_files(TEST_SCREENS "/live", play_file, NULL), 15,
		     "screens are missing");
}

/* What keys show, typed while it is held still after 40 s; the service has gone on to `to` by then. The caller frees. */
static char *shown_frozen(bool heap, const char *keys, int64_t to)
{
	struct play p = { .cols = 100, .rows = 30, .profile = profile_new() };
	char *text;

	if (heap)
		p.heap = stage_heap_begin(p.profile);
	open_stage(&p);
	go_on_to(&p, 40);
	type(&p, "z");
	go_on_to(&p, to);
	type(&p, keys);
	text = stage_app_draw(&p.f);
	if (p.heap)
		stage_heap_end(p.heap);
	stage_app_done(&p.f);
	return text;
}

/* Whatever is asked of a screen that is held still is answered of what there was when it was. */
Test(screens_live, frozen_is_frozen, .timeout = 120)
{
	static const char *const keys[] = { "",
					    "2",
					    "5",
					    "6",
					    "7",
					    "r",
					    "rr",
					    "rrr",
					    "m",
					    "g",
					    "&parse<Enter>",
					    "7&parse<Enter>",
					    "mm",
					    "9",
					    "9mmm",
					    "9<Left><Left>m" };

	for (size_t i = 0; i < 2 * sizeof(keys) / sizeof(keys[0]); i++) {
		bool heap = i % 2;
		char *at_once = shown_frozen(heap, keys[i / 2], 40);
		char *later = shown_frozen(heap, keys[i / 2], 50);

		cr_expect_str_eq(later, at_once, "%s, %s", heap ? "heap" : "cpu", keys[i / 2]);
		free(at_once);
		free(later);
	}
}

/* How often the screen was made anew in each second of six, while something comes every 20 ms. */
static void count_frames(struct play *p, int n[6])
{
	for (int ms = 0; ms < 6000; ms += 20) {
		struct worker *w = p->f.app->worker;
		struct pollfd worker = { .fd = worker_fd(w), .events = POLLIN };
		int64_t now = p->second * NS_PER_S + ms * (NS_PER_S / 1000);

		if (p->heap)
			stage_heap_go_on(p->heap, now + NS_PER_S / 50);
		else
			stage_profile_add(p->profile, now, now + NS_PER_S / 50, false);
		p->f.now += 20;
		/* Whatever is made takes 20 ms, on any machine. */
		poll(&worker, 1, worker_busy(w) || worker_drawing(w) ? PATIENCE_MS : 0);
		n[ms / 1000] += app_tick(p->f.app, p->f.now);
	}
	p->second += 6;
}

/* Four a second at most, whatever comes in whatever pieces: rows, their lines over time, what row 0 says. Keys are at once. */
Test(screens_live, four_frames_a_second, .timeout = 120)
{
	static const char *const keys[] = { "1", "2", "5", "6", "7", "9" };

	for (size_t i = 0; i < 2 * sizeof(keys) / sizeof(keys[0]); i++) {
		struct play p = { .cols = 120, .rows = 40, .profile = profile_new() };
		int n[6] = { 0 }, sum = 0;

		if (i % 2)
			p.heap = stage_heap_begin(p.profile);
		open_stage(&p);
		go_on_to(&p, 10);
		type(&p, keys[i / 2]);
		count_frames(&p, n);
		for (int s = 1; s < 6; sum += n[s++])
			cr_expect_leq(n[s], 4, "%s, %s, second %d: %d frames",
				      i % 2 ? "heap" : "cpu", keys[i / 2], s, n[s]);
		/* How many less hangs on what analyses take of a processor, which here is what they take. */
		cr_expect_geq(sum, 10, "%s, %s: %d frames in 5 s", i % 2 ? "heap" : "cpu",
			      keys[i / 2], sum);
		app_key(p.f.app, 'j');
		cr_expect(app_tick(p.f.app, p.f.now), "a key is seen at once");
		if (p.heap)
			stage_heap_end(p.heap);
		stage_app_done(&p.f);
	}
}
