/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The further files of a directory recording, beside its file data. Of perf record --threads: data.0, data.1 and so on,
 * which hold nothing but records that the file data describes. Of proftop record --cpu --heap: data.heap, data.2.heap and
 * so on, heap traces of the same run.
 */
#ifndef PROFTOP_INPUT_DIR_PARTS_H
#define PROFTOP_INPUT_DIR_PARTS_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct input;

enum dir_parts_kind { DIR_PARTS_RECORDS, DIR_PARTS_HEAPS };

struct dir_parts {
	enum dir_parts_kind kind;
	char *dir;            /* where they are; NULL: not a directory; owned */
	VEC(uint32_t) number; /* what stands behind "data.", rising; 1 is data.heap */
	uint64_t n_bytes;     /* of all */
};

/* Is it the name of such a file? *number may be NULL. */
bool dir_parts_name(enum dir_parts_kind kind, const char *name, uint32_t *number);

/* Those that are in dir, which may be NULL. Nothing is opened. */
void dir_parts_find(struct dir_parts *p, enum dir_parts_kind kind, const char *dir);
void dir_parts_done(struct dir_parts *p);

/* The path of the part at an index; the caller frees. */
char *dir_parts_path(const struct dir_parts *p, size_t i);
/* The part at an index, for the caller to close. -errno with a sentence. */
int dir_parts_open(const struct dir_parts *p, size_t i, struct input **out, struct err *e);

#endif
