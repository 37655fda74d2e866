/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files by build-id from the servers in $DEBUGINFOD_URLS, through libdebuginfod (elfutils), which
 * keeps what it gets. The library is loaded when it is needed: it brings a whole HTTP client along.
 */
#ifndef PROFTOP_SYMBOLS_SEARCH_DEBUGINFOD_H
#define PROFTOP_SYMBOLS_SEARCH_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct debuginfod;
struct err;

/* Called while a file comes; total 0: unknown. Returns false to stop. */
typedef bool debuginfod_tick(void *arg, uint64_t done_bytes, uint64_t total_bytes);

/* NULL with a sentence when there is no library, or no server to ask. */
struct debuginfod *debuginfod_new(struct err *e);
void debuginfod_free(struct debuginfod *s);

enum server_file { SERVER_DEBUG_FILE, SERVER_PROGRAM };

/*
 * Waits for the debug file of a build-id, or for the program or library itself. *path, which the caller frees, is where it is kept. -ENOENT: no
 * server has it; -ECANCELED: tick stopped it; -ETIMEDOUT: nothing came for a while; else -errno. No
 * sentence: there is nothing more to say.
 */
int debuginfod_fetch(struct debuginfod *s, const struct build_id *id, enum server_file what,
		     debuginfod_tick *tick, void *arg, char **path);

/* The same for a source file of that program, by the absolute path that its debug information has. */
int debuginfod_fetch_source(struct debuginfod *s, const struct build_id *id, const char *source,
			    debuginfod_tick *tick, void *arg, char **path);

#endif
