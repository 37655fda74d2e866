/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"

static void put_character(FILE *to, uint32_t c)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = c > 0 && c < 0x80 ? strchr(named, (int)c) : NULL;

	if (at)
		fprintf(to, "\\%c", letters[at - named]);
	else if (c >= 0x10000)
		fprintf(to, "\\u%04X\\u%04X", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else if (c >= 0x7f || c < ' ')
		fprintf(to, "\\u%04X", c);
	else
		fputc((int)c, to);
}

static void put_quoted(struct json_out *j, const char *s)
{
	size_t left = strlen(s), used;

	fputc('"', j->to);
	for (; left > 0; s += used, left -= used)
		put_character(j->to, text_decode(s, left, &used));
	fputc('"', j->to);
}

/* What stands before a value: comma, line, key. */
static void begin(struct json_out *j, const char *key)
{
	if (j->depth) {
		bool *filled = &j->filled[j->depth - 1];

		fputs(*filled ? "," : "", j->to);
		fputs(j->by_line[j->depth - 1] ? "\n" : *filled ? " " : "", j->to);
		*filled = true;
	}
	if (!key)
		return;
	put_quoted(j, key);
	fputs(": ", j->to);
}

void json_begin(struct json_out *j, const char *key, char bracket, bool by_line)
{
	assert(j->depth < JSON_DEPTH_MAX);
	begin(j, key);
	fputc(bracket, j->to);
	j->filled[j->depth] = false;
	j->by_line[j->depth] = by_line;
	j->depth++;
}

void json_end(struct json_out *j, char bracket)
{
	assert(j->depth > 0);
	j->depth--;
	if (j->by_line[j->depth] && j->filled[j->depth])
		fputc('\n', j->to);
	fputc(bracket, j->to);
	if (!j->depth)
		fputc('\n', j->to);
}

void json_put_text(struct json_out *j, const char *key, const char *value)
{
	begin(j, key);
	put_quoted(j, value);
}

void json_put_int(struct json_out *j, const char *key, int64_t value)
{
	begin(j, key);
	fprintf(j->to, "%" PRId64, value);
}

void json_put_bool(struct json_out *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", j->to);
}

void json_put_null(struct json_out *j, const char *key)
{
	begin(j, key);
	fputs("null", j->to);
}

void json_put_weight(struct json_out *j, const char *key, int64_t weight, int64_t scale)
{
	char text[FMT_SIZE];

	begin(j, key);
	fputs(fmt_exact(text, weight, scale), j->to);
}

void json_put_double(struct json_out *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_put_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->to, fabs(value) < 0x1p53 && value == rint(value) ? "%.0f" : "%.17g", value);
}

void json_put_ratio(struct json_out *j, const char *key, int64_t part, int64_t whole)
{
	if (!whole) {
		json_put_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->to, "%.6f", (double)part / (double)whole);
}
