/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks by how long they live, by size, and by what malloc takes for them. */
#include "config.h"

#include "base/fmt.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_answers.h"
#include "query/heap/resident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Buckets of lifetimes: below 1 us, then decades of time. */
static const struct {
	int64_t to_ns;
	const char *label, *terms;
} lives[] = {
	{ 1000, "< 1 µs", "lifetime:,1us" },
	{ 10000, "1 – 10 µs", "lifetime:1us,10us" },
	{ 100000, "10 – 100 µs", "lifetime:10us,100us" },
	{ 1000000, "100 µs – 1 ms", "lifetime:100us,1ms" },
	{ 10000000, "1 – 10 ms", "lifetime:1ms,10ms" },
	{ 100000000, "10 – 100 ms", "lifetime:10ms,100ms" },
	{ 1000000000, "100 ms – 1 s", "lifetime:100ms,1s" },
	{ 10000000000, "1 – 10 s", "lifetime:1s,10s" },
	{ 100000000000, "10 – 100 s", "lifetime:10s,100s" },
	{ 1000000000000, "100 – 1,000 s", "lifetime:100s,1000s" },
	{ INT64_MAX, "> 1,000 s", "lifetime:1000s," },
};
#define N_LIVES (sizeof(lives) / sizeof(*lives))

/* What does not fit a bucket, behind them. */
enum { NEVER_FREED, ONLY_COUNTED, N_OTHERS };

struct bucket {
	double n, bytes, leaked;
};

struct by_lifetime {
	struct heap_asking *ask;
	struct bucket of[N_LIVES + N_OTHERS];
	struct bucket all;
};

static void see_lifetime(void *arg, const struct heap_block_seen *b)
{
	struct by_lifetime *l = arg;
	int64_t ns = heap_lifetime(l->ask, b);
	struct bucket *to;
	size_t i = 0;

	while (ns >= 0 && ns >= lives[i].to_ns && i + 1 < N_LIVES)
		i++;
	if (b->row == ID_NONE)
		i = N_LIVES + ONLY_COUNTED;
	else if (ns < 0)
		i = N_LIVES + NEVER_FREED;
	to = &l->of[i];
	to->n += b->n;
	to->bytes += b->bytes;
	l->all.n += b->n;
	l->all.bytes += b->bytes;
}

static struct heap_table_row *add_bucket(struct heap_asking *ask, const struct bucket *b,
					 const struct bucket *all, const char *label,
					 const char *terms)
{
	struct heap_table_row *row = heap_add_row(ask);

	row->label = xstrdup(label);
	row->filter = terms ? xstrdup(terms) : NULL;
	row->cell[0] = llround(b->n);
	row->cell[1] = heap_part(b->n, all->n);
	row->cell[2] = llround(b->bytes);
	row->cell[3] = heap_part(b->bytes, all->bytes);
	return row;
}

int heap_lifetimes(struct heap_asking *ask)
{
	struct by_lifetime l = { .ask = ask };
	int rc = heap_each_block(ask, see_lifetime, &l);
	size_t first = 0, last = 0;

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < N_LIVES; i++) {
		if (l.of[i].n <= 0)
			continue;
		first = last == 0 ? i : first;
		last = i + 1;
	}
	for (size_t i = first; i < last; i++)
		add_bucket(ask, &l.of[i], &l.all, lives[i].label, lives[i].terms);
	if (l.of[N_LIVES + NEVER_FREED].n > 0)
		add_bucket(ask, &l.of[N_LIVES + NEVER_FREED], &l.all,
			   ask->f->manner.lives_on ? "still in use" : "never freed",
			   "block:leaked");
	if (l.of[N_LIVES + ONLY_COUNTED].n > 0)
		add_bucket(ask, &l.of[N_LIVES + ONLY_COUNTED], &l.all, "known as sums alone", NULL);
	return 0;
}

/* Sizes from powers of two on. */
#define N_SIZES HEAP_SIZE_CLASSES

struct by_size {
	struct heap_asking *ask;
	struct bucket of[N_SIZES + 1]; /* the last: only counted */
	struct bucket all;
};

/* 0, 1, 2 – 3, 4 – 7, …: the number of bits of a size. */
static unsigned bits_of(uint64_t size)
{
	return size == 0 ? 0 : 64 - (unsigned)__builtin_clzll(size);
}

uint32_t heap_size_class(uint64_t size)
{
	unsigned i = bits_of(size);

	return i < N_SIZES ? i : N_SIZES - 1;
}

static void see_size(void *arg, const struct heap_block_seen *b)
{
	struct by_size *s = arg;
	struct bucket *to = &s->of[b->row == ID_NONE ? N_SIZES : heap_size_class(b->size)];

	to->n += b->n;
	to->bytes += b->bytes;
	to->leaked += b->end == END_NEVER ? b->bytes : 0;
	s->all.n += b->n;
	s->all.bytes += b->bytes;
}

/* "16 – 31 B", "4.10 – 8.19 kB"; the caller frees. */
static char *size_label(unsigned bits)
{
	char from[FMT_SIZE], to[FMT_SIZE];

	if (bits < 2)
		return xasprintf("%u B", bits);
	return xasprintf("%s – %s", fmt_bytes(from, (int64_t)1 << (bits - 1)),
			 fmt_bytes(to, ((int64_t)1 << bits) - 1));
}

struct heap_table_row *heap_add_size(struct heap_asking *ask, uint32_t size_class)
{
	struct heap_table_row *row = heap_add_row(ask);

	row->label = size_label(size_class);
	row->filter = size_class == 0 ? xstrdup("size:0,1")
				      : xasprintf("size:%lld,%lld", 1LL << (size_class - 1),
						  1LL << size_class);
	return row;
}

int heap_sizes(struct heap_asking *ask)
{
	struct by_size s = { .ask = ask };
	int rc = heap_each_block(ask, see_size, &s);
	unsigned first = N_SIZES, last = 0;

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < N_SIZES; i++) {
		if (s.of[i].n <= 0)
			continue;
		first = first < i ? first : i;
		last = i + 1;
	}
	for (unsigned i = first; i < last; i++) {
		char *label = size_label(i), *terms;

		terms = i == 0 ? xasprintf("size:0,1")
			       : xasprintf("size:%lld,%lld", 1LL << (i - 1), 1LL << i);
		add_bucket(ask, &s.of[i], &s.all, label, terms)->cell[4] = llround(s.of[i].leaked);
		free(terms);
		free(label);
	}
	if (s.of[N_SIZES].n > 0)
		add_bucket(ask, &s.of[N_SIZES], &s.all, "known as sums alone", NULL);
	return 0;
}

/* What glibc's malloc takes on a 64-bit machine: a header of 8 bytes, multiples of 16, 32 at least; whole pages above 128 kB. */
#define CHUNK_HEAD   8u
#define CHUNK_ALIGN  16u
#define CHUNK_LEAST  32u
#define MAPPED_FROM  (128u << 10)
#define PAGE         4096u
#define CHUNK_MAPPED 16u

struct waste {
	double n, asked, taken;
};

struct by_waste {
	struct heap_asking *ask;
	uint32_t *at;  /* [n_tracks] moments that had happened at the peak */
	uint32_t heap; /* event of malloc, whose rule that is */
	struct waste of[N_SIZES];
	struct waste all;
	double mapped;
};

static uint64_t taken_by(uint64_t size)
{
	uint64_t n = (size + CHUNK_HEAD + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;

	if (size >= MAPPED_FROM)
		return (size + CHUNK_MAPPED + PAGE - 1) / PAGE * PAGE;
	return n < CHUNK_LEAST ? CHUNK_LEAST : n;
}

static void see_waste(void *arg, const struct heap_block_seen *b)
{
	struct by_waste *w = arg;
	uint32_t at = w->at[b->track];
	struct waste *to = &w->of[heap_size_class(b->size)];
	double taken = b->n * (double)taken_by(b->size);

	if (b->row == ID_NONE || b->begin >= at ||
	    (b->end != END_NEVER && (b->end & END_MOMENT) < at))
		return;
	if (w->ask->state.columns.origins[b->origin].event != w->heap) {
		w->mapped += b->bytes;
		return;
	}
	to->n += b->n;
	to->asked += b->bytes;
	to->taken += taken;
	w->all.n += b->n;
	w->all.asked += b->bytes;
	w->all.taken += taken;
}

static void say_waste(const struct by_waste *w)
{
	char a[FMT_SIZE], b[FMT_SIZE], c[FMT_SIZE], n[FMT_COUNTED_SIZE];

	heap_note(
		w->ask,
		xasprintf("at the peak the program had asked malloc for %s in %s; with headers and "
			  "rounding malloc takes %s for them: %s %% more",
			  fmt_bytes(a, llround(w->all.asked)),
			  fmt_counted(n, llround(w->all.n), "block"),
			  fmt_bytes(b, llround(w->all.taken)),
			  fmt_percent(c, llround(w->all.taken - w->all.asked),
				      llround(w->all.asked))));
	if (w->mapped > 0)
		heap_note(w->ask, xasprintf("beside that, %s were mapped by mmap",
					    fmt_bytes(a, llround(w->mapped))));
}

/* What is in use against what is resident: at the peak, and where they are farthest from each other. 0 or -ECANCELED. */
static int say_resident(struct heap_asking *ask)
{
	const struct footprint *f = ask->f;
	struct time_span span = { 0, f->whole_ns + 1, RESIDENT_SLOTS, 0 };
	char a[FMT_SIZE], b[FMT_SIZE], c[FMT_SIZE];
	struct resident_beyond beyond;
	struct resident_absent absent;
	struct resident_kept kept;
	struct footprint_lines *l;
	int rc;

	if (f->whole_ns >= INT64_MAX - 1 || !resident_beyond(f, &beyond))
		return 0;
	heap_note(ask,
		  xasprintf("the resident set was at most %s: %s %s than the bytes in use; code, "
			    "stacks, rounding and what malloc keeps of freed blocks add to it, "
			    "untouched pages take off",
			    fmt_bytes(a, beyond.peak + f->total[FOOTPRINT_PEAK]),
			    fmt_bytes(b, beyond.peak < 0 ? -beyond.peak : beyond.peak),
			    beyond.peak < 0 ? "less" : "more"));
	rc = footprint_lines_new(f, &span, NULL, ask->progress, &l);
	if (rc < 0)
		return rc;
	resident_kept(f, l, &kept);
	resident_absent(f, l, &absent);
	footprint_lines_free(l);
	if (kept.beyond > 0)
		heap_note(ask, xasprintf("at %s, %s were resident beyond the %s in use",
					 fmt_ns(a, kept.at_ns), fmt_bytes(b, kept.beyond),
					 fmt_bytes(c, kept.live)));
	if (absent.bytes > 0)
		heap_note(ask, xasprintf("at %s, at least %s of the %s in use were not resident",
					 fmt_ns(a, absent.at_ns), fmt_bytes(b, absent.bytes),
					 fmt_bytes(c, absent.live)));
	return 0;
}

int heap_waste(struct heap_asking *ask)
{
	struct by_waste w = { .ask = ask };
	uint32_t n = ask->state.columns.n_tracks;
	int64_t *top = xcalloc(n, sizeof(*top));
	int rc;

	/* Not by the peak's time: stamps of time may be far coarser than what comes and goes. */
	w.at = xcalloc(n, sizeof(*w.at));
	rc = heap_peaks(&ask->state, &ask->pass, NULL, ask->progress, w.at, top);
	free(top);
	w.heap = ask->f->lens.column[0].metric.event.v;
	rc = rc == 0 ? heap_each_block(ask, see_waste, &w) : rc;
	for (unsigned i = 0; i < N_SIZES && rc == 0; i++) {
		struct heap_table_row *row;

		if (w.of[i].n <= 0)
			continue;
		row = heap_add_size(ask, i);
		row->cell[0] = llround(w.of[i].n);
		row->cell[1] = llround(w.of[i].asked);
		row->cell[2] = llround(w.of[i].taken);
		row->cell[3] = llround(w.of[i].taken - w.of[i].asked);
		row->cell[4] = heap_part(w.of[i].taken - w.of[i].asked, w.of[i].taken);
	}
	ask->out->part = llround(w.all.taken - w.all.asked);
	ask->out->whole = llround(w.all.asked);
	if (rc == 0)
		say_waste(&w);
	rc = rc == 0 ? say_resident(ask) : rc;
	if (rc == 0)
		heap_note(
			ask,
			xstrdup("computed by the rules of glibc on 64 bits; other allocators round "
				"differently"));
	free(w.at);
	return rc;
}
