/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages hold names of files and of things in them, so they are cleaned like everything else. */
#include "config.h"

#include "cli/options/message.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

void message_locale(void)
{
	bool utf8 = setlocale(LC_ALL, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");

	/* Names in files have widths even where the terminal shows ASCII only. */
	if (!utf8)
		setlocale(LC_CTYPE, "C.UTF-8");
	setlocale(LC_NUMERIC, "C");
}

/* The codeset that the environment asks for, whatever message_locale() took. */
static bool user_takes_utf8(void)
{
	locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = user && !strcmp(nl_langinfo_l(CODESET, user), "UTF-8");

	if (user)
		freelocale(user);
	return utf8;
}

bool message_ascii(bool asked)
{
	return asked || !user_takes_utf8();
}

void message(const char *fmt, ...)
{
	char *text, *clean;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	clean = text_clean(text, (size_t)n, !user_takes_utf8());
	fprintf(stderr, "proftop: %s\n", clean);
	free(clean);
	free(text);
}

enum status message_error(struct err *e, enum status status)
{
	message("%s", err_text(e));
	err_clear(e);
	return status;
}
