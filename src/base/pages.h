/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Large tables that are written to all over: memory of the system itself, in huge pages where that pays.
 *
 * A page of 4 KiB costs a visit to the kernel when it is touched first, and two when it is read before it is
 * written to; then other threads' processors are told, too. A huge page costs one for 512 of them.
 */
#ifndef PROFTOP_BASE_PAGES_H
#define PROFTOP_BASE_PAGES_H

#include <stddef.h>

/* From so many bytes on a table is worth huge pages: the size of one of x86_64's, and of aarch64's by default. */
#define PAGES_HUGE_BYTES ((size_t)2 << 20)

/* Zeroed; small sizes are malloc's. Aborts as xmalloc() does. pages_free() wants the same number of bytes. */
void *pages_new(size_t bytes) __attribute__((malloc, returns_nonnull));
void pages_free(void *p, size_t bytes);

/* All of [at, at + bytes) will be touched soon: huge pages for those that lie in it whole. */
void pages_advise_huge(void *at, size_t bytes);

#endif
