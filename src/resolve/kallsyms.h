/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's symbols as text: /proc/kallsyms, and copies of it that recordings keep. */
#ifndef PROFTOP_RESOLVE_KALLSYMS_H
#define PROFTOP_RESOLVE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct symtab;

struct kallsyms {
	struct symtab *symbols; /* by their addresses in memory; sealed; owned */
	bool hidden;            /* all addresses are 0: kptr_restrict was on */
};

/*
 * Reads a file (not more than some hundred megabytes of it). 0, or -errno with a sentence. The caller
 * ends with kallsyms_done().
 */
int kallsyms_load(const char *path, struct kallsyms *out, struct err *e);
/* Of n bytes with a NUL after them, which it takes (malloc). */
void kallsyms_of_text(char *text, size_t n, struct kallsyms *out);
void kallsyms_done(struct kallsyms *k);

/* Where a symbol of the kernel itself is; false when it is not there. */
bool kallsyms_value(const struct kallsyms *k, const char *name, uint64_t *value);

#endif
