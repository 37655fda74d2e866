/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a long file all windows lie in one pool, on huge pages where the system has them. */
#include "config.h"

#include "perf/file/perf_windows.h"

#include "base/huge_alloc.h"

#include <stdlib.h>

#define POOL_BYTES (PERF_WINDOW_BYTES * (PERF_WINDOWS_MOST + 1))
#define POOL_FROM  (UINT64_C(8) << 20) /* bytes of a file that needs most of its windows */

/* Windows that lie on one huge page, and turns after which it goes back to the system if none of them was needed. */
#define PER_PAGE   2u
#define IDLE_TURNS (PERF_WINDOWS_MOST / 2)

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

static void forget(struct perf_window *w)
{
	vec_done(&w->gaps);
	vec_done(&w->beside);
	predecode_done(&w->digests);
}

static bool is_warm(const struct perf_windows *w, unsigned i)
{
	return i <= PERF_WINDOWS_MOST && w->of[i].warm;
}

/* Was it used lately, or is it now? */
static bool is_needed(const struct perf_windows *w, unsigned i)
{
	return is_warm(w, i) &&
	       (i == w->turn || w->of[i].number + w->kept + IDLE_TURNS > w->n_windows);
}

/* Many windows wait until it is known what is to be waited for: most of them are not needed afterwards. */
static void give_back(struct perf_windows *w)
{
	for (unsigned i = 0; w->pool && i <= PERF_WINDOWS_MOST; i += PER_PAGE) {
		if (is_needed(w, i) || is_needed(w, i + 1) ||
		    (!is_warm(w, i) && !is_warm(w, i + 1)))
			continue;
		huge_alloc_give_back(w->pool + i * PERF_WINDOW_BYTES, PER_PAGE * PERF_WINDOW_BYTES);
		for (unsigned k = i; k < i + PER_PAGE && k <= PERF_WINDOWS_MOST; k++) {
			forget(&w->of[k]);
			w->of[k].warm = false;
		}
	}
}

void perf_windows_init(struct perf_windows *w, bool pipe, uint64_t n_bytes)
{
	*w = (struct perf_windows){ 0 };
	w->room = pipe ? PERF_PIPE_WINDOW_BYTES : PERF_WINDOW_BYTES;
	w->pool = n_bytes >= POOL_FROM ? huge_alloc_new(POOL_BYTES) : NULL;
	w->of[0].at = new_room(w, 0);
	w->of[0].warm = true;
	w->kept = 1;
}

void perf_windows_done(struct perf_windows *w)
{
	for (size_t i = 0; i <= PERF_WINDOWS_MOST; i++) {
		forget(&w->of[i]);
		if (!w->pool)
			free(w->of[i].at);
	}
	huge_alloc_free(w->pool, POOL_BYTES);
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
	w->of[w->turn].warm = true;
	give_back(w);
}
