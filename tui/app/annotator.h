/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The annotation of the function on screen, made beside the terminal: it opens files. One at a time; another function
 * cancels it, a newer analysis of the same waits for its end.
 */
#ifndef PROFTOP_TUI_APP_ANNOTATOR_H
#define PROFTOP_TUI_APP_ANNOTATOR_H

#include <stdbool.h>

struct analysis;
struct annotation;
struct annotator;
struct code_wish;
struct tui_source;

/* wake_fd is an eventfd that is written when something was made; both are borrowed. */
struct annotator *annotator_new(const struct tui_source *source, int wake_fd);
/* Cancels and waits. */
void annotator_free(struct annotator *a);

/* Wants it, unless it is there or under way. To be called again after annotator_take(): it may have been put off. */
void annotator_request(struct annotator *a, const struct analysis *an,
		       const struct code_wish *wish);

/* The analysis has been replaced. True: it is still being read, and annotator_take() gives it back to be dropped. */
bool annotator_keeps(struct annotator *a, struct analysis *an);

/* What was made, the caller's to free, or NULL. *left: an analysis that is no longer read, or untouched. */
struct annotation *annotator_take(struct annotator *a, struct analysis **left);

/* Is something being made? */
bool annotator_busy(const struct annotator *a);

#endif
