/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/memory_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/heap/resident.h"

/* Rows of the graph: at most so many, and one in GRAPH_PART. */
#define GRAPH_MOST 10
#define GRAPH_PART 3

/* Rows of the view from which on there is room for the names of marks, and for rates. */
#define MARKS_NEED 14
#define RATES_NEED 24

/* The resident set is drawn where the graph need not be lower than by this factor for it. */
#define RSS_FACTOR 2

/* Columns of the gutter with the graph's scale. */
#define GUTTER 9

int memory_graph_top(const struct memory_graph *g)
{
	return 1 + g->marks;
}

static bool has_marks(const struct scene *s)
{
	struct heap_columns c;

	profile_heap_of(s->analysis->profile, &s->analysis->counts, &c);
	return c.n_marks > 0;
}

static bool is_moment(const struct memory_graph *g, const struct scene *s)
{
	return s->analysis->footprint && g->axis.whole_ns <= 1 &&
	       s->analysis->footprint->manner.lacks & HEAP_LACKS_TIMES;
}

void memory_graph_layout(struct memory_graph *g, const struct scene *s, struct rect r)
{
	int part = r.rows / GRAPH_PART > GRAPH_MOST ? GRAPH_MOST : r.rows / GRAPH_PART;

	g->moment = is_moment(g, s);
	g->gutter = r.cols >= 60 ? GUTTER : 0;
	g->rows = part > 1 ? part : 1;
	g->marks = !g->moment && r.rows >= MARKS_NEED && has_marks(s);
	g->rates = !g->moment && r.rows >= RATES_NEED && g->gutter > 0;
	time_axis_fit(&g->axis, g->axis.whole_ns, r.cols - g->gutter);
}

struct time_span memory_graph_span(const struct memory_graph *g)
{
	bool to_end = g->axis.to_ns >= g->axis.whole_ns;

	return (struct time_span){ g->axis.from_ns, to_end ? INT64_MAX : g->axis.to_ns,
				   (uint32_t)g->axis.cols, 0 };
}

/* What lines of another span say of a column: nothing of what came and went. */
static struct footprint_slot guess(const struct memory_graph *g, const struct footprint_lines *l,
				   int col)
{
	int64_t from = time_axis_at(&g->axis, col), to = time_axis_at(&g->axis, col + 1);
	double wide = (double)(l->to_ns - l->span.from_ns) / l->span.n;
	struct footprint_slot out = { 0 };
	int64_t i = (int64_t)((double)(from - l->span.from_ns) / wide);

	if (to <= l->span.from_ns || from >= l->to_ns)
		return out;
	for (i = i > 0 ? i : 0; i < l->span.n; i++) {
		if ((double)i * wide + (double)l->span.from_ns >= (double)to)
			break;
		out.live = l->slot[i].live;
		out.most = out.most > l->slot[i].most ? out.most : l->slot[i].most;
	}
	return out;
}

void memory_graph_take(struct memory_graph *g, const struct footprint_lines *lines)
{
	struct time_span span = memory_graph_span(g);
	size_t n = (size_t)g->axis.cols;

	free(g->slot);
	g->slot = xcalloc(n, sizeof(*g->slot));
	g->exact = lines && time_span_same(&lines->span, &span);
	if (g->exact)
		memcpy(g->slot, lines->slot, n * sizeof(*g->slot));
	for (int i = 0; lines && !g->exact && i < g->axis.cols; i++)
		g->slot[i] = guess(g, lines, i);
}

int memory_graph_end(const struct memory_graph *g)
{
	return g->moment ? 1 : memory_graph_top(g) + g->rows + 1 + g->rates;
}

static bool in_range(const struct memory_graph *g, int col)
{
	int64_t from, to, at = time_axis_at(&g->axis, col);

	return time_axis_range(&g->axis, &from, &to) && time_axis_at(&g->axis, col + 1) > from &&
	       at < to;
}

int memory_graph_cursor(const struct memory_graph *g)
{
	int col = time_axis_col(&g->axis, g->axis.cursor_ns);

	return col < 0 ? 0 : col >= g->axis.cols ? g->axis.cols - 1 : col;
}

/* The resident set in each column, from the readings; -1 where there is none yet. The caller frees. */
static int64_t *rss_columns(const struct memory_graph *g, const struct scene *s)
{
	const struct heap_reading *reading = profile_heap_readings(s->analysis->profile);
	int64_t *rss = xmalloc((size_t)g->axis.cols * sizeof(*rss)), last = -1, at;
	struct heap_columns c;
	int done = 0;

	profile_heap_of(s->analysis->profile, &s->analysis->counts, &c);
	for (uint32_t i = 0; i < c.n_readings; i++) {
		if (!resident_reading(s->analysis->profile, &reading[i], &at))
			continue;
		while (done < g->axis.cols && time_axis_at(&g->axis, done + 1) <= at)
			rss[done++] = last;
		last = reading[i].value;
	}
	while (done < g->axis.cols)
		rss[done++] = last;
	return rss;
}

/* A point in each column where the resident set is: above what was asked for, where nothing stands. */
static void draw_rss(const struct memory_graph *g, struct canvas *c, int row, int left,
		     const int64_t *rss, int64_t most)
{
	for (int i = 0; i < g->axis.cols; i++) {
		/* The largest is in the uppermost row, not above it. */
		int up = rss[i] <= 0 ? 0 : (int)ceil((double)rss[i] / (double)most * g->rows) - 1;
		int used = (int)((double)g->slot[i].most / (double)most * g->rows + 0.999);

		if (rss[i] >= 0 && up < g->rows && up >= used)
			canvas_puts(c, row + g->rows - 1 - up, left + i, 1, STYLE_DIM, "·");
	}
}

/*
 * A name behind its mark, or before it where there is more room; cut where there is too little. taken: [g->axis.cols], where a mark
 * stands, a name, or a blank behind one.
 */
static void draw_name(const struct memory_graph *g, struct canvas *c, struct rect r, int at,
		      const char *name, bool *taken)
{
	int left = r.col + g->gutter, cols = (int)text_width(name, strlen(name));
	int behind = 0, before = 0, room, from;

	while (at + 1 + behind < g->axis.cols && !taken[at + 1 + behind] && behind <= cols)
		behind++;
	while (before < at && !taken[at - 1 - before] && before < cols)
		before++;
	/* a blank in front of what comes next */
	if (at + 1 + behind < g->axis.cols && behind > 0)
		behind--;
	room = behind >= cols || behind >= before ? behind : before;
	from = room == behind ? at + 1 : at - room;
	room = room < cols ? room : cols;
	if (room <= 0)
		return;
	canvas_puts(c, r.row + 1, left + from, room, STYLE_DIM, name);
	if (room < cols)
		canvas_puts(c, r.row + 1, left + from + room - 1, 1, STYLE_DIM, "…");
	memset(taken + from, true, (size_t)room + (from + room < g->axis.cols));
}

static bool same_name(const void *marks, uint32_t value, const void *key)
{
	return ((const struct heap_mark *)marks)[value].name.v == *(const uint32_t *)key;
}

/* [n] Has no other mark its name? The caller frees. */
static bool *single_marks(const struct heap_mark *mark, uint32_t n)
{
	bool *single = xmalloc((size_t)n + 1);
	struct map by_name = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t same = map_find(&by_name, hash_u64(mark[i].name.v), same_name, mark,
					 &mark[i].name.v);

		single[i] = same == MAP_NONE;
		if (same == MAP_NONE)
			map_add(&by_name, hash_u64(mark[i].name.v), i);
		else
			single[same] = false;
	}
	map_done(&by_name);
	return single;
}

/* Marks where they were set, and as much of their names as there is room for. */
static void draw_marks(const struct memory_graph *g, const struct scene *s, struct canvas *c,
		       struct rect r)
{
	const struct profile *p = s->analysis->profile;
	const struct heap_mark *mark = profile_heap_marks(p);
	bool *taken = xcalloc((size_t)g->axis.cols, sizeof(*taken));
	/* [g->axis.cols] 1 + the number of the mark there */
	uint32_t *marked = xcalloc((size_t)g->axis.cols, sizeof(*marked));
	struct heap_columns columns;
	bool *single;

	profile_heap_of(p, &s->analysis->counts, &columns);
	single = single_marks(mark, columns.n_marks);
	/* Of single ones the marks, then the names; then of those of which several have one name. */
	for (int round = 0; round < 4; round++)
		for (uint32_t i = 0; i < columns.n_marks; i++) {
			int64_t begin = capture_begin(profile_capture(p, mark[i].capture));
			int at = time_axis_col(&g->axis,
					       begin == TIME_NONE ? 0 : mark[i].time_ns - begin);

			if (at < 0 || at >= g->axis.cols || single[i] != (round < 2))
				continue;
			if (round % 2 == 1 && marked[at] == i + 1) {
				draw_name(g, c, r, at, profile_string(p, mark[i].name, NULL),
					  taken);
			} else if (round % 2 == 0 && !taken[at]) {
				taken[at] = true;
				marked[at] = i + 1;
				canvas_puts(c, r.row + 1, r.col + g->gutter + at, 1, STYLE_HOT,
					    "▾");
			}
		}
	free(single);
	free(marked);
	free(taken);
}

/* "allocs/s ▁▂▃ 1,234 at most": half of a line. */
static void draw_rate(const struct memory_graph *g, struct canvas *c, int row, int col, int cols,
		      bool frees)
{
	const char *what = frees ? "frees" : "allocs";
	double seconds = (double)(g->axis.to_ns - g->axis.from_ns) / 1e9 / g->axis.cols;
	int64_t *n = xcalloc((size_t)g->axis.cols, sizeof(*n)), most = 0;
	char text[FMT_SIZE];
	int used;

	if (!g->exact) {
		canvas_printf(c, row, col, cols, STYLE_DIM, "%s/s: counting", what);
		free(n);
		return;
	}
	for (int i = 0; i < g->axis.cols; i++) {
		uint64_t slot = frees ? g->slot[i].n_freed : g->slot[i].n_allocated;

		n[i] = slot < INT64_MAX ? (int64_t)slot : INT64_MAX;
		most = n[i] > most ? n[i] : most;
	}
	used = canvas_printf(c, row, col, cols, STYLE_DIM, "%s/s (max %s) ", what,
			     fmt_short(text, seconds > 0 ? (int64_t)((double)most / seconds) : 0));
	if (used < cols)
		canvas_spark(c, row, col + used, cols - used, STYLE_SPARK, n, (size_t)g->axis.cols,
			     0);
	free(n);
}

static void draw_rates(const struct memory_graph *g, const struct scene *s, struct canvas *c,
		       struct rect r)
{
	int row = r.row + memory_graph_top(g) + g->rows + 1, left = r.col + g->gutter;
	int half = (r.cols - g->gutter) / 2;

	if (s->analysis->footprint &&
	    s->analysis->footprint->manner.lacks & (HEAP_LACKS_CALLS | HEAP_LACKS_TIMES)) {
		canvas_puts(c, row, left, r.cols - g->gutter, STYLE_DIM,
			    "rates of allocations and frees are not known");
		return;
	}
	draw_rate(g, c, row, left, half - 1, false);
	draw_rate(g, c, row, left + half + 1, half - 1, true);
}

static void draw_columns(const struct memory_graph *g, const struct scene *s, struct canvas *c,
			 struct rect r)
{
	int row = r.row + memory_graph_top(g), left = r.col + g->gutter;
	int64_t most = 0, most_rss = 0, *rss = rss_columns(g, s);
	char text[FMT_SIZE];

	for (int i = 0; i < g->axis.cols; i++) {
		most = g->slot[i].most > most ? g->slot[i].most : most;
		most_rss = rss[i] > most_rss ? rss[i] : most_rss;
	}
	if (most_rss / RSS_FACTOR <= most && most_rss > most)
		most = most_rss;
	for (int i = 0; i < g->axis.cols; i++) {
		uint16_t style = in_range(g, i) ? STYLE_SPARK_RANGE : STYLE_SPARK;

		if (i == memory_graph_cursor(g))
			style |= STYLE_SELECTED;
		canvas_column(c, row, left + i, g->rows, style, g->slot[i].most, most);
	}
	if (most > 0)
		draw_rss(g, c, row, left, rss, most);
	free(rss);
	if (g->gutter > 0) {
		canvas_puts_right(c, row, r.col, g->gutter - 1, STYLE_NUMBER,
				  fmt_bytes(text, most));
		canvas_puts_right(c, row + g->rows - 1, r.col, g->gutter - 1, STYLE_NUMBER,
				  g->rows > 1 ? "0" : fmt_bytes(text, most));
	}
	time_axis_draw(&g->axis, c, row + g->rows, left, s->side_a);
}

void memory_graph_draw(const struct memory_graph *g, const struct scene *s, struct canvas *c,
		       struct rect r)
{
	if (g->moment)
		return;
	if (g->marks)
		draw_marks(g, s, c, r);
	if (r.rows > memory_graph_top(g) + g->rows)
		draw_columns(g, s, c, r);
	if (g->rates)
		draw_rates(g, s, c, r);
}
