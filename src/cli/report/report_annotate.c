/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shares of all stacks with the function, so that totals of lines add up to it, and no self is above its total. Those of
 * perf annotate are of what ended in its code. Of a heap SELF means nothing, and the amount stands there.
 */
#include "config.h"

#include "cli/report/report_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/report/find_function.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "cli/report/report_json.h"
#include "cli/report/report_notes.h"
#include "code/annotate.h"
#include "code/annotation.h"
#include "query/analysis.h"

#define NUMBER_COLS 8
#define INDENT_MAX  8u /* of inlined calls */

static double total_of(const void *table, uint32_t row)
{
	const struct table *t = table;

	return (double)t->total[(size_t)row * t->n_columns];
}

int report_annotate_make(struct report *r, const struct annotate_options *o, const char *function,
			 struct annotation **out, struct err *e)
{
	const struct analysis *a = r->analysis;
	struct code_wish wish = { .path = 0 };
	struct table all;
	uint32_t key;
	int rc;

	r->n_columns = a->weights.n_columns;
	r->keys = &a->keys;
	if (a->lens.grouping != GROUP_FUNCTION)
		return err_set(e, -EINVAL, "--view annotate is of a function: --group function");
	if (function) {
		table_of_frames(a->tree, &a->keys, NULL, &all);
		rc = find_function(a, &all, total_of, &all, function, &key, e);
		table_done(&all);
		if (rc)
			return rc;
		wish.key_id = a->keys.key[key].id;
	} else {
		wish.key_id = code_hottest(a);
		if (wish.key_id == ID_NONE)
			return err_set(e, -EINVAL, "there is no function to annotate");
	}
	rc = annotate(a, o, &wish, NULL, out); /* not cancelled by anyone */
	return rc ? err_set(e, -EINVAL, "no sample here has this function") : 0;
}

/* --- text ---------------------------------------------------------------------------------- */

/* What is printed, and how. */
struct printer {
	const struct report *r;
	const struct annotation *a;
	FILE *to;
	bool heap;
	uint64_t n_rows;
};

static void put_share(const struct printer *p, int64_t part, int64_t whole)
{
	char share[FMT_SIZE];

	fprintf(p->to, " %*s", NUMBER_COLS - 1, part == 0 ? "" : fmt_percent(share, part, whole));
}

/* Of a comparison, as on screens: what the runs of a side have of all that the side has. */
static void put_sides(const struct printer *p, const int64_t *total)
{
	const struct lens *l = &p->r->analysis->lens;
	const int64_t *whole = p->r->analysis->weights.total;

	for (int side = 0; side < N_SIDES; side++)
		put_share(p, lens_side_sum(l, total, (enum side)side),
			  lens_side_sum(l, whole, (enum side)side));
}

static void put_numbers(const struct printer *p, uint32_t numbers)
{
	const struct annotation *a = p->a;
	const int64_t *self = annotation_self(a, numbers), *total = annotation_total(a, numbers);
	char amount[FMT_SIZE];

	if (p->r->analysis->diff) {
		put_sides(p, total);
		return;
	}
	for (uint32_t c = 0; c < a->n_columns; c++) {
		struct metric m = p->r->analysis->lens.column[c].metric;

		if (metric_is_heap(p->r->analysis->profile, m))
			fprintf(p->to, " %*s", NUMBER_COLS + 2,
				total[c] == 0 ? ""
					      : fmt_weight(amount, total[c],
							   metric_unit(p->r->analysis->profile, m),
							   a->scale[c]));
		else
			put_share(p, self[c], a->total[c]);
		put_share(p, total[c], a->total[c]);
	}
}

/* Of the two numbers of a metric. */
static int pair_cols(const struct profile *p, struct metric m)
{
	return metric_is_heap(p, m) ? NUMBER_COLS + 3 + NUMBER_COLS : 2 * NUMBER_COLS;
}

static int number_cols(const struct printer *p)
{
	int cols = 0;

	if (p->r->analysis->diff)
		return N_SIDES * NUMBER_COLS;
	for (uint32_t c = 0; c < p->a->n_columns; c++)
		cols += pair_cols(p->r->analysis->profile, p->r->analysis->lens.column[c].metric);
	return cols;
}

/* An untrusted text, with tabs as blanks; at most as wide as the report. */
static void put_text(const struct printer *p, const char *text, int used)
{
	size_t n = strlen(text), got, clip;
	char *clean, *blanks = xmalloc(8 * n + 1);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\t') {
			blanks[at++] = text[i];
			continue;
		}
		do
			blanks[at++] = ' ';
		while (at % 8 != 0);
	}
	blanks[at] = '\0';
	clean = text_clean(blanks, at, p->r->ascii);
	clip = p->r->width > used ? (size_t)(p->r->width - used) : 0;
	clip = p->r->width > 0 ? text_clip(clean, strlen(clean), clip, &got) : strlen(clean);
	fprintf(p->to, "%.*s\n", (int)clip, clean);
	free(clean);
	free(blanks);
}

static void put_blank(const struct printer *p)
{
	fprintf(p->to, "%*s", number_cols(p), "");
}

static void put_source(const struct printer *p, const struct annotation_source *s)
{
	put_numbers(p, s->numbers);
	fprintf(p->to, " %6" PRIu32 "  ", s->line);
	put_text(p, s->text ? s->text : "", number_cols(p) + 9);
}

static void put_inline(const struct printer *p, const struct annotation_inline *i)
{
	unsigned indent = i->depth < INDENT_MAX ? i->depth : INDENT_MAX;
	char *text = i->file_name ? xasprintf("%s  %s:%" PRIu32 "%s%s", i->function, i->file_name,
					      i->line, i->text ? "  " : "",
					      i->text ? i->text + strspn(i->text, " \t") : "")
				  : xstrdup(i->function);

	put_numbers(p, i->numbers);
	fprintf(p->to, " %6s  %*s%s ", "", (int)(indent * 2), "", p->r->ascii ? "inl" : "↳");
	put_text(p, text, number_cols(p) + 12 + (int)indent * 2);
	free(text);
}

/* Of two builds both have their code: diff's marks say whose it is. */
static char side_mark(const struct printer *p, const struct annotation_code *c)
{
	const bool *has = p->a->blocks.at[c->block].of_side;

	return has[SIDE_BEFORE] == has[SIDE_AFTER] ? ' ' : has[SIDE_BEFORE] ? '-' : '+';
}

static void put_code(const struct printer *p, const struct annotation_code *c)
{
	char *text = c->note ? xasprintf("%s  <%s>", c->text, c->note)
		     : c->target != ANNOTATION_NONE
			     ? xasprintf("%s  %s", c->text,
					 p->a->code.at[c->target].shown > c->shown
						 ? p->r->ascii ? "v" : "↓"
					 : p->r->ascii ? "^"
						       : "↑")
			     : xstrdup(c->text);

	put_numbers(p, c->numbers);
	fprintf(p->to, " %c %c %8" PRIx64 ":  ", side_mark(p, c), c->is_target ? '>' : ' ',
		c->shown);
	put_text(p, text, number_cols(p) + 16);
	free(text);
}

static void put_row(const struct printer *p, const struct annotation_row *row)
{
	const struct annotation *a = p->a;
	char *text = NULL;

	switch (row->kind) {
	case ANNOTATION_ROW_SOURCE:
		put_source(p, &a->sources.at[row->at]);
		return;
	case ANNOTATION_ROW_INLINE:
		put_inline(p, &a->inlines.at[row->at]);
		return;
	case ANNOTATION_ROW_CODE:
		put_code(p, &a->code.at[row->at]);
		return;
	case ANNOTATION_ROW_FILE:
		fprintf(p->to, "# ");
		put_text(p, a->files.at[row->at].path, 2);
		return;
	case ANNOTATION_ROW_BLOCK:
		text = xasprintf("%s  %s%s", a->blocks.at[row->at].function,
				 a->blocks.at[row->at].module,
				 a->blocks.at[row->at].inlined ? "  (inlined there)" : "");
		fprintf(p->to, "# ");
		put_text(p, text, 2);
		free(text);
		return;
	case ANNOTATION_ROW_AT:
		put_blank(p);
		text = xasprintf("%s:%" PRIu32 "  %s", a->code.at[row->at].path,
				 a->code.at[row->at].line,
				 a->code.at[row->at].at ? a->code.at[row->at].at : "");
		fputc(' ', p->to);
		put_text(p, text, number_cols(p) + 1);
		free(text);
		return;
	case ANNOTATION_ROW_WARNING:
		fprintf(p->to, "# ");
		put_text(p, row->text, 2);
		return;
	case ANNOTATION_ROW_GAP:
		put_blank(p);
		fprintf(p->to, "    %s\n", p->r->ascii ? "..." : "⋮");
		return;
	}
}

/* Rows below --min that nobody needs to read the others: instructions and inlined calls. */
static bool is_left_out(const struct report *r, const struct annotation *a,
			const struct annotation_row *row)
{
	const int64_t *total = annotation_total(a, annotation_row_numbers(a, row));
	/* Of a comparison either side may have it. */
	uint32_t n = r->analysis->diff ? a->n_columns : 1;

	if (r->min_percent <= 0 ||
	    (row->kind != ANNOTATION_ROW_CODE && row->kind != ANNOTATION_ROW_INLINE))
		return false;
	for (uint32_t c = 0; c < n; c++)
		if ((double)total[c] >= (double)a->total[c] * r->min_percent / 100 && total[c] > 0)
			return false;
	return true;
}

/* Where there are several pairs of columns: the event or the metric over each. */
static void put_names(const struct printer *p)
{
	const struct profile *of = p->r->analysis->profile;

	fputc('#', p->to);
	for (uint32_t c = 0; c < p->a->n_columns; c++) {
		struct metric m = p->r->analysis->lens.column[c].metric;
		int cols = pair_cols(of, m) - (c == 0);
		char *name = metric_name(of, m);
		char *clean = text_clean(name, strlen(name), p->r->ascii);
		size_t width, n = text_clip(clean, strlen(clean), (size_t)cols - 1, &width);

		fprintf(p->to, "%*s%.*s", cols - (int)width, "", (int)n, clean);
		free(clean);
		free(name);
	}
	fputc('\n', p->to);
}

static void put_title(const struct printer *p)
{
	const struct annotation *a = p->a;
	const struct weights *w = &p->r->analysis->weights;
	char self[FMT_SIZE], total[FMT_SIZE], *clean;

	clean = text_clean(a->function, strlen(a->function), p->r->ascii);
	fprintf(p->to, "# %s", clean);
	free(clean);
	if (p->r->analysis->diff) {
		fprintf(p->to,
			"\n# shares of all of each side\n"
			"# -: code of BEFORE alone, +: of AFTER alone\n#%*s %*s   LINE  SOURCE\n",
			NUMBER_COLS - 1, "BEFORE", NUMBER_COLS - 1, "AFTER");
		return;
	}
	clean = text_clean(a->module, strlen(a->module), p->r->ascii);
	fprintf(p->to, "%s%s: self %s %%, total %s %% of what is shown\n", *clean ? "  " : "",
		clean, fmt_percent(self, a->self[0], w->total[0]),
		fmt_percent(total, a->total[0], w->total[0]));
	free(clean);
	if (!p->heap)
		fprintf(p->to,
			"# Shares of its total. SELF: what ended in its code, inlined functions too, %s %% "
			"of the total;\n# perf annotate's shares are of that alone.\n",
			fmt_percent(self, a->code_self[0], a->total[0]));
	if (a->n_unplaced > 0)
		fprintf(p->to, "# %" PRIu64 " of its addresses %s in no code that was found\n",
			a->n_unplaced, a->n_unplaced == 1 ? "is" : "are");
	if (a->n_columns > 1)
		put_names(p);
	fputc('#', p->to);
	for (uint32_t c = 0; c < a->n_columns; c++) {
		bool heap = metric_is_heap(p->r->analysis->profile,
					   p->r->analysis->lens.column[c].metric);

		fprintf(p->to, "%*s %*s",
			heap ? NUMBER_COLS + 3 - (c == 0) : NUMBER_COLS - (c == 0),
			heap ? "AMOUNT" : "SELF %", NUMBER_COLS - 1, "TOTAL %");
	}
	fputs("   LINE  SOURCE\n", p->to);
}

void report_annotate_text(struct report *r, const struct annotation *a, FILE *to)
{
	struct annotation_rows rows = { .mode = ANNOTATION_BOTH };
	struct printer p = { .r = r, .a = a, .to = to };
	const char *note = report_notes_function(r, a->function, a->module);

	p.heap = metric_is_heap(r->analysis->profile, r->analysis->lens.column[0].metric);
	put_title(&p);
	if (note) {
		fprintf(to, "# note: ");
		put_text(&p, note, 8);
	}
	if (a->nothing) {
		fprintf(to, "# ");
		put_text(&p, a->nothing, 2);
		return;
	}
	annotation_rows_make(&rows, a, ANNOTATION_BOTH);
	for (size_t i = 0; i < rows.all.n && !ferror(to); i++) {
		if ((r->max_rows > 0 && p.n_rows >= (uint64_t)r->max_rows) ||
		    is_left_out(r, a, &rows.all.at[i])) {
			r->n_left_out++;
			continue;
		}
		put_row(&p, &rows.all.at[i]);
		p.n_rows++;
	}
	if (r->n_left_out > 0)
		fprintf(to, "# %" PRIu64 " rows are left out (-n, --min)\n", r->n_left_out);
	annotation_rows_done(&rows);
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Of a comparison two numbers: the sums of the runs before, and of those after. */
static void put_weights(struct json_out *j, const struct report *r, const struct annotation *a,
			const char *key, const int64_t *numbers)
{
	const struct lens *l = &r->analysis->lens;

	json_begin(j, key, '[', false);
	for (int side = 0; r->analysis->diff && side < N_SIDES; side++)
		json_put_weight(j, NULL, lens_side_sum(l, numbers, (enum side)side),
				a->scale[lens_side(l, (enum side)side)]);
	for (uint32_t c = 0; !r->analysis->diff && c < a->n_columns; c++)
		json_put_weight(j, NULL, numbers[c], a->scale[c]);
	json_end(j, ']');
}

static void put_both(struct json_out *j, const struct report *r, const struct annotation *a,
		     uint32_t numbers)
{
	put_weights(j, r, a, "self", annotation_self(a, numbers));
	put_weights(j, r, a, "total", annotation_total(a, numbers));
}

static void json_inline(struct json_out *j, const struct report *r, const struct annotation *a,
			const struct annotation_inline *i)
{
	json_begin(j, NULL, '{', false);
	json_put_text(j, "function", i->function);
	json_put_int(j, "depth", i->depth);
	if (i->path) {
		json_put_text(j, "file", i->path);
		json_put_int(j, "line", i->line);
	}
	put_both(j, r, a, i->numbers);
	json_end(j, '}');
}

static void json_source(struct json_out *j, const struct report *r, const struct annotation *a,
			const struct annotation_source *s)
{
	json_begin(j, NULL, '{', false);
	json_put_text(j, "file", a->files.at[s->file].path);
	json_put_int(j, "line", s->line);
	if (s->text)
		json_put_text(j, "text", s->text);
	put_both(j, r, a, s->numbers);
	json_begin(j, "inlined", '[', false);
	for (uint32_t k = 0; k < s->n_inlines; k++)
		json_inline(j, r, a, &a->inlines.at[s->first_inline + k]);
	json_end(j, ']');
	json_end(j, '}');
}

static void json_code(struct json_out *j, const struct report *r, const struct annotation *a,
		      const struct annotation_code *c)
{
	char address[32];

	json_begin(j, NULL, '{', false);
	snprintf(address, sizeof(address), "0x%" PRIx64, c->shown);
	json_put_text(j, "address", address);
	json_put_text(j, "text", c->text);
	if (c->note)
		json_put_text(j, "note", c->note);
	if (c->target != ANNOTATION_NONE) {
		snprintf(address, sizeof(address), "0x%" PRIx64, a->code.at[c->target].shown);
		json_put_text(j, "target", address);
	}
	if (c->path) {
		json_put_text(j, "file", c->path);
		json_put_int(j, "line", c->line);
	}
	if (c->inlined)
		json_put_text(j, "inlined", c->inlined);
	put_both(j, r, a, c->numbers);
	json_end(j, '}');
}

static void json_block(struct json_out *j, const struct report *r, const struct annotation *a,
		       const struct annotation_block *b)
{
	json_begin(j, NULL, '{', false);
	json_put_text(j, "function", b->function);
	json_put_text(j, "module", b->module);
	json_put_text(j, "path", b->path);
	json_put_bool(j, "inlined", b->inlined);
	if (b->of_side[SIDE_BEFORE] != b->of_side[SIDE_AFTER])
		json_put_text(j, "side", b->of_side[SIDE_BEFORE] ? "before" : "after");
	if (b->why)
		json_put_text(j, "why", b->why);
	if (b->warning)
		json_put_text(j, "warning", b->warning);
	json_begin(j, "code", '[', true);
	for (uint32_t k = b->first; k < b->first + b->n; k++)
		json_code(j, r, a, &a->code.at[k]);
	json_end(j, ']');
	json_end(j, '}');
}

static void json_file(struct json_out *j, const struct annotation_file *f)
{
	json_begin(j, NULL, '{', false);
	json_put_text(j, "path", f->path);
	if (f->also)
		json_put_text(j, "also", f->also);
	if (f->why)
		json_put_text(j, "why", f->why);
	if (f->warning)
		json_put_text(j, "warning", f->warning);
	json_end(j, '}');
}

void report_annotate_members(const struct report *r, const struct annotation *a, struct json_out *j)
{
	const char *note = report_notes_function(r, a->function, a->module);

	json_put_text(j, "function", a->function);
	if (*a->module)
		json_put_text(j, "module", a->module);
	put_weights(j, r, a, "self", a->self);
	put_weights(j, r, a, "total", a->total);
	put_weights(j, r, a, "code_self", a->code_self);
	put_weights(j, r, a, "no_line", a->no_line);
	json_put_int(j, "unplaced", (int64_t)a->n_unplaced);
	if (a->nothing)
		json_put_text(j, "nothing", a->nothing);
	if (note)
		json_put_text(j, "note", note);
	json_begin(j, "source_files", '[', true);
	for (size_t i = 0; i < a->files.n; i++)
		json_file(j, &a->files.at[i]);
	json_end(j, ']');
	json_begin(j, "lines", '[', true);
	for (size_t i = 0; i < a->sources.n && !ferror(j->to); i++)
		json_source(j, r, a, &a->sources.at[i]);
	json_end(j, ']');
	json_begin(j, "blocks", '[', true);
	for (size_t i = 0; i < a->blocks.n && !ferror(j->to); i++)
		json_block(j, r, a, &a->blocks.at[i]);
	json_end(j, ']');
}

void report_annotate_json(const struct report *r, const struct annotation *a, FILE *to)
{
	struct json_out j = { .to = to };

	json_begin(&j, NULL, '{', true);
	report_json_head(&j, r, "annotate");
	report_annotate_members(r, a, &j);
	json_end(&j, '}');
}
