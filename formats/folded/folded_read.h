/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader behind format_folded; see format.h for its contract. */
#ifndef PROFTOP_FORMATS_FOLDED_FOLDED_READ_H
#define PROFTOP_FORMATS_FOLDED_FOLDED_READ_H

#include "formats/format.h"

int folded_read(struct input *in, struct profile *p, capture_id c, const struct read_options *o,
		struct progress *progress, struct err *e);

#endif
