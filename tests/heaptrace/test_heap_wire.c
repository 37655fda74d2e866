/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heap traces: what is written is read again; what is cut or spoilt at any place is noticed. */
#include "config.h"

#include "heaptrace/heap_events.h"
#include "heaptrace/heap_records.h"
#include "heaptrace/heap_wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct heap_file_header file = {
	.version = 1,
	.unit_ns = 1000,
	.start_ns = 0x1122334455667788,
	.start_mono = 0x99aabbccddeeff,
	.run = 0x0123456789abcdef,
	.pid = 4711,
	.arch = HEAP_AARCH64,
	.stop = HEAP_STOP_KILLED,
	.signal = 9,
	.id_chunk_bits = 16,
};

Test(heap_wire, file_header_comes_back_and_every_change_is_noticed)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE], spoilt[HEAP_FILE_HEADER_SIZE];
	struct heap_file_header h;

	heap_put_file_header(bytes, &file);
	cr_assert_eq(heap_take_file_header(bytes, sizeof(bytes), &h), HEAP_OK);
	cr_expect_eq(h.unit_ns, 1000);
	cr_expect_eq(h.start_ns, file.start_ns);
	cr_expect_eq(h.start_mono, file.start_mono);
	cr_expect_eq(h.run, file.run);
	cr_expect_eq(h.pid, 4711);
	cr_expect_eq(h.arch, HEAP_AARCH64);
	cr_expect_eq(h.id_chunk_bits, 16);
	cr_expect_eq(h.stop, HEAP_STOP_KILLED);
	cr_expect_eq(h.signal, 9);
	for (size_t n = 0; n < sizeof(bytes); n++)
		cr_expect_eq(heap_take_file_header(bytes, n, &h), HEAP_CUT, "%zu bytes", n);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		memcpy(spoilt, bytes, sizeof(bytes));
		spoilt[i] ^= 0x40;
		cr_expect_neq(heap_take_file_header(spoilt, sizeof(spoilt), &h), HEAP_OK,
			      "byte %zu", i);
	}
}

Test(heap_wire, file_headers_that_cannot_be_are_refused)
{
	static const struct {
		uint32_t version, unit_ns;
		uint8_t id_bits;
		enum heap_fault fault;
	} cases[] = {
		{ 1, 1, 8, HEAP_OK },           { 1, 1000000000, 32, HEAP_OK },
		{ 3, 1000, 16, HEAP_TOO_NEW },  { 0, 1000, 16, HEAP_MALFORMED },
		{ 1, 0, 16, HEAP_MALFORMED },   { 1, 1000000001, 16, HEAP_MALFORMED },
		{ 1, 1000, 7, HEAP_MALFORMED }, { 1, 1000, 33, HEAP_MALFORMED },
	};
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct heap_file_header h = file, out;

		h.version = cases[i].version;
		h.unit_ns = cases[i].unit_ns;
		h.id_chunk_bits = cases[i].id_bits;
		heap_put_file_header(bytes, &h);
		cr_expect_eq(heap_take_file_header(bytes, sizeof(bytes), &out), cases[i].fault,
			     "case %zu", i);
	}
	cr_expect_eq(heap_take_file_header((const uint8_t *)"PERFILE2", 8,
					   &(struct heap_file_header){ 0 }),
		     HEAP_NOT_OURS);
}

Test(heap_wire, numbers)
{
	static const struct {
		uint64_t v;
		size_t n;
	} cases[] = {
		{ 0, 1 },     { 127, 1 },        { 128, 2 },         { 16383, 2 },
		{ 16384, 3 }, { UINT32_MAX, 5 }, { UINT64_MAX, 10 }, { UINT64_C(1) << 63, 10 },
		{ 300, 2 },   { INT64_MAX, 9 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[16];
		struct heap_out o = heap_out_over(bytes, sizeof(bytes));
		struct heap_in in;

		heap_put_number(&o, cases[i].v);
		cr_expect_eq(heap_out_n(&o), cases[i].n, "%zu", i);
		in = heap_in_over(bytes, heap_out_n(&o));
		cr_expect_eq(heap_take_number(&in), cases[i].v);
		cr_expect(!in.bad && in.at == in.end);
		in = heap_in_over(bytes, heap_out_n(&o) - 1);
		heap_take_number(&in);
		cr_expect(in.bad);
		cr_expect_eq(heap_unzigzag(heap_zigzag(cases[i].v)), cases[i].v);
	}
	/* 65 bits, and a number that never ends. */
	for (unsigned last = 2; last < 0x100; last += 0x7d) {
		uint8_t bytes[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, (uint8_t)last, 0 };
		struct heap_in in = heap_in_over(bytes, sizeof(bytes));

		heap_take_number(&in);
		cr_expect(in.bad, "last byte %u", last);
	}
}

/* A block of two columns, stored; returns its size. */
static uint32_t make_block(uint8_t *out, struct heap_block *b)
{
	static const uint8_t data[] = "opsrecordsandmore";

	*b = (struct heap_block){
		.type = HEAP_BLOCK_EVENTS,
		.n_columns = 2,
		.number = 7,
		.first_time = 1000,
		.last_time = 2000,
		.first_id = UINT64_C(1) << 40,
		.bytes = 1 << 20,
		.thread = 3,
		.n = 3,
		.n_allocs = 2,
		.n_frees = 1,
		.column = { { .id = HEAP_COL_OP, .n_stored = 3, .n_raw = 3 },
			    { .id = 200, .codec = HEAP_ZSTD, .n_stored = 14, .n_raw = 5000 } },
	};
	memcpy(out + heap_block_head(2), data, 17);
	return heap_seal_block(out, b);
}

Test(heap_wire, blocks_come_back)
{
	uint8_t bytes[512];
	struct heap_block made, b;
	size_t need;
	uint32_t size = make_block(bytes, &made);

	cr_assert_eq(size, heap_block_head(2) + 17);
	cr_assert_eq(heap_take_block(bytes, size, true, &b, &need), HEAP_OK);
	cr_expect_eq(need, size);
	cr_expect_eq(b.type, HEAP_BLOCK_EVENTS);
	cr_expect_eq(b.number, 7);
	cr_expect_eq(b.first_time, 1000);
	cr_expect_eq(b.last_time, 2000);
	cr_expect_eq(b.first_id, UINT64_C(1) << 40);
	cr_expect_eq(b.bytes, 1 << 20);
	cr_expect_eq(b.thread, 3);
	cr_expect_eq(b.n, 3);
	cr_expect_eq(b.n_allocs, 2);
	cr_expect_eq(b.n_frees, 1);
	cr_assert_eq(b.n_columns, 2);
	cr_expect(memcmp(b.column[0].bytes, "ops", 3) == 0);
	cr_expect_eq(heap_block_column(&b, 200), &b.column[1]);
	cr_expect_eq(b.column[1].n_raw, 5000);
	cr_expect(memcmp(b.column[1].bytes, "records", 7) == 0);
	cr_expect_null(heap_block_column(&b, HEAP_COL_TIME));
}

Test(heap_wire, blocks_that_are_cut_say_how_much_is_missing)
{
	uint8_t bytes[512];
	struct heap_block made, b = { .number = 99 };
	size_t need;
	uint32_t size = make_block(bytes, &made);

	for (size_t n = 0; n < size; n++) {
		cr_expect_eq(heap_take_block(bytes, n, true, &b, &need), HEAP_CUT, "%zu", n);
		cr_expect_eq(need, n < HEAP_BLOCK_HEADER_SIZE ? HEAP_BLOCK_HEADER_SIZE : size);
	}
	cr_expect_eq(b.number, 99);
	/* The table alone, for readers that step over. */
	cr_expect_eq(heap_take_block(bytes, heap_block_head(2) - 1, false, &b, &need), HEAP_CUT);
	cr_expect_eq(heap_take_block(bytes, heap_block_head(2), false, &b, &need), HEAP_OK);
	cr_expect_eq(need, size);
}

Test(heap_wire, blocks_that_are_spoilt_anywhere_are_noticed)
{
	uint8_t bytes[512], spoilt[512];
	struct heap_block made, b;
	size_t need;
	uint32_t size = make_block(bytes, &made);

	for (uint32_t i = 0; i < size; i++) {
		enum heap_fault fault;

		if (i >= 16 && i < 24) /* the number, which the checksum leaves out */
			continue;
		memcpy(spoilt, bytes, size);
		spoilt[i] ^= 0x10;
		fault = heap_take_block(spoilt, size, true, &b, &need);
		cr_expect_neq(fault, HEAP_OK, "byte %u", i);
		if (fault == HEAP_CHECKSUM)
			cr_expect_eq(need, size, "byte %u", i);
	}
}

Test(heap_wire, blocks_whose_lengths_cannot_be_are_refused)
{
	static const struct {
		const char *what;
		unsigned at;
		uint32_t v;
	} cases[] = {
		{ "less than a header", 4, HEAP_BLOCK_HEADER_SIZE - 1 },
		{ "less than its table", 4, HEAP_BLOCK_HEADER_SIZE + 23 },
		{ "more than a block may be", 4, HEAP_MAX_BLOCK + 1 },
		{ "much more", 4, UINT32_MAX },
		{ "more than its columns", 4, HEAP_BLOCK_HEADER_SIZE + 24 + 18 },
		{ "too many columns", 26, HEAP_MAX_COLUMNS + 1 },
		{ "a column past the end", HEAP_BLOCK_HEADER_SIZE + 12 + 8, UINT32_MAX },
		{ "a column that is too large unpacked", HEAP_BLOCK_HEADER_SIZE + 12 + 4,
		  HEAP_MAX_COLUMN + 1 },
		{ "a stored column of two lengths", HEAP_BLOCK_HEADER_SIZE + 4, 4 },
	};
	uint8_t bytes[512];
	struct heap_block b;
	size_t need;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make_block(bytes, &b);
		memcpy(bytes + cases[i].at, &cases[i].v, sizeof(cases[i].v));
		cr_expect_eq(heap_take_block(bytes, sizeof(bytes), false, &b, &need),
			     HEAP_MALFORMED, "%s", cases[i].what);
	}
}

Test(heap_wire, a_block_that_is_too_large_is_not_sealed)
{
	uint8_t bytes[512];
	struct heap_block b = {
		.n_columns = 2,
		.column = { { .n_stored = HEAP_MAX_BLOCK }, { .n_stored = 1 } },
	};

	cr_expect_eq(heap_seal_block(bytes, &b), 0);
}

#define ID (UINT64_C(5) << 16)

static const struct heap_event events[] = {
	{ .time = 10, .id = ID, .address = 0x7f0000001010, .size = 64, .stack = 5 },
	{ .time = 10, .op = HEAP_FREE, .id = ID },
	{ .time = 10, .id = ID + 1, .address = 0x7f0000001010, .size = 64, .stack = 5 },
	{ .time = 12, .op = HEAP_FREE, .id = ID + 1, .stack = 9 },
	{ .time = 12, .op = HEAP_FREE, .id = 17, .stack = 9 },
	{ .time = 900000, .op = HEAP_FREE, .id = UINT64_C(1) << 41, .stack = 1 },
	{ .time = 900000, .op = HEAP_FREE_ADDRESS, .old_address = 0x5555, .stack = UINT32_MAX },
	{ .time = 900001, .id = ID + 2, .address = 1, .size = UINT64_MAX, .kind = HEAP_CUSTOM },
	{ .time = 900001,
	  .op = HEAP_REALLOC,
	  .id = ID + 3,
	  .old_id = ID + 2,
	  .early = 900001,
	  .address = UINT64_MAX,
	  .kind = HEAP_CALLOC },
	{ .time = 900002,
	  .op = HEAP_REALLOC_ADDRESS,
	  .id = ID + 4,
	  .old_address = 8,
	  .address = 24,
	  .size = 3,
	  .stack = 4 },
	{ .time = 900002, .op = HEAP_EVICT, .id = ID + 4, .address = 24 },
	{ .time = 900002,
	  .op = HEAP_RANGE,
	  .kind = HEAP_REMAP,
	  .address = 0x1000,
	  .size = 4096,
	  .old_address = 0x2000,
	  .old_size = UINT64_MAX,
	  .stack = 4 },
	{ .time = 900003, .op = HEAP_GAP, .id = ID + 5, .size = 1000 },
	{ .time = UINT64_MAX,
	  .id = ID + 1005,
	  .address = 48,
	  .size = 3,
	  .stack = 4,
	  .kind = HEAP_ALIGNED },
};
#define N_EVENTS (sizeof(events) / sizeof(*events))

/* The events above as a block in memory; columns are those of the writer. */
static void *write_events(struct heap_event_writer *w, struct heap_in column[HEAP_N_EVENT_COLUMNS])
{
	void *memory = malloc(heap_event_memory(64));

	cr_assert_not_null(memory);
	heap_event_writer_init(w, memory, 64, 2, ID, 3);
	for (size_t i = 0; i < N_EVENTS; i++)
		cr_assert(heap_write_event(w, &events[i]), "event %zu", i);
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++) {
		column[i] = heap_in_over(w->column[i].begin, heap_out_n(&w->column[i]));
		w->block.column[i].id = (uint8_t)i;
		cr_assert(!w->column[i].full);
	}
	w->block.n_columns = HEAP_N_EVENT_COLUMNS;
	return memory;
}

static void expect_event(const struct heap_event *e, const struct heap_event *want, size_t i)
{
	cr_expect_eq(e->op, want->op, "event %zu: op %u", i, e->op);
	cr_expect_eq(e->time, want->time, "event %zu: time %lu", i, (unsigned long)e->time);
	cr_expect_eq(e->id, want->id, "event %zu: id %lx", i, (unsigned long)e->id);
	cr_expect_eq(e->address, want->address, "event %zu: address", i);
	cr_expect_eq(e->size, want->size, "event %zu: size", i);
	cr_expect_eq(e->old_id, want->old_id, "event %zu: old id", i);
	cr_expect_eq(e->old_address, want->old_address, "event %zu: old address", i);
	cr_expect_eq(e->old_size, want->old_size, "event %zu: old size, or how early", i);
	cr_expect_eq(e->stack, want->stack, "event %zu: stack %u", i, e->stack);
	cr_expect_eq(e->kind, want->kind, "event %zu: kind %u", i, e->kind);
}

Test(heap_wire, events_come_back)
{
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_event out[N_EVENTS + 1];
	struct heap_event_reader r;
	struct heap_event_writer w;
	void *memory = write_events(&w, column);

	cr_expect_eq(w.block.n, N_EVENTS);
	cr_expect_eq(w.block.n_allocs, 6);
	cr_expect_eq(w.block.n_frees, 7);
	cr_expect_eq(w.block.bytes, 64 + 64 + UINT64_MAX + 0 + 3 + 3);
	cr_expect_eq(w.block.first_time, 3);
	cr_expect_eq(w.block.last_time, UINT64_MAX);
	heap_event_reader_init(&r, &w.block, column);
	cr_expect_eq(heap_read_events(&r, out, 4), 4);
	cr_expect_eq(heap_read_events(&r, out + 4, N_EVENTS), N_EVENTS - 4);
	cr_expect(!r.bad);
	for (size_t i = 0; i < N_EVENTS; i++)
		expect_event(&out[i], &events[i], i);
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		cr_expect_eq(r.column[i].at, r.column[i].end, "column %u has bytes left", i);
	free(memory);
}

/* As in traces that are older than the column. */
Test(heap_wire, reallocs_without_the_time_of_their_end_end_when_they_came_back)
{
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_event out[N_EVENTS];
	struct heap_event_reader r;
	struct heap_event_writer w;
	void *memory = write_events(&w, column);

	column[HEAP_COL_EARLY] = (struct heap_in){ 0 };
	w.block.column[HEAP_COL_EARLY].id = 77;
	heap_event_reader_init(&r, &w.block, column);
	cr_expect_eq(heap_read_events(&r, out, N_EVENTS), N_EVENTS);
	for (size_t i = 0; i < N_EVENTS; i++)
		cr_expect(out[i].op != HEAP_REALLOC || out[i].early == 0);
	free(memory);
}

Test(heap_wire, what_repeats_takes_few_bytes)
{
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_event_writer w;
	void *memory = write_events(&w, column);
	size_t n = 0;

	heap_event_writer_init(&w, memory, 64, 2, ID, 10);
	for (unsigned i = 0; i < 4; i++)
		heap_write_event(&w, &(struct heap_event){ .time = 10,
							   .op = i % 2 ? HEAP_FREE : HEAP_ALLOC,
							   .id = ID + i / 2,
							   .size = 64,
							   .address = 0x5000,
							   .stack = i % 2 ? 0 : 7 });
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		n += heap_out_n(&w.column[i]);
	/* 4 ops, 2 refs, 2 addresses of 2 and 1 bytes, one size, one stack. */
	cr_expect_eq(n, 4 + 2 + (2 + 1) + 1 + 1, "%zu", n);
	free(memory);
}

Test(heap_wire, events_from_cut_columns_are_those_before_the_cut)
{
	for (unsigned c = 1; c < HEAP_N_EVENT_COLUMNS; c++) {
		struct heap_in column[HEAP_N_EVENT_COLUMNS], whole;
		struct heap_event out[N_EVENTS + 1];
		struct heap_event_reader r;
		struct heap_event_writer w;
		void *memory = write_events(&w, column);

		for (whole = column[c]; column[c].end > column[c].at;) {
			size_t n;

			column[c].end--;
			heap_event_reader_init(&r, &w.block, column);
			n = heap_read_events(&r, out, N_EVENTS + 1);
			cr_expect(r.bad && n < N_EVENTS, "column %u of %zu bytes", c,
				  (size_t)(column[c].end - whole.at));
			for (size_t i = 0; i < n; i++)
				expect_event(&out[i], &events[i], i);
		}
		free(memory);
	}
}

Test(heap_wire, events_that_cannot_be_are_refused)
{
	static const struct {
		const char *what;
		uint8_t op, column, bytes[10], n;
	} cases[] = {
		{ "a gap past its limit", HEAP_GAP, HEAP_COL_REF, { 0x81, 0x80, 0x40 }, 3 },
		{ "a ref before the first id",
		  HEAP_FREE,
		  HEAP_COL_REF,
		  { 0x80, 0x80, 0x80, 0x80, 1 },
		  5 },
		{ "a stack past 32 bits",
		  HEAP_OP_HAS_STACK | HEAP_FREE,
		  HEAP_COL_STACK,
		  { 0x80, 0x80, 0x80, 0x80, 0x10 },
		  5 },
		{ "a time past 64 bits",
		  HEAP_OP_HAS_TIME | HEAP_FREE,
		  HEAP_COL_TIME,
		  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
		  10 },
		{ "a range of no kind", HEAP_RANGE, HEAP_COL_RANGE, { 4, 0, 0, 0, 0 }, 5 },
		{ "an allocation without size", HEAP_OP_HAS_SIZE, HEAP_COL_ADDRESS, { 0 }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const uint8_t zero[16] = { 0 };
		struct heap_in column[HEAP_N_EVENT_COLUMNS] = { 0 };
		struct heap_block b = { .n = 1, .first_id = ID, .first_time = 1 };
		struct heap_event_reader r;
		struct heap_event out;

		column[HEAP_COL_REF] = heap_in_over(zero, 1);
		column[cases[i].column] = heap_in_over(cases[i].bytes, cases[i].n);
		column[HEAP_COL_OP] = heap_in_over(&cases[i].op, 1);
		heap_event_reader_init(&r, &b, column);
		cr_expect_eq(heap_read_events(&r, &out, 1), 0, "%s", cases[i].what);
		cr_expect(r.bad, "%s", cases[i].what);
	}
}

Test(heap_wire, a_writer_says_when_it_is_full_and_stays_readable)
{
	static const struct heap_event large = { .time = UINT64_MAX,
						 .op = HEAP_REALLOC,
						 .old_id = UINT64_C(1) << 61,
						 .address = UINT64_MAX,
						 .size = UINT64_MAX,
						 .stack = UINT32_MAX };
	void *memory = malloc(heap_event_memory(100));
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_event_reader r;
	struct heap_event_writer w;
	struct heap_event out[128];
	unsigned n = 0;

	cr_assert_not_null(memory);
	heap_event_writer_init(&w, memory, 100, 1, 1, 0);
	for (; n < 200; n++) {
		struct heap_event e = large;

		e.old_id = n % 2 ? 1 : large.old_id;
		e.size = n % 2 ? 0 : large.size;
		e.stack = n % 2 ? 0 : large.stack;
		e.address = n % 2 ? 0 : large.address / 2;
		if (!heap_write_event(&w, &e))
			break;
	}
	cr_expect_eq(n, 100);
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++) {
		cr_expect(!w.column[i].full, "column %u", i);
		column[i] = heap_in_over(w.column[i].begin, heap_out_n(&w.column[i]));
	}
	w.block.n_columns = 1;
	w.block.column[0].id = HEAP_COL_ADDRESS;
	heap_event_reader_init(&r, &w.block, column);
	cr_expect_eq(heap_read_events(&r, out, 128), 100);
	cr_expect_eq(out[99].old_id, 1);
	cr_expect_eq(out[98].old_id, large.old_id);
	/* Ranges take more than their share of room. */
	heap_event_writer_init(&w, memory, 100, 1, 1, 0);
	for (n = 0; n < 100; n++)
		if (!heap_write_event(
			    &w, &(struct heap_event){ .op = HEAP_RANGE, .address = UINT64_MAX }))
			break;
	cr_expect(n > 10 && n < 100 && !w.column[HEAP_COL_RANGE].full, "%u", n);
	free(memory);
}

static const struct heap_record records[] = {
	{ .type = HEAP_REC_PROCESS,
	  .number = { 0, 4711, 1, 1000, 4096, UINT64_MAX },
	  .text = { { (const uint8_t *)"/bin/true", 9 },
		    { (const uint8_t *)"true\0-x", 7 },
		    { NULL, 0 },
		    { (const uint8_t *)"host", 4 } } },
	{ .type = HEAP_REC_THREAD_END, .number = { 3, 200 } },
	{ .type = HEAP_REC_MARK, .number = { 4, 2 }, .text = { { (const uint8_t *)"phase", 5 } } },
};
#define N_RECORDS (sizeof(records) / sizeof(*records))

static size_t write_records(uint8_t *bytes, size_t n)
{
	struct heap_out o = heap_out_over(bytes, n);

	for (size_t i = 0; i < N_RECORDS; i++)
		cr_assert(heap_put_record(&o, &records[i]));
	return heap_out_n(&o);
}

Test(heap_wire, records_come_back_and_cut_ones_are_noticed)
{
	uint8_t bytes[256];
	size_t size = write_records(bytes, sizeof(bytes));

	for (size_t n = size + 1; n-- > 0;) {
		struct heap_in in = heap_in_over(bytes, n);
		struct heap_record r;
		size_t i = 0;

		for (; heap_take_record(&in, &r); i++) {
			cr_assert_lt(i, N_RECORDS);
			cr_expect(r.known);
			cr_expect_eq(r.type, records[i].type);
			cr_expect(memcmp(r.number, records[i].number, sizeof(r.number)) == 0);
			for (unsigned t = 0; t < HEAP_RECORD_TEXTS; t++) {
				cr_expect_eq(r.text[t].n, records[i].text[t].n);
				cr_expect(r.text[t].n == 0 ||
					  memcmp(r.text[t].at, records[i].text[t].at,
						 r.text[t].n) == 0);
			}
		}
		cr_expect_eq(i == N_RECORDS, n == size, "%zu of %zu bytes: %zu records", n, size,
			     i);
		cr_expect(in.bad || in.at == in.end);
	}
}

Test(heap_wire, records_of_later_versions_are_skipped_and_longer_ones_read)
{
	/* Type 99 of 3 bytes; type 0; THREAD_END with a field more; then one that lies. */
	static const uint8_t bytes[] = {
		99, 3, 1, 2, 3, 0, 0, HEAP_REC_THREAD_END, 3, 9, 8, 7, HEAP_REC_THREAD_END, 1, 9
	};
	struct heap_in in = heap_in_over(bytes, sizeof(bytes));
	struct heap_record r;

	cr_assert(heap_take_record(&in, &r));
	cr_expect(!r.known && r.type == 99);
	cr_assert(heap_take_record(&in, &r));
	cr_expect(!r.known && r.type == 0);
	cr_assert(heap_take_record(&in, &r));
	cr_expect(r.known && r.number[0] == 9 && r.number[1] == 8);
	cr_expect(!heap_take_record(&in, &r));
	cr_expect(in.bad);
}

Test(heap_wire, texts_longer_than_their_record_are_refused)
{
	static const uint8_t bytes[] = { HEAP_REC_MARK, 4, 1, 2, 100, 'x', 0, 0, 0, 0 };
	struct heap_in in = heap_in_over(bytes, sizeof(bytes));
	struct heap_record r;

	cr_expect(!heap_take_record(&in, &r));
	cr_expect(in.bad);
}

Test(heap_wire, a_record_that_does_not_fit_is_not_begun)
{
	uint8_t bytes[256];

	for (size_t n = 0; n < 60; n++) {
		struct heap_out o = heap_out_over(bytes, n);
		struct heap_in in;
		struct heap_record r;
		bool put = heap_put_record(&o, &records[0]);

		cr_expect_eq(heap_out_n(&o) > 0, put, "%zu bytes", n);
		cr_expect(!o.full, "%zu bytes", n);
		in = heap_in_over(bytes, heap_out_n(&o));
		cr_expect_eq(heap_take_record(&in, &r), put);
	}
}

Test(heap_wire, stack_nodes_come_back)
{
	static const struct heap_node nodes[] = {
		{ .ip = 0x401000, .parent = 0 },
		{ .ip = 0x7fffffffffff, .parent = 1 },
		{ .ip = HEAP_IP_ELIDED, .parent = 2 },
		{ .ip = 0x401005, .parent = 0, .exact = true },
		{ .ip = (UINT64_C(1) << 63) - 1, .parent = 4 },
	};
	uint8_t a[64], b[64];
	struct heap_out parents = heap_out_over(a, sizeof(a)), ips = heap_out_over(b, sizeof(b));
	struct heap_node_state s = { .id = 1 };

	for (size_t i = 0; i < 5; i++)
		cr_assert(heap_put_node(&parents, &ips, &s, &nodes[i]));
	for (size_t n = 0; n <= heap_out_n(&ips); n++) {
		struct heap_in p = heap_in_over(a, heap_out_n(&parents)), q = heap_in_over(b, n);
		struct heap_node node;
		size_t i = 0;

		s = (struct heap_node_state){ .id = 1 };
		for (; i < 5 && heap_take_node(&p, &q, &s, &node); i++) {
			cr_expect_eq(node.ip, nodes[i].ip);
			cr_expect_eq(node.parent, nodes[i].parent);
			cr_expect_eq(node.exact, nodes[i].exact);
		}
		cr_expect_eq(i == 5, n == heap_out_n(&ips), "%zu bytes: %zu nodes", n, i);
	}
}

Test(heap_wire, a_parent_that_comes_later_is_refused)
{
	static const uint8_t back[] = { 1 }, ip[] = { 2 };
	struct heap_in p = heap_in_over(back, 1), q = heap_in_over(ip, 1);
	struct heap_node_state s = { .id = 1 };
	struct heap_node node;

	cr_expect(!heap_take_node(&p, &q, &s, &node));
}
