/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window of the text begins with the token that is being read, and has a NUL behind its end, where every loop over characters stops:
 * it then asks for more. A token that is longer than the window makes it twice as large, and is not read again from its begin.
 */
#include "config.h"

#include "formats/json/json_scan.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define PIECE_BYTES  ((size_t)256 << 10)
/* Digits that fit into 63 bits, and those that are exact as a double. */
#define INT_DIGITS   18
#define EXACT_DIGITS 15

/* What may come next. */
enum expected {
	VALUE,
	FIRST_VALUE, /* or the end of the array */
	KEY,
	FIRST_KEY, /* or the end of the object */
	COLON,
	COMMA, /* or the end of what is open */
	NOTHING
};

struct scan {
	struct input *in;
	struct progress *progress;
	const struct json_tokens *tokens;
	void *to;
	char *text; /* [cap] window; owned */
	size_t at;  /* where the token begins */
	size_t n, cap;
	uint64_t offset; /* of text[0] in the whole */
	bool over;       /* nothing comes behind text[n] */
	ssize_t failed;  /* what input_read() gave instead; 0: nothing was wrong */
	struct err broken;
	VEC(bool) open;    /* [n] what has begun: is it an array? */
	VEC(char) plain;   /* a string without its escapes */
	const char *fault; /* why the text is no JSON; NULL: it is */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* False, for callers to return. */
static bool fault(struct scan *s, size_t at, const char *why)
{
	s->at = at;
	s->fault = why;
	return false;
}

/* Puts more text behind what the window has from s->at on. False: there is none. */
static bool fill(struct scan *s)
{
	size_t kept = s->n - s->at;

	if (s->over)
		return false;
	if (s->at > 0)
		memmove(s->text, s->text + s->at, kept);
	s->offset += s->at;
	s->at = 0;
	s->n = kept;
	if (s->cap < 2 * kept + PIECE_BYTES)
		s->text = xreallocarray(s->text, s->cap = 2 * kept + PIECE_BYTES, 1);
	s->failed = progress_cancelled(s->progress)
			    ? -ECANCELED
			    : input_read(s->in, s->text + kept, s->cap - kept - 1, &s->broken);
	progress_set(s->progress, input_file_done(s->in), input_file_bytes(s->in));
	if (s->failed <= 0)
		s->over = true;
	else
		s->n += (size_t)s->failed;
	s->failed = s->failed < 0 ? s->failed : 0;
	s->text[s->n] = '\0';
	return !s->over;
}

/* The same for a loop that has come to text[*i]. */
static bool fill_at(struct scan *s, size_t *i)
{
	size_t done = *i - s->at;
	bool more = fill(s);

	*i = s->at + done;
	return more;
}

/* The next character that is no space, or NUL: then s->at is s->n at the end of the text. */
static char next(struct scan *s)
{
	do {
		while (is_space(s->text[s->at]))
			s->at++;
	} while (s->at == s->n && fill(s));
	return s->text[s->at];
}

/* Numbers. */

/*
 * Takes a number without an exponent into v, as far as digits are exact. Returns where it ends; begin where it is none, is not simple,
 * or its end is not in the window.
 */
static const char *simple_number(const char *begin, struct json_value *v)
{
	bool minus = *begin == '-';
	const char *first = begin + minus, *c = first, *point = NULL;
	int64_t x = 0;

	while (is_digit(*c) && c - first < INT_DIGITS)
		x = 10 * x + (*c++ - '0');
	if (c == first || (*first == '0' && c - first > 1))
		return begin;
	if (*c == '.') {
		for (point = c++; is_digit(*c) && c - first <= EXACT_DIGITS; c++)
			x = 10 * x + (*c - '0');
		if (c == point + 1 || c - first - 1 > EXACT_DIGITS)
			return begin;
	}
	if (*c != ',' && *c != ']' && *c != '}' && !is_space(*c))
		return begin;
	v->exact = true;
	v->digits = minus ? -x : x;
	v->n_behind = point ? (uint8_t)(c - point - 1) : 0;
	return c;
}

static const char *past_digits(const char *c)
{
	while (is_digit(*c))
		c++;
	return c;
}

/* Where a number ends, whatever follows; NULL: it is none. */
static const char *past_number(const char *c)
{
	const char *from;

	c += *c == '-';
	from = c;
	c = *c == '0' ? c + 1 : past_digits(c);
	if (c == from)
		return NULL;
	if (*c == '.') {
		from = ++c;
		c = past_digits(c);
		if (c == from)
			return NULL;
	}
	if (*c == 'e' || *c == 'E') {
		c++;
		from = c += *c == '+' || *c == '-';
		c = past_digits(c);
	}
	return c == from ? NULL : c;
}

/* A number with all its digits in the window. */
static bool whole_number(struct scan *s, struct json_value *v)
{
	size_t i = s->at;
	const char *end;

	do {
		while (is_digit(s->text[i]) || (s->text[i] && strchr("+-.eE", s->text[i])))
			i++;
	} while (i == s->n && fill_at(s, &i));
	end = past_number(s->text + s->at);
	if (end != s->text + i)
		return fault(s, s->at, "no number that JSON has");
	v->s = s->text + s->at;
	v->n = i - s->at;
	s->at = i;
	return true;
}

static bool take_number(struct scan *s)
{
	struct json_value v = { .kind = JSON_NUMBER };
	const char *begin = s->text + s->at, *end = simple_number(begin, &v);

	if (end != begin) {
		v.s = begin;
		v.n = (size_t)(end - begin);
		s->at += v.n;
	} else if (!whole_number(s, &v)) {
		return false;
	}
	s->tokens->value(s->to, &v);
	return true;
}

/* Strings. */

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four hex digits at c; -1: there are none. */
static int32_t hex4(const char *c, const char *end)
{
	int32_t x = 0;

	if (end - c < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(c[i]);

		if (digit < 0)
			return -1;
		x = 16 * x + digit;
	}
	return x;
}

static void push_utf8(struct scan *s, uint32_t x)
{
	static const uint8_t heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned n = x < 0x80 ? 1 : x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;

	for (unsigned i = 0; i < n; i++) {
		uint32_t bits = x >> 6 * (n - 1 - i);

		vec_push(&s->plain, (char)(n == 1   ? x
					   : i == 0 ? heads[n] | bits
						    : 0x80 | (bits & 0x3f)));
	}
}

/* What \u and four digits at c mean, with a second one behind it where two make one. Half of a pair is U+FFFD. NULL: it is none. */
static const char *take_code(struct scan *s, const char *c, const char *end)
{
	int32_t x = hex4(c, end), low = -1;

	if (x < 0)
		return NULL;
	c += 4;
	if (x >= 0xd800 && x < 0xdc00 && end - c >= 6 && c[0] == '\\' && c[1] == 'u')
		low = hex4(c + 2, end);
	if (low >= 0xdc00 && low < 0xe000) {
		x = 0x10000 + ((x - 0xd800) << 10) + (low - 0xdc00);
		c += 6;
	} else if (x >= 0xd800 && x < 0xe000) {
		x = 0xfffd;
	}
	push_utf8(s, (uint32_t)x);
	return c;
}

/* Into s->plain. False: an escape is none. */
static bool unescape(struct scan *s, const char *c, const char *end)
{
	static const char marks[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";

	vec_clear(&s->plain);
	while (c && c < end) {
		const char *mark;

		if (*c != '\\') {
			vec_push(&s->plain, *c++);
			continue;
		}
		c++;
		mark = memchr(marks, *c, sizeof(marks) - 1);
		if (*c == 'u')
			c = take_code(s, c + 1, end);
		else if (!mark)
			return false;
		else
			vec_push(&s->plain, means[mark - marks]);
		c += mark != NULL;
	}
	return c != NULL;
}

/* The string that begins at s->at: good until the next token. */
static bool take_string(struct scan *s, const char **text, size_t *n)
{
	size_t i = s->at + 1;
	bool escaped = false;

	for (;;) {
		unsigned char c = (unsigned char)s->text[i];

		if (c == '"')
			break;
		if (c == '\\' && i + 1 < s->n) {
			escaped = true;
			i += 2;
		} else if (c >= 0x20 && c != '\\') {
			i++;
		} else if (i < s->n && c != '\\') {
			return fault(s, i, "a control character in a string");
		} else if (!fill_at(s, &i)) {
			return fault(s, s->n, "an end within a string");
		}
	}
	*text = s->text + s->at + 1;
	*n = i - s->at - 1;
	if (escaped && !unescape(s, *text, *text + *n))
		return fault(s, s->at, "a string with an escape that JSON has not");
	if (escaped) {
		vec_reserve(&s->plain, 1);
		*text = s->plain.at;
		*n = s->plain.n;
	}
	s->at = i + 1;
	return true;
}

/* Words. */

static bool take_word(struct scan *s, const char *word, const struct json_value *v)
{
	size_t n = strlen(word);

	while (s->n - s->at < n && fill(s))
		;
	if (s->n - s->at < n || memcmp(s->text + s->at, word, n) != 0)
		return fault(s, s->at, "no value of JSON");
	s->at += n;
	s->tokens->value(s->to, v);
	return true;
}

/* The whole. */

static enum expected after_value(const struct scan *s)
{
	return s->open.n > 0 ? COMMA : NOTHING;
}

static bool open_next(struct scan *s, bool array, enum expected *expected)
{
	s->at++;
	s->tokens->begin(s->to, array);
	vec_push(&s->open, array);
	*expected = array ? FIRST_VALUE : FIRST_KEY;
	return true;
}

static bool close_last(struct scan *s, enum expected *expected)
{
	s->at++;
	s->open.n--;
	s->tokens->end(s->to);
	*expected = after_value(s);
	return true;
}

static bool take_value(struct scan *s, char c, enum expected *expected)
{
	struct json_value v = { .kind = JSON_STRING };

	if (c == '[' || c == '{')
		return open_next(s, c == '[', expected);
	if (c == ']' && *expected == FIRST_VALUE)
		return close_last(s, expected);
	*expected = after_value(s);
	if (is_digit(c) || c == '-')
		return take_number(s);
	if (c == '"') {
		if (!take_string(s, &v.s, &v.n))
			return false;
		s->tokens->value(s->to, &v);
		return true;
	}
	v.kind = c == 'n' ? JSON_NULL : JSON_BOOL;
	v.truth = c == 't';
	return take_word(s, c == 'n' ? "null" : c == 't' ? "true" : "false", &v);
}

static bool take_key(struct scan *s, char c, enum expected *expected)
{
	const char *text;
	size_t n;

	if (c == '}' && *expected == FIRST_KEY)
		return close_last(s, expected);
	if (c != '"')
		return fault(s, s->at, "no name of a member");
	if (!take_string(s, &text, &n))
		return false;
	s->tokens->key(s->to, text, n);
	*expected = COLON;
	return true;
}

static bool take_mark(struct scan *s, char c, enum expected *expected)
{
	bool array = s->open.at[s->open.n - 1];

	if (*expected == COLON && c != ':')
		return fault(s, s->at, "no colon behind a name");
	if (*expected == COMMA && c == (array ? ']' : '}'))
		return close_last(s, expected);
	if (*expected == COMMA && c != ',')
		return fault(s, s->at, "neither a comma nor an end");
	s->at++;
	*expected = *expected == COLON || array ? VALUE : KEY;
	return true;
}

/* False at the end, and where there is a fault. */
static bool take_token(struct scan *s, bool many, enum expected *expected)
{
	char c = next(s);

	if (s->at == s->n) {
		if (*expected != NOTHING && s->failed == 0)
			fault(s, s->n, "an end before the text is whole");
		return false;
	}
	if (*expected == NOTHING && !many)
		return fault(s, s->at, "text behind the end");
	switch (*expected) {
	case NOTHING:
	case VALUE:
	case FIRST_VALUE:
		return take_value(s, c, expected);
	case KEY:
	case FIRST_KEY:
		return take_key(s, c, expected);
	case COLON:
	case COMMA:
		break;
	}
	return take_mark(s, c, expected);
}

/* How it ended. */
static int settle(struct scan *s, struct json_end *end, struct err *e)
{
	int rc = (int)s->failed;

	end->offset = s->offset + s->at;
	if (rc == -ECANCELED)
		return rc;
	if (rc < 0 && end->offset == 0 && s->n == 0)
		return err_set(e, rc, "%s", err_text(&s->broken));
	if (rc < 0) {
		end->offset = s->offset + s->n;
		end->why = xstrdup(err_text(&s->broken));
	} else if (s->fault) {
		end->why = xstrdup(s->fault);
	}
	return 0;
}

int json_scan(struct input *in, const struct json_tokens *tokens, void *to, bool many,
	      struct json_end *end, struct progress *progress, struct err *e)
{
	struct scan s = {
		.in = in, .progress = progress, .tokens = tokens, .to = to, .broken = ERR_INIT
	};
	enum expected expected = VALUE;
	int rc;

	*end = (struct json_end){ 0 };
	fill(&s);
	while (take_token(&s, many, &expected))
		;
	rc = settle(&s, end, e);
	err_clear(&s.broken);
	vec_done(&s.open);
	vec_done(&s.plain);
	free(s.text);
	return rc;
}
