/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Characters as ASCII spells them, so that names stay readable, and different, where nothing else can be shown:
 * letters without their marks ("Größe" → "Grosse"), signs by what looks like them, others by their numbers
 * ("日" → "\u65e5").
 */
#ifndef PROFTOP_BASE_TRANSLITERATE_H
#define PROFTOP_BASE_TRANSLITERATE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes for one character, with the NUL that is not counted. */
#define SPELL_MOST 11

/* Writes cp as ASCII and returns how many bytes it took, 1 at least. What text_is_unsafe(), and U+FFFD, is '?'. */
size_t transliterate_ascii(uint32_t cp, char out[SPELL_MOST]);

#endif
