/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every call of the family with every size that makes a difference, and what happens when memory is short. */
#include "heap_works.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Not known to the compiler, which would say that it is too much. */
static volatile size_t most = SIZE_MAX;
static volatile size_t nothing = 0;

/* What came of a call; the block is given back. */
static void tell(const char *what, void *p, size_t align)
{
	int kept = errno;

	size_t usable = malloc_usable_size(p);

	/* How many exactly depends on where the heap begins. */
	printf("%s: %s%s, errno %d%s\n", what, p ? "a block" : "none", usable ? ", of use" : "",
	       kept, (uintptr_t)p % align ? ", not aligned" : "");
	free(p);
	errno = 0;
}

static void try_huge(void)
{
	void *p = malloc(100), *q = NULL;
	int ret;

	errno = 0;
	tell("malloc, too much", malloc(most), 1);
	tell("malloc, half of all", malloc(most / 2), 1);
	tell("calloc, too much", calloc(most / 2, 3), 1);
	tell("aligned_alloc, too much", aligned_alloc(64, most - 100), 1);
	tell("memalign, too much", memalign(1 << 20, most / 2), 1);
	tell("valloc, too much", valloc(most - 5000), 1);
	tell("pvalloc, too much", pvalloc(most - 5000), 1);
	ret = posix_memalign(&q, 64, most / 2);
	printf("posix_memalign: %d, %s\n", ret, q ? "a block" : "none");
	ret = posix_memalign(&q, 3, 64);
	printf("posix_memalign: %d, %s\n", ret, q ? "a block" : "none");
	/* The block stays, in which the compiler does not believe. */
	q = p;
	__asm__("" : "+r"(q));
	printf("realloc: %s\n", realloc(q, most / 2) ? "a block" : "none");
	q = p;
	__asm__("" : "+r"(q));
	printf("reallocarray: %s\n", reallocarray(q, most / 2, 3) ? "a block" : "none");
	__asm__("" : "+r"(p));
	memset(p, 1, 100);
	errno = 0;
	tell("the block", p, 16);
}

static void try_none(void)
{
	void *p = malloc(10);

	errno = 0;
	tell("malloc, nothing", malloc(nothing), 16);
	tell("calloc, nothing", calloc(nothing, 7), 16);
	tell("realloc of NULL, nothing", realloc(NULL, nothing), 16);
	tell("reallocarray of NULL, nothing", reallocarray(NULL, nothing, 7), 16);
	tell("realloc, nothing", realloc(p, nothing), 16);
	tell("memalign, nothing", memalign(256, nothing), 256);
	tell("free", NULL, 1);
}

static void try_aligned(void)
{
	for (size_t align = 8; align <= 1 << 16; align *= 4) {
		void *p = NULL;

		tell("aligned_alloc", aligned_alloc(align, align * 3), align);
		tell("memalign", memalign(align, 100), align);
		printf("posix_memalign: %d\n", posix_memalign(&p, align, 1000));
		tell("its block", p, align);
	}
	tell("valloc", valloc(10), 4096);
	tell("pvalloc", pvalloc(10), 4096);
	for (size_t n = 0; n < 3000; n += 97)
		tell("malloc", malloc(n), 16);
	tell("malloc, much", malloc(1 << 20), 16);
}

static int work_sizes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		try_huge();
		try_none();
		try_aligned();
	}
	return 0;
}

/* C23's names, which the libc here may not have. */
static int work_sized(uint64_t n)
{
	void (*sized)(void *, size_t) = NULL;
	void (*aligned)(void *, size_t, size_t) = NULL;

	*(void **)(void *)&sized = dlsym(RTLD_DEFAULT, "free_sized");
	*(void **)(void *)&aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
	for (uint64_t i = 0; i < n; i++) {
		void *p = malloc(i % 100), *q = aligned_alloc(64, 64 * (i % 10));

		if (sized && aligned) {
			sized(p, i % 100);
			sized(NULL, 3);
			aligned(q, 64, 64 * (i % 10));
		} else {
			free(p);
			free(q);
		}
	}
	return 0;
}

static void *chains(void *arg)
{
	uint64_t n = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < n; i++) {
		char *p = NULL;

		for (size_t size = 1; size < 300000; size = size * 3 / 2 + 1) {
			char *q = size % 2 ? realloc(p, size) : reallocarray(p, size / 2, 2);

			if (!q)
				return arg;
			p = q;
			p[size - 1] = 1;
		}
		for (size_t size = 200000; size > 10; size /= 3)
			p = realloc(p, size);
		if (i % 3)
			p = realloc(p, nothing);
		else
			free(p);
	}
	return NULL;
}

static int work_chains(uint64_t n)
{
	pthread_t thread[4];
	void *bad = NULL;

	for (unsigned i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, chains, (void *)(uintptr_t)n))
			return 1;
	for (unsigned i = 0; i < 4; i++) {
		void *result;

		pthread_join(thread[i], &result);
		bad = bad ? bad : result;
	}
	return bad != NULL;
}

/* No more address space than so many bytes above what is in use. */
static bool limit(size_t bytes)
{
	struct rlimit r;
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%zu", &pages) != 1 || getrlimit(RLIMIT_AS, &r))
		return false;
	fclose(f);
	r.rlim_cur = pages * 4096 + bytes;
	return setrlimit(RLIMIT_AS, &r) == 0;
}

static void *fill(void *arg)
{
	void *block[64] = { 0 };
	unsigned n = 0;

	while (n < 64 && (block[n] = malloc(1 << 20)))
		n++;
	for (unsigned i = 0; i < n; i++)
		free(block[i]);
	*(unsigned *)arg = n;
	return NULL;
}

/* Twice the same, as what fails must leave everything as it was. */
static int work_limit(uint64_t n)
{
	unsigned got[2] = { 0 };

	if (!limit(16 << 20))
		return 1;
	for (uint64_t i = 0; i < n; i++)
		fill(&got[i % 2]);
	printf("%u blocks, then none\n", got[0]);
	return got[0] != got[1];
}

static void *many(void *arg)
{
	for (uint64_t i = 0; i < *(uint64_t *)arg; i++)
		use(100);
	return NULL;
}

/* Threads for whose records there is no memory. */
static int work_limit_threads(uint64_t n)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned got;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	if (!limit(1 << 20))
		return 1;
	if (pthread_create(&thread, &attr, many, &n) || pthread_join(thread, NULL))
		return 2;
	fill(&got);
	return got > 1;
}

const struct work call_works[] = {
	{ "sizes", work_sizes },
	{ "sized", work_sized },
	{ "chains", work_chains },
	{ "limit", work_limit },
	{ "limit-threads", work_limit_threads },
	{ NULL, NULL },
};
