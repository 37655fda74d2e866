/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reservation by an inaccessible mapping, growth by mprotect() in steps that grow with the column.
 *
 * Where address space is scarce one column must not take what malloc and the other columns need: it reserves at
 * most a small part of what is left, or what its first element needs. Scarce it is under a limit, and where as much
 * as the largest size needs is not to be had.
 */
#include "config.h"

#include "base/column.h"

#include "base/system_limits.h"
#include "base/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The least step by which a column grows, and the part of its size that is the step later. */
#define STEP_BYTES ((uint64_t)1 << 20)
#define STEP_PART  8
/* A column takes at most this part of what is left: with some forty of them, nearly half is left for others. */
#define LIMIT_PART 48

static uint64_t round_up(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return bytes > UINT64_MAX - page ? bytes / page * page : (bytes + page - 1) / page * page;
}

/* Bytes to hold all of n_max, as far as a size_t and the address space limit go; at least need. */
static uint64_t reservation_wish(const struct column *c, uint64_t need)
{
	uint64_t most = SIZE_MAX / 4, left = system_limits_address_space_left(), all;

	if (__builtin_mul_overflow(c->n_max, (uint64_t)c->element_bytes, &all) || all > most)
		all = most;
	if (left != UINT64_MAX && all > left / LIMIT_PART)
		all = left / LIMIT_PART;
	return round_up(all > need ? all : need);
}

static void *map_nothing(uint64_t bytes)
{
	void *p = mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A part of the most that can be had; NULL when not even so much. */
static void *map_part(uint64_t *bytes, uint64_t least)
{
	uint64_t most = *bytes;
	void *p = NULL;

	while (!p && most > least) {
		most = most / 2 > least ? round_up(most / 2) : least;
		p = map_nothing(most);
	}
	*bytes = most / LIMIT_PART > least ? round_up(most / LIMIT_PART) : least;
	if (p && most > *bytes)
		munmap((char *)p + *bytes, (size_t)(most - *bytes));
	return p;
}

static int reserve(struct column *c, uint64_t need)
{
	uint64_t bytes = reservation_wish(c, need);
	void *p = map_nothing(bytes);

	if (!p)
		p = map_part(&bytes, round_up(need));
	if (!p)
		return -ENOMEM;
	c->base = p;
	c->reserved_bytes = bytes;
	return 0;
}

void column_init(struct column *c, size_t element_bytes, uint64_t n_max)
{
	*c = (struct column){ .element_bytes = element_bytes, .n_max = n_max };
}

void column_done(struct column *c)
{
	if (c->base)
		munmap(c->base, (size_t)c->reserved_bytes);
	if (c->in_file)
		close(c->fd);
	column_init(c, c->element_bytes, c->n_max);
}

/* Maps bytes [from, to) of the file to their place. They get room on the disk first: later is too late. */
static int map_file(struct column *c, int fd, uint64_t from, uint64_t to)
{
	int rc = to > INT64_MAX ? EFBIG : posix_fallocate(fd, (off_t)from, (off_t)(to - from));
	void *p;

	if (rc != 0)
		return -rc;
	p = mmap((char *)c->base + from, (size_t)(to - from), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, (off_t)from);
	return p == MAP_FAILED ? -errno : 0;
}

/* Makes bytes [usable, to) accessible. */
static int make_usable(struct column *c, uint64_t to)
{
	char *from = (char *)c->base + c->usable_bytes;
	int rc;

	if (c->in_file) {
		rc = to > c->usable_bytes ? map_file(c, c->fd, c->usable_bytes, to) : 0;
		c->usable_bytes = rc == 0 ? to : c->usable_bytes;
		return rc;
	}
	if (mprotect(from, (size_t)(to - c->usable_bytes), PROT_READ | PROT_WRITE) < 0)
		return -ENOMEM;
	c->usable_bytes = to;
	return 0;
}

int column_extend(struct column *c, uint64_t n)
{
	uint64_t need, step, want;
	int rc;

	if (n > c->n_max || __builtin_mul_overflow(n, (uint64_t)c->element_bytes, &need) ||
	    need > SIZE_MAX / 4)
		return -EFBIG;
	if (need <= c->usable_bytes)
		return 0;
	rc = c->base ? 0 : reserve(c, need);
	if (rc < 0)
		return rc;
	if (need > c->reserved_bytes)
		return -EFBIG;
	step = c->usable_bytes / STEP_PART > STEP_BYTES ? c->usable_bytes / STEP_PART : STEP_BYTES;
	want = need > c->usable_bytes + step ? need : c->usable_bytes + step;
	want = round_up(want);
	if (want > c->reserved_bytes)
		want = c->reserved_bytes;
	if (make_usable(c, want) == 0)
		return 0;
	return make_usable(c, round_up(need));
}

void column_forget(struct column *c, uint64_t from, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t begin = from * c->element_bytes / page * page;
	uint64_t end = to * c->element_bytes / page * page;

	if (c->base && !c->in_file && end > begin && end <= c->usable_bytes)
		madvise((char *)c->base + begin, (size_t)(end - begin), MADV_DONTNEED);
}

int column_to_file(struct column *c, int fd)
{
	int rc = 0;

	if (c->in_file)
		return -EALREADY;
	if (c->usable_bytes > 0)
		rc = tmpfile_write(fd, c->base, (size_t)c->usable_bytes);
	if (rc == 0 && c->usable_bytes > 0)
		rc = map_file(c, fd, 0, c->usable_bytes);
	if (rc < 0)
		return rc;
	c->in_file = true;
	c->fd = fd;
	return 0;
}
