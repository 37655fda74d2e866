/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular expressions over untrusted names: PCRE2, UTF, smart-case, found anywhere.
 *
 * Case counts only when the expression has a capital letter (what follows a backslash is none). A
 * match that would take too long is none, and after some such the expression never matches again, so
 * that a hostile one costs a moment and not a hang. A name that is not UTF-8 matches by its good
 * parts. One user at a time.
 */
#ifndef PROFTOP_QUERY_CORE_REGEX_H
#define PROFTOP_QUERY_CORE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct regex;

/* NULL with a sentence that says what is wrong and where. */
struct regex *regex_new(const char *pattern, struct err *e);
void regex_free(struct regex *r);

bool regex_matches(struct regex *r, const char *s, size_t len);
/* Did a match take too long so far? */
bool regex_gave_up(const struct regex *r);

#endif
