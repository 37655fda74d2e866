/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all views, in the order of the tabs. */
#include "config.h"

#include "query/analysis.h"
#include "tui/contract/view.h"

extern const struct view_ops view_top, view_tree, view_callers, view_butterfly, view_flame,
	view_threads, view_timeline, view_info, view_memory, view_findings, view_annotate,
	view_timeline_sides, view_memory_sides, view_heat, view_leaks, view_lifetimes, view_sizes,
	view_temporaries, view_handoffs, view_reallocs, view_waste, view_blocks, view_allocators;

const struct view_ops *const views[N_VIEW_KINDS] = {
	[VIEW_KIND_TOP] = &view_top,
	[VIEW_KIND_TREE] = &view_tree,
	[VIEW_KIND_CALLERS] = &view_callers,
	[VIEW_KIND_BUTTERFLY] = &view_butterfly,
	[VIEW_KIND_FLAME] = &view_flame,
	[VIEW_KIND_THREADS] = &view_threads,
	[VIEW_KIND_TIMELINE] = &view_timeline,
	[VIEW_KIND_INFO] = &view_info,
	[VIEW_KIND_MEMORY] = &view_memory,
	[VIEW_KIND_FINDINGS] = &view_findings,
	[VIEW_KIND_ANNOTATE] = &view_annotate,
	[VIEW_KIND_HEAT] = &view_heat,
	[VIEW_KIND_LEAKS] = &view_leaks,
	[VIEW_KIND_LIFETIMES] = &view_lifetimes,
	[VIEW_KIND_SIZES] = &view_sizes,
	[VIEW_KIND_TEMPORARIES] = &view_temporaries,
	[VIEW_KIND_HANDOFFS] = &view_handoffs,
	[VIEW_KIND_REALLOCS] = &view_reallocs,
	[VIEW_KIND_WASTE] = &view_waste,
	[VIEW_KIND_BLOCKS] = &view_blocks,
	[VIEW_KIND_ALLOCATORS] = &view_allocators,
};

/* What stands in their place where two sides are compared. */
static const struct view_ops *const compared[N_VIEW_KINDS] = {
	[VIEW_KIND_TIMELINE] = &view_timeline_sides,
	[VIEW_KIND_MEMORY] = &view_memory_sides,
};

const struct view_ops *view_of(enum view_kind view, const struct scene *s)
{
	return s->analysis->diff && compared[view] ? compared[view] : views[view];
}
