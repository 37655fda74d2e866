/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/made_heap.h"

#include "base/err.h"
#include "formats/heap_trace.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void add_bytes(struct made_heap *h, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&h->bytes, ((const uint8_t *)p)[i]);
}

void made_heap_init(struct made_heap *h)
{
	static const struct heap_file_header file = {
		.version = 1,
		.unit_ns = 1000,
		.start_mono = 1000000000,
		.pid = 7,
		.arch = HEAP_X86_64,
		.id_chunk_bits = 8,
	};
	uint8_t head[HEAP_FILE_HEADER_SIZE];

	*h = (struct made_heap){ .free_stacks = true };
	heap_put_file_header(head, &file);
	add_bytes(h, head, sizeof(head));
}

void made_heap_done(struct made_heap *h)
{
	vec_done(&h->bytes);
}

/* Seals a block whose columns are given unpacked, and adds it. */
static void add_block(struct made_heap *h, struct heap_block *b)
{
	uint8_t *out = xmalloc(HEAP_MAX_BLOCK), *at = out + heap_block_head(b->n_columns);
	uint32_t size;

	for (unsigned i = 0; i < b->n_columns; i++) {
		struct heap_column *c = &b->column[i];

		if (h->packed && c->n_raw > 0) {
			size_t n = ZSTD_compress(at, ZSTD_compressBound(c->n_raw), c->bytes,
						 c->n_raw, 1);

			if (ZSTD_isError(n))
				abort();
			c->codec = HEAP_ZSTD;
			c->n_stored = (uint32_t)n;
		} else {
			memcpy(at, c->bytes, c->n_raw);
			c->n_stored = c->n_raw;
		}
		at += c->n_stored;
	}
	b->number = h->n_blocks++;
	size = heap_seal_block(out, b);
	add_bytes(h, out, size);
	free(out);
}

static void set_column(struct heap_block *b, uint8_t id, const struct heap_out *o)
{
	b->column[b->n_columns++] = (struct heap_column){ .id = id,
							  .bytes = o->begin,
							  .n_raw = (uint32_t)heap_out_n(o) };
}

void made_heap_records(struct made_heap *h, const struct heap_record *r, size_t n)
{
	uint8_t bytes[8192];
	struct heap_out o = heap_out_over(bytes, sizeof(bytes));
	struct heap_block b = { .type = HEAP_BLOCK_RECORDS, .n = (uint32_t)n };

	for (size_t i = 0; i < n; i++)
		if (!heap_put_record(&o, &r[i]))
			abort();
	set_column(&b, HEAP_COL_RECORDS, &o);
	add_block(h, &b);
}

void made_heap_nodes(struct made_heap *h, const struct heap_node *nodes, size_t n)
{
	uint8_t parent_bytes[4096], ip_bytes[4096];
	struct heap_out parents = heap_out_over(parent_bytes, sizeof(parent_bytes));
	struct heap_out ips = heap_out_over(ip_bytes, sizeof(ip_bytes));
	struct heap_node_state state = { .id = h->n_nodes + 1 };
	struct heap_block b = { .type = HEAP_BLOCK_STACKS,
				.n = (uint32_t)n,
				.first_id = h->n_nodes + 1 };

	for (size_t i = 0; i < n; i++)
		if (!heap_put_node(&parents, &ips, &state, &nodes[i]))
			abort();
	h->n_nodes += n;
	set_column(&b, HEAP_COL_PARENT, &parents);
	set_column(&b, HEAP_COL_IP, &ips);
	add_block(h, &b);
}

void made_heap_events(struct made_heap *h, uint32_t thread, uint64_t first_id,
		      const struct heap_event *e, size_t n)
{
	uint32_t max = (uint32_t)n * 8; /* ranges take more room than events do on average */
	void *memory = xmalloc(heap_event_memory(max));
	struct heap_event_writer w;

	heap_event_writer_init(&w, memory, max, thread, first_id, n ? e[0].time : 0);
	for (size_t i = 0; i < n; i++)
		if (!heap_write_event(&w, &e[i]))
			abort();
	w.block.n_columns = 0;
	for (uint8_t i = 1; i < HEAP_N_EVENT_COLUMNS; i++)
		if (heap_out_n(&w.column[i]) > 0)
			set_column(&w.block, i, &w.column[i]);
	add_block(h, &w.block);
	free(memory);
}

void made_heap_skipped(struct made_heap *h, uint32_t n, uint64_t last_time)
{
	struct heap_block b = { .type = HEAP_BLOCK_SKIPPED, .n = n, .last_time = last_time };

	add_block(h, &b);
}

static struct heap_text text(const char *s)
{
	return (struct heap_text){ (const uint8_t *)s, strlen(s) };
}

void made_heap_begin(struct made_heap *h)
{
	const struct heap_record records[] = {
		{ .type = HEAP_REC_PROCESS,
		  .number = { 0, 7, 1, 0, 4096, 2 },
		  .text = { text("/bin/prog"), text("prog"), text("/"), text("here") } },
		{ .type = HEAP_REC_OPTIONS, .number = { 0, 0, h->free_stacks, 1 } },
		{ .type = HEAP_REC_THREAD, .number = { 0, 1, 7 }, .text = { text("main") } },
		{ .type = HEAP_REC_THREAD, .number = { 0, 2, 8 }, .text = { text("worker") } },
		{ .type = HEAP_REC_MODULE, .number = { 0, 1 }, .text = { text("/bin/prog") } },
		{ .type = HEAP_REC_MAP, .number = { 5, 0x1000, 0x1000, 0, 1, 5 } },
	};
	static const struct heap_node nodes[] = {
		{ .ip = 0x1010 },
		{ .ip = 0x1020, .parent = 1 },
		{ .ip = 0x1030, .parent = 2 },
	};

	made_heap_records(h, records, sizeof(records) / sizeof(*records));
	made_heap_nodes(h, nodes, sizeof(nodes) / sizeof(*nodes));
}

void made_heap_end(struct made_heap *h)
{
	const struct heap_record end = { .type = HEAP_REC_END };

	made_heap_records(h, &end, 1);
}

/* As another capture of p. */
static int read_into(struct profile *p, const void *bytes, size_t n, const struct read_options *o,
		     struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	capture_id c;
	int rc;

	builder_begin(p);
	c = build_capture(p, "x", "heap");
	builder_end(p);
	rc = format_heap_trace.read(in, p, c, o, NULL, e);
	input_close(in);
	return rc;
}

int made_heap_read_bytes(const void *bytes, size_t n, const struct read_options *o,
			 struct profile **p, struct err *e)
{
	*p = profile_new();
	return read_into(*p, bytes, n, o, e);
}

void made_heap_read_again(const struct made_heap *h, struct profile *p)
{
	struct err e = ERR_INIT;

	cr_assert_eq(read_into(p, h->bytes.at, h->bytes.n, NULL, &e), 0, "%s", err_text(&e));
}

struct profile *made_heap_read(const struct made_heap *h)
{
	struct err e = ERR_INIT;
	struct profile *p;

	cr_assert_eq(made_heap_read_bytes(h->bytes.at, h->bytes.n, NULL, &p, &e), 0, "%s",
		     err_text(&e));
	return p;
}

bool made_heap_same(const struct heap_columns *a, const struct heap_columns *b)
{
	if (a->n_allocations != b->n_allocations)
		return false;
	for (uint32_t i = 0; i < a->n_allocations; i++)
		if (allocation_begin(a, i) != allocation_begin(b, i) ||
		    allocation_end(a, i, UINT32_MAX) != allocation_end(b, i, UINT32_MAX) ||
		    allocation_size(a, i) != allocation_size(b, i) ||
		    allocation_origin(a, i) != allocation_origin(b, i))
			return false;
	return true;
}

const char *made_heap_fact(const struct profile *p, const char *name)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (strcmp(profile_string(p, f.name, NULL), name) == 0)
			return profile_string(p, f.text, NULL);
	}
	return NULL;
}
