/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folding, shortening and cutting of names; see name_cell.h. */
#include "config.h"

#include "tui/rows/name_cell.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/core/groups.h"
#include "tui/canvas/canvas.h"

/*
 * A cut is marked where there are so many columns: in a box, whose edge says as much, each letter counts; in a row only
 * where two or three would be left.
 */
#define BOX_MARK_COLS       16
#define ROW_MARK_COLS       4
#define ROW_MARK_COLS_ASCII 6

/* Fewer columns of what a function belongs to say nothing. */
#define OWNER_COLS_MIN 3

/* Fewer digits of an address are any number. */
#define DIGITS_MIN 3

/* Parts of a qualified name that are tried to be left out. */
#define PARTS_MOST 16

/* Parts of the paths of types in brackets that are kept where there is room. */
#define PATH_PARTS_MOST 3

/* A number behind a name is left out where fewer columns than these would be left for the name. */
#define DETAILED_COLS_MIN 6

/* Where a function's arguments begin in a clean name, or its end. */
static size_t arguments_of(const char *s)
{
	int braces = 0;

	for (size_t i = 0; s[i]; i++) {
		if (s[i] == '{')
			braces++;
		else if (s[i] == '}')
			braces--;
		if (s[i] != '(' || i == 0 || braces != 0)
			continue;
		if (strchr(".:< *&", s[i - 1]) ||
		    (i >= 8 && strncmp(s + i - 8, "operator", 8) == 0))
			continue;
		return i;
	}
	return strlen(s);
}

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

/* What comes after the next :: outside of brackets, or NULL. */
static const char *next_part(const char *name)
{
	int depth = 0;

	for (const char *p = name; *p; p++) {
		if (strchr("<({", *p))
			depth++;
		else if (strchr(">)}", *p))
			depth--;
		else if (depth == 0 && p[0] == ':' && p[1] == ':' && p[2] && p[2] != ':')
			return p + 2;
	}
	return NULL;
}

/* A name folded to cols, or NULL where it would be cut, too. */
static char *folded(const char *name, int cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	char *out;

	if (cols < (ascii ? 8 : 4) && width_of(name) > cols)
		return NULL;
	out = text_fold_name(name, (size_t)cols, ascii);
	if (strncmp(out, dots, strlen(dots)) != 0 || strncmp(name, dots, strlen(dots)) == 0)
		return out;
	free(out);
	return NULL;
}

/* What stands before a function's arguments and templates; if that is too long, its beginning. */
static char *stem(const char *name, int cols, int mark_cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	int dots_cols = ascii ? 3 : 1;
	char *out = text_clean(name, strlen(name), ascii), *cut;
	size_t head = strspn(out, "<"), n, got;

	head = head > 0 || !*out ? head : 1;
	n = head + strcspn(out + head, "<({");
	/* the signs of an operator are its name */
	if (n >= 8 && strncmp(out + n - 8, "operator", 8) == 0)
		n += out[n] == '(' ? strspn(out + n, "()") > 1 ? 2 : 0 : strspn(out + n, "<>=");
	if (text_width(out, n) <= (size_t)cols) {
		out[n] = '\0';
		return out;
	}
	if (cols < mark_cols) {
		out[text_clip(out, strlen(out), (size_t)cols, &got)] = '\0';
		return out;
	}
	out[text_clip(out, strlen(out), (size_t)(cols - dots_cols), &got)] = '\0';
	cut = xasprintf("%s%s", out, dots);
	free(out);
	return cut;
}

static bool is_word(char c)
{
	return (unsigned char)c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') ||
	       (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/*
 * Rust names a method by its type and trait, with the paths of both: <core::hash::sip::Hasher<S> as core::hash::Hasher>::finish.
 * What stands in brackets loses its paths but for the last `keep` parts, <Hasher<S> as Hasher>::finish with none; at most
 * PATH_PARTS_MOST. NULL for other names.
 */
static char *without_paths(const char *name, size_t keep)
{
	const char *type = *name == '<' ? name : strstr(name, "::<");
	char *out, *to, *word[PATH_PARTS_MOST + 2]; /* where the last parts of a path begin */
	ptrdiff_t gone;
	size_t n = 1;
	int depth = 0;

	if (!type)
		return NULL;
	out = to = word[0] = xmalloc(strlen(name) + 1);
	for (const char *s = name; *s; s++) {
		if (*s == '<')
			depth++;
		else if (*s == '>' && depth > 0 && (s == name || s[-1] != '-'))
			depth--;
		if (depth > 0 && s[0] == ':' && s[1] == ':' && is_word(s[2])) {
			*to++ = *s++;
			*to++ = *s;
			word[n++] = to;
			if (n <= keep + 1)
				continue;
			/* the first part goes, and those behind it move up */
			n--;
			gone = word[1] - word[0];
			memmove(word[0], word[1], (size_t)(to - word[1]));
			to -= gone;
			for (size_t i = 1; i < n; i++)
				word[i] = word[i + 1] - gone;
			continue;
		}
		*to++ = *s;
		if (!is_word(*s)) {
			word[0] = to;
			n = 1;
		}
	}
	*to = '\0';
	return out;
}

/*
 * "Hasher…::finish": a part and as much as there is room for of what it belongs to, which is all of the name between two
 * parts. NULL where there is hardly any, or the part says it.
 */
static char *with_owner(const char *owner, const char *part, const char *shown, int cols,
			bool ascii)
{
	const char *dots = ascii ? "...::" : "…::";
	int room = cols - width_of(shown) - width_of(dots);
	size_t n = (size_t)(part - owner) - 2, template, got;
	char *text, *out;

	if (room < OWNER_COLS_MIN || next_part(shown))
		return NULL;
	text = text_clean(owner, n, ascii);
	/* arguments of templates say less than the name */
	template = *text ? strcspn(text + 1, "<({") + 1 : 0;
	if (*text != '<')
		text[template] = '\0';
	/* a word that is cut is written in another way in each width; it must be where the part alone says little */
	if (*text != '<' && strncmp(part, "operator", 8) != 0 && width_of(text) > room) {
		free(text);
		return NULL;
	}
	text[text_clip(text, strlen(text), (size_t)room, &got)] = '\0';
	out = xasprintf("%s%s%s", text, dots, shown);
	free(text);
	return out;
}

/*
 * A name by its last parts, as many as there is room for; NULL where the last is too long, too. *last: that one, or what has no name
 * of its own, as {{closure}} and a lambda's operator(), behind the one that it belongs to.
 */
static char *by_parts(const char *name, int cols, bool ascii, const char **last)
{
	const char *part = name, *owner = name;

	*last = name;
	for (int i = 0; i < PARTS_MOST; i++) {
		char *shown, *out;

		part = next_part(part);
		if (!part)
			break;
		if (*part != '{' && !(*owner == '{' && strncmp(part, "operator()", 10) == 0))
			*last = part;
		shown = folded(part, cols - (ascii ? 3 : 1), ascii);
		if (shown) {
			out = with_owner(owner, part, shown, cols, ascii);
			if (!out)
				out = xasprintf("%s%s", ascii ? "..." : "…", shown);
			free(shown);
			return out;
		}
		owner = part;
	}
	return NULL;
}

/* The address in "[libz.so.1+0x2f30]", which is what tells such names apart, from its plus on; NULL for other names. */
static const char *address_in(const char *name)
{
	const char *plus = *name == '[' ? strrchr(name, '+') : NULL;
	size_t digits;

	if (!plus || strncmp(plus, "+0x", 3) != 0)
		return NULL;
	digits = strspn(plus + 3, "0123456789abcdef");
	return digits > 0 && strcmp(plus + 3 + digits, "]") == 0 ? plus : NULL;
}

/* "[lib…+0x2f30]", else "+0x2f30", else "2f30", else its last digits: a few at least, as one says nothing. */
static char *short_address(const char *name, const char *plus, int cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	int room = cols - (int)strlen(plus) - 1 - width_of(dots), whole = (int)strlen(plus) - 1;
	int digits = cols < whole - 3 ? cols : whole - 3;
	char *module, *out;
	size_t got;

	if (cols < DIGITS_MIN)
		return xstrdup("");
	if (room < 1)
		return whole <= cols ? xasprintf("%.*s", whole, plus)
				     : xasprintf("%.*s", digits, plus + whole - digits);
	module = text_clean(name + 1, (size_t)(plus - name) - 1, ascii);
	module[text_clip(module, strlen(module), (size_t)room, &got)] = '\0';
	out = xasprintf("[%s%s%s", module, dots, plus);
	free(module);
	return out;
}

int name_least_cols(const char *name, int least)
{
	const char *plus = address_in(name);
	int digits = plus ? (int)strlen(plus) - 4 : 0;

	return digits > least ? digits : least;
}

/* As name_short(); a cut is marked where there are mark_cols or more. */
static char *shortened(const char *name, int cols, int mark_cols, bool ascii)
{
	const char *last, *address = address_in(name);
	char *out, *brief = NULL;

	if (address && width_of(name) > cols)
		return short_address(name, address, cols > 0 ? cols : 0, ascii);
	out = folded(name, cols, ascii);
	for (size_t keep = PATH_PARTS_MOST + 1; !out && keep-- > 0;) {
		free(brief);
		brief = without_paths(name, keep);
		if (!brief)
			break;
		out = folded(brief, cols, ascii);
	}
	if (!out)
		out = by_parts(brief ? brief : name, cols, ascii, &last);
	if (!out && *last)
		out = folded(last, cols, ascii);
	if (!out)
		out = stem(last, cols, mark_cols, ascii);
	free(brief);
	return out;
}

char *name_short(const char *name, int cols, bool ascii)
{
	size_t n = strnlen(name, NAME_MOST_BYTES);
	char *begin = name[n] != '\0' ? xstrndup(name, n) : NULL, *out;

	out = shortened(begin ? begin : name, cols, BOX_MARK_COLS, ascii);
	free(begin);
	return out;
}

char *name_in_row(const char *name, int cols, bool ascii)
{
	size_t n = strnlen(name, NAME_MOST_BYTES);
	char *begin = name[n] != '\0' ? xstrndup(name, n) : NULL, *out;

	out = shortened(begin ? begin : name, cols, ascii ? ROW_MARK_COLS_ASCII : ROW_MARK_COLS,
			ascii);
	free(begin);
	return out;
}

/* The name as it will be shown; the caller frees. */
static char *shown_name(const char *name, int cols, const struct name_look *look, bool ascii)
{
	size_t n = strnlen(name, NAME_MOST_BYTES), got;
	char *whole, *out;
	int hidden;

	if (!look->wide && look->shift == 0 && name[n] == '\0')
		return name_in_row(name, cols, ascii);
	whole = text_clean(name, n, ascii);
	hidden = width_of(whole) - cols;
	if (look->shift > 0 && hidden > 0) {
		if (hidden > look->shift)
			hidden = look->shift;
		out = xstrdup(whole + text_clip(whole, strlen(whole), (size_t)hidden, &got));
	} else {
		out = look->wide ? xstrdup(whole) : name_in_row(whole, cols, ascii);
	}
	free(whole);
	return out;
}

int name_draw(struct canvas *c, int row, int col, int cols, const char *name,
	      const struct name_look *look)
{
	uint16_t flags = (uint16_t)(look->style & ~(unsigned)0xff);
	enum style base;
	size_t args;
	char *text;
	int used;

	if (cols <= 0)
		return 0;
	text = shown_name(name, cols, look, c->ascii);
	base = STYLE_OF(look->style);
	args = strlen(text);
	if (base >= STYLE_FAMILY_UNKNOWN && base < STYLE_FLAME_UNKNOWN)
		args = arguments_of(text);
	used = canvas_put(c, row, col, cols, look->style, text, args);
	if (text[args])
		used += canvas_puts(c, row, col + used, cols - used,
				    (uint16_t)(STYLE_DIM | (flags & STYLE_MATCH)), text + args);
	free(text);
	return used;
}

/* A name that ends in "…" where it is cut; the caller frees. */
static char *cut_name(const char *name, int cols, bool ascii)
{
	char *out = text_clean(name, strnlen(name, NAME_MOST_BYTES), ascii), *cut;
	int dots_cols = ascii ? 3 : 1;
	size_t got;

	if (width_of(out) <= cols)
		return out;
	out[text_clip(out, strlen(out), (size_t)(cols - dots_cols), &got)] = '\0';
	cut = xasprintf("%s%s", out, ascii ? "..." : "…");
	free(out);
	return cut;
}

int name_draw_detailed(struct canvas *c, int row, int col, int cols, const char *name,
		       const char *detail, const struct name_look *look)
{
	const char *number = strrchr(detail, ' '), *gap = "  ";
	int behind = 2 + width_of(detail), used, least = DETAILED_COLS_MIN;
	char *cut;

	if (*detail == '\0' || cols < DETAILED_COLS_MIN)
		return name_draw(c, row, col, cols, name, look);
	if (strnlen(name, DETAILED_COLS_MIN) < DETAILED_COLS_MIN)
		least = width_of(name);
	/* of "tid 815" the number alone tells threads of one name apart; names that it would cut tell more */
	if (cols - behind < least && number) {
		least = width_of(name);
		gap = " ";
		detail = number + 1;
		behind = 1 + width_of(detail);
	}
	if (cols - behind < least)
		behind = 0;
	cut = cut_name(name, cols - behind, c->ascii);
	used = name_draw(c, row, col, cols - behind, cut, look);
	free(cut);
	if (behind > 0)
		used += canvas_printf(c, row, col + used, cols - used, STYLE_DIM, "%s%s", gap,
				      detail);
	return used;
}

char *name_full(const struct key *k)
{
	return text_clean(k->label, strlen(k->label), false);
}
