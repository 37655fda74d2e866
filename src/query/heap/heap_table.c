/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame around the answers: the pass over the blocks, rows, order, numbers as text. */
#include "config.h"

#include "query/heap/heap_table.h"

#include "base/fmt.h"
#include "base/task.h"
#include "query/core/heap_scan.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/heap_answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATORS_FORM \
	{ \
		[ALLOCATORS_CALLS] = { "CALLS", "calls", CELL_COUNT }, \
		[ALLOCATORS_BYTES] = { "TOTAL", "bytes", CELL_BYTES }, \
		[ALLOCATORS_MEAN_SIZE] = { "AVG SIZE", "mean_size", CELL_BYTES }, \
		[ALLOCATORS_MEAN_LIFE] = { "AVG LIFE", "mean_lifetime_ns", CELL_NS }, \
		[ALLOCATORS_LEAKED] = { "LEAKED", "leaked", CELL_BYTES }, \
		[ALLOCATORS_PEAK] = { "PEAK", "peak", CELL_BYTES }, \
		[ALLOCATORS_LIVE] = { "LIVE", "live", CELL_BYTES }, \
		[ALLOCATORS_TEMPORARY] = { "TEMP", "temporary", CELL_COUNT }, \
		[ALLOCATORS_FREED] = { "FREED", "freed", CELL_COUNT }, \
	}

static const struct heap_table_form forms[N_HEAP_QUESTIONS] = {
	[HEAP_LEAKS] = { "VERDICT",
			 true,
			 -1,
			 -1,
			 { { "GROWTH/H", "bytes_per_hour", CELL_RATE },
			   { "± 95 %", "bytes_per_hour_error", CELL_RATE },
			   { "AT END", "at_end", CELL_BYTES },
			   { "LEAKED", "leaked", CELL_BYTES },
			   { "BLOCKS", "leaked_blocks", CELL_COUNT },
			   { "PEAK", "highest", CELL_BYTES } } },
	[HEAP_LIFETIMES] = { "LIVED",
			     false,
			     0,
			     -1,
			     { { "CALLS", "calls", CELL_COUNT },
			       { "CALLS %", "calls_share", CELL_PART },
			       { "BYTES", "bytes", CELL_BYTES },
			       { "BYTES %", "bytes_share", CELL_PART } } },
	[HEAP_SIZES] = { "SIZE",
			 false,
			 0,
			 -1,
			 { { "CALLS", "calls", CELL_COUNT },
			   { "CALLS %", "calls_share", CELL_PART },
			   { "BYTES", "bytes", CELL_BYTES },
			   { "BYTES %", "bytes_share", CELL_PART },
			   { "LEAKED", "leaked", CELL_BYTES } } },
	[HEAP_TEMPORARIES] = { NULL,
			       true,
			       -1,
			       0,
			       { { "TEMP", "temporary", CELL_COUNT },
				 { "OF CALLS", "temporary_share", CELL_PART },
				 { "< 1 MS", "within_1_ms", CELL_COUNT },
				 { "CALLS", "calls", CELL_COUNT },
				 { "OF ALL", "share_of_all_calls", CELL_PART },
				 { "BYTES", "bytes", CELL_BYTES } } },
	[HEAP_HANDOFFS] = { "ALLOCATED BY → FREED BY",
			    false,
			    0,
			    0,
			    { { "BLOCKS", "blocks", CELL_COUNT },
			      { "BLOCKS %", "blocks_share", CELL_PART },
			      { "BYTES", "bytes", CELL_BYTES },
			      { "LIVED", "mean_lifetime_ns", CELL_NS } } },
	[HEAP_REALLOCS] = { NULL,
			    true,
			    -1,
			    2,
			    { { "REALLOCS", "reallocs", CELL_COUNT },
			      { "LONGEST", "longest_chain", CELL_COUNT },
			      { "COPIED ≤", "copied_at_most", CELL_BYTES },
			      { "FROM", "smallest_first", CELL_BYTES },
			      { "TO", "largest_last", CELL_BYTES } } },
	[HEAP_WASTE] = { "SIZE",
			 false,
			 3,
			 3,
			 { { "BLOCKS", "blocks", CELL_COUNT },
			   { "ASKED FOR", "requested", CELL_BYTES },
			   { "TAKEN", "taken", CELL_BYTES },
			   { "WASTE", "waste", CELL_BYTES },
			   { "WASTE %", "waste_share", CELL_PART } } },
	[HEAP_BLOCKS] = { "THREAD",
			  true,
			  -1,
			  0,
			  { { "SIZE", "size", CELL_BYTES },
			    { "AT", "at_ns", CELL_TIME },
			    { "LIVED", "lifetime_ns", CELL_NS } } },
	[HEAP_ALLOCATORS] = { NULL, true, -1, 1, ALLOCATORS_FORM },
};

static const struct heap_table_form allocators_by_size = { "SIZE", false, -1, ALLOCATORS_BYTES,
							   ALLOCATORS_FORM };

static int (*const answers[N_HEAP_QUESTIONS])(struct heap_asking *ask) = {
	[HEAP_LEAKS] = heap_leaks,           [HEAP_LIFETIMES] = heap_lifetimes,
	[HEAP_SIZES] = heap_sizes,           [HEAP_TEMPORARIES] = heap_temporaries,
	[HEAP_HANDOFFS] = heap_handoffs,     [HEAP_REALLOCS] = heap_reallocs,
	[HEAP_WASTE] = heap_waste,           [HEAP_BLOCKS] = heap_blocks,
	[HEAP_ALLOCATORS] = heap_allocators,
};

/* Without which there is no answer: HEAP_LACKS_…, and what then is not known. */
static const struct {
	uint32_t what;
	const char *says;
} needs[N_HEAP_QUESTIONS] = {
	[HEAP_LIFETIMES] = { HEAP_LACKS_TIMES | HEAP_LACKS_LIFETIMES | HEAP_LACKS_CALLS,
			     "when each block was allocated and freed" },
	[HEAP_SIZES] = { HEAP_LACKS_CALLS | HEAP_LACKS_SIZES, "the sizes of single blocks" },
	[HEAP_TEMPORARIES] = { HEAP_LACKS_CALLS | HEAP_LACKS_TEMPORARY,
			       "which blocks were temporary" },
	[HEAP_HANDOFFS] = { HEAP_LACKS_CALLS | HEAP_LACKS_THREADS, "which threads there were" },
	[HEAP_REALLOCS] = { HEAP_LACKS_CALLS | HEAP_LACKS_LIFETIMES,
			    "which block realloc changed" },
	[HEAP_WASTE] = { HEAP_LACKS_CALLS | HEAP_LACKS_SIZES, "the sizes of single blocks" },
	[HEAP_BLOCKS] = { HEAP_LACKS_CALLS | HEAP_LACKS_LIFETIMES, "single blocks" },
	[HEAP_ALLOCATORS] = { HEAP_LACKS_CALLS, "the sizes of single blocks" },
};

static void clock_init(struct heap_clock *c, const struct heap_track *t)
{
	uint32_t at = 0;

	while (t->n_moments >> c->shift > t->n_ticks)
		c->shift++;
	c->n = (t->n_moments >> c->shift) + 1;
	c->tick = xmalloc(c->n * sizeof(*c->tick));
	for (uint32_t i = 0; i < c->n; i++) {
		while (at + 1 < t->n_ticks && t->tick[at + 1].moment <= (uint64_t)i << c->shift)
			at++;
		c->tick[i] = at;
	}
}

/* The last stamp of time at or before a moment, TIME_NONE without any: what is before the first one has that. */
static int64_t time_of(const struct heap_asking *ask, uint32_t track, uint32_t moment)
{
	const struct heap_track *t = &ask->state.track[track];
	const struct heap_clock *c = &ask->clock[track];
	uint32_t i = moment >> c->shift, at;

	if (t->n_ticks == 0)
		return TIME_NONE;
	at = c->tick[i < c->n ? i : c->n - 1];
	while (at + 1 < t->n_ticks && t->tick[at + 1].moment <= moment)
		at++;
	return t->tick[at].time_ns;
}

int64_t heap_since_start(const struct heap_asking *ask, uint32_t track, uint32_t moment)
{
	int64_t at = time_of(ask, track, moment);

	return at == TIME_NONE ? 0 : at - ask->state.begin_ns[track];
}

int64_t heap_lifetime(const struct heap_asking *ask, const struct heap_block_seen *b)
{
	int64_t begin_ns, end_ns;

	if (b->row == ID_NONE || b->end == END_NEVER)
		return -1;
	begin_ns = time_of(ask, b->track, b->begin);
	end_ns = time_of(ask, b->track, b->end & END_MOMENT);
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static bool passes(const struct heap_asking *ask, uint32_t row, uint32_t origin, uint32_t begin)
{
	const struct heap_columns *c = &ask->state.columns;

	return heap_pass_own(&ask->pass, c, row, origin, begin) &&
	       heap_pass_lens(&ask->pass, c, row, origin, begin);
}

/* Row i of those that were read. */
static void see_block(const struct heap_asking *ask, const struct heap_rows_read *rows, uint32_t i,
		      struct heap_block_seen *b)
{
	const struct heap_origin *o = &ask->state.columns.origins[rows->origin[i]];
	const struct heap_track *t = &ask->state.track[o->track];

	b->track = o->track;
	b->begin = rows->begin[i];
	b->end = (rows->end[i] & END_MOMENT) < t->n_moments ? rows->end[i] : END_NEVER;
	b->origin = rows->origin[i];
	b->site = ask->row_of_origin[rows->origin[i]];
	b->size = rows->size[i];
	b->n = ask->state.exact ? 1 : heap_stands_for(t, b->begin, b->size);
	b->bytes = b->n * (double)b->size;
	b->temporary = b->end != END_NEVER && b->end & END_TEMPORARY ? b->n : 0;
}

static void see_counted(const struct heap_asking *ask, const struct heap_bulk *bulk,
			struct heap_block_seen *b)
{
	const struct heap_origin *o = &ask->state.columns.origins[bulk->origin];

	*b = (struct heap_block_seen){
		.row = ID_NONE,
		.track = o->track,
		.begin = bulk->moment,
		.end = bulk->until > bulk->moment ? bulk->until : bulk->moment,
		.origin = bulk->origin,
		.site = ask->row_of_origin[bulk->origin],
		.size = bulk->calls > 0 ? bulk->bytes / bulk->calls : 0,
		.n = (double)bulk->calls,
		.bytes = (double)bulk->bytes,
		.temporary = (double)bulk->temporary,
	};
}

static void each_row(const struct heap_asking *ask, uint32_t from, uint32_t to, heap_block_fn *fn,
		     void *arg)
{
	const struct heap_columns *c = &ask->state.columns;
	struct heap_rows_read rows;
	struct heap_block_seen b;
	uint32_t n;

	for (uint32_t at = from; at < to; at += n) {
		uint64_t left = heap_filter_blocks(ask->pass.own, at,
						   to - at < HEAP_GROUP ? to : at + HEAP_GROUP) &
				heap_filter_blocks(ask->pass.lens, at,
						   to - at < HEAP_GROUP ? to : at + HEAP_GROUP);

		n = to - at < HEAP_GROUP ? to - at : HEAP_GROUP;
		if (left)
			allocation_read(c, at, at + n, &rows);
		for (; left; left &= left - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(left);

			if (c->origins[rows.origin[i]].stack >= ask->f->counts.n_stacks ||
			    !passes(ask, at + i, rows.origin[i], rows.begin[i]))
				continue;
			b.row = at + i;
			see_block(ask, &rows, i, &b);
			fn(arg, &b);
		}
	}
}

static void each_counted(const struct heap_asking *ask, heap_block_fn *fn, void *arg)
{
	const struct heap_columns *c = &ask->state.columns;
	struct heap_block_seen b;

	for (uint32_t i = 0; i < c->n_bulk; i++) {
		if (c->origins[c->bulk[i].origin].stack >= ask->f->counts.n_stacks ||
		    !passes(ask, ID_NONE, c->bulk[i].origin, c->bulk[i].moment))
			continue;
		see_counted(ask, &c->bulk[i], &b);
		fn(arg, &b);
	}
}

struct each_block {
	struct heap_asking *ask; /* [n threads] */
	heap_block_fn *fn;
	void *const *arg; /* [n threads] */
};

static void scan_rows(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	const struct each_block *e = arg;

	each_row(&e->ask[worker], from, to, e->fn, e->arg[worker]);
}

unsigned heap_block_workers(const struct heap_asking *ask, uint32_t n_rows)
{
	uint32_t n = ask->state.columns.n_allocations;

	return n_rows > n / 16 ? 1 : heap_scan_threads(n);
}

int heap_each_block_apart(struct heap_asking *ask, unsigned n, heap_block_fn *fn, void *const *arg)
{
	struct each_block e = { ask, fn, arg };
	int rc = heap_scan(ask->state.columns.n_allocations, n, ask->progress, scan_rows, &e);

	each_counted(ask, fn, arg[0]);
	return rc;
}

int heap_each_block(struct heap_asking *ask, heap_block_fn *fn, void *arg)
{
	return heap_each_block_apart(ask, 1, fn, &arg);
}

struct heap_table_row *heap_add_row(struct heap_asking *ask)
{
	struct heap_table_row row = { .key = KEY_NONE };

	for (int i = 0; i < HEAP_TABLE_COLUMNS; i++)
		row.cell[i] = CELL_NONE;
	vec_push(&ask->out->rows, row);
	return &ask->out->rows.at[ask->out->rows.n - 1];
}

struct heap_table_row *heap_add_site(struct heap_asking *ask, uint32_t site)
{
	struct heap_table_row *row = heap_add_row(ask);
	const struct footprint_site *of;

	if (site >= ask->n_sites)
		return row;
	of = &ask->f->by_row[site];
	row->key = of->key;
	row->file = of->file;
	row->line = of->line;
	row->stack = of->stack;
	return row;
}

void heap_note(struct heap_asking *ask, char *text)
{
	vec_push(&ask->out->notes, text);
}

/* What holds for any answer. */
static void note_manner(struct heap_asking *ask)
{
	const struct heap_manner *m = &ask->f->manner;
	char text[FMT_SIZE];

	if (m->sampled)
		heap_note(
			ask,
			xasprintf(
				"estimated: not every allocation was recorded; a number of n recorded "
				"blocks is right to about 2/sqrt(n) of itself"));
	if (m->culled_ns > 0)
		heap_note(
			ask,
			xasprintf("culled: blocks that lived less than %s are known as sums alone",
				  fmt_ns(text, m->culled_ns)));
	if (m->lives_on || m->goes_on)
		heap_note(
			ask,
			xstrdup("the end of the process is not in the file: what is not freed may "
				"still be in use, and need not be a leak"));
}

/* Where rows are stacks or threads, a name alone is that of several. */
static void tell_rows_apart(struct heap_asking *ask)
{
	for (size_t i = 0; i < ask->out->rows.n; i++) {
		struct heap_table_row *row = &ask->out->rows.at[i];
		char *behind = row->key == KEY_NONE || row->remark || !ask->out->form->sites
				       ? NULL
				       : footprint_rows_apart(ask->f, row->key, row->stack);

		if (behind && *behind)
			row->remark = behind;
		else
			free(behind);
	}
}

static void count_columns(struct heap_table *t)
{
	while (t->n_columns < HEAP_TABLE_COLUMNS && t->form->column[t->n_columns].title)
		t->n_columns++;
}

static int answer(struct heap_asking *ask)
{
	struct sample_scan *r;
	int rc = sample_scan_new(ask->f->profile, &ask->f->counts, &ask->f->lens, ask->progress,
				 &r);

	if (rc < 0)
		return rc;
	heap_state_init(&ask->state, ask->f->profile, &ask->f->counts);
	heap_pass_init_again(&ask->pass, &ask->state, r, ask->f->passing);
	ask->n_sites = ask->f->n_sites;
	ask->clock = xcalloc(ask->state.columns.n_tracks, sizeof(*ask->clock));
	for (uint32_t i = 0; i < ask->state.columns.n_tracks; i++)
		clock_init(&ask->clock[i], &ask->state.track[i]);
	ask->row_of_origin = footprint_rows_of_origins(ask->f, &ask->state.columns);
	note_manner(ask);
	if (ask->f->manner.lacks & needs[ask->out->question].what)
		heap_note(ask,
			  xasprintf("the file does not say %s", needs[ask->out->question].says));
	else
		rc = answers[ask->out->question](ask);
	tell_rows_apart(ask);
	heap_table_sort(ask->out, ask->out->form->order, false);
	for (uint32_t i = 0; i < ask->state.columns.n_tracks; i++)
		free(ask->clock[i].tick);
	free(ask->clock);
	free(ask->row_of_origin);
	heap_pass_done(&ask->pass);
	heap_state_done(&ask->state);
	sample_scan_free(r);
	return rc;
}

int heap_table_new(const struct footprint *f, enum heap_question q,
		   const struct suppressions *suppress, struct progress *progress,
		   struct heap_table **out)
{
	const struct heap_table_wish wish = { .suppress = suppress };

	return heap_table_new_as(f, q, &wish, progress, out);
}

int heap_table_new_as(const struct footprint *f, enum heap_question q,
		      const struct heap_table_wish *wish, struct progress *progress,
		      struct heap_table **out)
{
	struct heap_table *t = xcalloc(1, sizeof(*t));
	struct heap_asking ask = { .f = f, .out = t, .wish = wish, .progress = progress };
	int rc;

	t->question = q;
	t->footprint = f;
	t->form = q == HEAP_ALLOCATORS && f->lens.heap_rows == HEAP_ROWS_SIZES ? &allocators_by_size
									       : &forms[q];
	count_columns(t);
	rc = answer(&ask);
	if (rc < 0) {
		heap_table_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void heap_table_free(struct heap_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->notes.n; i++)
		free(t->notes.at[i]);
	vec_done(&t->notes);
	for (size_t i = 0; i < t->rows.n; i++) {
		free(t->rows.at[i].label);
		free(t->rows.at[i].remark);
		free(t->rows.at[i].filter);
		free(t->rows.at[i].line_over_time);
	}
	vec_done(&t->rows);
	free(t);
}

/* A row's place among others. */
struct order {
	struct heap_table_row row;
	size_t was;
	int64_t by;
	bool rising;
};

static int compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->by != y->by)
		return (x->by < y->by) == x->rising ? -1 : 1;
	return x->was < y->was ? -1 : x->was > y->was;
}

void heap_table_sort(struct heap_table *t, int column, bool rising)
{
	struct order *o;

	if (column < 0 || column >= t->n_columns)
		return;
	o = xcalloc(t->rows.n, sizeof(*o));
	for (size_t i = 0; i < t->rows.n; i++)
		o[i] = (struct order){ t->rows.at[i], i, t->rows.at[i].cell[column], rising };
	qsort(o, t->rows.n, sizeof(*o), compare);
	for (size_t i = 0; i < t->rows.n; i++)
		t->rows.at[i] = o[i].row;
	free(o);
}

/* A number with its sign and its unit. */
#define CELL_SIZE (FMT_SIZE + 2)

static void cell_text(enum heap_cell cell, int64_t value, char out[CELL_SIZE])
{
	char text[FMT_SIZE];

	if (value == CELL_NONE) {
		strcpy(out, "-");
		return;
	}
	switch (cell) {
	case CELL_BYTES:
		fmt_bytes(out, value);
		return;
	case CELL_COUNT:
		fmt_count(out, value);
		return;
	case CELL_NS:
	case CELL_TIME:
		fmt_ns(out, value);
		return;
	case CELL_PART:
		snprintf(out, CELL_SIZE, "%s %%", fmt_percent(text, value, 10000));
		return;
	case CELL_RATE:
		snprintf(out, CELL_SIZE, "%s%s", value > 0 ? "+" : "", fmt_bytes(text, value));
		return;
	}
}

/* Of a sampled heap sums are estimates, and single blocks are not. */
static bool is_estimate(const struct heap_table *t, int column)
{
	enum heap_cell cell = t->form->column[column].cell;

	return t->footprint->manner.sampled && t->question != HEAP_BLOCKS &&
	       (cell == CELL_BYTES || cell == CELL_COUNT || cell == CELL_RATE);
}

const char *heap_table_text(const struct heap_table *t, const struct heap_table_row *row,
			    int column, char out[64])
{
	int64_t value = row->cell[column];

	out[0] = '~';
	cell_text(t->form->column[column].cell, value,
		  out + (value != CELL_NONE && is_estimate(t, column)));
	return out;
}
