/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * malloc and its family as programs call it: the program's own allocator does the work, then (before it,
 * for what is given back) the recorder is told.
 *
 * Compiled with frame pointers, as TRACER_CALLER() reads the frame of the hook.
 */
#include "config.h"

#include "heaptrace/heap_events.h"
#include "record/heap/hooks/got.h"
#include "record/heap/hooks/hooks.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/patch/patch_allocators.h"
#include "record/heap/trace/tracer_fork.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_record.h"
#include "record/heap/trace/tracer_thread.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Here they are the real names; see own_malloc.h. */
#undef malloc
#undef calloc
#undef realloc
#undef free

#define HOOK __attribute__((visibility("default"), noinline))

void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);

int __cxa_atexit(void (*fn)(void *), void *arg, void *library);

_Atomic uint32_t hooks_begun __attribute__((visibility("hidden")));
static bool ends_late; /* after the destructors of libraries, too */

void hooks_begin(void)
{
	if (environ && !tracer_fork_is_guest() && atomic_exchange(&hooks_begun, 1) == 0)
		tracer_begin();
}

void hooks_begin_anew(void)
{
	atomic_store(&hooks_begun, 0);
}

/* Where one of the two comes last, recording ends there. */
static void stop(void *arg)
{
	static _Atomic uint32_t n_called;

	(void)arg;
	if (atomic_fetch_add(&n_called, 1) == 0 && ends_late)
		tracer_flush();
	else
		tracer_end();
}

__attribute__((constructor)) static void start(void)
{
	/* Loaded into a program that runs: nothing begins before tracer_attach.h says so. */
	if (!got_is_preloaded()) {
		atomic_store(&hooks_begun, 1);
		return;
	}
	if (real_calls_ready() && atomic_exchange(&hooks_begun, 1) == 0)
		tracer_begin();
	/* What is asked for before main and belongs to no library comes after the destructors of all libraries. */
	if (tracer_is_on())
		patch_allocators_install();
	ends_late = tracer_is_on() && __cxa_atexit(stop, NULL, NULL) == 0;
	tracer_begin_writing();
}

__attribute__((destructor)) static void leave(void)
{
	stop(NULL);
}

/*
 * What libc allocates on behalf of the recorder comes from the pool, so that the program's heap is what
 * it is without us. Not in a program that was attached to: there its allocator has to serve, as what libc keeps is
 * freed when our hooks are gone again.
 */
static inline bool from_pool(void)
{
	if (!real_calls_ready())
		return true;
	return __builtin_expect(tracer_tls.busy == TRACER_POOL, 0) && !real.attached;
}

static inline void note_alloc(const struct walk_start *from, void *p, size_t n, unsigned family)
{
	if (p)
		tracer_record_alloc(from, p, n, family);
	else if (n >= TRACER_LARGE)
		tracer_record_none();
}

/* Before the allocator is called for n bytes. */
static inline void note_large(const struct walk_start *from, size_t n, unsigned family)
{
	if (__builtin_expect(n >= TRACER_LARGE, 0))
		tracer_record_intent(from, n, family);
}

/*
 * What a hook ends with where a call may have to be recorded. The frame that this takes is not to be made and left for calls
 * that are passed on: so it is a function of its own, which the hook jumps to.
 */
#ifdef __x86_64__
#define APART static __attribute__((noinline))
#else
#define APART static inline __attribute__((always_inline))
#endif

APART void *record_malloc(size_t n, const void *pc)
{
	struct walk_start from = TRACER_CALLER_AT(pc);
	void *p;
	uint64_t was;

	if (from_pool())
		return real_pool_take(16, n);
	if (!hooks_record(&from))
		return real.malloc(n);
	note_large(&from, n, HEAP_MALLOC);
	was = hooks_enter(&from);
	p = real.malloc(n);
	hooks_leave(was);
	note_alloc(&from, p, n, HEAP_MALLOC);
	return p;
}

HOOK void *malloc(size_t n)
{
	return hooks_skip(n) ? real_passed.malloc(n)
			     : record_malloc(n, __builtin_return_address(0));
}

static inline __attribute__((always_inline)) void give_back(const struct walk_start *from, void *p,
							    void (*const *call)(void *))
{
	size_t room;
	uint64_t was;

	if (!p || real_pool_has(p, &room) || !real_calls_ready())
		return;
	if (!hooks_record(from)) {
		(*call)(p);
		return;
	}
	tracer_record_free(from, p);
	was = hooks_enter(from);
	(*call)(p);
	hooks_leave(was);
}

APART void record_free(void *p, const void *pc)
{
	struct walk_start from = TRACER_CALLER_AT(pc);

	give_back(&from, p, &real.free);
}

HOOK void free(void *p)
{
	if (hooks_skip_block(p))
		real_passed.free(p);
	else
		record_free(p, __builtin_return_address(0));
}

APART void *record_calloc(size_t n, size_t size, const void *pc)
{
	struct walk_start from = TRACER_CALLER_AT(pc);
	size_t all;
	void *p;
	uint64_t was;

	if (from_pool())
		return __builtin_mul_overflow(n, size, &all) ? NULL : real_pool_take(16, all);
	if (!hooks_record(&from))
		return real.calloc(n, size);
	note_large(&from, n * size, HEAP_CALLOC);
	was = hooks_enter(&from);
	p = real.calloc(n, size);
	hooks_leave(was);
	note_alloc(&from, p, n * size, HEAP_CALLOC);
	return p;
}

HOOK void *calloc(size_t n, size_t size)
{
	size_t all;

	if (!__builtin_mul_overflow(n, size, &all) && hooks_skip(all))
		return real_passed.calloc(n, size);
	return record_calloc(n, size, __builtin_return_address(0));
}

typedef void *realloc_fn(void *, size_t);

/* A block of the pool becomes one of the allocator. */
static void *leave_pool(const struct walk_start *from, void *p, size_t room, size_t n,
			realloc_fn *const *call)
{
	void *moved = from_pool() ? real_pool_take(16, n) : (*call)(NULL, n);

	if (!moved)
		return NULL;
	memcpy(moved, p, n < room ? n : room);
	if (!from_pool() && hooks_record(from))
		note_alloc(from, moved, n, HEAP_MALLOC);
	return moved;
}

static void *reallocate(const struct walk_start *from, void *p, size_t n, realloc_fn *const *call)
{
	struct tracer_old old;
	size_t room;
	void *moved;
	uint64_t was;

	if (p && real_pool_has(p, &room))
		return leave_pool(from, p, room, n, call);
	if (from_pool())
		return real_pool_take(16, n);
	if (!hooks_record(from))
		return (*call)(p, n);
	old = tracer_record_give_up(p);
	note_large(from, n, HEAP_MALLOC);
	was = hooks_enter(from);
	moved = (*call)(p, n);
	hooks_leave(was);
	if (moved)
		tracer_record_realloc(from, &old, moved, n);
	else if (p && n == 0)
		tracer_record_given_up(from, &old);
	else
		tracer_record_take_back(from, &old);
	if (!moved && n >= TRACER_LARGE)
		tracer_record_none();
	return moved;
}

HOOK void *realloc(void *p, size_t n)
{
	struct walk_start from = TRACER_CALLER();

	return reallocate(&from, p, n, &real.realloc);
}

HOOK void *reallocarray(void *p, size_t n, size_t size)
{
	struct walk_start from = TRACER_CALLER();
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(&from, p, all, &real_first.realloc);
}

HOOK int posix_memalign(void **p, size_t align, size_t n)
{
	struct walk_start from = TRACER_CALLER();
	int ret;
	uint64_t was;

	if (!real_calls_ready()) {
		void *taken = real_pool_take(align, n);

		if (taken)
			*p = taken;
		return taken ? 0 : ENOMEM;
	}
	if (!real.posix_memalign)
		return ENOMEM;
	if (!hooks_record(&from))
		return real.posix_memalign(p, align, n);
	note_large(&from, n, HEAP_ALIGNED);
	was = hooks_enter(&from);
	ret = real.posix_memalign(p, align, n);
	hooks_leave(was);
	if (ret == 0)
		note_alloc(&from, *p, n, HEAP_ALIGNED);
	else if (n >= TRACER_LARGE)
		tracer_record_none();
	return ret;
}

static void *aligned(const struct walk_start *from, void *(*call)(size_t, size_t), size_t align,
		     size_t n)
{
	void *p;
	uint64_t was;

	if (!call) {
		errno = ENOMEM;
		return NULL;
	}
	if (!hooks_record(from))
		return call(align, n);
	note_large(from, n, HEAP_ALIGNED);
	was = hooks_enter(from);
	p = call(align, n);
	hooks_leave(was);
	note_alloc(from, p, n, HEAP_ALIGNED);
	return p;
}

HOOK void *aligned_alloc(size_t align, size_t n)
{
	struct walk_start from = TRACER_CALLER();

	if (!real_calls_ready())
		return real_pool_take(align, n);
	return aligned(&from, real.aligned_alloc, align, n);
}

HOOK void *memalign(size_t align, size_t n)
{
	struct walk_start from = TRACER_CALLER();

	if (!real_calls_ready())
		return real_pool_take(align, n);
	return aligned(&from, real.memalign, align, n);
}

static void *page_aligned(const struct walk_start *from, void *(*call)(size_t), size_t n)
{
	void *p;
	uint64_t was;

	if (!call) {
		errno = ENOMEM;
		return NULL;
	}
	if (!hooks_record(from))
		return call(n);
	note_large(from, n, HEAP_ALIGNED);
	was = hooks_enter(from);
	p = call(n);
	hooks_leave(was);
	note_alloc(from, p, n, HEAP_ALIGNED);
	return p;
}

HOOK void *valloc(size_t n)
{
	struct walk_start from = TRACER_CALLER();

	return real_calls_ready() ? page_aligned(&from, real.valloc, n) : NULL;
}

HOOK void *pvalloc(size_t n)
{
	struct walk_start from = TRACER_CALLER();

	return real_calls_ready() ? page_aligned(&from, real.pvalloc, n) : NULL;
}

/* C23. What the program's libc may not have yet is a free all the same. */
HOOK void free_sized(void *p, size_t size)
{
	struct walk_start from = TRACER_CALLER();

	(void)size;
	give_back(&from, p, &real_first.free);
}

HOOK void free_aligned_sized(void *p, size_t align, size_t size)
{
	struct walk_start from = TRACER_CALLER();

	(void)align;
	(void)size;
	give_back(&from, p, &real_first.free);
}
