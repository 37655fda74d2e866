/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was inlined at the addresses of a file, with names as people read them; from the debug
 * information of the file or of its separate debug file, opened when first asked.
 */
#ifndef PROFTOP_RESOLVE_INLINES_H
#define PROFTOP_RESOLVE_INLINES_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct inlines;

/* Outermost: the physical function; then what is inlined into it. Strings live as long as it. */
struct inline_frame {
	const char *name;     /* demangled; never NULL */
	const char *file;     /* of the position in this frame, or NULL */
	const char *declared; /* file where the function is declared, or NULL */
	uint32_t line;        /* of the position; 0: unknown */
	uint32_t declared_line;
};

/* NULL when no file of the image has debug information. The image may be closed afterwards. */
struct inlines *inlines_new(const struct image *i);
void inlines_free(struct inlines *n);
/* Lets go of what was read, until it is asked again. Strings handed out are gone. */
void inlines_close(struct inlines *n);

/* The frames at an offset in the file, outermost first; at most max. 0: nothing is known. */
size_t inlines_find(struct inlines *n, uint64_t offset, struct inline_frame *out, size_t max);

#endif
