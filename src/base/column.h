/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing array that never moves: one writer may append while others read what was published.
 *
 * Address space for the largest size is reserved up front (PROT_NONE) and made usable as the column
 * grows, so that an element's address is fixed and a plain pointer serves every reader. New
 * elements read as zero. Where the address space is limited (ulimit -v), less is reserved and
 * column_extend() says so by failing.
 */
#ifndef PROFTOP_BASE_COLUMN_H
#define PROFTOP_BASE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column {
	void *base;              /* first element; NULL until the first column_extend() */
	size_t element_bytes;    /* size of one element */
	uint64_t n_max;          /* elements that will ever fit */
	uint64_t usable_bytes;   /* bytes made readable and writable so far */
	uint64_t reserved_bytes; /* bytes of address space held */
	bool in_file;            /* the elements are in `fd`, which is owned */
	int fd;
};

/* Nothing is reserved before the first element. */
void column_init(struct column *c, size_t element_bytes, uint64_t n_max);
void column_done(struct column *c);

/*
 * Makes elements [0, n) usable and returns 0; -EFBIG when n passes n_max or what could be reserved,
 * -ENOMEM when the system has no memory left. Failing leaves the column as it was.
 */
int column_extend(struct column *c, uint64_t n);

/*
 * Elements [from, to) are not read any more, and their memory is given back as far as it is whole pages of theirs; the first of
 * these pages may have elements before. Nothing is done where the elements are in a file.
 */
void column_forget(struct column *c, uint64_t from, uint64_t to);

/*
 * Has all elements, those that are there and those to come, in an open file, which is empty and from now on the
 * column's: where memory is short the system writes them there. Addresses stay, and readers notice nothing.
 * column_extend() may return -ENOSPC then. 0; or -errno, and then the descriptor is still the caller's.
 */
int column_to_file(struct column *c, int fd);

#endif
