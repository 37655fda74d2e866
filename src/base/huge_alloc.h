/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Large pieces of memory that are used whole, on huge pages where the system has them: taking 2 MB so costs a
 * tenth of what 512 page faults do. Where it has none, the pieces are like any others.
 */
#ifndef PROFTOP_BASE_HUGE_ALLOC_H
#define PROFTOP_BASE_HUGE_ALLOC_H

#include <stddef.h>

/* From here on it pays: pieces become multiples of a huge page, and each one that is touched is taken whole. */
#define BULK_BYTES ((size_t)1 << 20)

/* Zeroed. NULL when there is no room for it in the address space; memory is taken as it is written to. */
void *huge_alloc_new(size_t bytes);
/* p may be NULL; bytes: as huge_alloc_new() had them. */
void huge_alloc_free(void *p, size_t bytes);

/* Whole huge pages of it go back to the system; they are zero when they are used again. */
void huge_alloc_give_back(void *p, size_t bytes);

/*
 * A table of any size that will be written to all over. Zeroed; aborts as xmalloc() does. Small ones are malloc's, with
 * each page written to once: one that is read first is found to be zero, and made a page of its own when it is written
 * to, of which other threads' processors have to be told.
 */
void *huge_alloc_table_new(size_t bytes) __attribute__((malloc, returns_nonnull));
/* p may be NULL; bytes: as huge_alloc_table_new() had them. */
void huge_alloc_table_free(void *p, size_t bytes);

#endif
