/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a live view is a report: Ctrl-C, or whatever else asks us to end, ends the recording, and what was seen is told. */
#ifndef PROFTOP_CLI_LIVE_LIVE_END_H
#define PROFTOP_CLI_LIVE_LIVE_END_H

#include <signal.h>

struct load;
struct load_wish;
struct options;

/* From here on such signals wait to be taken note of. *before is the mask that they are to be freed by. */
void live_end_watch(sigset_t *before);

/*
 * Waits until all was read. A signal tells our recorder to end, or its command; what others pipe in may end for some seconds,
 * and of a file that others write what is there is all. A command that goes on for a second is said to. After a second signal
 * nothing is waited for.
 */
void live_end_await(const struct options *o, const struct load_wish *w, struct load *l);

#endif
