/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is smaller than a huge page is malloc's, with each page written to once, so that it is not first found to be
 * zero and then made a page of its own. What is larger is mapped so that it begins with a huge page; the end that
 * fills none takes small ones, and so no more memory than it has to.
 *
 * System calls are made directly: this is part of the heap tracer, too, where mmap() is a hook.
 */
#include "config.h"

#include "pages.h"

#include "mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What any system's pages are a multiple of. */
#define LEAST_PAGE ((size_t)4 << 10)

static void unmap(char *at, size_t bytes)
{
	if (bytes > 0)
		syscall(SYS_munmap, at, bytes);
}

/* As the system counts: whole pages. */
static size_t mapped_bytes(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

/* Maps a little more and gives back what is before the first place for a huge page, and behind the end. */
static char *map_aligned(size_t bytes)
{
	size_t all = bytes + PAGES_HUGE_BYTES, before;
	char *p = (char *)syscall(SYS_mmap, NULL, all, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		mem_fail(bytes);
	before = -(uintptr_t)p & (PAGES_HUGE_BYTES - 1);
	unmap(p, before);
	unmap(p + before + bytes, PAGES_HUGE_BYTES - before);
	return p + before;
}

void *pages_new(size_t bytes)
{
	char *p;

	if (bytes > SIZE_MAX / 2)
		mem_fail(bytes);
	if (bytes < PAGES_HUGE_BYTES) {
		p = xcalloc(1, bytes);
		for (size_t i = 0; i < bytes; i += LEAST_PAGE)
			*(volatile char *)(p + i) = 0;
		return p;
	}
	p = map_aligned(mapped_bytes(bytes));
	pages_advise_huge(p, bytes);
	return p;
}

void pages_free(void *p, size_t bytes)
{
	if (p && bytes >= PAGES_HUGE_BYTES)
		unmap(p, mapped_bytes(bytes));
	else
		free(p);
}

void pages_advise_huge(void *at, size_t bytes)
{
	uintptr_t from = ((uintptr_t)at + PAGES_HUGE_BYTES - 1) & ~(PAGES_HUGE_BYTES - 1);
	uintptr_t to = ((uintptr_t)at + bytes) & ~(PAGES_HUGE_BYTES - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}
