/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modules whose own functions are not all that runs in them: interpreters that tell nobody what they interpret. */
#ifndef PROFTOP_SYMBOLS_INTERPRETER_H
#define PROFTOP_SYMBOLS_INTERPRETER_H

#include <stdbool.h>

struct interpreter {
	int major, minor;
};

/* Is it a Python (python3.11, libpython3.11.so.1.0) that is older than 3.12, which was the first to tell? */
bool interpreter_is_silent(const char *module, struct interpreter *out);

#endif
