/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal program, for src/cli: explore a profile that may still be loading.
 */
#ifndef PROFTOP_TUI_APP_TUI_H
#define PROFTOP_TUI_APP_TUI_H

#include "query/core/lens.h"
#include "tui/canvas/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct annotation;
struct code_wish;
struct err;
struct notebook;
struct profile;
struct progress;

/* What is recorded, as it is now. */
struct tui_target {
	char text[96];     /* such as "gzip (812) stopped"; untrusted; "": nothing to say */
	bool is_still;     /* it does nothing, as it is stopped or has gone */
	bool has_ended;    /* it has gone, all of it, */
	bool was_killed;   /* and by a signal, which text says */
	uint64_t n_forked; /* processes that were seen to come from it */
	int64_t cpu_ns;    /* processor time that it has taken by now; -1: not known */
	char hint[160]; /* why there may be nothing yet, and what helps; untrusted; "": not known */
};

/* Where the profile comes from. The tui only watches; the caller loads. */
struct tui_source {
	const struct profile *profile; /* borrowed */
	const char *title;             /* the file's name, first of the breadcrumb; borrowed */
	struct progress *progress;     /* of the loading; the tui may cancel it */
	/* Is the loading over? Then *e (ERR_INIT'd by the caller) says if and why it failed. */
	bool (*finished)(void *arg, struct err *e);
	void *arg;
	bool live; /* it is being recorded */
	bool sparing; /* of live: looked at as seldom as makes 0.5 % of a processor, as many want to leave it open */
	/* Of live: what is recorded, as it is now; NULL: nothing to say. */
	void (*target)(void *arg, struct tui_target *out);
	void *target_arg;
	/* Of live without a target: why nothing may have come yet, and what helps; NULL: not known, or never. */
	const char *(*waiting)(void *arg);
	/*
	 * Saves what an analysis, which has its tree, shows as a file of its own; *said is a sentence that names it,
	 * malloc'd. 0, or -errno with a sentence; NULL: cannot be done.
	 */
	int (*save)(const struct analysis *an, char **said, struct err *e);
	/* The same to a new file of that name, whose ending chooses the format. NULL: cannot be done. */
	int (*export_file)(const struct analysis *an, const char *path, char **said, struct err *e);
	/*
	 * Of live: what was before and since one of two moments of the recording's clock stays apart, in place of those that
	 * were said before; TIME_NONE: none. arg is that of finished(). NULL: it does anyway.
	 */
	void (*keep_apart)(void *arg, int64_t first_ns, int64_t second_ns);
	/*
	 * Makes the annotation of a function, on another thread than the terminal's: opens files. As annotate() of
	 * code/annotate.h. NULL: there is no code to be had.
	 */
	int (*annotate)(void *arg, const struct analysis *an, const struct code_wish *wish,
			struct progress *progress, struct annotation **out);
	void *annotate_arg;
	bool ends_command; /* what is recorded ends when we do */
	int recorder;      /* a process of ours that records; 0: none */
	int wake_fd; /* non-blocking eventfd, readable when something was published or ended; or -1 */
};

struct tui_options {
	const struct lens *lens;        /* NULL: lens_init()'s; borrowed */
	const struct comparison *sides; /* of a lens that compares; borrowed; else NULL */
	const char *const
		*ratios; /* [n_ratios] as --ratio has them; none: the usual ones; borrowed */
	size_t n_ratios;
	bool metric_open;          /* nobody asked for the lens's metric: the busiest event's */
	const char *view;          /* name of the first view, NULL: top */
	const char *sort;          /* of that view, as --sort has it; NULL: as it comes */
	const char *function;      /* regular expression of what is selected there; NULL: nothing */
	const char *zoom;          /* focus-path: term of what it is zoomed into; NULL: nothing */
	struct notebook *notebook; /* saved views and notes; NULL: nothing is kept; borrowed */
	const char *config;        /* path, NULL: $XDG_CONFIG_HOME/proftop/config */
	enum colour_mode colour;
	bool ascii;
	bool mouse;
	bool hints;
};

/* Can this terminal show it at all? -ENOTTY with a sentence otherwise. */
int tui_possible(struct err *e);

/* Runs until the user quits. 0 or -errno with a sentence; the terminal is as it was. */
int tui_run(const struct tui_source *source, const struct tui_options *o, struct err *e);

/*
 * Without a terminal: waits for the loading, plays keys ("jj<Enter>/foo<Enter>", as in the config),
 * each after all work of the one before is done, and returns the final screen as text (malloc'd).
 */
int tui_screen(const struct tui_source *source, const struct tui_options *o, const char *keys,
	       int cols, int rows, char **out, struct err *e);

#endif
