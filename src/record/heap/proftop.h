/* SPDX-License-Identifier: GPL-3.0-or-later OR 0BSD */
/*
 * For programs that want to be found in their recordings: include this, call proftop_mark("phase"). Nothing
 * is to be linked; when no recording is on, a mark is a test of a pointer. Code that is compiled as not
 * position independent (-fno-pic, not the default of today's compilers) cannot find it: its marks do nothing.
 */
#ifndef PROFTOP_RECORD_HEAP_PROFTOP_H
#define PROFTOP_RECORD_HEAP_PROFTOP_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the preload library defines; absent without it. Keeps nothing of name, keeps errno. */
void proftop_mark_now(const char *name) __attribute__((weak));
void proftop_switch_now(int on) __attribute__((weak));

/* Notes that something begins now: a name of at most 1,000 bytes. */
static inline void proftop_mark(const char *name)
{
	if (proftop_mark_now)
		proftop_mark_now(name);
}

/* From now on, allocations are recorded (1) or not (0). Frees of recorded ones are in any case. */
static inline void proftop_switch(int on)
{
	if (proftop_switch_now)
		proftop_switch_now(on);
}

#ifdef __cplusplus
}
#endif

#endif
