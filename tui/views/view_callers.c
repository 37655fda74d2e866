/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callers: from where the time is spent out to the roots. */
#include "config.h"

#include "query/analysis.h"
#include "tui/rows/row.h"
#include "tui/views/tree_view.h"

static void *callers_new(void)
{
	return tree_view_new(&tree_of_callers);
}

static void callers_select(void *state, const struct scene *s, const struct place *p)
{
	struct inverted *v = analysis_inverted(s->analysis);
	uint32_t key = row_key_of_id(&s->analysis->keys, p->key_id);
	uint32_t root = key != KEY_NONE ? inverted_root(v, key) : KEY_NONE;

	if (root == KEY_NONE)
		return;
	tree_view_go(state, s, root);
	tree_view_open_hot(state, s);
}

const struct view_ops view_callers = {
	.name = "callers",
	.help = "who calls what costs most, from the inside out",
	.contexts = IN_LIST | IN_TREE,
	.of_tree = true,
	.new = callers_new,
	.free = tree_view_free,
	.update = tree_view_update,
	.layout = tree_view_layout,
	.draw = tree_view_draw,
	.act = tree_view_act,
	.click = tree_view_click,
	.select = callers_select,
	.selection = tree_view_selection,
	.find = tree_view_find,
	.status = tree_view_status,
	.position = tree_view_position,
	.order = tree_view_order,
	.sort = tree_view_sort,
	.crumb = tree_view_crumb,
	.zoom = tree_view_zoom,
	.zoom_to = tree_view_zoom_to,
};
