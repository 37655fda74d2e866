/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of terms. A filter is copied by its text, which says all there is to say. */
#include "config.h"

#include "query/core/filter.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/core/filter_term.h"
#include "query/core/regex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct filter {
	VEC(struct term) terms; /* in the order given; owned */
};

/* Drops all but the first n terms. */
static void cut(struct filter *f, size_t n)
{
	while (f->terms.n > n)
		term_done(&f->terms.at[--f->terms.n]);
}

int filter_parse(const char *text, struct filter **out, struct err *e)
{
	struct filter *f = xcalloc(1, sizeof(*f));
	int rc = filter_add(f, text, e);

	if (rc < 0)
		filter_free(f);
	else
		*out = f;
	return rc;
}

struct filter *filter_copy(const struct filter *f)
{
	char *text = filter_text(f);
	struct filter *copy = NULL;
	int rc = filter_parse(text, &copy, NULL);

	assert(rc == 0);
	(void)rc;
	free(text);
	return copy;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	cut(f, 0);
	vec_done(&f->terms);
	free(f);
}

int filter_add(struct filter *f, const char *text, struct err *e)
{
	size_t n = f->terms.n;

	text += strspn(text, " \t\r\n");
	while (*text) {
		struct term t;
		int rc = term_parse(&text, &t, e);

		if (rc < 0) {
			cut(f, n);
			return rc;
		}
		vec_push(&f->terms, t);
	}
	return 0;
}

bool filter_pop(struct filter *f)
{
	if (f->terms.n == 0)
		return false;
	cut(f, f->terms.n - 1);
	return true;
}

/* Where the n terms of part stand last in f; SIZE_MAX: nowhere. */
static size_t find_part(const struct filter *f, const struct filter *part)
{
	size_t n = part->terms.n;

	if (n == 0 || n > f->terms.n)
		return SIZE_MAX;
	for (size_t at = f->terms.n - n + 1; at-- > 0;) {
		size_t same = 0;

		while (same < n &&
		       strcmp(f->terms.at[at + same].text, part->terms.at[same].text) == 0)
			same++;
		if (same == n)
			return at;
	}
	return SIZE_MAX;
}

/* The same of text; *n says how many they are. */
static size_t find_text(const struct filter *f, const char *text, size_t *n)
{
	struct filter *part = NULL;
	size_t at = SIZE_MAX;

	if (f && filter_parse(text, &part, NULL) == 0) {
		at = find_part(f, part);
		*n = part->terms.n;
	}
	filter_free(part);
	return at;
}

bool filter_has(const struct filter *f, const char *text)
{
	size_t n;

	return find_text(f, text, &n) != SIZE_MAX;
}

bool filter_take(struct filter *f, const char *text)
{
	size_t n, at = find_text(f, text, &n);

	if (at == SIZE_MAX)
		return false;
	for (size_t i = at; i < at + n; i++)
		term_done(&f->terms.at[i]);
	memmove(&f->terms.at[at], &f->terms.at[at + n],
		(f->terms.n - at - n) * sizeof(*f->terms.at));
	f->terms.n -= n;
	return true;
}

bool filter_times(const struct filter *f, int64_t *from_ns, int64_t *to_ns)
{
	int64_t from = 0, to = INT64_MAX;
	bool any = false;

	for (size_t i = 0; f && i < f->terms.n; i++) {
		const struct term *t = &f->terms.at[i];

		if (t->kind != TERM_TIME || t->negated)
			continue;
		any = true;
		from = t->from_ns > from ? t->from_ns : from;
		to = t->to_ns < to ? t->to_ns : to;
	}
	*from_ns = from;
	*to_ns = to;
	return any;
}

bool filter_has_event(const struct filter *f, const char *name)
{
	size_t n;
	const struct term *terms = filter_terms(f, &n);

	for (size_t i = 0; i < n; i++)
		if (terms[i].kind == TERM_EVENT &&
		    regex_matches(terms[i].regex, name, strlen(name)) == terms[i].negated)
			return false;
	return true;
}

bool filter_names_event(const struct filter *f)
{
	size_t n;
	const struct term *terms = filter_terms(f, &n);

	for (size_t i = 0; i < n; i++)
		if (terms[i].kind == TERM_EVENT && !terms[i].negated)
			return true;
	return false;
}

char *filter_take_times(struct filter *f)
{
	struct filter taken = { 0 };
	size_t n = 0;
	char *text;

	for (size_t i = 0; i < f->terms.n; i++) {
		struct term t = f->terms.at[i];

		if (t.kind == TERM_TIME && !t.negated)
			vec_push(&taken.terms, t);
		else
			f->terms.at[n++] = t;
	}
	f->terms.n = n;
	text = filter_text(&taken);
	cut(&taken, 0);
	vec_done(&taken.terms);
	return text;
}

size_t filter_n_terms(const struct filter *f)
{
	return f ? f->terms.n : 0;
}

const char *filter_term(const struct filter *f, size_t i)
{
	return f->terms.at[i].text;
}

const struct term *filter_terms(const struct filter *f, size_t *n)
{
	*n = f ? f->terms.n : 0;
	return f ? f->terms.at : NULL;
}

char *filter_text(const struct filter *f)
{
	size_t len = 0, at = 0;
	char *text;

	for (size_t i = 0; i < f->terms.n; i++)
		len += strlen(f->terms.at[i].text) + 1;
	text = xmalloc(len + 1);
	for (size_t i = 0; i < f->terms.n; i++) {
		size_t n = strlen(f->terms.at[i].text);

		if (i > 0)
			text[at++] = ' ';
		memcpy(text + at, f->terms.at[i].text, n);
		at += n;
	}
	text[at] = '\0';
	return text;
}

char *filter_quote(const char *value)
{
	return term_quote(value);
}

/* Bytes at the start of s that are UTF-8. */
static size_t good_len(const char *s)
{
	size_t len = strlen(s), at = 0;

	while (at < len) {
		size_t used;

		/* A real U+FFFD takes three bytes, a malformed byte one. */
		if (text_decode(s + at, len - at, &used) == 0xfffd && used == 1)
			break;
		at += used;
	}
	return at;
}

char *filter_exact(const char *name)
{
	size_t len = good_len(name), n = 0;
	char *regex = xmalloc(2 * len + sizeof("(?-i)^$"));
	bool capital = false;

	for (size_t i = 0; i < len; i++)
		capital = capital || (name[i] >= 'A' && name[i] <= 'Z');
	if (!capital)
		n += strlen(strcpy(regex, "(?-i)"));
	regex[n++] = '^';
	for (size_t i = 0; i < len; i++) {
		/* Every special character is ASCII punctuation, and all of that may be escaped. */
		if (strchr("\\^$.[]|()?*+{}#-", name[i]))
			regex[n++] = '\\';
		regex[n++] = name[i];
	}
	if (name[len] == '\0')
		regex[n++] = '$';
	regex[n] = '\0';
	return regex;
}

const char *filter_gave_up(const struct filter *f)
{
	for (size_t i = 0; f && i < f->terms.n; i++) {
		const struct term *t = &f->terms.at[i];

		if (t->regex && regex_gave_up(t->regex))
			return t->text;
	}
	return NULL;
}
