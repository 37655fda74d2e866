/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Included in front of everything that the preload library is made of: what its code calls malloc is the
 * tracer's own memory. The hooks, which are the real names, undo it.
 */
#ifndef PROFTOP_RECORD_HEAP_OWN_MALLOC_H
#define PROFTOP_RECORD_HEAP_OWN_MALLOC_H

#include <malloc.h>
#include <stdlib.h>

#include "record/heap/trace/tracer_memory.h"

#define malloc(n)     tracer_malloc(n)
#define calloc(n, b)  tracer_calloc(n, b)
#define realloc(p, n) tracer_realloc(p, n)
#define free(p)       tracer_free(p)

#endif
