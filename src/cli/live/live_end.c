/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See live_end.h. A recorder of ours is a group of its own, which no key of the terminal reaches: it is told. */
#include "config.h"

#include "cli/live/live_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "cli/load/load.h"
#include "cli/options/message.h"
#include "cli/options/options.h"

/* Between two looks at whether there was a signal. */
#define LOOK_MS  50
/* Whoever feeds a pipe ends by the same key, and may have something to say until then. */
#define GRACE_MS 2000
/* A command that has not ended by then may never do so. */
#define STAYS_MS 1000

static void fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

void live_end_watch(sigset_t *before)
{
	sigset_t set;

	fill(&set);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static int taken_signal(void)
{
	const struct timespec none = { 0 };
	sigset_t set;

	fill(&set);
	return sigtimedwait(&set, NULL, &none);
}

/* Of a heap alone the recorder leaves it to the terminal to tell the command; else it passes on what it is told. */
static void tell_recorder(const struct options *o, int recorder, int signal)
{
	bool group = o->divided && o->heap && !o->cpu && signal == SIGINT;

	kill(group ? -(pid_t)recorder : (pid_t)recorder, signal);
}

/* What is piped in ends with what writes it, which the key reaches, too. Nobody else knows of us: what is there is all. */
static bool may_end_by_itself(const struct load_wish *w)
{
	return w->recorder || strcmp(w->paths[0], "-") == 0;
}

void live_end_await(const struct options *o, const struct load_wish *w, struct load *l)
{
	bool told = false;
	int waited_ms = 0;

	while (!load_ended(l, LOOK_MS)) {
		int signal = taken_signal();

		if (signal > 0 && (told || !may_end_by_itself(w)))
			load_stop(l);
		else if (signal > 0 && w->recorder)
			tell_recorder(o, w->recorder, signal);
		told = told || signal > 0;
		waited_ms += told ? LOOK_MS : 0;
		if (told && waited_ms == STAYS_MS && w->recorder && o->divided)
			/* It takes no notice of the key, which would else seem to be without effect. */
			message("the command was told to end and goes on; a second Ctrl-C ends it, and the report comes");
		if (!w->recorder && waited_ms >= GRACE_MS)
			load_stop(l);
	}
	/* It came with the end. */
	if (!told)
		taken_signal();
}
