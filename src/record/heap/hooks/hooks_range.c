/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that the program maps itself: anonymous and accessible, as files and reserved addresses are no heap.
 * What libc maps for malloc and for threads does not come by here.
 */
#include "config.h"

#include "heaptrace/heap_events.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_record.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default"), noinline))

/* <sys/mman.h> has it as another name of mmap. */
#undef mmap64
void *mmap64(void *address, size_t n, int prot, int flags, int fd, off_t offset);

static void *map(const struct walk_start *from, void *address, size_t n, int prot, int flags,
		 int fd, off_t offset)
{
	struct tracer_range range = { .kind = HEAP_MAP, .size = n };
	void *p;

	/* Before the real one is known, the kernel is. */
	if (!real_calls_ready() || !real.mmap)
		return (void *)syscall(SYS_mmap, address, n, prot, flags, fd, offset);
	p = real.mmap(address, n, prot, flags, fd, offset);
	range.address = (uint64_t)p;
	if (p == MAP_FAILED)
		return p;
	if (!(flags & MAP_ANONYMOUS) || prot == PROT_NONE) {
		if (!(flags & MAP_FIXED))
			return p;
		/* It took the place of what may have been heap. */
		range.kind = HEAP_UNMAP;
	}
	tracer_record_range(from, &range);
	return p;
}

HOOK void *mmap(void *address, size_t n, int prot, int flags, int fd, off_t offset)
{
	struct walk_start from = TRACER_CALLER();

	return map(&from, address, n, prot, flags, fd, offset);
}

HOOK void *mmap64(void *address, size_t n, int prot, int flags, int fd, off_t offset)
{
	struct walk_start from = TRACER_CALLER();

	return map(&from, address, n, prot, flags, fd, offset);
}

/* Told before it is so: another thread may be given the addresses at once. */
HOOK int munmap(void *address, size_t n)
{
	struct walk_start from = TRACER_CALLER();
	struct tracer_range range = { .kind = HEAP_UNMAP, .address = (uint64_t)address, .size = n };

	if (!real_calls_ready() || !real.munmap)
		return (int)syscall(SYS_munmap, address, n);
	/* What the kernel refuses: it does not begin at a page, or is empty. */
	if (((uint64_t)address & 4095) == 0 && n)
		tracer_record_range(&from, &range);
	return real.munmap(address, n);
}

HOOK void *mremap(void *old, size_t old_size, size_t n, int flags, ...)
{
	struct walk_start from = TRACER_CALLER();
	struct tracer_range range = {
		.kind = HEAP_REMAP, .size = n, .old_address = (uint64_t)old, .old_size = old_size
	};
	void *target = NULL, *p;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		target = va_arg(ap, void *);
	va_end(ap);
	if (!real_calls_ready() || !real.mremap)
		return (void *)syscall(SYS_mremap, old, old_size, n, flags, target);
	p = real.mremap(old, old_size, n, flags, target);
	range.address = (uint64_t)p;
	if (p != MAP_FAILED)
		tracer_record_range(&from, &range);
	return p;
}

/* The heap's end was moved from `before`. */
static void note_break(const struct walk_start *from, void *before, void *now)
{
	struct tracer_range range = { .kind = HEAP_BREAK,
				      .address = (uint64_t)now,
				      .old_address = (uint64_t)before };

	if (before != now)
		tracer_record_range(from, &range);
}

HOOK void *sbrk(intptr_t by)
{
	struct walk_start from = TRACER_CALLER();
	void *before = real_calls_ready() ? real.sbrk(by) : (void *)-1;

	if (before != (void *)-1)
		note_break(&from, before, (char *)before + by);
	return before;
}

HOOK int brk(void *end)
{
	struct walk_start from = TRACER_CALLER();
	void *before;
	int ret;

	if (!real_calls_ready())
		return -1;
	before = real.sbrk(0);
	ret = real.brk(end);
	if (ret == 0)
		note_break(&from, before, end);
	return ret;
}
