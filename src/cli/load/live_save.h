/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a live view shows, as a file of its own, which opens like any other. */
#ifndef PROFTOP_CLI_LOAD_LIVE_SAVE_H
#define PROFTOP_CLI_LOAD_LIVE_SAVE_H

struct analysis;
struct err;

/*
 * In the present directory, with the time of day in its name: samples and sums of heaps as the text of perf script, which keeps
 * what is known of them; comparisons of heaps and what was folded as folded stacks. *said is a sentence that names the file
 * and how to open it, malloc'd. 0, or -errno with a sentence, and nothing is left of it.
 */
int live_save(const struct analysis *an, char **said, struct err *e);

#endif
