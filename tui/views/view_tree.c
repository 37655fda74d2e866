/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree: from the roots down to where the time is spent. */
#include "config.h"

#include "query/analysis.h"
#include "tui/rows/row.h"
#include "tui/views/tree_view.h"

static void *tree_new(void)
{
	return tree_view_new(&tree_of_calls);
}

/* The very node, or where its function weighs most. */
static void tree_select(void *state, const struct scene *s, const struct place *p)
{
	const struct calltree *t = s->analysis->tree;
	uint32_t key = row_key_of_id(&s->analysis->keys, p->key_id);
	uint32_t node = p->path != 0 ? calltree_find(t, key, p->path) : KEY_NONE;

	if (node == KEY_NONE)
		node = calltree_hottest(t, key);
	if (node != KEY_NONE)
		tree_view_go(state, s, node);
}

const struct view_ops view_tree = {
	.name = "tree",
	.help = "calls from the roots down; a run of single calls is one row",
	.contexts = IN_LIST | IN_TREE,
	.of_tree = true,
	.new = tree_new,
	.free = tree_view_free,
	.update = tree_view_update,
	.layout = tree_view_layout,
	.draw = tree_view_draw,
	.act = tree_view_act,
	.click = tree_view_click,
	.select = tree_select,
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
