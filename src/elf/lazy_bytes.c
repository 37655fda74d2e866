/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of a file, read in blocks into reserved memory; see lazy_bytes.h. */
#include "config.h"

#include "elf/lazy_bytes.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge_alloc.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/inflate_stream.h"

#define STRING_MAX (UINT64_C(1) << 20)

enum block_state { BLOCK_ABSENT, BLOCK_COMING, BLOCK_THERE, BLOCK_UNREADABLE };

static uint64_t n_blocks(const struct lazy_bytes *l)
{
	return (l->n + (UINT64_C(1) << l->shift) - 1) >> l->shift;
}

/* Reserved, not taken: pages come as they are written. dense: mostly from front to back. */
static bool reserve(struct lazy_bytes *l, uint64_t n, unsigned shift, bool dense)
{
	void *p;

	*l = (struct lazy_bytes){ .at = NULL };
	if (n == 0 || n > SIZE_MAX / 2)
		return false;
	p = dense && n >= BULK_BYTES ? huge_alloc_new((size_t)n) : NULL;
	if (p) {
		*l = (struct lazy_bytes){ .at = p, .n = n, .shift = shift, .bulk = true };
		return true;
	}
	p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	*l = (struct lazy_bytes){ .at = p, .n = n, .shift = shift };
	return true;
}

void lazy_open(struct lazy_bytes *l, const struct elf_file *f, uint64_t offset, uint64_t n,
	       unsigned shift)
{
	if (!reserve(l, n, shift, false))
		return;
	l->file = f;
	l->offset = offset;
	l->state = xcalloc((size_t)n_blocks(l), sizeof(*l->state));
}

bool lazy_unpack(struct lazy_bytes *l, const struct elf_file *f, uint64_t offset, uint64_t packed,
		 uint64_t n, unsigned shift)
{
	if (!reserve(l, n, shift, true))
		return false;
	l->packed = inflate_stream_new(f, offset, packed, (uint8_t *)(uintptr_t)l->at, n);
	if (!l->packed)
		lazy_done(l);
	return l->packed != NULL;
}

void lazy_take(struct lazy_bytes *l, void *bytes, size_t n)
{
	*l = (struct lazy_bytes){ .at = bytes, .n = n };
}

void lazy_done(struct lazy_bytes *l)
{
	inflate_stream_free(l->packed);
	if (l->bulk)
		huge_alloc_free((void *)(uintptr_t)l->at, (size_t)l->n);
	else if (l->shift)
		munmap((void *)(uintptr_t)l->at, (size_t)l->n);
	else
		free((void *)(uintptr_t)l->at);
	free((void *)l->state);
	*l = (struct lazy_bytes){ .at = NULL };
}

/* Reads a block, or waits until another thread has. What has become of it. */
static uint8_t read_block(struct lazy_bytes *l, uint64_t block)
{
	uint64_t from = block << l->shift, size = UINT64_C(1) << l->shift;
	uint8_t *to = (uint8_t *)(uintptr_t)l->at + from, state = BLOCK_ABSENT;

	if (!atomic_compare_exchange_strong(&l->state[block], &state, BLOCK_COMING)) {
		while (state == BLOCK_COMING) {
			sched_yield();
			state = atomic_load_explicit(&l->state[block], memory_order_acquire);
		}
		return state;
	}
	if (size > l->n - from)
		size = l->n - from;
	state = elf_file_read_into(l->file, to, (size_t)size, l->offset + from) ? BLOCK_THERE
										: BLOCK_UNREADABLE;
	atomic_store_explicit(&l->state[block], state, memory_order_release);
	return state;
}

bool lazy_need(struct lazy_bytes *l, uint64_t from, uint64_t n)
{
	uint64_t last;

	if (from > l->n || n > l->n - from)
		return false;
	if (l->packed)
		return inflate_stream_reach(l->packed, from + n);
	if (!l->file || n == 0)
		return true;
	last = (from + n - 1) >> l->shift;
	for (uint64_t b = from >> l->shift; b <= last; b++) {
		uint8_t state = atomic_load_explicit(&l->state[b], memory_order_acquire);

		if (state < BLOCK_THERE)
			state = read_block(l, b);
		if (state != BLOCK_THERE)
			return false;
	}
	return true;
}

const char *lazy_string(struct lazy_bytes *l, uint64_t from)
{
	uint64_t at = from;

	while (at < l->n && at - from < STRING_MAX) {
		uint64_t end = l->shift ? ((at >> l->shift) + 1) << l->shift : l->n;

		if (end > l->n)
			end = l->n;
		if (!lazy_need(l, at, end - at))
			return NULL;
		if (memchr(l->at + at, 0, (size_t)(end - at)))
			return (const char *)l->at + from;
		at = end;
	}
	return NULL;
}

void lazy_drop(struct lazy_bytes *l, uint64_t from, uint64_t n)
{
	uint64_t size = UINT64_C(1) << l->shift, first, end;

	if (!l->file || from > l->n || n > l->n - from)
		return;
	first = (from + size - 1) >> l->shift;
	end = (from + n) >> l->shift;
	if (end <= first)
		return;
	for (uint64_t b = first; b < end; b++)
		atomic_store_explicit(&l->state[b], BLOCK_ABSENT, memory_order_relaxed);
	madvise((uint8_t *)(uintptr_t)l->at + (first << l->shift), (size_t)((end - first) * size),
		MADV_DONTNEED);
}
