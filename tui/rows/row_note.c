/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/rows/row_note.h"

#include <stdlib.h>

#include "base/mem.h"
#include "notebook/notebook.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/row.h"
#include "tui/rows/tree_source.h"

/* Names narrower than this keep their columns. */
#define NAME_LEAST 6

const char *row_note_kind(const struct groups *keys, uint32_t key)
{
	/* Of a thread's name that stands as the root of stacks. */
	if (keys->key[key].flags & FUNCTION_COMM)
		return grouping_name(GROUP_COMM);
	return grouping_name(keys->grouping);
}

char *row_note_site_name(const struct key *function, const char *source)
{
	return xasprintf("%s%s%s", function->label, *source ? " " : "", source);
}

const struct note *row_note_of_key(const struct scene *s, const struct groups *keys, uint32_t key)
{
	if (!notebook_has_notes(s->notes) || key >= keys->n)
		return NULL;
	return notebook_note(s->notes, row_note_kind(keys, key), keys->key[key].label,
			     keys->key[key].module);
}

static const struct note *note_of_node(const struct scene *s, const struct tree_source *src,
				       uint32_t node)
{
	const struct note *note;
	char *path;

	if (!s->notes->has_nodes || src != &tree_of_calls)
		return NULL;
	path = row_path_term(&s->analysis->keys, analysis_tree(s->analysis), node, TERM_FOCUS_PATH);
	note = notebook_note(s->notes, NOTE_OF_NODE, path, NULL);
	free(path);
	return note;
}

const struct note *row_note_of_nodes(const struct scene *s, const struct tree_source *src,
				     uint32_t first, uint32_t last)
{
	const struct note *note = NULL;

	if (!notebook_has_notes(s->notes))
		return NULL;
	for (uint32_t node = last; node != TREE_NONE && !note;
	     node = src->parent(s->analysis, node)) {
		note = note_of_node(s, src, node);
		if (!note)
			note = row_note_of_key(s, &s->analysis->keys, src->key(s->analysis, node));
		if (node == first)
			break;
	}
	return note;
}

const struct note *row_note_of_site(const struct scene *s, const struct key *function,
				    const char *source)
{
	const struct note *note;
	char *name;

	if (!notebook_has_notes(s->notes))
		return NULL;
	name = row_note_site_name(function, source);
	note = notebook_note(s->notes, NOTE_OF_SITE, name, function->module);
	free(name);
	return note ? note
		    : notebook_note(s->notes, grouping_name(GROUP_FUNCTION), function->label,
				    function->module);
}

int row_note_cols(int left)
{
	return left < NAME_LEAST ? left : left - 2;
}

int row_draw_note(const struct row_shape *sh, struct canvas *c, struct rect r, int line, int left)
{
	if (row_note_cols(left) == left)
		return left;
	canvas_fill(c, r.row + line, r.col + sh->name + left - 1, 1, STYLE_MARK, GLYPH_NOTE);
	return row_note_cols(left);
}
