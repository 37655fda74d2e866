/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block that is used again for each message, and an arena for messages that are larger. */
#include "config.h"

#include "formats/proto/proto_arena.h"

#include "base/mem.h"

#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGN       ((size_t)16)

static void *take(void *arg, size_t bytes)
{
	struct proto_arena *a = arg;
	size_t rounded = (bytes + ALIGN - 1) & ~(ALIGN - 1);
	void *p;

	if (rounded < bytes || rounded > BLOCK_BYTES - a->used)
		return arena_alloc(&a->large, bytes);
	p = a->block + a->used;
	a->used += rounded;
	return p;
}

static void keep(void *arg, void *p)
{
	(void)arg;
	(void)p;
}

void proto_arena_init(struct proto_arena *a)
{
	a->allocator = (ProtobufCAllocator){ .alloc = take, .free = keep, .allocator_data = a };
	a->block = xmalloc(BLOCK_BYTES);
	a->used = 0;
	arena_init(&a->large);
}

void proto_arena_reset(struct proto_arena *a)
{
	a->used = 0;
	if (a->large.block) {
		arena_done(&a->large);
		arena_init(&a->large);
	}
}

void proto_arena_done(struct proto_arena *a)
{
	arena_done(&a->large);
	free(a->block);
}
