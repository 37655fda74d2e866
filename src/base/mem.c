/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation that ends the program when there is none: no caller could go on. */
#include "config.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CAP 8

/* The one place below the user's floors that writes to stderr: there is no way back from here. */
_Noreturn void mem_fail(size_t bytes)
{
	fprintf(stderr, "proftop: out of memory (%zu bytes wanted)\n", bytes);
	abort();
}

void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		mem_fail(bytes);
	return p;
}

void *xcalloc(size_t n, size_t bytes)
{
	void *p = calloc(n ? n : 1, bytes ? bytes : 1);

	if (!p)
		mem_fail(bytes && n > SIZE_MAX / bytes ? SIZE_MAX : n * bytes);
	return p;
}

void *xreallocarray(void *p, size_t n, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all))
		mem_fail(SIZE_MAX);
	p = realloc(p, all ? all : 1);
	if (!p)
		mem_fail(all);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0 || !s)
		mem_fail(0);
	return s;
}

void mem_reverse(void *at, size_t n, size_t bytes)
{
	unsigned char *first = at;

	for (size_t i = 0; i < n / 2; i++)
		for (size_t k = 0; k < bytes; k++) {
			unsigned char *a = &first[i * bytes + k],
				      *b = &first[(n - 1 - i) * bytes + k];
			unsigned char swap = *a;

			*a = *b;
			*b = swap;
		}
}

void *vec_grow(void *at, size_t *cap, size_t want, size_t bytes)
{
	size_t n = *cap < LEAST_CAP ? LEAST_CAP : *cap;

	while (n < want)
		n = n > SIZE_MAX / 2 ? want : n + n / 2;
	at = xreallocarray(at, n, bytes);
	*cap = n;
	return at;
}

void vec_drop(void *at)
{
	free(at);
}
