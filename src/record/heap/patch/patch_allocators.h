/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocators that are linked into the executable or into a library, where no table of the loader leads to them: the
 * first bytes of their functions are made jumps to our hooks, once, before main, or when a library was opened, while one
 * thread runs. What cannot be done with certainty is not done, and told.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_PATCH_ALLOCATORS_H
#define PROFTOP_RECORD_HEAP_PATCH_PATCH_ALLOCATORS_H

#include <stdbool.h>

struct live_walk;

/* Does it, for all modules that are loaded, and tells what was done. For the library's constructor. */
void patch_allocators_install(void);

/* For a program that runs already, and whose code is not changed: finds out what there is to tell. */
void patch_allocators_look(void);

/* Which calls of a program that runs already are not seen, and why: what was found first; "" for none. Lives on. */
const char *patch_allocators_unseen(void);

/*
 * Are there modules that came after the program began, and is it time to look at them? w: the stack that was just walked,
 * and is new, as the first one is that leads through a module.
 */
bool patch_allocators_are_late(const struct live_walk *w);

/*
 * Does it for those, where nobody else runs and the stack says that nobody is at what is to be changed. Called with the
 * slow lock held.
 */
void patch_allocators_late(const struct live_walk *w);

/* Tells it once more, to the log and to a trace that begins. */
void patch_allocators_tell(void);

#endif
