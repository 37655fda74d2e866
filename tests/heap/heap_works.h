/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What heap_work's works share. Each prints nothing of its own but what is the same in every run. */
#ifndef PROFTOP_TESTS_HEAP_WORKS_H
#define PROFTOP_TESTS_HEAP_WORKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct work {
	const char *name; /* NULL: the end of a table */
	int (*run)(uint64_t n);
};

/* A table for each kind of thing that programs do. */
extern const struct work call_works[], code_works[], daemon_works[], process_works[],
	sandbox_works[], signal_works[], thread_works[];

/* Neither inlined nor given another name. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noipa))
#endif

/* A block that is made and given back; the asm keeps the compiler from leaving both out. */
static inline void use(size_t n)
{
	void *p = malloc(n);

	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

/* Of the counting library, if it is there. */
void count_shim_tell(void) __attribute__((weak));

/* Right before an end that the counting library hears nothing of: it writes what it counted. */
static inline void tell_counts(void)
{
	if (count_shim_tell)
		count_shim_tell();
}

#endif
