/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of one module as packs bring it: functions with samples, their bytes, what debug information says of their
 * instructions, and names of what they lead to. code_archive.h makes it. An attachment (profile.h) is numbers of base/pack_numbers.h:
 *
 *   why          text; why there is no code, or ""
 *   path         text; of the file that the code is from
 *   machine      EM_…
 *   flags        1: 64 bits, 2: of the other byte order, 4: no build-id was recorded
 *   strings      count, texts; a string is its number + 1 in what follows, or 0
 *   positions    count; of each the count of its frames, of each frame name, file and line, outermost first
 *   functions    count, by address; of each: begin less that of the one before, size, shown address less begin, name,
 *                bytes (text), count of bytes of its runs, runs: how many bytes are at a position, its number + 1 or 0
 *   notes        count, by address; of each: shown address less that of the one before, string
 */
#ifndef PROFTOP_CODE_PACKED_CODE_H
#define PROFTOP_CODE_PACKED_CODE_H

#include "code/code_image.h"

#define PACKED_IS64       1u
#define PACKED_SWAPPED    2u
#define PACKED_UNVERIFIED 4u

struct packed_code;

/* All that there is of a module; NULL: nothing. Damaged parts are left out. */
struct packed_code *packed_code_open(const struct profile *p, module_id m);
void packed_code_free(struct packed_code *c);

/* As code_image.h has them. */
bool packed_code_has(const struct packed_code *c); /* any function? */
const char *packed_code_why(const struct packed_code *c);
const char *packed_code_path(const struct packed_code *c);
uint16_t packed_code_machine(const struct packed_code *c);
unsigned packed_code_flags(const struct packed_code *c);
bool packed_code_function(const struct packed_code *c, uint64_t address, struct code_extent *out);
uint8_t *packed_code_read(const struct packed_code *c, uint64_t begin, size_t n);
uint64_t packed_code_shown(const struct packed_code *c, uint64_t address);
char *packed_code_note(const struct packed_code *c, uint64_t shown);
void packed_code_frames(const struct packed_code *c, const uint64_t *addresses, size_t n,
			code_take *take, void *arg);

#endif
