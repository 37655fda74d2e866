/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says to its user besides the answer: sentences on standard error. */
#ifndef PROFTOP_CLI_OPTIONS_MESSAGE_H
#define PROFTOP_CLI_OPTIONS_MESSAGE_H

#include <stdbool.h>

#include "cli/options/command.h"

struct err;

/* Takes the locale, for widths of characters and never for numbers. Once, at the start. */
void message_locale(void);

/* "proftop: SENTENCE" on standard error, cleaned of anything a terminal would obey. */
void message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says what e holds, clears it, and returns status. */
enum status message_error(struct err *e, enum status status);

/*
 * Is ASCII all that may be written to standard output? asked: --ascii. Else a terminal gets what the
 * locale says, and a pipe or a file gets UTF-8.
 */
bool message_ascii(bool asked);

#endif
