/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text on its way to a file: buffered, with numbers and strings as JSON and CSV have them. Failures stick. */
#ifndef PROFTOP_FORMATS_WRITE_TEXT_OUT_H
#define PROFTOP_FORMATS_WRITE_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_OUT_BYTES ((size_t)64 << 10)

struct err;

struct text_out {
	FILE *to;
	size_t n; /* bytes in the buffer */
	bool failed;
	char buffer[TEXT_OUT_BYTES];
};

/* to is borrowed; o is large: of the heap. */
void text_out_init(struct text_out *o, FILE *to);
/* Writes what is buffered. 0, or -errno with a sentence when anything could not be written. */
int text_out_done(struct text_out *o, struct err *e);

void text_out_bytes(struct text_out *o, const char *s, size_t n);
void text_out(struct text_out *o, const char *s);
void text_out_char(struct text_out *o, char c);
void text_out_int(struct text_out *o, int64_t v);
/* v / scale with all digits that are not 0 behind the point; scale is a power of ten. */
void text_out_scaled(struct text_out *o, int64_t v, int64_t scale);
/* In quotes, with escapes; control characters as \u, malformed UTF-8 as U+FFFD. */
void text_out_json(struct text_out *o, const char *s, size_t n);
/* As RFC 4180 has it: in quotes where it must be; control characters and malformed UTF-8 as text_clean() has them. */
void text_out_csv(struct text_out *o, const char *s, size_t n);
/* The same inside of quotes that the caller writes; the separator becomes ':'. */
void text_out_csv_part(struct text_out *o, const char *s, size_t n, char separator);
/* As text_clean() has it: without line ends and other control characters. */
void text_out_line(struct text_out *o, const char *s);
/* With &, <, > and quotes as entities, and what XML forbids as U+FFFD. */
void text_out_xml(struct text_out *o, const char *s, size_t n);

#endif
