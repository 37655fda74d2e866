/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a resolver: where files may lie, what may be read, and how the recording's clock counts. */
#ifndef PROFTOP_SYMBOLS_SEARCH_RESOLVER_OPTIONS_H
#define PROFTOP_SYMBOLS_SEARCH_RESOLVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct consulted_files;
struct file_archive;

/* Copies at most n bytes of what a process that runs has at address; how many, 0 where it cannot be read. */
typedef size_t resolver_read_code(int32_t pid, uint64_t address, uint8_t *to, size_t n);

struct resolver_options {
	const char *const *symbol_dirs; /* --symbols DIR, searched first; borrowed */
	size_t n_symbol_dirs;
	struct file_archive *const
		*archives; /* packed files by "BUILD-ID/elf" and the like; borrowed */
	size_t n_archives;
	bool addresses;      /* what has no symbol is named "[module <address>]" */
	const char *sysroot; /* prefix for recorded paths, or NULL */
	bool no_inlines;     /* --no-inline: debug information is not read */
	bool debug_servers; /* ask the servers in $DEBUGINFOD_URLS for debug files that are missing */
	bool hold_files; /* files are opened when they are mapped: of what runs now, they may go */
	bool same_machine; /* the capture was (or may have been) made on this machine */
	bool other_kernel; /* … before it was started anew: neither kernel nor processes are those of now */
	resolver_read_code *
		read_code; /* of what is recorded now: walks look at code without tables; NULL: it is over */
	struct consulted_files
		*consulted; /* notes which files were looked for; borrowed, or NULL */
};

/* The clock of a recording, for other files that have times. */
struct resolver_clock {
	bool monotonic;     /* it is CLOCK_MONOTONIC */
	uint64_t cpu_zero;  /* what a cpu time stamp of 0 is in it */
	uint64_t cpu_mult;  /* nanoseconds per 2^cpu_shift of a time stamp; 0: not recorded */
	unsigned cpu_shift; /* < 64 */
};

#endif
