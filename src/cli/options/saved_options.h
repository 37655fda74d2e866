/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --view-name: a saved view as if its options had been given; and the notes of what is read. */
#ifndef PROFTOP_CLI_OPTIONS_SAVED_OPTIONS_H
#define PROFTOP_CLI_OPTIONS_SAVED_OPTIONS_H

struct err;
struct options;

/*
 * Opens the notebook of the file that o reads (of a comparison, of the last) as o->notebook, and takes from the view of
 * --view-name what the command line says nothing of; its filter goes before that of -f. -EINVAL with a sentence.
 */
int saved_options_take(struct options *o, struct err *e);

#endif
