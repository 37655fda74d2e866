/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small stand-in for libFuzzer, so that every test run tries some damage. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "tests/support/limits_work.h"

#include <stdlib.h>
#include <string.h>

/* The variations are the same in every build, and only sanitizers see most of what damage may do: without them a part is enough. */
#define PLAIN_PART 8

static uint32_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

/* Changes b, which has room for 2 n bytes; returns the new length. */
static size_t vary(uint8_t *b, size_t n, uint64_t *state)
{
	static const uint8_t likely[] = { 0, 0xff, 0x7f, 0x80, ' ', ';', '\n', '0', '9', '.' };
	uint32_t r = next_random(state);
	size_t at = next_random(state) % n, len = next_random(state) % (n - at) + 1;

	switch (r % 5) {
	case 0:
		b[at] ^= (uint8_t)(1u << (r >> 8) % 8);
		return n;
	case 1:
		b[at] = likely[(r >> 8) % sizeof(likely)];
		return n;
	case 2:
		memmove(b + at, b + at + len, n - at - len);
		return n - len > 0 ? n - len : n;
	case 3:
		memmove(b + at + len, b + at, n - at);
		return n + len;
	default:
		return at + 1;
	}
}

void fuzz_vary(fuzz_fn *fn, const void *seed, size_t n, unsigned rounds)
{
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	uint8_t *b = xmalloc(4 * n);
	const char *times_as_many = getenv("PROFTOP_TEST_ROUNDS");

	if (times_as_many)
		rounds *= (unsigned)atoi(times_as_many);
	else if (!IS_SANITIZED)
		rounds = (rounds + PLAIN_PART - 1) / PLAIN_PART;
	fn(seed, n);
	for (unsigned i = 0; i < rounds && n > 0; i++) {
		size_t now = n, times = next_random(&state) % 3 + 1;
		uint8_t *exact;

		memcpy(b, seed, n);
		while (times-- > 0 && now <= 2 * n)
			now = vary(b, now, &state);
		exact = xmalloc(now); /* so that reading past the end is seen */
		memcpy(exact, b, now);
		fn(exact, now);
		free(exact);
	}
	free(b);
}
