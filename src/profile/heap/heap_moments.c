/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "profile/heap/heap_moments.h"

#include "base/mem.h"
#include "profile/heap/heap_packed.h"

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

bool heap_moments_renumber(struct heap_packed *rows,
			   struct heap_moments *(*moments_of)(const void *arg, uint32_t origin),
			   const void *arg)
{
	struct heap_columns c = { 0 };
	struct heap_packed now;
	bool ok;

	heap_packed_columns(rows, &c);
	heap_packed_init(&now);
	ok = !c.release || heap_packed_with_release(&now) == 0;
	for (uint32_t i = 0; i < rows->n && ok; i++) {
		uint32_t origin = allocation_origin(&c, i), end = allocation_end(&c, i, UINT32_MAX);
		const struct heap_moments *m = moments_of(arg, origin);

		ok = heap_packed_add(&now, heap_moments_now(m, allocation_begin(&c, i)),
				     allocation_size(&c, i), origin) == 0;
		if (ok && c.release)
			heap_packed_release(&now, i, allocation_release(&c, i));
		if (ok && end != END_NEVER)
			heap_packed_end(&now, i,
					heap_moments_now(m, end & END_MOMENT) |
						(end & ~END_MOMENT));
	}
	heap_packed_done(ok ? rows : &now);
	if (ok)
		*rows = now;
	return ok;
}
