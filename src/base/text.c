/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UTF-8 as a terminal shows it, and names made short.
 *
 * Widths come from wcwidth() where the locale is UTF-8, as curses uses the same function and must
 * agree. In any other locale, where wcwidth() knows nothing past ASCII, a small table of ranges
 * answers: it is coarse (whole blocks), which is enough for text that goes to a file or a pipe.
 */
#include "config.h"

#include "base/text.h"

#include "base/mem.h"
#include "base/transliterate.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT 0xFFFDu

struct range {
	uint32_t first, last;
};

/* Controls, separators and what turns the writing direction; noncharacters are tested by rule. */
static const struct range unsafe[] = {
	{ 0x0000, 0x001F }, { 0x007F, 0x009F }, { 0x061C, 0x061C }, { 0x200E, 0x200F },
	{ 0x2028, 0x202E }, { 0x2066, 0x2069 }, { 0xFDD0, 0xFDEF },
};

/* Without a UTF-8 locale: what combines or does not show. Blocks of Unicode, not single points. */
static const struct range narrow[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x0610, 0x061A },
	{ 0x064B, 0x065F }, { 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E }, { 0x1AB0, 0x1AFF },
	{ 0x1DC0, 0x1DFF }, { 0x200B, 0x200D }, { 0x2060, 0x2064 }, { 0x20D0, 0x20FF },
	{ 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF }, { 0xE0100, 0xE01EF },
};

/* Without a UTF-8 locale: East Asian wide and emoji. */
static const struct range wide[] = {
	{ 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },   { 0x2705, 0x2705 },
	{ 0x2E80, 0x303E },   { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },
	{ 0xA000, 0xA4CF },   { 0xA960, 0xA97C },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },
	{ 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x1F300, 0x1F64F },
	{ 0x1F680, 0x1F6FF }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD },
};

#define IS_IN(ranges, cp) is_in((ranges), sizeof(ranges) / sizeof(*(ranges)), (cp))

static bool is_in(const struct range *r, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n && r[i].first <= cp; i++)
		if (cp <= r[i].last)
			return true;
	return false;
}

/* How many bytes a sequence has and what the first contributes; 0 when none may start so. */
static size_t sequence(uint8_t first, uint32_t *cp, uint32_t *least)
{
	if (first >= 0xC2 && first <= 0xDF) {
		*cp = first & 0x1Fu;
		*least = 0x80;
		return 2;
	}
	if (first >= 0xE0 && first <= 0xEF) {
		*cp = first & 0x0Fu;
		*least = 0x800;
		return 3;
	}
	if (first >= 0xF0 && first <= 0xF4) {
		*cp = first & 0x07u;
		*least = 0x10000;
		return 4;
	}
	return 0;
}

uint32_t text_decode(const char *s, size_t len, size_t *used)
{
	const uint8_t *b = (const uint8_t *)s;
	uint32_t cp = 0, least = 0;
	size_t n;

	*used = 1;
	if (b[0] < 0x80)
		return b[0];
	n = sequence(b[0], &cp, &least);
	if (n == 0 || n > len)
		return REPLACEMENT;
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xC0) != 0x80)
			return REPLACEMENT;
		cp = cp << 6 | (b[i] & 0x3Fu);
	}
	if (cp < least || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
		return REPLACEMENT;
	*used = n;
	return cp;
}

size_t text_encode(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

bool text_is_unsafe(uint32_t cp)
{
	return IS_IN(unsafe, cp) || (cp & 0xFFFE) == 0xFFFE || cp > 0x10FFFF;
}

int text_cp_width(uint32_t cp)
{
	int w;

	if (cp < 0x7F || text_is_unsafe(cp))
		return 1;
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
		w = wcwidth((wchar_t)cp);
		return w < 0 ? 1 : w;
	}
	if (IS_IN(narrow, cp))
		return 0;
	return IS_IN(wide, cp) ? 2 : 1;
}

size_t text_width(const char *s, size_t n)
{
	size_t width = 0, used;

	for (size_t i = 0; i < n; i += used)
		width += (size_t)text_cp_width(text_decode(s + i, n - i, &used));
	return width;
}

size_t text_clip(const char *s, size_t n, size_t cols, size_t *got)
{
	size_t width = 0, i = 0, used;

	while (i < n && cols > 0) {
		size_t w = (size_t)text_cp_width(text_decode(s + i, n - i, &used));

		if (w > cols - width)
			break;
		width += w;
		i += used;
	}
	*got = width;
	return i;
}

size_t text_first_line(const char *s, size_t n, size_t cols, size_t *next)
{
	size_t got, fits = text_clip(s, n, cols, &got), end = fits;

	if (fits == n) {
		*next = n;
		return n;
	}
	while (end > 0 && s[end] != ' ')
		end--;
	if (end == 0)
		end = fits;
	*next = end + (s[end] == ' ');
	return end;
}

char *text_clean(const char *s, size_t n, bool ascii)
{
	VEC(char) out = { 0 };
	size_t used;

	vec_reserve(&out, n + 1);
	for (size_t i = 0; i < n; i += used) {
		uint32_t cp = text_decode(s + i, n - i, &used);

		if (text_is_unsafe(cp))
			cp = REPLACEMENT;
		vec_reserve(&out, out.n + SPELL_MOST);
		out.n += ascii ? transliterate_ascii(cp, out.at + out.n)
			       : text_encode(cp, out.at + out.n);
	}
	vec_push(&out, '\0');
	return out.at;
}

/*
 * Folding. Brackets that belong together are groups: a stack finds them, so that depth costs memory
 * and not recursion. Groups fold deepest first, then longest first, templates before arguments.
 */

#define NO_GROUP SIZE_MAX

struct group {
	size_t open, close; /* byte positions of the brackets */
	size_t inner_cols;  /* columns between them, in the full name */
	size_t saved_cols;  /* columns that folding inside has saved */
	size_t parent;      /* index of the group around it, or NO_GROUP */
	size_t depth;       /* 0: not inside any group */
	bool foldable;      /* may be folded at all */
	bool folded;
	bool hidden; /* inside a folded group */
};

struct open_bracket {
	size_t at;    /* byte position */
	size_t cols;  /* columns before it */
	size_t group; /* its number in groups, in order of opening */
	char kind;    /* '<' or '(' */
};

struct folding {
	const char *s;            /* clean */
	size_t n;                 /* bytes of s */
	size_t cols;              /* columns of s as folded so far */
	size_t dots_cols;         /* of the ellipsis */
	size_t n_parens;          /* '(' among open: a ')' without one need not look for it */
	VEC(struct group) groups; /* by opening bracket; what never closes has close 0 */
	VEC(struct open_bracket) open;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (c & 0x80) != 0;
}

static bool starts(const char *s, size_t n, size_t i, const char *with)
{
	size_t len = strlen(with);

	return n - i >= len && s[i] == *with && memcmp(s + i, with, len) == 0;
}

/* Bytes of an operator's name at i whose symbols are no brackets: "operator<<", "operator()". */
static size_t operator_name(const char *s, size_t n, size_t i)
{
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "()", "<<",
					       ">>",  "<=",  ">=",  "->",  "<",  ">" };
	const size_t word = sizeof("operator") - 1;

	if (!starts(s, n, i, "operator") || (i > 0 && is_word(s[i - 1])))
		return 0;
	for (size_t k = 0; k < sizeof(symbols) / sizeof(*symbols); k++)
		if (starts(s, n, i + word, symbols[k]))
			return word + strlen(symbols[k]);
	return 0;
}

/* Bytes at i that look like brackets and are none. */
static size_t no_brackets(const char *s, size_t n, size_t i)
{
	static const char *const literal[] = { "(anonymous namespace)", "(anonymous class)", "->",
					       "=>" };

	for (size_t k = 0; k < sizeof(literal) / sizeof(*literal); k++)
		if (starts(s, n, i, literal[k]))
			return strlen(literal[k]);
	return operator_name(s, n, i);
}

/* Does an operator's name end at i: "operator()", "operator=="? */
static bool ends_operator(const char *s, size_t i)
{
	const size_t word = sizeof("operator") - 1;
	size_t n_symbols = 0;

	/* three are the most that an operator has */
	for (; i > 0 && n_symbols < 3 && strchr("<>=+-*/%^|!&~,[]()", s[i - 1]); i--)
		n_symbols++;
	return i >= word && memcmp(s + i - word, "operator", word) == 0;
}

/*
 * May the group opened at i be folded? Not Rust's <T as Trait>::method and <impl Trait for T>, nor
 * Go's (*T).Method: these are the qualified name itself.
 */
static bool is_foldable(const char *s, size_t n, size_t i)
{
	char before = i > 0 ? s[i - 1] : ' ';

	if (s[i] == '(')
		return !(before == '.' && starts(s, n, i, "(*"));
	if (starts(s, n, i, "<impl "))
		return false;
	if (before == ' ') /* operator<< <int> is written so; what follows an arrow is a type */
		return i > 2 && strchr("<>=+-*/%^|!", s[i - 2]) && !starts(s, n, i - 3, "->");
	return is_word(before) || before == ':' || before == '>' || ends_operator(s, i);
}

static void open_group(struct folding *f, size_t at, size_t cols)
{
	size_t parent = f->open.n ? f->open.at[f->open.n - 1].group : NO_GROUP;
	struct group g = { .open = at, .parent = parent, .depth = f->open.n };
	struct open_bracket b = { .at = at, .cols = cols, .group = f->groups.n, .kind = f->s[at] };

	g.foldable = is_foldable(f->s, f->n, at);
	vec_push(&f->groups, g);
	vec_push(&f->open, b);
	f->n_parens += b.kind == '(';
}

/* Closes the group that a bracket at `at` ends, if any; what was left open inside is no group. */
static void close_group(struct folding *f, size_t at, size_t cols)
{
	char kind = f->s[at] == '>' ? '<' : '(';
	size_t k = f->open.n;
	struct group *g;

	if (kind == '(' && f->n_parens > 0)
		while (f->open.at[k - 1].kind != '(')
			k--;
	if (k == 0 || f->open.at[k - 1].kind != kind)
		return;
	f->n_parens -= kind == '(';
	g = &f->groups.at[f->open.at[k - 1].group];
	g->close = at;
	g->inner_cols = cols - f->open.at[k - 1].cols - 1;
	f->open.n = k - 1;
}

static void find_groups(struct folding *f)
{
	size_t cols = 0, used;

	for (size_t i = 0; i < f->n; i += used) {
		char c = f->s[i];

		used = no_brackets(f->s, f->n, i);
		if (used > 0) {
			cols += used; /* all of it ASCII */
			continue;
		}
		if (c == '<' || c == '(')
			open_group(f, i, cols);
		else if (c == '>' || c == ')')
			close_group(f, i, cols);
		cols += (size_t)text_cp_width(text_decode(f->s + i, f->n - i, &used));
	}
	f->cols = cols;
}

/* Deepest, then longest, then leftmost first. */
static int by_depth(const void *a, const void *b, void *groups)
{
	const struct group *g = (const struct group *)groups + *(const size_t *)a;
	const struct group *h = (const struct group *)groups + *(const size_t *)b;

	if (g->depth != h->depth)
		return g->depth > h->depth ? -1 : 1;
	if (g->inner_cols != h->inner_cols)
		return g->inner_cols > h->inner_cols ? -1 : 1;
	return g->open < h->open ? -1 : 1;
}

/* Folds groups of one kind until the name fits in cols. order: [groups.n], deepest first. */
static void fold_kind(struct folding *f, char kind, size_t cols, const size_t *order)
{
	for (size_t k = 0; k < f->groups.n; k++)
		f->groups.at[k].saved_cols = 0;
	for (size_t k = f->groups.n; k-- > 0;) {
		struct group *g = &f->groups.at[order[k]];
		const struct group *up = g->parent != NO_GROUP ? &f->groups.at[g->parent] : NULL;

		g->hidden = up && (up->hidden || up->folded);
	}
	for (size_t k = 0; k < f->groups.n && f->cols > cols; k++) {
		struct group *g = &f->groups.at[order[k]];
		size_t now = g->inner_cols - g->saved_cols;

		if (g->close == 0)
			now = 0;
		if (!g->folded && !g->hidden && g->foldable && f->s[g->open] == kind &&
		    now > f->dots_cols) {
			f->cols -= now - f->dots_cols;
			g->folded = true;
		}
		if (g->folded)
			g->saved_cols = g->inner_cols - f->dots_cols;
		if (g->parent != NO_GROUP)
			f->groups.at[g->parent].saved_cols += g->saved_cols;
	}
}

/* The name with its folded groups folded. */
static char *folded_text(const struct folding *f, const char *dots)
{
	VEC(char) out = { 0 };
	size_t at = 0;

	vec_reserve(&out, f->n + 1);
	for (size_t k = 0; k < f->groups.n; k++) {
		const struct group *g = &f->groups.at[k];

		if (!g->folded || g->open < at)
			continue;
		vec_reserve(&out, out.n + (g->open + 1 - at) + strlen(dots));
		memcpy(out.at + out.n, f->s + at, g->open + 1 - at);
		out.n += g->open + 1 - at;
		memcpy(out.at + out.n, dots, strlen(dots));
		out.n += strlen(dots);
		at = g->close;
	}
	vec_reserve(&out, out.n + (f->n - at) + 1);
	memcpy(out.at + out.n, f->s + at, f->n - at);
	out.n += f->n - at;
	out.at[out.n] = '\0';
	return out.at;
}

/* Cuts s, which is cols_now wide, on the left so that it takes at most cols. */
static char *cut_left(const char *s, size_t cols_now, size_t cols, const char *dots,
		      size_t dots_cols)
{
	size_t n = strlen(s), i = 0, used;

	if (dots_cols > cols) {
		dots = "";
		dots_cols = 0;
	}
	while (i < n) {
		int w = text_cp_width(text_decode(s + i, n - i, &used));

		if (cols_now + dots_cols <= cols && w > 0)
			break;
		cols_now -= (size_t)w;
		i += used;
	}
	return xasprintf("%s%s", dots, s + i);
}

char *text_fold_name(const char *name, size_t cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	char *s = text_clean(name, strlen(name), ascii), *out;
	struct folding f = { .s = s, .n = strlen(s), .dots_cols = ascii ? 3 : 1 };
	size_t *order;

	if (cols == 0 || text_width(s, f.n) <= cols)
		return s;
	find_groups(&f);
	order = xreallocarray(NULL, f.groups.n, sizeof(*order));
	for (size_t k = 0; k < f.groups.n; k++)
		order[k] = k;
	if (f.groups.n > 0)
		qsort_r(order, f.groups.n, sizeof(*order), by_depth, f.groups.at);
	fold_kind(&f, '<', cols, order);
	fold_kind(&f, '(', cols, order);
	free(order);
	out = folded_text(&f, dots);
	if (f.cols > cols) {
		char *cut = cut_left(out, f.cols, cols, dots, f.dots_cols);

		free(out);
		out = cut;
	}
	vec_done(&f.groups);
	vec_done(&f.open);
	free(s);
	return out;
}
