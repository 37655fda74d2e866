/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop info: what is in a file, what was lost, how good the stacks are. */
#include "config.h"

#include "base/err.h"
#include "cli/cmd_report.h"
#include "cli/load/load.h"
#include "cli/options/message.h"
#include "cli/options/options.h"

static enum status info(const struct options *o)
{
	struct load_wish read = load_of(o);
	const struct report_wish w = {
		.o = o, .read = &read, .lens = query_options_of(o), .view = "info"
	};
	struct err e = ERR_INIT;
	enum status status;
	struct load *l = load_start(o, &read, &e);

	if (!l)
		return message_error(&e, STATUS_USAGE);
	status = report_loaded(&w, l);
	load_free(l);
	return status;
}

const struct command cmd_info = {
	.name = "info",
	.synopsis = "[--json] FILE…",
	.summary = "Says what is in a file, what was lost, and how good the stacks are.",
	.verb = ON_INFO,
	.run = info,
};
