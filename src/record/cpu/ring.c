/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Positions count bytes since the ring was made; the kernel writes up to data_head, and not beyond data_tail and
 * the ring's size (perf_event_open(2), "MMAP layout"). Records are whole words, so a header never wraps; a
 * record that does is shown from a copy.
 */
#include "config.h"

#include "record/cpu/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/abi/perf_abi.h"

#define RECORD_BYTES_MAX 65536

struct ring {
	struct perf_event_mmap_page *page; /* the kernel's, before the data */
	const uint8_t *data;               /* [n_bytes] */
	size_t n_bytes;                    /* of data: a power of two */
	size_t n_mapped;                   /* with the page in front */
	uint64_t taken;                    /* up to here it was taken */
	uint64_t until;                    /* up to here this turn goes */
	uint64_t seen;                     /* up to here it was shown ahead */
	uint8_t wrapped[RECORD_BYTES_MAX]; /* a record that wraps, in one piece */
};

int ring_map(int fd, size_t n_bytes, struct ring **out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct ring *r;

	if (at == MAP_FAILED)
		return -errno;
	r = xcalloc(1, sizeof(*r));
	r->page = at;
	r->data = (const uint8_t *)at + page;
	r->n_bytes = n_bytes;
	r->n_mapped = page + n_bytes;
	*out = r;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (!r)
		return;
	munmap(r->page, r->n_mapped);
	free(r);
}

static void show(ring_fn *each, void *arg, const uint8_t *at, size_t n)
{
	struct perf_records records = { .at = at, .n_bytes = n };

	if (n > 0)
		each(arg, &records);
}

/* Bytes of the whole records in the first n of at; *size: of the one behind, which is not whole. */
static size_t whole_records(const uint8_t *at, size_t n, size_t *size)
{
	struct perf_record r;
	size_t k = 0;

	for (*size = 0; k < n; k += *size) {
		*size = (size_t)perf_record_at(at + k, false, &r);
		if (*size == 0 || *size > n - k)
			break;
	}
	return k;
}

/* Shows the records from one position to another, as long as they make sense. */
static void show_range(struct ring *r, uint64_t from, uint64_t to, ring_fn *each, void *arg)
{
	while (from < to) {
		size_t at = (size_t)from & (r->n_bytes - 1), room = r->n_bytes - at, size, n;

		if (to - from <= room) {
			show(each, arg, r->data + at, (size_t)(to - from));
			return;
		}
		n = whole_records(r->data + at, room, &size);
		show(each, arg, r->data + at, n);
		from += n;
		if (n == room)
			continue;
		if (size == 0 || size > to - from)
			return;
		memcpy(r->wrapped, r->data + at + n, room - n);
		memcpy(r->wrapped + (room - n), r->data, size - (room - n));
		show(each, arg, r->wrapped, size);
		from += size;
	}
}

static uint64_t head_of(const struct ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

void ring_turn(struct ring *r)
{
	r->until = head_of(r);
}

void ring_ahead(struct ring *r, ring_fn *each, void *arg)
{
	uint64_t head = head_of(r);

	show_range(r, r->seen, head, each, arg);
	r->seen = head;
}

void ring_take(struct ring *r, ring_fn *each, void *arg)
{
	show_range(r, r->taken, r->until, each, arg);
	r->taken = r->until;
	if (r->seen < r->until)
		r->seen = r->until;
	__atomic_store_n(&r->page->data_tail, r->taken, __ATOMIC_RELEASE);
}
