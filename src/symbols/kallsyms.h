/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's symbols as text: /proc/kallsyms, and copies of it that recordings keep.
 *
 * There are some hundred thousand of them, of which a recording meets some dozens. So what is kept is where each
 * begins and where its line stands; the line is read again when an address is asked for that it names.
 */
#ifndef PROFTOP_SYMBOLS_KALLSYMS_H
#define PROFTOP_SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct kallsyms;

struct kallsym {
	uint64_t start, end;
	const char *name;
	const char *module; /* the "[name]" column without brackets, or NULL */
};

/* Reads a file (not more than some hundred megabytes of it). 0, or -errno with a sentence. */
int kallsyms_load(const char *path, struct kallsyms **out, struct err *e);
/* Of n bytes, which it takes (malloc). */
struct kallsyms *kallsyms_of_text(char *text, size_t n);
void kallsyms_free(struct kallsyms *k);

/* How many symbols there are. */
size_t kallsyms_n(const struct kallsyms *k);
/* All addresses are 0: kptr_restrict was on. */
bool kallsyms_hidden(const struct kallsyms *k);

/*
 * The symbol that an address in memory is in, or NULL; the same pointer for all addresses of a symbol. It ends where the
 * next of the same module begins; of several at one address the last is taken, as perf does. Borrowed. Not from several
 * threads at once.
 */
const struct kallsym *kallsyms_find(struct kallsyms *k, uint64_t address);

/* Where a symbol of the kernel itself is; false when it is not there. As kallsyms_find(). */
bool kallsyms_value(struct kallsyms *k, const char *name, uint64_t *value);

#endif
