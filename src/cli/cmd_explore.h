/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screens of files, for other verbs too: what live shows is a profile that grows, what diff shows are two sides. */
#ifndef PROFTOP_CLI_CMD_EXPLORE_H
#define PROFTOP_CLI_CMD_EXPLORE_H

#include "cli/load/load.h"
#include "cli/options/command.h"
#include "cli/options/query_options.h"

#include <stdbool.h>

struct err;
struct live_target;
struct options;
struct tui_options;
struct tui_source;

/* The options as those of the screens, without a lens. 0, or -EINVAL with a sentence. */
int explore_options(const struct options *o, struct tui_options *t, struct err *e);

/* Prints the screen that --keys leads to. */
enum status explore_screen(const struct options *o, const struct tui_source *source,
			   const struct tui_options *t);

/* What is shown, as a command decides; borrowed. */
struct explore_wish {
	const struct options *o; /* how */
	struct load_wish read;
	struct lens_wish lens;
	struct live_target *watched; /* what live shows, or NULL */
	bool ends_command;           /* a command ends with what writes the file */
};

/* Opens the screens. */
enum status explore(const struct explore_wish *w);

#endif
