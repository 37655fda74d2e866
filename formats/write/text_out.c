/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of plain ASCII, which nearly all names are, are copied whole. */
#include "config.h"

#include "formats/write/text_out.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void text_out_init(struct text_out *o, FILE *to)
{
	o->to = to;
	o->n = 0;
	o->failed = false;
}

static void flush(struct text_out *o)
{
	if (o->n > 0 && !o->failed && fwrite(o->buffer, 1, o->n, o->to) != o->n)
		o->failed = true;
	o->n = 0;
}

int text_out_done(struct text_out *o, struct err *e)
{
	errno = 0;
	flush(o);
	if (fflush(o->to) == 0 && !ferror(o->to) && !o->failed)
		return 0;
	return err_set(e, errno ? -errno : -EIO, "cannot be written: %s",
		       strerror(errno ? errno : EIO));
}

void text_out_bytes(struct text_out *o, const char *s, size_t n)
{
	while (n > 0) {
		size_t fits = TEXT_OUT_BYTES - o->n < n ? TEXT_OUT_BYTES - o->n : n;

		memcpy(o->buffer + o->n, s, fits);
		o->n += fits;
		s += fits;
		n -= fits;
		if (o->n == TEXT_OUT_BYTES)
			flush(o);
	}
}

void text_out(struct text_out *o, const char *s)
{
	text_out_bytes(o, s, strlen(s));
}

void text_out_char(struct text_out *o, char c)
{
	o->buffer[o->n++] = c;
	if (o->n == TEXT_OUT_BYTES)
		flush(o);
}

void text_out_int(struct text_out *o, int64_t v)
{
	uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char digits[24];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (v < 0)
		digits[--at] = '-';
	text_out_bytes(o, digits + at, sizeof(digits) - at);
}

void text_out_scaled(struct text_out *o, int64_t v, int64_t scale)
{
	uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, part = rest % (uint64_t)scale;

	if (v < 0)
		text_out_char(o, '-');
	text_out_int(o, (int64_t)(rest / (uint64_t)scale));
	if (part > 0)
		text_out_char(o, '.');
	for (uint64_t unit = (uint64_t)scale / 10; part > 0 && unit > 0; unit /= 10) {
		text_out_char(o, (char)('0' + part / unit));
		part %= unit;
	}
}

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '&' && c != '<' && c != '>' &&
	       c != '\'' && c != ',';
}

/* Writes the plain bytes that s begins with, and returns how many. */
static size_t plain(struct text_out *o, const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && is_plain(s[i]))
		i++;
	text_out_bytes(o, s, i);
	return i;
}

static void code_point(struct text_out *o, uint32_t cp)
{
	char bytes[4];

	text_out_bytes(o, bytes, text_encode(cp, bytes));
}

void text_out_json(struct text_out *o, const char *s, size_t n)
{
	text_out_char(o, '"');
	for (size_t i = plain(o, s, n), used; i < n; i += used, i += plain(o, s + i, n - i)) {
		uint32_t cp = text_decode(s + i, n - i, &used);

		if (cp == '"' || cp == '\\') {
			text_out_char(o, '\\');
			text_out_char(o, (char)cp);
		} else if (cp < ' ' || cp == 0x7f || (cp >= 0x80 && cp < 0xa0)) {
			char escaped[8];

			snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)cp);
			text_out(o, escaped);
		} else {
			code_point(o, cp);
		}
	}
	text_out_char(o, '"');
}

void text_out_csv(struct text_out *o, const char *s, size_t n)
{
	char *clean = text_clean(s, n, false);

	if (!strpbrk(clean, ",\"'")) {
		text_out(o, clean);
	} else {
		text_out_char(o, '"');
		for (const char *c = clean; *c; c++) {
			if (*c == '"')
				text_out_char(o, '"');
			text_out_char(o, *c);
		}
		text_out_char(o, '"');
	}
	free(clean);
}

void text_out_csv_part(struct text_out *o, const char *s, size_t n, char separator)
{
	char *clean = text_clean(s, n, false);

	for (const char *c = clean; *c; c++) {
		if (*c == '"')
			text_out_char(o, '"');
		text_out_char(o, *c == separator ? ':' : *c);
	}
	free(clean);
}

void text_out_line(struct text_out *o, const char *s)
{
	char *clean = text_clean(s, strlen(s), false);

	text_out(o, clean);
	free(clean);
}

static const char *entity(uint32_t cp)
{
	switch (cp) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void text_out_xml(struct text_out *o, const char *s, size_t n)
{
	for (size_t i = plain(o, s, n), used; i < n; i += used, i += plain(o, s + i, n - i)) {
		uint32_t cp = text_decode(s + i, n - i, &used);
		const char *escaped = entity(cp);

		if (escaped)
			text_out(o, escaped);
		else
			code_point(o, text_is_unsafe(cp) ? 0xfffd : cp);
	}
}
