/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/annotation.h"

#include <stdlib.h>
#include <string.h>

const int64_t *annotation_self(const struct annotation *a, uint32_t numbers)
{
	static const int64_t zeros[LENS_MAX_COLUMNS];

	return numbers == ANNOTATION_NONE ? zeros
					  : a->numbers.at + (size_t)numbers * 2 * a->n_columns;
}

const int64_t *annotation_total(const struct annotation *a, uint32_t numbers)
{
	const int64_t *self = annotation_self(a, numbers);

	return numbers == ANNOTATION_NONE ? self : self + a->n_columns;
}

struct annotation *annotation_new(void)
{
	struct annotation *a = xcalloc(1, sizeof(*a));

	arena_init(&a->texts);
	a->function = a->module = "";
	return a;
}

void annotation_free(struct annotation *a)
{
	if (!a)
		return;
	vec_done(&a->numbers);
	vec_done(&a->files);
	vec_done(&a->sources);
	vec_done(&a->inlines);
	vec_done(&a->code);
	vec_done(&a->blocks);
	arena_done(&a->texts);
	free(a);
}

uint32_t annotation_add_numbers(struct annotation *a)
{
	size_t n = a->numbers.n, more = 2 * (size_t)a->n_columns;

	vec_reserve(&a->numbers, n + more);
	memset(a->numbers.at + n, 0, more * sizeof(*a->numbers.at));
	a->numbers.n += more;
	return (uint32_t)(n / more);
}

bool annotation_has_text(const struct annotation *a)
{
	for (size_t i = 0; i < a->files.n; i++)
		if (!a->files.at[i].why)
			return true;
	return false;
}

static void add_row(struct annotation_rows *r, enum annotation_kind kind, uint32_t at)
{
	vec_push(&r->all, ((struct annotation_row){ .kind = kind, .at = at }));
}

static void add_warning(struct annotation_rows *r, const char *text)
{
	if (text)
		vec_push(&r->all,
			 ((struct annotation_row){ .kind = ANNOTATION_ROW_WARNING, .text = text }));
}

/* The instructions of each line, in their order: those of line i are at[start[i] .. start[i + 1]). */
struct by_source {
	uint32_t *start, *at;
};

static struct by_source sort_by_source(const struct annotation *a)
{
	size_t n = a->sources.n;
	struct by_source s = { xcalloc(n + 2, sizeof(uint32_t)),
			       xcalloc(a->code.n + 1, sizeof(uint32_t)) };

	for (size_t i = 0; i < a->code.n; i++)
		if (a->code.at[i].source != ANNOTATION_NONE)
			s.start[a->code.at[i].source + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		s.start[i] += s.start[i - 1];
	for (size_t i = 0; i < a->code.n; i++)
		if (a->code.at[i].source != ANNOTATION_NONE)
			s.at[s.start[a->code.at[i].source + 1]++] = (uint32_t)i;
	return s;
}

static void add_blocks_warnings(struct annotation_rows *r, const struct annotation *a)
{
	for (size_t i = 0; i < a->blocks.n; i++) {
		add_warning(r, a->blocks.at[i].warning);
		if (r->mode == ANNOTATION_BOTH)
			add_warning(r, a->blocks.at[i].why);
	}
}

static void add_sources(struct annotation_rows *r, const struct annotation *a)
{
	struct by_source code = sort_by_source(a);
	uint32_t file = ANNOTATION_NONE;
	bool rest = false;

	add_blocks_warnings(r, a);
	if (r->mode == ANNOTATION_SOURCE)
		add_warning(r, a->no_line_text);
	for (uint32_t i = 0; i < a->sources.n; i++) {
		const struct annotation_source *s = &a->sources.at[i];

		if (s->file != file) {
			file = s->file;
			add_row(r, ANNOTATION_ROW_FILE, file);
			add_warning(r, a->files.at[file].joined);
			add_warning(r, a->files.at[file].warning);
			add_warning(r, a->files.at[file].why);
		} else if (s->gap) {
			add_row(r, ANNOTATION_ROW_GAP, i);
		}
		add_row(r, ANNOTATION_ROW_SOURCE, i);
		for (uint32_t k = 0; k < s->n_inlines; k++)
			add_row(r, ANNOTATION_ROW_INLINE, s->first_inline + k);
		for (uint32_t k = code.start[i];
		     r->mode == ANNOTATION_BOTH && k < code.start[i + 1]; k++)
			add_row(r, ANNOTATION_ROW_CODE, code.at[k]);
	}
	for (uint32_t i = 0; r->mode == ANNOTATION_BOTH && i < a->code.n; i++) {
		if (a->code.at[i].source != ANNOTATION_NONE)
			continue;
		if (!rest)
			add_warning(r, "instructions of no line:");
		rest = true;
		add_row(r, ANNOTATION_ROW_CODE, i);
	}
	free(code.start);
	free(code.at);
}

/* Does the source position change at an instruction? */
static bool moves(const struct annotation *a, uint32_t at, uint32_t first)
{
	const struct annotation_code *c = &a->code.at[at];

	if (!c->path)
		return false;
	return at == first || c->line != c[-1].line || !c[-1].path ||
	       strcmp(c->path, c[-1].path) != 0;
}

static void add_blocks(struct annotation_rows *r, const struct annotation *a)
{
	for (size_t i = 0; !annotation_has_text(a) && i < a->files.n; i++)
		add_warning(r, a->files.at[i].why);
	for (uint32_t i = 0; i < a->blocks.n; i++) {
		const struct annotation_block *b = &a->blocks.at[i];

		add_row(r, ANNOTATION_ROW_BLOCK, i);
		add_warning(r, b->warning);
		add_warning(r, b->why);
		for (uint32_t k = b->first; k < b->first + b->n; k++) {
			if (moves(a, k, b->first))
				add_row(r, ANNOTATION_ROW_AT, k);
			add_row(r, ANNOTATION_ROW_CODE, k);
		}
	}
}

void annotation_rows_make(struct annotation_rows *r, const struct annotation *a,
			  enum annotation_mode mode)
{
	vec_clear(&r->all);
	r->mode = annotation_has_text(a) || (a->sources.n > 0 && a->code.n == 0)
			  ? mode
			  : ANNOTATION_ASSEMBLY;
	if (r->mode == ANNOTATION_ASSEMBLY)
		add_blocks(r, a);
	else
		add_sources(r, a);
}

void annotation_rows_done(struct annotation_rows *r)
{
	vec_done(&r->all);
}

uint32_t annotation_row_numbers(const struct annotation *a, const struct annotation_row *row)
{
	switch (row->kind) {
	case ANNOTATION_ROW_SOURCE:
		return a->sources.at[row->at].numbers;
	case ANNOTATION_ROW_INLINE:
		return a->inlines.at[row->at].numbers;
	case ANNOTATION_ROW_CODE:
		return a->code.at[row->at].numbers;
	case ANNOTATION_ROW_FILE:
	case ANNOTATION_ROW_WARNING:
	case ANNOTATION_ROW_GAP:
	case ANNOTATION_ROW_BLOCK:
	case ANNOTATION_ROW_AT:
		break;
	}
	return ANNOTATION_NONE;
}

bool annotation_row_is_part(const struct annotation_rows *r, const struct annotation_row *row)
{
	return row->kind ==
	       (r->mode == ANNOTATION_ASSEMBLY ? ANNOTATION_ROW_CODE : ANNOTATION_ROW_SOURCE);
}
