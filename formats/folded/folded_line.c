/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines are read from their end, since names may hold blanks and digits. */
#include "config.h"

#include "formats/folded/folded_line.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t trim(const char *s, size_t n)
{
	while (n > 0 && is_blank(s[n - 1]))
		n--;
	return n;
}

/* The digits behind the mark: to parts, rounded half up. True when that carries into the whole. */
static bool read_parts(const char *s, size_t n, struct folded_count *c)
{
	uint32_t parts = 0, unit = FOLDED_PARTS;
	size_t i = 0;

	for (; i < n && unit > 1; i++) {
		unit /= 10;
		parts += (uint32_t)(s[i] - '0') * unit;
	}
	for (size_t k = i; k < n; k++)
		c->rounded |= s[k] != '0';
	if (i < n && s[i] >= '5')
		parts++;
	c->parts = parts % FOLDED_PARTS;
	return parts == FOLDED_PARTS;
}

/* A number of digits with at most one mark, which is not the first. */
static enum folded_kind read_count(const char *s, size_t n, struct folded_count *out)
{
	struct folded_count c = { 0 };
	size_t i = 0;

	for (; i < n && is_digit(s[i]); i++)
		if (__builtin_mul_overflow(c.whole, 10, &c.whole) ||
		    __builtin_add_overflow(c.whole, s[i] - '0', &c.whole))
			return FOLDED_TOO_LARGE;
	if (i < n && read_parts(s + i + 1, n - i - 1, &c) &&
	    __builtin_add_overflow(c.whole, 1, &c.whole))
		return FOLDED_TOO_LARGE;
	*out = c;
	return FOLDED_STACK;
}

/* Where the number that ends at n begins; n when there is none. */
static size_t number_start(const char *s, size_t n)
{
	size_t i = n;
	bool mark = false;

	while (i > 0 && (is_digit(s[i - 1]) || (s[i - 1] == '.' && !mark))) {
		mark |= s[i - 1] == '.';
		i--;
	}
	return i < n && s[i] == '.' ? n : i;
}

/* Takes the last count off s; *n is then what is before it. */
static enum folded_kind take_count(const char *s, size_t *n, struct folded_count *c)
{
	size_t end = trim(s, *n), start = number_start(s, end);
	enum folded_kind kind;

	if (start == end)
		return FOLDED_NO_COUNT;
	if (start == 0)
		return FOLDED_NO_STACK;
	if (s[start - 1] == '-' && (start == 1 || is_blank(s[start - 2])))
		return FOLDED_NEGATIVE;
	if (!is_blank(s[start - 1]))
		return FOLDED_NO_COUNT;
	kind = read_count(s + start, end - start, c);
	if (kind == FOLDED_STACK)
		*n = trim(s, start);
	return kind;
}

enum folded_kind folded_line_read(const char *s, size_t n, unsigned n_counts,
				  struct folded_line *out)
{
	struct folded_line l = { .stack = s };
	enum folded_kind kind;
	size_t end;

	n = trim(s, n);
	if (n == 0 || s[0] == '#')
		return FOLDED_NOTHING;
	kind = take_count(s, &n, &l.count[n_counts - 1]);
	if (kind != FOLDED_STACK)
		return kind;
	if (n == 0 && (n_counts != 1 || s[0] != ' ' || !is_digit(s[1])))
		return FOLDED_NO_STACK;
	if (n_counts == 2) {
		kind = take_count(s, &n, &l.count[0]);
		if (kind == FOLDED_NO_COUNT || kind == FOLDED_NO_STACK || n == 0)
			return FOLDED_ONE_COUNT;
		if (kind != FOLDED_STACK)
			return kind;
	}
	for (end = n; end > 0 && (s[end - 1] == ';' || is_blank(s[end - 1])); end--)
		;
	l.n = end;
	*out = l;
	return FOLDED_STACK;
}

const char *folded_problem(enum folded_kind kind)
{
	switch (kind) {
	case FOLDED_STACK:
	case FOLDED_NOTHING:
		break;
	case FOLDED_NO_COUNT:
		return "has no count";
	case FOLDED_NO_STACK:
		return "has a count and no stack";
	case FOLDED_NEGATIVE:
		return "has a negative count";
	case FOLDED_TOO_LARGE:
		return "has a count that is too large";
	case FOLDED_ONE_COUNT:
		return "has one count where others have two";
	}
	return "is good";
}
