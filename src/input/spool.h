/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy of an input on disk, for formats that are not read from front to back. */
#ifndef PROFTOP_INPUT_SPOOL_H
#define PROFTOP_INPUT_SPOOL_H

struct err;
struct input;
struct progress;

/*
 * Copies what is left of in, unpacked, to a file without a name in $TMPDIR or /var/tmp, and opens that;
 * the caller closes *whole. What came before in broke is kept. -errno with a sentence, -ECANCELED.
 */
int spool(struct input *in, struct input **whole, struct progress *progress, struct err *e);

#endif
