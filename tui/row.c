/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of keys on screens; see row.h. */
#include "config.h"

#include "row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "glyphs.h"
#include "mem.h"
#include "text.h"

/* Names longer than this many bytes are cut before they are folded: no screen shows as much. */
#define NAME_MOST_BYTES 4096

/* A cut is marked where there are so many columns; in fewer, each letter counts. */
#define CUT_MARK_COLS 16

/* Parts of a qualified name that are tried to be left out. */
#define PARTS_MOST 16

/* A row is hot from this share of the self weight on: one in HOT_PART. */
#define HOT_PART 20

/* A number behind a name is left out where fewer columns than these would be left for the name. */
#define DETAILED_COLS_MIN 6

/* Threads that are looked through for whose a name is. */
#define THREADS_MOST 16384

void row_draw_marker(struct canvas *c, struct rect r, int line)
{
	if (line < 0 || line >= r.rows || r.cols < 1)
		return;
	canvas_fill(c, r.row + line, r.col + (r.cols > 1), 1, STYLE_NORMAL, GLYPH_CLOSED);
	c->cursor_row = r.row + line;
	c->cursor_col = r.col + (r.cols > 1);
}

void row_draw_nothing(struct canvas *c, struct rect r, const struct scene *s)
{
	const struct weights *w = &s->analysis->weights;
	bool heap = metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric);
	const char *text = heap ? "no allocations" : "no samples";

	if (w->whole[0] > 0 && w->total[0] == 0)
		text = heap ? "no allocation passes the filter" : "no sample passes the filter";
	else if (s->loading)
		text = "nothing has been read yet";
	else if (s->analysis->counts.n_samples > 0 && !heap)
		text = "no sample is of this event";
	canvas_puts(c, r.row + r.rows / 3, r.col + 2, r.cols - 2, STYLE_DIM, text);
}

uint16_t row_key_style(const struct key *k)
{
	if (k->flags & FUNCTION_MARK)
		return STYLE_MARK;
	if (k->flags & FUNCTION_UNRESOLVED)
		return STYLE_DIM;
	if (k->flags & FUNCTION_COMM)
		return STYLE_NORMAL | STYLE_BOLD;
	return (uint16_t)(STYLE_FAMILY_UNKNOWN + (int)k->family);
}

uint16_t row_joint_style(const struct key *k)
{
	return (uint16_t)STYLE_OF(row_key_style(k));
}

uint16_t row_bar_style(const struct key *k)
{
	uint16_t style = (uint16_t)STYLE_OF(row_key_style(k));

	return style >= STYLE_FAMILY_UNKNOWN ? style : STYLE_BAR;
}

uint16_t row_flame_style(const struct key *k)
{
	if (k->flags & FUNCTION_MARK)
		return STYLE_FLAME_MERGED;
	return (uint16_t)(STYLE_FLAME_UNKNOWN + (int)k->family);
}

const char *row_family_tag(enum family f)
{
	static const char *const tags[] = { "[?]", "[.]", "[l]", "[c]", "[k]", "[j]" };

	return tags[f];
}

bool row_is_hot(const struct scene *s, const int64_t *self)
{
	int64_t whole = s->analysis->weights.total[0];

	/* What catches the eye in a comparison is its colour. */
	if (s->analysis->diff)
		return false;
	return self[0] > 0 && self[0] >= whole / HOT_PART;
}

bool row_matches(const struct scene *s, const struct keys *keys, uint32_t key)
{
	return s->search && keys == &s->analysis->keys && key < s->search->n_keys &&
	       s->search->matches[key];
}

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
static char *stem(const char *name, int cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	int dots_cols = ascii ? 3 : 1;
	char *out = text_clean(name, strlen(name), ascii), *cut;
	size_t n = *out ? strcspn(out + 1, "<({") + 1 : 0, got;

	if (text_width(out, n) <= (size_t)cols) {
		out[n] = '\0';
		return out;
	}
	if (cols < CUT_MARK_COLS) {
		out[text_clip(out, strlen(out), (size_t)cols, &got)] = '\0';
		return out;
	}
	out[text_clip(out, strlen(out), (size_t)(cols - dots_cols), &got)] = '\0';
	cut = xasprintf("%s%s", out, dots);
	free(out);
	return cut;
}

char *row_short_name(const char *name, int cols, bool ascii)
{
	const char *dots = ascii ? "..." : "…", *part = name, *last = name;
	char *out = folded(name, cols, ascii), *with_dots;

	for (int i = 0; !out && i < PARTS_MOST; i++) {
		part = next_part(part);
		if (!part)
			break;
		last = part;
		out = folded(part, cols - (ascii ? 3 : 1), ascii);
		if (!out)
			continue;
		with_dots = xasprintf("%s%s", dots, out);
		free(out);
		return with_dots;
	}
	if (!out && last != name)
		out = folded(last, cols, ascii);
	return out ? out : stem(last, cols, ascii);
}

/* The name as it will be shown; the caller frees. */
static char *shown_name(const char *name, int cols, const struct name_look *look, bool ascii)
{
	size_t n = strnlen(name, NAME_MOST_BYTES), got;
	char *whole, *out;
	int hidden;

	if (!look->wide && look->shift == 0 && name[n] == '\0')
		return row_short_name(name, cols, ascii);
	whole = text_clean(name, n, ascii);
	hidden = width_of(whole) - cols;
	if (look->shift > 0 && hidden > 0) {
		if (hidden > look->shift)
			hidden = look->shift;
		out = xstrdup(whole + text_clip(whole, strlen(whole), (size_t)hidden, &got));
	} else {
		out = look->wide ? xstrdup(whole) : row_short_name(whole, cols, ascii);
	}
	free(whole);
	return out;
}

int row_draw_name(struct canvas *c, int row, int col, int cols, const char *name,
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

int row_draw_named(struct canvas *c, int row, int col, int cols, const char *name,
		   const char *detail, const struct name_look *look)
{
	int behind = 2 + width_of(detail), used;
	char *cut;

	if (*detail == '\0' || cols < DETAILED_COLS_MIN)
		return row_draw_name(c, row, col, cols, name, look);
	if (cols - behind < DETAILED_COLS_MIN)
		behind = 0;
	cut = cut_name(name, cols - behind, c->ascii);
	used = row_draw_name(c, row, col, cols - behind, cut, look);
	free(cut);
	if (behind > 0)
		used += canvas_printf(c, row, col + used, cols - used, STYLE_DIM, "  %s", detail);
	return used;
}

int row_draw_tags(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct key *k, const char *tag)
{
	int left = sh->name_cols;

	if (c->mono && left >= 16 && !(k->flags & FUNCTION_COMM)) {
		left -= 4;
		canvas_puts(c, r.row + line, r.col + sh->name + left + 1, 3, STYLE_DIM,
			    row_family_tag(k->family));
	}
	if (tag && left >= 16) {
		int cols = (int)text_width(tag, strlen(tag));

		if (cols > left / 3)
			return left;
		left -= cols + 1;
		canvas_puts(c, r.row + line, r.col + sh->name + left + 1, cols, STYLE_DIM, tag);
	}
	return left;
}

void row_draw_module(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     const struct key *k)
{
	struct name_look look = { .style = STYLE_DIM };

	if (sh->module_cols > 0)
		row_draw_name(c, r.row + line, r.col + sh->module, sh->module_cols, k->module,
			      &look);
}

void row_draw_key(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct scene *s, const struct row_key *k)
{
	const struct key *key = &k->keys->key[k->key];
	struct name_look look = { .wide = s->wide, .shift = k->shift };
	int cols = row_draw_tags(sh, c, r, line, key, k->tag) - k->indent;
	int col = r.col + sh->name + k->indent;
	char detail[FMT_SIZE];

	look.style = k->dim ? STYLE_DIM : row_key_style(key);
	if (k->hot)
		look.style |= STYLE_BOLD;
	if (k->selected)
		look.style |= STYLE_SELECTED;
	if (row_matches(s, k->keys, k->key))
		look.style |= STYLE_MATCH;
	row_draw_named(c, r.row + line, col, cols, key->label,
		       row_detail(s, k->keys, k->key, detail), &look);
	row_draw_module(sh, c, r, line, key);
}

/*
 * Whose the name is: "(812)" of a process, "(tid 815)" of one of its other threads; "" when several had it, or
 * none.
 */
static const char *comm_detail(const struct scene *s, uint32_t function, char out[FMT_SIZE])
{
	const struct profile *p = s->analysis->profile;
	uint32_t n = s->analysis->counts.n_threads;
	string_id name = profile_function(p, (function_id){ function })->name;
	const struct thread *its = NULL;
	const struct process *process;
	bool several = false;

	for (uint32_t i = 0; i < n && n <= THREADS_MOST; i++) {
		const struct thread *t = profile_thread(p, (thread_id){ i });

		if (t->name.v != name.v)
			continue;
		if (its && t->process.v != its->process.v)
			return out;
		several = several || (its && t->tid != its->tid);
		its = t;
	}
	if (!its)
		return out;
	process = profile_process(p, its->process);
	if (!several && its->tid >= 0 && its->tid != process->pid)
		snprintf(out, FMT_SIZE, "(tid %d)", (int)its->tid);
	else if (process->pid >= 0 && (!several || process_name(process).v == name.v))
		snprintf(out, FMT_SIZE, "(%d)", (int)process->pid);
	return out;
}

const char *row_detail(const struct scene *s, const struct keys *keys, uint32_t key,
		       char out[FMT_SIZE])
{
	const struct key *k = &keys->key[key];

	out[0] = '\0';
	if (k->flags & FUNCTION_COMM)
		return comm_detail(s, k->id, out);
	return key_detail(keys, s->analysis->profile, key, out);
}

uint32_t row_key_of_id(const struct keys *keys, uint32_t key_id)
{
	uint32_t module = key_id & ~KEY_OF_MODULE;

	if (keys->of_function && key_id < keys->n_functions)
		return keys->of_function[key_id];
	if (keys->of_function)
		return key_id & KEY_OF_MODULE && module < keys->n_modules ? keys->of_module[module]
									  : KEY_NONE;
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->key[i].id == key_id)
			return i;
	return KEY_NONE;
}

const char *row_share(char out[FMT_SIZE], const struct scene *s, int64_t value, int64_t whole)
{
	enum unit unit;
	int64_t scale;
	char number[FMT_SIZE];

	if (s->percent) {
		snprintf(out, FMT_SIZE, "%.*s %%", FMT_SIZE - 4, fmt_percent(number, value, whole));
		return out;
	}
	row_unit(s, 0, &unit, &scale);
	return fmt_weight(out, value, unit, scale);
}

char *row_source(const struct scene *s, const struct keys *keys, uint32_t key)
{
	const struct key *k = &keys->key[key];
	const struct profile *p = s->analysis->profile;
	const struct function *f;
	const char *file, *slash;
	char *name, *place;

	if (keys->grouping != GROUP_FUNCTION || k->id >= s->analysis->counts.n_functions)
		return xstrdup("");
	f = profile_function(p, (function_id){ k->id });
	file = profile_string(p, function_file(f), NULL);
	slash = strrchr(file, '/');
	if (slash && slash[1])
		file = slash + 1;
	name = text_clean(file, strlen(file), false);
	if (*name == '\0' || function_line(f) == 0)
		return name;
	place = xasprintf("%s:%u", name, function_line(f));
	free(name);
	return place;
}

char *row_full_name(const struct key *k)
{
	return text_clean(k->label, strlen(k->label), false);
}

char *row_status(const struct scene *s, const struct keys *keys, uint32_t key, int64_t self,
		 int64_t total)
{
	const struct key *k = &keys->key[key];
	int64_t whole = s->analysis->weights.total[0];
	char share[FMT_SIZE], own[FMT_SIZE], detail[FMT_SIZE];
	char *name = row_full_name(k);
	char *module = text_clean(k->module, strlen(k->module), false);
	char *source = row_source(s, keys, key), *out;

	row_detail(s, keys, key, detail);
	if (k->flags & FUNCTION_UNRESOLVED && !(k->flags & FUNCTION_MARK))
		snprintf(detail, sizeof(detail), "no symbol; info says why");
	out = xasprintf("%s  self %s%s%s%s%s  %s%s%s", row_share(share, s, total, whole),
			row_share(own, s, self, whole), *module ? "  " : "", module,
			*source ? "  " : "", source, name, *detail ? "  " : "", detail);
	free(name);
	free(module);
	free(source);
	return out;
}

const char *row_grouping_name(enum grouping g)
{
	static const char *const names[N_GROUPINGS] = {
		[GROUP_FUNCTION] = "function", [GROUP_MODULE] = "module",   [GROUP_FILE] = "file",
		[GROUP_THREAD] = "thread",     [GROUP_PROCESS] = "process", [GROUP_COMM] = "comm",
		[GROUP_EVENT] = "event",       [GROUP_CPU] = "cpu",
	};

	return names[g];
}
