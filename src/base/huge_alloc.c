/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mappings that begin at a multiple of a huge page; see huge_alloc.h. System calls are made directly: this is part of the
 * heap tracer, too, where mmap() is a hook.
 */
#include "config.h"

#include "base/huge_alloc.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of x86_64, and of aarch64 with pages of 4 KiB; elsewhere they are larger and this is too little for one. */
#define HUGE_PAGE  ((size_t)2 << 20)
/* What any system's pages are a multiple of. */
#define LEAST_PAGE ((size_t)4 << 10)

static size_t whole_pages(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

void *huge_alloc_new(size_t bytes)
{
	size_t all = whole_pages(bytes), before;
	char *p;

	if (bytes == 0 || all < bytes || all + HUGE_PAGE < all)
		return NULL;
	p = (char *)syscall(SYS_mmap, NULL, all + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = whole_pages((uintptr_t)p) - (uintptr_t)p;
	if (before > 0)
		syscall(SYS_munmap, p, before);
	if (before < HUGE_PAGE)
		syscall(SYS_munmap, p + before + all, HUGE_PAGE - before);
	madvise(p + before, all, MADV_HUGEPAGE);
	return p + before;
}

void huge_alloc_free(void *p, size_t bytes)
{
	if (p)
		syscall(SYS_munmap, p, whole_pages(bytes));
}

void huge_alloc_give_back(void *p, size_t bytes)
{
	madvise(p, bytes, MADV_DONTNEED);
}

void *huge_alloc_table_new(size_t bytes)
{
	char *p;

	if (bytes >= HUGE_PAGE) {
		p = huge_alloc_new(bytes);
		if (!p)
			mem_fail(bytes);
		return p;
	}
	p = xcalloc(1, bytes);
	for (size_t i = 0; i < bytes; i += LEAST_PAGE)
		*(volatile char *)(p + i) = 0;
	return p;
}

void huge_alloc_table_free(void *p, size_t bytes)
{
	if (bytes >= HUGE_PAGE)
		huge_alloc_free(p, bytes);
	else
		free(p);
}
