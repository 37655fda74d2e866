/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf-PID.map: what a program that generates code says of it (linux tools/perf/Documentation/jit-interface.txt). */
#ifndef PROFTOP_SYMBOLS_JIT_JIT_MAP_H
#define PROFTOP_SYMBOLS_JIT_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct jit_map;

/* Reads one, by the rules of own_file.h. */
int jit_map_load(const char *path, struct jit_map **out, struct err *e);
/* Of n bytes with a NUL after them, which it takes (malloc). */
struct jit_map *jit_map_of_text(char *text, size_t n);
void jit_map_free(struct jit_map *m);

/* The name of the code at an address, by the last line that has it; NULL. Borrowed. */
const char *jit_map_find(const struct jit_map *m, uint64_t address);

/* Lines that could be used. */
size_t jit_map_n(const struct jit_map *m);

#endif
