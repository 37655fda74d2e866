/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/bytehound/lz4_block.h"

#include <string.h>

/* A length that does not fit its four bits goes on in bytes, up to one that is not 255. */
#define MORE_LENGTH 15

/* A copy is at least so long. */
#define LEAST_MATCH 4

static bool take_length(const uint8_t **in, const uint8_t *end, size_t *length)
{
	uint8_t byte = 255;

	if (*length != MORE_LENGTH)
		return true;
	while (byte == 255) {
		if (*in == end || *length > SIZE_MAX / 2)
			return false;
		byte = *(*in)++;
		*length += byte;
	}
	return true;
}

bool lz4_block_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t *n_out)
{
	const uint8_t *end = in + n;
	uint8_t *at = out, *limit = out + *n_out;
	bool good = false;

	while (in < end) {
		uint8_t token = *in++;
		size_t literals = token >> 4, match = token & 15, distance;

		size_t room;

		if (!take_length(&in, end, &literals))
			break;
		room = literals < (size_t)(end - in) ? literals : (size_t)(end - in);
		room = room < (size_t)(limit - at) ? room : (size_t)(limit - at);
		memcpy(at, in, room);
		at += room;
		in += room;
		good = room == literals && in == end; /* the last sequence is literals alone */
		if (good || room < literals || end - in < 2)
			break;
		distance = (size_t)in[0] | (size_t)in[1] << 8;
		in += 2;
		if (!take_length(&in, end, &match))
			break;
		match += LEAST_MATCH;
		if (distance == 0 || distance > (size_t)(at - out))
			break;
		/* What is copied may be what is being written. */
		for (; match > 0 && at < limit; match--, at++)
			*at = *(at - distance);
		if (match > 0)
			break;
	}
	*n_out = (size_t)(at - out);
	return good;
}
