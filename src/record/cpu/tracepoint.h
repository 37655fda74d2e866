/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracepoints by name, SYSTEM:NAME, as the kernel's tracefs has them. */
#ifndef PROFTOP_RECORD_CPU_TRACEPOINT_H
#define PROFTOP_RECORD_CPU_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* The directory of tracefs, or NULL when it is nowhere or may not be read. */
const char *tracepoint_directory(void);

/* Why it is NULL, the remedy and its risk; borrowed for good. */
const char *tracepoint_why_none(void);

/* Its number, of n bytes of text that have a colon. tracing: the directory. -ENOENT or, with NULL, -EACCES with a sentence. */
int tracepoint_find(const char *tracing, const char *text, size_t n, uint64_t *id, struct err *e);

/* Are there wildcards in it? */
bool tracepoint_is_pattern(const char *text, size_t n);

/* Names, a VEC of owned ones. */
struct tracepoint_names {
	char **at;
	size_t n, cap;
};

/* All that the pattern matches, as glob(7) has it, sorted; errors as of tracepoint_find(), when it is none. */
int tracepoint_match(const char *tracing, const char *text, size_t n, struct tracepoint_names *out,
		     struct err *e);
void tracepoint_names_done(struct tracepoint_names *t);

#endif
