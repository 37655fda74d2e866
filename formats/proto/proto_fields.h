/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a protobuf message, one after the other, without a copy: for messages that are too large to be unpacked
 * at once. The wire format is the one of protobuf.dev/programming-guides/encoding.
 */
#ifndef PROFTOP_FORMATS_PROTO_PROTO_FIELDS_H
#define PROFTOP_FORMATS_PROTO_PROTO_FIELDS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;    /* of numbers */
	const uint8_t *at; /* [n] of PROTO_BYTES; borrowed from the message */
	size_t n;
};

/* take_varint() of any length. */
uint64_t take_long_varint(struct bytes *b);

/* A number of 7 bits a byte, least first; sets bad when it has more than 64 bits or no end. Most have a byte or two. */
static inline uint64_t take_varint(struct bytes *b)
{
	size_t left = bytes_left(b);

	if (left >= 1 && b->at[0] < 0x80)
		return *b->at++;
	if (left >= 2 && b->at[1] < 0x80) {
		b->at += 2;
		return (uint64_t)(b->at[-2] & 0x7f) | (uint64_t)b->at[-1] << 7;
	}
	return take_long_varint(b);
}

/* The next field; false at the end, and where bytes are no field: then b->bad is set. */
bool proto_next(struct bytes *b, struct proto_field *f);

#endif
