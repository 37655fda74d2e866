/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation that cannot fail (it aborts with a sentence), and growing arrays.
 *
 * A growing array is VEC(T): pointer + n + cap in the owner's struct; zeroed means empty.
 */
#ifndef PROFTOP_BASE_MEM_H
#define PROFTOP_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t bytes) __attribute__((malloc, returns_nonnull));
/* Says that n bytes could not be had and aborts: for owners of other memory than malloc's. */
_Noreturn void mem_fail(size_t bytes);
/* n * bytes is checked for overflow. */
void *xreallocarray(void *p, size_t n, size_t bytes) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
/* A formatted string that the caller frees. */
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));
/* Turns n elements round. */
void mem_reverse(void *at, size_t n, size_t bytes);

#define VEC(T) \
	struct { \
		T *at; \
		size_t n, cap; \
	}

/* Makes room for n elements in all; contents stay. */
#define vec_reserve(v, want) \
	((v)->cap >= (size_t)(want) \
		 ? (void)0 \
		 : (void)((v)->at = vec_grow((v)->at, &(v)->cap, (size_t)(want), \
					     sizeof(*(v)->at))))
#define vec_push(v, x) (vec_reserve((v), (v)->n + 1), (void)((v)->at[(v)->n++] = (x)))
#define vec_clear(v)   ((void)((v)->n = 0))
/* Frees the array, not what its elements own. */
#define vec_done(v)    (vec_drop((v)->at), (void)((v)->at = NULL), (void)((v)->n = (v)->cap = 0))

/* For the macros above. */
void *vec_grow(void *at, size_t *cap, size_t want, size_t bytes) __attribute__((returns_nonnull));
void vec_drop(void *at);

#endif
