/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of keys on screens; see row.h. */
#include "config.h"

#include "tui/rows/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/ratio.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row_note.h"

/* A row is hot from this share of the self weight on: one in HOT_PART. */
#define HOT_PART 20

/* Threads that are looked through for whose a name is. */
#define THREADS_MOST 16384

void row_draw_marker(struct canvas *c, struct rect r, int line)
{
	const struct rect at = { r.row + line, r.col + (r.cols > 1), 1, r.cols - (r.cols > 1) };

	if (line < 0 || line >= r.rows || r.cols < 1)
		return;
	canvas_fill(c, at.row, at.col, 1, STYLE_NORMAL, GLYPH_CLOSED);
	canvas_add_style(c, at.row, at.col, at.cols, STYLE_SELECTED);
	c->cursor_row = at.row;
	c->cursor_col = at.col;
}

void row_draw_nothing(struct canvas *c, struct rect r, const struct scene *s)
{
	const struct weights *w = &s->analysis->weights;
	bool heap = metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric);
	const char *text = heap ? "no allocations" : "no samples";

	if (s->nothing)
		text = s->nothing;
	else if (w->whole[0] > 0 && w->total[0] == 0)
		text = heap ? "no allocation passes the filter" : "no sample passes the filter";
	else if (s->loading)
		text = "nothing has been read yet";
	else if (w->total[0] > 0)
		text = "no frame is left by the filter: & edits it, Esc takes the last term back";
	else if (w->n_samples > 0 && !heap)
		text = "each sample weighs 0";
	else if (s->analysis->counts.n_samples > 0 && !heap)
		text = "no sample is of this event";
	canvas_put_lines(c, r.row + r.rows / 3, r.col + 2, r.cols - 2, r.rows - r.rows / 3,
			 STYLE_DIM, text);
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

bool row_matches(const struct scene *s, const struct groups *keys, uint32_t key)
{
	return s->search && keys == &s->analysis->keys && key < s->search->n_keys &&
	       s->search->matches[key];
}

/* Columns of the name's cell beside the family's tag and the remark; *tag_col: where that begins, or 0. */
static int beside_tags(const struct row_shape *sh, bool mono, const struct key *k, const char *tag,
		       int *family_col, int *tag_col)
{
	int left = sh->name_cols;

	*family_col = *tag_col = 0;
	if (mono && left >= 16 && !(k->flags & FUNCTION_COMM)) {
		left -= 4;
		*family_col = left + 1;
	}
	if (tag && left >= 16) {
		int cols = (int)text_width(tag, strlen(tag));

		if (cols > left / 3)
			return left;
		left -= cols + 1;
		*tag_col = left + 1;
	}
	return left;
}

int row_tags_left(const struct row_shape *sh, bool mono, const struct key *k, const char *tag)
{
	int family_col, tag_col;

	return beside_tags(sh, mono, k, tag, &family_col, &tag_col);
}

int row_draw_tags(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct key *k, const char *tag)
{
	int family_col, tag_col, left = beside_tags(sh, c->mono, k, tag, &family_col, &tag_col);
	int col = r.col + sh->name;

	if (family_col > 0)
		canvas_puts(c, r.row + line, col + family_col, 3, STYLE_DIM,
			    row_family_tag(k->family));
	if (tag_col > 0)
		canvas_puts(c, r.row + line, col + tag_col, (int)text_width(tag, strlen(tag)),
			    STYLE_DIM, tag);
	return left;
}

struct seen_name row_seen_name(const struct row_shape *sh, const struct canvas *c,
			       const struct scene *s, const struct row_key *k)
{
	const struct key *key = &k->keys->key[k->key];
	int cols = row_tags_left(sh, c->mono, key, k->tag);
	char detail[FMT_SIZE];

	if (row_note_of_key(s, k->keys, k->key))
		cols = row_note_cols(cols);
	/* names in full end where they are cut, and a thread's is known by its number */
	if (s->wide || k->shift || *row_detail(s, k->keys, k->key, detail))
		return (struct seen_name){ .label = NULL };
	return (struct seen_name){ .label = key->label,
				   .module = key->module,
				   .cols = cols - k->indent,
				   .module_cols = sh->module_cols };
}

void row_draw_module(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     const struct key *k)
{
	struct name_look look = { .style = STYLE_DIM };

	if (sh->module_cols > 0)
		name_draw(c, r.row + line, r.col + sh->module, sh->module_cols, k->module, &look);
}

void row_draw_key(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		  const struct scene *s, const struct row_key *k)
{
	const struct key *key = &k->keys->key[k->key];
	struct name_look look = { .wide = s->wide, .shift = k->shift };
	const struct note *note = row_note_of_key(s, k->keys, k->key);
	int left = row_draw_tags(sh, c, r, line, key, k->tag);
	int cols = (note ? row_draw_note(sh, c, r, line, left) : left) - k->indent;
	int col = r.col + sh->name + k->indent;
	char detail[FMT_SIZE];

	look.style = k->dim ? STYLE_DIM : row_key_style(key);
	if (k->hot)
		look.style |= STYLE_BOLD;
	if (k->selected)
		look.style |= STYLE_SELECTED;
	if (row_matches(s, k->keys, k->key))
		look.style |= STYLE_MATCH;
	name_draw_detailed(c, r.row + line, col, cols, k->label ? k->label : key->label,
			   row_detail(s, k->keys, k->key, detail), &look);
	row_draw_module(sh, c, r, line, key);
}

/*
 * Whose the name is: "(812)" of a process, whichever of its threads have it, "(tid 815)" of one of its threads that has
 * another; "" when several had it, or none.
 */
static const char *comm_detail(const struct scene *s, uint32_t function, char out[FMT_SIZE])
{
	const struct profile *p = s->analysis->profile;
	uint32_t n = s->analysis->counts.n_threads;
	string_id name = profile_function(p, (function_id){ function })->name;
	const struct thread *its = NULL;
	const struct process *process;
	bool several = false, of_process;

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
	of_process = process_name(process).v == name.v ||
		     (!several && (its->tid == process->pid || its->tid < 0));
	if (of_process && process->pid >= 0)
		snprintf(out, FMT_SIZE, "(%d)", (int)process->pid);
	else if (!several && its->tid >= 0)
		snprintf(out, FMT_SIZE, "(tid %d)", (int)its->tid);
	return out;
}

const char *row_detail(const struct scene *s, const struct groups *keys, uint32_t key,
		       char out[FMT_SIZE])
{
	const struct key *k = &keys->key[key];

	out[0] = '\0';
	if (k->flags & FUNCTION_COMM)
		return comm_detail(s, k->id, out);
	return key_detail(keys, s->analysis->profile, key, out);
}

uint32_t row_key_of_id(const struct groups *keys, uint32_t key_id)
{
	uint32_t module = key_id & ~KEY_OF_MODULE;

	if (keys->of_function && key_id < keys->n_functions)
		return keys->of_function[key_id];
	if (keys->of_frame && key_is_line(key_id) && (key_id & ~KEY_OF_LINE) < keys->n_frames)
		return keys->of_frame[key_id & ~KEY_OF_LINE];
	if (keys->of_function)
		return key_id & KEY_OF_MODULE && module < keys->n_modules ? keys->of_module[module]
									  : KEY_NONE;
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->key[i].id == key_id)
			return i;
	return KEY_NONE;
}

/* One digit behind the point, or as many as it takes for one that is not 0. */
static int digits_of(double cpus)
{
	int digits = 1;

	for (; cpus > 0 && cpus < 0.095 && digits < 6; cpus *= 10)
		digits++;
	return digits;
}

/* Time of a clock is spent on cpus; time that rows last, and that threads wait, is of threads alone. */
static const char *rate_unit(const struct scene *s)
{
	struct metric m = s->analysis->lens.column[0].metric;

	if (m.measure == MEASURE_WALL || m.event.v >= s->analysis->counts.n_events)
		return "threads";
	return event_lasts(profile_event(s->analysis->profile, m.event)) ? "threads" : "CPUs";
}

void row_rate(const struct scene *s, int64_t weight, int64_t margin, int64_t slice_ns,
	      char out[ROW_RATE_SIZE])
{
	char number[FMT_SIZE], about[FMT_SIZE] = "";
	enum unit unit;
	int64_t scale;
	double rate, wrong;
	int digits;

	row_unit(s, 0, &unit, &scale);
	rate = (double)weight / (double)scale / (double)slice_ns;
	wrong = (double)margin / (double)scale / (double)slice_ns;
	digits = digits_of(rate);
	if (weight > 0 && wrong >= 0.5 * pow(0.1, digits))
		snprintf(about, sizeof(about), " ± %.*f", digits, wrong);
	if (unit == UNIT_NS)
		snprintf(out, ROW_RATE_SIZE, "%.*f%s %s", digits, rate, about, rate_unit(s));
	else
		snprintf(out, ROW_RATE_SIZE, "%s", fmt_weight(number, weight, unit, scale));
}

char *row_path_term(const struct groups *keys, const struct calltree *t, uint32_t node,
		    enum term_kind kind)
{
	VEC(const char *) names = { 0 };
	char *term;

	for (uint32_t n = node; n != 0; n = t->parent[n])
		vec_push(&names, keys->key[t->key[n]].label);
	mem_reverse(names.at, names.n, sizeof(*names.at));
	term = term_path(kind, names.at, names.n);
	vec_done(&names);
	return term;
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

char *row_place(const struct scene *s, uint32_t file, uint32_t line)
{
	const char *path = line ? profile_string(s->analysis->profile, (string_id){ file }, NULL)
				: "";
	const char *slash = strrchr(path, '/');
	char *name, *place;

	if (*path == '\0')
		return xstrdup("");
	if (slash && slash[1])
		path = slash + 1;
	name = text_clean(path, strlen(path), false);
	place = xasprintf("%s:%u", name, line);
	free(name);
	return place;
}

struct place row_line_place(const struct scene *s, uint32_t key_id)
{
	struct location_columns l;
	const struct frame *f;

	profile_locations(s->analysis->profile, &l);
	f = &l.frames[key_id & ~KEY_OF_LINE];
	return (struct place){ .key_id = f->function, .line = f->line };
}

char *row_source(const struct scene *s, const struct groups *keys, uint32_t key)
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

/* Is it a module, "[kernel]", whose frames a term of the filter made one? */
static bool is_collapsed(const struct scene *s, const struct key *k)
{
	size_t n, len = strlen(k->module);
	const struct term *term = filter_terms(s->analysis->lens.filter, &n);

	if (strcmp(k->label, k->module) != 0 &&
	    !(k->label[0] == '[' && strncmp(k->label + 1, k->module, len) == 0 &&
	      strcmp(k->label + 1 + len, "]") == 0))
		return false;
	for (size_t i = 0; i < n; i++)
		if (term[i].kind == TERM_COLLAPSE_MODULE)
			return true;
	return false;
}

char *row_status(const struct scene *s, const struct groups *keys, uint32_t key, int64_t self,
		 int64_t total, const int64_t *sums)
{
	const struct key *k = &keys->key[key];
	int64_t whole = s->analysis->weights.total[0];
	char share[FMT_SIZE], own[FMT_SIZE], detail[FMT_SIZE];
	char *name = name_full(k);
	char *module = text_clean(k->module, strlen(k->module), false);
	char *source = row_source(s, keys, key), *out;
	char *ratios = sums ? ratios_text(&s->analysis->lens, sums, &s->analysis->weights)
			    : xstrdup("");

	row_detail(s, keys, key, detail);
	if (k->flags & FUNCTION_UNRESOLVED && !(k->flags & FUNCTION_MARK) && !is_collapsed(s, k))
		snprintf(detail, sizeof(detail), "no symbol; info says why");
	/* "[libz.so.1+0xaa60]" says it already. */
	if (strcmp(name, module) == 0 ||
	    (name[0] == '[' && strncmp(name + 1, module, strlen(module)) == 0))
		module[0] = '\0';
	out = xasprintf("%s  self %s%s%s%s%s%s%s  %s%s%s", row_share(share, s, total, whole),
			row_share(own, s, self, whole), *ratios ? "  " : "", ratios,
			*module ? "  " : "", module, *source ? "  " : "", source, name,
			*detail == '(' ? " "
			: *detail      ? " · "
				       : "",
			detail);
	free(name);
	free(module);
	free(source);
	free(ratios);
	return out;
}
