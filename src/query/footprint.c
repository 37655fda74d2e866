/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "footprint.h"

#include "filter.h"
#include "heap_change.h"
#include "heap_scan.h"
#include "heap_slots.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Parts of a slot that are looked at for its fullest. */
#define PARTS 16u

static const enum measure measures[FOOTPRINT_N_COLUMNS] = {
	[FOOTPRINT_LIVE] = MEASURE_LIVE,           [FOOTPRINT_PEAK] = MEASURE_PEAK,
	[FOOTPRINT_BYTES] = MEASURE_WEIGHT,        [FOOTPRINT_CALLS] = MEASURE_SAMPLES,
	[FOOTPRINT_TEMPORARY] = MEASURE_TEMPORARY, [FOOTPRINT_LEAKED] = MEASURE_LEAKED,
};

static void set_lens(struct footprint *m, const struct lens *lens, event_id event)
{
	struct lens l = *lens;

	l.n_columns = 0; /* the filter alone is copied */
	lens_copy(&m->lens, &l);
	m->lens.n_columns = FOOTPRINT_N_COLUMNS;
	for (uint32_t i = 0; i < FOOTPRINT_N_COLUMNS; i++) {
		m->lens.column[i] = (struct lens_column){ .metric = { event, measures[i] } };
		m->column_of[i] = i;
	}
}

/* Sites. */

/* The key of a location's innermost frame. */
static uint32_t innermost_key(const struct footprint *m, const struct location_columns *l,
			      uint32_t location)
{
	const struct frame *f = m->lens.inlines ? location_frames(l, location) : NULL;
	uint32_t function = f ? f[f->n_more].function : location_function(l, location);

	return keys_of_frame(&m->keys, function, l->module[location]);
}

/*
 * Where the name of a function begins behind the type that it returns, which templates are written
 * with: "void std::f<int>(int)".
 */
static const char *qualified_name(const char *label)
{
	const char *begin = label;
	int depth = 0;

	for (const char *at = label; *at && (depth > 0 || *at != '('); at++) {
		if (depth == 0 && strncmp(at, "operator", 8) == 0)
			break;
		if (depth == 0 && *at == ' ' && at[1])
			begin = at + 1;
		depth += *at == '<' || *at == '(';
		depth -= (*at == '>' || *at == ')') && depth > 0;
	}
	return begin;
}

/* Code of a language's own library, which is compiled into programs but is not what they are about. */
static bool is_of_language(const char *label)
{
	static const char *const begins[] = {
		"std::",    "__gnu_cxx::", "operator new", "alloc::", "core::",
		"<alloc::", "<core::",     "<std::",       "__rust_", "hashbrown::",
	};
	const char *name = qualified_name(label);

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0 ||
		    strncmp(label, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* xmalloc(), g_realloc(), sqlite3Malloc, xstrdup: their callers are who asks. */
static bool is_wrapper(const char *label)
{
	static const char *const ends[] = { "malloc",  "calloc",       "realloc", "strdup",
					    "strndup", "reallocarray", "malloc0", "mallocz" };
	const char *name = qualified_name(label);
	size_t n = strcspn(name, "(@[. ");

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (n >= end && strncasecmp(name + n - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

static bool is_own(const struct footprint *m, uint32_t key)
{
	const struct key *is = &m->keys.key[key];

	return is->family == FAMILY_PROGRAM && !(is->flags & FUNCTION_COMM) &&
	       !is_of_language(is->label) && !is_wrapper(is->label);
}

/* The key of a location's innermost frame that is the program's own; KEY_NONE: none is. */
static uint32_t own_key(const struct footprint *m, const struct location_columns *l,
			uint32_t location, const bool *own)
{
	const struct frame *f = m->lens.inlines ? location_frames(l, location) : NULL;
	uint32_t module = l->module[location], key;

	if (!f) {
		key = keys_of_frame(&m->keys, location_function(l, location), module);
		return own[key] ? key : KEY_NONE;
	}
	for (uint32_t i = f->n_more + 1; i-- > 0;) {
		key = keys_of_frame(&m->keys, f[i].function, module);
		if (own[key])
			return key;
	}
	return KEY_NONE;
}

/* For each stack the key of its site, and whether that is the program's own code. */
static uint32_t *keys_of_sites(const struct footprint *m)
{
	uint32_t n = m->counts.n_stacks, *key = xmalloc(n * sizeof(*key));
	bool *own_site = xcalloc(n, sizeof(*own_site));
	bool *own = xcalloc(m->keys.n, sizeof(*own)); /* by key */
	struct location_columns l;
	struct stack_columns s;

	for (uint32_t i = 0; i < m->keys.n; i++)
		own[i] = is_own(m, i);
	profile_locations(m->profile, &l);
	profile_stacks(m->profile, &s);
	key[0] = KEY_NONE;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t k = own_key(m, &l, s.location[i], own), parent = s.parent[i];

		own_site[i] = k != KEY_NONE || own_site[parent];
		if (k != KEY_NONE)
			key[i] = k;
		else if (own_site[parent])
			key[i] = key[parent];
		else
			key[i] = innermost_key(m, &l, s.location[i]);
	}
	free(own);
	free(own_site);
	return key;
}

/* Column c of what was weighed, of a stack or in all. */
static int64_t weighed(const struct footprint *m, const int64_t *sums, int c)
{
	return sums[m->column_of[c]];
}

/* change: [n_stacks], or NULL. */
static void make_sites(struct footprint *m, const struct weights *w, const int64_t *change)
{
	uint32_t *key = keys_of_sites(m), *site_of_key = xmalloc(m->keys.n * sizeof(*site_of_key));
	int64_t *most = xcalloc(m->keys.n, sizeof(*most));

	memset(site_of_key, 0xff, m->keys.n * sizeof(*site_of_key));
	m->site = xcalloc(m->keys.n, sizeof(*m->site));
	m->site_of_stack = xmalloc(w->n_stacks * sizeof(*m->site_of_stack));
	for (uint32_t i = 0; i < w->n_stacks; i++) {
		const int64_t *sum = &w->stack[(size_t)i * w->n_columns];
		struct footprint_site *site;
		uint32_t *at;

		m->site_of_stack[i] = ID_NONE;
		if (key[i] == KEY_NONE ||
		    (weighed(m, sum, FOOTPRINT_CALLS) == 0 && (!change || change[i] == 0)))
			continue;
		at = &site_of_key[key[i]];
		if (*at == ID_NONE) {
			*at = m->n_sites++;
			m->site[*at].key = key[i];
			m->site[*at].row = *at;
		}
		m->site_of_stack[i] = *at;
		site = &m->site[*at];
		for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
			site->sum[c] += weighed(m, sum, c);
		site->sum[FOOTPRINT_CHANGE] += change ? change[i] : 0;
		if (weighed(m, sum, FOOTPRINT_BYTES) >= most[key[i]]) {
			most[key[i]] = weighed(m, sum, FOOTPRINT_BYTES);
			site->stack = i;
		}
	}
	free(most);
	free(site_of_key);
	free(key);
}

/* Sites with their order, and where they stood before. */
struct sorted {
	const struct footprint *m;
	struct footprint_site site;
	uint32_t was;
	enum footprint_column by;
};

static int by_column(const void *a, const void *b)
{
	static const enum footprint_column ties[] = { FOOTPRINT_LIVE, FOOTPRINT_PEAK,
						      FOOTPRINT_BYTES };
	const struct sorted *x = a, *y = b;
	const struct key *key = x->m->keys.key;

	if (x->site.sum[x->by] != y->site.sum[x->by])
		return x->site.sum[x->by] < y->site.sum[x->by] ? 1 : -1;
	for (size_t i = 0; i < sizeof(ties) / sizeof(*ties); i++)
		if (x->site.sum[ties[i]] != y->site.sum[ties[i]])
			return x->site.sum[ties[i]] < y->site.sum[ties[i]] ? 1 : -1;
	return strcmp(key[x->site.key].label, key[y->site.key].label);
}

void footprint_sort(struct footprint *m, enum footprint_column by)
{
	struct sorted *s = xcalloc(m->n_sites, sizeof(*s));
	uint32_t *now = xcalloc(m->n_sites, sizeof(*now));

	for (uint32_t i = 0; i < m->n_sites; i++)
		s[i] = (struct sorted){ m, m->site[i], i, by };
	qsort(s, m->n_sites, sizeof(*s), by_column);
	for (uint32_t i = 0; i < m->n_sites; i++) {
		m->site[i] = s[i].site;
		now[s[i].was] = i;
	}
	for (uint32_t i = 0; i < m->counts.n_stacks; i++)
		if (m->site_of_stack[i] != ID_NONE)
			m->site_of_stack[i] = now[m->site_of_stack[i]];
	free(now);
	free(s);
}

/* Passes over the allocations. */

/* What a pass needs: the state, what passes, slots of each track. */
struct passage {
	struct rowpass *rows;
	struct heap_state state;
	struct heap_pass pass;
	struct heap_slots *slots; /* [n_tracks]; owned */
};

static int passage_begin(struct passage *g, const struct footprint *m, struct progress *progress)
{
	int rc;

	*g = (struct passage){ 0 };
	rc = rowpass_new(m->profile, &m->counts, &m->lens, progress, &g->rows);
	if (rc < 0)
		return rc;
	heap_state_init(&g->state, m->profile, &m->counts);
	heap_pass_init(&g->pass, &g->state, g->rows, 0);
	return 0;
}

static void passage_slots(struct passage *g, int64_t from_ns, int64_t to_ns, uint32_t n)
{
	uint32_t n_tracks = g->state.columns.n_tracks;

	g->slots = xcalloc(n_tracks, sizeof(*g->slots));
	for (uint32_t i = 0; i < n_tracks; i++)
		heap_slots_init(&g->slots[i], &g->state, i, from_ns, to_ns, n);
}

static void passage_end(struct passage *g)
{
	for (uint32_t i = 0; g->slots && i < g->state.columns.n_tracks; i++)
		heap_slots_done(&g->slots[i]);
	free(g->slots);
	heap_pass_done(&g->pass);
	heap_state_done(&g->state);
	rowpass_free(g->rows);
}

static int64_t bytes_for(const struct heap_state *s, uint32_t track, uint32_t i, double *n)
{
	uint64_t size = allocation_size(&s->columns, i);
	double bytes;

	*n = heap_stands_for(&s->track[track], s->columns.begin[i], size);
	bytes = *n * (double)size;
	if (s->exact && size < (uint64_t)1 << 53)
		return (int64_t)size;
	return bytes < 0x1p53 ? (int64_t)bytes : (int64_t)1 << 53;
}

/* Sums of hostile sizes stay what 63 bits hold. */
static void add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = x < 0 ? INT64_MIN : INT64_MAX;
}

/* A line while it is made. */
struct line {
	struct footprint_slot *slot; /* [n] */
	int64_t *part;               /* [n * PARTS] net bytes; owned */
	int64_t before;              /* bytes there before the first slot */
};

static void begin_in_line(struct line *l, const struct heap_slots *s, uint32_t moment,
			  int64_t bytes, double n)
{
	uint32_t part = heap_slots_of(s, moment);

	if (part == SLOT_BEFORE) {
		add(&l->before, bytes);
	} else if (part < s->n) {
		struct footprint_slot *slot = &l->slot[part / PARTS];

		add(&l->part[part], bytes);
		add(&slot->allocated, bytes);
		slot->n_allocated += (uint64_t)(n + 0.5);
	}
}

static void end_in_line(struct line *l, const struct heap_slots *s, uint32_t moment, int64_t bytes,
			double n)
{
	uint32_t part = heap_slots_of(s, moment);

	if (part == SLOT_BEFORE) {
		add(&l->before, -bytes);
	} else if (part < s->n) {
		struct footprint_slot *slot = &l->slot[part / PARTS];

		add(&l->part[part], -bytes);
		add(&slot->freed, bytes);
		slot->n_freed += (uint64_t)(n + 0.5);
	}
}

/* A pass of several threads, each with a line of its own. */
struct line_scan {
	struct passage *g;
	struct line line[HEAP_SCAN_MOST];
};

static void scan_line(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct line_scan *s = arg;
	struct passage *g = s->g;
	const struct heap_columns *c = &g->state.columns;

	for (uint32_t i = from; i < to; i++) {
		uint32_t origin = c->origin[i], track, end;
		int64_t bytes;
		double n;

		if (!heap_pass_own(&g->pass, c, origin, c->begin[i]) ||
		    !heap_pass_lens(&g->pass, c, origin, c->begin[i]))
			continue;
		track = c->origins[origin].track;
		end = allocation_end(c, i, g->state.track[track].n_moments);
		bytes = bytes_for(&g->state, track, i, &n);
		begin_in_line(&s->line[worker], &g->slots[track], c->begin[i], bytes, n);
		if (end != END_NEVER)
			end_in_line(&s->line[worker], &g->slots[track], end & END_MOMENT, bytes, n);
	}
}

/* Adds another thread's line, of n slots, to the first, and frees it. */
static void add_line(struct line *to, struct line *from, uint32_t n)
{
	add(&to->before, from->before);
	for (size_t i = 0; i < (size_t)n * PARTS; i++)
		add(&to->part[i], from->part[i]);
	for (uint32_t i = 0; i < n; i++) {
		add(&to->slot[i].allocated, from->slot[i].allocated);
		add(&to->slot[i].freed, from->slot[i].freed);
		to->slot[i].n_allocated += from->slot[i].n_allocated;
		to->slot[i].n_freed += from->slot[i].n_freed;
	}
	free(from->part);
	free(from->slot);
}

/* Into the line, whose arrays are of n slots. */
static int pass_line(struct passage *g, struct line *l, uint32_t n, struct progress *progress)
{
	uint32_t n_allocations = g->state.columns.n_allocations;
	unsigned n_threads = heap_scan_threads(n_allocations);
	struct line_scan s = { .g = g, .line = { *l } };
	int rc;

	for (unsigned i = 1; i < n_threads; i++) {
		s.line[i].slot = xcalloc(n, sizeof(*s.line[i].slot));
		s.line[i].part = xcalloc((size_t)n * PARTS, sizeof(*s.line[i].part));
	}
	rc = heap_scan(n_allocations, n_threads, progress, scan_line, &s);
	for (unsigned i = 1; i < n_threads; i++)
		add_line(&s.line[0], &s.line[i], n);
	*l = s.line[0];
	return rc;
}

/* What was there, from what came and went. */
static void sum_line(const struct footprint *m, struct line *l, int64_t from_ns, int64_t to_ns,
		     uint32_t n)
{
	int64_t live = l->before;

	for (uint32_t i = 0; i < n; i++) {
		int64_t most = live;

		for (uint32_t j = 0; j < PARTS; j++) {
			add(&live, l->part[(size_t)i * PARTS + j]);
			most = live > most ? live : most;
		}
		l->slot[i].live = live;
		l->slot[i].most = most;
	}
	if (m->peak_ns != TIME_NONE && m->peak_ns >= from_ns && m->peak_ns < to_ns) {
		double part = (double)(m->peak_ns - from_ns) / (double)(to_ns - from_ns);
		uint32_t at = (uint32_t)(part * n);
		struct footprint_slot *slot = &l->slot[at < n ? at : n - 1];

		if (slot->most < m->total[FOOTPRINT_PEAK])
			slot->most = m->total[FOOTPRINT_PEAK];
	}
}

int footprint_line(const struct footprint *m, int64_t from_ns, int64_t to_ns, uint32_t n,
		   struct progress *progress, struct footprint_slot *out)
{
	struct line l = { .slot = out };
	struct passage g;
	int rc = passage_begin(&g, m, progress);

	if (rc < 0)
		return rc;
	memset(out, 0, n * sizeof(*out));
	l.part = xcalloc((size_t)n * PARTS, sizeof(*l.part));
	passage_slots(&g, from_ns, to_ns, n * PARTS);
	rc = pass_line(&g, &l, n, progress);
	if (rc == 0)
		sum_line(m, &l, from_ns, to_ns, n);
	free(l.part);
	passage_end(&g);
	return rc;
}

/* Adds bytes from a moment on to one row of slots. */
static void add_from(int64_t *row, const struct heap_slots *s, uint32_t moment, int64_t bytes)
{
	uint32_t slot = heap_slots_of(s, moment);

	if (slot == SLOT_BEFORE)
		slot = 0;
	if (slot < s->n)
		add(&row[slot], bytes);
}

/* Likewise for sites. */
struct sites_scan {
	struct passage *g;
	const uint32_t *row_of_origin;
	int64_t *out[HEAP_SCAN_MOST];
};

static void scan_sites(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct sites_scan *scan = arg;
	struct passage *g = scan->g;
	const struct heap_columns *c = &g->state.columns;

	for (uint32_t i = from; i < to; i++) {
		uint32_t origin = c->origin[i], row = scan->row_of_origin[origin], track, end;
		const struct heap_slots *s;
		int64_t bytes, *out;
		double n;

		if (row == ID_NONE || !heap_pass_own(&g->pass, c, origin, c->begin[i]) ||
		    !heap_pass_lens(&g->pass, c, origin, c->begin[i]))
			continue;
		track = c->origins[origin].track;
		s = &g->slots[track];
		out = scan->out[worker] + (size_t)row * s->n;
		end = allocation_end(c, i, g->state.track[track].n_moments);
		bytes = bytes_for(&g->state, track, i, &n);
		add_from(out, s, c->begin[i], bytes);
		if (end != END_NEVER)
			add_from(out, s, end & END_MOMENT, -bytes);
	}
}

/* Into out, which is of n numbers. */
static int pass_sites(struct passage *g, const uint32_t *row_of_origin, int64_t *out, size_t n,
		      struct progress *progress)
{
	uint32_t n_allocations = g->state.columns.n_allocations;
	/* Sums of their own have to be worth it. */
	unsigned n_threads = n > n_allocations / 4 ? 1 : heap_scan_threads(n_allocations);
	struct sites_scan s = { .g = g, .row_of_origin = row_of_origin, .out = { out } };
	int rc;

	for (unsigned i = 1; i < n_threads; i++)
		s.out[i] = xcalloc(n, sizeof(*out));
	rc = heap_scan(n_allocations, n_threads, progress, scan_sites, &s);
	for (unsigned i = 1; i < n_threads; i++) {
		for (size_t k = 0; k < n; k++)
			add(&out[k], s.out[i][k]);
		free(s.out[i]);
	}
	return rc;
}

/* Which of the sites' rows an origin's allocations are in; ID_NONE: in none. The caller frees. */
static uint32_t *rows_of_origins(const struct footprint *m, const struct heap_columns *c,
				 const uint32_t *sites, uint32_t n_sites)
{
	uint32_t *row_of_site = xmalloc(m->n_sites * sizeof(*row_of_site));
	uint32_t *row = xmalloc(c->n_origins * sizeof(*row));

	memset(row_of_site, 0xff, m->n_sites * sizeof(*row_of_site));
	for (uint32_t i = 0; i < n_sites; i++)
		row_of_site[sites[i]] = i;
	for (uint32_t i = 0; i < c->n_origins; i++) {
		uint32_t stack = c->origins[i].stack;
		uint32_t site = stack < m->counts.n_stacks ? m->site_of_stack[stack] : ID_NONE;

		row[i] = site == ID_NONE ? ID_NONE : row_of_site[site];
	}
	free(row_of_site);
	return row;
}

int footprint_site_lines(const struct footprint *m, const uint32_t *sites, uint32_t n_sites,
			 int64_t from_ns, int64_t to_ns, uint32_t n, struct progress *progress,
			 int64_t *out)
{
	struct passage g;
	uint32_t *row;
	int rc = passage_begin(&g, m, progress);

	if (rc < 0)
		return rc;
	memset(out, 0, (size_t)n_sites * n * sizeof(*out));
	passage_slots(&g, from_ns, to_ns, n);
	row = rows_of_origins(m, &g.state.columns, sites, n_sites);
	rc = pass_sites(&g, row, out, (size_t)n_sites * n, progress);
	for (uint32_t i = 0; i < n_sites && rc == 0; i++)
		for (uint32_t j = 1; j < n; j++)
			add(&out[(size_t)i * n + j], out[(size_t)i * n + j - 1]);
	free(row);
	passage_end(&g);
	return rc;
}

int footprint_move(struct footprint *m, int64_t cursor_ns, struct progress *progress)
{
	struct lens live = m->lens;
	struct weights w;
	int rc;

	live.n_columns = 1; /* that of MEASURE_LIVE */
	live.cursor_ns = cursor_ns;
	rc = weigh(m->profile, &m->counts, &live, progress, &w);
	if (rc == 0) {
		m->lens.cursor_ns = cursor_ns;
		m->total[FOOTPRINT_LIVE] = w.total[0];
		for (uint32_t i = 0; i < m->n_sites; i++)
			m->site[i].sum[FOOTPRINT_LIVE] = 0;
		for (uint32_t i = 0; i < w.n_stacks; i++)
			if (m->site_of_stack[i] != ID_NONE)
				m->site[m->site_of_stack[i]].sum[FOOTPRINT_LIVE] += w.stack[i];
	}
	weights_done(&w);
	return rc;
}

static int64_t least(const int64_t *line, size_t from, size_t to)
{
	int64_t least = line[from];

	for (size_t i = from + 1; i < to; i++)
		least = line[i] < least ? line[i] : least;
	return least;
}

bool footprint_grows(const int64_t *line, size_t n)
{
	int64_t of[4];

	if (n < 8)
		return false;
	for (size_t i = 0; i < 4; i++) {
		of[i] = least(line, n * i / 4, n * (i + 1) / 4);
		if (i > 0 && of[i] <= of[i - 1])
			return false;
	}
	return of[3] - of[0] > of[0] / 4;
}

void footprint_move_in_lines(struct footprint *m, int64_t cursor_ns, const int64_t *lines,
			     uint32_t n, uint32_t slot)
{
	m->lens.cursor_ns = cursor_ns;
	m->total[FOOTPRINT_LIVE] = 0;
	for (uint32_t i = 0; i < m->n_sites; i++) {
		struct footprint_site *site = &m->site[i];

		site->sum[FOOTPRINT_LIVE] = lines[(size_t)site->row * n + slot];
		add(&m->total[FOOTPRINT_LIVE], site->sum[FOOTPRINT_LIVE]);
	}
}

void footprint_move_to_peak(struct footprint *m)
{
	m->lens.cursor_ns = m->peak_ns;
	m->total[FOOTPRINT_LIVE] = m->total[FOOTPRINT_PEAK];
	for (uint32_t i = 0; i < m->n_sites; i++)
		m->site[i].sum[FOOTPRINT_LIVE] = m->site[i].sum[FOOTPRINT_PEAK];
}

/* Where the filter speaks of time, what changed between. */
static int find_change(struct footprint *m, struct progress *progress, int64_t **out)
{
	int64_t from, to;

	m->in_range = filter_times(m->lens.filter, &from, &to);
	*out = m->in_range ? xcalloc(m->counts.n_stacks, sizeof(**out)) : NULL;
	return m->in_range ? heap_change(m->profile, &m->counts, &m->lens, from, to, progress, *out)
			   : 0;
}

static int take_weights(struct footprint *m, const struct weights *w, struct progress *progress)
{
	int64_t *change;
	int rc = find_change(m, progress, &change);

	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		m->total[c] = weighed(m, w->total, c);
		m->scale[c] = weighed(m, w->scale, c);
	}
	m->peak_ns = w->peak_ns;
	m->whole_ns = w->begin_ns == TIME_NONE ? 0 : w->end_ns - w->begin_ns;
	for (uint32_t i = 0; change && i < w->n_stacks; i++)
		m->total[FOOTPRINT_CHANGE] += change[i];
	make_sites(m, w, change);
	free(change);
	footprint_sort(m, FOOTPRINT_LIVE);
	return rc;
}

static struct footprint *begin(const struct profile *p, const struct profile_counts *counts,
			       const struct lens *lens, event_id event)
{
	struct footprint *m = xcalloc(1, sizeof(*m));

	m->profile = p;
	m->counts = *counts;
	set_lens(m, lens, event);
	keys_init(&m->keys, p, &m->counts, GROUP_FUNCTION);
	return m;
}

int footprint_new(const struct profile *p, const struct profile_counts *counts,
		  const struct lens *lens, event_id event, struct progress *progress,
		  struct footprint **out)
{
	struct footprint *m = begin(p, counts, lens, event);
	struct weights w;
	int rc = weigh(m->profile, &m->counts, &m->lens, progress, &w);

	if (rc == 0)
		rc = take_weights(m, &w, progress);
	weights_done(&w);
	if (rc < 0)
		footprint_free(m);
	else
		*out = m;
	return rc;
}

/* The lens' column, then those of a footprint that it is not; says in m which is which. */
static struct lens both_lenses(struct footprint *m, const struct lens *lens)
{
	struct lens both = *lens; /* filters are borrowed */

	for (uint32_t i = 0; i < FOOTPRINT_N_COLUMNS; i++) {
		m->column_of[i] = 0;
		if (measures[i] == lens->column[0].metric.measure)
			continue;
		m->column_of[i] = both.n_columns;
		both.column[both.n_columns++] = m->lens.column[i];
	}
	return both;
}

/* Leaves the first column of weights alone. */
static void keep_first(struct weights *w)
{
	int64_t *first = xmalloc(w->n_stacks * sizeof(*first));

	for (uint32_t i = 0; i < w->n_stacks; i++)
		first[i] = w->stack[(size_t)i * w->n_columns];
	free(w->stack);
	w->stack = first;
	for (uint32_t c = 1; c < w->n_columns; c++)
		w->total[c] = w->whole[c] = w->scale[c] = 0;
	w->n_columns = 1;
}

int footprint_weigh(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, struct progress *progress, struct weights *w,
		    struct footprint **out)
{
	struct metric metric = lens->column[0].metric;
	struct footprint *m = NULL;
	struct lens both = *lens;
	int rc;

	if (lens->n_columns == 1 && !lens->column[0].filter && metric.event.v < counts->n_events &&
	    profile_event(p, metric.event)->is_heap) {
		m = begin(p, counts, lens, metric.event);
		both = both_lenses(m, lens);
	}
	rc = weigh(p, counts, &both, progress, w);
	if (m && rc == 0) {
		rc = take_weights(m, w, progress);
		if (metric.measure != MEASURE_PEAK)
			w->peak_ns = TIME_NONE;
		keep_first(w);
	}
	if (rc < 0) {
		footprint_free(m);
		m = NULL;
	}
	*out = m;
	return rc;
}

void footprint_free(struct footprint *m)
{
	if (!m)
		return;
	free(m->site);
	free(m->site_of_stack);
	keys_done(&m->keys);
	lens_done(&m->lens);
	free(m);
}
