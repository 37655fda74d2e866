/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Characters that ASCII lacks; see transliterate.h. */
#include "config.h"

#include "base/transliterate.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LETTERS_FIRST 0xC0u
#define LETTERS_END   0x180u

/* U+00C0 to U+017F without their marks, two columns each, as Unicode decomposes them or as one writes them. */
static const char letters[] = "A A A A A A AEC E E E E I I I I D N O O O O O x O U U U U Y Thss"
			      "a a a a a a aec e e e e i i i i d n o o o o o / o u u u u y thy "
			      "A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g G g "
			      "G g G g H h H h I i I i I i I i I i IJijJ j K k k L l L l L l L "
			      "l L l N n N n N n 'nN n O o O o O o OEoeR r R r R r S s S s S s "
			      "S s T t T t T t U u U u U u U u U u U u W w Y y Y Z z Z z Z z s ";

_Static_assert(sizeof(letters) == 2 * (LETTERS_END - LETTERS_FIRST) + 1, "two columns a letter");

/* Signs that names and sentences have. */
static const struct {
	uint32_t cp;
	const char *text;
} sign[] = {
	{ 0x00A0, " " },   { 0x00AB, "<<" }, { 0x00B1, "+-" }, { 0x00B5, "u" },  { 0x00B7, "-" },
	{ 0x00BB, ">>" },  { 0x2010, "-" },  { 0x2011, "-" },  { 0x2012, "-" },  { 0x2013, "-" },
	{ 0x2014, "-" },   { 0x2018, "'" },  { 0x2019, "'" },  { 0x201C, "\"" }, { 0x201D, "\"" },
	{ 0x2026, "..." }, { 0x2039, "<" },  { 0x203A, ">" },  { 0x2190, "<-" }, { 0x2192, "->" },
	{ 0x2212, "-" },
};

size_t transliterate_ascii(uint32_t cp, char out[SPELL_MOST])
{
	if (cp < 0x80 || cp == 0xFFFD || text_is_unsafe(cp)) {
		out[0] = text_is_unsafe(cp) || cp == 0xFFFD ? '?' : (char)cp;
		return 1;
	}
	if (cp >= LETTERS_FIRST && cp < LETTERS_END) {
		const char *letter = letters + 2 * (cp - LETTERS_FIRST);
		size_t n = letter[1] == ' ' ? 1 : 2;

		memcpy(out, letter, n);
		return n;
	}
	for (size_t i = 0; i < sizeof(sign) / sizeof(*sign); i++) {
		if (sign[i].cp == cp) {
			size_t n = strlen(sign[i].text);

			memcpy(out, sign[i].text, n);
			return n;
		}
	}
	return (size_t)snprintf(out, SPELL_MOST, cp < 0x10000 ? "\\u%04x" : "\\U%08x",
				(unsigned)cp);
}
