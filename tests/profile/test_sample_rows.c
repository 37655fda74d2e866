/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that were packed are what they were, from whatever row they are read and whenever a column came into being. */
#include "config.h"

#include "base/hash.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "profile/row_blocks.h"
#include "profile/sample_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_ROWS    150000u
#define N_STACKS  5000u
#define N_THREADS 300u

/* Samples of which each column is of its own width, and where some say nothing until later rows do. */
struct story {
	struct profile *p;
	struct sample *row; /* [N_ROWS] */
	event_id event[2];
	uint32_t n; /* rows so far */
};

static void story_init(struct story *s)
{
	stack_id at = { 0 };
	process_id process;

	*s = (struct story){ .p = profile_new() };
	s->row = xcalloc(N_ROWS, sizeof(*s->row));
	builder_begin(s->p);
	process = build_process(s->p, build_capture(s->p, "x", "test"), 1);
	for (uint32_t i = 0; i < N_THREADS; i++)
		build_thread(s->p, process, (int32_t)i, (string_id){ 0 });
	for (uint32_t i = 1; i < N_STACKS; i++)
		at = build_stack(s->p, (stack_id){ i % 7 ? at.v : 0 },
				 build_location(s->p, (module_id){ 0 }, i));
	s->event[0] = build_event(s->p, "a", UNIT_COUNT, true);
	s->event[1] = build_event(s->p, "b", UNIT_COUNT, true);
	builder_end(s->p);
}

static void story_done(struct story *s)
{
	profile_free(s->p);
	free(s->row);
}

/* Row i as it is to be: by and by more is told of them. */
static struct sample sample_at(const struct story *s, uint32_t i)
{
	uint64_t lot = hash_u64(i);
	struct sample x = { .stack = { (uint32_t)(lot % (i < N_ROWS / 3 ? 3 : N_STACKS - 1)) },
			    .thread = { ID_NONE },
			    .event = s->event[0],
			    .cpu = CPU_NONE,
			    .weight = 1,
			    .time_ns = TIME_NONE };

	if (i > 5000)
		x.time_ns = (int64_t)(i * UINT64_C(250000) + lot % 100000) - 700000000;
	if (i > 20000 && i % 9999)
		x.thread.v = (uint32_t)(lot >> 32) % N_THREADS;
	if (i > 40000)
		x.event = s->event[lot >> 60 == 3];
	if (i > 60000)
		x.cpu = lot % 5 ? (uint16_t)(lot >> 16 & 63) : CPU_NONE;
	if (i > 80000)
		x.weight = i < 100000 ? 10 : (int64_t)(lot % 2000001) - 1000000;
	/* the widest differences that there are */
	if (i > 130000 && i % 5000 == 0)
		x.time_ns = i % 10000 ? INT64_MAX : INT64_MIN + 1;
	if (i == 140000)
		x.weight = INT64_C(1) << 60;
	return x;
}

/* Published in parts, which end anywhere. */
static void add_rows(struct story *s, uint32_t to, uint32_t part)
{
	while (s->n < to) {
		builder_begin(s->p);
		for (uint32_t i = 0; i < part && s->n < to; i++, s->n++) {
			s->row[s->n] = sample_at(s, s->n);
			cr_assert_eq(build_sample(s->p, &s->row[s->n]), 0);
		}
		cr_assert_eq(builder_end(s->p), 0);
	}
}

static void check_row(const struct sample_rows *r, uint32_t i, const struct sample *x, int64_t b)
{
	int64_t weight = x->weight * (x->event.v == 1 ? b : 1);

	cr_assert_eq(r->stack[i], x->stack.v);
	cr_assert_eq(sample_rows_thread(r, i), x->thread.v);
	cr_assert_eq(sample_rows_event(r, i), x->event.v);
	cr_assert_eq(sample_rows_cpu(r, i), x->cpu);
	cr_assert_eq(sample_rows_time(r, i), x->time_ns);
	cr_assert_eq(sample_rows_weight(r, i), weight);
}

/* Rows of a state, in batches of n that begin at from; b: the scale of event b. */
static void check(const struct story *s, const struct profile_counts *counts, uint64_t from,
		  uint32_t n, int64_t b)
{
	struct sample_rows *r = xmalloc(sizeof(*r));
	struct sample_columns c;

	profile_samples_of(s->p, counts, &c);
	for (uint64_t row = from; row < counts->n_samples; row += n) {
		uint64_t left = counts->n_samples - row;
		uint32_t some = left < n ? (uint32_t)left : n;

		sample_rows_read(r, &c, row, some, ROWS_ALL);
		for (uint32_t i = 0; i < some; i++)
			check_row(r, i, &s->row[row + i], b);
	}
	free(r);
}

static void check_now(const struct story *s, int64_t b)
{
	struct profile_counts counts;

	profile_hold(s->p, &counts);
	check(s, &counts, 0, SAMPLE_ROWS_BATCH, b);
	check(s, &counts, 1234, SAMPLE_ROWS_BATCH, b);
	check(s, &counts, 4095, 2, b);
	check(s, &counts, 77, 1000, b);
	profile_release(s->p, &counts);
}

Test(sample_rows, packed_rows_are_what_they_were)
{
	static const uint32_t parts[] = { 4096, 30000, 999 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct story s;

		story_init(&s);
		add_rows(&s, N_ROWS, parts[i]);
		check_now(&s, 1);
		story_done(&s);
	}
}

/* Weights are scaled after some of them were packed, and before there are any. */
Test(sample_rows, scaled_weights)
{
	static const uint32_t when[] = { 50000, 90001, 139000 };

	for (size_t i = 0; i < sizeof(when) / sizeof(*when); i++) {
		struct story s;

		story_init(&s);
		add_rows(&s, when[i], 5000);
		builder_begin(s.p);
		cr_assert_eq(build_scale(s.p, s.event[1], 10), 0);
		builder_end(s.p);
		builder_begin(s.p);
		cr_assert_eq(build_scale(s.p, s.event[1], 1000), 0);
		builder_end(s.p);
		check_now(&s, 1000);
		story_done(&s);
	}
}

/* Who holds an older state finds its rows where he knows them to be. */
Test(sample_rows, older_states_keep_their_rows)
{
	struct profile_counts early, late;
	struct sample_columns before;
	struct story s;

	story_init(&s);
	add_rows(&s, 30001, 30001);
	profile_hold(s.p, &early);
	profile_samples_of(s.p, &early, &before);
	add_rows(&s, 100001, 10000);
	profile_hold(s.p, &late);
	cr_assert_neq(early.version, late.version);
	check(&s, &early, 3, 4000, 1);
	add_rows(&s, N_ROWS, 10000);
	cr_assert_eq(before.n_packed / SAMPLE_ROWS_BATCH, 30001 / SAMPLE_ROWS_BATCH);
	for (uint32_t i = 30001 / SAMPLE_ROWS_BATCH * SAMPLE_ROWS_BATCH; i < 30001; i++)
		cr_assert_eq(before.stack[i], s.row[i].stack.v);
	check(&s, &late, 5, 4000, 1);
	profile_release(s.p, &early);
	check(&s, &late, 5, 4000, 1);
	profile_release(s.p, &late);
	check_now(&s, 1);
	story_done(&s);
}

/* Pages of a column that are in memory. */
static uint64_t resident(const void *base, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
	unsigned char *in = xcalloc(n, 1);
	uint64_t sum = 0;

	cr_assert_eq(mincore((void *)base, n * page, in), 0);
	for (size_t i = 0; i < n; i++)
		sum += in[i] & 1;
	free(in);
	return sum * page;
}

/* What this is for: without a limit on what is packed, the memory of plain columns is given back. */
Test(sample_rows, packed_rows_take_no_memory_elsewhere)
{
	struct sample_columns c;
	struct story s;

	story_init(&s);
	add_rows(&s, N_ROWS, 10000);
	profile_samples(s.p, &c);
	cr_expect_gt(c.n_packed, N_ROWS - SAMPLE_ROWS_BATCH);
	cr_expect_lt(resident(c.stack, N_ROWS * sizeof(*c.stack)), N_ROWS);
	cr_expect_lt(resident(c.time_ns, N_ROWS * sizeof(*c.time_ns)), N_ROWS * 4);
	story_done(&s);
}

/* What goes on for long is folded, and not packed. */
Test(sample_rows, live_rows_stay_plain)
{
	struct sample_columns c;
	struct story s;

	story_init(&s);
	build_folding(s.p, build_folding_live());
	add_rows(&s, 10000, 10000);
	profile_samples(s.p, &c);
	cr_expect_eq(c.n_packed, 0);
	check_now(&s, 1);
	story_done(&s);
}

/* Rows as far as their times are those of a recording. */
#define N_PLAIN 130000u

/* All whole blocks of a story as bytes; how many there are. */
static uint64_t blocks_of(const struct story *s, unsigned *columns, pack_bytes *out)
{
	struct profile_counts counts;
	struct sample_columns c;
	uint64_t n;

	profile_hold(s->p, &counts);
	profile_samples_of(s->p, &counts, &c);
	n = row_blocks_n(&c);
	*columns = row_blocks_columns(&c);
	row_blocks_put(&c, 0, n / 2, out);
	row_blocks_put(&c, n / 2, n - n / 2, out);
	profile_release(s->p, &counts);
	return n;
}

static void expect_same_span(const struct profile *p, const struct profile *q)
{
	const struct capture *a = profile_capture(p, (capture_id){ 0 });
	const struct capture *b = profile_capture(q, (capture_id){ 0 });

	cr_expect_eq(capture_begin(a), capture_begin(b));
	cr_expect_eq(capture_end(a), capture_end(b));
}

static void scale_b(struct profile *p, int64_t b)
{
	builder_begin(p);
	cr_assert_eq(build_scale(p, (event_id){ 1 }, b), 0);
	cr_assert_eq(builder_end(p), 0);
}

/* Blocks go to another profile of the same tables as they stand, and rows from there to a third one. */
Test(sample_rows, blocks_are_what_they_were)
{
	struct story s, t, u;
	pack_bytes bytes = { 0 };
	unsigned columns;
	struct bytes b;
	uint64_t n;

	story_init(&s);
	story_init(&t);
	story_init(&u);
	scale_b(s.p, 10);
	scale_b(t.p, 10);
	scale_b(u.p, 10);
	add_rows(&s, N_PLAIN, 5000);
	n = blocks_of(&s, &columns, &bytes);
	cr_assert_eq(n, N_PLAIN / SAMPLE_ROWS_BATCH);
	b = bytes_over(bytes.at, bytes.n, false);
	builder_begin(t.p);
	cr_assert_eq(build_row_blocks(t.p, columns, &b), 0);
	cr_assert(!b.bad);
	builder_end(t.p);
	t.n = (uint32_t)n * SAMPLE_ROWS_BATCH;
	memcpy(t.row, s.row, N_PLAIN * sizeof(*t.row));
	check_now(&t, 1);
	add_rows(&t, N_PLAIN, 999);
	check_now(&t, 1);
	expect_same_span(s.p, t.p);
	builder_begin(t.p);
	builder_begin(u.p);
	cr_assert(build_take_rows(u.p, t.p));
	cr_assert(!build_take_rows(u.p, s.p), "it has rows already");
	builder_end(u.p);
	builder_end(t.p);
	memcpy(u.row, s.row, N_PLAIN * sizeof(*u.row));
	u.n = N_PLAIN;
	check_now(&u, 1);
	expect_same_span(s.p, u.p);
	add_rows(&u, N_PLAIN + 9000, 999);
	check_now(&u, 1);
	vec_done(&bytes);
	story_done(&s);
	story_done(&t);
	story_done(&u);
}

/* Sums of weights come with the rows: one more that would not fit is refused, as it is where they were made. */
Test(sample_rows, blocks_bring_their_sums)
{
	struct story s, t;
	pack_bytes bytes = { 0 };
	struct sample large;
	unsigned columns;
	struct bytes b;

	story_init(&s);
	story_init(&t);
	add_rows(&s, 30 * SAMPLE_ROWS_BATCH, 5000);
	blocks_of(&s, &columns, &bytes);
	b = bytes_over(bytes.at, bytes.n, false);
	builder_begin(t.p);
	cr_assert_eq(build_row_blocks(t.p, columns, &b), 0);
	large = s.row[100];
	large.weight = INT64_MAX - 1000;
	cr_expect_eq(build_sample(t.p, &large), -ERANGE);
	builder_end(t.p);
	vec_done(&bytes);
	story_done(&s);
	story_done(&t);
}

/* Weights that were scaled after they were packed are of no use as they stand. */
Test(sample_rows, scaled_blocks_are_not_put)
{
	struct profile_counts counts;
	struct sample_columns c;
	struct story s;

	story_init(&s);
	add_rows(&s, 100001, 5000);
	scale_b(s.p, 10);
	profile_hold(s.p, &counts);
	profile_samples_of(s.p, &counts, &c);
	cr_expect_eq(row_blocks_n(&c), 0);
	profile_release(s.p, &counts);
	story_done(&s);
}

/* All rows that are there have ids of the tables. */
static void read_all(const struct profile *p)
{
	struct sample_rows *r = xmalloc(sizeof(*r));
	struct profile_counts counts;
	struct sample_columns c;
	uint32_t n;

	profile_hold(p, &counts);
	profile_samples_of(p, &counts, &c);
	for (uint64_t row = 0; row < counts.n_samples; row += n) {
		n = sample_rows_next(r, &c, row, counts.n_samples, ROWS_ALL);
		for (uint32_t i = 0; i < n; i++) {
			cr_assert_lt(r->stack[i], counts.n_stacks);
			cr_assert(sample_rows_thread(r, i) == ID_NONE ||
				  sample_rows_thread(r, i) < counts.n_threads);
			cr_assert_lt(sample_rows_event(r, i), counts.n_events);
		}
	}
	profile_release(p, &counts);
	free(r);
}

/* Every byte of a block's head, and some of its values, as each of some others: what is taken nevertheless is in the tables. */
Test(sample_rows, damaged_blocks)
{
	static const uint8_t others[] = { 0, 1, 5, 57, 58, 64, 65, 127, 128, 255 };
	pack_bytes all = { 0 };
	unsigned columns, n_refused = 0;
	struct story s;

	story_init(&s);
	add_rows(&s, 26 * SAMPLE_ROWS_BATCH, 5000);
	blocks_of(&s, &columns, &all);
	/* the last one has all columns */
	{
		struct profile_counts counts;
		struct sample_columns c;

		vec_clear(&all);
		profile_hold(s.p, &counts);
		profile_samples_of(s.p, &counts, &c);
		row_blocks_put(&c, 25, 1, &all);
		profile_release(s.p, &counts);
	}
	for (size_t i = 0; i < all.n; i += i < 60 ? 1 : 1777)
		for (size_t k = 0; k < sizeof(others); k++) {
			uint8_t was = all.at[i];
			struct bytes b;
			struct story t;

			all.at[i] = others[k];
			story_init(&t);
			b = bytes_over(all.at, all.n, false);
			builder_begin(t.p);
			cr_assert_eq(build_row_blocks(t.p, columns, &b), 0);
			builder_end(t.p);
			n_refused += b.bad;
			read_all(t.p);
			story_done(&t);
			all.at[i] = was;
		}
	cr_expect_gt(n_refused, 100, "%u", n_refused);
	vec_done(&all);
	story_done(&s);
}
