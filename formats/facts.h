/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts that readers of several formats state of what a file lacks, and the sentence of a file without a sample. */
#ifndef PROFTOP_FORMATS_FACTS_H
#define PROFTOP_FORMATS_FACTS_H

#include "profile/ids.h"

#include <stdint.h>

struct err;
struct input;
struct json_end;
struct profile;

/* A loss "N ONEs WHAT", as in "3 samples without a weight", between builder_begin() and builder_end(); none where n is 0. */
void facts_loss(struct profile *p, capture_id c, const char *name, uint64_t n, const char *one,
		const char *what);

/* Where a JSON text broke off, as a loss; none where it is whole. */
void facts_json_end(struct profile *p, capture_id c, const struct json_end *end);

/* -EBADMSG: the text broke off before its first sample, or `what` ("is a speedscope file") has none. */
int facts_refuse_json(const struct json_end *end, const struct input *in, const char *what,
		      struct err *e);

#endif
