/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One region handed out from below, each piece with its size in front. */
#include "config.h"

#include "record/heap/trace/tracer_memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGION_BYTES ((size_t)256 << 20)
#define LEAST_BYTES  ((size_t)4 << 20)
#define PART         16  /* of a limit on address space, at most, is the region */
#define PIECE_HEAD   16u /* keeps pieces aligned */
#define PAGE_BYTES   4096u

static struct {
	uint8_t *begin;
	size_t n;      /* bytes */
	size_t used;   /* bytes */
	uint8_t *last; /* the piece handed out last, or NULL */
} region;

void *tracer_map(size_t bytes)
{
	/* Not mmap(), which is a hook of ours. */
	void *p = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void tracer_unmap(void *p, size_t bytes)
{
	syscall(SYS_munmap, p, bytes);
}

void tracer_empty(void *p, size_t bytes)
{
	syscall(SYS_madvise, p, bytes, MADV_DONTNEED);
}

/* The kernel looks at the word and then at `how`, which is no good. */
static bool is_word_readable(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, -1, (const void *)(at & ~(uintptr_t)7), NULL, 8) &&
	       errno != EFAULT;
}

bool tracer_readable(const void *p, size_t bytes)
{
	uintptr_t at = (uintptr_t)p, end;
	int kept = errno;
	bool is = !__builtin_add_overflow(at, bytes, &end);

	while (is && at < end) {
		is = is_word_readable(at);
		at = (at | (PAGE_BYTES - 1)) + 1;
	}
	errno = kept;
	return is;
}

bool tracer_memory_init(void)
{
	struct rlimit limit;

	if (region.begin)
		return true;
	region.n = REGION_BYTES;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / PART < region.n)
		region.n = (limit.rlim_cur / PART + 2 * LEAST_BYTES) & ~(LEAST_BYTES - 1);
	region.begin = tracer_map(region.n);
	return region.begin != NULL;
}

size_t tracer_memory_left(void)
{
	return region.begin ? region.n - region.used : 0;
}

static size_t *size_of(void *piece)
{
	return (size_t *)(void *)((uint8_t *)piece - PIECE_HEAD);
}

void *tracer_malloc(size_t bytes)
{
	size_t whole = ((bytes + 15) & ~(size_t)15) + PIECE_HEAD;

	if (bytes > REGION_BYTES || whole > tracer_memory_left())
		return NULL;
	region.last = region.begin + region.used + PIECE_HEAD;
	region.used += whole;
	*size_of(region.last) = bytes;
	return region.last;
}

void *tracer_calloc(size_t n, size_t bytes)
{
	void *p;

	if (bytes && n > REGION_BYTES / bytes)
		return NULL;
	p = tracer_malloc(n * bytes);
	/* What was given back may be handed out again. */
	return p ? memset(p, 0, n * bytes) : NULL;
}

void tracer_free(void *p)
{
	if (!p || p != region.last)
		return;
	region.used = (size_t)(region.last - region.begin) - PIECE_HEAD;
	region.last = NULL;
}

void *tracer_realloc(void *p, size_t bytes)
{
	size_t had = p ? *size_of(p) : 0;
	void *moved;

	if (bytes <= had)
		return p;
	if (p && p == region.last) {
		tracer_free(p);
		return tracer_malloc(bytes); /* the same place, if there is room */
	}
	moved = tracer_malloc(bytes);
	return moved && had ? memcpy(moved, p, had) : moved;
}
