/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking up what comes after us in the loader's order. */
#include "config.h"

#include "record/heap/hooks/real_calls.h"

#include "record/heap/hooks/got.h"
#include "record/heap/hooks/hooks.h"
#include "record/heap/hooks/hooks_forbid.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdint.h>

/* Here they are the real names; see own_malloc.h. */
#undef malloc
#undef calloc
#undef free

#define MOST_YIELDS 100000u

/* Other libcs have none of it; there nothing is taken to lie in front of us. */
#pragma weak dladdr1

struct real_calls real __attribute__((visibility("hidden")));
struct first_calls real_first __attribute__((visibility("hidden")));
struct passed_calls real_passed __attribute__((visibility("hidden")));

_Alignas(64) uint8_t real_pool[REAL_POOL_BYTES];
static _Atomic size_t pool_used;

static _Atomic uint32_t finding;                                       /* one thread is at it */
static __thread bool finds __attribute__((tls_model("initial-exec"))); /* this one is */

void *real_pool_take(size_t align, size_t bytes)
{
	size_t used = atomic_load(&pool_used), at;

	align = align < 16 ? 16 : align;
	do {
		at = (used + align - 1) & ~(align - 1);
		if (align > 64 || at > REAL_POOL_BYTES || bytes > REAL_POOL_BYTES - at)
			return NULL;
	} while (!atomic_compare_exchange_weak(&pool_used, &used, at + bytes));
	return real_pool + at;
}

/* Does what was found as `name` lie in front of us, and is it more than the executable's way to call ours? */
static bool is_in_front(const void *found)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info, own;

	return found && dladdr1 && dladdr(&real, &own) &&
	       dladdr1(found, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) &&
	       info.dli_fbase != own.dli_fbase && symbol && symbol->st_shndx != SHN_UNDEF;
}

/* ISO C has no way to turn an object pointer into a function's; POSIX wants this one to work. */
static void find(void *to, const char *name)
{
	*(void **)to = dlsym(RTLD_NEXT, name);
}

static void find_first(void *to, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	*(void **)to = is_in_front(found) ? found : dlsym(RTLD_NEXT, name);
}

/* May the allocator call itself by the names that are ours? A library's calloc may be made of malloc. */
static bool calls_itself(void)
{
	const void *const all[] = {
		*(void **)&real.malloc,         *(void **)&real.free,
		*(void **)&real.calloc,         *(void **)&real.realloc,
		*(void **)&real.posix_memalign, *(void **)&real.aligned_alloc,
		*(void **)&real.memalign,       *(void **)&real.valloc,
		*(void **)&real.pvalloc,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (got_calls_allocators(all[i]))
			return true;
	return false;
}

/* As the hooks of these names do, in code and with data of their own; see pass_cost.h. */
#define AGAIN static __attribute__((noinline, section(".text.again"), aligned(64)))
AGAIN void *malloc_again(size_t n)
{
	(void)hooks_skip_again(n);
	return real.malloc(n);
}

AGAIN void free_again(void *p)
{
	(void)hooks_skip_block_again(p);
	real.free(p);
}

AGAIN void *calloc_again(size_t n, size_t size)
{
	size_t all;

	(void)(!__builtin_mul_overflow(n, size, &all) && hooks_skip_again(all));
	return real.calloc(n, size);
}

void real_calls_twice(bool twice)
{
	/* Other threads call by them meanwhile. */
	__atomic_store_n(&real_passed.malloc, twice ? malloc_again : real.malloc, __ATOMIC_RELAXED);
	__atomic_store_n(&real_passed.free, twice ? free_again : real.free, __ATOMIC_RELAXED);
	__atomic_store_n(&real_passed.calloc, twice ? calloc_again : real.calloc, __ATOMIC_RELAXED);
}

void real_calls_adopt(void *(*look_up)(const char *name))
{
	atomic_store(&finding, 1);
#define X(name, type, parameters) *(void **)&real.name = look_up(#name);
	REAL_CALLS(X)
#undef X
	real_first = (struct first_calls){ real.realloc, real.free };
	recorder.nests |= calls_itself();
	real_calls_twice(false);
	real.attached = true;
	atomic_store_explicit(&real.ready, true, memory_order_release);
	hooks_forbid_ready();
}

/* The names by which programs call an allocator. */
/* clang-format off */
#define FAMILY(X) \
	X(malloc) \
	X(free) \
	X(calloc) \
	X(realloc) \
	X(posix_memalign) \
	X(aligned_alloc) \
	X(memalign) \
	X(valloc) \
	X(pvalloc)
/* clang-format on */

bool real_calls_take_first(void *(*look_up)(const char *name))
{
	const void *first = dlsym(RTLD_DEFAULT, "malloc");

	/* Where the program's calls lead is chosen while it begins: no table has it yet. */
	if (!is_in_front(first) || look_up("malloc") != first)
		return false;
#define X(name) \
	if (is_in_front(dlsym(RTLD_DEFAULT, #name))) \
		*(void **)&real.name = look_up(#name);
	FAMILY(X)
#undef X
	recorder.nests |= calls_itself();
	real_calls_twice(false);
	real.by_tables = true;
	return true;
}

static bool replace(void *at, const void *from, const void *to)
{
	const void **call = at;
	bool is_it = *call == from;

	if (is_it)
		*call = to;
	return is_it;
}

bool real_calls_replace(const void *from, const void *to)
{
	bool done = replace(&real_first.realloc, from, to);

#define X(name, type, parameters) done |= replace(&real.name, from, to);
	REAL_CALLS(X)
#undef X
	done |= replace(&real_first.free, from, to);
	real_calls_twice(false);
	return done;
}

bool real_calls_find(void)
{
	uint32_t none = 0;

	if (finds)
		return false;
	if (!atomic_compare_exchange_strong(&finding, &none, 1)) {
		/* Whoever is at it may wait for a lock of the loader's that this thread holds. */
		for (unsigned i = 0; i < MOST_YIELDS; i++) {
			if (atomic_load_explicit(&real.ready, memory_order_acquire))
				return true;
			sched_yield();
		}
		return false;
	}
	finds = true;
#define X(name, type, parameters) find(&real.name, #name);
	REAL_CALLS(X)
#undef X
	find_first(&real_first.realloc, "realloc");
	find_first(&real_first.free, "free");
	/* What lies in front of us may call us in turn. */
	recorder.nests |= real_first.realloc != real.realloc || real_first.free != real.free ||
			  calls_itself();
	real_calls_twice(false);
	finds = false;
	atomic_store_explicit(&real.ready, true, memory_order_release);
	hooks_forbid_ready();
	return true;
}
