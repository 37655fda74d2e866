/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runtime.asmcgocall keeps at its stack pointer how deep the goroutine's stack was and which goroutine (a "g") it is:
 * runtime/asm_amd64.s. A g begins with the bounds of its stack, runtime/runtime2.go. Of other functions that change
 * stacks, as runtime.systemstack, only the frame pointer tells where they came from.
 */
#include "config.h"

#include "record/heap/stack/live_go.h"

#include "record/heap/trace/tracer_memory.h"

#include <stdatomic.h>
#include <stddef.h>

#define LEAST_STACK UINT64_C(2048)
#define MOST_STACK  (UINT64_C(1) << 30)
#define LINK_BYTES  UINT64_C(16) /* a frame pointer and the return address behind it */
#define PAGE_BYTES  UINT64_C(4096)
#define N_KNOWN     64u

/* Descriptors that could be read: Go keeps them for good. */
static _Atomic uint64_t known[N_KNOWN];

static bool is_readable(uint64_t g)
{
	_Atomic uint64_t *slot = &known[(g >> 7) % N_KNOWN];

	if (atomic_load_explicit(slot, memory_order_relaxed) == g)
		return true;
	if (!tracer_readable((const void *)g, 16))
		return false;
	atomic_store_explicit(slot, g, memory_order_relaxed);
	return true;
}

static bool by_goroutine(uint64_t depth, uint64_t g, uint64_t fp, struct live_go_stack *out)
{
	uint64_t low, high;

	if (g == 0 || (g & 7) || depth < LINK_BYTES || depth > MOST_STACK || !is_readable(g))
		return false;
	low = ((const uint64_t *)g)[0];
	high = ((const uint64_t *)g)[1];
	if (high <= low || high - low < LEAST_STACK || high - low > MOST_STACK ||
	    depth > high - low || fp < high - depth || fp > high - LINK_BYTES)
		return false;
	*out = (struct live_go_stack){ high - depth, high };
	return true;
}

bool live_go_stack_at(const uint64_t word[2], uint64_t fp, struct live_go_stack *out)
{
	if (fp & 7)
		return false;
	if (by_goroutine(word[0], word[1], fp, out))
		return true;
	if (!tracer_readable((const void *)fp, LINK_BYTES))
		return false;
	*out = (struct live_go_stack){ fp, (fp + LINK_BYTES + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1) };
	return true;
}
