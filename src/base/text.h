/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UTF-8 as a terminal shows it: cleaning of untrusted names, width in columns, clipping.
 *
 * Width is glibc's wcwidth() under a UTF-8 locale; terminals differ from it for some emoji and ambiguous characters.
 */
#ifndef PROFTOP_BASE_TEXT_H
#define PROFTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes one code point at s (len bytes left, len > 0) and says in *used how many bytes it took.
 * A malformed byte yields U+FFFD and takes one byte. Overlong forms, surrogates and values past
 * U+10FFFF are malformed (RFC 3629).
 */
uint32_t text_decode(const char *s, size_t len, size_t *used);

/* Encodes cp (a valid scalar value) to at most 4 bytes; returns how many. */
size_t text_encode(uint32_t cp, char out[4]);

/*
 * True for code points that must not reach a terminal: C0, DEL, C1, line and paragraph separators,
 * bidi marks, embeddings, overrides and isolates, and noncharacters.
 */
bool text_is_unsafe(uint32_t cp);

/* Columns that cp takes: 0, 1 or 2. Unsafe ones count 1, as they are shown as one '?' or U+FFFD. */
int text_cp_width(uint32_t cp);

/* Columns of n bytes of UTF-8, after cleaning. */
size_t text_width(const char *s, size_t n);

/* Bytes of the longest prefix that fits in cols columns; *got is its width. */
size_t text_clip(const char *s, size_t n, size_t cols, size_t *got);

/*
 * Bytes of the first line of s, broken at a blank where it has more than cols columns, or where they end if there is none; the
 * second begins *next bytes on. cols > 0.
 */
size_t text_first_line(const char *s, size_t n, size_t cols, size_t *next);

/*
 * A copy that is safe to print: unsafe and malformed code points become U+FFFD, or '?' when ascii, where
 * everything outside ASCII is spelled (transliterate.h). NUL-terminated; the caller frees.
 */
char *text_clean(const char *s, size_t n, bool ascii);

/*
 * A function's name made short: template arguments fold to <…>, arguments to (…), until it fits in
 * cols; what tells it apart (the qualified name) is cut last, on its left. "…" is "..." in ascii.
 * Clean, NUL-terminated; the caller frees. cols 0 means no limit and no folding.
 */
char *text_fold_name(const char *name, size_t cols, bool ascii);

#endif
