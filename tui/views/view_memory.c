/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory: how many bytes were there when, and who had asked for those that are there at the cursor.
 *
 * The line over time is of what passes the filter, its range of time included: between A and B it shows
 * what was allocated there and how much of it lives on.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/resident.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/views/memory_graph.h"
#include "tui/views/memory_table.h"
#include "tui/views/row_effects.h"

/* Rows of table, titles included, from which on one is for what is resident beyond them. */
#define BEYOND_LEAST_ROWS 6

struct memory_view {
	struct memory_graph graph;
	struct list list;     /* sites */
	bool on_first;        /* the cursor stays on the first row, whichever site that is */
	uint32_t cursor_id;   /* id of the cursor's key, ID_NONE */
	uint32_t cursor_line; /* and the line of its call */
	struct memory_table table;
	int beyond;       /* lines for what is resident beyond the sites: 0 or 1 */
	bool opened;      /* the first cursor was chosen, by open_on_peak() or by the user */
	bool at_end;      /* is the cursor where the recording ends? it stays there then */
	bool at_peak;     /* is it at the peak, to the moment? likewise */
	int64_t asked_ns; /* what is live was last asked for at this time, see EFFECT_CURSOR */
};

static struct footprint *footprint_of(const struct scene *s)
{
	return s->analysis->footprint;
}

static bool memory_applies(const struct scene *s)
{
	return footprint_of(s) != NULL;
}

static void *memory_new(void)
{
	struct memory_view *v = xcalloc(1, sizeof(*v));

	time_axis_init(&v->graph.axis);
	v->cursor_id = ID_NONE;
	v->table.measure = MEASURE_PEAK;
	v->on_first = true;
	v->at_end = true;
	v->asked_ns = INT64_MAX;
	return v;
}

static void memory_free(void *state)
{
	struct memory_view *v = state;

	if (!v)
		return;
	free(v->graph.slot);
	free(v);
}

static const struct key *key_at(const struct scene *s, uint32_t site)
{
	const struct footprint *f = footprint_of(s);

	return &f->rows->key[f->site[site].key];
}

static void remember(struct memory_view *v, const struct scene *s)
{
	v->cursor_id = ID_NONE;
	if (v->list.cursor >= v->list.n)
		return;
	v->cursor_id = key_at(s, v->list.cursor)->id;
	v->cursor_line = footprint_of(s)->site[v->list.cursor].line;
}

/* The cursor goes where its site went, unless it is where one looks for the largest. */
static void follow(struct memory_view *v, const struct scene *s)
{
	const struct footprint *f = footprint_of(s);

	struct list was = v->list;
	uint32_t at = UINT32_MAX; /* that row, or another line of its function */

	list_fit(&v->list, f ? f->n_sites : 0, (int)v->list.height);
	if (v->on_first && v->list.n > 0)
		list_go(&v->list, 0);
	for (uint32_t i = 0; !v->on_first && v->cursor_id != ID_NONE && i < v->list.n; i++) {
		if (key_at(s, i)->id != v->cursor_id)
			continue;
		if (f->site[i].line == v->cursor_line || at == UINT32_MAX)
			at = i;
		if (f->site[i].line == v->cursor_line)
			break;
	}
	if (at != UINT32_MAX)
		list_follow(&v->list, &was, at, s->stays);
}

/* Back to what the lens asked for, which lines need not know. */
static bool move_back(const struct memory_view *v, struct footprint *f)
{
	if (v->asked_ns != f->asked_ns)
		return false;
	footprint_move_back(f);
	return true;
}

/*
 * Where nothing was ever there, or where processes have peaks of their own, which were not there together, there is no
 * such moment: then the cursor is where the answer is from.
 */
static void go_to_peak(struct memory_view *v, struct footprint *f)
{
	v->at_peak = f->peak.time_ns != TIME_NONE && f->peak.n == 1;
	if (!v->at_peak) {
		v->at_end = f->asked_ns == INT64_MAX;
		v->asked_ns = f->asked_ns;
		return;
	}
	v->at_end = false;
	time_axis_go_to(&v->graph.axis, f->peak.time_ns);
	footprint_move_to_peak(f);
}

/* What lives where the cursor is, if the lines in sight know. */
static bool move_live(const struct memory_view *v, const struct scene *s)
{
	const struct footprint_lines *lines = analysis_lines(s->analysis);
	struct time_span span = memory_graph_span(&v->graph);
	uint32_t slot = (uint32_t)memory_graph_cursor(&v->graph);

	if (move_back(v, footprint_of(s)))
		return true;
	return lines && time_span_same(&lines->span, &span) &&
	       footprint_move_in_lines(footprint_of(s), v->asked_ns, lines, slot);
}

/*
 * A program that has ended holds nothing worth a look at its end: who held most is on the peak. So it is of snapshots. What is being
 * recorded, or written, is shown as it is now.
 */
static void open_on_peak(struct memory_view *v, const struct scene *s)
{
	struct footprint *f = footprint_of(s);

	/* An answer from before the load's end may know of no peak yet. */
	if (v->opened || !f || s->loading || s->live ||
	    (f->manner.lives_on && footprint_knows(f, FOOTPRINT_LEAKED)) || f->manner.goes_on ||
	    f->peak.time_ns == TIME_NONE)
		return;
	v->opened = true;
	go_to_peak(v, f);
	if (v->at_peak)
		v->asked_ns = f->lens.cursor_ns;
	else if (v->table.by == FOOTPRINT_LIVE)
		v->table.by = FOOTPRINT_PEAK;
	memory_table_sort(&v->table, s);
	follow(v, s);
}

static void memory_update(void *state, const struct scene *s)
{
	struct memory_view *v = state;
	struct footprint *f = footprint_of(s);
	int64_t whole = f && f->whole_ns < INT64_MAX ? f->whole_ns + 1 : 1;

	time_axis_fit(&v->graph.axis, whole, v->graph.axis.cols);
	if (f && v->at_peak)
		go_to_peak(v, f);
	if (f && v->at_end)
		time_axis_go_to(&v->graph.axis, whole - 1);
	if (f && v->at_peak)
		v->asked_ns = f->lens.cursor_ns;
	/* The answer may have been on its way when the cursor moved. */
	else if (f && f->lens.cursor_ns != v->asked_ns)
		move_live(v, s);
	if (f && v->table.by == FOOTPRINT_CHANGE && !f->in_range)
		v->table.by = FOOTPRINT_LIVE;
	if (f)
		memory_table_take_metric(&v->table, s);
	if (f)
		memory_table_sort(&v->table, s);
	follow(v, s);
	open_on_peak(v, s);
}

/* Lines above the rows: the summary, the graph, the table's titles, what is resident beyond the rows. */
static int lines_above(const struct memory_view *v)
{
	return memory_graph_end(&v->graph) + 1 + v->beyond;
}

/* Is there something to say of that, and room for it? */
static bool has_beyond(const struct memory_view *v, const struct scene *s, struct rect r)
{
	struct resident_beyond unused;

	return r.rows - memory_graph_end(&v->graph) >= BEYOND_LEAST_ROWS &&
	       resident_beyond(footprint_of(s), &unused);
}

static void memory_layout(void *state, const struct scene *s, struct rect r)
{
	struct memory_view *v = state;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	memory_graph_layout(&v->graph, s, r);
	if (v->at_end)
		time_axis_go_to(&v->graph.axis, v->graph.axis.whole_ns - 1);
	memory_graph_take(&v->graph, analysis_lines(s->analysis));
	if (!footprint_of(s))
		return;
	open_on_peak(v, s); /* a load may have ended without another answer */
	memory_table_layout(&v->table, s, v->at_peak, r.cols);
	v->beyond = has_beyond(v, s, r);
	list_fit(&v->list, footprint_of(s)->n_sites, r.rows - lines_above(v));
	remember(v, s);
}

/* What stands before estimates. */
static const char *about(const struct footprint *f)
{
	return f->manner.sampled ? "~" : "";
}

/* A part of the summary, if it fits; returns where the next one begins. */
static int put_part(struct canvas *c, struct rect r, int col, char *text)
{
	int cols = (int)text_width(text, strlen(text));

	if (col + cols + (col > 1 ? 3 : 0) < r.cols) {
		if (col > 1)
			col += canvas_puts(c, r.row, r.col + col, r.cols - col, STYLE_DIM, " · ");
		col += canvas_puts(c, r.row, r.col + col, r.cols - col, STYLE_NORMAL, text);
	}
	free(text);
	return col;
}

/* "at 12.5 s": of which moment what is live is told. */
static const char *when_text(const struct memory_view *v, const struct scene *s,
			     char out[2 * FMT_SIZE])
{
	const struct footprint *f = footprint_of(s);
	char at[FMT_SIZE];

	/* The numbers may still be those of where the cursor was. */
	if (v->graph.moment)
		snprintf(out, 2 * FMT_SIZE, "when the profile was taken");
	else if (f->lens.cursor_ns != v->asked_ns && f->lens.cursor_ns < INT64_MAX)
		snprintf(out, 2 * FMT_SIZE, "at %s", time_axis_text(at, f->lens.cursor_ns));
	else if (v->at_peak)
		snprintf(out, 2 * FMT_SIZE, "at the peak");
	else if (f->lens.cursor_ns == INT64_MAX)
		snprintf(out, 2 * FMT_SIZE, s->loading ? "now" : "at the end");
	else
		snprintf(out, 2 * FMT_SIZE, "at %s", time_axis_text(at, v->graph.axis.cursor_ns));
	return out;
}

/* Processes have peaks of their own, which were not there together. */
static const char *peak_name(const struct footprint *f)
{
	return f->peak.n > 1 ? "highest peak" : "peak";
}

static void draw_summary(const struct memory_view *v, const struct scene *s, struct canvas *c,
			 struct rect r)
{
	const struct footprint *f = footprint_of(s);
	char a[FMT_SIZE], b[2 * FMT_SIZE], n[FMT_COUNTED_SIZE];
	int64_t rss = resident_at(s->analysis->profile, &s->analysis->counts,
				  v->graph.axis.cursor_ns);
	int col = 1;

	/* Blocks that came before the range, or after it, may live, too. */
	col = put_part(c, r, col,
		       xasprintf("%slive %s%s %s", f->in_range ? "came in this time: " : "",
				 about(f), fmt_bytes(a, f->total[FOOTPRINT_LIVE]),
				 when_text(v, s, b)));
	if (f->peak.time_ns != TIME_NONE && !v->graph.moment)
		col = put_part(c, r, col,
			       xasprintf("%s %s%s at %s", peak_name(f), about(f),
					 fmt_bytes(a, f->peak.n > 1 ? f->peak.bytes
								    : f->total[FOOTPRINT_PEAK]),
					 time_axis_text(b, f->peak.time_ns)));
	if (!s->loading && !f->manner.goes_on && !v->graph.moment &&
	    footprint_knows(f, FOOTPRINT_LEAKED))
		col = put_part(c, r, col,
			       xasprintf("%s %s%s",
					 f->manner.lives_on   ? "still live"
					 : f->manner.attached ? "not freed"
							      : "leaked",
					 about(f), fmt_bytes(a, f->total[FOOTPRINT_LEAKED])));
	if (rss >= 0)
		col = put_part(
			c, r, col,
			xasprintf("RSS %s%s", f->in_range ? "of all " : "", fmt_bytes(a, rss)));
	if (footprint_knows(f, FOOTPRINT_CALLS))
		put_part(c, r, col,
			 xasprintf("%s%s of %s%s", about(f),
				   fmt_counted(n, footprint_calls(f), "allocation"), about(f),
				   fmt_bytes(b, f->total[FOOTPRINT_BYTES])));
}

static void memory_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct memory_view *v = state;
	int top = lines_above(v);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (!footprint_of(s) || footprint_of(s)->n_sites == 0) {
		row_draw_nothing(c, r, s);
		return;
	}
	draw_summary(v, s, c, r);
	memory_graph_draw(&v->graph, s, c, r);
	if (r.rows > top - 1 - v->beyond)
		memory_table_draw_titles(&v->table, s, c, r, top - 1 - v->beyond);
	if (v->beyond)
		memory_table_draw_beyond(&v->table, s, c, r, top - 1);
	memory_table_draw_sites(&v->table, s, c, r, top, &v->list);
}

/* What lives at the cursor: of the sites at once, where their lines say so, of the other views by and by. */
static void after_move(struct memory_view *v, const struct scene *s, struct effect *out)
{
	struct footprint *f = footprint_of(s);
	int64_t at;

	/* A column says what lives when it ends, as the graph does. */
	at = time_axis_at(&v->graph.axis, memory_graph_cursor(&v->graph) + 1);
	v->at_end = at >= v->graph.axis.whole_ns;
	v->at_peak = false;
	if (v->at_end)
		at = INT64_MAX;
	v->asked_ns = at;
	if (f->lens.cursor_ns == at)
		return;
	if (move_live(v, s)) {
		memory_table_sort(&v->table, s);
		follow(v, s);
	}
	out->kind = EFFECT_CURSOR;
	out->from_ns = at;
}

/* Of the peak itself, which a column of the graph need not end with. */
static bool show_peak(struct memory_view *v, const struct scene *s, struct effect *out)
{
	struct footprint *f = footprint_of(s);

	if (f->peak.n > 1) {
		/* Those of several were not there together: what was is in the graph. */
		time_axis_go_to(&v->graph.axis, f->peak.time_ns);
		after_move(v, s, out);
		return true;
	}
	go_to_peak(v, f);
	if (!v->at_peak)
		return false;
	memory_table_sort(&v->table, s);
	follow(v, s);
	out->kind = EFFECT_CURSOR;
	out->from_ns = v->asked_ns = f->lens.cursor_ns;
	return true;
}

/* Sorts for the user, who wants to see what comes first. */
static bool resort(struct memory_view *v, const struct scene *s)
{
	memory_table_sort(&v->table, s);
	v->on_first = true;
	follow(v, s);
	remember(v, s);
	return true;
}

/* What the sorted column is in trees; of the moment's column what they show anyway. */
static enum measure measure_of(const struct memory_view *v, enum measure shown)
{
	switch (v->table.by) {
	case FOOTPRINT_PEAK:
		return MEASURE_PEAK;
	case FOOTPRINT_BYTES:
		return MEASURE_WEIGHT;
	case FOOTPRINT_CALLS:
		return MEASURE_SAMPLES;
	case FOOTPRINT_TEMPORARY:
		return MEASURE_TEMPORARY;
	case FOOTPRINT_LEAKED:
		return MEASURE_LEAKED;
	case FOOTPRINT_CHANGE:
		return MEASURE_GROWN;
	default:
		return shown;
	}
}

static bool open_site(const struct memory_view *v, const struct scene *s, struct effect *out)
{
	const struct metric of = footprint_of(s)->lens.column[0].metric;

	if (v->list.cursor >= v->list.n)
		return false;
	if (!footprint_rows_of_functions(footprint_of(s)))
		return row_effects_heap_row(s, footprint_of(s)->site[v->list.cursor].key, out);
	out->kind = EFFECT_OPEN;
	out->view = VIEW_KIND_CALLERS;
	out->place = (struct place){ .key_id = key_at(s, v->list.cursor)->id };
	if (measure_of(v, of.measure) == of.measure)
		return true;
	out->kind = EFFECT_FILTER;
	out->has_place = out->has_metric = true;
	out->metric = (struct metric){ of.event, measure_of(v, of.measure), of.all };
	out->grouping = s->analysis->lens.grouping;
	return true;
}

/* Behind a peak in the last column is the end, in the same one. */
static bool leaves_peak(const struct memory_view *v, enum action a)
{
	return v->at_peak && (a == ACTION_RIGHT || a == ACTION_FAR_RIGHT);
}

static bool memory_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct memory_view *v = state;
	int64_t cursor = v->graph.axis.cursor_ns;
	bool done;

	if (!footprint_of(s))
		return false;
	v->opened = true;
	done = list_act(&v->list, a);
	if (done)
		v->on_first = v->list.cursor == 0;
	done = done || time_axis_act(&v->graph.axis, a);
	remember(v, s);
	switch ((int)a) {
	case ACTION_MARK_A:
	case ACTION_MARK_B:
		if (done)
			row_effects_range(&v->graph.axis, out);
		return done;
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		row_effects_side_range(&v->graph.axis, out);
		return true;
	case ACTION_PEAK:
		return show_peak(v, s, out);
	case ACTION_BACK:
		return time_axis_unzoom(&v->graph.axis);
	case ACTION_SORT:
		memory_table_next(&v->table, s);
		return resort(v, s);
	case ACTION_REVERSE:
		v->table.reverse = !v->table.reverse;
		return resort(v, s);
	case ACTION_GROUP:
		row_effects_heap_rows(s, false, out);
		return true;
	case ACTION_ENTER:
		return open_site(v, s, out);
	case ACTION_ZOOM_IN:
	case ACTION_ZOOM_OUT:
		/* Closer to the peak is still at the peak. */
		if (done && v->at_peak) {
			go_to_peak(v, footprint_of(s));
			return true;
		}
		/* fall through */
	default:
		if (v->graph.axis.cursor_ns != cursor || leaves_peak(v, a))
			after_move(v, s, out);
		return done;
	}
}

static void memory_click(void *state, const struct scene *s, struct rect r, int row, int col,
			 bool twice, struct effect *out)
{
	struct memory_view *v = state;
	int line = row - r.row - lines_above(v);
	uint32_t i = list_at(&v->list, line);

	if (!footprint_of(s))
		return;
	v->opened = true;
	if (line + v->beyond < -1 - v->graph.rates && row > r.row &&
	    col >= r.col + v->graph.gutter) {
		time_axis_go(&v->graph.axis, col - r.col - v->graph.gutter);
		after_move(v, s, out);
	}
	if (line + v->beyond == -1 && memory_table_click(&v->table, col - r.col))
		resort(v, s);
	if (line < 0 || i == UINT32_MAX)
		return;
	v->list.cursor = i;
	v->on_first = i == 0;
	remember(v, s);
	if (twice)
		open_site(v, s, out);
}

static void memory_drag(void *state, const struct scene *s, struct rect r, struct cell_at from,
			struct cell_at to, struct effect *out)
{
	struct memory_view *v = state;
	int left = r.col + v->graph.gutter;

	if (!footprint_of(s) || from.col < left || from.col == to.col)
		return;
	time_axis_mark(&v->graph.axis, from.col - left, to.col - left);
	row_effects_range(&v->graph.axis, out);
}

static void memory_select(void *state, const struct scene *s, const struct place *p)
{
	struct memory_view *v = state;

	if (p->key_id == ID_NONE || !footprint_of(s) ||
	    !footprint_rows_of_functions(footprint_of(s)))
		return;
	v->cursor_id = p->key_id;
	v->cursor_line = 0;
	v->on_first = false;
	follow(v, s);
	remember(v, s);
}

static bool memory_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct memory_view *v = state;

	if (!footprint_of(s) || v->list.cursor >= footprint_of(s)->n_sites ||
	    !footprint_rows_of_functions(footprint_of(s)))
		return false;
	*out = (struct place){ .key_id = key_at(s, v->list.cursor)->id };
	return true;
}

static bool matches(const struct scene *s, uint32_t site)
{
	const char *label = key_at(s, site)->label;

	return s->search && search_matches(s->search, label, strlen(label));
}

static uint32_t memory_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct memory_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; i < v->list.n; i++)
		if (matches(s, i))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes) {
		list_go(&v->list, f.target);
		v->on_first = false;
		remember(v, s);
	}
	return f.n;
}

/* " · this column (35.0 ms): +3.39 MB, -31.2 MB". The caller frees. */
static char *flow_text(const struct memory_graph *g)
{
	const struct footprint_slot *slot = &g->slot[memory_graph_cursor(g)];
	char came[FMT_SIZE], went[FMT_SIZE], width[FMT_SIZE];

	fmt_ns(width, (g->axis.to_ns - g->axis.from_ns) / g->axis.cols);
	if (slot->allocated == 0 && slot->freed == 0)
		return xasprintf(" · this column (%s): nothing allocated or freed", width);
	return xasprintf(" · this column (%s): +%s, -%s", width, fmt_bytes(came, slot->allocated),
			 fmt_bytes(went, slot->freed));
}

/* The site in full and where it is, and what was allocated and freed by all sites in the cursor's column. */
static char *memory_status(const void *state, const struct scene *s)
{
	const struct memory_view *v = state;
	const struct footprint *f = footprint_of(s);
	char live[FMT_SIZE], *name, *source, *flow = NULL, *out;

	if (!f || v->list.cursor >= f->n_sites || !v->graph.slot)
		return NULL;
	name = name_full(key_at(s, v->list.cursor));
	source = memory_table_source(s, &f->site[v->list.cursor]);
	if (v->graph.exact && !v->graph.moment)
		flow = flow_text(&v->graph);
	out = xasprintf("%s  %s%s%s  %s%s",
			fmt_bytes(live, f->site[v->list.cursor].sum[FOOTPRINT_LIVE]),
			key_at(s, v->list.cursor)->module, *source ? "  " : "", source, name,
			flow ? flow : "");
	free(flow);
	free(source);
	free(name);
	return out;
}

static char *memory_site(const void *state, const struct scene *s)
{
	const struct memory_view *v = state;

	if (!footprint_of(s) || v->list.cursor >= footprint_of(s)->n_sites)
		return NULL;
	return memory_table_source(s, &footprint_of(s)->site[v->list.cursor]);
}

static const char *memory_order(const void *state, const struct scene *s)
{
	(void)s;
	return memory_table_order(&((const struct memory_view *)state)->table);
}

static bool memory_sort(void *state, const struct scene *s, const char *by)
{
	struct memory_view *v = state;

	return memory_table_sort_by(&v->table, by) && footprint_of(s) && resort(v, s);
}

static void memory_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct memory_view *)state)->list, at, of);
}

static char *memory_crumb(const void *state, const struct scene *s)
{
	const struct memory_view *v = state;
	char from[FMT_SIZE], to[FMT_SIZE];

	(void)s;
	if (v->graph.axis.to_ns - v->graph.axis.from_ns >= v->graph.axis.whole_ns)
		return NULL;
	return xasprintf("%s – %s", time_axis_text(from, v->graph.axis.from_ns),
			 time_axis_text(to, v->graph.axis.to_ns));
}

static bool memory_wish(const void *state, struct over_time_wish *out)
{
	const struct memory_view *v = state;

	*out = (struct over_time_wish){ OVER_MEMORY, memory_graph_span(&v->graph) };
	return v->graph.slot != NULL;
}

const struct view_ops view_memory = {
	.name = "memory",
	.help = "bytes over time and who asked for what is there at the cursor; A and B choose a range, p the peak",
	.contexts = IN_LIST | IN_TIME | IN_MEMORY,
	.applies = memory_applies,
	.new = memory_new,
	.free = memory_free,
	.update = memory_update,
	.layout = memory_layout,
	.wish = memory_wish,
	.draw = memory_draw,
	.act = memory_act,
	.click = memory_click,
	.drag = memory_drag,
	.select = memory_select,
	.selection = memory_selection,
	.find = memory_find,
	.status = memory_status,
	.site = memory_site,
	.order = memory_order,
	.sort = memory_sort,
	.position = memory_position,
	.crumb = memory_crumb,
};
