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

#include "base/bisect.h"
#include "base/compare.h"
#include "code/annotate_maker.h"
#include "code/source_programs.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/path.h"
#include "base/task.h"
#include "query/analysis.h"
#include "query/tree/transform.h"
#include "symbols/search/debuginfod.h"
#include "symbols/search/resolver_options.h"

#define GAP_LINES     40u     /* more between two lines of the function are left out */
#define CONTEXT_LINES 2u      /* that are shown around lines then */
#define HEAD_LINES    100u    /* at most so far before the first line the declaration may be */
#define FETCH_MAX     4u      /* files that servers are asked for */
#define SOURCES_MAX   100000u /* lines of source of one function */

/* --- lines --------------------------------------------------------------------------------- */

const char *maker_text(const struct maker *m, uint32_t string)
{
	return profile_string(m->of->profile, (string_id){ string }, NULL);
}

static void add_line(struct maker *m, uint32_t path, uint32_t line, uint32_t weighed)
{
	vec_push(&m->lines, ((struct own_line){ path, line, weighed, ANNOTATION_NONE }));
}

static void collect_lines(struct maker *m)
{
	const struct listing *l = &m->l;

	for (uint32_t i = 0; i < m->w.n_lines; i++)
		add_line(m, listing_path(&m->l, maker_text(m, m->w.line[i].file)),
			 m->w.line[i].line, i);
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
	return COMPARE(a->line, b->line) ?: COMPARE(a->weighed, b->weighed);
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
		else if (l->weighed != ANNOTATION_NONE)
			m->lines.at[n - 1].also = l->weighed;
	}
	m->lines.n = n;
	free(r.weight);
}

/* --- files --------------------------------------------------------------------------------- */

static struct source_file *open_source(struct maker *m, uint32_t path)
{
	struct source_options where = m->o->sources;
	struct source_file *f = &m->files[path];
	struct source_program b;

	if (f->path || f->why)
		return f;
	b = source_programs_first(&m->l.paths.at[path].programs);
	where.packed = m->of->profile;
	source_file_open(f, m->l.paths.at[path].path, &where, b.has_md5 ? b.md5 : NULL, b.built_ns);
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
	struct source_program b = source_programs_first(&p->programs);
	char *found = NULL;

	if (f->state != SOURCE_MISSING || !m->o->symbols->debug_servers || b.of.n == 0 ||
	    p->path[0] != '/' || m->n_fetched++ >= FETCH_MAX)
		return;
	if (!m->servers)
		m->servers = debuginfod_new(NULL);
	if (m->servers &&
	    debuginfod_fetch_source(m->servers, &b.of, p->path, tick, m->progress, &found) == 0)
		source_file_take(f, found, b.has_md5 ? b.md5 : NULL);
	free(found);
}

static const char *keep(struct maker *m, char *text)
{
	char *kept = arena_strndup(&m->a->texts, text, strlen(text));

	free(text);
	return kept;
}

const char *maker_line_text(struct maker *m, uint32_t path, uint32_t line)
{
	const char *text = source_file_line(open_source(m, path), line);

	return text ? arena_strndup(&m->a->texts, text, strlen(text)) : NULL;
}

/* Both sides' paths of a joined file, and of its builds those that compiled the other path from this text. */
static void say_joined(struct maker *m, uint32_t path, struct annotation_file *file)
{
	for (uint32_t i = 0; i < m->l.paths.n; i++) {
		const struct source_join *join = &m->joins[i];
		const char *before, *after;

		if (join->to != path)
			continue;
		file->also = m->l.paths.at[i].path;
		before = m->from_after[i] ? file->path : file->also;
		after = m->from_after[i] ? file->also : file->path;
		file->joined = keep(
			m, xasprintf("BEFORE %s and AFTER %s stand on the same lines%s%s", before,
				     after, join->by_tail ? ", as their paths end alike" : "",
				     join->n_head == UINT32_MAX
					     ? ""
					     : "; what was edited stands by itself"));
	}
}

/* Why the lines of a file, or of the file that was joined to it, may be others. */
static const char *doubt(struct maker *m, uint32_t path)
{
	const struct profile *p = m->of->profile;
	char *own = source_programs_doubt(&m->l.paths.at[path].programs, p, m->of->diff != NULL,
					  &m->files[path]);

	for (uint32_t i = 0; i < m->l.paths.n; i++) {
		const struct source_file *f = &m->files[i];
		char *other, *both;

		if (m->joins[i].to != path)
			continue;
		/* Programs that compiled a file which is not here are compared with the text that is shown for it. */
		if (f->state == SOURCE_MISSING)
			f = &m->files[path];
		other = source_programs_doubt(&m->l.paths.at[i].programs, p, true, f);
		both = own && other ? xasprintf("%s; %s", own, other) : NULL;
		if (both || !own) {
			free(own);
			own = both ? both : other;
		}
		if (both)
			free(other);
	}
	return own ? keep(m, own) : NULL;
}

static uint32_t add_file(struct maker *m, uint32_t path)
{
	struct source_file *f = open_source(m, path);
	struct annotation_file file = { .path = m->l.paths.at[path].path };

	fetch_source(m, path, f);
	file.name = path_last_part(file.path);
	file.found = f->path ? arena_strndup(&m->a->texts, f->path, strlen(f->path)) : NULL;
	if (f->state == SOURCE_MISSING)
		file.why = keep(m, xasprintf("source %s: %s; --source DIR or --source-map FROM=TO "
					     "says where it is",
					     file.path, f->why));
	else
		file.warning = doubt(m, path);
	say_joined(m, path, &file);
	vec_push(&m->a->files, file);
	return (uint32_t)m->a->files.n - 1;
}

/* --- sources ------------------------------------------------------------------------------- */

static void add_line_weights(const struct maker *m, uint32_t weighed, int64_t *to)
{
	uint32_t n = m->w.n_columns;

	for (uint32_t c = 0; weighed != ANNOTATION_NONE && c < n; c++) {
		to[c] += m->w.line_self[(size_t)weighed * n + c];
		to[n + c] += m->w.line_total[(size_t)weighed * n + c];
	}
}

/* l: what was weighed there, or NULL. */
static void add_source(struct maker *m, uint32_t file, uint32_t path, uint32_t line, bool gap,
		       const struct own_line *l)
{
	struct annotation_source s = { .file = file,
				       .line = line,
				       .text = maker_line_text(m, path, line),
				       .numbers = ANNOTATION_NONE,
				       .gap = gap };

	if (l && l->weighed != ANNOTATION_NONE) {
		int64_t *to;

		s.numbers = annotation_add_numbers(m->a);
		to = m->a->numbers.at + (size_t)s.numbers * 2 * m->w.n_columns;
		add_line_weights(m, l->weighed, to);
		add_line_weights(m, l->also, to);
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
			add_source(m, file, path, l->line, !first && l->line > next, l);
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
			add_source(m, file, path, k, gap && k == begin, NULL);
		add_source(m, file, path, l->line, gap && begin == l->line, l);
		next = l->line + 1;
		/* What follows the last line before a gap. */
		if (after == 0 || after - next > GAP_LINES)
			for (; next <= end && next <= n_lines; next++)
				add_source(m, file, path, next, false, NULL);
	}
}

/* The line where the function is declared, when it is just before the first of its lines. */
static void add_declaration(struct maker *m, uint32_t path)
{
	uint32_t line = m->a->declared_line, least = UINT32_MAX;

	if (path == ANNOTATION_NONE || line == 0)
		return;
	source_join_move(&m->joins[path], &path, &line);
	for (size_t i = 0; i < m->lines.n; i++)
		if (m->lines.at[i].path == path && m->lines.at[i].line < least)
			least = m->lines.at[i].line;
	if (least != UINT32_MAX && least > line && least - line <= HEAD_LINES)
		add_line(m, path, line, ANNOTATION_NONE);
}

/* Which sides have the function's lines in a file: by its programs, and by what the lines weigh. */
static void find_sides(const struct maker *m, struct source_side *sides)
{
	const struct lens *lens = &m->of->lens;

	for (size_t i = 0; i < m->lines.n; i++) {
		const struct own_line *l = &m->lines.at[i];
		struct source_side *s = &sides[l->path];

		s->own = true;
		for (int side = 0; side < N_SIDES && l->weighed != ANNOTATION_NONE; side++)
			for (uint32_t run = 0; run < lens->sides.n_runs[side]; run++)
				s->of_side[side] |=
					m->w.line_total[(size_t)l->weighed * m->w.n_columns +
							lens_side(lens, (enum side)side) + run] !=
					0;
	}
	for (size_t i = 0; i < m->l.paths.n; i++)
		for (size_t k = 0; k < m->l.paths.at[i].programs.n; k++)
			for (int side = 0; side < N_SIDES; side++)
				sides[i].of_side[side] |=
					m->l.paths.at[i].programs.at[k].of_side[side];
}

/* In a comparison, lines of a file that each side compiled in a directory of its own are lines of one file. */
static void join_sources(struct maker *m)
{
	size_t n = m->l.paths.n;
	struct source_side *sides;
	char **mapped;

	for (size_t i = 0; i < n; i++)
		m->joins[i].to = SOURCE_JOIN_NONE;
	if (!m->of->diff)
		return;
	sides = xcalloc(n + 1, sizeof(*sides));
	mapped = xcalloc(n + 1, sizeof(*mapped));
	find_sides(m, sides);
	for (uint32_t i = 0; i < n; i++) {
		sides[i].path = m->l.paths.at[i].path;
		sides[i].file = sides[i].own ? open_source(m, i) : &m->files[i];
		if (sides[i].own)
			mapped[i] = source_file_mapped(sides[i].path, &m->o->sources);
		sides[i].mapped = mapped[i];
		m->from_after[i] = sides[i].of_side[SIDE_AFTER];
	}
	source_join_find(sides, n, m->joins);
	for (size_t i = 0; i < n; i++)
		free(mapped[i]);
	free(mapped);
	free(sides);
	for (size_t i = 0; i < m->lines.n; i++)
		source_join_move(&m->joins[m->lines.at[i].path], &m->lines.at[i].path,
				 &m->lines.at[i].line);
}

static void make_sources(struct maker *m)
{
	const char *declared = m->a->declared;
	uint32_t path = declared ? listing_path(&m->l, declared) : ANNOTATION_NONE;
	struct source_rows *rows;

	collect_lines(m);
	m->files = xcalloc(m->l.paths.n + 1, sizeof(*m->files));
	m->of_path = xcalloc(m->l.paths.n + 1, sizeof(*m->of_path));
	m->joins = xcalloc(m->l.paths.n + 1, sizeof(*m->joins));
	m->from_after = xcalloc(m->l.paths.n + 1, sizeof(*m->from_after));
	join_sources(m);
	add_declaration(m, path);
	sort_lines(m);
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
uint32_t maker_find_source(const struct maker *m, uint32_t path, uint32_t line)
{
	const struct annotation *a = m->a;
	uint32_t low, end;

	source_join_move(&m->joins[path], &path, &line);
	low = m->of_path[path].first;
	end = m->of_path[path].end;
	BISECT(low, end, i, a->sources.at[i].line < line);
	return low < end && a->sources.at[low].line == line ? low : ANNOTATION_NONE;
}

static void link_code(struct maker *m)
{
	struct annotation *a = m->a;

	for (size_t i = 0; i < a->code.n; i++) {
		struct annotation_code *c = &a->code.at[i];
		const struct listing_own *own = &m->l.own.at[i];

		if (own->path != ANNOTATION_NONE)
			c->source = maker_find_source(m, own->path, own->line);
		if (!c->path)
			continue;
		if (i > 0 && c[-1].path == c->path && c[-1].line == c->line)
			c->at = c[-1].at;
		else
			c->at = maker_line_text(m, listing_path(&m->l, c->path), c->line);
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
static void say_nothing(const struct maker *m)
{
	struct annotation *a = m->a;

	if (a->sources.n > 0 || a->code.n > 0)
		return;
	a->nothing = m->w.n_addresses == 0 && transforms_wanted(m->of->lens.filter)
			     ? "this frame has no code of its own: the filter made it of others"
			     : "nothing of this function was sampled here";
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
				listing_path(&m->l, maker_text(m, f[k].file));
	}
	make_sources(m);
	link_code(m);
	maker_inlines(m);
	say_no_line(m);
	say_nothing(m);
	return 0;
}

static void done(struct maker *m)
{
	for (size_t i = 0; m->files && i < m->l.paths.n; i++)
		source_file_done(&m->files[i]);
	free(m->files);
	free(m->of_path);
	free(m->joins);
	free(m->from_after);
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
