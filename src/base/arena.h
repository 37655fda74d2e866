/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many small allocations that die together. Not thread-safe; blocks never move. */
#ifndef PROFTOP_BASE_ARENA_H
#define PROFTOP_BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *block; /* newest first; owned */
	size_t used;               /* bytes used of the newest block */
};

/* Zeroed is a valid empty arena. */
void arena_init(struct arena *a);
void arena_done(struct arena *a);

/* Uninitialised, aligned for any object; lives until arena_done(). */
void *arena_alloc(struct arena *a, size_t bytes) __attribute__((returns_nonnull));
/* A NUL-terminated copy of n bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));

#endif
