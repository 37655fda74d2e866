/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a recording of simpleperf saw, with the symbols that its samples needed. */
#ifndef PROFTOP_PERF_FILE_SIMPLEPERF_FILES_H
#define PROFTOP_PERF_FILE_SIMPLEPERF_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolver;

/*
 * Hands the symbols of the FILE feature's n bytes to the resolver, or of the FILE2 feature's, which are
 * protocol buffers. False when they are damaged: what came before counts.
 */
bool simpleperf_files(struct resolver *r, const uint8_t *bytes, size_t n, bool swap);
bool simpleperf_files2(struct resolver *r, const uint8_t *bytes, size_t n);

#endif
