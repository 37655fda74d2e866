/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room for the windows of a perf_stream, used over and over: those handed out before stay readable while the next is
 * filled. A window that nobody needed so far, or for some time, takes no memory.
 */
#ifndef PROFTOP_PERF_FILE_PERF_WINDOWS_H
#define PROFTOP_PERF_FILE_PERF_WINDOWS_H

#include "base/mem.h"
#include "perf/abi/lazy_stack.h"
#include "perf/abi/perf_abi.h"
#include "perf/file/perf_stream.h"
#include "perf/ingest/predecode.h"

/* What a window holds besides its records. */
struct perf_window {
	uint8_t *at; /* [room] bytes; NULL: not needed so far; owned, or of the pool */
	VEC(struct lazy_stack) gaps;
	VEC(struct perf_beside) beside; /* records that are no samples */
	struct perf_predecoded digests; /* of its samples, if they are made */
	uint64_t number;                /* of what it holds, counted from 1 */
	bool warm;                      /* it takes memory */
};

struct perf_windows {
	struct perf_window of[PERF_WINDOWS_MOST + 1];
	uint8_t *pool;      /* room for all of them, or NULL; owned */
	size_t room;        /* bytes of each: PERF_WINDOW_BYTES or PERF_PIPE_WINDOW_BYTES */
	unsigned turn;      /* the window being filled */
	unsigned kept;      /* windows handed out last that are still looked at */
	uint64_t n_windows; /* handed out so far */
};

/* The first window is there; one is kept. n_bytes are to be read of a file, 0 when that is not known, as of a pipe. */
void perf_windows_init(struct perf_windows *w, bool pipe, uint64_t n_bytes);
void perf_windows_done(struct perf_windows *w);

/* The window being filled. */
struct perf_window *perf_windows_filling(struct perf_windows *w);

/* Hands that out; another one, or one that nobody looks at any more, takes its turn. What it held is forgotten. */
void perf_windows_turn(struct perf_windows *w);

#endif
