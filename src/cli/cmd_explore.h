/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screens of o's files, for other verbs too: what live shows is a profile that grows, what diff shows are two sides. */
#ifndef PROFTOP_CLI_CMD_EXPLORE_H
#define PROFTOP_CLI_CMD_EXPLORE_H

#include "command.h"

struct err;
struct options;
struct tui_options;
struct tui_source;

/* The options as those of the screens, without a lens. 0, or -EINVAL with a sentence. */
int explore_options(const struct options *o, struct tui_options *t, struct err *e);

/* Prints the screen that --keys leads to. */
enum status explore_screen(const struct options *o, const struct tui_source *source,
			   const struct tui_options *t);

/* Opens them. */
enum status explore(const struct options *o);

#endif
