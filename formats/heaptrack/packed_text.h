/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that is packed as the name of its file says, as heaptrack does: ".zst" zstd, ".gz" gzip, else not at all. */
#ifndef PROFTOP_FORMATS_HEAPTRACK_PACKED_TEXT_H
#define PROFTOP_FORMATS_HEAPTRACK_PACKED_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct packed_text;

/* Borrows to. name may be NULL. */
struct packed_text *packed_text_new(FILE *to, const char *name);

void packed_text_put(struct packed_text *t, const char *s, size_t n);
void packed_text_print(struct packed_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes what is left and frees t. 0, or -errno of the first write that failed. */
int packed_text_end(struct packed_text *t);

#endif
