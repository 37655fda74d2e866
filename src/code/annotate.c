/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights by line come from the frames that the profile has, so that they agree with every other view;
 * the instructions add lines that nobody was seen at. Inlined calls are a small tree below each line.
 */
#include "config.h"

#include "code/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/annotation.h"
#include "code/listing.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/task.h"
#include "query/analysis.h"
#include "symbols/search/debuginfod.h"
#include "symbols/search/resolver_options.h"

#define GAP_LINES     40u     /* more between two lines of the function are left out */
#define CONTEXT_LINES 2u      /* that are shown around lines then */
#define HEAD_LINES    100u    /* at most so far before the first line the declaration may be */
#define FETCH_MAX     4u      /* files that servers are asked for */
#define SOURCES_MAX   100000u /* lines of source of one function */

/* A line of the function's own. */
struct own_line {
	uint32_t path; /* in the listing's paths */
	uint32_t line;
	uint32_t weighed; /* in code_weights.line, or ANNOTATION_NONE */
};

/* A position in a function that was inlined. */
struct inline_at {
	uint32_t path, line; /* path in the listing's paths */
	int64_t total;       /* of column 0 */
};

/* Of calls inlined into each other so many are told apart; what is deeper belongs to the last. */
#define MOST_INLINED 256u

/* What was inlined: a function below a line, or below such a node. */
struct inline_node {
	uint32_t function;    /* function_id */
	uint32_t source;      /* the line that it is below */
	uint32_t parent;      /* the node, or ANNOTATION_NONE right below the line */
	uint32_t first, next; /* a child, a sibling; ANNOTATION_NONE */
	uint32_t numbers;
	VEC(struct inline_at) at; /* owned */
};

/* The rows of one file in an annotation's sources. */
struct source_rows {
	uint32_t first, end;
};

struct maker {
	const struct analysis *of;
	const struct annotate_options *o;
	struct annotation *a;
	struct code_weights w;
	struct groups own_keys; /* by function, where the analysis groups otherwise */
	struct listing l;
	struct location_columns locations;
	VEC(struct own_line) lines;
	VEC(struct inline_node) nodes;
	struct map node_index; /* of nodes, by node_key */
	VEC(uint32_t) in_node; /* the nodes of each address, one address after the other */
	uint32_t *first_node;  /* [n sources] of the lines' inlined calls, or ANNOTATION_NONE */
	struct debuginfod *servers; /* NULL: not asked yet; owned */
	uint32_t n_fetched;         /* files that they were asked for */
	struct progress *progress;
	struct source_file
		*files; /* [l.paths.n] opened so far; state MISSING and no why: not yet */
	struct source_rows *of_path; /* [l.paths.n] */
};

/* --- lines --------------------------------------------------------------------------------- */

static const char *text_of(const struct maker *m, uint32_t string)
{
	return profile_string(m->of->profile, (string_id){ string }, NULL);
}

static void add_line(struct maker *m, uint32_t path, uint32_t line, uint32_t weighed)
{
	vec_push(&m->lines, ((struct own_line){ path, line, weighed }));
}

static void collect_lines(struct maker *m)
{
	const struct listing *l = &m->l;

	for (uint32_t i = 0; i < m->w.n_lines; i++)
		add_line(m, listing_path(&m->l, text_of(m, m->w.line[i].file)), m->w.line[i].line,
			 i);
	for (size_t i = 0; i < l->own.n; i++)
		if (l->own.at[i].path != ANNOTATION_NONE)
			add_line(m, l->own.at[i].path, l->own.at[i].line, ANNOTATION_NONE);
}

/* Files by what was spent in them, lines by number, and of one line the weighed one first. */
struct rank {
	const struct maker *m;
	int64_t *weight; /* [n paths] */
};

static int by_place(const void *x, const void *y, void *arg)
{
	const struct own_line *a = x, *b = y;
	const struct rank *r = arg;

	if (a->path != b->path) {
		int64_t wa = r->weight[a->path], wb = r->weight[b->path];

		return wa != wb ? (wa > wb ? -1 : 1) : a->path < b->path ? -1 : 1;
	}
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->weighed < b->weighed ? -1 : a->weighed > b->weighed;
}

static void sort_lines(struct maker *m)
{
	struct rank r = { m, xcalloc(m->l.paths.n + 1, sizeof(int64_t)) };
	size_t n = 0;

	for (size_t i = 0; i < m->lines.n; i++)
		if (m->lines.at[i].weighed != ANNOTATION_NONE)
			r.weight[m->lines.at[i].path] +=
				m->w.line_total[(size_t)m->lines.at[i].weighed * m->w.n_columns];
	if (m->lines.n > 0)
		qsort_r(m->lines.at, m->lines.n, sizeof(*m->lines.at), by_place, &r);
	for (size_t i = 0; i < m->lines.n; i++) {
		const struct own_line *l = &m->lines.at[i];

		if (n == 0 || m->lines.at[n - 1].path != l->path ||
		    m->lines.at[n - 1].line != l->line)
			m->lines.at[n++] = *l;
	}
	m->lines.n = n;
	free(r.weight);
}

/* --- files --------------------------------------------------------------------------------- */

static const uint8_t *md5_of_build(const struct listing_build *b)
{
	return b->has_md5 ? b->md5 : NULL;
}

/* What a file is compared with that has one state only: where there is a side before, that one. */
static const struct listing_build *first_build(const struct listing_path *p)
{
	return &p->build[p->build[SIDE_BEFORE].known ? SIDE_BEFORE : SIDE_AFTER];
}

static void open_for(struct maker *m, struct source_file *f, const char *path,
		     const struct listing_build *b)
{
	struct source_options where = m->o->sources;

	where.packed = m->of->profile;
	source_file_open(f, path, &where, md5_of_build(b), b->built_ns);
}

static struct source_file *open_source(struct maker *m, uint32_t path)
{
	const struct listing_path *p = &m->l.paths.at[path];
	struct source_file *f = &m->files[path];

	if (!f->path && !f->why)
		open_for(m, f, p->path, first_build(p));
	return f;
}

static bool tick(void *progress, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return !progress_cancelled(progress);
}

/* Asks the servers for a file of the function's own lines that is not here, where the user lets us. */
static void fetch_source(struct maker *m, uint32_t path, struct source_file *f)
{
	const struct listing_path *p = &m->l.paths.at[path];
	char *found = NULL;

	if (f->state != SOURCE_MISSING || !m->o->symbols->debug_servers || p->of.n == 0 ||
	    p->path[0] != '/' || m->n_fetched++ >= FETCH_MAX)
		return;
	if (!m->servers)
		m->servers = debuginfod_new(NULL);
	if (m->servers &&
	    debuginfod_fetch_source(m->servers, &p->of, p->path, tick, m->progress, &found) == 0)
		source_file_take(f, found, md5_of_build(first_build(p)));
	free(found);
}

static const char *keep(struct maker *m, char *text)
{
	char *kept = arena_strndup(&m->a->texts, text, strlen(text));

	free(text);
	return kept;
}

static const char *line_text(struct maker *m, uint32_t path, uint32_t line)
{
	const char *text = source_file_line(open_source(m, path), line);

	return text ? arena_strndup(&m->a->texts, text, strlen(text)) : NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_doubtful(enum source_state state)
{
	return state == SOURCE_DIFFERENT || state == SOURCE_NEWER;
}

/* What the file that is here is to the programs of the second side. */
static enum source_state state_after(struct maker *m, uint32_t path, const struct source_file *f,
				     bool fetched)
{
	const struct listing_build *b = &m->l.paths.at[path].build[SIDE_AFTER];
	struct source_file again = { .state = SOURCE_MISSING };
	enum source_state state;

	if (fetched)
		source_file_take(&again, f->path, md5_of_build(b));
	else
		open_for(m, &again, m->l.paths.at[path].path, b);
	state = again.state;
	source_file_done(&again);
	return state;
}

/* Why a file's lines may be others, and in a comparison of which side where it is of one; NULL: nothing says so. */
static const char *doubt(struct maker *m, uint32_t path, const struct source_file *f, bool fetched)
{
	const struct listing_build *b = m->l.paths.at[path].build;
	enum source_state before = f->state, after = SOURCE_MISSING, state;
	const char *side = "";

	if (b[SIDE_BEFORE].known && b[SIDE_AFTER].known)
		after = state_after(m, path, f, fetched);
	else if (b[SIDE_AFTER].known)
		after = before, before = SOURCE_MISSING;
	if (!is_doubtful(before) && !is_doubtful(after))
		return NULL;
	state = is_doubtful(before) ? before : after;
	if (m->of->diff && !is_doubtful(after))
		side = "BEFORE: ";
	else if (m->of->diff && !is_doubtful(before))
		side = "AFTER: ";
	return keep(m, state == SOURCE_DIFFERENT
			       ? xasprintf("%s%s is not what was compiled (its MD5 differs): "
					   "lines may be others",
					   side, f->path)
			       : xasprintf("%s%s was changed after the program was built: lines "
					   "may be others",
					   side, f->path));
}

static uint32_t add_file(struct maker *m, uint32_t path)
{
	struct source_file *f = open_source(m, path);
	struct annotation_file file = { .path = m->l.paths.at[path].path };
	bool here = f->state != SOURCE_MISSING;

	fetch_source(m, path, f);
	file.name = last_part(file.path);
	file.found = f->path ? arena_strndup(&m->a->texts, f->path, strlen(f->path)) : NULL;
	if (f->state == SOURCE_MISSING)
		file.why = keep(m, xasprintf("source %s: %s; --source DIR or --source-map FROM=TO "
					     "says where it is",
					     file.path, f->why));
	else
		file.warning = doubt(m, path, f, !here);
	vec_push(&m->a->files, file);
	return (uint32_t)m->a->files.n - 1;
}

/* --- sources ------------------------------------------------------------------------------- */

static void add_source(struct maker *m, uint32_t file, uint32_t path, uint32_t line, bool gap,
		       uint32_t weighed)
{
	struct annotation_source s = { .file = file,
				       .line = line,
				       .text = line_text(m, path, line),
				       .numbers = ANNOTATION_NONE,
				       .gap = gap };
	uint32_t n = m->w.n_columns;

	if (weighed != ANNOTATION_NONE) {
		int64_t *to;

		s.numbers = annotation_add_numbers(m->a);
		to = m->a->numbers.at + (size_t)s.numbers * 2 * n;
		memcpy(to, m->w.line_self + (size_t)weighed * n, n * sizeof(*to));
		memcpy(to + n, m->w.line_total + (size_t)weighed * n, n * sizeof(*to));
	}
	vec_push(&m->a->sources, s);
}

/* The lines lines[from..to) of one file, with those between them. */
static void add_sources_of(struct maker *m, size_t from, size_t to)
{
	uint32_t path = m->lines.at[from].path, file = add_file(m, path), next = 0;
	uint32_t n_lines = m->files[path].n_lines;
	bool known = n_lines > 0;

	for (size_t i = from; i < to && m->a->sources.n < SOURCES_MAX; i++) {
		const struct own_line *l = &m->lines.at[i];
		uint32_t begin = l->line, after = i + 1 < to ? m->lines.at[i + 1].line : 0;
		uint32_t end = l->line + CONTEXT_LINES;
		bool first = i == from, gap;

		if (!known && l->weighed == ANNOTATION_NONE)
			continue;
		if (!known) {
			add_source(m, file, path, l->line, !first && l->line > next, l->weighed);
			next = l->line + 1;
			continue;
		}
		gap = !first && l->line - next > GAP_LINES;
		if (first || gap)
			begin = l->line > CONTEXT_LINES ? l->line - CONTEXT_LINES : 1;
		else
			begin = next;
		if (first)
			gap = false;
		for (uint32_t k = begin; k < l->line && k <= n_lines; k++)
			add_source(m, file, path, k, gap && k == begin, ANNOTATION_NONE);
		add_source(m, file, path, l->line, gap && begin == l->line, l->weighed);
		next = l->line + 1;
		/* What follows the last line before a gap. */
		if (after == 0 || after - next > GAP_LINES)
			for (; next <= end && next <= n_lines; next++)
				add_source(m, file, path, next, false, ANNOTATION_NONE);
	}
}

/* The line where the function is declared, when it is just before the first of its lines. */
static void add_declaration(struct maker *m)
{
	struct annotation *a = m->a;
	uint32_t path, least = UINT32_MAX;

	if (!a->declared || a->declared_line == 0)
		return;
	path = listing_path(&m->l, a->declared);
	for (size_t i = 0; i < m->lines.n; i++)
		if (m->lines.at[i].path == path && m->lines.at[i].line < least)
			least = m->lines.at[i].line;
	if (least != UINT32_MAX && least > a->declared_line &&
	    least - a->declared_line <= HEAD_LINES)
		add_line(m, path, a->declared_line, ANNOTATION_NONE);
}

static void make_sources(struct maker *m)
{
	struct source_rows *rows;

	collect_lines(m);
	add_declaration(m);
	sort_lines(m);
	m->files = xcalloc(m->l.paths.n + 1, sizeof(*m->files));
	m->of_path = xcalloc(m->l.paths.n + 1, sizeof(*m->of_path));
	for (size_t from = 0, to; from < m->lines.n; from = to) {
		for (to = from + 1;
		     to < m->lines.n && m->lines.at[to].path == m->lines.at[from].path; to++)
			;
		rows = &m->of_path[m->lines.at[from].path];
		rows->first = (uint32_t)m->a->sources.n;
		add_sources_of(m, from, to);
		rows->end = (uint32_t)m->a->sources.n;
	}
}

/* The source row of a position, or ANNOTATION_NONE. */
static uint32_t find_source(const struct maker *m, uint32_t path, uint32_t line)
{
	const struct annotation *a = m->a;
	uint32_t low = m->of_path[path].first, end = m->of_path[path].end, high = end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (a->sources.at[mid].line < line)
			low = mid + 1;
		else
			high = mid;
	}
	return low < end && a->sources.at[low].line == line ? low : ANNOTATION_NONE;
}

static void link_code(struct maker *m)
{
	struct annotation *a = m->a;

	for (size_t i = 0; i < a->code.n; i++) {
		struct annotation_code *c = &a->code.at[i];
		const struct listing_own *own = &m->l.own.at[i];

		if (own->path != ANNOTATION_NONE)
			c->source = find_source(m, own->path, own->line);
		if (!c->path)
			continue;
		if (i > 0 && c[-1].path == c->path && c[-1].line == c->line)
			c->at = c[-1].at;
		else
			c->at = line_text(m, listing_path(&m->l, c->path), c->line);
	}
}

/* --- inlined calls ------------------------------------------------------------------------- */

/* What a node is found by: its function, below a line (parent ANNOTATION_NONE) or a node. */
struct node_key {
	uint32_t source, parent, function;
};

static bool is_node(const void *things, uint32_t value, const void *key)
{
	const struct maker *m = things;
	const struct inline_node *n = &m->nodes.at[value];
	const struct node_key *k = key;

	return n->function == k->function && n->parent == k->parent &&
	       (k->parent != ANNOTATION_NONE || n->source == k->source);
}

/* The node of a function below a line (parent ANNOTATION_NONE) or a node. */
static uint32_t node_of(struct maker *m, uint32_t source, uint32_t parent, uint32_t function)
{
	uint32_t *first = parent == ANNOTATION_NONE ? &m->first_node[source]
						    : &m->nodes.at[parent].first;
	const struct node_key key = { source, parent, function };
	bool below_line = parent == ANNOTATION_NONE;
	uint64_t hash = hash_pair(below_line ? source : ~parent, function);
	uint32_t at = map_find(&m->node_index, hash, is_node, m, &key);
	struct inline_node n = { .function = function,
				 .source = source,
				 .parent = parent,
				 .first = ANNOTATION_NONE,
				 .next = *first };

	if (at != ANNOTATION_NONE)
		return at;
	n.numbers = annotation_add_numbers(m->a);
	at = (uint32_t)m->nodes.n;
	*first = at;
	vec_push(&m->nodes, n);
	map_add(&m->node_index, hash, at);
	return at;
}

static void note_position(struct maker *m, struct inline_node *n, const struct frame *f,
			  int64_t total)
{
	uint32_t path;

	if (f->line == 0)
		return;
	path = listing_path(&m->l, text_of(m, f->file));
	for (size_t i = 0; i < n->at.n; i++) {
		if (n->at.at[i].path != path || n->at.at[i].line != f->line)
			continue;
		n->at.at[i].total += total;
		return;
	}
	vec_push(&n->at, ((struct inline_at){ path, f->line, total }));
}

/* The first frame of the function itself from f[k] on; n: none. */
static uint32_t own_from(const struct maker *m, uint32_t module, const struct frame *f, uint32_t k,
			 uint32_t n)
{
	while (k < n && groups_of_frame(m->l.keys, f[k].function, module) != m->l.key)
		k++;
	return k;
}

/* The calls f(k..last] of address i below the line of f[k]; self: it ends in the last of them. */
static void add_calls(struct maker *m, uint32_t i, const struct frame *f, uint32_t k, uint32_t last,
		      bool self)
{
	uint32_t n_columns = m->w.n_columns, source, node = ANNOTATION_NONE;

	if (f[k].line == 0)
		return;
	source = find_source(m, listing_path(&m->l, text_of(m, f[k].file)), f[k].line);
	if (source == ANNOTATION_NONE)
		return;
	if (last > k + MOST_INLINED)
		last = k + MOST_INLINED;
	for (uint32_t j = k + 1; j <= last; j++) {
		int64_t *numbers;

		node = node_of(m, source, node, f[j].function);
		numbers = m->a->numbers.at + (size_t)m->nodes.at[node].numbers * 2 * n_columns;
		for (uint32_t col = 0; self && col < n_columns && j == last; col++)
			numbers[col] += m->w.address_self[(size_t)i * n_columns + col];
		vec_push(&m->in_node, node);
		note_position(m, &m->nodes.at[node], &f[j],
			      m->w.address_total[(size_t)i * n_columns]);
	}
}

/*
 * One address: it is in the sets of all inlined calls around it. A function that was inlined into itself begins anew: what is further
 * in stands below its own line there, and counts as self only once.
 */
static void add_run(struct maker *m, uint32_t i)
{
	const struct code_address *c = &m->w.address[i];
	const struct frame *f = location_frames(&m->locations, c->location);
	uint32_t n, k, next;

	if (!f)
		return;
	n = f->n_more + 1;
	for (k = own_from(m, c->module, f, 0, n); k < n; k = next) {
		next = own_from(m, c->module, f, k + 1, n);
		add_calls(m, i, f, k, next < n ? next : n - 1, next == n);
	}
}

static int64_t weight_of(const struct maker *m, uint32_t node)
{
	return annotation_total(m->a, m->nodes.at[node].numbers)[0];
}

/* Siblings, the heaviest first. */
static uint32_t sorted(struct maker *m, uint32_t first)
{
	uint32_t out = ANNOTATION_NONE;

	while (first != ANNOTATION_NONE) {
		uint32_t node = first, *at = &out;

		first = m->nodes.at[node].next;
		while (*at != ANNOTATION_NONE && weight_of(m, *at) >= weight_of(m, node))
			at = &m->nodes.at[*at].next;
		m->nodes.at[node].next = *at;
		*at = node;
	}
	return out;
}

/* No deeper than MOST_INLINED. */
static void give_out(struct maker *m, uint32_t first, uint32_t depth)
{
	const struct profile *p = m->of->profile;

	for (uint32_t at = sorted(m, first); at != ANNOTATION_NONE; at = m->nodes.at[at].next) {
		const struct inline_node *n = &m->nodes.at[at];
		struct annotation_inline out = { .depth = depth, .numbers = n->numbers };
		const struct inline_at *best = NULL;

		for (size_t i = 0; i < n->at.n; i++)
			if (!best || n->at.at[i].total > best->total)
				best = &n->at.at[i];
		out.function = profile_string(
			p, profile_function(p, (function_id){ n->function })->name, NULL);
		if (best) {
			out.path = m->l.paths.at[best->path].path;
			out.file_name = last_part(out.path);
			out.line = best->line;
			out.text = line_text(m, best->path, best->line);
		}
		vec_push(&m->a->inlines, out);
		give_out(m, n->first, depth + 1);
	}
}

/* first[i] is where the nodes of address i begin in in_node. */
static void total_inlines(struct maker *m, const uint32_t *first)
{
	uint32_t n = (uint32_t)m->nodes.n, columns = m->w.n_columns;
	int64_t *total = xcalloc((size_t)n * columns + 1, sizeof(*total));

	code_weights_of_sets(&m->w, first, m->in_node.at, n, total);
	for (uint32_t i = 0; i < n; i++)
		memcpy(m->a->numbers.at + ((size_t)m->nodes.at[i].numbers * 2 + 1) * columns,
		       total + (size_t)i * columns, columns * sizeof(*total));
	free(total);
}

static void make_inlines(struct maker *m)
{
	struct annotation *a = m->a;
	uint32_t *first;

	if (!m->of->lens.inlines || a->sources.n == 0)
		return;
	m->first_node = xmalloc(a->sources.n * sizeof(*m->first_node));
	for (size_t i = 0; i < a->sources.n; i++)
		m->first_node[i] = ANNOTATION_NONE;
	first = xmalloc(((size_t)m->w.n_addresses + 1) * sizeof(*first));
	for (uint32_t i = 0; i < m->w.n_addresses; i++) {
		first[i] = (uint32_t)m->in_node.n;
		add_run(m, i);
	}
	first[m->w.n_addresses] = (uint32_t)m->in_node.n;
	total_inlines(m, first);
	free(first);
	for (size_t i = 0; i < a->sources.n; i++) {
		a->sources.at[i].first_inline = (uint32_t)a->inlines.n;
		give_out(m, m->first_node[i], 1);
		a->sources.at[i].n_inlines = (uint32_t)a->inlines.n - a->sources.at[i].first_inline;
	}
}

/* --- all ----------------------------------------------------------------------------------- */

static void say_function(struct maker *m)
{
	const struct profile *p = m->of->profile;
	struct annotation *a = m->a;
	uint32_t id = m->l.keys->key[m->l.key].id;
	const struct function *f;
	const char *file;

	a->function = m->l.keys->key[m->l.key].label;
	a->function = arena_strndup(&a->texts, a->function, strlen(a->function));
	a->module = m->l.keys->key[m->l.key].module;
	if (id & KEY_OF_MODULE)
		return;
	f = profile_function(p, (function_id){ id });
	file = profile_string(p, function_file(f), NULL);
	a->declared = *file ? file : NULL;
	a->declared_line = function_line(f);
}

static void say_numbers(struct maker *m)
{
	struct annotation *a = m->a;

	a->n_columns = m->w.n_columns;
	a->scoped = m->w.scoped;
	memcpy(a->scale, m->w.scale, sizeof(a->scale));
	memcpy(a->self, m->w.self, sizeof(a->self));
	memcpy(a->total, m->w.total, sizeof(a->total));
	memcpy(a->code_self, m->w.code, sizeof(a->code_self));
}

/* Compilers give code that they made by themselves no line: lines would seem to be all. */
static void say_no_line(struct maker *m)
{
	struct annotation *a = m->a;
	char share[FMT_SIZE];

	if (a->sources.n == 0)
		return;
	for (uint32_t c = 0; c < a->n_columns; c++) {
		a->no_line[c] = a->code_self[c];
		for (size_t i = 0; i < a->sources.n; i++)
			a->no_line[c] -= annotation_self(a, a->sources.at[i].numbers)[c];
		for (size_t i = 0; i < a->inlines.n; i++)
			a->no_line[c] -= annotation_self(a, a->inlines.at[i].numbers)[c];
	}
	if (a->no_line[0] > 0)
		a->no_line_text =
			keep(m, xasprintf("%s %% of what ended in its code is on no source line",
					  fmt_percent(share, a->no_line[0], a->code_self[0])));
}

/* Neither lines nor code: the first reason counts. */
static void say_nothing(struct annotation *a)
{
	if (a->sources.n > 0 || a->code.n > 0)
		return;
	a->nothing = "nothing of this function was sampled here";
	for (size_t i = 0; i < a->blocks.n; i++) {
		if (!a->blocks.at[i].why)
			continue;
		a->nothing = a->blocks.at[i].why;
		return;
	}
}

static bool find_key(struct maker *m, uint32_t key_id)
{
	m->l.keys = &m->of->keys;
	if (m->of->keys.grouping != GROUP_FUNCTION) {
		groups_init_named(&m->own_keys, m->of->profile, &m->of->counts, GROUP_FUNCTION,
				  m->of->lens.names);
		m->l.keys = &m->own_keys;
	}
	m->l.key = code_key(m->l.keys, key_id);
	return m->l.key != KEY_NONE;
}

static int make(struct maker *m, struct progress *progress)
{
	int rc;

	say_function(m);
	say_numbers(m);
	m->l.a = m->a;
	m->l.of = m->of;
	m->l.weights = &m->w;
	m->l.symbols = m->o->symbols;
	rc = listing_make(&m->l, progress);
	if (rc < 0)
		return rc;
	/* Paths that come later are of inlined code. */
	for (uint32_t i = 0; i < m->w.n_addresses; i++) {
		const struct frame *f = location_frames(&m->locations, m->w.address[i].location);

		for (uint32_t k = 0; f && k <= f->n_more; k++)
			if (f[k].line > 0)
				listing_path(&m->l, text_of(m, f[k].file));
	}
	make_sources(m);
	link_code(m);
	make_inlines(m);
	say_no_line(m);
	say_nothing(m->a);
	return 0;
}

static void done(struct maker *m)
{
	for (size_t i = 0; m->files && i < m->l.paths.n; i++)
		source_file_done(&m->files[i]);
	free(m->files);
	free(m->of_path);
	for (size_t i = 0; i < m->nodes.n; i++)
		vec_done(&m->nodes.at[i].at);
	map_done(&m->node_index);
	vec_done(&m->nodes);
	vec_done(&m->in_node);
	vec_done(&m->lines);
	free(m->first_node);
	debuginfod_free(m->servers);
	listing_done(&m->l);
	code_weights_done(&m->w);
	if (m->l.keys == &m->own_keys)
		groups_done(&m->own_keys);
}

int annotate(const struct analysis *a, const struct annotate_options *o,
	     const struct code_wish *wish, struct progress *progress, struct annotation **out)
{
	struct maker m = { .of = a, .o = o, .progress = progress };
	int rc = code_weights_init(a, wish, progress, &m.w);

	if (rc < 0)
		return rc;
	profile_locations(a->profile, &m.locations);
	m.a = annotation_new();
	m.a->wish = *wish;
	rc = find_key(&m, wish->key_id) ? make(&m, progress) : -ENOENT;
	done(&m);
	if (rc < 0)
		annotation_free(m.a);
	else
		*out = m.a;
	return rc;
}
