/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --view-name: a saved view as if its options had been given; and the notes of what is read. */
#ifndef PROFTOP_CLI_OPTIONS_SAVED_OPTIONS_H
#define PROFTOP_CLI_OPTIONS_SAVED_OPTIONS_H

#include <stddef.h>

struct err;
struct options;

/* The file that views and notes are of; NULL: it is none. Borrowed. */
const char *saved_options_file(const struct options *o);

/*
 * Opens the notebook of the file that o reads (of a comparison, of the last) as o->notebook, and takes from the view of
 * --view-name what the command line says nothing of; its filter goes before that of -f. packed is
 * what the file brings itself, as it is a pack; NULL: nothing. -EINVAL with a sentence.
 */
int saved_options_take(struct options *o, const char *packed, size_t n_packed, struct err *e);

#endif
