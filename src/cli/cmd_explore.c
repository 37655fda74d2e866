/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop FILE…: the screens; or the last one of them as text; or, without a terminal, a report. */
#include "config.h"

#include "cli/cmd_explore.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/cmd_explore.h"
#include "cli/cmd_report.h"
#include "cli/live/live_end.h"
#include "cli/live/live_target.h"
#include "cli/load/load.h"
#include "cli/load/load_heaps.h"
#include "cli/load/load_suppressions.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/query_options.h"
#include "cli/report/report.h"
#include "notebook/notebook.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"
#include "query/heap/suppressions.h"
#include "tui/app/tui.h"
#include "tui/contract/keymap.h"

#define SCREEN_COLS 100
#define SCREEN_ROWS 30

static const struct {
	const char *name;
	enum colour_mode mode;
} colours[] = {
	{ "auto", COLOUR_AUTO }, { "never", COLOUR_NEVER }, { "8", COLOUR_8 },
	{ "16", COLOUR_16 },     { "256", COLOUR_256 },
};

static int find_colour(const char *name, enum colour_mode *out, struct err *e)
{
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		if (name && strcmp(name, colours[i].name) != 0)
			continue;
		*out = colours[i].mode;
		return 0;
	}
	return err_set(e, -EINVAL, "--color takes auto, never, 8, 16 or 256, not \"%s\"", name);
}

/* Is the view on screen that of the saved view, in which its zoom is? */
static bool same_view(const struct options *o)
{
	return o->view && o->saved->view && strcmp(o->view, o->saved->view) == 0;
}

int explore_options(const struct options *o, struct tui_options *t, struct err *e)
{
	enum view_kind view;

	*t = (struct tui_options){
		.view = o->view,
		.sort = o->sort,
		.function = o->saved ? o->function : NULL,
		.zoom = o->saved && same_view(o) ? o->saved->zoom : NULL,
		.notebook = o->notebook,
		.ratios = o->ratios.at,
		.n_ratios = o->ratios.n,
		.ascii = message_ascii(o->ascii),
		.mouse = !o->no_mouse,
		.hints = true,
	};
	if (report_find_view(o->view, &view, e))
		return -EINVAL;
	return find_colour(o->color, &t->colour, e);
}

static bool asks_metric(const struct lens_wish *w)
{
	return w->n_events || *w->metric;
}

/* The lens that is asked for, once what ratios are wanted can be had; a screen adds their columns itself. */
static int find_lens(const struct lens_wish *w, const struct profile *p, struct lens *out,
		     struct err *e)
{
	struct ratios made = { .n = 0 };
	struct lens_wish wish = *w;
	int rc;

	if (w->n_ratios)
		wish.made = &made;
	rc = query_options_lens(&wish, p, out, e);
	if (!rc && w->n_ratios)
		out->n_columns = made.n_columns;
	ratios_done(&made);
	return rc;
}

/* Does the command line say anything about which numbers are shown? */
static bool asks_lens(const struct lens_wish *w)
{
	return filter_n_terms(w->filter) || asks_metric(w) || w->group || w->no_inline ||
	       w->suppress || w->n_ratios || w->hides_tracer;
}

/*
 * Events have names only once the file says so. What is asked for may come late in it, so a
 * failure counts only when there is nothing more to come.
 */
static enum status wait_lens(const struct lens_wish *w, struct load *l, struct lens *lens)
{
	bool more = asks_metric(w) || w->n_ratios ? load_wait_event(l) : true;
	struct err e = ERR_INIT;

	if (more && !find_lens(w, load_profile(l), lens, &e))
		return STATUS_GOOD;
	err_clear(&e);
	if (load_wait(l, &e))
		return message_error(&e, STATUS_UNUSABLE);
	if (find_lens(w, load_profile(l), lens, &e))
		return message_error(&e, STATUS_USAGE);
	return STATUS_GOOD;
}

/* A key's name without its brackets is letters, each of which does something: hardly what was meant. */
static void doubt_keys(const char *keys)
{
	const char *name = keycode_bare_name(keys);

	if (name)
		message("the word %s in --keys is played letter by letter; the key is written <%s>",
			name, name);
}

enum status explore_screen(const struct options *o, const struct tui_source *source,
			   const struct tui_options *t)
{
	const char *keys = o->keys ? o->keys : "";
	struct err e = ERR_INIT;
	char *text;

	doubt_keys(keys);
	if (tui_screen(source, t, keys, o->cols ? o->cols : SCREEN_COLS,
		       o->lines ? o->lines : SCREEN_ROWS, &text, &e))
		return message_error(&e, e.code == -EINVAL ? STATUS_USAGE : STATUS_UNUSABLE);
	fputs(text, stdout);
	free(text);
	return STATUS_GOOD;
}

/*
 * One sentence in any case: what cannot be read, or why there is no screen, which stands below a report that a terminal shows,
 * as all above that is out of sight.
 */
static enum status report_instead(const struct explore_wish *w, struct load *l, struct err *why)
{
	const struct report_wish report = {
		.o = w->o, .read = &w->read, .lens = w->lens, .view = w->o->view
	};
	bool below = isatty(STDOUT_FILENO);
	enum status status;
	struct err e = ERR_INIT;

	if (load_wait(l, &e)) {
		err_clear(why);
		return message_error(&e, STATUS_UNUSABLE);
	}
	if (!below)
		message("%s; this is the report instead", err_text(why));
	status = report_loaded(&report, l);
	if (below) {
		fflush(stdout);
		message("%s; that is the report instead", err_text(why));
	}
	err_clear(why);
	return status;
}

static void tell_target(void *target, struct tui_target *out)
{
	live_target_look(target, out);
}

/* A shell waits for all of a pipeline, and who writes to it hears that we have gone by the next write only. */
static void say_what_goes_on(const struct explore_wish *w)
{
	struct pollfd in = { .fd = STDIN_FILENO };
	struct stat st;

	if (w->o->command == &cmd_live && strcmp(w->read.paths[0], "-") == 0 &&
	    fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) && poll(&in, 1, 0) == 0)
		message("what is piped in has not ended; Ctrl-C ends it");
}

static enum status show(const struct explore_wish *w, struct load *l, struct tui_options *t)
{
	const struct options *o = w->o;
	struct tui_source source;
	struct err e = ERR_INIT;

	load_source(l, &source);
	source.recorder = w->read.recorder;
	source.ends_command = w->ends_command;
	source.sparing = w->read.recorder && (o->all_cpus || o->cpus || o->cgroup);
	if (w->watched) {
		source.target = tell_target;
		source.target_arg = w->watched;
	}
	if (o->keys || o->cols)
		return explore_screen(o, &source, t);
	if (tui_possible(&e))
		return report_instead(w, l, &e);
	if (tui_run(&source, t, &e))
		return message_error(&e, STATUS_UNUSABLE);
	say_what_goes_on(w);
	return STATUS_GOOD;
}

static enum status show_lens(const struct explore_wish *w, const struct lens_wish *wish,
			     struct load *l, struct tui_options *t)
{
	enum status status;
	struct lens lens;

	if (!asks_lens(wish))
		return show(w, l, t);
	t->metric_open = !asks_metric(wish);
	status = wait_lens(wish, l, &lens);
	if (status != STATUS_GOOD)
		return status;
	t->lens = &lens;
	status = show(w, l, t);
	lens_done(&lens);
	return status;
}

/* Is it only a report that there will be of what is being recorded? */
static bool is_live_report(const struct options *o)
{
	return o->command == &cmd_live && !o->keys && !o->cols && tui_possible(NULL) != 0;
}

/* Nothing else would be seen of it until then. */
static void await_report(const struct explore_wish *w, struct load *l)
{
	const struct options *o = w->o;
	struct err why = ERR_INIT;

	tui_possible(&why);
	if (!o->duration)
		message("%s; the report comes when the %s, or with Ctrl-C", err_text(&why),
			o->divided ? "command has ended" : "recording ends");
	err_clear(&why);
	live_end_await(o, &w->read, l);
}

enum status explore(const struct explore_wish *w)
{
	const struct options *o = w->o;
	struct lens_wish lens = w->lens;
	struct suppressions *suppress = NULL;
	struct err e = ERR_INIT;
	struct tui_options t;
	enum status status;
	sigset_t before;
	struct load *l;

	if (explore_options(o, &t, &e) || load_suppressions(o->suppressions, &suppress, &e))
		return message_error(&e, STATUS_USAGE);
	lens.suppress = suppress;
	if (is_live_report(o))
		live_end_watch(&before);
	l = load_start(o, &w->read, &e);
	if (l && is_live_report(o))
		await_report(w, l);
	if (is_live_report(o))
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	status = l ? show_lens(w, &lens, l, &t) : message_error(&e, STATUS_USAGE);
	load_free(l);
	suppressions_free(suppress);
	return status;
}

static enum status open_files(const struct options *o)
{
	const struct explore_wish w = { .o = o, .read = load_of(o), .lens = load_heaps_lens(o) };

	return explore(&w);
}

const struct command cmd_explore = {
	.name = "",
	.synopsis = "FILE…",
	.summary = "Opens profiles in the terminal.",
	.verb = ON_EXPLORE,
	.run = open_files,
};
