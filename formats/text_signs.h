/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which tool wrote a text that is no profile we read: by what stands in its first lines, and for JSON by
 * its keys. So what is refused is called by its name.
 */
#ifndef PROFTOP_FORMATS_TEXT_SIGNS_H
#define PROFTOP_FORMATS_TEXT_SIGNS_H

#include <stddef.h>

/* "the output of strace"; NULL when no line has a sign. The text may be cut anywhere. */
const char *text_signs_of(const char *text, size_t n);

/* Of JSON: "a speedscope profile (JSON)"; never NULL. */
const char *text_signs_of_json(const char *text, size_t n);

#endif
