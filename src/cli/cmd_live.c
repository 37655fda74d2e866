/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop live: the screens of something that is being recorded. */
#include "config.h"

#include <unistd.h>

#include "cmd_explore.h"
#include "command.h"
#include "mem.h"
#include "options.h"
#include "say.h"

/* What is piped in is meant where nothing is named. */
static enum status live(const struct options *o)
{
	struct options with_input = *o;
	enum status status;

	if (o->files.n > 0)
		return explore(o);
	if (isatty(STDIN_FILENO)) {
		say("live wants a recording that is being written: proftop live FILE, or perf record -o - -g -p PID | proftop live -");
		return STATUS_USAGE;
	}
	with_input.files = (struct option_list){ 0 };
	vec_push(&with_input.files, "-");
	status = explore(&with_input);
	vec_done(&with_input.files);
	return status;
}

const struct command cmd_live = {
	.name = "live",
	.synopsis = "FILE, or - for what is piped in",
	.summary = "Shows a recording while it is being written.",
	.verb = ON_LIVE,
	.run = live,
};
