/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number is its folded distance, and two bits below it that say from what; numbers that are neither follow as they are in memory. */
#include "config.h"

#include "formats/firefox/firefox_series.h"

#include <math.h>
#include <string.h>

#define MILLION    1e6
#define MOST       1e15 /* of millionths: doubles are exact there, and two bits are free */
#define MOST_BYTES 10   /* of a packed number */

enum told { WHOLE, MILLIONTHS, AS_IT_IS, NOTHING };

static void put(struct firefox_series *s, uint64_t v, enum told told)
{
	pack_bytes *b = &s->bytes;

	v = v << 2 | told;
	vec_reserve(b, b->n + MOST_BYTES);
	for (; v >= 0x80; v >>= 7)
		b->at[b->n++] = (uint8_t)(v | 0x80);
	b->at[b->n++] = (uint8_t)v;
	s->n++;
}

static void put_distance(struct firefox_series *s, int64_t *last, int64_t now, enum told told)
{
	int64_t d = now - *last;

	put(s, (uint64_t)d << 1 ^ (uint64_t)(d >> 63), told);
	*last = now;
}

void firefox_series_add(struct firefox_series *s, double x)
{
	int64_t near;

	if (isnan(x)) {
		put(s, 0, NOTHING);
		return;
	}
	if (fabs(x) < MOST / MILLION && !signbit(x)) {
		near = (int64_t)x;
		if ((double)near == x) {
			put_distance(s, &s->last.whole, near, WHOLE);
			return;
		}
		near = (int64_t)(x * MILLION + copysign(0.5, x));
		if ((double)near / MILLION == x) {
			put_distance(s, &s->last.millionths, near, MILLIONTHS);
			return;
		}
	}
	put(s, 0, AS_IT_IS);
	pack_put_bytes(&s->bytes, &x, sizeof(x));
}

void firefox_series_add_index(struct firefox_series *s, uint32_t index)
{
	if (index == FIREFOX_NONE)
		put(s, 0, NOTHING);
	else
		put_distance(s, &s->last.whole, index, WHOLE);
}

void firefox_series_done(struct firefox_series *s)
{
	vec_done(&s->bytes);
	*s = (struct firefox_series){ 0 };
}

struct firefox_cursor firefox_series_begin(const struct firefox_series *s)
{
	return (struct firefox_cursor){ .rest = bytes_over(s->bytes.at, s->bytes.n, false) };
}

static int64_t take_distance(uint64_t v, int64_t *last)
{
	*last += (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
	return *last;
}

double firefox_series_next(struct firefox_cursor *c)
{
	uint64_t v = bytes_left(&c->rest) > 0 ? pack_take(&c->rest) : NOTHING;
	const uint8_t *raw;
	double x = NAN;

	switch ((enum told)(v & 3)) {
	case WHOLE:
		return (double)take_distance(v >> 2, &c->last.whole);
	case MILLIONTHS:
		return (double)take_distance(v >> 2, &c->last.millionths) / MILLION;
	case AS_IT_IS:
		raw = take_bytes(&c->rest, sizeof(x));
		if (raw)
			memcpy(&x, raw, sizeof(x));
		return x;
	case NOTHING:
		break;
	}
	return NAN;
}

uint32_t firefox_series_next_index(struct firefox_cursor *c)
{
	double x = firefox_series_next(c);

	return x >= 0 && x < FIREFOX_NONE ? (uint32_t)x : FIREFOX_NONE;
}
