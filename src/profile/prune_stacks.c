/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trie anew: of old samples' stacks only those frames stay that enough samples share, so that its size is that of
 * what was sampled last and a number of nodes.
 *
 * A stack that does not stay becomes its outer frames that stay, a mark, and its innermost frame, so that what functions did
 * themselves is said as ever. What the frames between were part of is added up by frame, each counted once a stack
 * where it is the first of its function, module or file: sums by these stay exact, who called whom does not.
 *
 * Allocations that are sums only (heap_compact.c) count as old samples, and their origins get the stacks that are left. Those that are
 * rows are not old. Of these sums nothing is kept beside stacks: what the frames between had of them is in the mark's row alone.
 *
 * How many samples share a frame grows towards the root, so that what stays is a trie, too. Frames of samples that are not old
 * all stay, but nothing is shortened to them only for that.
 */
#include "config.h"

#include "profile/builder.h"

#include "base/hash.h"
#include "base/mem.h"
#include "profile/compact.h"
#include "profile/merge_exited.h"
#include "profile/store.h"

#include <stdlib.h>
#include <string.h>

/* What is said beyond stacks has at most so many rows, where times may be as coarse as that wants. */
#define MOST_BEYOND ((uint64_t)1 << 13)

/* Groups of frames: see BEYOND_…. */
#define N_GROUPINGS 3

/* What groups a frame belongs to, by BEYOND_… bit: numbers below n_groups. */
struct groups {
	uint32_t of[N_GROUPINGS];
};

struct shortening {
	struct profile *p;
	uint32_t n;          /* stacks so far, and of each: */
	uint64_t *n_samples; /* [n] that end in it or further in; owned */
	bool *young;         /* [n] not all of these are old; owned */
	uint32_t *to;        /* [n] see build_shorten(); owned until it is done */
	uint32_t *
		threads; /* what becomes of each, see merge_exited_threads(); NULL: nothing; owned */
	uint32_t n_young; /* stacks of such */
	uint64_t least;   /* stacks of fewer samples do not stay */
	uint32_t mark;    /* location_id */
	struct store_trie *was;
	struct store_heap_columns *gone; /* what was in the place of the heap's columns, or NULL */

	/* Frames that were met on the way through a stack, by their groups. */
	uint32_t n_groups; /* functions, modules, files: numbers of all that there may be */
	uint32_t *group;   /* [n_functions] its number among functions; owned */
	uint32_t *
		met; /* [2][n_groups] the walk that met it last, with inlined frames and without; owned */
	uint32_t walk;         /* number of this one */
	struct compact beyond; /* under way */
	struct map frames;     /* of beyond_frames, of which there are so many: */
	uint32_t n_frames;
};

static bool is_root_name(const struct shortening *s, uint32_t location)
{
	uint32_t f = STORE_AT(uint32_t, s->p->loc_function, location);

	return f != ID_NONE && STORE_AT(struct function, s->p->functions, f).flags & FUNCTION_COMM;
}

static uint32_t parent_of(const struct shortening *s, uint32_t stack)
{
	return STORE_AT(uint32_t, s->was->parent, stack);
}

static uint32_t location_of(const struct shortening *s, uint32_t stack)
{
	return STORE_AT(uint32_t, s->was->location, stack);
}

/* May stacks be shortened to it? */
static bool is_shared(const struct shortening *s, uint32_t stack)
{
	return stack == 0 || s->n_samples[stack] >= s->least ||
	       (parent_of(s, stack) == 0 && is_root_name(s, location_of(s, stack)));
}

static bool stays(const struct shortening *s, uint32_t stack)
{
	return s->young[stack] || is_shared(s, stack);
}

/* How many samples a row is. */
static uint64_t samples_of(const struct profile *p, const struct folded *row)
{
	int64_t scale = STORE_AT(int64_t, p->samples.versions->scale, row->event), n;

	if (!STORE_AT(struct event, p->events, row->event).is_counted)
		return (uint64_t)row->count;
	n = row->weight / scale;
	return n == 0 ? 1 : n < 0 ? (uint64_t)-n : (uint64_t)n;
}

static uint32_t stack_of_origin(const struct profile *p, uint32_t origin)
{
	return STORE_AT(struct heap_origin, p->heap.origins, origin).stack;
}

static void count_block(struct shortening *s, uint32_t origin)
{
	uint32_t stack;

	if (origin == ID_NONE)
		return;
	stack = stack_of_origin(s->p, origin);
	s->n_samples[stack]++;
	s->young[stack] = true;
}

static void count_blocks(struct shortening *s)
{
	const struct store_heap *h = &s->p->heap;

	for (uint32_t i = 0; i < h->now.n_allocations; i++) {
		count_block(s, allocation_origin(&h->now, i));
		if (h->now.release)
			count_block(s, allocation_release(&h->now, i));
	}
	for (uint32_t i = 0; i < h->now.n_bulk; i++) {
		const struct heap_bulk *b = &STORE_AT(struct heap_bulk, h->bulk, i);

		s->n_samples[stack_of_origin(s->p, b->origin)] += b->calls;
	}
}

/* How many samples share each stack; the trie is still the profile's. */
static void count_samples(struct shortening *s, int64_t old_ns)
{
	const struct store_rows *rows = &s->p->samples;
	const struct compact f = { .old_ns = old_ns };

	for (uint64_t i = 0; i < s->p->now.n_samples; i++) {
		struct folded row = compact_row_at(rows, i);

		s->n_samples[row.stack] += samples_of(s->p, &row);
		s->young[row.stack] |= !compact_is_old(&f, &row);
	}
	count_blocks(s);
	for (uint32_t i = s->n; i-- > 1;) {
		uint32_t up = STORE_AT(uint32_t, s->p->trie.parent, i);

		s->n_samples[up] += s->n_samples[i];
		s->young[up] |= s->young[i];
		s->n_young += s->young[i];
	}
}

static uint32_t add(struct shortening *s, uint32_t parent, uint32_t location)
{
	return build_stack(s->p, (stack_id){ parent }, (location_id){ location }).v;
}

/* What becomes of a stack that does not stay. A single frame is not replaced by a mark and itself. */
static uint32_t shorten(struct shortening *s, uint32_t stack)
{
	uint32_t at = parent_of(s, stack), location = location_of(s, stack);

	if (is_shared(s, at))
		return add(s, s->to[at], location);
	while (!is_shared(s, at))
		at = parent_of(s, at);
	return add(s, add(s, s->to[at], s->mark), location);
}

/* The trie of what stays, into an empty one; false: there are more than so many nodes. */
static bool make_trie(struct shortening *s, const bool *ends, uint64_t most)
{
	s->to[0] = 0;
	for (uint32_t i = 1; i < s->n; i++)
		s->to[i] = stays(s, i) ? add(s, s->to[parent_of(s, i)], location_of(s, i))
				       : ID_NONE;
	for (uint32_t i = 1; i < s->n && s->p->now.n_stacks <= most; i++)
		if (ends[i] && s->to[i] == ID_NONE)
			s->to[i] = shorten(s, i);
	return s->p->now.n_stacks <= most;
}

/* Empties the profile's trie; false: there is no room. */
static bool clear_trie(struct profile *p)
{
	p->now.n_stacks = 1;
	return store_trie_init(&p->trie);
}

/* In which stacks old samples end. The caller frees. */
static bool *find_ends(const struct shortening *s)
{
	bool *ends = xcalloc(s->n, sizeof(*ends));

	for (uint64_t i = 0; i < s->p->now.n_samples; i++)
		ends[STORE_AT(uint32_t, s->p->samples.row_stack, i)] = true;
	for (uint32_t i = 0; i < s->p->heap.now.n_bulk; i++)
		ends[stack_of_origin(s->p, STORE_AT(struct heap_bulk, s->p->heap.bulk, i).origin)] =
			true;
	return ends;
}

/* How many stacks of old samples are wanted: an eighth of those that stay anyway, but for bounds. */
static uint64_t most_old(const struct shortening *s)
{
	uint64_t wish = s->n_young / 8, n = s->p->folding.n_stacks;

	return wish < n / 2 ? n / 2 : wish < 2 * n ? wish : 2 * n;
}

/* With as many as are wanted; where the code alone has more leaves, with more. */
static bool choose(struct shortening *s)
{
	uint64_t most = s->n_young + most_old(s);
	bool *ends = find_ends(s), done = false;

	for (s->least = 2; !done; s->least *= 2) {
		if (s->least > s->n_samples[0])
			most = UINT32_MAX;
		done = clear_trie(s->p) && make_trie(s, ends, most);
		if (s->p->sticky < 0 || done)
			break;
		store_trie_done(&s->p->trie);
	}
	free(ends);
	return done && s->p->sticky == 0;
}

/* What is said beyond stacks. */

/* Is a function one for what has no name in its module, as frames without a function are shown? */
static bool is_made_up(const struct profile *p, const struct function *f)
{
	const char *module =
		profile_string(p, STORE_AT(struct module, p->modules, f->module.v).name, NULL);
	const char *name = profile_string(p, f->name, NULL);
	size_t n = strlen(module);

	if (!(f->flags & FUNCTION_UNRESOLVED) || n == 0)
		return f->flags & FUNCTION_UNRESOLVED && strcmp(name, "[unknown]") == 0;
	return strcmp(name, module) == 0 || (name[0] == '[' && strncmp(name + 1, module, n) == 0 &&
					     strcmp(name + 1 + n, "]") == 0);
}

static struct groups groups_of(const struct shortening *s, uint32_t function, uint32_t module)
{
	const struct profile *p = s->p;
	uint32_t n = p->now.n_functions, name = STORE_AT(struct module, p->modules, module).name.v;
	const struct function *f;

	/* What has no name yet is of its module. */
	if (function == ID_NONE)
		return (struct groups){ { n + name, n + name, n } };
	f = &STORE_AT(struct function, p->functions, function);
	function = s->group[function];
	if (f->flags & (FUNCTION_MARK | FUNCTION_COMM))
		return (struct groups){ { function, function, function } };
	name = STORE_AT(struct module, p->modules, f->module.v).name.v;
	return (struct groups){ { function, n + name, n + f->file.v } };
}

/* BEYOND_… bits of groups that this walk meets for the first time. */
static uint32_t meet(struct shortening *s, bool plain, struct groups g)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < N_GROUPINGS; i++) {
		uint32_t *met = &s->met[(size_t)(plain ? 3 + i : i) * s->n_groups + g.of[i]];

		if (*met != s->walk)
			first |= 1u << i;
		*met = s->walk;
	}
	return plain ? first * BEYOND_PLAIN : first;
}

static bool same_frame(const void *things, uint32_t value, const void *key)
{
	return memcmp(&STORE_AT(struct beyond_frame,
				((const struct profile *)things)->trie.beyond_frames, value),
		      key, sizeof(struct beyond_frame)) == 0;
}

/* The number of a frame, in *out; false: there is no room. */
static bool beyond_frame(struct shortening *s, const struct beyond_frame *f, uint32_t *out)
{
	struct column *frames = &s->p->trie.beyond_frames;
	uint64_t hash = hash_u64(hash_pair(f->function, f->module) + f->first);
	uint32_t n = map_find(&s->frames, hash, same_frame, s->p, f);

	if (n == MAP_NONE) {
		n = s->n_frames++;
		if (column_extend(frames, (uint64_t)n + 1) < 0)
			return false;
		STORE_AT(struct beyond_frame, *frames, n) = *f;
		map_add(&s->frames, hash, n);
	}
	*out = n;
	return true;
}

/* What a sample weighs in a frame that is left out of its stack, where that is the first of a group. */
static bool say(struct shortening *s, const struct folded *row, uint32_t function, uint32_t module,
		uint32_t first)
{
	struct beyond_frame f = { function, module, first };
	struct folded beyond = *row;

	if (s->threads && row->thread != ID_NONE)
		beyond.thread = s->threads[row->thread];
	return first == 0 ||
	       (beyond_frame(s, &f, &beyond.stack) && compact_add(&s->beyond, &beyond));
}

/* A location that stays (row is NULL), or that does not: its functions, as they are and without inlined ones. */
static bool walk_location(struct shortening *s, uint32_t location, const struct folded *row)
{
	const struct profile *p = s->p;
	uint32_t function = STORE_AT(uint32_t, p->loc_function, location);
	uint32_t module = STORE_AT(uint32_t, p->loc_module, location);
	uint32_t run = STORE_AT(uint32_t, p->loc_inlines, location), first;
	bool done = true;

	if (location == s->mark)
		return true;
	first = meet(s, true, groups_of(s, function, module));
	if (run == 0)
		first |= meet(s, false, groups_of(s, function, module));
	if (row)
		done = say(s, row, function, module, first);
	for (uint32_t i = run; i > 0 && done; i++) {
		const struct frame *f = &STORE_AT(struct frame, p->frames, i - 1);

		first = meet(s, false, groups_of(s, f->function, module));
		if (row)
			done = say(s, row, f->function, module, first);
		if (f->n_more == 0)
			break;
	}
	return done;
}

/* All that a row's stack says no more. */
static bool walk_row(struct shortening *s, const struct folded *row)
{
	uint32_t kept = parent_of(s, row->stack), at;
	bool done = walk_location(s, location_of(s, row->stack), (s->walk++, NULL));

	while (!is_shared(s, kept))
		kept = parent_of(s, kept);
	for (at = kept; at != 0; at = parent_of(s, at))
		walk_location(s, location_of(s, at), NULL);
	for (at = parent_of(s, row->stack); at != kept && done; at = parent_of(s, at))
		done = walk_location(s, location_of(s, at), row);
	return done;
}

/* What was said before is said still; weights may be in finer units by now. */
static bool say_again(struct shortening *s)
{
	const struct store_rows *was = &s->was->beyond;

	for (uint64_t i = 0; i < was->n; i++) {
		struct folded row = compact_row_at(was, i);
		const struct beyond_frame *f = &STORE_AT(struct beyond_frame, s->was->beyond_frames,
							 row.stack);

		row.weight *= STORE_AT(int64_t, s->p->samples.versions->scale, row.event) /
			      STORE_AT(int64_t, was->versions->scale, row.event);
		if (!say(s, &row, f->function, f->module, f->first))
			return false;
	}
	return true;
}

static uint64_t hash_function(const struct profile *p, const struct function *f)
{
	return hash_pair(f->name.v, STORE_AT(struct module, p->modules, f->module.v).name.v) +
	       (f->flags & FUNCTION_COMM);
}

static bool same_function(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;
	const struct function *a = &STORE_AT(struct function, p->functions, value), *b = key;

	return a->name.v == b->name.v && ((a->flags ^ b->flags) & FUNCTION_COMM) == 0 &&
	       STORE_AT(struct module, p->modules, a->module.v).name.v ==
		       STORE_AT(struct module, p->modules, b->module.v).name.v;
}

/* Functions are one whose names and modules' names are. */
static void group_functions(struct shortening *s)
{
	struct map first = { 0 };

	s->group = xmalloc(s->p->now.n_functions * sizeof(*s->group));
	for (uint32_t i = 0; i < s->p->now.n_functions; i++) {
		const struct function *f = &STORE_AT(struct function, s->p->functions, i);
		uint64_t hash = hash_function(s->p, f);
		uint32_t n = map_find(&first, hash, same_function, s->p, f);

		s->group[i] = n == MAP_NONE ? i : n;
		if (is_made_up(s->p, f))
			s->group[i] = s->p->now.n_functions +
				      STORE_AT(struct module, s->p->modules, f->module.v).name.v;
		else if (n == MAP_NONE)
			map_add(&first, hash, i);
	}
	map_done(&first);
}

static bool say_all(struct shortening *s)
{
	const struct profile *p = s->p;
	uint64_t n_groups = (uint64_t)p->now.n_functions + p->now.n_strings;
	bool done;

	group_functions(s);
	s->n_groups = (uint32_t)n_groups;
	s->met = xcalloc(2 * N_GROUPINGS * (size_t)n_groups, sizeof(*s->met));
	store_rows_done(&s->p->trie.beyond); /* an empty one, which a fold begins anew */
	compact_begin(&s->beyond, s->p, &s->p->trie.beyond, MOST_BEYOND,
		      s->was->beyond.n > 0 ? s->was->beyond.slot_ns : 0);
	done = say_again(s);
	for (uint64_t i = 0; i < p->now.n_samples && done; i++) {
		struct folded row = compact_row_at(&p->samples, i);

		/* What is not old stays, and what is a single frame without a mark. */
		if (!stays(s, row.stack))
			done = walk_row(s, &row);
	}
	compact_end(&s->beyond);
	map_done(&s->frames);
	free(s->met);
	free(s->group);
	return done;
}

static uint32_t mark_location(struct profile *p)
{
	function_id f = build_function(p, build_cstring(p, SHORTENED_NAME), (module_id){ 0 },
				       FUNCTION_MARK, (string_id){ 0 }, 0);

	return build_symbol_location(p, f).v;
}

static bool renew_rows(struct shortening *s, struct store_rows *rows)
{
	if (!compact_all(s->p, s->to, s->threads, rows))
		return false;
	if (s->p->heap.now.n_origins == 0 || store_heap_restack(s->p, s->to, &s->gone))
		return true;
	store_rows_done(rows);
	return false;
}

/* The profile's trie becomes the new one; false, and all is as it was: there is no room. */
static bool renew(struct shortening *s, struct store_rows *rows)
{
	struct profile *p = s->p;
	uint32_t n = p->now.n_stacks;

	*s->was = p->trie;
	if (choose(s) && say_all(s) && renew_rows(s, rows))
		return true;
	store_trie_done(&p->trie);
	p->trie = *s->was;
	p->now.n_stacks = n;
	p->sticky = 0;
	return false;
}

/* Is a stack one whose innermost frame stands behind the mark? */
static bool is_shortened(const struct profile *p, uint32_t stack, uint32_t mark)
{
	uint32_t up = STORE_AT(uint32_t, p->trie.parent, stack);

	return STORE_AT(uint32_t, p->trie.location, up) == mark;
}

/* Says how many allocations have such stacks. */
static void state_shortened_heap(struct profile *p, uint32_t mark)
{
	char text[FMT_COUNTED_SIZE];
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->heap.now.n_bulk; i++) {
		const struct heap_bulk *b = &STORE_AT(struct heap_bulk, p->heap.bulk, i);

		if (is_shortened(p, stack_of_origin(p, b->origin), mark))
			n += b->calls;
	}
	/* Those that have such stacks are still there one by one, or none are. */
	if (n == 0)
		return;
	build_fact_of_all(
		p, "stacks", "shortened", FACT_MISSING,
		"%s freed long ago, by stacks that few share: frames before the last are " SHORTENED_NAME
		", and sums of functions before it lack them",
		fmt_about(text, (int64_t)(n & INT64_MAX), "block"));
}

/* Says how many samples have such stacks. */
static void state_shortened(struct profile *p, uint32_t mark)
{
	uint64_t n = 0;
	char text[FMT_COUNTED_SIZE];

	for (uint64_t i = 0; i < p->now.n_samples; i++) {
		struct folded row = compact_row_at(&p->samples, i);

		if (is_shortened(p, row.stack, mark))
			n += samples_of(p, &row);
	}
	build_fact_of_all(
		p, "stacks", "shortened", FACT_MISSING,
		"%s of old stacks that few share: frames before the last are " SHORTENED_NAME
		", sums of functions are whole",
		fmt_about(text, (int64_t)(n & INT64_MAX), "sample"));
}

bool build_shorten(struct profile *p, uint32_t **to, uint32_t *n)
{
	struct shortening s = { .p = p, .n = p->now.n_stacks };
	struct store_rows rows;
	bool done;

	if (!store_shorten_due(p))
		return false;
	s.threads = merge_exited_threads(p, compact_old_ns(p));
	s.mark = mark_location(p);
	s.n_samples = xcalloc(s.n, sizeof(*s.n_samples));
	s.young = xcalloc(s.n, sizeof(*s.young));
	s.to = xmalloc(s.n * sizeof(*s.to));
	s.was = xmalloc(sizeof(*s.was));
	count_samples(&s, compact_old_ns(p));
	done = renew(&s, &rows);
	free(s.n_samples);
	free(s.young);
	free(s.threads);
	/*
	 * It costs a pass over everything, and every answer costs one until then: it waits for an eighth more; for half more where
	 * that pass goes over what a heap has.
	 */
	p->shorten_at = p->now.n_stacks + p->now.n_stacks / (p->heap.now.n_origins > 0 ? 2 : 8);
	if (p->shorten_at < p->folding.n_stacks)
		p->shorten_at = p->folding.n_stacks;
	if (!done) {
		free(s.was);
		free(s.to);
		return false;
	}
	store_trie_close(s.was);
	store_publish(p, &rows, s.was, s.gone);
	if (p->heap.now.n_origins > 0)
		state_shortened_heap(p, s.mark);
	else
		state_shortened(p, s.mark);
	store_tell_stacks(p, s.to, s.n);
	if (!to) {
		free(s.to);
		return true;
	}
	*to = s.to;
	*n = s.n;
	return true;
}
