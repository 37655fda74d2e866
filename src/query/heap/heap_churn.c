/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that come and go: temporaries, growth by realloc, who frees whose, single blocks. */
#include "config.h"

#include "base/compare.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "query/core/filter.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000

/* Temporaries. */

struct churn {
	double n, bytes, temporary, brief;
	double unknown; /* nobody knows how long they lived: what was culled */
};

struct churns {
	struct heap_asking *ask;
	struct churn *of; /* [n_sites] */
	struct churn all;
};

/* Without that, ends of blocks are guesses: their number is right, which of them it was is not. */
static bool knows_lives(const struct heap_asking *ask)
{
	return !(ask->f->manner.lacks & (HEAP_LACKS_LIFETIMES | HEAP_LACKS_TIMES));
}

static void see_churn(void *arg, const struct heap_block_seen *b)
{
	struct churns *c = arg;
	int64_t ns = knows_lives(c->ask) ? heap_lifetime(c->ask, b) : -1;
	/* what was culled lived less than that */
	bool is_culled = ns < 0 && b->row == ID_NONE && b->end != END_NEVER;
	bool is_brief = is_culled ? c->ask->f->manner.culled_ns <= NS_PER_MS
				  : ns >= 0 && ns < NS_PER_MS;
	struct churn *to[] = { &c->all, b->site != ID_NONE ? &c->of[b->site] : &c->all };

	for (size_t i = 0; i < (b->site != ID_NONE ? 2u : 1u); i++) {
		to[i]->n += b->n;
		to[i]->bytes += b->bytes;
		to[i]->temporary += b->temporary;
		to[i]->brief += is_brief ? b->n : 0;
		to[i]->unknown += is_culled && !is_brief ? b->n : 0;
	}
}

static void add_churn(struct churn *to, const struct churn *more)
{
	to->n += more->n;
	to->bytes += more->bytes;
	to->temporary += more->temporary;
	to->brief += more->brief;
	to->unknown += more->unknown;
}

static int find_churns(struct churns *c)
{
	uint32_t n_sites = c->ask->n_sites;
	unsigned n = heap_block_workers(c->ask, n_sites);
	struct heap_asking ask[HEAP_SCAN_MOST];
	struct churns part[HEAP_SCAN_MOST];
	void *arg[HEAP_SCAN_MOST];
	int rc;

	for (unsigned i = 0; i < n; i++) {
		ask[i] = *c->ask;
		part[i] = (struct churns){ .ask = &ask[i] };
		part[i].of = xcalloc(n_sites, sizeof(*part[i].of));
		arg[i] = &part[i];
	}
	rc = heap_each_block_apart(ask, n, see_churn, arg);
	for (unsigned i = 1; i < n; i++) {
		add_churn(&part[0].all, &part[i].all);
		for (uint32_t k = 0; k < n_sites; k++)
			add_churn(&part[0].of[k], &part[i].of[k]);
		free(part[i].of);
	}
	c->all = part[0].all;
	c->of = part[0].of;
	return rc;
}

static void say_churn(const struct churns *c)
{
	char a[FMT_SIZE], b[FMT_SIZE], n[FMT_COUNTED_SIZE];
	bool known = knows_lives(c->ask) && c->all.unknown <= 0;
	char *brief = known ? xasprintf("; %s %% live less than 1 ms",
					fmt_percent(b, llround(c->all.brief), llround(c->all.n)))
			    : xstrdup("");

	heap_note(c->ask,
		  xasprintf("of %s, %s %% are temporary: the next heap call of their thread "
			    "frees them%s",
			    fmt_counted(n, llround(c->all.n), "allocation"),
			    fmt_percent(a, llround(c->all.temporary), llround(c->all.n)), brief));
	if (!knows_lives(c->ask))
		heap_note(c->ask, xstrdup("the file does not say how long each block lived"));
	else if (!known)
		heap_note(
			c->ask,
			xasprintf(
				"of the %s that were culled nobody knows which lived less than 1 ms",
				fmt_count(b, llround(c->all.unknown))));
	free(brief);
}

int heap_temporaries(struct heap_asking *ask)
{
	struct churns c = { .ask = ask };
	int rc = find_churns(&c);

	for (uint32_t i = 0; i < ask->n_sites && rc == 0; i++) {
		struct heap_table_row *row;

		if (c.of[i].temporary <= 0 && c.of[i].brief <= 0 && c.of[i].unknown <= 0)
			continue;
		row = heap_add_site(ask, i);
		row->cell[0] = llround(c.of[i].temporary);
		row->cell[1] = heap_part(c.of[i].temporary, c.of[i].n);
		row->cell[2] = knows_lives(ask) && c.of[i].unknown <= 0 ? llround(c.of[i].brief)
									: CELL_NONE;
		row->cell[3] = llround(c.of[i].n);
		row->cell[4] = heap_part(c.of[i].n, c.all.n);
		row->cell[5] = llround(c.of[i].bytes);
	}
	if (rc == 0)
		say_churn(&c);
	free(c.of);
	return rc;
}

/* Handoffs. */

/* Blocks that threads of one name allocate and those of that name or another free; "" where a thread has no name. */
struct handoff {
	string_id from, to;
	bool freed, known; /* known: by whom */
	bool own;          /* by the thread that allocated it, and not by another one of its name */
	double n, bytes, lived; /* ns in all */
};

struct handoffs {
	struct heap_asking *ask;
	VEC(struct handoff) pair;
	struct map by_names;
	double n, known, other; /* that were freed; by a known thread; by another one */
};

static bool same_pair(const void *things, uint32_t value, const void *key)
{
	const struct handoffs *h = things;
	const struct handoff *a = &h->pair.at[value], *b = key;

	return a->from.v == b->from.v && a->to.v == b->to.v && a->freed == b->freed &&
	       a->known == b->known && a->own == b->own;
}

static string_id thread_name(const struct handoffs *h, uint32_t thread)
{
	if (thread == ID_NONE || thread >= h->ask->f->counts.n_threads)
		return (string_id){ 0 };
	return profile_thread(h->ask->f->profile, (thread_id){ thread })->name;
}

static struct handoff *pair_of(struct handoffs *h, const struct handoff *key)
{
	uint64_t hash = hash_u64(hash_pair(key->from.v, key->to.v) + key->freed + 2u * key->known +
				 4u * key->own);
	uint32_t at = map_find(&h->by_names, hash, same_pair, h, key);

	if (at != MAP_NONE)
		return &h->pair.at[at];
	map_add(&h->by_names, hash, (uint32_t)h->pair.n);
	vec_push(&h->pair, *key);
	return &h->pair.at[h->pair.n - 1];
}

static void see_handoff(void *arg, const struct heap_block_seen *b)
{
	struct handoffs *h = arg;
	const struct heap_columns *c = &h->ask->state.columns;
	struct handoff key = { 0 }, *to;
	uint32_t by;

	if (b->row == ID_NONE)
		return;
	key.from = thread_name(h, c->origins[b->origin].thread);
	key.freed = b->end != END_NEVER;
	if (key.freed) {
		by = allocation_release(c, b->row);
		by = by != ID_NONE && by < c->n_origins ? c->origins[by].thread : ID_NONE;
		key.known = by != ID_NONE;
		key.own = key.known && by == c->origins[b->origin].thread;
		key.to = thread_name(h, by);
		h->n += b->n;
		h->known += key.known ? b->n : 0;
		h->other += key.known && !key.own ? b->n : 0;
	}
	to = pair_of(h, &key);
	to->n += b->n;
	to->bytes += b->bytes;
	to->lived += key.freed ? b->n * (double)heap_lifetime(h->ask, b) : 0;
}

static const char *name_of(const struct handoffs *h, string_id name)
{
	const char *text = profile_string(h->ask->f->profile, name, NULL);

	return *text ? text : "?";
}

/* Who freed it; the caller frees. */
static char *freer_of(const struct handoffs *h, const struct handoff *p)
{
	if (!p->freed)
		return xstrdup("never freed");
	if (!p->known)
		return xstrdup("not recorded");
	if (p->own)
		return xstrdup("itself");
	return xasprintf("%s%s", p->from.v == p->to.v ? "another " : "", name_of(h, p->to));
}

static void add_handoffs(struct handoffs *h)
{
	char part[FMT_SIZE], n[FMT_COUNTED_SIZE], of[FMT_SIZE];
	double all = 0, most = 0;

	for (size_t i = 0; i < h->pair.n; i++)
		all += h->pair.at[i].n;
	for (size_t i = 0; i < h->pair.n; i++) {
		const struct handoff *p = &h->pair.at[i];
		struct heap_table_row *row = heap_add_row(h->ask);
		char *exact = filter_exact(name_of(h, p->from)), *quoted = filter_quote(exact);
		char *freer = freer_of(h, p);

		row->label = xasprintf("%s → %s", name_of(h, p->from), freer);
		if (p->known && !p->own && p->n > most) {
			most = p->n;
			h->ask->out->busiest = row->label;
		}
		row->filter = xasprintf("thread:%s %sblock:leaked", quoted, p->freed ? "!" : "");
		row->cell[0] = llround(p->n);
		row->cell[1] = heap_part(p->n, all);
		row->cell[2] = llround(p->bytes);
		if (p->freed)
			row->cell[3] = llround(p->lived / p->n);
		free(freer);
		free(quoted);
		free(exact);
	}
	h->ask->out->part = llround(h->other);
	h->ask->out->whole = llround(h->known);
	if (h->known < h->n)
		heap_note(h->ask,
			  xasprintf("who freed is known of %s of %s freed blocks; record with "
				    "--free-stacks to know it of all",
				    fmt_count(n, llround(h->known)), fmt_count(of, llround(h->n))));
	if (h->known > 0)
		heap_note(h->ask,
			  xasprintf("another thread than the allocating one freed %s %% of %s "
				    "whose freer is known",
				    fmt_percent(part, llround(h->other), llround(h->known)),
				    fmt_counted(n, llround(h->known), "block")));
}

int heap_handoffs(struct heap_asking *ask)
{
	struct handoffs h = { .ask = ask };
	int rc = 0;

	if (ask->state.columns.release)
		rc = heap_each_block(ask, see_handoff, &h);
	if (rc == 0 && ask->state.columns.release)
		add_handoffs(&h);
	else if (rc == 0)
		heap_note(
			ask,
			xstrdup("this trace does not say who freed blocks; record with --free-stacks"));
	vec_done(&h.pair);
	map_done(&h.by_names);
	return rc;
}

/* Reallocs. */

/* A block that realloc returned. */
struct link {
	uint32_t track, begin; /* its first moment, which is the last one of the block before */
	uint32_t length;       /* reallocs from the chain's first block on */
	uint64_t first;        /* bytes of that block */
};

struct growth {
	double n, copied;
	uint32_t longest;
	uint64_t from, to; /* bytes of the longest chain's first and last block */
};

struct reallocs {
	struct heap_asking *ask;
	VEC(struct link) link; /* by track and begin: as they come */
	struct growth *of;     /* [n_sites] */
	struct growth all;
};

static bool is_realloc(const struct reallocs *r, const struct heap_block_seen *b)
{
	return b->row != ID_NONE && r->ask->state.columns.origins[b->origin].flags & ORIGIN_REALLOC;
}

static void see_link(void *arg, const struct heap_block_seen *b)
{
	struct reallocs *r = arg;

	if (is_realloc(r, b))
		vec_push(&r->link, ((struct link){ b->track, b->begin, 1, 0 }));
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return COMPARE(x->track, y->track) ?: COMPARE(x->begin, y->begin);
}

/* The block that begins when one ends; NULL: none does. */
static struct link *find_link(const struct reallocs *r, uint32_t track, uint32_t moment)
{
	const struct link key = { .track = track, .begin = moment };

	return r->link.n > 0 ? bsearch(&key, r->link.at, r->link.n, sizeof(key), compare_links)
			     : NULL;
}

static void take_growth(struct growth *g, const struct link *next, const struct heap_block_seen *b,
			uint64_t size)
{
	g->n += b->n;
	g->copied += b->n * (double)(b->size < size ? b->size : size);
	if (next->length <= g->longest)
		return;
	g->longest = next->length;
	g->from = next->first;
	g->to = size;
}

/* Blocks come in the order of their begin, so that a chain is known up to the block that ends. */
static void see_growth(void *arg, const struct heap_block_seen *b)
{
	struct reallocs *r = arg;
	struct link *own = is_realloc(r, b) ? find_link(r, b->track, b->begin) : NULL, *next;

	if (b->row == ID_NONE || b->end == END_NEVER)
		return;
	next = find_link(r, b->track, b->end & END_MOMENT);
	if (!next)
		return;
	next->length = own ? own->length + 1 : 1;
	next->first = own && own->first > 0 ? own->first : b->size;
}

/* Once chains are known: what each realloc copied at most, for the site of the block that it returned. */
struct sizes_at {
	struct reallocs *r;
	uint64_t *before; /* [link.n] bytes of the block before */
	bool *known;      /* [link.n] */
};

static void see_before(void *arg, const struct heap_block_seen *b)
{
	struct sizes_at *s = arg;
	struct link *next = b->row == ID_NONE || b->end == END_NEVER
				    ? NULL
				    : find_link(s->r, b->track, b->end & END_MOMENT);

	if (!next)
		return;
	s->before[next - s->r->link.at] = b->size;
	s->known[next - s->r->link.at] = true;
}

static void see_copy(void *arg, const struct heap_block_seen *b)
{
	struct sizes_at *s = arg;
	struct link *own = is_realloc(s->r, b) ? find_link(s->r, b->track, b->begin) : NULL;
	struct heap_block_seen before = *b;

	if (!own)
		return;
	before.size = s->known[own - s->r->link.at] ? s->before[own - s->r->link.at] : 0;
	take_growth(&s->r->all, own, &before, b->size);
	if (b->site != ID_NONE)
		take_growth(&s->r->of[b->site], own, &before, b->size);
}

static void add_reallocs(struct reallocs *r)
{
	char n[FMT_COUNTED_SIZE], bytes[FMT_SIZE];

	for (uint32_t i = 0; i < r->ask->n_sites; i++) {
		struct heap_table_row *row;

		if (r->of[i].n <= 0)
			continue;
		row = heap_add_site(r->ask, i);
		row->cell[0] = llround(r->of[i].n);
		row->cell[1] = r->of[i].longest;
		row->cell[2] = llround(r->of[i].copied);
		row->cell[3] = (int64_t)r->of[i].from;
		row->cell[4] = (int64_t)r->of[i].to;
	}
	if (r->all.n > 0)
		heap_note(
			r->ask,
			xasprintf(
				"%s copied at most %s: malloc may also have grown a block in place",
				fmt_counted(n, llround(r->all.n), "realloc"),
				fmt_bytes(bytes, llround(r->all.copied))));
	if (r->ask->f->manner.sampled)
		heap_note(r->ask,
			  xstrdup("sampled: chains are cut where a block was not recorded"));
}

int heap_reallocs(struct heap_asking *ask)
{
	struct reallocs r = { .ask = ask, .of = xcalloc(ask->n_sites, sizeof(*r.of)) };
	struct sizes_at s = { .r = &r };
	int rc = heap_each_block(ask, see_link, &r);

	if (r.link.n > 0)
		qsort(r.link.at, r.link.n, sizeof(*r.link.at), compare_links);
	s.before = xcalloc(r.link.n, sizeof(*s.before));
	s.known = xcalloc(r.link.n, sizeof(*s.known));
	rc = rc == 0 ? heap_each_block(ask, see_growth, &r) : rc;
	rc = rc == 0 ? heap_each_block(ask, see_before, &s) : rc;
	rc = rc == 0 ? heap_each_block(ask, see_copy, &s) : rc;
	if (rc == 0)
		add_reallocs(&r);
	free(s.before);
	free(s.known);
	vec_done(&r.link);
	free(r.of);
	return rc;
}

/* Blocks. */

#define USUAL_BLOCKS 10000u

struct blocks {
	struct heap_asking *ask;
	uint32_t most;
	VEC(struct heap_block_seen) at; /* a heap once there are most, the smallest on top */
	uint64_t n;
};

static void sink(struct blocks *s, size_t i)
{
	struct heap_block_seen x = s->at.at[i];

	for (size_t child; (child = 2 * i + 1) < s->at.n; i = child) {
		if (child + 1 < s->at.n && s->at.at[child + 1].size < s->at.at[child].size)
			child++;
		if (s->at.at[child].size >= x.size)
			break;
		s->at.at[i] = s->at.at[child];
	}
	s->at.at[i] = x;
}

static void see_one(void *arg, const struct heap_block_seen *b)
{
	struct blocks *s = arg;

	if (b->row == ID_NONE)
		return;
	s->n++;
	if (s->at.n < s->most) {
		vec_push(&s->at, *b);
		for (size_t i = s->at.n == s->most ? s->at.n / 2 : 0; i-- > 0;)
			sink(s, i);
		return;
	}
	if (b->size <= s->at.at[0].size)
		return;
	s->at.at[0] = *b;
	sink(s, 0);
}

/* By falling size, then as they came. */
static int compare_blocks(const void *a, const void *b)
{
	const struct heap_block_seen *x = a, *y = b;

	return COMPARE(y->size, x->size) ?: COMPARE(x->row, y->row);
}

/* "freed in f", by the function that stands for the stack; the caller frees. */
static char *freed_in(struct heap_asking *ask, const struct heap_site *site_of_stack,
		      const struct heap_block_seen *b)
{
	const struct heap_columns *c = &ask->state.columns;
	const struct groups *keys = &ask->f->keys;
	uint32_t by;

	if (b->end == END_NEVER)
		return xstrdup(ask->f->manner.lives_on ? "in use" : "never freed");
	if (!c->release)
		return NULL;
	by = allocation_release(c, b->row);
	if (by == ID_NONE || by >= c->n_origins ||
	    c->origins[by].stack >= ask->f->counts.n_stacks ||
	    site_of_stack[c->origins[by].stack].key == KEY_NONE)
		return NULL;
	return xasprintf("freed in %s", keys->key[site_of_stack[c->origins[by].stack].key].label);
}

int heap_blocks(struct heap_asking *ask)
{
	struct blocks s = { .ask = ask, .most = ask->wish->most_blocks ?: USUAL_BLOCKS };
	struct heap_site *of = heap_sites(ask->f->profile, &ask->f->counts, &ask->f->keys,
					  ask->f->lens.inlines);
	int rc = heap_each_block(ask, see_one, &s);
	char n[FMT_SIZE], most[FMT_SIZE];

	if (s.at.n > 0)
		qsort(s.at.at, s.at.n, sizeof(*s.at.at), compare_blocks);
	for (size_t i = 0; i < s.at.n && rc == 0; i++) {
		const struct heap_block_seen *b = &s.at.at[i];
		const struct heap_origin *o = &ask->state.columns.origins[b->origin];
		struct heap_table_row *row = heap_add_site(ask, b->site);

		row->stack = o->stack;
		if (o->thread < ask->f->counts.n_threads)
			row->label = xstrdup(profile_string(
				ask->f->profile,
				profile_thread(ask->f->profile, (thread_id){ o->thread })->name,
				NULL));
		row->remark = freed_in(ask, of, b);
		row->cell[0] = (int64_t)b->size;
		row->cell[1] = heap_since_start(ask, b->track, b->begin);
		row->cell[2] = b->end == END_NEVER ? CELL_NONE : heap_lifetime(ask, b);
	}
	if (rc == 0 && s.n > s.at.n)
		heap_note(
			ask,
			xasprintf("the largest %s of %s blocks; a filter (size:, lifetime:, time:, "
				  "fn:) shows others",
				  fmt_count(most, (int64_t)s.at.n), fmt_count(n, (int64_t)s.n)));
	vec_done(&s.at);
	free(of);
	return rc;
}
