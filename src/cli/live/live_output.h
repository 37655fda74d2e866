/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command writes while the screen is a live view's: of much of it, the first and the last part, printed at the end. */
#ifndef PROFTOP_CLI_LIVE_LIVE_OUTPUT_H
#define PROFTOP_CLI_LIVE_LIVE_OUTPUT_H

#include <stdio.h>

struct err;
struct live_output;

/* A file without a name, called what in sentences. NULL with a sentence. */
struct live_output *live_output_new(const char *what, struct err *e);

/* To be written to; borrowed. */
int live_output_fd(const struct live_output *o);

/* Once all processes are forked: from now on the middle of what is long is dropped as it grows. */
void live_output_bound(struct live_output *o);

/* Prints it, but for lines with the text without (NULL: all), and says what was left out. */
void live_output_print(struct live_output *o, FILE *to, const char *without);

/* NULL is fine. */
void live_output_free(struct live_output *o);

#endif
