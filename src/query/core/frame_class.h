/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What frames are known to do, whatever program they are in: the values of the filter term is:.
 *
 * Names decide, as the authors of libraries, languages and kernels gave them; they must match as a whole. A class of a stack
 * is that of its innermost frame, or of any frame, as the table says: a page fault is one whatever the kernel calls for it.
 */
#ifndef PROFTOP_QUERY_CORE_FRAME_CLASS_H
#define PROFTOP_QUERY_CORE_FRAME_CLASS_H

#include "profile/profile.h"

#include <stdbool.h>

struct err;
struct regex;

/* X(enum, name in is:NAME, only of the innermost frame); behind it what a stack of that class does */
/* clang-format off */
#define FRAME_CLASSES(X) \
	X(IDLE,    "idle",    true)  /* the processor has nothing to do */ \
	X(KERNEL,  "kernel",  true)  /* the kernel runs */ \
	X(LOCK,    "lock",    false) /* a lock is taken, given up or waited for */ \
	X(FUTEX,   "futex",   false) /* the kernel's futexes, on which locks wait */ \
	X(ALLOC,   "alloc",   false) /* the allocator runs */ \
	X(COPY,    "copy",    true)  /* memory is copied or set: memcpy, memmove, memset and the kernel's */ \
	X(FAULT,   "fault",   false) /* a page fault is handled */ \
	X(UNNAMED, "unnamed", true)  /* the innermost frame has no symbol */ \
	X(TRACER,  "tracer",  true)  /* the recorder of the heap works, in the program's calls or on a thread or stack of its own */
/* clang-format on */

enum frame_class {
#define X(id, name, innermost) FRAME_CLASS_##id,
	FRAME_CLASSES(X)
#undef X
		N_FRAME_CLASSES
};

/*
 * The recorder of heaps in the program that it records: its malloc() is no allocator's, and none of its functions is of a class
 * that names decide.
 */
#define TRACER_MODULE "libproftop-heap.so"

const char *frame_class_name(enum frame_class c);
/* Does only the innermost frame of a stack count? */
bool frame_class_is_innermost(enum frame_class c);
/* False when no class has the name. */
bool frame_class_find(const char *name, enum frame_class *out);

/* An expression for the names of the class, or NULL where no names decide; the caller frees. */
struct regex *frame_class_regex(enum frame_class c);

/* Is a function of the class? regex is the class's. */
bool frame_class_has_function(enum frame_class c, struct regex *regex, const struct profile *p,
			      const struct function *f);
/* The same of frames of a module of which no function is known. */
bool frame_class_has_unnamed(enum frame_class c, const struct profile *p, module_id m);

#endif
