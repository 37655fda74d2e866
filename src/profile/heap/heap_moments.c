/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "profile/heap/heap_moments.h"

#include "base/mem.h"

#include <stdlib.h>

static size_t n_words(const struct heap_moments *m)
{
	return m->bits ? (size_t)m->until / 64 + 1 : 0;
}

void heap_moments_begin(struct heap_moments *m, uint32_t until)
{
	size_t n = (size_t)until / 64 + 1;

	*m = (struct heap_moments){ .until = until };
	m->bits = xcalloc(n, sizeof(*m->bits));
	m->before = xcalloc(n, sizeof(*m->before));
}

void heap_moments_done(struct heap_moments *m)
{
	free(m->bits);
	free(m->before);
	*m = (struct heap_moments){ 0 };
}

void heap_moments_use(struct heap_moments *m, uint32_t moment)
{
	if (moment < m->until)
		m->bits[moment / 64] |= UINT64_C(1) << moment % 64;
}

void heap_moments_number(struct heap_moments *m)
{
	for (size_t i = 0; i < n_words(m); i++) {
		m->before[i] = m->n;
		m->n += (uint32_t)__builtin_popcountll(m->bits[i]);
	}
}

uint32_t heap_moments_now(const struct heap_moments *m, uint32_t moment)
{
	uint64_t below;

	if (moment >= m->until)
		return moment - m->until + m->n;
	below = m->bits[moment / 64] & ((UINT64_C(1) << moment % 64) - 1);
	return m->before[moment / 64] + (uint32_t)__builtin_popcountll(below);
}
