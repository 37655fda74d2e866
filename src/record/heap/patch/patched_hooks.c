/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As in hooks_alloc.c the allocator does the work, then (before it, for what is given back) the recorder is told; but
 * these functions may call each other, and then only the outermost is an event.
 *
 * Compiled with frame pointers, as TRACER_CALLER() reads the frame of the hook.
 */
#include "config.h"

#include "record/heap/patch/patched_hooks.h"

#include "record/heap/hooks/hooks.h"
#include "record/heap/stack/live_stack.h"
#include "record/heap/trace/tracer_record.h"
#include "record/heap/trace/tracer_thread.h"

#include <stddef.h>

/*
 * Of a stack that cannot be walked: what an allocator may have below its caller; a call from further down is not its own.
 */
#define NESTED_BYTES (256u << 10)

bool hooks_are_nested(const struct walk_start *from)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	uint64_t sp = tracer_tls.within;
	enum live_within how = t ? live_stack_within(t, from, sp) : LIVE_WITHIN_UNKNOWN;

	if (t)
		tracer_thread_leave(t);
	switch (how) {
	case LIVE_WITHIN:
		return true;
	case LIVE_INTERRUPTED:
		return false;
	case LIVE_LEFT:
		break;
	case LIVE_WITHIN_UNKNOWN:
		if (from->sp < sp && sp - from->sp < NESTED_BYTES)
			return true;
		break;
	}
	tracer_tls.within = 0;
	return false;
}

typedef uint64_t original_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Calls `original`, which may leave by an exception: operator new does. */
uint64_t hooks_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		    const void *original) __attribute__((visibility("hidden")));

/* What unwinders ask about hooks_call(). From <unwind.h>: they are to go on; 2 is that they leave it now. */
int hooks_unwind(int version, int actions, uint64_t kind, void *exception, void *context)
	__attribute__((visibility("hidden")));
int hooks_unwind(int version, int actions, uint64_t kind, void *exception, void *context)
{
	(void)version;
	(void)kind;
	(void)exception;
	(void)context;
	if (actions & 2)
		tracer_tls.within = 0;
	return 8;
}

#if defined(__x86_64__)
__asm__(".text\n.hidden hooks_call\n.globl hooks_call\n.type hooks_call,@function\nhooks_call:\n\t"
	".cfi_startproc\n\t.cfi_personality 0x1b, hooks_unwind\n\tendbr64\n\t"
	"pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\t"
	"movq %rsp, %rbp\n\t.cfi_def_cfa_register 6\n\t"
	"call *%r9\n\t"
	"popq %rbp\n\t.cfi_def_cfa 7, 8\n\tret\n\t"
	".cfi_endproc\n.size hooks_call, .-hooks_call\n");
#else
/* No code leads here on such machines. */
uint64_t hooks_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		    const void *original)
{
	return ((original_fn *)(uintptr_t)original)(a, b, c, d, e);
}
#endif

/* The arguments as they are numbered where functions are described. */
#define ARGUMENTS(h) \
	const uint64_t all[ALLOCATOR_ARGUMENTS] = { a, b, c, d, e }; \
	const uint64_t *argument = all + (h)->shift

#define HOOK_PARAMETERS \
	uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, const struct hooked *h

/* The function, as if we were not there. */
#define CALL_PLAIN() ((original_fn *)(uintptr_t)h->original)(a, b, c, d, e)

static uint64_t call_within(const struct walk_start *from, HOOK_PARAMETERS)
{
	uint64_t result, was = tracer_tls.within;

	tracer_tls.within = from->sp;
	result = hooks_call(a, b, c, d, e, h->original);
	tracer_tls.within = was;
	return result;
}
#define CALL_WITHIN() call_within(&from, a, b, c, d, e, h)

static size_t size_of(const struct hooked *h, const uint64_t *argument)
{
	const struct allocator_function *f = h->function;
	uint64_t size = argument[f->size], all;

	if (f->count == ALLOCATOR_NONE)
		return size;
	return __builtin_mul_overflow(size, argument[f->count], &all) ? SIZE_MAX : all;
}

static uint64_t hook_alloc(HOOK_PARAMETERS)
{
	struct walk_start from = TRACER_CALLER();
	ARGUMENTS(h);
	uint64_t p;

	if (!hooks_record(&from))
		return CALL_PLAIN();
	p = CALL_WITHIN();
	if (p)
		tracer_record_alloc(&from, (void *)p, size_of(h, argument), h->function->kind);
	return p;
}

static uint64_t hook_alloc_at(HOOK_PARAMETERS)
{
	struct walk_start from = TRACER_CALLER();
	ARGUMENTS(h);
	uint64_t result;

	if (!hooks_record(&from))
		return CALL_PLAIN();
	result = CALL_WITHIN();
	if ((int)result == 0)
		tracer_record_alloc(&from, *(void **)argument[h->function->block],
				    size_of(h, argument), h->function->kind);
	return result;
}

static uint64_t hook_free(HOOK_PARAMETERS)
{
	struct walk_start from = TRACER_CALLER();
	ARGUMENTS(h);
	void *p = (void *)argument[h->function->block];

	if (!hooks_record(&from))
		return CALL_PLAIN();
	if (p)
		tracer_record_free(&from, p);
	return CALL_WITHIN();
}

static uint64_t hook_realloc(HOOK_PARAMETERS)
{
	struct walk_start from = TRACER_CALLER();
	ARGUMENTS(h);
	size_t size = size_of(h, argument);
	struct tracer_old old;
	uint64_t p, had = argument[h->function->block];

	if (!hooks_record(&from))
		return CALL_PLAIN();
	old = tracer_record_give_up((void *)had);
	p = CALL_WITHIN();
	if (p)
		tracer_record_realloc(&from, &old, (void *)p, size);
	else if (had && (size == 0 || h->function->act == ACT_REALLOC_OR_FREE))
		tracer_record_given_up(&from, &old);
	else
		tracer_record_take_back(&from, &old);
	return p;
}

/* The block stays where it is, and is as large as it was or as it was to become; jemalloc(3), xallocx(). */
static uint64_t hook_resize(HOOK_PARAMETERS)
{
	struct walk_start from = TRACER_CALLER();
	ARGUMENTS(h);
	size_t size = size_of(h, argument);
	struct tracer_old old;
	uint64_t now_bytes, p = argument[h->function->block];

	if (!hooks_record(&from))
		return CALL_PLAIN();
	old = tracer_record_give_up((void *)p);
	now_bytes = CALL_WITHIN();
	if (now_bytes >= size)
		tracer_record_realloc(&from, &old, (void *)p, size);
	else
		tracer_record_take_back(&from, &old);
	return now_bytes;
}

const void *patched_hooks_for(const struct allocator_function *f)
{
	uint64_t (*hook)(HOOK_PARAMETERS) = hook_alloc;

	switch ((enum allocator_act)f->act) {
	case ACT_ALLOC:
		break;
	case ACT_ALLOC_AT:
		hook = hook_alloc_at;
		break;
	case ACT_FREE:
		hook = hook_free;
		break;
	case ACT_REALLOC:
	case ACT_REALLOC_OR_FREE:
		hook = hook_realloc;
		break;
	case ACT_RESIZE:
		hook = hook_resize;
		break;
	}
	return (const void *)(uintptr_t)hook;
}
