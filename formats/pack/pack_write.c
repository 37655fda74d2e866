/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model's tables as columns. Ids in the file are those of the model, so that what is read has the same order everywhere; only strings are
 * counted anew, as what is left out must not be among them.
 */
#include "config.h"

#include "formats/pack/pack_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/pack/pack_file.h"
#include "formats/pack/pack_heap.h"
#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "profile/row_blocks.h"
#include "profile/sample_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a section: what is lost with a damaged one. */
#define ROWS         65536
/* Blocks of a section of an index. */
#define BLOCKS       64
/* Of an index at most: its reader has all tables twice for a while, and building stacks is not what it saves. */
#define INDEX_STACKS (UINT32_C(1) << 22)

/* A string of the file that has a number and a slash before it. */
struct nth {
	uint32_t string, n;
};

struct writer {
	const struct profile *p;
	struct profile_counts counts;
	unsigned without, holds;
	VEC(string_id) strings; /* of the file, in their order */
	VEC(size_t) from;       /* [strings.n] bytes that are left out at their beginning */
	VEC(struct nth) nth;    /* in the order of strings */
	uint32_t *whole, *base; /* [n_strings] index + 1 of each in the file; owned */
	pack_bytes body;
	pack_bytes sections; /* all but the head and the strings */
	struct sample_rows rows;
	/* Of an index: where sections go as soon as they are made. NULL: a pack is written. */
	FILE *index;
	uint64_t most, n_written; /* bytes of it */
	uint64_t sum;             /* of them */
	struct progress *progress;
	int code; /* 0, or -errno: the rest need not be made */
};

/* Strings. */

static uint32_t add_string(struct writer *w, uint32_t *index, string_id id, size_t from)
{
	if (index[id.v] == 0) {
		vec_push(&w->strings, id);
		vec_push(&w->from, from);
		index[id.v] = (uint32_t)w->strings.n;
	}
	return index[id.v] - 1;
}

static void put_string(struct writer *w, string_id id)
{
	pack_put(&w->body, add_string(w, w->whole, id, 0));
}

/* A path, or its last part. */
static void put_path(struct writer *w, string_id id)
{
	const char *s = profile_string(w->p, id, NULL), *slash = strrchr(s, '/');

	if (slash && slash[1]) {
		if (w->without & 1u << PACK_HAS_PATHS) {
			pack_put(&w->body, add_string(w, w->base, id, (size_t)(slash + 1 - s)));
			return;
		}
		w->holds |= 1u << PACK_HAS_PATHS;
	}
	put_string(w, id);
}

static void put_strings(struct writer *w, pack_bytes *file)
{
	size_t nth = 0;

	pack_put(&w->body, w->strings.n);
	for (size_t i = 0; i < w->strings.n; i++) {
		size_t n;
		const char *s = profile_string(w->p, w->strings.at[i], &n);
		char *numbered;

		if (nth == w->nth.n || w->nth.at[nth].string != i) {
			pack_put_text(&w->body, s + w->from.at[i], n - w->from.at[i]);
			continue;
		}
		numbered = xasprintf("%u/%s", w->nth.at[nth++].n, s + w->from.at[i]);
		pack_put_text(&w->body, numbered, strlen(numbered));
		free(numbered);
	}
	pack_put_section(file, PACK_STRINGS, w->index ? PACK_FAST : PACK_SMALL, &w->body);
}

/* What was made of an index so far goes to its file. */
static void flush_index(struct writer *w)
{
	w->n_written += w->sections.n;
	w->sum = pack_sum(w->sum, w->sections.at, w->sections.n);
	errno = 0;
	if (w->code == 0 && progress_cancelled(w->progress))
		w->code = -ECANCELED;
	if (w->code == 0 && w->n_written > w->most)
		w->code = -EFBIG;
	if (w->code == 0 && fwrite(w->sections.at, 1, w->sections.n, w->index) != w->sections.n)
		w->code = errno ? -errno : -EIO;
	vec_clear(&w->sections);
}

static void end_section_as(struct writer *w, enum pack_section_id id, enum pack_how how)
{
	pack_put_section(&w->sections, id, how, &w->body);
	if (w->index)
		flush_index(w);
}

static void end_section(struct writer *w, enum pack_section_id id)
{
	end_section_as(w, id, w->index ? PACK_FAST : PACK_SMALL);
}

/* What is private: false when it is left out, else it is noted. */
static bool may(struct writer *w, enum pack_private what)
{
	if (w->without & 1u << what)
		return false;
	w->holds |= 1u << what;
	return true;
}

/* Tables. */

static void put_parts(struct writer *w)
{
	pack_put(&w->body, w->counts.n_parts);
	for (uint32_t i = 0; i < w->counts.n_parts; i++) {
		const struct capture_part *part = profile_part(w->p, (part_id){ i });

		put_path(w, part->path);
		put_string(w, part->format);
	}
	end_section(w, PACK_PARTS);
}

/* A module whose path is left out, as it is told apart by what is left. */
struct bare {
	const char *name;     /* the last part of its path */
	uint32_t build_id, n; /* string_id, and how many have both */
};

struct bares {
	VEC(struct bare) all;
	struct map by_name;
};

static bool same_bare(const void *things, uint32_t value, const void *key)
{
	const struct bare *a = &((const struct bares *)things)->all.at[value], *b = key;

	return a->build_id == b->build_id && strcmp(a->name, b->name) == 0;
}

/* How many modules so far are told apart by their directories alone from this one, which is the last of them. */
static uint32_t count_bare(struct bares *b, struct bare key)
{
	uint64_t hash = hash_bytes(key.name, strlen(key.name)) + hash_u64(key.build_id);
	uint32_t at = map_find(&b->by_name, hash, same_bare, b, &key);

	if (at == MAP_NONE) {
		at = (uint32_t)b->all.n;
		vec_push(&b->all, key);
		map_add(&b->by_name, hash, at);
	}
	return ++b->all.at[at].n;
}

/* Without its directory, a module must not become another one: the second "lib.so" is "2/lib.so". */
static void put_module_path(struct writer *w, struct bares *b, const struct module *m)
{
	const char *s = profile_string(w->p, m->path, NULL), *slash = strrchr(s, '/');
	const char *name = slash && slash[1] ? slash + 1 : s;
	uint32_t n = 0;

	if (w->without & 1u << PACK_HAS_PATHS)
		n = count_bare(b, (struct bare){ name, m->build_id.v, 0 });
	if (n < 2) {
		put_path(w, m->path);
		return;
	}
	pack_put(&w->body, w->strings.n);
	vec_push(&w->strings, m->path);
	vec_push(&w->from, (size_t)(name - s));
	vec_push(&w->nth, ((struct nth){ (uint32_t)w->strings.n - 1, n }));
}

static void put_modules(struct writer *w)
{
	struct bares bares = { 0 };

	pack_put(&w->body, w->counts.n_modules);
	for (uint32_t i = 0; i < w->counts.n_modules; i++) {
		const struct module *m = profile_module(w->p, (module_id){ i });

		put_module_path(w, &bares, m);
		put_string(w, m->build_id);
		pack_put(&w->body, m->family);
	}
	end_section(w, PACK_MODULES);
	vec_done(&bares.all);
	map_done(&bares.by_name);
}

static void put_functions(struct writer *w)
{
	pack_put(&w->body, w->counts.n_functions);
	for (uint32_t i = 0; i < w->counts.n_functions; i++) {
		const struct function *f = profile_function(w->p, (function_id){ i });

		put_string(w, f->name);
		pack_put(&w->body, f->module.v);
		put_path(w, function_file(f));
		pack_put(&w->body, function_line(f));
		pack_put(&w->body, f->flags & FUNCTION_KEPT);
	}
	end_section(w, PACK_FUNCTIONS);
}

static void put_run(struct writer *w, const struct frame *run)
{
	uint32_t n = run ? run->n_more + 1 : 0;

	pack_put(&w->body, n);
	for (uint32_t i = 0; i < n; i++) {
		pack_put(&w->body, run[i].function);
		put_path(w, (string_id){ run[i].file });
		pack_put(&w->body, run[i].line);
	}
}

static void put_locations(struct writer *w)
{
	struct location_columns l;
	uint64_t before = 0;

	profile_locations(w->p, &l);
	pack_put(&w->body, w->counts.n_locations);
	for (uint32_t i = 0; i < w->counts.n_locations; i++) {
		uint32_t function = location_function(&l, i);

		pack_put(&w->body, l.module[i]);
		pack_put_signed(&w->body, (int64_t)(l.address[i] - before));
		before = l.address[i];
		pack_put(&w->body, function < w->counts.n_functions ? function + 1u : 0);
		put_run(w, location_frames(&l, i));
	}
	end_section(w, PACK_LOCATIONS);
}

static void put_stacks(struct writer *w)
{
	struct stack_columns s;

	profile_stacks_of(w->p, &w->counts, &s);
	pack_put(&w->body, w->counts.n_stacks - 1);
	/* how far back the parent is: mostly one */
	for (uint32_t i = 1; i < w->counts.n_stacks; i++)
		pack_put(&w->body, i - s.parent[i]);
	for (uint32_t i = 1; i < w->counts.n_stacks; i++)
		pack_put(&w->body, s.location[i]);
	end_section(w, PACK_STACKS);
}

static void put_threads(struct writer *w)
{
	pack_put(&w->body, w->counts.n_processes);
	for (uint32_t i = 0; i < w->counts.n_processes; i++) {
		const struct process *process = profile_process(w->p, (process_id){ i });

		pack_put_signed(&w->body, process->pid);
		put_string(w, process_name(process));
	}
	pack_put(&w->body, w->counts.n_cgroups);
	for (uint32_t i = 0; i < w->counts.n_cgroups; i++) {
		const struct cgroup *g = profile_cgroup(w->p, (cgroup_id){ i });
		string_id path = cgroup_path(g);

		pack_put(&w->body, g->number);
		put_string(w, path.v && may(w, PACK_HAS_CGROUPS) ? path : (string_id){ 0 });
	}
	pack_put(&w->body, w->counts.n_threads);
	for (uint32_t i = 0; i < w->counts.n_threads; i++) {
		const struct thread *t = profile_thread(w->p, (thread_id){ i });
		bool labels = t->labels.v && may(w, PACK_HAS_LABELS);
		bool group = t->cgroup != ID_NONE && !(w->without & 1u << PACK_HAS_CGROUPS);

		pack_put(&w->body, t->process.v);
		pack_put_signed(&w->body, t->tid);
		put_string(w, t->name);
		pack_put(&w->body, group ? t->cgroup + 1u : 0);
		put_string(w, labels ? t->labels : (string_id){ 0 });
	}
	end_section(w, PACK_THREADS);
}

static void put_events(struct writer *w)
{
	pack_put(&w->body, w->counts.n_events);
	for (uint32_t i = 0; i < w->counts.n_events; i++) {
		const struct event *e = profile_event(w->p, (event_id){ (uint16_t)i });

		put_string(w, e->name);
		pack_put(&w->body, e->unit);
		pack_put(&w->body, (uint64_t)e->scale);
		pack_put(&w->body, (e->has_weight ? 1u : 0) | (e->is_counted ? 2u : 0) |
					   (e->is_derived ? 4u : 0) | (e->is_heap ? 8u : 0) |
					   (e->is_summed ? 16u : 0) | (e->is_default ? 32u : 0));
	}
	end_section(w, PACK_EVENTS);
}

/* Samples: a column after the other, as equal things then stand together. */

/* As signed numbers are written: small ones of either sign are short. */
static uint64_t zigzag(uint64_t x)
{
	return x << 1 ^ (0 - (x >> 63));
}

/* What stands in the file for a column of row i of the batch; before is the time that was known last. */
static uint64_t number_of(const struct sample_rows *r, uint32_t i, unsigned column,
			  uint64_t *before)
{
	uint32_t thread = sample_rows_thread(r, i);
	uint16_t cpu = sample_rows_cpu(r, i);
	int64_t time_ns = sample_rows_time(r, i);
	uint64_t later = (uint64_t)time_ns - *before;

	switch (column) {
	case ROWS_EVENT:
		return sample_rows_event(r, i);
	case ROWS_THREAD:
		return thread != ID_NONE ? thread + 1u : 0;
	case ROWS_CPU:
		return cpu != CPU_NONE ? cpu + 1u : 0;
	case ROWS_TIME:
		if (time_ns == TIME_NONE)
			return 0;
		*before = (uint64_t)time_ns;
		return zigzag(later) + 1;
	case ROWS_WEIGHT:
		return zigzag((uint64_t)sample_rows_weight(r, i));
	default:
		return r->stack[i];
	}
}

/* One column of rows [from, to), batch by batch. */
static void put_column(struct writer *w, const struct sample_columns *c, uint64_t from, uint64_t to,
		       unsigned column)
{
	struct sample_rows *r = &w->rows;
	uint64_t before = 0;
	uint32_t n;

	for (uint64_t row = from; row < to; row += n) {
		n = sample_rows_next(r, c, row, to, column);
		for (uint32_t i = 0; i < n; i++)
			pack_put(&w->body, number_of(r, i, column, &before));
	}
}

static void put_rows(struct writer *w, const struct sample_columns *c, uint64_t from, uint64_t to)
{
	static const unsigned order[] = { ROWS_EVENT, ROWS_THREAD, ROWS_CPU,
					  ROWS_TIME,  ROWS_WEIGHT, ROWS_STACK };

	pack_put(&w->body, to - from);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		put_column(w, c, from, to, order[i]);
	end_section(w, PACK_SAMPLES);
}

/* Rows from one on. */
static void put_samples(struct writer *w, uint64_t from)
{
	struct sample_columns r;

	profile_samples_of(w->p, &w->counts, &r);
	for (uint64_t i = from; i < w->counts.n_samples && w->code == 0; i += ROWS)
		put_rows(w, &r, i, w->counts.n_samples - i < ROWS ? w->counts.n_samples : i + ROWS);
}

/* Facts. */

static bool is(const struct writer *w, string_id id, const char *text)
{
	return strcmp(profile_string(w->p, id, NULL), text) == 0;
}

static bool fact_may(struct writer *w, const struct fact *f)
{
	if (is(w, f->name, "command") || is(w, f->name, "arguments"))
		return may(w, PACK_HAS_COMMAND);
	if (is(w, f->name, "host"))
		return may(w, PACK_HAS_HOST);
	if (is(w, f->section, "environment"))
		return may(w, PACK_HAS_ENVIRONMENT);
	return true;
}

static void put_facts(struct writer *w)
{
	VEC(struct fact) facts = { 0 };

	for (uint32_t i = 0; i < w->counts.n_facts; i++) {
		struct fact f = profile_fact(w->p, i);

		if (fact_may(w, &f))
			vec_push(&facts, f);
	}
	pack_put(&w->body, facts.n);
	for (size_t i = 0; i < facts.n; i++) {
		pack_put(&w->body, facts.at[i].part.v);
		put_string(w, facts.at[i].section);
		put_string(w, facts.at[i].name);
		put_string(w, facts.at[i].text);
		pack_put(&w->body, facts.at[i].kind);
	}
	vec_done(&facts);
	end_section(w, PACK_FACTS);
}

/* What annotations need. */

static void put_attachments(struct writer *w, const struct pack_attachments *files, bool sources)
{
	size_t n = 0;

	for (size_t i = 0; i < files->n; i++)
		n += (files->at[i].path != NULL) == sources;
	if (n == 0 || !may(w, sources ? PACK_HAS_SOURCES : PACK_HAS_CODE))
		return;
	pack_put(&w->body, n);
	for (size_t i = 0; i < files->n; i++) {
		const struct pack_attachment *f = &files->at[i];

		if ((f->path != NULL) != sources)
			continue;
		if (sources)
			pack_put_text(&w->body, f->path, strlen(f->path));
		else
			pack_put(&w->body, f->module);
		pack_put_text(&w->body, (const char *)f->bytes, f->n);
	}
	end_section(w, sources ? PACK_SOURCES : PACK_CODE);
}

static void put_notes(struct writer *w, const char *notes, pack_bytes *file)
{
	pack_bytes body = { 0 };

	if (!notes || !may(w, PACK_HAS_NOTES))
		return;
	pack_put_bytes(&body, (const uint8_t *)notes, strlen(notes));
	pack_put_section(file, PACK_NOTES, PACK_SMALL, &body);
	vec_done(&body);
}

/* The whole. */

static int check(const struct writer *w, struct err *e)
{
	struct sample_columns r;
	struct beyond_columns b;

	profile_samples_of(w->p, &w->counts, &r);
	profile_beyond_of(w->p, &w->counts, &b);
	if (w->counts.n_captures != 1)
		return err_set(e, -EINVAL,
			       "a pack is of one recording, and these are %u: pack each",
			       w->counts.n_captures);
	if (r.n_folded > 0 || b.n > 0)
		return err_set(e, -EINVAL, "a recording that goes on cannot be packed");
	return 0;
}

int pack_write(const struct profile *p, const struct pack_attachments *files, unsigned without,
	       FILE *to, unsigned *holds, struct err *e)
{
	struct writer w = { .p = p, .without = without };
	pack_bytes file = { 0 };
	int rc;

	profile_hold(p, &w.counts);
	rc = check(&w, e);
	if (rc == 0) {
		w.whole = xcalloc(w.counts.n_strings + 1u, sizeof(*w.whole));
		w.base = xcalloc(w.counts.n_strings + 1u, sizeof(*w.base));
		put_parts(&w);
		put_modules(&w);
		put_functions(&w);
		put_locations(&w);
		put_stacks(&w);
		put_threads(&w);
		put_events(&w);
		put_samples(&w, 0);
		put_facts(&w);
		if (pack_heap_put(p, &w.counts, &w.body))
			end_section(&w, PACK_HEAP);
		if (files) {
			put_attachments(&w, files, true);
			put_attachments(&w, files, false);
		}
		end_section(&w, PACK_END);
		pack_put_head(&file, PACK_MAGIC);
		put_notes(&w, files ? files->notes : NULL, &file);
		put_strings(&w, &file);
		errno = 0;
		if (fwrite(file.at, 1, file.n, to) != file.n ||
		    fwrite(w.sections.at, 1, w.sections.n, to) != w.sections.n || fflush(to) != 0)
			rc = err_set(e, errno ? -errno : -EIO, "cannot write the pack: %s",
				     strerror(errno ? errno : EIO));
	}
	profile_release(p, &w.counts);
	*holds = w.holds;
	vec_done(&file);
	vec_done(&w.body);
	vec_done(&w.sections);
	vec_done(&w.strings);
	vec_done(&w.from);
	vec_done(&w.nth);
	free(w.whole);
	free(w.base);
	return rc;
}

/* An index. */

bool pack_index_can(const struct profile *p)
{
	struct writer w = { .p = p };
	struct heap_columns heap;
	bool can;

	profile_hold(p, &w.counts);
	profile_heap(p, &heap);
	can = check(&w, NULL) == 0 && heap.n_tracks == 0 && w.counts.n_samples > 0 &&
	      w.counts.n_parts == 1 && w.counts.n_stacks <= INDEX_STACKS;
	if (can) {
		struct capture_span s = profile_capture_span(p, &w.counts, (capture_id){ 0 });

		/* readers take other times for damage */
		can = s.begin_ns == TIME_NONE || (s.begin_ns >= 0 && s.end_ns <= INT64_MAX / 2);
	}
	profile_release(p, &w.counts);
	return can;
}

/* All of them, by their ids. */
static void put_all_strings(struct writer *w)
{
	w->whole = xcalloc(w->counts.n_strings + 1u, sizeof(*w->whole));
	for (uint32_t i = 0; i < w->counts.n_strings; i++)
		add_string(w, w->whole, (string_id){ i }, 0);
	put_strings(w, &w->sections);
	flush_index(w);
}

/* As the model has them. Those that it has not packed follow as a pack has them. */
static void put_blocks(struct writer *w)
{
	struct sample_columns r;
	uint64_t n;

	profile_samples_of(w->p, &w->counts, &r);
	n = row_blocks_n(&r);
	for (uint64_t i = 0; i < n && w->code == 0; i += BLOCKS) {
		pack_put(&w->body, row_blocks_columns(&r));
		row_blocks_put(&r, i, n - i < BLOCKS ? n - i : BLOCKS, &w->body);
		end_section_as(w, PACK_BLOCKS, PACK_AS_IS);
	}
	put_samples(w, n * SAMPLE_ROWS_BATCH);
}

static void put_index(struct writer *w, const pack_bytes *key)
{
	static void (*const tables[])(struct writer *) = {
		put_all_strings, put_parts,   put_modules, put_functions, put_locations,
		put_stacks,      put_threads, put_events,  put_blocks,    put_facts,
	};

	pack_put_head(&w->sections, PACK_INDEX_MAGIC);
	flush_index(w);
	pack_put_bytes(&w->body, key->at, key->n);
	end_section_as(w, PACK_KEY, PACK_AS_IS);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && w->code == 0; i++)
		tables[i](w);
	pack_put(&w->body, w->sum);
	end_section_as(w, PACK_END, PACK_AS_IS);
}

int pack_write_index(const struct profile *p, const pack_bytes *key, uint64_t most, FILE *to,
		     struct progress *progress, struct err *e)
{
	struct writer w = { .p = p, .index = to, .most = most, .progress = progress };
	int rc;

	profile_hold(p, &w.counts);
	rc = check(&w, e);
	if (rc == 0) {
		put_index(&w, key);
		rc = w.code;
		errno = 0;
		if (rc == 0 && fflush(to) != 0)
			rc = errno ? -errno : -EIO;
		if (rc < 0)
			err_set(e, rc, "cannot write the index: %s", strerror(-rc));
	}
	profile_release(p, &w.counts);
	vec_done(&w.body);
	vec_done(&w.sections);
	vec_done(&w.strings);
	vec_done(&w.from);
	free(w.whole);
	return rc;
}

static const struct {
	const char *word, *what;
} privates[] = {
#define X(id, word, what) { word, what },
	PACK_PRIVATE(X)
#undef X
};

int pack_private_parse(const char *words, unsigned *bits, struct err *e)
{
	unsigned all = 0;

	while (*words) {
		size_t n = strcspn(words, ","), i = 0;

		while (i < N_PACK_PRIVATE &&
		       (strlen(privates[i].word) != n || memcmp(privates[i].word, words, n) != 0))
			i++;
		if (i == N_PACK_PRIVATE)
			return err_set(
				e, -EINVAL,
				"--without takes command, host, environment, cgroups, labels, "
				"paths, sources, code and notes, not \"%.*s\"",
				(int)n, words);
		all |= 1u << i;
		words += n + (words[n] == ',');
	}
	*bits = all;
	return 0;
}

char *pack_private_say(unsigned bits)
{
	char *what = xstrdup(""), *words = xstrdup(""), *longer;
	unsigned left = bits;

	for (unsigned i = 0; i < N_PACK_PRIVATE; i++) {
		if (!(bits & 1u << i))
			continue;
		left &= ~(1u << i);
		longer = xasprintf("%s%s%s", what,
				   *what == '\0' ? ""
				   : left        ? ", "
						 : " and ",
				   privates[i].what);
		free(what);
		what = longer;
		longer = xasprintf("%s%s%s", words, *words ? "," : "", privates[i].word);
		free(words);
		words = longer;
	}
	longer = bits ? xasprintf("%s (--without %s leaves out)", what, words) : NULL;
	free(what);
	free(words);
	return longer;
}
