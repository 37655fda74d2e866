/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/term_values.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/contract/prompt.h"

/* Rows that a list of values may take, and columns that each of them may. */
#define LIST_ROWS   4
#define LISTED_COLS 40u

/* A value with what an expression reads otherwise has a backslash before that. */
#define MARKS "\\^$[|()?*+{"

/* The term at the end of what is typed, in parts. */
struct typed {
	size_t before; /* bytes of the prompt in front of its value, or of its kind where it has none */
	char *kind; /* before its colon; NULL: it has none; owned */
	char *value; /* of the value: the part that is to be completed, without quotes and backslashes; owned */
	bool quoted;    /* the value has an open quote */
	bool is_regex;  /* the value is an expression, */
	bool is_marked; /* which is more than a name */
};

/* Where the last term begins: behind the last blank that no quote encloses. */
static const char *last_term(const char *text, bool *quoted)
{
	const char *term = text;

	*quoted = false;
	for (const char *s = text; *s; s++) {
		if (*quoted && *s == '\\' && s[1])
			s++;
		else if (*s == '"' && (*quoted || s == term || s[-1] == ':' || s[-1] == '!'))
			*quoted = !*quoted;
		else if (*s == ' ' && !*quoted)
			term = s + 1;
	}
	return term;
}

/* The same without the backslashes of a quote, or of an expression. */
static char *plain(const char *s, bool marks, bool *is_marked)
{
	char *out = xmalloc(strlen(s) + 1), *to = out;

	for (; *s; s++) {
		if (*s == '\\' && ispunct((unsigned char)s[1]))
			s++;
		else if (marks && strchr(MARKS, *s))
			*is_marked = true;
		*to++ = *s;
	}
	*to = '\0';
	return out;
}

/* Splits the term that begins at `at` of the text. */
static void split(struct typed *t, const char *text, const char *at)
{
	const char *colon, *value, *first;
	char *inside;

	at += *at == '!';
	colon = *at == '"' ? NULL : strchr(at, ':');
	if (colon && colon[1] == ':')
		colon = NULL; /* std::sort is a function */
	t->kind = colon ? xstrndup(at, (size_t)(colon - at)) : NULL;
	value = colon ? colon + 1 : at;
	t->is_regex = !t->kind || term_kind_is_regex(t->kind);
	/* Of several numbers the last one; values that are pairs themselves are completed as a whole. */
	first = t->kind ? term_value_name(t->kind, 0) : NULL;
	if (!t->is_regex && !(first && strchr(first, ',')))
		for (const char *s = value; *s; s++)
			value = *s == ',' || *s == '-' ? s + 1 : value;
	t->before = (size_t)(value - text);
	value += t->quoted;
	if (t->is_regex && *value == '^') {
		t->before += !t->quoted;
		value++;
	}
	inside = t->quoted ? plain(value, false, NULL) : xstrdup(value);
	t->value = t->is_regex ? plain(inside, true, &t->is_marked) : xstrdup(inside);
	free(inside);
}

/* Bytes that all candidates begin with, whole code points. */
static size_t common_bytes(const struct term_values *v)
{
	const char *first = v->at[0].text;
	size_t n = strlen(first);

	for (size_t i = 1; i < v->n; i++) {
		size_t same = 0;

		while (same < n && first[same] == v->at[i].text[same])
			same++;
		n = same;
	}
	while (n > 0 && ((unsigned char)first[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* A name as an expression that matches it. */
static char *escaped(const char *name, size_t n)
{
	char *out = xmalloc(2 * n + 1), *to = out;

	for (size_t i = 0; i < n; i++) {
		if (strchr(MARKS, name[i]))
			*to++ = '\\';
		*to++ = name[i];
	}
	*to = '\0';
	return out;
}

/* In an open quote, with one more backslash before each. */
static char *in_quotes(const char *s)
{
	char *out = xmalloc(2 * strlen(s) + 2), *to = out;

	*to++ = '"';
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			*to++ = '\\';
		*to++ = *s;
	}
	*to = '\0';
	return out;
}

/*
 * Puts n bytes of a name where the value is. A name with blanks needs quotes, which are closed when it is whole; else what is
 * typed ends before the blank. False when that is there already.
 */
static bool put_value(struct app *a, const struct typed *t, const char *name, size_t n, bool whole)
{
	const char *text = a->prompt.text;
	bool blank = memchr(name, ' ', n) || memchr(name, '"', n);
	char *value, *quoted = NULL, *all;
	bool other;

	if (blank && !whole && !t->quoted)
		n = strcspn(name, " \"");
	value = t->is_regex ? escaped(name, n) : xstrndup(name, n);
	if (t->quoted || (blank && whole))
		quoted = in_quotes(value);
	all = xasprintf("%.*s%s%s", (int)t->before, text, quoted ? quoted : value,
			quoted && whole ? "\"" : "");
	other = strcmp(all, text) != 0 && strlen(all) >= strlen(text);
	if (other) {
		prompt_set(&a->prompt, all);
		a->prompt.touched = true;
	}
	free(all);
	free(value);
	free(quoted);
	return other;
}

/* "4711 redis-server"; of a long name a part, from shortly before it differs from the others on. */
static char *listed(const struct term_value_found *v, size_t common)
{
	const char *text = v->text;
	size_t width, n;

	if (common > LISTED_COLS / 2) {
		text += common - LISTED_COLS / 4;
		while (((unsigned char)*text & 0xc0) == 0x80)
			text++;
	}
	n = text_clip(text, strlen(text), LISTED_COLS, &width);
	return xasprintf("%s%.*s%s%s%s", text > v->text ? "…" : "", (int)n, text,
			 text[n] ? "…" : "", *v->beside ? " " : "", v->beside);
}

/* What fits, most samples first: as many as a few rows have room for. */
static void say_list(struct app *a, const char *front, const struct term_values *v)
{
	const char *behind = *front ? "" : "; Tab: the first";
	size_t room = (size_t)(a->cols > 20 ? a->cols - 2 : 18) * LIST_ROWS - 30, used = 0, i;
	size_t common = v->n > 1 ? common_bytes(v) : 0;
	char *text = xstrdup(front);

	for (i = 0; i < v->n; i++) {
		char *one = listed(&v->at[i], common), *longer;

		used += text_width(one, strlen(one)) + 2;
		if (i > 0 && used > room) {
			free(one);
			break;
		}
		longer = xasprintf("%s%s%s", text, *text ? "  " : "", one);
		free(one);
		free(text);
		text = longer;
	}
	if (i < v->n)
		app_say_owned(a, false, xasprintf("%s  and %zu more%s", text, v->n - i, behind));
	else
		app_say_owned(a, false, xasprintf("%s%s", text, behind));
	free(text);
}

/* The second Tab of two takes the first of the list. */
static bool is_second(struct app *a)
{
	bool same = a->completed && strcmp(a->completed, a->prompt.text) == 0;

	free(a->completed);
	a->completed = NULL;
	return same;
}

/* Completes by what begins so; n is at least 1. */
static void complete_by(struct app *a, const struct typed *t, const struct term_values *v)
{
	bool second = is_second(a);

	if (v->n == 1 || second) {
		put_value(a, t, v->at[0].text, strlen(v->at[0].text), true);
		return;
	}
	put_value(a, t, v->at[0].text, common_bytes(v), false);
	a->completed = xstrdup(a->prompt.text);
	say_list(a, "", v);
}

/* Why a term cannot be completed: what is wrong with it, or that it can be anything. */
static void say_of_term(struct app *a)
{
	bool quoted;
	const char *term = last_term(a->prompt.text, &quoted);
	struct filter *alone = NULL;
	struct err e = ERR_INIT;

	if (filter_parse(term, &alone, &e) != 0)
		app_say(a, false, err_text(&e));
	else
		app_say(a, false, "there is no list of such values; Enter adds what is typed");
	err_clear(&e);
	filter_free(alone);
}

/* Nothing begins so: what has it in it, which an expression matches; else how to go back. */
static void say_none(struct app *a, const struct typed *t, const char *kind)
{
	const char *what = !t->kind ? "kind of term and no function"
			   : strcmp(kind, "fn") == 0 || strcmp(kind, "leaf") == 0 ? "function"
			   : strcmp(kind, "is") == 0                              ? "class"
										  : kind;
	struct term_values v;
	char *text;

	if (t->is_marked) {
		app_say(a, false, "that is an expression; Enter adds it");
		return;
	}
	if (*t->value == '\0') {
		app_say_owned(a, false, xasprintf("this profile knows no %s of its samples", what));
		return;
	}
	if (t->is_regex)
		term_values_init_with(&v, a->source->profile, kind, t->value);
	else
		v = (struct term_values){ 0 };
	text = xasprintf("no %s begins with \"%s\"", what, t->value);
	if (v.n > 0) {
		app_say_owned(a, false, xasprintf("%s, these have it:", text));
		say_list(a, a->message, &v);
	} else {
		app_say_owned(a, false,
			      xasprintf("%s: Backspace takes it back, then Tab lists what there is",
					text));
	}
	free(text);
	if (t->is_regex)
		term_values_done(&v);
}

static void complete_value(struct app *a, const struct typed *t, const char *kind)
{
	struct term_values v;

	if (!term_values_has(kind)) {
		say_of_term(a);
		return;
	}
	term_values_init(&v, a->source->profile, kind, t->value);
	if (v.n > 0)
		complete_by(a, t, &v);
	else
		say_none(a, t, kind);
	term_values_done(&v);
}

/* Kinds that begin so, those that change stacks behind the others. */
static void list_kinds(struct app *a, const char *begin)
{
	static const char *const titles[] = { "choose samples:", "change stacks:" };
	char *text = xstrdup(""), *longer;
	int title = -1;

	for (size_t i = 0; term_kind_name(i); i++) {
		const char *name = term_kind_name(i);
		int its = term_kind_is_transform(name);

		if (strncmp(name, begin, strlen(begin)) != 0)
			continue;
		longer = xasprintf("%s%s%s %s:", text, title >= 0 && its != title ? "  " : "",
				   its != title ? titles[its] : "", name);
		title = its;
		free(text);
		text = longer;
	}
	app_say_owned(a, false, text);
}

/* Of a word without a colon: the kinds that begin so; else it is the name of a function. */
static void complete_kind(struct app *a, const struct typed *t)
{
	struct term_values v = { 0 };

	arena_init(&v.made);
	for (size_t i = 0; term_kind_name(i) && !t->quoted; i++)
		if (strncmp(term_kind_name(i), t->value, strlen(t->value)) == 0)
			vec_push(&v, ((struct term_value_found){ term_kind_name(i), "", 0 }));
	if (v.n == 0) {
		complete_value(a, t, "fn");
	} else {
		put_value(a, t, v.at[0].text, common_bytes(&v), false);
		if (v.n == 1)
			prompt_key(&a->prompt, ':');
		else
			list_kinds(a, t->value);
	}
	term_values_done(&v);
}

void app_complete(struct app *a)
{
	const char *text = a->prompt.text ? a->prompt.text : "", *term;
	struct typed t = { 0 };

	if (a->prompt.cursor != a->prompt.n)
		return;
	term = last_term(text, &t.quoted);
	split(&t, text, term);
	if (t.kind)
		complete_value(a, &t, t.kind);
	else
		complete_kind(a, &t);
	free(t.kind);
	free(t.value);
}
