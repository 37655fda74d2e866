/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that came packed together, by short names. They are unpacked when the first one is wanted, into one
 * file without a name; what is wanted then becomes a file of its own, also without a name. So nothing
 * in the pack decides where anything is written, and nothing is left behind.
 */
#ifndef PROFTOP_SYMBOLS_SEARCH_FILE_ARCHIVE_H
#define PROFTOP_SYMBOLS_SEARCH_FILE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct file_archive;
struct err;

/* Unpacks: file_archive_begin() and file_archive_put() for each file. 0, or -errno with a sentence. */
typedef int file_archive_fill(struct file_archive *a, void *arg, struct err *e);

/* path is for messages; copied. arg must outlive it. */
struct file_archive *file_archive_new(const char *path, file_archive_fill *fill, void *arg);
void file_archive_free(struct file_archive *a);

/* For fill only. A file begins; what is put from now on is its content. Names come once. */
int file_archive_begin(struct file_archive *a, const char *name, struct err *e);
int file_archive_put(struct file_archive *a, const void *bytes, size_t n, struct err *e);

/* Where the file of that name can be opened, or NULL; borrowed. Any thread; the first call takes long. */
const char *file_archive_find(struct file_archive *a, const char *name);

const char *file_archive_path(const struct file_archive *a);
/* Files in it; 0 also while none was wanted. */
size_t file_archive_n(struct file_archive *a);
/* Why not all of it could be unpacked, or NULL; borrowed. */
const char *file_archive_trouble(struct file_archive *a);

#endif
