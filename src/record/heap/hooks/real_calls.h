/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that our hooks stand before: those that come next in the loader's order. Of what comes before us, an
 * allocator of the executable or wrappers of such names, calls reach us only when it looks for the next itself.
 *
 * The loader is asked for them at the first call of any hook; when looking them up allocates, a small
 * pool serves. Blocks of the pool are never given back.
 */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_REAL_CALLS_H
#define PROFTOP_RECORD_HEAP_HOOKS_REAL_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* X(name, type of the result, parameters) */
/* clang-format off */
#define REAL_CALLS(X) \
	X(malloc, void *, (size_t)) \
	X(free, void, (void *)) \
	X(calloc, void *, (size_t, size_t)) \
	X(realloc, void *, (void *, size_t)) \
	X(posix_memalign, int, (void **, size_t, size_t)) \
	X(aligned_alloc, void *, (size_t, size_t)) \
	X(memalign, void *, (size_t, size_t)) \
	X(valloc, void *, (size_t)) \
	X(pvalloc, void *, (size_t)) \
	X(mmap, void *, (void *, size_t, int, int, int, off_t)) \
	X(munmap, int, (void *, size_t)) \
	X(mremap, void *, (void *, size_t, size_t, int, ...)) \
	X(sbrk, void *, (intptr_t)) \
	X(brk, int, (void *)) \
	X(dlclose, int, (void *)) \
	X(prctl, int, (int, ...)) \
	X(syscall, long, (long, ...)) \
	X(unshare, int, (int)) \
	X(setns, int, (int, int)) \
	X(setuid, int, (uid_t)) \
	X(setgid, int, (gid_t)) \
	X(seteuid, int, (uid_t)) \
	X(setegid, int, (gid_t)) \
	X(setreuid, int, (uid_t, uid_t)) \
	X(setregid, int, (gid_t, gid_t)) \
	X(setresuid, int, (uid_t, uid_t, uid_t)) \
	X(setresgid, int, (gid_t, gid_t, gid_t)) \
	X(setgroups, int, (size_t, const gid_t *)) \
	X(initgroups, int, (const char *, gid_t)) \
	X(capset, int, (void *, const void *)) \
	X(execve, int, (const char *, char *const *, char *const *)) \
	X(execv, int, (const char *, char *const *)) \
	X(execvp, int, (const char *, char *const *)) \
	X(execvpe, int, (const char *, char *const *, char *const *)) \
	X(fexecve, int, (int, char *const *, char *const *)) \
	X(_exit, void, (int)) \
	X(_Exit, void, (int)) \
	X(quick_exit, void, (int)) \
	X(abort, void, (void))
/* clang-format on */

struct real_calls {
#define X(name, type, parameters) type(*name) parameters;
	REAL_CALLS(X)
#undef X
	_Atomic bool ready;
	bool attached; /* found when the program was running: nothing comes from the pool */
	bool by_tables; /* an allocator in front of us is called through the loader's tables: got.h */
};

extern struct real_calls real __attribute__((visibility("hidden")));

/* What all calls of these names lead to but for our hooks, which need not be behind us. For names that only we have. */
struct first_calls {
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
};

extern struct first_calls real_first __attribute__((visibility("hidden")));

/* What calls lead to that are passed on unrecorded. */
struct passed_calls {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
};

extern struct passed_calls real_passed __attribute__((visibility("hidden")));

/* From now on, or no more: to what looks at them a second time, and then to the functions themselves. */
void real_calls_twice(bool twice);

/* False while they are being looked up: then the pool serves. */
bool real_calls_find(void);

/* For a program that ran without us: look_up() says what its calls lead to. Once, before any hook is called. */
void real_calls_adopt(void *(*look_up)(const char *name));

/*
 * The allocator is the one in front of us, which calls reach first. Before any hook of it gave a block out. False: it is
 * none that the loader's tables tell of.
 */
bool real_calls_take_first(void *(*look_up)(const char *name));

/* What was to be called at `from` is called at `to`. False: nothing was. */
bool real_calls_replace(const void *from, const void *to);

static inline bool real_calls_ready(void)
{
	return __builtin_expect(atomic_load_explicit(&real.ready, memory_order_acquire), 1) ||
	       real_calls_find();
}

/* Zeroed memory of the pool, or NULL when it is used up. */
void *real_pool_take(size_t align, size_t bytes);

#define REAL_POOL_BYTES 65536u
extern uint8_t real_pool[REAL_POOL_BYTES] __attribute__((visibility("hidden")));

/* Is p of the pool? *room: how many bytes from p on are. */
static inline bool real_pool_has(const void *p, size_t *room)
{
	uintptr_t offset = (uintptr_t)p - (uintptr_t)real_pool;

	if (offset >= REAL_POOL_BYTES)
		return false;
	*room = REAL_POOL_BYTES - offset;
	return true;
}

#endif
