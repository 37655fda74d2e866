/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of functions that go through tables which the loader filled (the GOT), led to our hooks of the same
 * names and back again: for a library that was loaded into a running program, whose calls were bound without it.
 *
 * A slot is changed only when what it leads to is what the loader found for everybody, so that modules that
 * have an allocator of their own keep it. Slots are single words: threads that call through them at that moment
 * take the old way or the new one.
 */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_GOT_H
#define PROFTOP_RECORD_HEAP_HOOKS_GOT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the program's calls of `name` lead to without us: the first definition in the order of the loader's
 * list. NULL: there is none.
 */
void *got_original(const char *name);

/*
 * May calls that the module of a function makes by itself come to our hooks? Where it is an allocator, and not libc's, they
 * are no calls of the program. NULL is in none.
 */
bool got_calls_allocators(const void *function);

/* Is it one of libc's functions? */
bool got_is_of_libc(const void *function);

/* Was this library there when the program began? */
bool got_is_preloaded(void);

/* Leads the calls of all modules that are loaded to our hooks. Returns how many slots were changed. */
uint32_t got_patch(void);

/* The same for modules that came since, if any did. */
void got_patch_new(void);

/* Leads them back. */
void got_restore(void);

#endif
