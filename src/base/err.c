/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One failure as one sentence. */
#include "config.h"

#include "base/err.h"

#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code < 0);
	if (!e || e->code != 0)
		return code;
	e->code = code;
	va_start(ap, fmt);
	if (vasprintf(&e->text, fmt, ap) < 0)
		e->text = xstrdup("out of memory");
	va_end(ap);
	return code;
}

const char *err_text(const struct err *e)
{
	return e && e->text ? e->text : "no error";
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	free(e->text);
	*e = (struct err)ERR_INIT;
}
