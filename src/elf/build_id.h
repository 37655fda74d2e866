/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Build-ids as values: comparing, hexadecimal, finding them in notes. */
#ifndef PROFTOP_ELF_BUILD_ID_H
#define PROFTOP_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a linker wrote into a file so that its parts are known to belong together. */
struct build_id {
	uint8_t bytes[20];
	uint8_t n; /* 0: unknown */
};

#define BUILD_ID_HEX_BYTES 41 /* 20 bytes as hexadecimal digits and a NUL */

/* From bytes; more than 20 are cut. A padded id of 20 loses trailing zeros, 4 at a time. */
struct build_id build_id_of(const void *bytes, size_t n);

/* Both known and the same; trailing zeros do not count, as old recordings pad to 20 bytes. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Lower-case hex digits, "" when unknown; returns out. */
const char *build_id_hex(char out[BUILD_ID_HEX_BYTES], const struct build_id *id);

/*
 * The NT_GNU_BUILD_ID note among n bytes of notes (a section, a segment, /sys/kernel/notes). False
 * when there is none; *id is untouched then.
 */
bool build_id_from_notes(const void *notes, size_t n, bool swap, struct build_id *id);

#endif
