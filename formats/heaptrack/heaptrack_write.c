/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happened on the heaps that the filter leaves, in the order of time. A definition is written before the first line that needs
 * it. The names of threads are left out of stacks, as heaptrack knows no threads.
 */
#include "config.h"

#include "formats/heaptrack/heaptrack_write.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/heaptrack/packed_text.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/heap_pass.h"
#include "query/core/sample_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000

#define PAGE_BYTES 4096

/* An allocation or a free of a row: the row times two, and 1 for an allocation. */
typedef uint32_t happening;

/* What happened on one heap, by moment. */
struct story {
	uint32_t *from; /* [n_moments + 1] where what happened at a moment begins in `all`; owned */
	happening *all; /* owned */
	uint32_t n_moments;
	uint32_t at; /* the next moment */
};

/* A size and a stack: a line "a". */
struct kind {
	uint64_t size;
	uint32_t trace;
};

struct writer {
	const struct analysis *a;
	const struct profile *p;
	struct packed_text *out;
	struct stack_columns stacks;
	struct location_columns locations;
	struct heap_state state;
	struct heap_pass pass;
	struct story *story; /* [n_tracks]; owned */
	uint32_t *string;    /* [n_strings + 1] number of each, 0: not written; owned */
	uint32_t *pointer;   /* [n_locations] likewise; owned */
	uint32_t *trace;     /* [n_stacks] likewise; owned */
	size_t n_strings_known;
	uint32_t n_strings, n_pointers, n_traces;
	VEC(struct kind) kinds;
	struct map by_kind;
	VEC(uint32_t) path; /* stacks on the way out */
	int64_t ms;         /* the time that was written last */
	uint32_t reading;   /* of the resident set, the next */
	uint64_t live, peak;
	VEC(uint32_t) bulk; /* that are to be written as soon as they fit below the peak */
};

/* Definitions. */

/* A line break ends a line, whatever is said of lengths. */
static void put_text(struct writer *w, const char *s, size_t n)
{
	for (const char *end = s + n; s < end; s++) {
		size_t plain = strcspn(s, "\n");

		if (plain > (size_t)(end - s))
			plain = (size_t)(end - s);
		packed_text_put(w->out, s, plain);
		s += plain;
		if (s < end)
			packed_text_put(w->out, " ", 1);
	}
}

static uint32_t string_of(struct writer *w, uint32_t id)
{
	const char *s;
	size_t n;

	if (id == 0)
		return 0;
	/* Names may have come since the counts were held. */
	if (id >= w->n_strings_known) {
		size_t more = (size_t)id + 1024;

		w->string = xreallocarray(w->string, more, sizeof(*w->string));
		memset(w->string + w->n_strings_known, 0,
		       (more - w->n_strings_known) * sizeof(*w->string));
		w->n_strings_known = more;
	}
	if (w->string[id] == 0) {
		s = profile_string(w->p, (string_id){ id }, &n);
		packed_text_print(w->out, "s %zx ", n);
		put_text(w, s, n);
		packed_text_put(w->out, "\n", 1);
		w->string[id] = ++w->n_strings;
	}
	return w->string[id];
}

static const struct function *function_of(const struct writer *w, uint32_t location)
{
	const struct frame *run = location_frames(&w->locations, location);
	uint32_t id = run ? run->function : location_function(&w->locations, location);

	return id != ID_NONE ? profile_function(w->p, (function_id){ id }) : NULL;
}

/* The name of a function; 0 where there is no more to say than its module. */
static uint32_t name_of(struct writer *w, uint32_t id)
{
	const struct function *f = id != ID_NONE ? profile_function(w->p, (function_id){ id })
						 : NULL;

	if (!f || (f->flags & FUNCTION_UNRESOLVED && !(f->flags & FUNCTION_BEGIN)))
		return 0;
	return string_of(w, f->name.v);
}

static uint32_t pointer_of(struct writer *w, uint32_t location)
{
	const struct frame alone = { .function = location_function(&w->locations, location) };
	const struct frame *run = location_frames(&w->locations, location);
	const struct function *f = function_of(w, location);
	uint64_t address = w->locations.address[location];
	uint32_t module;

	if (w->pointer[location] != 0)
		return w->pointer[location];
	module = f ? f->module.v : w->locations.module[location];
	module = string_of(w, profile_module(w->p, (module_id){ module })->path.v);
	if (!run)
		run = &alone;
	for (uint32_t i = 0; i <= run->n_more; i++) {
		name_of(w, run[i].function);
		string_of(w, run[i].file);
	}
	/* No address is none of heaptrack's; what has none gets one of its own. */
	packed_text_print(w->out, "i %" PRIx64 " %x", address > 0 ? address : location + 1u,
			  module);
	for (uint32_t i = run->n_more + 1; i-- > 0;) {
		uint32_t name = name_of(w, run[i].function), file = string_of(w, run[i].file);

		if (name != 0 || file != 0 || i > 0)
			packed_text_print(w->out, " %x %x %x", name, file, run[i].line);
	}
	packed_text_put(w->out, "\n", 1);
	return w->pointer[location] = ++w->n_pointers;
}

static bool is_thread_name(const struct writer *w, uint32_t location)
{
	const struct function *f = function_of(w, location);

	return f && f->flags & FUNCTION_COMM;
}

/* The node of a stack; 0 is none. */
static uint32_t trace_of(struct writer *w, uint32_t stack)
{
	uint32_t parent = 0;

	vec_clear(&w->path);
	for (; stack != 0 && w->trace[stack] == 0; stack = w->stacks.parent[stack])
		vec_push(&w->path, stack);
	parent = stack != 0 ? w->trace[stack] : 0;
	for (size_t i = w->path.n; i-- > 0;) {
		uint32_t location = w->stacks.location[w->path.at[i]], pointer;

		if (is_thread_name(w, location))
			continue;
		pointer = pointer_of(w, location);
		packed_text_print(w->out, "t %x %x\n", pointer, parent);
		parent = w->trace[w->path.at[i]] = ++w->n_traces;
	}
	return parent;
}

static bool same_kind(const void *things, uint32_t value, const void *key)
{
	const struct kind *a = &((const struct kind *)things)[value], *b = key;

	return a->size == b->size && a->trace == b->trace;
}

static uint32_t kind_of(struct writer *w, uint64_t size, uint32_t stack)
{
	struct kind key = { size, trace_of(w, stack) };
	uint64_t hash = hash_u64(size * 31 + key.trace);
	uint32_t known = map_find(&w->by_kind, hash, same_kind, w->kinds.at, &key);

	if (known != MAP_NONE)
		return known;
	packed_text_print(w->out, "a %" PRIx64 " %x\n", size, key.trace);
	vec_push(&w->kinds, key);
	map_add(&w->by_kind, hash, (uint32_t)w->kinds.n - 1);
	return (uint32_t)w->kinds.n - 1;
}

/* What happened. */

static bool passes(const struct writer *w, uint32_t row)
{
	const struct heap_columns *c = &w->state.columns;

	return heap_pass_own(&w->pass, c, row, allocation_origin(c, row),
			     allocation_begin(c, row)) &&
	       heap_pass_lens(&w->pass, c, row, allocation_origin(c, row),
			      allocation_begin(c, row));
}

static uint32_t end_of(const struct writer *w, uint32_t row)
{
	const struct heap_columns *c = &w->state.columns;
	uint32_t track = c->origins[allocation_origin(c, row)].track;

	return allocation_end(c, row, w->state.track[track].n_moments);
}

/* Where each moment's share begins, after how much each has was counted. */
static void add_up(struct story *s)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m <= s->n_moments; m++) {
		uint32_t here = s->from[m];

		s->from[m] = n;
		n += here;
	}
	s->all = xcalloc((size_t)n + 1, sizeof(*s->all));
}

/* Moves what add_up() left back, after filling in moved it on. */
static void move_back(struct story *s)
{
	for (uint32_t m = s->n_moments; m > 0; m--)
		s->from[m] = s->from[m - 1];
	if (s->n_moments > 0)
		s->from[0] = 0;
}

/* Frees of a moment come before its allocations, as in a realloc. */
static void make_stories(struct writer *w)
{
	const struct heap_columns *c = &w->state.columns;

	w->story = xcalloc(c->n_tracks + 1u, sizeof(*w->story));
	for (uint32_t i = 0; i < c->n_tracks; i++) {
		w->story[i].n_moments = w->state.track[i].n_moments;
		w->story[i].from = xcalloc((size_t)w->story[i].n_moments + 1, sizeof(uint32_t));
	}
	for (int pass = 0; pass < 3; pass++) {
		for (uint32_t row = 0; row < c->n_allocations; row++) {
			struct story *s = &w->story[c->origins[allocation_origin(c, row)].track];
			uint32_t end = end_of(w, row);

			if (!passes(w, row))
				continue;
			if (pass == 0)
				s->from[allocation_begin(c, row)]++;
			if (pass == 0 && end != END_NEVER)
				s->from[end & END_MOMENT]++;
			if (pass == 1 && end != END_NEVER)
				s->all[s->from[end & END_MOMENT]++] = 2 * row;
			if (pass == 2)
				s->all[s->from[allocation_begin(c, row)]++] = 2 * row + 1;
		}
		for (uint32_t i = 0; i < c->n_tracks && pass == 0; i++)
			add_up(&w->story[i]);
	}
	for (uint32_t i = 0; i < c->n_tracks; i++)
		move_back(&w->story[i]);
}

/* The track on which something happens next, and when since the recordings began; -1: on none. */
static int64_t next_track(struct writer *w, uint32_t *track)
{
	int64_t best = -1;

	for (uint32_t i = 0; i < w->state.columns.n_tracks; i++) {
		struct story *s = &w->story[i];
		int64_t at;

		while (s->at < s->n_moments && s->from[s->at] == s->from[s->at + 1])
			s->at++;
		if (s->at == s->n_moments)
			continue;
		at = heap_track_time(&w->state.track[i], s->at) - w->state.begin_ns[i];
		at = at > 0 ? at : 0;
		if (best < 0 || at < best) {
			best = at;
			*track = i;
		}
	}
	return best;
}

static void put_readings(struct writer *w, int64_t until_ns)
{
	const struct heap_reading *all = profile_heap_readings(w->p);

	for (; w->reading < w->state.columns.n_readings; w->reading++) {
		const struct heap_reading *r = &all[w->reading];
		const struct heap_series *s = profile_heap_series(w->p, (series_id){ r->series });
		int64_t begin = capture_begin(profile_capture(w->p, s->capture));
		int64_t since = begin == TIME_NONE ? 0 : r->time_ns - begin;

		if (since > until_ns)
			return;
		if (strcmp(profile_string(w->p, s->name, NULL), "RSS") == 0 && r->value > 0)
			packed_text_print(w->out, "R %" PRIx64 "\n",
					  (uint64_t)r->value / PAGE_BYTES);
	}
}

static void put_time(struct writer *w, int64_t since_ns)
{
	int64_t ms = since_ns / NS_PER_MS;

	if (ms <= w->ms)
		return;
	packed_text_print(w->out, "c %" PRIx64 "\n", (uint64_t)ms);
	w->ms = ms;
	put_readings(w, since_ns);
}

/* Blocks that are known as sums only: pairs of an allocation and a free, of equal sizes as far as that goes. */
static void put_pairs(struct writer *w, const struct heap_bulk *b)
{
	uint32_t stack = w->state.columns.origins[b->origin].stack;
	uint64_t n_larger = b->bytes % b->calls;

	for (int larger = 1; larger >= 0; larger--) {
		uint64_t n = larger ? n_larger : b->calls - n_larger;
		uint32_t kind;

		if (n == 0)
			continue;
		kind = kind_of(w, b->bytes / b->calls + (uint64_t)larger, stack);
		for (uint64_t i = 0; i < n; i++)
			packed_text_print(w->out, "+ %x\n- %x\n", kind, kind);
	}
}

/* Those that do not make the peak higher. all: the others too. */
static void put_bulk(struct writer *w, bool all)
{
	size_t left = 0;

	for (size_t i = 0; i < w->bulk.n; i++) {
		const struct heap_bulk *b = &w->state.columns.bulk[w->bulk.at[i]];

		if (all || w->live + b->bytes / b->calls < w->peak)
			put_pairs(w, b);
		else
			w->bulk.at[left++] = w->bulk.at[i];
	}
	w->bulk.n = left;
}

static void choose_bulk(struct writer *w)
{
	const struct heap_columns *c = &w->state.columns;

	for (uint32_t i = 0; i < c->n_bulk; i++) {
		const struct heap_bulk *b = &c->bulk[i];

		if (b->calls > 0 && heap_pass_own(&w->pass, c, ID_NONE, b->origin, b->moment) &&
		    heap_pass_lens(&w->pass, c, ID_NONE, b->origin, b->moment))
			vec_push(&w->bulk, i);
	}
}

static void put_moment(struct writer *w, struct story *s, bool write)
{
	const struct heap_columns *c = &w->state.columns;

	for (uint32_t i = s->from[s->at]; i < s->from[s->at + 1]; i++) {
		uint32_t row = s->all[i] / 2;
		bool begins = s->all[i] % 2;
		uint64_t size = allocation_size(c, row);

		w->live = begins ? w->live + size : w->live - size;
		w->peak = w->live > w->peak ? w->live : w->peak;
		if (write) {
			uint32_t kind = kind_of(w, size,
						c->origins[allocation_origin(c, row)].stack);

			packed_text_print(w->out, "%c %x\n", begins ? '+' : '-', kind);
		}
	}
	s->at++;
}

/* Goes through all that happened; first only to find the peak. */
static int put_stories(struct writer *w, bool write)
{
	uint32_t track = 0, n_tracks = w->state.columns.n_tracks;
	int64_t at;

	w->live = 0;
	for (uint32_t i = 0; i < n_tracks; i++)
		w->story[i].at = 0;
	while ((at = next_track(w, &track)) >= 0) {
		if (write) {
			put_time(w, at);
			if (w->bulk.n > 0)
				put_bulk(w, false);
		}
		put_moment(w, &w->story[track], write);
	}
	return 0;
}

/* The file. */

/* "X COMMAND": as it was started, where that is known; else the program's name. */
static void put_program(struct writer *w)
{
	string_id name = { 0 };
	const char *s;
	size_t n;

	for (uint32_t i = 0; i < w->a->counts.n_facts && name.v == 0; i++) {
		struct fact f = profile_fact(w->p, i);

		if (strcmp(profile_string(w->p, f.name, NULL), "command") == 0)
			name = f.text;
	}
	if (name.v == 0 && w->state.columns.n_tracks > 0)
		name = process_name(profile_process(w->p, w->state.track[0].process));
	s = profile_string(w->p, name, &n);
	packed_text_put(w->out, "X ", 2);
	put_text(w, s, n);
	packed_text_print(w->out, "\nI %x 0\n", PAGE_BYTES);
}

static void put_all(struct writer *w)
{
	int64_t begin = w->a->weights.begin_ns, end = w->a->weights.end_ns;

	packed_text_print(w->out, "v 10400 3\n");
	put_program(w);
	for (uint32_t i = 0; i < w->state.columns.n_tracks; i++)
		if (w->state.track[i].attached) {
			packed_text_print(w->out, "A\n");
			break;
		}
	make_stories(w);
	choose_bulk(w);
	put_stories(w, false);
	put_stories(w, true);
	put_bulk(w, true);
	if (begin != TIME_NONE && end > begin)
		put_time(w, end - begin);
	put_readings(w, INT64_MAX);
	packed_text_print(w->out, "\n# strings: %u\n# ips: %u\n", w->n_strings, w->n_pointers);
}

static bool changes_stacks(const struct filter *f)
{
	size_t n;
	const struct term *t = filter_terms(f, &n);

	for (size_t i = 0; i < n; i++)
		if (term_is_transform(&t[i]))
			return true;
	return false;
}

/* Each is two lines. */
#define MOST_PAIRS 100000000u

/* Do allocations that are known as sums only need more lines than anyone would read? */
static bool too_many_pairs(const struct writer *w)
{
	const struct heap_columns *c = &w->state.columns;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n_bulk; i++)
		if (__builtin_add_overflow(sum, c->bulk[i].calls, &sum) || sum > MOST_PAIRS)
			return true;
	return false;
}

/* 0, or the sentence why it cannot be written. */
static int check(const struct writer *w, struct err *e)
{
	struct metric m = w->a->lens.column[0].metric;

	if (m.event.v >= w->a->counts.n_events || !profile_event(w->p, m.event)->is_heap)
		return err_set(e, -EINVAL,
			       "heaptrack's format has heaps only, and what is to be "
			       "written is not one");
	if (!w->state.exact)
		return err_set(e, -EINVAL,
			       "the heap is sampled: heaptrack's format has no estimates");
	if (changes_stacks(w->a->lens.filter))
		return err_set(e, -EINVAL,
			       "a filter that changes stacks cannot be written as heaptrack");
	if (too_many_pairs(w))
		return err_set(
			e, -EINVAL,
			"more than %u allocations are known as sums only: heaptrack's format "
			"has a line for each",
			MOST_PAIRS);
	return 0;
}

static void writer_done(struct writer *w)
{
	for (uint32_t i = 0; w->story && i < w->state.columns.n_tracks; i++) {
		free(w->story[i].from);
		free(w->story[i].all);
	}
	free(w->story);
	heap_state_done(&w->state);
	free(w->string);
	free(w->pointer);
	free(w->trace);
	vec_done(&w->kinds);
	vec_done(&w->path);
	vec_done(&w->bulk);
	map_done(&w->by_kind);
}

int heaptrack_write(const struct analysis *a, const struct write_options *o, FILE *to,
		    struct err *e)
{
	struct writer w = { .a = a, .p = a->profile };
	struct sample_scan *scan = NULL;
	int rc;

	heap_state_init(&w.state, a->profile, &a->counts);
	rc = check(&w, e);
	if (rc == 0 && sample_scan_new(a->profile, &a->counts, &a->lens, NULL, &scan) < 0)
		rc = err_set(e, -ECANCELED, "cannot go through the allocations");
	if (rc < 0) {
		writer_done(&w);
		return rc;
	}
	heap_pass_init(&w.pass, &w.state, scan, 0, NULL);
	profile_stacks_of(a->profile, &a->counts, &w.stacks);
	profile_locations(a->profile, &w.locations);
	w.n_strings_known = a->counts.n_strings + 1u;
	w.string = xcalloc(w.n_strings_known, sizeof(*w.string));
	w.pointer = xcalloc(a->counts.n_locations + 1u, sizeof(*w.pointer));
	w.trace = xcalloc(a->counts.n_stacks + 1u, sizeof(*w.trace));
	w.out = packed_text_new(to, o ? o->name : NULL);
	put_all(&w);
	rc = packed_text_end(w.out);
	heap_pass_done(&w.pass);
	sample_scan_free(scan);
	writer_done(&w);
	return rc < 0 ? err_set(e, rc, "cannot write the heap: %s", strerror(-rc)) : 0;
}
