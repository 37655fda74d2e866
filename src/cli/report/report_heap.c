/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "cli/report/report_notes.h"
#include "profile/profile.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/heap_table.h"

/* Of a row's line over time. */
#define LINE_COLS 12u

/* Of a histogram's bar; of names where width is limited. */
#define BAR_COLS   30
#define NAME_LEAST 20

struct layout {
	int label; /* columns of labels; 0: none */
	int cols[HEAP_TABLE_COLUMNS];
	bool lines;  /* rows have lines over time */
	size_t rest; /* columns for what stands last; 0: unlimited */
};

static size_t n_shown(const struct report *r)
{
	size_t n = r->heap->rows.n;

	return r->max_rows > 0 && (uint64_t)r->max_rows < n ? (size_t)r->max_rows : n;
}

static int width_of(const char *text)
{
	return (int)text_width(text, strlen(text));
}

static void make_layout(const struct report *r, struct layout *l)
{
	const struct heap_table *t = r->heap;
	size_t taken = 0;

	*l = (struct layout){ .label = t->form->label ? width_of(t->form->label) : 0 };
	for (size_t i = 0; i < n_shown(r); i++) {
		const char *label = t->rows.at[i].label;

		if (t->form->label && label && width_of(label) > l->label)
			l->label = width_of(label);
	}
	for (int c = 0; c < t->n_columns; c++) {
		char text[64];

		l->cols[c] = width_of(t->form->column[c].title);
		for (size_t i = 0; i < n_shown(r); i++) {
			int cols = width_of(heap_table_text(t, &t->rows.at[i], c, text));

			l->cols[c] = cols > l->cols[c] ? cols : l->cols[c];
		}
		taken += (size_t)l->cols[c] + 2;
	}
	taken += (size_t)l->label + 2;
	for (size_t i = 0; i < n_shown(r) && !r->ascii; i++)
		l->lines |= t->rows.at[i].line_over_time != NULL;
	taken += l->lines ? LINE_COLS + 2 : 0;
	if (r->width > 0)
		l->rest = (size_t)r->width > taken + NAME_LEAST ? (size_t)r->width - taken
								: NAME_LEAST;
}

static void put_padded(FILE *to, const char *text, int cols, bool right)
{
	int pad = cols - width_of(text);

	fprintf(to, "%*s%s%*s", right && pad > 0 ? pad : 0, "", text, !right && pad > 0 ? pad : 0,
		"");
}

static void put_label(FILE *to, const char *text, int cols, bool ascii)
{
	char *clean = text_clean(text, strlen(text), ascii);

	put_padded(to, clean, cols, false);
	free(clean);
}

static void put_titles(const struct report *r, const struct layout *l, FILE *to)
{
	const struct heap_table_form *form = r->heap->form;

	fputs("# ", to);
	if (form->label)
		put_label(to, form->label, l->label, r->ascii);
	for (int c = 0; c < r->heap->n_columns; c++) {
		char *clean = text_clean(form->column[c].title, strlen(form->column[c].title),
					 r->ascii);

		fputs(c > 0 || form->label ? "  " : "", to);
		put_padded(to, clean, l->cols[c], true);
		free(clean);
	}
	if (l->lines)
		fprintf(to, "  %-*s", (int)LINE_COLS, "OVER TIME");
	fprintf(to, "%s%s\n", form->sites ? "  " : "",
		form->sites ? footprint_rows_title(r->heap->footprint) : "");
}

/* "cache_insert(int)  cache.cc:88  my_program  freed in main"; the caller frees. */
static char *where_text(const struct report *r, const struct heap_table_row *row, size_t cols)
{
	const struct footprint *f = r->heap->footprint;
	const struct key *key = row->key == KEY_NONE ? NULL : &f->rows->key[row->key];
	const char *path = row->line ? profile_string(f->profile, (string_id){ row->file }, NULL)
				     : "";
	char line[FMT_SIZE] = "", *behind, *clean, *name, *out;
	size_t taken;

	if (row->line)
		snprintf(line, sizeof(line), ":%u", row->line);
	behind = xasprintf("%s%s%s%s%s%s%s", row->line ? "  " : "", path_last_part(path), line,
			   key && *key->module ? "  " : "", key ? key->module : "",
			   row->remark ? "  " : "", row->remark ? row->remark : "");
	clean = text_clean(behind, strlen(behind), r->ascii);
	taken = text_width(clean, strlen(clean));
	name = text_fold_name(key ? key->label : "?",
			      cols == 0                   ? 0
			      : cols > taken + NAME_LEAST ? cols - taken
							  : NAME_LEAST,
			      r->ascii);
	out = xasprintf("%s%s", name, clean);
	free(name);
	free(clean);
	free(behind);
	return out;
}

static void put_bar(const struct report *r, const struct heap_table_row *row, FILE *to)
{
	int64_t most = 0;
	int bar = r->heap->form->bar, n;

	for (size_t i = 0; i < r->heap->rows.n; i++)
		if (r->heap->rows.at[i].cell[bar] > most)
			most = r->heap->rows.at[i].cell[bar];
	n = most > 0 && row->cell[bar] > 0
		    ? (int)((double)row->cell[bar] / (double)most * BAR_COLS + 0.5)
		    : 0;
	fputs(n > 0 ? "  " : "", to);
	for (int i = 0; i < n; i++)
		fputs(r->ascii ? "#" : "█", to);
}

/* The most in use in each part of the time, in eighths of the row's own highest. */
static void put_line(const struct heap_table_row *row, FILE *to)
{
	static const char *const level[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const uint32_t part = HEAP_LINE / LINE_COLS;
	int64_t most = 0, at;

	fputs("  ", to);
	for (uint32_t i = 0; row->line_over_time && i < HEAP_LINE; i++)
		most = row->line_over_time[i] > most ? row->line_over_time[i] : most;
	for (uint32_t i = 0; i < LINE_COLS; i++) {
		at = 0;
		for (uint32_t k = 0; row->line_over_time && k < part; k++)
			if (row->line_over_time[i * part + k] > at)
				at = row->line_over_time[i * part + k];
		fputs(level[at > 0 ? (int)ceil((double)at / (double)most * 8) : 0], to);
	}
}

static void put_row(const struct report *r, const struct layout *l,
		    const struct heap_table_row *row, FILE *to)
{
	const struct heap_table_form *form = r->heap->form;
	char text[64], *where;

	fputs("  ", to);
	if (form->label)
		put_label(to, row->label ? row->label : "", l->label, r->ascii);
	for (int c = 0; c < r->heap->n_columns; c++) {
		fputs(c > 0 || form->label ? "  " : "", to);
		put_padded(to, heap_table_text(r->heap, row, c, text), l->cols[c], true);
	}
	if (l->lines)
		put_line(row, to);
	if (form->sites) {
		where = where_text(r, row, l->rest);
		fprintf(to, "  %s", where);
		free(where);
	} else if (form->bar >= 0) {
		put_bar(r, row, to);
	}
	fputc('\n', to);
}

void report_heap_text(const struct report *r, FILE *to)
{
	const struct heap_table *t = r->heap;
	char n[FMT_SIZE];
	struct layout l;

	for (size_t i = 0; i < t->notes.n; i++) {
		char *clean = text_clean(t->notes.at[i], strlen(t->notes.at[i]), r->ascii);

		fprintf(to, "# %s\n", clean);
		free(clean);
	}
	make_layout(r, &l);
	put_titles(r, &l, to);
	for (size_t i = 0; i < n_shown(r) && !ferror(to); i++)
		put_row(r, &l, &t->rows.at[i], to);
	if (n_shown(r) < t->rows.n)
		fprintf(to, "# %s more rows are left out; -n 0 shows all\n",
			fmt_count(n, (int64_t)(t->rows.n - n_shown(r))));
}

static void put_site(struct json_out *j, const struct heap_table *t,
		     const struct heap_table_row *row)
{
	const struct footprint *f = t->footprint;
	const struct key *key = &f->rows->key[row->key];

	json_put_text(j, "name", key->label);
	json_put_text(j, "module", key->module);
	if (row->line == 0)
		return;
	json_put_text(j, "file", profile_string(f->profile, (string_id){ row->file }, NULL));
	json_put_int(j, "line", row->line);
}

void report_heap_json(const struct report *r, struct json_out *j)
{
	const struct heap_table *t = r->heap;

	json_begin(j, "notes", '[', false);
	for (size_t i = 0; i < t->notes.n; i++)
		json_put_text(j, NULL, t->notes.at[i]);
	json_end(j, ']');
	json_begin(j, "rows", '[', true);
	for (size_t i = 0; i < n_shown(r) && !ferror(j->to); i++) {
		const struct heap_table_row *row = &t->rows.at[i];

		json_begin(j, NULL, '{', false);
		if (row->label)
			json_put_text(j, "label", row->label);
		for (int c = 0; c < t->n_columns; c++) {
			const struct heap_table_column *column = &t->form->column[c];

			if (row->cell[c] == CELL_NONE)
				json_put_null(j, column->name);
			else if (column->cell == CELL_PART)
				json_put_double(j, column->name, (double)row->cell[c] / 10000);
			else
				json_put_int(j, column->name, row->cell[c]);
		}
		if (row->line_over_time) {
			json_begin(j, "live_over_time", '[', false);
			for (uint32_t k = 0; k < HEAP_LINE; k++)
				json_put_int(j, NULL, row->line_over_time[k]);
			json_end(j, ']');
		}
		if (row->key != KEY_NONE)
			put_site(j, t, row);
		if (row->remark)
			json_put_text(j, "remark", row->remark);
		if (row->filter)
			json_put_text(j, "filter", row->filter);
		report_notes_heap_json(r, row, j);
		json_end(j, '}');
	}
	json_end(j, ']');
}
