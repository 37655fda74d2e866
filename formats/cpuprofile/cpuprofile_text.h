/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A legacy CPU profile as tables (gperftools, docs/cpuprofile-fileformat.html): words of 4 or 8 bytes in the machine's order. A head of
 * 0, 3, version, period and 0; then a count, a number of addresses and the addresses of each stack, innermost first; a last stack of
 * 0, 1, 0; and the text of /proc/PID/maps, or of Java the names of its numbers.
 */
#ifndef PROFTOP_FORMATS_CPUPROFILE_CPUPROFILE_TEXT_H
#define PROFTOP_FORMATS_CPUPROFILE_CPUPROFILE_TEXT_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stack; its addresses are where code ran, those of callers one less than where they go on. */
struct cpuprofile_stack {
	uint64_t count;
	size_t first; /* in .addresses, innermost first */
	uint32_t n;
};

/* A name of an address, of a head of symbols or of Java. Texts are borrowed from the file's bytes. */
struct cpuprofile_name {
	uint64_t address;
	const char *s;
	size_t n;
};

struct cpuprofile_text {
	bool is_java;
	bool is_raw; /* of google-pprof --raw, behind a head of symbols: its period is 1 where it should be told */
	uint32_t word;      /* bytes of one */
	uint64_t period_us; /* between samples */
	VEC(struct cpuprofile_stack) stacks;
	VEC(uint64_t) addresses;
	VEC(struct cpuprofile_name) names;
	const char
		*binary; /* [n_binary] the program's path as the head of symbols has it, or NULL */
	size_t n_binary;
	const char *rest; /* [n_rest] the text behind the stacks */
	size_t n_rest;
	uint64_t
		n_handler; /* frames that every stack had and that were taken out: the profiler's own */
	bool cut;          /* the bytes end before the last stack */
	size_t cut_at;     /* where */
};

/* bytes: [n], kept by the caller. False: no such profile begins there. */
bool cpuprofile_text_read(struct cpuprofile_text *t, const uint8_t *bytes, size_t n);
void cpuprofile_text_done(struct cpuprofile_text *t);

/* Do the bytes begin such a profile, or a head of symbols before one? */
bool cpuprofile_text_begins(const uint8_t *bytes, size_t n);

/* The next line of a text, without its end; false at the end. */
bool cpuprofile_text_line(const char **text, size_t *n, const char **line, size_t *n_line);

#endif
