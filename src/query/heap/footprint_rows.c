/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/footprint_rows.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "query/core/filter.h"
#include "query/core/heap_aggregate.h"
#include "query/core/sample_scan.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_change.h"
#include "query/heap/heap_sites.h"

#include <stdlib.h>
#include <string.h>

/* Frames of a stack in the words of a row. */
#define STACK_FRAMES 8u

/* What rows are put together from: stacks, or keys of groups of samples. */
struct things {
	uint32_t n;
	const int64_t *sum; /* [n][n_columns] */
	uint32_t n_columns;
	const uint32_t *column_of; /* [FOOTPRINT_N_COLUMNS] */
	int64_t *change;           /* [n]; NULL: nobody asks; owned */
};

/* Sites while they are found: those of equal frames are one. */
struct found_sites {
	VEC(struct footprint_site) site;
	struct map by_frame;
	VEC(int64_t) most; /* [site.n] bytes of its stack that allocated most */
};

static bool is_of_keys(const struct footprint *m)
{
	return !grouping_of_frames(m->rows->grouping);
}

/* Are rows lines of functions, as where nobody asks for something else? */
static bool is_of_sites(const struct footprint *m)
{
	return m->lens.heap_rows != HEAP_ROWS_FUNCTIONS && m->lens.heap_rows != HEAP_ROWS_STACKS &&
	       m->rows == &m->keys;
}

void footprint_rows_init(struct footprint *m)
{
	enum grouping g = m->lens.grouping;

	m->rows = &m->keys;
	if (g == GROUP_FUNCTION || g == GROUP_LINE || m->lens.heap_rows == HEAP_ROWS_STACKS ||
	    m->lens.heap_rows == HEAP_ROWS_SIZES)
		return;
	groups_init_named(&m->own_rows, m->profile, &m->counts, g, m->lens.names);
	m->rows = &m->own_rows;
}

const char *footprint_rows_name(const struct footprint *m)
{
	if (is_of_sites(m))
		return "site";
	return m->lens.heap_rows == HEAP_ROWS_STACKS ? "stack" : grouping_name(m->rows->grouping);
}

const char *footprint_rows_title(const struct footprint *m)
{
	return footprint_rows_of_functions(m) ? "WHERE" : grouping_title(m->rows->grouping);
}

bool footprint_rows_of_functions(const struct footprint *m)
{
	return m->rows == &m->keys;
}

static int64_t sum_of(const struct things *t, uint32_t i, int column)
{
	return t->sum[(size_t)i * t->n_columns + t->column_of[column]];
}

static bool same_site(const void *things, uint32_t value, const void *key)
{
	const struct found_sites *f = things;
	const struct footprint_site *at = &f->site.at[value];
	const struct heap_site *site = key;

	return at->key == site->key && at->line == site->line && at->file == site->file;
}

static uint32_t add_site(struct found_sites *f, const struct heap_site *site)
{
	uint32_t at = (uint32_t)f->site.n;

	vec_push(&f->site, ((struct footprint_site){
				   .key = site->key,
				   .file = site->file,
				   .line = site->line,
				   .row = at,
			   }));
	vec_push(&f->most, 0);
	return at;
}

static uint32_t find_site(struct found_sites *f, const struct heap_site *site)
{
	uint64_t hash = hash_u64(hash_pair(site->file, site->line) + site->key);
	uint32_t at = map_find(&f->by_frame, hash, same_site, f, site);

	if (at != MAP_NONE)
		return at;
	map_add(&f->by_frame, hash, (uint32_t)f->site.n);
	return add_site(f, site);
}

/* The row that a function is of, where rows are modules or files. */
static uint32_t key_of_function(const struct footprint *m, uint32_t key)
{
	uint32_t id = m->keys.key[key].id;

	if (id & KEY_OF_MODULE)
		return groups_of_frame(m->rows, ID_NONE, id & ~KEY_OF_MODULE);
	return groups_of_frame(m->rows, id, 0);
}

/* Which frame stands for each thing; the caller frees. */
static struct heap_site *find_sites(const struct footprint *m, const struct things *t)
{
	struct heap_site *of;

	if (is_of_keys(m)) {
		of = xcalloc(t->n, sizeof(*of));
		for (uint32_t i = 0; i < t->n; i++)
			of[i].key = i;
		return of;
	}
	of = heap_sites(m->profile, &m->counts, &m->keys, m->lens.inlines);
	for (uint32_t i = 0; i < t->n; i++) {
		if (of[i].key == KEY_NONE || is_of_sites(m) ||
		    m->lens.heap_rows == HEAP_ROWS_STACKS)
			continue;
		of[i].file = of[i].line = 0;
		if (m->rows != &m->keys)
			of[i].key = key_of_function(m, of[i].key);
	}
	return of;
}

static void make_sites(struct footprint *m, const struct things *t)
{
	bool one_each = m->lens.heap_rows == HEAP_ROWS_STACKS;
	struct heap_site *of = find_sites(m, t);
	struct found_sites f = { 0 };

	m->row_of_thing = xmalloc(t->n * sizeof(*m->row_of_thing));
	for (uint32_t i = 0; i < t->n; i++) {
		int64_t bytes = sum_of(t, i, FOOTPRINT_BYTES);
		struct footprint_site *site;
		uint32_t at;

		m->row_of_thing[i] = ID_NONE;
		if (of[i].key == KEY_NONE ||
		    (sum_of(t, i, FOOTPRINT_CALLS) == 0 && (!t->change || t->change[i] == 0)))
			continue;
		at = one_each ? add_site(&f, &of[i]) : find_site(&f, &of[i]);
		m->row_of_thing[i] = at;
		site = &f.site.at[at];
		for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
			site->sum[c] += sum_of(t, i, c);
		site->asked = site->sum[FOOTPRINT_LIVE];
		site->sum[FOOTPRINT_CHANGE] += t->change ? t->change[i] : 0;
		if (bytes >= f.most.at[at] && !is_of_keys(m)) {
			f.most.at[at] = bytes;
			site->stack = i;
		}
	}
	m->n_sites = (uint32_t)f.site.n;
	m->site = xcalloc(f.site.n, sizeof(*m->site));
	m->by_row = xcalloc(f.site.n, sizeof(*m->by_row));
	if (f.site.n) {
		memcpy(m->site, f.site.at, f.site.n * sizeof(*m->site));
		memcpy(m->by_row, f.site.at, f.site.n * sizeof(*m->by_row));
	}
	vec_done(&f.site);
	vec_done(&f.most);
	map_done(&f.by_frame);
	free(of);
}

/* Which thing an origin's allocations are of, ID_NONE: of none. */
static uint32_t thing_of_origin(const struct footprint *m, const struct heap_origin *o)
{
	struct heap_track t;

	if (!is_of_keys(m))
		return o->stack < m->counts.n_stacks ? o->stack : ID_NONE;
	t = profile_heap_track_of(m->profile, &m->counts, (track_id){ o->track });
	return heap_key_of_origin(m->profile, m->rows, o, t.process);
}

uint32_t *footprint_rows_of_origins(const struct footprint *m, const struct heap_columns *c)
{
	uint32_t *row = xmalloc(c->n_origins * sizeof(*row));

	for (uint32_t i = 0; i < c->n_origins; i++) {
		uint32_t thing = thing_of_origin(m, &c->origins[i]);

		row[i] = thing == ID_NONE ? ID_NONE : m->row_of_thing[thing];
	}
	return row;
}

/* Where the filter speaks of time, what changed between. */
static int find_change(struct footprint *m, struct things *t, struct progress *progress)
{
	struct heap_columns c;
	int64_t from, to, *by_origin;
	int rc;

	m->in_range = filter_times(m->lens.filter, &from, &to);
	if (!m->in_range)
		return 0;
	profile_heap_of(m->profile, &m->counts, &c);
	t->change = xcalloc(t->n, sizeof(*t->change));
	by_origin = xcalloc(c.n_origins, sizeof(*by_origin));
	rc = heap_change(m->profile, &m->counts, &m->lens, from, to, progress, by_origin);
	for (uint32_t i = 0; i < c.n_origins && rc == 0; i++) {
		uint32_t thing = by_origin[i] ? thing_of_origin(m, &c.origins[i]) : ID_NONE;

		if (thing == ID_NONE)
			continue;
		if (__builtin_add_overflow(t->change[thing], by_origin[i], &t->change[thing]))
			t->change[thing] = by_origin[i] < 0 ? INT64_MIN : INT64_MAX;
		m->total[FOOTPRINT_CHANGE] += by_origin[i];
	}
	free(by_origin);
	return rc;
}

/* Of keys of groups of samples, in a pass of its own; the caller frees *self. */
static int weigh_keys(const struct footprint *m, struct progress *progress, int64_t **self)
{
	uint32_t n = m->rows->n;
	struct table_sums s = { .keys = m->rows, .n_columns = FOOTPRINT_N_COLUMNS };
	struct sample_scan *r;
	int rc = sample_scan_new(m->profile, &m->counts, &m->lens, progress, &r);

	*self = NULL;
	if (rc < 0)
		return rc;
	s.self = xcalloc((size_t)n * s.n_columns, sizeof(*s.self));
	s.n_samples = xcalloc(n, sizeof(*s.n_samples));
	s.wanted = xcalloc(n, sizeof(*s.wanted));
	rc = heap_aggregate_table(m->profile, r, progress, &s);
	sample_scan_free(r);
	free(s.n_samples);
	free(s.wanted);
	*self = s.self;
	return rc;
}

int footprint_rows_make(struct footprint *m, const struct weights *w, struct progress *progress)
{
	static const uint32_t in_order[FOOTPRINT_N_COLUMNS] = { 0, 1, 2, 3, 4, 5 };
	struct things t = { w->n_stacks, w->stack, w->n_columns, m->column_of, NULL };
	int64_t *self = NULL;
	int rc = 0;

	if (is_of_keys(m)) {
		rc = weigh_keys(m, progress, &self);
		t = (struct things){ m->rows->n, self, FOOTPRINT_N_COLUMNS, in_order, NULL };
	}
	if (rc == 0)
		rc = find_change(m, &t, progress);
	if (rc == 0)
		make_sites(m, &t);
	free(t.change);
	free(self);
	return rc;
}

/* Where every stack of a program begins says nothing. */
static bool is_begin(const char *label)
{
	return strcmp(label, "_start") == 0 || strncmp(label, "__libc_start", 12) == 0;
}

/* "< g < main": the callers of a site, innermost first; the caller frees. */
static char *callers_of(const struct footprint *m, uint32_t site, uint32_t stack)
{
	bool behind = false; /* is it outside of the site's frame? */
	struct location_columns l;
	struct stack_columns s;
	char *out = xstrdup("");
	uint32_t n = 0;

	profile_locations(m->profile, &l);
	profile_stacks_of(m->profile, &m->counts, &s);
	for (; stack != 0 && n < STACK_FRAMES; stack = s.parent[stack]) {
		uint32_t at = s.location[stack], module = l.module[at];
		const struct frame *f = m->lens.inlines ? location_frames(&l, at) : NULL;

		for (uint32_t i = f ? f->n_more + 1 : 1; i-- > 0 && n < STACK_FRAMES;) {
			uint32_t function = f ? f[i].function : location_function(&l, at);
			uint32_t key = groups_of_frame(&m->keys, function, module);
			const char *label = m->keys.key[key].label;
			char *more;

			if (behind && !is_begin(label) &&
			    !(m->keys.key[key].flags & FUNCTION_COMM)) {
				more = xasprintf("%s%s< %s", out, n++ ? " " : "", label);
				free(out);
				out = more;
			}
			behind |= key == site;
		}
	}
	return out;
}

char *footprint_rows_apart(const struct footprint *m, uint32_t key, uint32_t stack)
{
	char detail[FMT_SIZE];

	if (m->lens.heap_rows == HEAP_ROWS_STACKS)
		return callers_of(m, key, stack);
	return xstrdup(is_of_keys(m) ? key_detail(m->rows, m->profile, key, detail) : "");
}

char *footprint_rows_behind(const struct footprint *m, uint32_t site)
{
	const struct footprint_site *s = &m->site[site];
	char *apart = footprint_rows_apart(m, s->key, s->stack), *out;

	out = xasprintf("%s%s%s", apart, *apart && *m->rows->key[s->key].module ? "  " : "",
			m->rows->key[s->key].module);
	free(apart);
	return out;
}
