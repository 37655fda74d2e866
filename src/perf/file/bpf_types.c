/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BTF; see bpf_types.h. Types are numbered from 1 in their order, and are of many sizes: one pass. */
#include "config.h"

#include "perf/file/bpf_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

#define MAGIC      0xeb9fu
#define HEAD_BYTES 24
#define KIND_FUNC  12

/* Bytes that follow a type of each kind: so many at once, and so many for each of its members. */
static const struct {
	uint8_t fixed, each;
} behind[] = {
	[1] = { 4, 0 } /* INT */,       [3] = { 12, 0 } /* ARRAY */,
	[4] = { 0, 12 } /* STRUCT */,   [5] = { 0, 12 } /* UNION */,
	[6] = { 0, 8 } /* ENUM */,      [13] = { 0, 8 } /* FUNC_PROTO */,
	[14] = { 4, 0 } /* VAR */,      [15] = { 0, 12 } /* DATASEC */,
	[17] = { 4, 0 } /* DECL_TAG */, [18] = { 0, 0 } /* TYPE_TAG */,
	[19] = { 0, 12 } /* ENUM64 */,
};

/* One program's, or the kernel's. */
struct btf {
	uint32_t id;
	const char *strings;
	size_t n_strings;        /* bytes */
	VEC(uint32_t) functions; /* by type - 1: offset of the name + 1; 0: no function */
};

struct bpf_types {
	VEC(struct btf) all; /* by id */
};

static bool take_types(struct btf *t, struct bytes b)
{
	while (bytes_left(&b) > 0) {
		uint32_t name = take_u32(&b), info = take_u32(&b), kind = info >> 24 & 0x1f;

		take_u32(&b); /* size or type */
		if (kind < sizeof(behind) / sizeof(*behind))
			take_bytes(&b, behind[kind].fixed +
					       (size_t)behind[kind].each * (info & 0xffff));
		else
			b.bad = true;
		if (b.bad)
			return false;
		vec_push(&t->functions, kind == KIND_FUNC && name < UINT32_MAX ? name + 1 : 0);
	}
	return true;
}

static bool take_btf(struct btf *t, const uint8_t *at, size_t n, bool swap)
{
	struct bytes b = bytes_over(at, n, swap);
	uint32_t head, types, n_types, strings, n_strings;
	uint16_t magic = take_u16(&b);

	if (magic != MAGIC && __builtin_bswap16(magic) == MAGIC)
		b.swap = !b.swap;
	else if (magic != MAGIC)
		return false;
	take_u16(&b); /* version, flags */
	head = take_u32(&b);
	types = take_u32(&b);
	n_types = take_u32(&b);
	strings = take_u32(&b);
	n_strings = take_u32(&b);
	if (b.bad || head < HEAD_BYTES || head > n || types > n - head ||
	    n_types > n - head - types || strings > n - head || n_strings > n - head - strings)
		return false;
	t->strings = (const char *)at + head + strings;
	t->n_strings = n_strings;
	return take_types(t, bytes_over(at + head + types, n_types, b.swap));
}

static int by_id(const void *x, const void *y)
{
	const struct btf *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

struct bpf_types *bpf_types_new(const uint8_t *bytes, size_t n, bool swap, bool *good)
{
	struct bytes b = bytes_over(bytes, n, swap);
	struct bpf_types *t = xcalloc(1, sizeof(*t));
	uint32_t count = n > 0 ? take_u32(&b) : 0;

	*good = true;
	for (uint32_t i = 0; i < count && !b.bad; i++) {
		struct btf btf = { .id = take_u32(&b) };
		uint32_t size = take_u32(&b);
		const uint8_t *at = take_bytes(&b, size);

		if (!at)
			break;
		*good = take_btf(&btf, at, size, swap) && *good;
		vec_push(&t->all, btf);
	}
	if (t->all.n > 0)
		qsort(t->all.at, t->all.n, sizeof(*t->all.at), by_id);
	*good = *good && !b.bad;
	return t;
}

void bpf_types_free(struct bpf_types *t)
{
	for (size_t i = 0; i < t->all.n; i++)
		vec_done(&t->all.at[i].functions);
	vec_done(&t->all);
	free(t);
}

static const struct btf *find(const struct bpf_types *t, uint32_t id)
{
	struct btf key = { .id = id };

	return t->all.n > 0 ? bsearch(&key, t->all.at, t->all.n, sizeof(key), by_id) : NULL;
}

static const char *string_at(const struct btf *b, uint32_t offset)
{
	if (offset >= b->n_strings || !memchr(b->strings + offset, '\0', b->n_strings - offset))
		return NULL;
	return b->strings + offset;
}

const char *bpf_types_string(const struct bpf_types *t, uint32_t id, uint32_t offset)
{
	const struct btf *b = find(t, id);

	return b ? string_at(b, offset) : NULL;
}

const char *bpf_types_function(const struct bpf_types *t, uint32_t id, uint32_t type)
{
	const struct btf *b = find(t, id);

	if (!b || type == 0 || type > b->functions.n || b->functions.at[type - 1] == 0)
		return NULL;
	return string_at(b, b->functions.at[type - 1] - 1);
}
