/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rings of which we are the kernel: records of all sizes, again and again past the ring's end. */
#include "config.h"

#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/abi/perf_abi.h"
#include "record/cpu/ring.h"

#define RING_BYTES ((size_t)4096)

/* What the kernel's side is, and what came out of ours. */
struct both {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	struct ring *ring;
	uint32_t written; /* records */
	uint32_t seen;    /* that were shown ahead */
	uint32_t taken;   /* that were taken */
};

static void set_up(struct both *b)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", 0);
	uint8_t *at;

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)(page + RING_BYTES)), 0);
	at = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(at, MAP_FAILED);
	*b = (struct both){ .page = (struct perf_event_mmap_page *)at, .data = at + page };
	cr_assert_eq(ring_map(fd, RING_BYTES, &b->ring), 0);
	close(fd);
}

static void put(struct both *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->data[(b->page->data_head + i) % RING_BYTES] = ((const uint8_t *)p)[i];
	b->page->data_head += n;
}

/* A record with its number in each word; false: no room. */
static bool write_record(struct both *b, uint16_t n_words)
{
	struct perf_event_header h = { .type = PERF_REC_SAMPLE,
				       .size = (uint16_t)(8 * (1 + n_words)) };
	uint64_t word = b->written;

	if (RING_BYTES - (b->page->data_head - b->page->data_tail) < h.size)
		return false;
	put(b, &h, sizeof(h));
	for (uint16_t i = 0; i < n_words; i++)
		put(b, &word, sizeof(word));
	b->written++;
	return true;
}

/* Every record whole, in order, none twice. */
static uint32_t check(const struct perf_records *records, uint32_t next)
{
	struct perf_record r;

	for (size_t at = 0; at < records->n_bytes; at += r.size, next++) {
		cr_assert_leq(perf_record_at(records->at + at, false, &r), records->n_bytes - at);
		for (size_t i = 8; i < r.size; i += 8) {
			uint64_t word;

			memcpy(&word, r.at + i, sizeof(word));
			cr_assert_eq(word, next);
		}
	}
	return next;
}

static void see(void *arg, const struct perf_records *records)
{
	struct both *b = arg;

	b->seen = check(records, b->seen);
}

static void take(void *arg, const struct perf_records *records)
{
	struct both *b = arg;

	b->taken = check(records, b->taken);
}

Test(ring, gives_each_record_once_and_ahead_of_that)
{
	uint32_t seed = 1;
	struct both b;

	set_up(&b);
	for (int turn = 0; turn < 5000; turn++) {
		uint32_t before;

		seed = seed * 1103515245 + 12345;
		for (uint32_t i = seed >> 28; i > 0; i--)
			write_record(&b, (uint16_t)(seed >> (i % 16) & 63));
		ring_turn(b.ring);
		before = b.written;
		write_record(&b, 3); /* comes too late for the turn */
		ring_ahead(b.ring, see, &b);
		cr_assert_eq(b.seen, b.written);
		ring_take(b.ring, take, &b);
		cr_assert_eq(b.taken, before);
	}
	cr_expect_gt(b.written, 10000);
	ring_unmap(b.ring);
}

Test(ring, stops_at_what_is_no_record)
{
	struct perf_event_header none = { .type = PERF_REC_SAMPLE };
	struct both b;

	set_up(&b);
	/* Over the ring's end, where sizes are looked at. */
	while (b.page->data_head < RING_BYTES - 64)
		write_record(&b, 3);
	ring_turn(b.ring);
	ring_take(b.ring, take, &b);
	for (int i = 0; i < 16; i++)
		put(&b, &none, sizeof(none));
	ring_turn(b.ring);
	ring_take(b.ring, take, &b);
	cr_expect_eq(b.taken, b.written);
	ring_unmap(b.ring);
}
