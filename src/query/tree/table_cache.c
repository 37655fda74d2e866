/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of samples stay as they are within a generation, so that sums are the last ones and what the new rows add. What
 * could change is looked at each time: names of what was seen, the unit, and whether the rows that are known still add up to
 * what all weigh.
 */
#include "config.h"

#include "query/tree/table_cache.h"

#include "base/mem.h"
#include "query/core/sample_scan.h"

#include <stdlib.h>
#include <string.h>

/* Of a key, by its id. */
struct kept_sum {
	uint32_t id;
	int64_t self, total;
	uint64_t n_samples;
};

/* How a location was seen. */
struct kept_location {
	uint32_t id; /* of its innermost frame's key */
	const struct frame *outer;
	bool is_live;
};

struct table_cache {
	const struct profile *profile; /* borrowed; NULL: nothing is kept */
	struct metric metric;
	enum grouping grouping;
	bool inlines;
	uint32_t generation;
	int64_t scale, sample_scale;
	uint64_t n_rows;    /* that are in the sums, and in … */
	int64_t weight;     /* … these, which are of all stacks, the empty one, too */
	uint64_t n_samples; /* in 1/sample_scale */
	VEC(struct kept_sum) sums;
	struct kept_location *location; /* [n_locations]; owned */
	uint32_t n_locations;
};

/* What is being added. */
struct addition {
	const struct table_frames *frames;
	struct stack_columns stacks;
	struct table_sums *sums;
	uint32_t *row_of; /* [n_keys] the last row that counted for it; owned */
	uint32_t row;     /* this one's number, from 1 on */
	int64_t weight;
	uint64_t n_samples;
};

struct table_cache *table_cache_new(void)
{
	return xcalloc(1, sizeof(struct table_cache));
}

void table_cache_free(struct table_cache *k)
{
	if (!k)
		return;
	vec_done(&k->sums);
	free(k->location);
	free(k);
}

/* Is a sum of all samples that of some and that of the others? */
static bool adds_up(const struct profile *p, const struct lens *lens)
{
	const struct lens_column *c = &lens->column[0];

	return lens->n_columns == 1 && !lens->filter && !c->filter && !c->squares &&
	       lens->half_life_ns <= 0 && !lens->names && !metric_is_heap(p, c->metric);
}

bool table_cache_may_sum(const struct table_cache *k, const struct profile *p,
			 const struct profile_counts *counts, const struct lens *lens)
{
	struct metric m = lens->column[0].metric;

	return k && adds_up(p, lens) && k->profile == p && k->generation == counts->generation &&
	       metric_same_event(k->metric, m) && k->metric.measure == m.measure &&
	       k->grouping == lens->grouping && k->inlines == lens->inlines &&
	       k->n_rows <= counts->n_samples;
}

/* Are all that were seen what they were? */
static bool same_frames(const struct table_cache *k, const struct table_frames *f)
{
	if (k->n_locations > f->n)
		return false;
	for (uint32_t i = 0; i < k->n_locations; i++) {
		const struct kept_location *was = &k->location[i];

		if (was->is_live &&
		    (was->id != f->keys->key[f->key[i]].id || was->outer != f->outer[i]))
			return false;
	}
	return true;
}

static uint32_t key_of_id(const struct groups *k, uint32_t id)
{
	return id & KEY_OF_MODULE ? k->of_module[id & ~KEY_OF_MODULE] : k->of_function[id];
}

/* A row counts once for what is several times on its way. */
static void pass_key(struct addition *a, uint32_t key, int64_t x)
{
	if (a->row_of[key] == a->row)
		return;
	a->row_of[key] = a->row;
	a->sums->total[key] += x;
	a->sums->wanted[key] = true;
}

static void add_row(struct addition *a, uint32_t stack, int64_t x, uint64_t n_samples)
{
	const struct table_frames *f = a->frames;

	a->row++;
	a->weight += x;
	a->n_samples += n_samples;
	if (stack != 0) {
		uint32_t key = f->key[a->stacks.location[stack]];

		a->sums->self[key] += x;
		a->sums->n_samples[key] += n_samples;
	}
	for (uint32_t at = stack; at != 0; at = a->stacks.parent[at]) {
		uint32_t location = a->stacks.location[at];
		const struct frame *outer = f->outer[location];

		f->is_live[location] = true;
		pass_key(a, f->key[location], x);
		for (; outer && outer->n_more > 0; outer++)
			pass_key(a, groups_of_frame(f->keys, outer->function, f->module[location]),
				 x);
	}
}

/* 1, or 0 where a row weighs nothing: what it counts for depends on others. */
static int add_batch(struct addition *a, const struct sample_scan *r)
{
	const struct sample_scan_column *column = &r->column[0];

	for (uint64_t i = 0; i < r->n; i++) {
		int64_t x;

		if (!sample_scan_counts(column, r->event ? r->event[i] : 0))
			continue;
		x = sample_scan_adds(r, column, i);
		if (x <= 0)
			return 0;
		add_row(a, r->rows.stack[i], x, sample_scan_samples(r, 0, i));
	}
	return 1;
}

static int add_new(const struct table_cache *k, struct addition *a, const struct profile *p,
		   const struct profile_counts *counts, const struct lens *lens,
		   struct progress *progress)
{
	struct sample_scan *r;
	int rc = sample_scan_new(p, counts, lens, progress, &r), more;

	if (rc < 0)
		return rc;
	r->begin = k->n_rows;
	rc = 1;
	while (rc > 0 && (more = sample_scan_next(r, progress)) != 0)
		rc = more < 0 ? more : add_batch(a, r);
	sample_scan_free(r);
	return rc;
}

static void take_kept(const struct table_cache *k, const struct table_frames *f,
		      struct table_sums *sums)
{
	for (size_t i = 0; i < k->sums.n; i++) {
		const struct kept_sum *s = &k->sums.at[i];
		uint32_t key = key_of_id(f->keys, s->id);

		sums->self[key] += s->self;
		sums->total[key] += s->total;
		sums->n_samples[key] += s->n_samples;
		sums->wanted[key] = true;
	}
	for (uint32_t i = 0; i < k->n_locations; i++)
		f->is_live[i] = k->location[i].is_live;
}

static void take_back(const struct table_frames *f, struct table_sums *sums)
{
	uint32_t n = f->keys->n;

	memset(sums->self, 0, n * sizeof(*sums->self));
	memset(sums->total, 0, n * sizeof(*sums->total));
	memset(sums->n_samples, 0, n * sizeof(*sums->n_samples));
	memset(sums->wanted, 0, n * sizeof(*sums->wanted));
	memset(f->is_live, 0, f->n * sizeof(*f->is_live));
}

static void put_locations(struct table_cache *k, const struct table_frames *f)
{
	if (f->n > k->n_locations)
		k->location = xreallocarray(k->location, f->n, sizeof(*k->location));
	k->n_locations = f->n;
	for (uint32_t i = 0; i < f->n; i++)
		k->location[i] = (struct kept_location){ .id = f->keys->key[f->key[i]].id,
							 .outer = f->outer[i],
							 .is_live = f->is_live[i] };
}

/* Does a frame around another belong to a function that the keys do not know yet? It will be another row then. */
static bool is_ahead(const struct table_frames *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		for (const struct frame *o = f->outer[i]; o && f->is_live[i] && o->n_more > 0; o++)
			if (o->function >= f->keys->n_functions)
				return true;
	return false;
}

/* w is of the same rows as the sums. */
static void keep(struct table_cache *k, const struct profile *p,
		 const struct profile_counts *counts, const struct lens *lens,
		 const struct table_frames *f, const struct weights *w,
		 const struct table_sums *sums)
{
	k->profile = p;
	k->metric = lens->column[0].metric;
	k->grouping = lens->grouping;
	k->inlines = lens->inlines;
	k->generation = counts->generation;
	k->scale = w->scale[0];
	k->sample_scale = w->sample_scale;
	k->n_rows = counts->n_samples;
	k->weight = w->total[0];
	k->n_samples = w->n_samples;
	k->sums.n = 0;
	for (uint32_t i = 0; i < f->keys->n; i++)
		if (sums->wanted[i])
			vec_push(&k->sums, ((struct kept_sum){ .id = f->keys->key[i].id,
							       .self = sums->self[i],
							       .total = sums->total[i],
							       .n_samples = sums->n_samples[i] }));
	put_locations(k, f);
	if (is_ahead(f))
		k->profile = NULL;
}

int table_cache_sum(struct table_cache *k, const struct profile *p,
		    const struct profile_counts *counts, const struct lens *lens,
		    const struct table_frames *f, const struct weights *w,
		    struct progress *progress, struct table_sums *sums)
{
	struct addition a = { .frames = f, .sums = sums };
	int rc;

	if (!table_cache_may_sum(k, p, counts, lens) || k->scale != w->scale[0] ||
	    k->sample_scale != w->sample_scale || !same_frames(k, f))
		return 0;
	a.weight = k->weight;
	a.n_samples = k->n_samples;
	a.row_of = xcalloc(f->keys->n, sizeof(*a.row_of));
	profile_stacks_of(p, counts, &a.stacks);
	take_kept(k, f, sums);
	rc = add_new(k, &a, p, counts, lens, progress);
	free(a.row_of);
	/* Rows that are known may have changed. */
	if (rc > 0 && (a.weight != w->total[0] || a.n_samples != w->n_samples))
		rc = 0;
	if (rc > 0)
		keep(k, p, counts, lens, f, w, sums);
	else
		take_back(f, sums);
	return rc;
}

/* Is there a sample in no row? What weighs nothing is in a row only where something else is. */
static bool lacks_samples(const struct weights *w, const struct table_sums *sums)
{
	uint64_t n = w->samples[0];

	for (uint32_t i = 0; i < sums->keys->n; i++)
		n += sums->n_samples[i];
	return n != w->n_samples;
}

void table_cache_put(struct table_cache *k, const struct profile *p,
		     const struct profile_counts *counts, const struct lens *lens,
		     const struct table_frames *f, const struct weights *w,
		     const struct table_sums *sums)
{
	if (!k)
		return;
	k->profile = NULL;
	if (adds_up(p, lens) && !lacks_samples(w, sums))
		keep(k, p, counts, lens, f, w, sums);
}
