/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files by build-id from the servers in $DEBUGINFOD_URLS, through libdebuginfod (elfutils), which
 * keeps what it gets. The library is loaded when it is needed: it brings a whole HTTP client along.
 */
#ifndef PROFTOP_RESOLVE_DEBUG_SERVER_H
#define PROFTOP_RESOLVE_DEBUG_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct debug_server;
struct err;

/* Called while a file comes; total 0: unknown. Returns false to stop. */
typedef bool debug_server_tick(void *arg, uint64_t done_bytes, uint64_t total_bytes);

/* NULL with a sentence when there is no library, or no server to ask. */
struct debug_server *debug_server_new(struct err *e);
void debug_server_free(struct debug_server *s);

enum server_file { SERVER_DEBUG_FILE, SERVER_PROGRAM };

/*
 * Waits for the debug file of a build-id, or for the program or library itself. *path, which the caller frees, is where it is kept. -ENOENT: no
 * server has it; -ECANCELED: tick stopped it; -ETIMEDOUT: nothing came for a while; else -errno. No
 * sentence: there is nothing more to say.
 */
int debug_server_fetch(struct debug_server *s, const struct build_id *id, enum server_file what,
		       debug_server_tick *tick, void *arg, char **path);

#endif
