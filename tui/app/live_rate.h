/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a recording grows.
 *
 * Recorders of others pass on what they have by the megabyte, a second or a minute of it at once. So where samples have
 * times the rate is of those, and not of when they came; and what has not come yet does not make it 0.
 */
#ifndef PROFTOP_TUI_APP_LIVE_RATE_H
#define PROFTOP_TUI_APP_LIVE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much there was when. */
struct growth {
	int64_t ms; /* of the terminal's clock */
	int64_t ns; /* the newest sample's time since the start; -1: there are no times */
	uint64_t n; /* samples */
};

#define LIVE_GROWTH 16

struct live_rate {
	struct growth at[LIVE_GROWTH]; /* over the last seconds, the oldest first */
	size_t n;
	bool anew; /* what comes next did not come just now */
};

/* A rate as it is told. */
struct live_pace {
	int64_t per_s; /* samples; -1: not known yet */
	int silent_s;  /* nothing more has come for at least so long; 0: it comes */
};

/* Is that what was noted last? */
bool live_rate_knows(const struct live_rate *r, uint64_t n);

/* There are n samples by now; newest_ns is as in growth. */
void live_rate_note(struct live_rate *r, int64_t now_ms, uint64_t n, int64_t newest_ns);

/* What was held back is to come, all of it at once: rates are of what comes after that. */
void live_rate_anew(struct live_rate *r);

/*
 * at_once: whoever records passes on what comes as it comes, so that silence means that nothing does; it is waited for
 * patience_ms, as that takes some time.
 */
struct live_pace live_rate_pace(const struct live_rate *r, int64_t now_ms, bool at_once,
				int64_t patience_ms);

#endif
