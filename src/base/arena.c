/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list of blocks, the newest in use. What is larger than a quarter of a block gets one of its
 * own, put behind the newest so that the newest's rest is not lost.
 */
#include "config.h"

#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The size of a common block, header included. */
#define BLOCK_BYTES ((size_t)64 << 10)

struct arena_block {
	struct arena_block *older; /* owned */
	size_t size;               /* bytes at data */
	alignas(max_align_t) unsigned char data[];
};

static struct arena_block *block_new(size_t size, struct arena_block *older)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		size = SIZE_MAX - sizeof(*b); /* xmalloc says that it is too much */
	b = xmalloc(sizeof(*b) + size);
	b->older = older;
	b->size = size;
	return b;
}

void arena_init(struct arena *a)
{
	*a = (struct arena){ 0 };
}

void arena_done(struct arena *a)
{
	struct arena_block *b = a->block;

	while (b) {
		struct arena_block *older = b->older;

		free(b);
		b = older;
	}
	arena_init(a);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t align = alignof(max_align_t);
	void *p;

	if (bytes > BLOCK_BYTES / 4) {
		if (!a->block)
			a->block = block_new(BLOCK_BYTES - sizeof(*a->block), NULL);
		a->block->older = block_new(bytes, a->block->older);
		return a->block->older->data;
	}
	bytes = (bytes + align - 1) & ~(align - 1);
	if (!a->block || bytes > a->block->size - a->used) {
		a->block = block_new(BLOCK_BYTES - sizeof(*a->block), a->block);
		a->used = 0;
	}
	p = a->block->data + a->used;
	a->used += bytes;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (n > 0)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}
