/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that came packed together, by short names. They are unpacked when the first one is wanted, into one
 * file without a name; what is wanted then becomes a file of its own, also without a name. So nothing
 * in the pack decides where anything is written, and nothing is left behind.
 */
#ifndef PROFTOP_RESOLVE_ATTIC_H
#define PROFTOP_RESOLVE_ATTIC_H

#include <stddef.h>
#include <stdint.h>

struct attic;
struct err;

/* Unpacks: attic_begin() and attic_put() for each file. 0, or -errno with a sentence. */
typedef int attic_fill(struct attic *a, void *arg, struct err *e);

/* path is for messages; copied. arg must outlive it. */
struct attic *attic_new(const char *path, attic_fill *fill, void *arg);
void attic_free(struct attic *a);

/* For fill only. A file begins; what is put from now on is its content. Names come once. */
int attic_begin(struct attic *a, const char *name, struct err *e);
int attic_put(struct attic *a, const void *bytes, size_t n, struct err *e);

/* Where the file of that name can be opened, or NULL; borrowed. Any thread; the first call takes long. */
const char *attic_find(struct attic *a, const char *name);

const char *attic_path(const struct attic *a);
/* Files in it; 0 also while none was wanted. */
size_t attic_n(struct attic *a);
/* Why not all of it could be unpacked, or NULL; borrowed. */
const char *attic_trouble(struct attic *a);

#endif
