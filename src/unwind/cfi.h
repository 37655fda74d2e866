/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame information of one module: bytes of .eh_frame and .debug_frame → unwind rules by pc.
 *
 * Rules are compiled per function when one of its addresses is first asked for, and kept. Nothing
 * is believed: a table that is not sorted, an entry that runs out of its section, a program that
 * does not end are as if they were not there.
 *
 * Sources: DWARF 5 §6.4; Linux Standard Base Core 5.0, "Exception Frames" (.eh_frame, .eh_frame_hdr).
 */
#ifndef PROFTOP_UNWIND_CFI_H
#define PROFTOP_UNWIND_CFI_H

#include "unwind/arch.h"
#include "unwind/cfi_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section's bytes and where they lie in the module's address space. n 0: there is none. */
struct cfi_section {
	const uint8_t *bytes; /* borrowed for the cfi's life */
	size_t n;
	uint64_t address;
};

struct cfi_sections {
	struct cfi_section eh_frame, eh_frame_hdr, debug_frame;
	enum unwind_arch arch;
};

struct cfi;
struct cfi_row;

/* Never fails: a module without usable CFI is one in which nothing is found. */
struct cfi *cfi_new(const struct cfi_sections *s);
void cfi_free(struct cfi *c);

/*
 * The rule for the instruction at pc (an address of the module). False: no entry covers it. Several
 * threads may ask at once.
 */
bool cfi_find(struct cfi *c, uint64_t pc, struct cfi_rule *out);

/* The same with every register, by running the program again; for CFA_GENERAL. */
bool cfi_row_at(struct cfi *c, uint64_t pc, struct cfi_row *out);

/*
 * The function that pc is in: [*begin, *end) of the entry that covers it, which a compiler writes for each function, and for
 * each part of one that it put elsewhere. False: no entry covers it.
 */
bool cfi_function(struct cfi *c, uint64_t pc, uint64_t *begin, uint64_t *end);

/*
 * Calls each(arg, row begin, row end, rule) for every row of every entry, in the order of the
 * sections, until it returns false. Returns the number of entries that could not be read.
 */
typedef bool cfi_each_fn(void *arg, uint64_t begin, uint64_t end, const struct cfi_rule *rule);
size_t cfi_each(struct cfi *c, cfi_each_fn *each, void *arg);

#endif
