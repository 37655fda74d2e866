/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of many files the next ones are unpacked and taken apart on other threads, while one is read into the profile. */
#ifndef PROFTOP_CLI_LOAD_LOAD_AHEAD_H
#define PROFTOP_CLI_LOAD_LOAD_AHEAD_H

#include <stddef.h>

struct format;
struct input;
struct load_ahead;
struct progress;

/* A file whose turn has come. */
struct load_ready {
	struct input *in;            /* the caller's; NULL: it could not be opened */
	const struct format *format; /* of what is prepared */
	void *prepared; /* see struct format; borrowed until the next file; NULL: nothing is */
};

/* Begins with the first ones. Borrows all. Cancelling progress ends the threads soon. */
struct load_ahead *load_ahead_new(const char *const *paths, size_t n_paths,
				  const struct progress *progress);
/* Waits for a file; they are asked for in order, each once. */
struct load_ready load_ahead_take(struct load_ahead *a, size_t i);
void load_ahead_free(struct load_ahead *a);

#endif
