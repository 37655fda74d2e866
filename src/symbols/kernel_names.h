/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of the kernel's code at once, for the thread that locates and cannot wait for naming. It opens for itself what
 * naming (symbolize.h) opens too: the two are asked by different threads.
 */
#ifndef PROFTOP_SYMBOLS_KERNEL_NAMES_H
#define PROFTOP_SYMBOLS_KERNEL_NAMES_H

#include <stdint.h>

struct dso_table;
struct debug_file_search;
struct kernel_names;

/* Borrows both. Nothing is opened before it is needed. */
struct kernel_names *kernel_names_new(const struct debug_file_search *f, struct dso_table *dsos);
void kernel_names_free(struct kernel_names *k);

/*
 * What an address of a dso of the kernel's is in, and how far into it. NULL: no symbols say it. Borrowed
 * from k.
 */
const char *kernel_names_find(struct kernel_names *k, uint32_t dso, uint64_t address,
			      uint64_t *offset);

#endif
