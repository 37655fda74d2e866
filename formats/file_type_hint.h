/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bytes that no reader takes seem to be, for a sentence that helps. */
#ifndef PROFTOP_FORMATS_FILE_TYPE_HINT_H
#define PROFTOP_FORMATS_FILE_TYPE_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "JSON", "an ELF file", …; NULL when the bytes have no sign that is known. Static text. */
const char *file_type_hint_like(const uint8_t *bytes, size_t n);

/* Is it by its sign one that can be run? */
bool file_type_hint_like_program(const uint8_t *bytes, size_t n);

/* Has it hardly more control characters than text has? */
bool file_type_hint_like_text(const uint8_t *bytes, size_t n);

#endif
