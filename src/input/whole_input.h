/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All of an input in memory, for formats whose parts refer to what comes later. */
#ifndef PROFTOP_INPUT_WHOLE_INPUT_H
#define PROFTOP_INPUT_WHOLE_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct input;
struct progress;

struct whole_input {
	uint8_t *bytes; /* [n], unpacked; owned; a NUL follows that is not counted */
	size_t n;
	char *cut; /* why the rest is missing, or NULL; owned */
};

/*
 * Reads to the end. Of a damaged packed file what came before the damage is kept, and w->cut says what is wrong. Fails with
 * -EFBIG where half of the machine's memory does not hold it, with -ECANCELED, or where nothing could be read.
 */
int whole_input_read(struct whole_input *w, struct input *in, struct progress *progress,
		     struct err *e);
void whole_input_done(struct whole_input *w);

#endif
