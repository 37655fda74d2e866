/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fmt.h"
#include "mem.h"
#include "text.h"

/* Of what terminals must not get only DEL is ASCII and may stand in JSON as it is. */
static void put_visible(const char *quoted, FILE *to)
{
	for (const char *c = quoted; *c; c++)
		if (text_is_unsafe((unsigned char)*c))
			fprintf(to, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, to);
}

static void put_quoted(struct json_out *j, const char *s)
{
	json_t *text = json_string(s);
	char *whole = NULL, *quoted;

	if (!text) { /* no UTF-8: decoding and encoding makes it so */
		size_t left = strlen(s), used, n = 0;

		whole = xmalloc(3 * left + 1); /* a bad byte takes three */
		for (; left; s += used, left -= used)
			n += text_encode(text_decode(s, left, &used), whole + n);
		whole[n] = '\0';
		text = json_string(whole);
	}
	quoted = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	put_visible(quoted ? quoted : "\"\"", j->to);
	free(quoted);
	json_decref(text);
	free(whole);
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
