/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Build-ids as values; see build_id.h. Notes: ELF gABI, "Note Section", padded to 4 bytes. */
#include "config.h"

#include "elf/build_id.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"

struct build_id build_id_of(const void *bytes, size_t n)
{
	struct build_id id = { .n = 0 };
	static const uint8_t zeros[4];

	if (n > sizeof(id.bytes))
		n = sizeof(id.bytes);
	memcpy(id.bytes, bytes, n);
	while (n > 4 && n % 4 == 0 && memcmp(id.bytes + n - 4, zeros, 4) == 0)
		n -= 4;
	if (n == 4 && memcmp(id.bytes, zeros, 4) == 0)
		n = 0;
	id.n = (uint8_t)n;
	return id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	struct build_id x, y;

	if (a->n == 0 || b->n == 0)
		return false;
	x = build_id_of(a->bytes, a->n);
	y = build_id_of(b->bytes, b->n);
	return x.n == y.n && x.n > 0 && memcmp(x.bytes, y.bytes, x.n) == 0;
}

const char *build_id_hex(char out[BUILD_ID_HEX_BYTES], const struct build_id *id)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = id->n <= sizeof(id->bytes) ? id->n : sizeof(id->bytes);

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[id->bytes[i] >> 4];
		out[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	out[2 * n] = '\0';
	return out;
}

/* n rounded up to the 4 bytes that names and descriptors are padded to. */
static size_t padded(uint32_t n)
{
	return ((size_t)n + 3) & ~(size_t)3;
}

bool build_id_from_notes(const void *notes, size_t n, bool swap, struct build_id *id)
{
	struct bytes b = bytes_over(notes, n, swap);

	while (bytes_left(&b) > 0) {
		uint32_t name_bytes = take_u32(&b), id_bytes = take_u32(&b);
		uint32_t type = take_u32(&b);
		const uint8_t *name = take_bytes(&b, padded(name_bytes));
		/* The last descriptor of a file need not be padded. */
		const uint8_t *bytes = take_bytes(&b, id_bytes);

		if (b.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0 &&
		    id_bytes > 0) {
			*id = build_id_of(bytes, id_bytes);
			return id->n > 0;
		}
		if (padded(id_bytes) - id_bytes > bytes_left(&b))
			return false;
		take_bytes(&b, padded(id_bytes) - id_bytes);
	}
	return false;
}
