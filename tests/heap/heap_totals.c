/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a heap trace the simple way and prints what it adds up to, for tests of the recorder: this shares
 * the decoding of blocks with proftop, but nothing of what proftop makes of them.
 *
 * heap_totals [-r | -s] FILE…: one line "name value" for each total; -r: the records too; -s: instead, for each stack that
 * allocated its calls, bytes, and bytes that were never freed.
 */
#include "config.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "heaptrace/heap_events.h"
#include "heaptrace/heap_records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct row {
	uint64_t id, address, size;
	uint64_t begun, ended; /* times; ended UINT64_MAX: was not freed */
	uint32_t stack, thread;
	bool freed;
};

struct loose_free {
	uint64_t address, time;
};

/* From its time on; mean 0: all are recorded. */
struct sampling {
	uint64_t time, mean, exact;
};

struct trace {
	VEC(struct row) rows;
	struct map by_id;
	VEC(struct loose_free) frees; /* ids in the place of addresses */
	VEC(struct loose_free) loose; /* frees by address */
	VEC(struct row) evicted;      /* id and address */
	VEC(struct heap_node) nodes;  /* [0] is the root */
	VEC(uint8_t) stack_used;      /* by node */
	uint64_t n_blocks, n_events, n_allocs, n_frees, n_bytes, n_reallocs, n_lost, n_unmatched,
		n_ranges;
	uint64_t n_culled,
		n_gap_ids;     /* allocations that were only counted; ids that are nobody's */
	uint64_t n_incomplete; /* stacks that end at an unknown caller */
	uint64_t n_bad, n_double;
	/* events before the one before them in their thread, or out of their address's order */
	uint64_t n_backward;
	VEC(uint64_t) last; /* by thread: time of its last event */
	uint64_t n_threads, n_modules;
	VEC(struct sampling) samplings; /* by time */
	uint64_t n_culled_bytes;
	struct heap_block dropped; /* sums of blocks of skipped events, and the last time of them */
	bool ended, cut;
	bool tell_records;
};

static uint8_t *read_whole(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(path);
		exit(2);
	}
	*n = (size_t)ftell(f);
	rewind(f);
	bytes = xmalloc(*n + 1);
	*n = fread(bytes, 1, *n, f);
	fclose(f);
	return bytes;
}

static struct heap_in unpack(const struct heap_block *b, uint8_t id, uint8_t **own)
{
	const struct heap_column *c = heap_block_column(b, id);
	size_t n;

	*own = NULL;
	if (!c || c->n_raw == 0)
		return heap_in_over(NULL, 0);
	if (c->codec == HEAP_STORED)
		return heap_in_over(c->bytes, c->n_raw);
	*own = xmalloc(c->n_raw);
	n = ZSTD_decompress(*own, c->n_raw, c->bytes, c->n_stored);
	if (ZSTD_isError(n) || n != c->n_raw) {
		fprintf(stderr, "a column cannot be unpacked\n");
		exit(3);
	}
	return heap_in_over(*own, n);
}

static bool same_id(const void *things, uint32_t value, const void *key)
{
	const struct trace *t = things;

	return t->rows.at[value].id == *(const uint64_t *)key;
}

static struct row *row_of(struct trace *t, uint64_t id)
{
	uint32_t i = map_find(&t->by_id, hash_u64(id), same_id, t, &id);

	return i == MAP_NONE ? NULL : &t->rows.at[i];
}

/* That an allocation was recorded. */
static double probability(const struct trace *t, const struct row *r)
{
	const struct sampling *s = NULL;

	/* The first one is from the beginning. */
	for (size_t i = 0; i < t->samplings.n && (i == 0 || t->samplings.at[i].time <= r->begun);
	     i++)
		s = &t->samplings.at[i];
	if (!s || !s->mean || (s->exact && r->size >= s->exact))
		return 1;
	return -expm1(-(r->size ? (double)r->size : 1) / (double)s->mean);
}

/* How many bytes were allocated, as sampling tells; *variance: of that, as it tells too. */
static double estimate(const struct trace *t, double *variance)
{
	double bytes = (double)t->n_culled_bytes;

	*variance = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		double size = (double)t->rows.at[i].size, p = probability(t, &t->rows.at[i]);

		bytes += size / p;
		*variance += size * size * (1 - p) / (p * p);
	}
	return bytes;
}

static void take_event(struct trace *t, uint32_t thread, const struct heap_event *e)
{
	struct row row = { .id = e->id,
			   .address = e->address,
			   .size = e->size,
			   .stack = e->stack,
			   .thread = thread,
			   .begun = e->time,
			   .ended = UINT64_MAX };

	t->n_events++;
	while (t->last.n <= thread)
		vec_push(&t->last, 0);
	t->n_backward += e->time < t->last.at[thread];
	t->last.at[thread] = e->time;
	if (e->op == HEAP_GAP) {
		t->n_gap_ids += e->size;
		return;
	}
	if (e->op == HEAP_FREE || e->op == HEAP_FREE_ADDRESS)
		t->n_frees++;
	if (e->op == HEAP_REALLOC || e->op == HEAP_REALLOC_ADDRESS)
		t->n_reallocs++;
	if (e->op == HEAP_FREE)
		vec_push(&t->frees, ((struct loose_free){ e->id, e->time }));
	if (e->op == HEAP_REALLOC)
		vec_push(&t->frees, ((struct loose_free){ e->old_id, e->time - e->early }));
	if (e->op == HEAP_FREE_ADDRESS)
		vec_push(&t->loose, ((struct loose_free){ e->old_address, e->time }));
	if (e->op == HEAP_REALLOC_ADDRESS)
		vec_push(&t->loose, ((struct loose_free){ e->old_address, e->time - e->early }));
	t->n_ranges += e->op == HEAP_RANGE;
	if (t->tell_records && e->op == HEAP_RANGE)
		printf("RANGE %u %llx %llu %llx %llu %u\n", e->kind, (unsigned long long)e->address,
		       (unsigned long long)e->size, (unsigned long long)e->old_address,
		       (unsigned long long)e->old_size, e->stack);
	if (e->op == HEAP_EVICT)
		vec_push(&t->evicted, row);
	if (e->op == HEAP_ALLOC || e->op == HEAP_REALLOC || e->op == HEAP_REALLOC_ADDRESS) {
		t->n_allocs++;
		t->n_bytes += e->size;
		map_add(&t->by_id, hash_u64(e->id), (uint32_t)t->rows.n);
		vec_push(&t->rows, row);
	}
	if (e->stack >= t->nodes.n)
		t->n_bad++;
	else
		t->stack_used.at[e->stack] = 1;
}

static void take_events(struct trace *t, const struct heap_block *b)
{
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	uint8_t *own[HEAP_N_EVENT_COLUMNS];
	struct heap_event_reader r;
	struct heap_event e[256];
	size_t n;

	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		column[i] = unpack(b, (uint8_t)i, &own[i]);
	heap_event_reader_init(&r, b, column);
	while ((n = heap_read_events(&r, e, 256)))
		for (size_t i = 0; i < n; i++)
			take_event(t, b->thread, &e[i]);
	t->n_bad += r.bad;
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		free(own[i]);
}

static void take_nodes(struct trace *t, const struct heap_block *b)
{
	uint8_t *own[2];
	struct heap_in parents = unpack(b, HEAP_COL_PARENT, &own[0]);
	struct heap_in ips = unpack(b, HEAP_COL_IP, &own[1]);
	struct heap_node_state s = { .id = b->first_id };
	struct heap_node node;

	t->n_bad += b->first_id != t->nodes.n;
	for (uint32_t i = 0; i < b->n; i++) {
		if (!heap_take_node(&parents, &ips, &s, &node)) {
			t->n_bad++;
			break;
		}
		vec_push(&t->nodes, node);
		vec_push(&t->stack_used, 0);
	}
	free(own[0]);
	free(own[1]);
}

static const char *name_of(uint64_t type)
{
	static const char *const names[] = {
#define X(name, number, n_numbers, n_texts) [number] = #name,
		HEAP_RECORDS(X)
#undef X
	};

	return type < sizeof(names) / sizeof(*names) && names[type] ? names[type] : "?";
}

static void tell_record(const struct heap_record *r)
{
	printf("%s", name_of(r->type));
	for (unsigned i = 0; i < HEAP_RECORD_NUMBERS; i++)
		printf(" %llu", (unsigned long long)r->number[i]);
	for (unsigned i = 0; i < HEAP_RECORD_TEXTS; i++)
		if (r->text[i].n)
			printf(" \"%.*s\"", (int)r->text[i].n, (const char *)r->text[i].at);
	putchar('\n');
}

/* What was left out was allocated and freed all the same. */
static void take_culled(struct trace *t, const struct heap_record *r)
{
	uint64_t n = r->number[HEAP_CULLED_COUNT], stack = r->number[HEAP_CULLED_STACK];

	t->n_culled += n;
	t->n_allocs += n;
	t->n_frees += n;
	t->n_bytes += r->number[HEAP_CULLED_BYTES];
	t->n_culled_bytes += r->number[HEAP_CULLED_BYTES];
	if (stack == 0 || stack >= t->nodes.n)
		t->n_bad++;
	else
		t->stack_used.at[stack] = 1;
}

static void take_records(struct trace *t, const struct heap_block *b)
{
	uint8_t *own;
	struct heap_in in = unpack(b, HEAP_COL_RECORDS, &own);
	struct heap_record r;
	uint32_t n = 0;

	for (; heap_take_record(&in, &r); n++) {
		if (t->tell_records)
			tell_record(&r);
		t->n_threads += r.type == HEAP_REC_THREAD;
		t->n_modules += r.type == HEAP_REC_MODULE;
		t->ended |= r.type == HEAP_REC_END;
		if (r.type == HEAP_REC_SAMPLING)
			vec_push(&t->samplings,
				 ((struct sampling){ r.number[HEAP_TIME],
						     r.number[HEAP_SAMPLING_MEAN_BYTES],
						     r.number[HEAP_SAMPLING_EXACT_FROM] }));
		if (r.type == HEAP_REC_CULLED)
			take_culled(t, &r);
		if (r.type == HEAP_REC_LOST)
			t->n_lost += r.number[HEAP_LOST_EVENTS];
	}
	t->n_bad += in.bad || n != b->n;
	free(own);
}

static void take_skipped(struct trace *t, const struct heap_block *b)
{
	t->dropped.n += b->n;
	t->dropped.n_allocs += b->n_allocs;
	t->dropped.n_frees += b->n_frees;
	t->dropped.bytes += b->bytes;
	if (b->last_time > t->dropped.last_time)
		t->dropped.last_time = b->last_time;
}

static void take_blocks(struct trace *t, const uint8_t *bytes, size_t n)
{
	size_t at = HEAP_FILE_HEADER_SIZE, need;
	struct heap_block b;

	while (at < n) {
		enum heap_fault fault = heap_take_block(bytes + at, n - at, true, &b, &need);

		if (fault != HEAP_OK) {
			t->cut = true;
			t->n_bad += fault != HEAP_CUT;
			return;
		}
		t->n_bad += b.number != t->n_blocks++;
		if (b.type == HEAP_BLOCK_EVENTS)
			take_events(t, &b);
		else if (b.type == HEAP_BLOCK_STACKS)
			take_nodes(t, &b);
		else if (b.type == HEAP_BLOCK_RECORDS)
			take_records(t, &b);
		else if (b.type == HEAP_BLOCK_SKIPPED)
			take_skipped(t, &b);
		at += b.size;
	}
}

static void end(struct trace *t, struct row *r, const struct loose_free *f)
{
	if (!r)
		t->n_unmatched++;
	else if (r->freed)
		t->n_double++;
	else
		r->freed = true;
	if (r) {
		r->ended = f->time;
		t->n_backward += f->time < r->begun;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The first evicted one at or after address. */
static size_t first_evicted(const struct trace *t, uint64_t address)
{
	size_t low = 0, high = t->evicted.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->evicted.at[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int by_time(const void *a, const void *b)
{
	const struct loose_free *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void match(struct trace *t)
{
	if (t->evicted.n)
		qsort(t->evicted.at, t->evicted.n, sizeof(*t->evicted.at), by_address);
	if (t->loose.n)
		qsort(t->loose.at, t->loose.n, sizeof(*t->loose.at), by_time);
	for (size_t i = 0; i < t->frees.n; i++)
		end(t, row_of(t, t->frees.at[i].address), &t->frees.at[i]);
	for (size_t i = 0; i < t->loose.n; i++) {
		struct row *best = NULL;

		size_t k = first_evicted(t, t->loose.at[i].address);

		for (; k < t->evicted.n && t->evicted.at[k].address == t->loose.at[i].address;
		     k++) {
			struct row *r = row_of(t, t->evicted.at[k].id);

			/* Blocks at one address come and go one after the other. */
			if (r && !r->freed && r->begun <= t->loose.at[i].time &&
			    (!best || r->begun < best->begun))
				best = r;
		}
		end(t, best, &t->loose.at[i]);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->begun != y->begun)
		return x->begun < y->begun ? -1 : 1;
	return x->ended < y->ended ? -1 : x->ended > y->ended;
}

/* Did it begin after all that was dropped, so that its end is there too? */
static bool is_kept(const struct trace *t, const struct row *r)
{
	return !t->dropped.n || r->begun > t->dropped.last_time;
}

/*
 * Of the blocks at one address each ends before the next begins, whichever threads made and ended them; both may be in
 * one unit of time. Where addresses were not recorded (PROFTOP_ADDRESSES) nothing is known. Rows are out of their order then.
 */
static void check_places(struct trace *t)
{
	if (t->rows.n)
		qsort(t->rows.at, t->rows.n, sizeof(*t->rows.at), by_place);
	for (size_t i = 1; i < t->rows.n; i++) {
		const struct row *before = &t->rows.at[i - 1], *r = &t->rows.at[i];

		t->n_backward += is_kept(t, before) && r->address &&
				 before->address == r->address && before->ended > r->begun;
	}
}

static void tell(struct trace *t)
{
	uint64_t live = 0, leaked = 0, n_stacks = 0;
	double variance, bytes = estimate(t, &variance);
	uint64_t kept[3] = { 0 }; /* what began after all that was dropped: calls, bytes, leaked */

	for (size_t i = 0; i < t->rows.n; i++) {
		const struct row *r = &t->rows.at[i];
		bool kept_too = is_kept(t, r);

		live += !r->freed;
		leaked += r->freed ? 0 : r->size;
		kept[0] += kept_too;
		kept[1] += kept_too ? r->size : 0;
		kept[2] += kept_too && !r->freed ? r->size : 0;
	}
	for (size_t i = 1; i < t->stack_used.n; i++) {
		uint32_t node = (uint32_t)i;

		if (!t->stack_used.at[i])
			continue;
		n_stacks++;
		while (t->nodes.at[node].parent)
			node = t->nodes.at[node].parent;
		t->n_incomplete += t->nodes.at[node].ip == HEAP_IP_UNKNOWN;
	}
#define TELL(name, value) printf("%s %llu\n", name, (unsigned long long)(value))
	TELL("blocks", t->n_blocks);
	TELL("events", t->n_events);
	TELL("culled", t->n_culled);
	TELL("gaps", t->n_gap_ids);
	TELL("allocs", t->n_allocs);
	TELL("reallocs", t->n_reallocs);
	TELL("frees", t->n_frees);
	TELL("ranges", t->n_ranges);
	TELL("bytes", t->n_bytes);
	TELL("estimate", bytes + 0.5);
	TELL("deviation", sqrt(variance) + 0.5);
	TELL("rates", t->samplings.n);
	TELL("live", live);
	TELL("leaked", leaked);
	TELL("lost", t->n_lost);
	TELL("unmatched", t->n_unmatched);
	TELL("double", t->n_double);
	TELL("evicted", t->evicted.n);
	TELL("backward", t->n_backward);
	TELL("threads", t->n_threads);
	TELL("modules", t->n_modules);
	TELL("nodes", t->nodes.n - 1);
	TELL("stacks", n_stacks);
	TELL("incomplete", t->n_incomplete);
	TELL("bad", t->n_bad);
	TELL("cut", t->cut);
	TELL("ended", t->ended);
	TELL("dropped", t->dropped.n);
	TELL("dropped-allocs", t->dropped.n_allocs);
	TELL("dropped-frees", t->dropped.n_frees);
	TELL("dropped-bytes", t->dropped.bytes);
	TELL("kept-calls", kept[0]);
	TELL("kept-bytes", kept[1]);
	TELL("kept-leaked", kept[2]);
#undef TELL
}

static void tell_stacks(const struct trace *t)
{
	size_t n = t->nodes.n;
	uint64_t *sums = xcalloc(n * 3, sizeof(*sums));

	for (size_t i = 0; i < t->rows.n; i++) {
		const struct row *r = &t->rows.at[i];

		sums[r->stack * 3]++;
		sums[r->stack * 3 + 1] += r->size;
		sums[r->stack * 3 + 2] += r->freed ? 0 : r->size;
	}
	for (size_t i = 0; i < n; i++)
		if (sums[i * 3])
			printf("%llu %llu %llu\n", (unsigned long long)sums[i * 3],
			       (unsigned long long)sums[i * 3 + 1],
			       (unsigned long long)sums[i * 3 + 2]);
	free(sums);
}

static void forget(struct trace *t)
{
	vec_done(&t->rows);
	map_done(&t->by_id);
	vec_done(&t->frees);
	vec_done(&t->last);
	vec_done(&t->loose);
	vec_done(&t->evicted);
	vec_done(&t->samplings);
	vec_done(&t->nodes);
	vec_done(&t->stack_used);
}

int main(int argc, char **argv)
{
	bool tell_records = argc > 1 && strcmp(argv[1], "-r") == 0;
	bool stacks = argc > 1 && strcmp(argv[1], "-s") == 0;

	for (int i = 1 + tell_records + stacks; i < argc; i++) {
		struct trace t = { .tell_records = tell_records };
		struct heap_file_header h;
		size_t n;
		uint8_t *bytes = read_whole(argv[i], &n);

		if (heap_take_file_header(bytes, n, &h) != HEAP_OK) {
			fprintf(stderr, "%s: no heap trace\n", argv[i]);
			return 3;
		}
		vec_push(&t.nodes, (struct heap_node){ 0 });
		vec_push(&t.stack_used, 0);
		take_blocks(&t, bytes, n);
		match(&t);
		check_places(&t);
		if (stacks)
			tell_stacks(&t);
		else
			tell(&t);
		forget(&t);
		free(bytes);
	}
	return 0;
}
