/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where files that name things may lie. Nothing is opened here: whoever asks tries them in turn. */
#ifndef PROFTOP_SYMBOLS_SEARCH_DEBUG_FILE_SEARCH_H
#define PROFTOP_SYMBOLS_SEARCH_DEBUG_FILE_SEARCH_H

#include "symbols/search/resolver_options.h"

#include <stdbool.h>

struct dso;
struct embedded_symbols;

struct debug_file_search {
	/* symbols that came with the recording, or NULL; borrowed */
	const struct embedded_symbols *recorded;
	const struct resolver_options *options; /* borrowed */
	char *cache; /* perf's, laid out by build-id: ~/.debug, or NULL; owned */
	char *came;  /* where libdebuginfod keeps what servers gave, or NULL; owned */
	const char *
		fetched; /* a debug file that came from a server, for one search; or NULL; borrowed */
	char *release;   /* the kernel's, as recorded, or NULL; owned */
};

/*
 * A place to look. trusted: what lies there counts even if the recording has no build-id to compare,
 * as the user named the directory or the recording is of this machine. Returns true to stop.
 */
typedef bool debug_file_search_try(void *arg, const char *path, bool trusted);

void debug_file_search_init(struct debug_file_search *f, const struct resolver_options *o);
void debug_file_search_done(struct debug_file_search *f);

/* ELF files of a program, library or kernel module, and separate debug files of them by build-id. */
void debug_file_search_elf(const struct debug_file_search *f, const struct dso *d,
			   debug_file_search_try *try, void *arg);
/* Debug files by the name in .gnu_debuglink; beside is the file that has the link. */
void debug_file_search_debuglink(const struct debug_file_search *f, const struct dso *d,
				 const char *beside, const char *name, debug_file_search_try *try,
				 void *arg);
/* What a program with split units is called: the file that has its debug information, and where it was. */
void debug_file_search_split(const struct debug_file_search *f, const struct dso *d,
			     const char *described, debug_file_search_try *try, void *arg);
/* vmlinux files. */
void debug_file_search_vmlinux(const struct debug_file_search *f, const struct dso *d,
			       debug_file_search_try *try, void *arg);
/* Copies of kallsyms that were kept with recordings. */
void debug_file_search_kallsyms(const struct debug_file_search *f, const struct dso *d,
				debug_file_search_try *try, void *arg);
/* Kept images of the vdso. */
void debug_file_search_vdso(const struct debug_file_search *f, const struct dso *d,
			    debug_file_search_try *try, void *arg);
/* jit-PID.dump files. */
void debug_file_search_jit_dump(const struct debug_file_search *f, const struct dso *d,
				debug_file_search_try *try, void *arg);
/* perf-PID.map files. */
void debug_file_search_jit_map(const struct debug_file_search *f, const struct dso *d,
			       debug_file_search_try *try, void *arg);

#endif
