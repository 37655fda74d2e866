/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit-PID.dump: what a program that generates code writes of it while it runs
 * (linux tools/perf/Documentation/jitdump-specification.txt).
 *
 * Code is known by the offset of its bytes in the dump, which is unique, while addresses come again.
 */
#ifndef PROFTOP_SYMBOLS_JIT_JIT_DUMP_H
#define PROFTOP_SYMBOLS_JIT_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct jit_dump;

/* From a time on, code is at an address. */
struct jit_place {
	uint64_t time; /* in the dump's clock */
	uint64_t address;
	uint64_t size;   /* > 0; address + size does not wrap */
	uint64_t offset; /* of its bytes in the dump */
};

/* What stands at the beginning. */
struct jit_dump_head {
	int32_t pid;      /* as the program sees itself */
	uint64_t time;    /* when it was begun, in the dump's clock */
	bool cpu_clock;   /* times are the cpu's time stamps; else CLOCK_MONOTONIC in ns */
	uint32_t machine; /* EM_* of elf.h */
	bool swapped;     /* it is of the other byte order */
};

/* Unwind tables of a function, at addresses as when it was loaded. */
struct jit_tables {
	const uint8_t *eh_frame; /* borrowed */
	size_t n;                /* bytes of it; 0: none */
	uint64_t address;        /* of eh_frame */
	uint64_t code;           /* of the function's code */
	uint64_t code_offset;    /* of the same in the dump */
};

/*
 * Reads one, by the rules of own_file.h. -EBADMSG when it is no dump. What follows a damaged record, or a
 * record that is not whole, is left out.
 */
int jit_dump_load(const char *path, struct jit_dump **out, struct err *e);
/*
 * Reads what its program has written since; true when it tells of more code. What it told of before stays as it was, but
 * where it is in memory.
 */
bool jit_dump_more(struct jit_dump *d);
void jit_dump_free(struct jit_dump *d);

/* All below is borrowed until it is freed, or read on. */
const struct jit_dump_head *jit_dump_head(const struct jit_dump *d);
/* In the order of the file; *n of them. */
const struct jit_place *jit_dump_places(const struct jit_dump *d, size_t *n);
/* The name of the function whose bytes are at an offset; NULL. */
const char *jit_dump_name(const struct jit_dump *d, uint64_t offset);
/* Where that function begins in its source; NULL when the dump does not say. */
const char *jit_dump_source(const struct jit_dump *d, uint64_t offset, uint32_t *line);
/* Functions in it, and which of them is at an offset; SIZE_MAX: none. */
size_t jit_dump_n(const struct jit_dump *d);
size_t jit_dump_index(const struct jit_dump *d, uint64_t offset);
/* Does any function have unwind tables? */
bool jit_dump_has_tables(const struct jit_dump *d);
/*
 * Reads the tables of a function from the file again. Returns the bytes that *out borrows from, which
 * are the caller's to free; NULL: it has none, or they cannot be read.
 */
uint8_t *jit_dump_read_tables(const struct jit_dump *d, size_t index, struct jit_tables *out);
/* It ended inside a record or with a damaged one. */
bool jit_dump_cut(const struct jit_dump *d);

#endif
