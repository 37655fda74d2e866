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

/* Does the environment ask for UTF-8, by the name of the locale? */
static bool asks_for_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

#ifdef ONE_FILE
/* A static C library may not read the locales of another version, and gives up where it does. */
void message_locale(void)
{
}

static bool user_takes_utf8(void)
{
	return asks_for_utf8();
}
#else
void message_locale(void)
{
	bool utf8 = setlocale(LC_ALL, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");

	/* Names in files have widths even where the terminal shows ASCII only. */
	if (!utf8)
		setlocale(LC_CTYPE, "C.UTF-8");
	setlocale(LC_NUMERIC, "C");
}

/* What the environment asks for, whatever message_locale() took. ssh brings names of locales that are not installed here. */
static bool user_takes_utf8(void)
{
	locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = user ? !strcmp(nl_langinfo_l(CODESET, user), "UTF-8") : asks_for_utf8();

	if (user)
		freelocale(user);
	return utf8;
}
#endif

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
