/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The container of heap traces. Numbers at fixed places are put together byte by byte, so that the
 * byte order of the machine does not matter; XXH3 is compiled in from its header.
 */
#include "config.h"

#include "heaptrace/heap_wire.h"

#include <string.h>

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

/* Where the fields are; doc/trace-format.md has the same tables. */
enum file_at {
	FILE_MAGIC = 0,
	FILE_VERSION = 8,
	FILE_UNIT = 12,
	FILE_START = 16,
	FILE_MONO = 24,
	FILE_RUN = 32,
	FILE_PID = 40,
	FILE_ARCH = 44,
	FILE_ID_BITS = 45,
	FILE_STOP = 46,
	FILE_SIGNAL = 47,
	FILE_SPENT = 48,
	FILE_BOX = 52,
	FILE_CHECKSUM = 56
};

enum block_at {
	BLOCK_MAGIC = 0,
	BLOCK_SIZE = 4,
	BLOCK_CHECKSUM = 8,
	BLOCK_NUMBER = 16,
	BLOCK_TYPE = 24, /* the checksum is of everything from here on */
	BLOCK_COLUMNS = 26,
	BLOCK_THREAD = 28,
	BLOCK_FIRST_TIME = 32,
	BLOCK_LAST_TIME = 40,
	BLOCK_FIRST_ID = 48,
	BLOCK_BYTES = 56,
	BLOCK_N = 64,
	BLOCK_ALLOCS = 68,
	BLOCK_FREES = 72,
	/* 76 … 87: 0, for later */
};

static void put_fixed(uint8_t *out, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		out[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_fixed(const uint8_t *in, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)in[i] << (8 * i);
	return v;
}

static uint32_t get_u32(const uint8_t *in)
{
	return (uint32_t)get_fixed(in, 4);
}

void heap_put_file_header(uint8_t *out, const struct heap_file_header *h)
{
	memset(out, 0, HEAP_FILE_HEADER_SIZE);
	memcpy(out + FILE_MAGIC, HEAP_FILE_MAGIC, 8);
	put_fixed(out + FILE_VERSION, h->version, 4);
	put_fixed(out + FILE_UNIT, h->unit_ns, 4);
	put_fixed(out + FILE_START, h->start_ns, 8);
	put_fixed(out + FILE_MONO, h->start_mono, 8);
	put_fixed(out + FILE_RUN, h->run, 8);
	put_fixed(out + FILE_PID, h->pid, 4);
	out[FILE_ARCH] = h->arch;
	out[FILE_ID_BITS] = h->id_chunk_bits;
	out[FILE_STOP] = h->stop;
	out[FILE_SIGNAL] = h->signal;
	out[FILE_SPENT] = h->spent;
	put_fixed(out + FILE_BOX, h->box, 4);
	put_fixed(out + FILE_CHECKSUM, XXH3_64bits(out, FILE_CHECKSUM), 8);
}

enum heap_fault heap_take_file_header(const uint8_t *in, size_t n, struct heap_file_header *out)
{
	struct heap_file_header h;
	size_t n_magic = n < 8 ? n : 8;

	if (n_magic && memcmp(in, HEAP_FILE_MAGIC, n_magic) != 0)
		return HEAP_NOT_OURS;
	if (n < HEAP_FILE_HEADER_SIZE)
		return HEAP_CUT;
	h.version = get_u32(in + FILE_VERSION);
	if (h.version > HEAP_FILE_VERSION)
		return HEAP_TOO_NEW;
	if (get_fixed(in + FILE_CHECKSUM, 8) != XXH3_64bits(in, FILE_CHECKSUM))
		return HEAP_CHECKSUM;
	h.unit_ns = get_u32(in + FILE_UNIT);
	h.start_ns = get_fixed(in + FILE_START, 8);
	h.start_mono = get_fixed(in + FILE_MONO, 8);
	h.run = get_fixed(in + FILE_RUN, 8);
	h.pid = get_u32(in + FILE_PID);
	h.arch = in[FILE_ARCH];
	h.id_chunk_bits = in[FILE_ID_BITS];
	h.stop = in[FILE_STOP];
	h.signal = in[FILE_SIGNAL];
	h.spent = in[FILE_SPENT];
	h.box = get_u32(in + FILE_BOX);
	if (h.version == 0 || h.unit_ns == 0 || h.unit_ns > HEAP_MAX_UNIT_NS)
		return HEAP_MALFORMED;
	if (h.id_chunk_bits < 8 || h.id_chunk_bits > 32)
		return HEAP_MALFORMED;
	*out = h;
	return HEAP_OK;
}

const char *heap_stop_text(uint8_t stop)
{
	switch (stop) {
#define X(name, number, sentence) \
	case number: \
		return sentence;
		HEAP_STOPS(X)
#undef X
	}
	return NULL;
}

static uint64_t block_checksum(const uint8_t *block, size_t size)
{
	return XXH3_64bits(block + BLOCK_TYPE, size - BLOCK_TYPE);
}

uint32_t heap_seal_block(uint8_t *out, struct heap_block *b)
{
	uint64_t size = heap_block_head(b->n_columns);

	for (unsigned i = 0; i < b->n_columns; i++) {
		const struct heap_column *c = &b->column[i];
		uint8_t *entry = out + heap_block_head(i);

		size += c->n_stored;
		entry[0] = c->id;
		entry[1] = c->codec;
		put_fixed(entry + 2, 0, 2);
		put_fixed(entry + 4, c->n_raw, 4);
		put_fixed(entry + 8, c->n_stored, 4);
	}
	if (size > HEAP_MAX_BLOCK)
		return 0;
	b->size = (uint32_t)size;
	memset(out, 0, HEAP_BLOCK_HEADER_SIZE);
	put_fixed(out + BLOCK_MAGIC, HEAP_BLOCK_MAGIC, 4);
	put_fixed(out + BLOCK_SIZE, size, 4);
	put_fixed(out + BLOCK_NUMBER, b->number, 8);
	put_fixed(out + BLOCK_TYPE, b->type, 2);
	put_fixed(out + BLOCK_COLUMNS, b->n_columns, 2);
	put_fixed(out + BLOCK_THREAD, b->thread, 4);
	put_fixed(out + BLOCK_FIRST_TIME, b->first_time, 8);
	put_fixed(out + BLOCK_LAST_TIME, b->last_time, 8);
	put_fixed(out + BLOCK_FIRST_ID, b->first_id, 8);
	put_fixed(out + BLOCK_BYTES, b->bytes, 8);
	put_fixed(out + BLOCK_N, b->n, 4);
	put_fixed(out + BLOCK_ALLOCS, b->n_allocs, 4);
	put_fixed(out + BLOCK_FREES, b->n_frees, 4);
	put_fixed(out + BLOCK_CHECKSUM, block_checksum(out, size), 8);
	return b->size;
}

uint64_t heap_block_checksum(const uint8_t *block)
{
	return get_fixed(block + BLOCK_CHECKSUM, 8);
}

void heap_number_block(uint8_t *block, uint64_t number)
{
	put_fixed(block + BLOCK_NUMBER, number, 8);
}

static void take_header(const uint8_t *in, struct heap_block *b)
{
	*b = (struct heap_block){ .size = get_u32(in + BLOCK_SIZE) };
	b->number = get_fixed(in + BLOCK_NUMBER, 8);
	b->type = (uint16_t)get_fixed(in + BLOCK_TYPE, 2);
	b->n_columns = (uint16_t)get_fixed(in + BLOCK_COLUMNS, 2);
	b->thread = get_u32(in + BLOCK_THREAD);
	b->first_time = get_fixed(in + BLOCK_FIRST_TIME, 8);
	b->last_time = get_fixed(in + BLOCK_LAST_TIME, 8);
	b->first_id = get_fixed(in + BLOCK_FIRST_ID, 8);
	b->bytes = get_fixed(in + BLOCK_BYTES, 8);
	b->n = get_u32(in + BLOCK_N);
	b->n_allocs = get_u32(in + BLOCK_ALLOCS);
	b->n_frees = get_u32(in + BLOCK_FREES);
}

/* The column table; false when columns and block do not have the same end. */
static bool take_columns(const uint8_t *in, struct heap_block *b)
{
	uint64_t at = heap_block_head(b->n_columns);

	for (unsigned i = 0; i < b->n_columns; i++) {
		const uint8_t *entry = in + heap_block_head(i);
		struct heap_column *c = &b->column[i];

		c->id = entry[0];
		c->codec = entry[1];
		c->n_raw = get_u32(entry + 4);
		c->n_stored = get_u32(entry + 8);
		c->bytes = in + at;
		at += c->n_stored;
		if (at > b->size || c->n_raw > HEAP_MAX_COLUMN)
			return false;
		if (c->codec == HEAP_STORED && c->n_raw != c->n_stored)
			return false;
	}
	return at == b->size;
}

enum heap_fault heap_take_block(const uint8_t *in, size_t n, bool check, struct heap_block *out,
				size_t *need)
{
	struct heap_block b;

	*need = HEAP_BLOCK_HEADER_SIZE;
	if (n < HEAP_BLOCK_HEADER_SIZE)
		return HEAP_CUT;
	if (get_u32(in + BLOCK_MAGIC) != HEAP_BLOCK_MAGIC)
		return HEAP_NOT_OURS;
	take_header(in, &b);
	if (b.n_columns > HEAP_MAX_COLUMNS || b.size > HEAP_MAX_BLOCK ||
	    b.size < heap_block_head(b.n_columns))
		return HEAP_MALFORMED;
	*need = check ? b.size : heap_block_head(b.n_columns);
	if (n < *need)
		return HEAP_CUT;
	*need = b.size;
	if (check && get_fixed(in + BLOCK_CHECKSUM, 8) != block_checksum(in, b.size)) {
		b.n_columns = 0;
		*out = b;
		return HEAP_CHECKSUM;
	}
	if (!take_columns(in, &b))
		return HEAP_MALFORMED;
	*out = b;
	return HEAP_OK;
}

const struct heap_column *heap_block_column(const struct heap_block *b, uint8_t id)
{
	for (unsigned i = 0; i < b->n_columns; i++)
		if (b->column[i].id == id)
			return &b->column[i];
	return NULL;
}

void heap_put_bytes(struct heap_out *o, const void *p, size_t n)
{
	if (n > (size_t)(o->end - o->at)) {
		o->full = true;
		return;
	}
	if (n)
		memcpy(o->at, p, n);
	o->at += n;
}

uint64_t heap_take_long_number(struct heap_in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->at != in->end; shift += 7) {
		uint8_t byte = *in->at++;

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	in->bad = true;
	in->at = in->end;
	return 0;
}

const uint8_t *heap_take_bytes(struct heap_in *in, uint64_t n)
{
	const uint8_t *p = in->at;

	if (n > (size_t)(in->end - in->at)) {
		in->bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += n;
	return p;
}
