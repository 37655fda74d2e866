/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tags, varints and lengths of protobuf messages, from hostile bytes. */
#include "config.h"

#include "formats/proto/proto_fields.h"

#define MOST_VARINT 10 /* bytes */
#define MOST_NUMBER ((UINT32_C(1) << 29) - 1)

uint64_t take_long_varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < MOST_VARINT; i++) {
		uint8_t byte = take_u8(b);

		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

static bool take_value(struct bytes *b, struct proto_field *f)
{
	uint64_t n;

	switch (f->wire) {
	case PROTO_VARINT:
		f->value = take_varint(b);
		break;
	case PROTO_FIXED64:
		f->value = take_u64(b);
		break;
	case PROTO_FIXED32:
		f->value = take_u32(b);
		break;
	case PROTO_BYTES:
		n = take_varint(b);
		f->n = n <= bytes_left(b) ? (size_t)n : 0;
		f->at = take_bytes(b, n <= SIZE_MAX ? (size_t)n : SIZE_MAX);
		break;
	default:
		b->bad = true;
	}
	return !b->bad;
}

bool proto_next(struct bytes *b, struct proto_field *f)
{
	uint64_t tag;

	if (bytes_left(b) == 0 || b->bad)
		return false;
	tag = take_varint(b);
	*f = (struct proto_field){ .number = (uint32_t)(tag >> 3),
				   .wire = (enum proto_wire)(tag & 7) };
	if (tag >> 3 == 0 || tag >> 3 > MOST_NUMBER)
		b->bad = true;
	return !b->bad && take_value(b, f);
}
