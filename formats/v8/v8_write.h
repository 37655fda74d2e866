/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes V8's profiles: what DevTools open. */
#ifndef PROFTOP_FORMATS_V8_V8_WRITE_H
#define PROFTOP_FORMATS_V8_V8_WRITE_H

#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/*
 * The shown metric of all threads: of time as a .cpuprofile with samples, of counts as one with hits, of bytes as a .heapprofile. A
 * .cpuprofile is of one thread: with several, each is a node below the root, and their samples follow each other, so that times are lost.
 * As format.write.
 */
int v8_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e);
/* As format.holds_also. */
unsigned v8_holds_also(const struct analysis *a);

#endif
