/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packing of published rows, and reading of rows in batches.
 *
 * Rows stand in the plain columns first. The writer packs all whole blocks before each publication; readers learn with
 * the counts up to where rows are packed. The memory of the plain columns below is given back when nobody holds counts
 * of before any more: such a reader still looks for the rows there.
 */
#include "config.h"

#include "profile/sample_rows.h"

#include "profile/store.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* Signed numbers stand in the order of unsigned ones: the sign is turned over. */
#define SIGN        (UINT64_C(1) << 63)
/* Rows whose plain columns are given back at once. */
#define FORGET_ROWS (16 * (uint64_t)SAMPLE_ROWS_BATCH)

static uint64_t load(const uint8_t *at)
{
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	return le64toh(x);
}

/* Packing. */

/* A plain column of the block, or a constant. */
struct plain {
	const void *at; /* first element, or NULL */
	size_t bytes;   /* of an element */
	uint64_t usual; /* where at is NULL */
};

/* The values of a column of the block, signed ones in the order of unsigned ones. */
static void gather(const struct plain *c, uint64_t *value)
{
	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH && c->bytes == 2; i++)
		value[i] = ((const uint16_t *)c->at)[i];
	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH && c->bytes == 4; i++)
		value[i] = ((const uint32_t *)c->at)[i];
	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH && c->bytes == 8; i++)
		value[i] = ((const uint64_t *)c->at)[i] ^ SIGN;
}

static struct plain plain_of(const struct column *c, uint64_t row, uint64_t usual)
{
	if (!c->base)
		return (struct plain){ .usual = usual };
	return (struct plain){ (const char *)c->base + row * c->element_bytes, c->element_bytes,
			       usual };
}

/* How many bits the differences from the least value need. */
static uint8_t measure(const uint64_t *value, uint64_t *least)
{
	uint64_t low = value[0], high = value[0];
	int bits;

	for (uint32_t i = 1; i < SAMPLE_ROWS_BATCH; i++) {
		low = value[i] < low ? value[i] : low;
		high = value[i] > high ? value[i] : high;
	}
	*least = low;
	bits = high > low ? 64 - __builtin_clzll(high - low) : 0;
	return bits > (int)STORE_BLOCK_WIDEST ? 64 : (uint8_t)bits;
}

/* A batch takes whole words, whatever bits are. */
static void put(const uint64_t *value, uint64_t least, unsigned bits, uint8_t *to)
{
	uint64_t word = 0, bytes;
	unsigned used = 0;

	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH && bits > 0; i++) {
		uint64_t x = value[i] - least;

		word |= x << used;
		used += bits;
		if (used < 64)
			continue;
		bytes = htole64(word);
		memcpy(to, &bytes, sizeof(bytes));
		to += sizeof(bytes);
		used -= 64;
		word = used > 0 ? x >> (bits - used) : 0;
	}
}

/* Packs a column behind the bytes so far; false: there is no room. */
static bool pack_column(struct store_rows *r, const struct plain *c, struct packed_block *b,
			enum place place)
{
	uint64_t value[SAMPLE_ROWS_BATCH];

	b->least[place] = c->usual;
	if (!c->at)
		return true;
	gather(c, value);
	b->bits[place] = measure(value, &b->least[place]);
	if (column_extend(&r->packed, r->packed_bytes + store_block_column_bytes(b->bits[place]) +
					      STORE_BLOCK_SPARE) < 0)
		return false;
	put(value, b->least[place], b->bits[place], (uint8_t *)r->packed.base + r->packed_bytes);
	r->packed_bytes += store_block_column_bytes(b->bits[place]);
	return true;
}

/* The rows from the first that is not packed; false: there is no room. */
static bool pack_block(struct store_rows *r)
{
	uint64_t row = r->n_packed, n = row / SAMPLE_ROWS_BATCH;
	const struct plain plain[N_PLACES] = {
		[PLACE_STACK] = plain_of(&r->row_stack, row, 0),
		[PLACE_THREAD] = plain_of(&r->row_thread, row, ID_NONE),
		[PLACE_EVENT] = plain_of(&r->row_event, row, 0),
		[PLACE_CPU] = plain_of(&r->row_cpu, row, CPU_NONE),
		[PLACE_TIME] = plain_of(&r->row_time, row, (uint64_t)TIME_NONE ^ SIGN),
		[PLACE_WEIGHT] = plain_of(&r->versions->weight, row, 0),
	};
	struct packed_block b = { .offset = r->packed_bytes,
				  .has_weight = r->versions->weight.base,
				  .scale = r->versions->scale.base };

	for (int i = 0; i < N_PLACES; i++)
		if (!pack_column(r, &plain[i], &b, (enum place)i)) {
			r->packed_bytes = b.offset;
			return false;
		}
	if (column_extend(&r->blocks, n + 1) < 0)
		return false;
	STORE_AT(struct packed_block, r->blocks, n) = b;
	r->packed_bytes += STORE_BLOCK_SPARE;
	r->n_packed += SAMPLE_ROWS_BATCH;
	return true;
}

void store_rows_pack(struct profile *p)
{
	/* What goes on for long is folded instead, which wants plain columns. */
	if (p->folding.keep_ns != 0 || p->folding.n_stacks > 0)
		return;
	while (p->now.n_samples - p->samples.n_packed >= SAMPLE_ROWS_BATCH)
		if (!pack_block(&p->samples))
			return;
}

void store_rows_forget(struct profile *p, uint64_t n)
{
	struct store_rows *r = &p->samples;
	struct column *columns[] = { &r->row_stack, &r->row_thread, &r->row_event,
				     &r->row_cpu,   &r->row_time,   &r->versions->weight };

	if (n < r->n_forgotten + FORGET_ROWS)
		return;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		column_forget(columns[i], r->n_forgotten, n);
	r->n_forgotten = n;
}

/* Reading. */

/* Where the column of a block begins. */
static uint64_t begin_of(const struct packed_block *b, enum place place)
{
	uint64_t offset = b->offset;

	for (int i = 0; i < (int)place; i++)
		offset += store_block_column_bytes(b->bits[i]);
	return offset;
}

/* Values [first, first + n) of a packed column, as an element's type. */
#define UNPACK(name, type, flip) \
	static void name(const struct sample_columns *from, const struct packed_block *b, \
			 enum place place, uint32_t first, uint32_t n, type *to) \
	{ \
		const uint8_t *at = from->packed + begin_of(b, place); \
		uint64_t least = b->least[place]; \
		unsigned bits = b->bits[place]; \
		uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX; \
		uint64_t bit = (uint64_t)first * bits; \
\
		for (uint32_t i = 0; i < n && bits == 0; i++) \
			to[i] = (type)(least ^ (flip)); \
		for (uint32_t i = 0; i < n && bits > 0; i++, bit += bits) \
			to[i] = (type)(((load(at + bit / 8) >> bit % 8 & mask) + least) ^ (flip)); \
	}

UNPACK(unpack_u16, uint16_t, 0)
UNPACK(unpack_u32, uint32_t, 0)
UNPACK(unpack_i64, int64_t, SIGN)

/* Weights in the scale that readers are told; the events are read. */
static void unpack_weights(const struct sample_columns *from, const struct packed_block *b,
			   uint32_t first, uint32_t n, const uint16_t *event, int64_t *to)
{
	if (b->has_weight)
		unpack_i64(from, b, PLACE_WEIGHT, first, n, to);
	for (uint32_t i = 0; i < n && !b->has_weight; i++)
		to[i] = from->scale[event[i]];
	for (uint32_t i = 0; i < n && b->has_weight && b->scale != from->scale; i++)
		to[i] *= from->scale[event[i]] / b->scale[event[i]];
}

/* n rows of one block to place i of the batch. */
static void unpack(struct sample_rows *to, const struct sample_columns *from, uint64_t row,
		   uint32_t i, uint32_t n, unsigned columns)
{
	const struct packed_block *b = &from->blocks[row / SAMPLE_ROWS_BATCH];
	uint32_t first = (uint32_t)(row % SAMPLE_ROWS_BATCH);

	if (columns & ROWS_STACK)
		unpack_u32(from, b, PLACE_STACK, first, n, to->unpacked.stack + i);
	if (columns & ROWS_THREAD && from->thread)
		unpack_u32(from, b, PLACE_THREAD, first, n, to->unpacked.thread + i);
	if (columns & (ROWS_EVENT | ROWS_WEIGHT))
		unpack_u16(from, b, PLACE_EVENT, first, n, to->unpacked.event + i);
	if (columns & ROWS_CPU && from->cpu)
		unpack_u16(from, b, PLACE_CPU, first, n, to->unpacked.cpu + i);
	if (columns & ROWS_TIME && from->time_ns)
		unpack_i64(from, b, PLACE_TIME, first, n, to->unpacked.time_ns + i);
	if (columns & ROWS_WEIGHT && from->weight)
		unpack_weights(from, b, first, n, to->unpacked.event + i, to->unpacked.weight + i);
}

/* The pointers to the plain columns at a row. */
static void point(struct sample_rows *to, const struct sample_columns *from, uint64_t row)
{
	to->scale = from->scale;
	to->stack = from->stack ? from->stack + row : NULL;
	to->thread = from->thread ? from->thread + row : NULL;
	to->event = from->event ? from->event + row : NULL;
	to->cpu = from->cpu ? from->cpu + row : NULL;
	to->weight = from->weight ? from->weight + row : NULL;
	to->time_ns = from->time_ns ? from->time_ns + row : NULL;
}

#define COPY(column) \
	do { \
		if (to->column) \
			memcpy(to->unpacked.column + i, to->column, n * sizeof(*to->column)); \
		to->column = to->column ? to->unpacked.column : NULL; \
	} while (0)

/* What the pointers point to, n rows, is copied to place i of the batch, and they point to the batch. */
static void copy(struct sample_rows *to, uint32_t i, uint32_t n)
{
	COPY(stack);
	COPY(thread);
	COPY(event);
	COPY(cpu);
	COPY(weight);
	COPY(time_ns);
}

void sample_rows_read(struct sample_rows *to, const struct sample_columns *from, uint64_t begin,
		      uint32_t n, unsigned columns)
{
	uint32_t i = 0;

	assert(n <= SAMPLE_ROWS_BATCH);
	while (i < n && begin + i < from->n_packed) {
		uint64_t left = SAMPLE_ROWS_BATCH - (begin + i) % SAMPLE_ROWS_BATCH;
		uint32_t some = n - i < left ? n - i : (uint32_t)left;

		unpack(to, from, begin + i, i, some, columns);
		i += some;
	}
	point(to, from, begin + i);
	if (i > 0)
		copy(to, i, n - i);
}
