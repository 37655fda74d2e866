/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of variable length, as packs hold them: seven bits a byte, the lowest first; signed ones are folded (0, -1, 1, -2, …).
 */
#ifndef PROFTOP_BASE_PACK_NUMBERS_H
#define PROFTOP_BASE_PACK_NUMBERS_H

#include "base/bytes.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

typedef VEC(uint8_t) pack_bytes;

void pack_put(pack_bytes *b, uint64_t v);
void pack_put_signed(pack_bytes *b, int64_t v);
void pack_put_bytes(pack_bytes *b, const void *from, size_t n);
/* Its length, and its bytes. */
void pack_put_text(pack_bytes *b, const char *s, size_t n);

/* A number as protocol buffers have it, too: bad when it is cut, or longer than 64 bits. */
uint64_t pack_take(struct bytes *b);
int64_t pack_take_signed(struct bytes *b);
/* As pack_take(), and bad when it is not below limit, which gives 0. */
uint32_t pack_take_below(struct bytes *b, uint64_t limit);
/* How many things follow of at least one byte each: bad when so many cannot. */
uint64_t pack_take_count(struct bytes *b);

/* As pack_put_text() put it: n bytes, or NULL and bad. Borrowed. */
const char *pack_take_text(struct bytes *b, size_t *n);

#endif
