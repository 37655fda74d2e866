/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs → one profile, read on a thread of its own while others already look at it. */
#ifndef PROFTOP_CLI_LOAD_LOAD_H
#define PROFTOP_CLI_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct load;
struct options;
struct profile;
struct annotate_options;
struct tui_source;

/* What is read, and who writes it. Borrowed until load_free(). */
struct load_wish {
	const char *const *paths; /* [n_paths] */
	size_t n_paths;           /* at least 1 */
	const char *title;        /* what the only file is called; NULL: by its path */
	int recorder;             /* the process of ours that writes it; 0: none does */
};

/* The files of the command line. */
struct load_wish load_of(const struct options *o);

/* Starts reading, in the way that o says. NULL with a sentence on failure. */
struct load *load_start(const struct options *o, const struct load_wish *w, struct err *e);

/* Cancels what is still going on, and frees the profile too. NULL is fine. */
void load_free(struct load *l);

/* Waits for the end, telling a person at a terminal how far it is. 0, or -errno with a sentence. */
int load_wait(struct load *l, struct err *e);

/* Waits for the end, for at most ms. True when it came. */
bool load_ended(const struct load *l, int ms);

/* What is there by now is all; load_wait() still has to be called. */
void load_stop(struct load *l);

/* Waits until the profile knows an event, or the end. True while there is more to come. */
bool load_wait_event(struct load *l);

/* Borrowed until load_free(). */
const struct profile *load_profile(const struct load *l);

/* Where code and sources are looked for; borrowed likewise. */
const struct annotate_options *load_annotate(const struct load *l);

/* How a terminal program sees it; borrowed until load_free(). */
void load_source(struct load *l, struct tui_source *out);

#endif
