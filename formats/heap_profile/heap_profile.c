/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks with numbers of objects and bytes, of what is in use and, where it was counted, of all that was allocated. */
#include "config.h"

#include "formats/heap_profile/heap_profile.h"

#include "base/bisect.h"
#include "base/err.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "formats/facts.h"
#include "formats/heap_profile/heap_profile_text.h"
#include "formats/summed_heap.h"
#include "formats/text_read.h"
#include "input/input.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The process that mappings are said to be of: a profile names none. */
#define THE_PID 1

/* Addresses from start on, below end. */
struct range {
	uint64_t start, end;
};

/* An address with a name. */
struct named {
	uint64_t address;
	uint32_t location; /* location_id */
};

struct reader {
	struct text_read text;
	struct heap_profile_text t;
	struct profile *p;
	capture_id capture;
	struct resolver_options options;
	struct resolver *resolver;
	VEC(struct named) named; /* addresses that the text has names for */
	struct map by_address;
	VEC(struct frame) frames;    /* of the location that is being made */
	VEC(uint64_t) stack;         /* sorted addresses of the sample before stack_of */
	size_t stack_of;             /* n_samples of the names that it is for; 0: none */
	VEC(struct range) allocator; /* where the allocator's library is; rising, apart */
	event_id event[N_HEAP_PROFILE_NUMBERS];
	struct summed_heap *heap; /* NULL: it is of growth, not of what is in use; owned */
	bool has_all;             /* what was allocated in all is not what is in use */
	uint64_t n_large;
};

static void take(void *arg, bool ended)
{
	struct reader *r = arg;
	const char *s, *problem;
	size_t n;

	while (lines_next(&r->text.lines, &s, &n)) {
		problem = s ? heap_profile_text_line(&r->t, s, n) : "is too long";
		if (problem)
			text_read_complain(&r->text, problem);
	}
	if (ended)
		heap_profile_text_end(&r->t);
}

/* Locations. */

static bool same_address(const void *things, uint32_t value, const void *key)
{
	return ((const struct named *)things)[value].address == *(const uint64_t *)key;
}

/* A run of names of one address, innermost first. */
static location_id build_run(struct reader *r, const struct heap_profile_name *run, size_t n)
{
	vec_clear(&r->frames);
	for (size_t i = n; i-- > 0;) {
		const char *path = profile_string(r->p, (string_id){ run[i].file }, NULL);
		module_id m = *path ? build_module(r->p, path, "", FAMILY_PROGRAM)
				    : (module_id){ 0 };
		function_id f = build_function(r->p, (string_id){ run[i].name }, m, 0,
					       (string_id){ run[i].file }, 0);

		vec_push(&r->frames,
			 ((struct frame){
				 .function = f.v, .file = run[i].file, .line = run[i].line }));
	}
	return build_frames_location(r->p, r->frames.at, (uint32_t)r->frames.n);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The first place in the sorted stack at which an address or a higher one is. */
static size_t place_in_stack(const struct reader *r, uint64_t address)
{
	size_t from = 0;

	BISECT(from, r->stack.n, i, r->stack.at[i] < address);
	return from;
}

/* How often an address is in the stack that a name stands below. Names are asked for in their order. */
static size_t times_in_stack(struct reader *r, const struct heap_profile_name *name,
			     uint64_t address)
{
	const struct heap_profile_sample *s;

	if (name->n_samples == 0)
		return 0;
	if (r->stack_of != name->n_samples) {
		r->stack_of = name->n_samples;
		s = &r->t.samples.at[name->n_samples - 1];
		vec_clear(&r->stack);
		for (size_t i = 0; i < s->n; i++)
			vec_push(&r->stack, r->t.addresses.at[s->first + i]);
		if (s->n > 1)
			qsort(r->stack.at, s->n, sizeof(*r->stack.at), by_value);
	}
	return (address < UINT64_MAX ? place_in_stack(r, address + 1) : r->stack.n) -
	       place_in_stack(r, address);
}

/* The address in the stack: Go's stacks have return addresses, and the names below have one less. */
static uint64_t stack_address(struct reader *r, const struct heap_profile_name *name)
{
	uint64_t a = name->address;

	if (a < UINT64_MAX && times_in_stack(r, name, a) == 0 && times_in_stack(r, name, a + 1) > 0)
		return a + 1;
	return a;
}

/*
 * Go repeats the names of an address below each stack that has it: the first run counts. A function that calls itself at one place
 * is in a stack several times, and so are its names.
 */
static void build_names(struct reader *r)
{
	const struct heap_profile_name *all = r->t.names.at;

	for (size_t i = 0, end; i < r->t.names.n; i = end) {
		uint64_t address = stack_address(r, &all[i]), hash = hash_u64(address);
		size_t times = times_in_stack(r, &all[i], address);

		for (end = i + 1; end < r->t.names.n && all[end].address == all[i].address &&
				  all[end].n_samples == all[i].n_samples;)
			end++;
		if (map_find(&r->by_address, hash, same_address, r->named.at, &address) != MAP_NONE)
			continue;
		times = times > 0 && (end - i) % times == 0 ? times : 1;
		vec_push(&r->named,
			 ((struct named){ address, build_run(r, &all[i], (end - i) / times).v }));
		map_add(&r->by_address, hash, (uint32_t)r->named.n - 1);
	}
}

static void build_maps(struct reader *r)
{
	r->resolver = resolver_new(r->p, r->capture, &r->options);
	for (size_t i = 0; i < r->t.maps.n; i++) {
		const struct heap_profile_map *m = &r->t.maps.at[i];
		const struct mapping_event event = { .time_ns = INT64_MIN,
						     .pid = THE_PID,
						     .start = m->start,
						     .length = m->end - m->start,
						     .file_offset = m->offset,
						     .path = profile_string(
							     r->p, (string_id){ m->path }, NULL),
						     .executable = m->executable };

		resolver_map(r->resolver, &event);
	}
}

static location_id location_of(struct reader *r, uint64_t address)
{
	uint32_t known = map_find(&r->by_address, hash_u64(address), same_address, r->named.at,
				  &address);

	if (known != MAP_NONE)
		return (location_id){ r->named.at[known].location };
	return resolver_locate(r->resolver, THE_PID, TIME_NONE, address, MODE_USER, true);
}

/* Numbers. */

/*
 * How many blocks a sampled one stands for: it was there by chance, with 1 - exp(-size / rate), where size is the mean of the
 * blocks of its stack. As pprof and jeprof have it, which round towards 0.
 */
static void scale(const struct heap_profile_text *t, uint64_t *objects, uint64_t *bytes)
{
	double size, factor;

	if (t->kind != HEAP_PROFILE_SAMPLED || t->rate <= 1 || *objects == 0)
		return;
	size = (double)*bytes / (double)*objects;
	factor = *bytes > 0 ? 1 / -expm1(-size / (double)t->rate) : 0;
	if ((double)*bytes * factor >= 9e18 || (double)*objects * factor >= 9e18) {
		*objects = *bytes = UINT64_MAX;
		return;
	}
	*objects = (uint64_t)((double)*objects * factor);
	*bytes = (uint64_t)((double)*bytes * factor);
}

static void begin_events(struct reader *r)
{
	static const char *const names[] = { "inuse_objects", "inuse_space", "alloc_objects",
					     "alloc_space" };
	static const char *const growth[] = { "objects", "space" };

	for (size_t i = 0; i < r->t.samples.n; i++) {
		const uint64_t *n = r->t.samples.at[i].number;

		r->has_all |= (n[HEAP_PROFILE_ALL_OBJECTS] != n[HEAP_PROFILE_OBJECTS] &&
			       n[HEAP_PROFILE_ALL_OBJECTS] != 0) ||
			      (n[HEAP_PROFILE_ALL_BYTES] != n[HEAP_PROFILE_BYTES] &&
			       n[HEAP_PROFILE_ALL_BYTES] != 0);
	}
	if (r->t.kind != HEAP_PROFILE_GROWTH)
		r->heap = summed_heap_new(r->p, r->capture, r->has_all);
	for (int i = 0; i < (r->has_all ? 4 : 2); i++)
		r->event[i] = build_summed_event(
			r->p, r->t.kind == HEAP_PROFILE_GROWTH && i < 2 ? growth[i] : names[i],
			i % 2 == 0 ? UNIT_COUNT : UNIT_BYTES);
	if (!r->heap)
		build_event_default(r->p, r->event[HEAP_PROFILE_BYTES]);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void find_allocator(struct reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->t.maps.n; i++) {
		const struct heap_profile_map *m = &r->t.maps.at[i];
		const char *path = profile_string(r->p, (string_id){ m->path }, NULL);

		if (m->start >= m->end)
			continue;
		if (strstr(path, "/libjemalloc") || strstr(path, "/libtcmalloc"))
			vec_push(&r->allocator, ((struct range){ m->start, m->end }));
	}
	if (r->allocator.n > 1)
		qsort(r->allocator.at, r->allocator.n, sizeof(*r->allocator.at), by_start);
	for (size_t i = 1; i < r->allocator.n; i++) {
		const struct range *next = &r->allocator.at[i];
		struct range *last = &r->allocator.at[n];

		if (next->start > last->end)
			r->allocator.at[++n] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	if (r->allocator.n > 0)
		r->allocator.n = n + 1;
}

/* Is it an address of the allocator's library, which every stack begins with? jeprof and pprof leave it out as well. */
static bool is_allocator(const struct reader *r, uint64_t address)
{
	size_t from = 0;

	BISECT(from, r->allocator.n, i, r->allocator.at[i].end <= address);
	return from < r->allocator.n && r->allocator.at[from].start <= address;
}

static void add_to_heap(struct reader *r, stack_id stack, const uint64_t n[N_HEAP_PROFILE_NUMBERS])
{
	static const enum summed_number as[N_HEAP_PROFILE_NUMBERS] = {
		[HEAP_PROFILE_OBJECTS] = SUMMED_USED_BLOCKS,
		[HEAP_PROFILE_BYTES] = SUMMED_USED_BYTES,
		[HEAP_PROFILE_ALL_OBJECTS] = SUMMED_ALL_BLOCKS,
		[HEAP_PROFILE_ALL_BYTES] = SUMMED_ALL_BYTES,
	};
	int64_t number[N_SUMMED_NUMBERS] = { 0 };

	for (int i = 0; i < N_HEAP_PROFILE_NUMBERS; i++) {
		/* It is counted as left out by add_sample(). */
		if (n[i] > INT64_MAX)
			return;
		number[as[i]] = (int64_t)n[i];
	}
	if (r->heap)
		summed_heap_add(r->heap, stack, (thread_id){ ID_NONE }, number);
}

static void add_sample(struct reader *r, const struct heap_profile_sample *of)
{
	size_t innermost = 0;
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	uint64_t n[N_HEAP_PROFILE_NUMBERS];

	memcpy(n, of->number, sizeof(n));
	scale(&r->t, &n[HEAP_PROFILE_OBJECTS], &n[HEAP_PROFILE_BYTES]);
	scale(&r->t, &n[HEAP_PROFILE_ALL_OBJECTS], &n[HEAP_PROFILE_ALL_BYTES]);
	while (innermost + 1 < of->n && is_allocator(r, r->t.addresses.at[of->first + innermost]))
		innermost++;
	for (size_t i = of->n; i-- > innermost;)
		s.stack = build_stack(r->p, s.stack,
				      location_of(r, r->t.addresses.at[of->first + i]));
	add_to_heap(r, s.stack, n);
	for (int i = 0; i < (r->has_all ? 4 : 2); i++) {
		s.event = r->event[i];
		s.weight = (int64_t)n[i];
		if (n[i] > INT64_MAX || (n[i] > 0 && build_sample(r->p, &s) < 0))
			r->n_large++;
	}
}

static void tell(struct reader *r)
{
	char text[FMT_SIZE];

	build_fact(r->p, r->capture, "file", "stacks", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)r->t.samples.n));
	if (r->t.kind == HEAP_PROFILE_SAMPLED && r->t.rate > 1)
		build_fact(r->p, r->capture, "heap", "sampled", FACT_PLAIN,
			   "every %s on average: numbers are estimates, worked out as pprof does",
			   fmt_bytes(text, (int64_t)(r->t.rate & INT64_MAX)));
	build_fact(r->p, r->capture, "heap", "times", FACT_PLAIN,
		   "not in the file: it has sums by stack, no single blocks");
	if (r->t.n_threads > 0)
		build_fact(r->p, r->capture, "heap", "threads", FACT_PLAIN,
			   "not shown: numbers are those of all threads together");
	if (r->heap)
		summed_heap_tell(r->heap);
	text_read_tell(&r->text);
	facts_loss(r->p, r->capture, "sums", r->n_large, "number",
		   "left out, as the sum would be too large");
}

static int read_heap_profile(struct input *in, struct profile *p, capture_id c,
			     const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = { .p = p, .capture = c, .t = { .p = p } };
	int rc;

	if (o && o->resolve)
		r.options = *o->resolve;
	text_read_init(&r.text, in, p, c);
	rc = text_read_all(&r.text, take, &r, progress);
	if (rc == -ECANCELED || r.t.samples.n == 0) {
		rc = text_read_refuse(&r.text, rc, "stack", e);
	} else {
		builder_begin(p);
		build_names(&r);
		build_maps(&r);
		find_allocator(&r);
		begin_events(&r);
		for (size_t i = 0; i < r.t.samples.n; i++)
			add_sample(&r, &r.t.samples.at[i]);
		tell(&r);
		rc = builder_end(p);
		if (rc == -EFBIG)
			err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
		if (rc == 0)
			rc = resolver_name(r.resolver, progress);
		if (rc == 0)
			rc = resolver_inline(r.resolver, progress);
	}
	resolver_free(r.resolver);
	summed_heap_free(r.heap);
	heap_profile_text_done(&r.t);
	map_done(&r.by_address);
	vec_done(&r.named);
	vec_done(&r.frames);
	vec_done(&r.stack);
	vec_done(&r.allocator);
	text_read_done(&r.text);
	return rc;
}

static int probe_text(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	/* Names may stand before profiles of other kinds. */
	if (n > 3 && memcmp(text, "---", 3) == 0 && !memmem(text, n, "\n--- heap\n", 10))
		return 0;
	return end && heap_profile_text_is_head(text, (size_t)(end - text)) ? FORMAT_SURE + 20 : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_heap_profile = {
	.name = "heap-profile",
	.title = "heap profiles as text: jemalloc, gperftools, tcmalloc, Go",
	.probe = probe,
	.read = read_heap_profile,
};
