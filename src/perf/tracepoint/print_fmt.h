/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line that a tracepoint's event prints of itself: its "print fmt", a format of printf and C
 * expressions over the event's fields, made ready and applied to samples.
 *
 * libtraceevent does this for perf, and is not used: formats come with files of others. 1.7.1 overruns its stack at many
 * parentheses, reads beyond samples that are shorter than their format says, and has 9 for 10 - 3 - 2.
 */
#ifndef PROFTOP_PERF_TRACEPOINT_PRINT_FMT_H
#define PROFTOP_PERF_TRACEPOINT_PRINT_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct print_fmt;
struct trace_field;
struct trace_raw;

/*
 * Of what stands behind "print fmt:". Borrows the fields and lives in the arena with all of its parts.
 * *left is how many of those there may be, and what remains of it. NULL: it is not understood.
 */
const struct print_fmt *print_fmt_new(const char *text, size_t n, const struct trace_field *fields,
				      size_t n_fields, struct arena *a, size_t *left);

/* Who knows the kernel's functions. */
struct print_symbols {
	/* The one that an address is in, and how far; NULL: none is known. Borrowed until the next call. */
	const char *(*find)(void *arg, uint64_t address, uint64_t *offset);
	void *arg;
};

/*
 * The line of a sample, as much as fits, with a "?" for each value that only the kernel can work out or
 * that is not in the sample. Functions of the kernel are addresses where nobody knows them; symbols may
 * be NULL. False: there is nothing else in it.
 */
bool print_fmt_text(const struct print_fmt *f, const struct trace_raw *raw,
		    const struct print_symbols *symbols, char *out, size_t max);

#endif
