/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings that begin at a multiple of a huge page; see bulk.h. */
#include "config.h"

#include "bulk.h"

#include <stdint.h>
#include <sys/mman.h>

/* Of x86_64, and of aarch64 with pages of 4 KiB; elsewhere they are larger and this is too little for one. */
#define HUGE_PAGE ((size_t)2 << 20)

static size_t whole_pages(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

void *bulk_new(size_t bytes)
{
	size_t all = whole_pages(bytes), before;
	char *p;

	if (bytes == 0 || all < bytes || all + HUGE_PAGE < all)
		return NULL;
	p = mmap(NULL, all + HUGE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = whole_pages((uintptr_t)p) - (uintptr_t)p;
	if (before > 0)
		munmap(p, before);
	if (before < HUGE_PAGE)
		munmap(p + before + all, HUGE_PAGE - before);
	madvise(p + before, all, MADV_HUGEPAGE);
	return p + before;
}

void bulk_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, whole_pages(bytes));
}
