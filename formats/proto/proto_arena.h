/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory for protobuf-c that is given back a message at a time: unpacking is then a move of a pointer for each part of
 * a message, and nothing need be freed part by part.
 */
#ifndef PROFTOP_FORMATS_PROTO_PROTO_ARENA_H
#define PROFTOP_FORMATS_PROTO_PROTO_ARENA_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

struct proto_arena {
	ProtobufCAllocator allocator; /* for the library; its frees do nothing */
	char *block;                  /* owned */
	size_t used;                  /* bytes of the block */
	struct arena large;           /* what did not fit; emptied with the rest */
};

/* Must not move while it is used. */
void proto_arena_init(struct proto_arena *a);
/* Everything that was unpacked is gone. */
void proto_arena_reset(struct proto_arena *a);
void proto_arena_done(struct proto_arena *a);

#endif
