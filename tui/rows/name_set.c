/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that read alike are told apart by the words at the places where they part. Any two of them part at one place, before
 * which all is the same: with the words of all places where a name parts from any other one, no two are written alike. Mostly
 * the last of these words is enough.
 */
#include "config.h"

#include "tui/rows/name_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/rows/name_cell.h"

/* Words that are tried behind a name. */
#define WORDS_MOST 6

/* Columns of a word; of longer ones what is around the place where names part. */
#define WORD_COLS 18

/* Fewer columns of the name in front of its words say nothing. */
#define STEM_COLS_MIN 6

/* Cells as narrow as that have no room for dots in front of the end of a name. */
#define DOTS_COLS_MIN 8

/* What is before a module in the text that is compared; no name has it. */
#define BEFORE_MODULE '\x01'

/* A name while it is compared with others. */
struct member {
	const struct seen_name *seen;
	size_t at;    /* its number */
	char *text;   /* as it is written; owned */
	char *module; /* likewise; "": it is not seen; owned */
	char *whole;  /* name and module, clean; owned, NULL: not needed yet */
	size_t *spot; /* [n_spots] bytes of whole where others part, rising; owned */
	size_t n_spots;
};

static bool is_word(char c)
{
	return (unsigned char)c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') ||
	       (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

/* Text whose bytes are compared. */
static char *whole_of(const struct seen_name *seen)
{
	char *name = text_clean(seen->label, strnlen(seen->label, NAME_MOST_BYTES), false);
	char *module = text_clean(seen->module, strlen(seen->module), false);
	char *out = xasprintf("%s%c%s", name, BEFORE_MODULE, module);

	free(name);
	free(module);
	return out;
}

static int by_text(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int c = strcmp(a->text, b->text);

	return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

static int by_number(const void *x, const void *y)
{
	const size_t a = *(const size_t *)x, b = *(const size_t *)y;

	return a < b ? -1 : a > b;
}

/* Must two that are written alike be told apart? Not the same name, nor one of modules whose cells say so. */
static bool differ(const struct member *a, const struct member *b)
{
	if (strcmp(a->seen->label, b->seen->label) != 0)
		return true;
	return strcmp(a->seen->module, b->seen->module) != 0 && strcmp(a->module, b->module) == 0;
}

/* Bytes that two texts begin with alike, whole code points. */
static size_t same_bytes(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n > 0 && ((unsigned char)a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* Where others part from m. */
static void find_spots(struct member *m, const struct member *group, size_t n)
{
	size_t n_spots = 0;

	m->spot = xreallocarray(NULL, n, sizeof(*m->spot));
	for (size_t i = 0; i < n; i++)
		if (differ(&group[i], m))
			m->spot[n_spots++] = same_bytes(m->whole, group[i].whole);
	qsort(m->spot, n_spots, sizeof(*m->spot), by_number);
	for (size_t i = 0; i < n_spots; i++)
		if (m->n_spots == 0 || m->spot[m->n_spots - 1] != m->spot[i])
			m->spot[m->n_spots++] = m->spot[i];
}

/* Bytes [begin, end) of the word at byte `at`; what is no word goes on to the end of the next one. */
struct word {
	size_t begin, end;
};

static struct word word_at(const char *s, size_t at)
{
	struct word w = { at, at };
	size_t used, got;

	while (w.begin > 0 && is_word(s[w.begin - 1]))
		w.begin--;
	if (!is_word(s[at]) && s[at] && s[at] != BEFORE_MODULE) {
		text_decode(s + at, strlen(s + at), &used);
		w.end += used;
		/* a sign alone says little: the one before it, too */
		while (w.begin > 0 && s[w.begin - 1] == ' ')
			w.begin--;
		if (w.begin > 0 && !is_word(s[w.begin - 1]) && strchr(">)*&]}", s[w.begin - 1]))
			w.begin--;
	}
	if (w.end == at || s[at] == ' ')
		while (is_word(s[w.end]))
			w.end++;
	while (at - w.begin > WORD_COLS / 2) {
		text_decode(s + w.begin, strlen(s + w.begin), &used);
		w.begin += used;
	}
	w.end = w.begin + text_clip(s + w.begin, w.end - w.begin, WORD_COLS, &got);
	return w;
}

/* " …long …char": the last n_words of them, as far as there are so many. */
static char *words_of(const struct member *m, size_t n_words, bool ascii)
{
	size_t first = m->n_spots > n_words ? m->n_spots - n_words : 0, end = 0;
	char *out = xstrdup("");

	for (size_t i = first; i < m->n_spots; i++) {
		struct word w = word_at(m->whole, m->spot[i]);
		char *more;

		/* what parts in the last word, too */
		if (i > first && m->spot[i] < end)
			continue;
		more = xasprintf("%s%s%.*s", out, ascii ? " ..." : " …", (int)(w.end - w.begin),
				 m->whole + w.begin);
		free(out);
		out = more;
		end = w.end;
	}
	return out;
}

/* The end of a text in so many columns, at least a code point of it. */
static const char *end_of(const char *s, int cols)
{
	size_t used;

	while (*s && width_of(s) > cols) {
		text_decode(s, strlen(s), &used);
		s += used;
	}
	return s;
}

/* The name in front of its words; without room for both, the words. */
static char *with_words(const struct member *m, size_t n_words, bool ascii)
{
	char *words = words_of(m, n_words, ascii), *stem, *out;
	int room = m->seen->cols - width_of(words);
	size_t got;

	if (room < STEM_COLS_MIN) {
		const char *dots = m->seen->cols < DOTS_COLS_MIN ? "" : ascii ? "..." : "…";

		out = xasprintf("%s%s", dots,
				end_of(words + (*words == ' '), m->seen->cols - width_of(dots)));
	} else {
		stem = name_in_row(m->seen->label, room, ascii);
		stem[text_clip(stem, strlen(stem), (size_t)room, &got)] = '\0';
		out = xasprintf("%s%s", stem, words);
		free(stem);
	}
	free(words);
	return out;
}

/* How many of the group's n texts are also that of a different name. */
static size_t count_alike(const struct member *group, char *const *text, size_t n)
{
	size_t alike = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (strcmp(text[i], text[k]) == 0 && differ(&group[i], &group[k])) {
				alike++;
				break;
			}
	return alike;
}

/* Fewer words leave more of the name: as few as tell them all apart, or else as many as tell most. */
static void tell_apart(struct member *group, size_t n, bool ascii, char **labels)
{
	size_t least = SIZE_MAX;
	char **text = xcalloc(n, sizeof(*text));

	for (size_t i = 0; i < n; i++)
		find_spots(&group[i], group, n);
	for (size_t n_words = 1; n_words <= WORDS_MOST && least > 0; n_words++) {
		size_t alike;

		for (size_t i = 0; i < n; i++)
			text[i] = with_words(&group[i], n_words, ascii);
		alike = count_alike(group, text, n);
		for (size_t i = 0; i < n; i++) {
			if (alike < least) {
				free(labels[group[i].at]);
				labels[group[i].at] = text[i];
			} else {
				free(text[i]);
			}
		}
		least = alike < least ? alike : least;
	}
	free(text);
}

static bool any_differ(const struct member *group, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (differ(&group[i], &group[k]))
				return true;
	return false;
}

char **names_apart(const struct seen_name *names, size_t n, bool ascii)
{
	char **labels = xcalloc(n + 1, sizeof(*labels));
	struct member *m = xcalloc(n + 1, sizeof(*m));
	size_t n_members = 0, end;

	for (size_t i = 0; i < n; i++) {
		if (!names[i].label || names[i].cols < 1)
			continue;
		m[n_members] = (struct member){ .seen = &names[i], .at = i };
		m[n_members].text = name_in_row(names[i].label, names[i].cols, ascii);
		m[n_members++].module = names[i].module_cols > 0
						? name_in_row(names[i].module, names[i].module_cols,
							      ascii)
						: xstrdup("");
	}
	qsort(m, n_members, sizeof(*m), by_text);
	for (size_t first = 0; first < n_members; first = end) {
		for (end = first + 1; end < n_members; end++)
			if (strcmp(m[end].text, m[first].text) != 0)
				break;
		if (!any_differ(m + first, end - first))
			continue;
		for (size_t i = first; i < end; i++)
			m[i].whole = whole_of(m[i].seen);
		tell_apart(m + first, end - first, ascii, labels);
	}
	for (size_t i = 0; i < n_members; i++) {
		free(m[i].text);
		free(m[i].module);
		free(m[i].whole);
		free(m[i].spot);
	}
	free(m);
	return labels;
}

void names_apart_free(char **labels, size_t n)
{
	for (size_t i = 0; labels && i < n; i++)
		free(labels[i]);
	free(labels);
}
