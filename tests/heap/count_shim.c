/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts every call of malloc and its family exactly, for tests of the recorder: preloaded behind it, so
 * that both see the same calls of the same run. Writes lines "name value" to $COUNT_SHIM at the end; where that has "%p"
 * in it, it stands for the process, and children of a fork count and write for themselves.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *memalign(size_t align, size_t n);
void *valloc(size_t n);
void *pvalloc(size_t n);

static _Atomic uint64_t n_allocs, n_reallocs, n_frees, n_bytes;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

#define REAL(type, name, ...) \
	static type (*real)(__VA_ARGS__); \
	if (!real) \
	*(void **)&real = next(name)

static void *counted(void *p, size_t n)
{
	if (p) {
		n_allocs++;
		n_bytes += n;
	}
	return p;
}

void *malloc(size_t n)
{
	REAL(void *, "malloc", size_t);
	return counted(real(n), n);
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);
	static bool looking; /* before there are threads */

	/* glibc before 2.34 wants memory within dlsym(), and goes on without. */
	if (!real && looking)
		return NULL;
	looking = true;
	if (!real)
		*(void **)&real = next("calloc");
	return counted(real(n, size), n * size);
}

void *memalign(size_t align, size_t n)
{
	REAL(void *, "memalign", size_t, size_t);
	return counted(real(align, n), n);
}

void *aligned_alloc(size_t align, size_t n)
{
	REAL(void *, "aligned_alloc", size_t, size_t);
	return counted(real(align, n), n);
}

void *valloc(size_t n)
{
	REAL(void *, "valloc", size_t);
	return counted(real(n), n);
}

void *pvalloc(size_t n)
{
	REAL(void *, "pvalloc", size_t);
	return counted(real(n), n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	int ret;

	REAL(int, "posix_memalign", void **, size_t, size_t);
	ret = real(p, align, n);
	if (ret == 0)
		counted(*p, n);
	return ret;
}

void *realloc(void *p, size_t n)
{
	void *moved;

	REAL(void *, "realloc", void *, size_t);
	moved = real(p, n);
	counted(moved, n);
	if (p && moved)
		n_reallocs++;
	else if (p && n == 0)
		n_frees++;
	return moved;
}

void free(void *p)
{
	REAL(void, "free", void *);
	if (p)
		n_frees++;
	real(p);
}

/* For programs that want to know on their way. */
void count_shim_counts(uint64_t out[4]);
void count_shim_counts(uint64_t out[4])
{
	const uint64_t counts[4] = { n_allocs, n_reallocs, n_frees, n_bytes };

	memcpy(out, counts, sizeof(counts));
}

static pid_t self;
static bool forked;     /* what its parent had allocated is freed, too */
static char wish[4096]; /* $COUNT_SHIM as it was: programs empty their environment */

/* The file of this process. */
static void path_of(char *to, size_t room)
{
	const char *mark = strstr(wish, "%p");

	if (mark)
		snprintf(to, room, "%.*s%d%s", (int)(mark - wish), wish, (int)getpid(), mark + 2);
	else
		snprintf(to, room, "%s", wish);
}

void count_shim_tell(void);
void count_shim_tell(void)
{
	static char path[sizeof(wish)]; /* handlers on small stacks tell, too */
	uint64_t counts[] = { n_allocs, n_reallocs, n_frees, n_bytes };
	char text[256];
	int fd, n;

	if (!*wish || getpid() != self)
		return;
	path_of(path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return;
	n = snprintf(text, sizeof(text), "allocs %llu\nreallocs %llu\nfrees %llu\nbytes %llu\n%s",
		     (unsigned long long)counts[0], (unsigned long long)counts[1],
		     (unsigned long long)counts[2], (unsigned long long)counts[3],
		     forked ? "forked 1\n" : "");
	if (write(fd, text, (size_t)n) != n)
		_exit(99);
	close(fd);
}

static void tell(void *arg)
{
	(void)arg;
	count_shim_tell();
}

int __cxa_atexit(void (*fn)(void *), void *arg, void *library);

static void begin_anew(void)
{
	n_allocs = n_reallocs = n_frees = n_bytes = 0;
	self = getpid();
	forked = true;
}

/* Last of all, as the recorder: after the destructors of libraries. */
__attribute__((constructor)) static void begin(void)
{
	const char *given = getenv("COUNT_SHIM");

	self = getpid();
	snprintf(wish, sizeof(wish), "%s", given ? given : "");
	if (__cxa_atexit(tell, NULL, NULL))
		abort();
	if (strstr(wish, "%p"))
		pthread_atfork(NULL, NULL, begin_anew);
}
