/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a recording grows; see live_rate.h. */
#include "config.h"

#include "tui/app/live_rate.h"

#include <string.h>

/* A rate is of so much time; what is older is forgotten. */
#define RATE_MS   3000
#define NS_PER_MS 1000000
/* What comes is noted several times in such a time. */
#define PAUSE_MS  1000
/* Less says nothing yet. */
#define LEAST_MS  200

/* Since when nothing has come is told in steps, as each costs bytes. */
static const int silent_steps_s[] = { 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600 };

static bool has_times(const struct live_rate *r)
{
	return r->n > 0 && r->at[r->n - 1].ns >= 0;
}

/* Milliseconds from one to the other: of the recording, where that is known. */
static int64_t between_ms(const struct live_rate *r, const struct growth *a, const struct growth *b)
{
	return has_times(r) ? (b->ns - a->ns) / NS_PER_MS : b->ms - a->ms;
}

/* Forgets what is too old to tell how fast it is now; the oldest that is left is the first. */
static void age(struct live_rate *r)
{
	const struct growth *last = &r->at[r->n - 1];
	size_t n_old = 0;

	while (n_old + 2 < r->n && between_ms(r, &r->at[n_old + 1], last) >= RATE_MS)
		n_old++;
	if (r->n == LIVE_GROWTH && n_old == 0)
		n_old = 1;
	r->n -= n_old;
	memmove(r->at, r->at + n_old, r->n * sizeof(r->at[0]));
}

bool live_rate_knows(const struct live_rate *r, uint64_t n)
{
	return r->n > 0 && r->at[r->n - 1].n == n;
}

void live_rate_note(struct live_rate *r, int64_t now_ms, uint64_t n, int64_t newest_ns)
{
	struct growth *last = r->n > 0 ? &r->at[r->n - 1] : NULL;

	if (r->anew) {
		*r = (struct live_rate){ .at = { { now_ms, newest_ns, n } }, .n = 1 };
		return;
	}
	/* Only from the first sample on it is known whether there are times. */
	if (newest_ns >= 0 && (!last || last->ns < 0)) {
		r->at[0] = (struct growth){ .ms = now_ms };
		r->n = 1;
	}
	/* The rest of what came at once. */
	if (last && newest_ns >= 0 && newest_ns == last->ns && r->n > 1) {
		last->n = n;
		last->ms = now_ms;
		return;
	}
	if (r->n == LIVE_GROWTH)
		age(r);
	r->at[r->n++] = (struct growth){ now_ms, newest_ns, n };
	age(r);
}

void live_rate_anew(struct live_rate *r)
{
	r->anew = true;
}

static int silence_s(int64_t ms)
{
	int s = 0;

	for (size_t i = 0; i < sizeof(silent_steps_s) / sizeof(silent_steps_s[0]); i++)
		if (ms >= silent_steps_s[i] * INT64_C(1000))
			s = silent_steps_s[i];
	return s;
}

struct live_pace live_rate_pace(const struct live_rate *r, int64_t now_ms, bool at_once,
				int64_t patience_ms)
{
	const struct growth *first = &r->at[0], *last = r->n > 0 ? &r->at[r->n - 1] : NULL;
	struct live_pace p = { .per_s = -1 };
	int64_t ms;

	if (!last)
		return p;
	if (last->n == 0 && !at_once)
		return p;
	at_once |= !has_times(r);
	if (at_once && now_ms - last->ms >= patience_ms) {
		p.per_s = 0;
		return p;
	}
	ms = between_ms(r, first, last);
	/* What comes at once did not come before the second of them. */
	if (at_once && ms > RATE_MS && between_ms(r, first, first + 1) > PAUSE_MS)
		ms = RATE_MS;
	if (ms < LEAST_MS)
		return p;
	p.per_s = (int64_t)((double)(last->n - first->n) * 1000 / (double)ms + 0.5);
	p.silent_s = at_once ? 0 : silence_s(now_ms - last->ms);
	return p;
}
