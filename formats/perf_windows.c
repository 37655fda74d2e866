/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a long file all windows lie in one pool, on huge pages where the system has them. */
#include "config.h"

#include "perf_windows.h"

#include "bulk.h"

#include <stdlib.h>

#define POOL_BYTES (PERF_WINDOW_BYTES * (PERF_WINDOWS_MOST + 1))
#define POOL_FROM  (UINT64_C(8) << 20) /* bytes of a file that needs most of its windows */

static uint8_t *new_room(const struct perf_windows *w, unsigned turn)
{
	return w->pool ? w->pool + turn * PERF_WINDOW_BYTES : xmalloc(w->room);
}

/* Of the windows that nobody looks at any more, the one that was used last: it is likely in the cpu's cache. */
static unsigned free_window(const struct perf_windows *w)
{
	uint64_t newest = 0;
	unsigned best = 0, i;

	for (i = 0; i <= PERF_WINDOWS_MOST && w->of[i].at; i++) {
		uint64_t number = w->of[i].number;

		if (number + w->kept > w->n_windows || number <= newest)
			continue;
		best = i;
		newest = number;
	}
	return newest > 0 ? best : i;
}

void perf_windows_init(struct perf_windows *w, bool pipe, uint64_t n_bytes)
{
	*w = (struct perf_windows){ 0 };
	w->room = pipe ? PERF_PIPE_WINDOW_BYTES : PERF_WINDOW_BYTES;
	w->pool = n_bytes >= POOL_FROM ? bulk_new(POOL_BYTES) : NULL;
	w->of[0].at = new_room(w, 0);
	w->kept = 1;
}

void perf_windows_done(struct perf_windows *w)
{
	for (size_t i = 0; i <= PERF_WINDOWS_MOST; i++) {
		vec_done(&w->of[i].gaps);
		vec_done(&w->of[i].beside);
		perf_digests_done(&w->of[i].digests);
		if (!w->pool)
			free(w->of[i].at);
	}
	bulk_free(w->pool, POOL_BYTES);
}

struct perf_window *perf_windows_filling(struct perf_windows *w)
{
	return &w->of[w->turn];
}

void perf_windows_turn(struct perf_windows *w)
{
	w->of[w->turn].number = ++w->n_windows;
	w->turn = free_window(w);
	if (!w->of[w->turn].at)
		w->of[w->turn].at = new_room(w, w->turn);
}
