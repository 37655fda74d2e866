/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a heap trace: first all headers, records and stacks, then the events of all threads in the
 * order of time.
 */
#include "config.h"

#include "formats/heap_trace.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "heaptrace/read/apply_events.h"
#include "heaptrace/read/apply_records.h"
#include "heaptrace/read/heap_blocks.h"
#include "heaptrace/read/heap_merge.h"
#include "heaptrace/read/heap_rates.h"
#include "heaptrace/read/heap_readahead.h"
#include "heaptrace/read/heap_rows.h"
#include "heaptrace/read/heap_stacks.h"
#include "input/input.h"
#include "input/spool.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Events between two publications: some milliseconds. */
#define BATCH_EVENTS 65536

/* What an allocation takes, see struct heap_packed. */
#define USUAL_BYTES 10u

/* A trace that is being written says something every second: after so long nobody writes it any more. */
#define QUIET_MS 5000

/* The same of one that nobody has open for writing. */
#define LONELY_MS 300

/* Between two looks at whether it grew. */
#define LOOK_MS  100
/* While nothing comes, the time goes on so often for those who look at it. */
#define KNOWN_NS 1000000000

/* Threads' events come with the writer's rounds, 200 ms apart: after so long those of all threads are there. */
#define SETTLED_NS 1000000000u

/* Less than that is no delay that a reader tells of: what it does not know yet comes and goes. */
#define BEHIND_LEAST_NS 1000000000

struct reader {
	struct input *in;
	const char *name; /* for messages; borrowed */
	struct profile *profile;
	capture_id capture;
	struct progress *progress;
	struct resolver_options options;
	struct resolver *resolver;
	struct heap_blocks blocks;
	struct apply_records tell;
	struct heap_stacks *stacks;
	struct heap_merge *merge;
	struct heap_taker take;
	uint64_t n_bytes;       /* of blocks of events */
	uint64_t n_allocations; /* that their headers tell of */
	uint64_t memory_bytes;  /* for allocations; 0: any */
	uint64_t n_bad_stacks;
	uint64_t newest;       /* time of the newest event that is in the file */
	uint64_t until;        /* up to here all is settled, and read in this pass */
	int64_t looked_ns;     /* when the file was looked at, by CLOCK_MONOTONIC, */
	uint64_t looked_bytes; /* and how large it was */
	bool follow;           /* see struct read_options */
	bool followed;         /* it was being written: it is known up to where it was read */
	bool copied;           /* the file is a copy of ours: nobody writes it */
};

static int probe(const uint8_t *bytes, size_t n)
{
	return n >= 8 && memcmp(bytes, HEAP_FILE_MAGIC, 8) == 0 ? 100 : 0;
}

/* The first pass. */

static void take_block(struct reader *r, const struct heap_place *place, struct heap_unpacked *u)
{
	const struct heap_block *b = &place->block;

	switch (b->type) {
	case HEAP_BLOCK_EVENTS:
		heap_merge_add(r->merge, place);
		r->n_bytes += b->size;
		r->n_allocations += b->n_allocs;
		r->newest = b->last_time > r->newest ? b->last_time : r->newest;
		r->tell.events_begun = true;
		r->tell.execed = false;
		break;
	case HEAP_BLOCK_STACKS:
		if (heap_blocks_unpack(&r->blocks, place, u) && !heap_stacks_add(r->stacks, b, u))
			r->n_bad_stacks++;
		break;
	case HEAP_BLOCK_RECORDS:
		if (heap_blocks_unpack(&r->blocks, place, u))
			apply_records_block(&r->tell, u);
		break;
	case HEAP_BLOCK_SKIPPED:
		r->take.n_skipped += b->n;
		if (b->last_time > r->take.skipped_until)
			r->take.skipped_until = b->last_time;
		break;
	default: /* of a later version */
		break;
	}
}

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int read_blocks(struct reader *r, struct err *e)
{
	struct heap_unpacked unpacked = { 0 };
	struct heap_place place;
	int rc;

	r->looked_ns = clock_ns();
	r->looked_bytes = input_file_bytes(r->in);
	builder_begin(r->profile);
	while ((rc = heap_blocks_next(&r->blocks, &place, e)) > 0) {
		take_block(r, &place, &unpacked);
		if (progress_cancelled(r->progress)) {
			rc = -ECANCELED;
			break;
		}
	}
	builder_end(r->profile);
	heap_unpacked_done(&unpacked);
	return rc;
}

/* The second pass. */

/* What is recorded, but not settled. */
static uint64_t open_time(const struct reader *r)
{
	uint64_t unit = r->blocks.head.unit_ns > 0 ? r->blocks.head.unit_ns : 1;

	return SETTLED_NS / unit + r->tell.held;
}

/* Up to where it is read, with the parcel; all of it where that is the end. Wants the pen. */
static uint64_t come_so_far(struct reader *r, const struct heap_parcel *p)
{
	uint64_t at = r->until;

	if (p->n_runs > 0) {
		const struct heap_run *last = &p->run[p->n_runs - 1];

		at = last->event[last->n - 1].time;
	}
	if (r->followed)
		build_heap_known(r->profile, r->take.track, apply_records_time(&r->tell, at));
	return at;
}

/*
 * Of what is being written: what of the file is not read yet, and what was written meanwhile. What is open is told of only with
 * these, as nothing can be done about it.
 */
static void tell_behind(struct reader *r, uint64_t at)
{
	uint64_t behind_ms;
	int64_t behind;

	if (!r->follow)
		return;
	behind = apply_records_time(&r->tell, r->until) - apply_records_time(&r->tell, at) +
		 clock_ns() - r->looked_ns;
	if (behind < BEHIND_LEAST_NS) {
		progress_behind(r->progress, 0);
		return;
	}
	behind += apply_records_time(&r->tell, open_time(r)) - apply_records_time(&r->tell, 0);
	behind_ms = (uint64_t)behind / 1000000;
	progress_behind(r->progress, behind_ms < UINT32_MAX ? (uint32_t)behind_ms : UINT32_MAX);
}

/* Of a scratch file, what was read of it need not stay on disk. What is not whole yet is read later. */
static void spend(struct reader *r, uint64_t unread)
{
	uint64_t end = r->blocks.at == UINT64_MAX ? r->blocks.end_at : r->blocks.at;

	unread = unread < end ? unread : end;
	if (unread != UINT64_MAX)
		input_spend(r->in, unread);
}

static int read_events(struct reader *r)
{
	struct heap_readahead *flow = heap_readahead_new(r->merge);
	struct heap_parcel p = { .n_runs = 1 };
	int rc = 0;

	while (p.n_runs > 0 && rc == 0) {
		uint64_t until = r->take.n_events + BATCH_EVENTS, at;

		builder_begin(r->profile);
		apply_events_fold(&r->take);
		do {
			p = heap_readahead_next(flow);
			apply_events_parcel(&r->take, &p);
		} while (p.n_runs > 0 && r->take.n_events < until);
		at = come_so_far(r, &p);
		rc = builder_end(r->profile);
		progress_set(r->progress, p.n_bytes, r->n_bytes);
		spend(r, p.unread);
		tell_behind(r, at);
		if (rc == 0 && progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	heap_readahead_free(flow);
	spend(r, heap_merge_unread(r->merge));
	return rc;
}

/* Facts. */

/* So many of something, and what is the matter with them. */
static void loss(struct reader *r, const char *name, uint64_t n, const char *one, const char *what)
{
	char text[FMT_COUNTED_SIZE];

	if (n > 0)
		build_fact(r->profile, r->capture, "losses", name, FACT_LOSS, "%s%s %s",
			   n >= INT64_MAX ? "at least " : "",
			   fmt_counted(text, n < INT64_MAX ? (int64_t)n : INT64_MAX, one), what);
}

static void state_dropped(struct reader *r)
{
	int64_t begin = apply_records_time(&r->tell, 0);
	char n[FMT_COUNTED_SIZE], until[FMT_SIZE];

	if (r->take.n_skipped == 0)
		return;
	build_fact(
		r->profile, r->capture, "losses", "dropped", FACT_LOSS,
		"%s, all of the first %s, to stay below the size asked for: what was allocated then is not known",
		fmt_counted(n, (int64_t)((r->take.n_skipped + r->take.n_left_out) & INT64_MAX),
			    "event"),
		fmt_ns(until, apply_records_time(&r->tell, r->take.skipped_until) - begin));
}

/*
 * Is the trace still being written, as far as the file tells? A process that became another program writes another trace, and
 * a killed one none.
 */
static bool is_written(const struct reader *r)
{
	int64_t quiet_ms = input_quiet_ms(r->in);

	return !r->tell.ended && !r->copied && r->blocks.head.stop == HEAP_GOES_ON &&
	       quiet_ms < QUIET_MS && (quiet_ms < LONELY_MS || input_has_writer(r->in));
}

static bool was_killed(const struct heap_file_header *head)
{
	return head->stop == HEAP_STOP_KILLED || head->stop == HEAP_STOP_GONE ||
	       head->stop == HEAP_STOP_OOM;
}

/*
 * Why the recording stopped. What a killed program noted last lies in memory until somebody adds it to the trace, which has an end then.
 */
static void state_stop(struct reader *r)
{
	const struct heap_file_header *head = &r->blocks.head;
	const char *text = heap_stop_text(head->stop);
	const char *signal = head->stop == HEAP_STOP_KILLED ? sigabbrev_np(head->signal) : NULL;

	if (head->stop < HEAP_STOP_SIZE)
		build_fact(r->profile, r->capture, "file", "stopped", FACT_PLAIN, "because %s",
			   text);
	else if (was_killed(head) && r->tell.ended)
		build_fact(r->profile, r->capture, "file", "stopped", FACT_PLAIN,
			   "because %s%s%s: all that it did until then is here", text,
			   signal ? " by SIG" : "", signal ? signal : "");
	else if (was_killed(head))
		build_fact(r->profile, r->capture, "losses", "stopped", FACT_LOSS,
			   "%s%s%s: its last moments may be missing", text, signal ? " by SIG" : "",
			   signal ? signal : "");
	else if (head->stop == HEAP_STOP_SIZE && head->spent)
		build_fact(
			r->profile, r->capture, "losses", "stopped", FACT_LOSS,
			"%s: it grew faster than it could be read, and what came after is not recorded; --cull, --sample and --max-overhead make it smaller, --max-size says how large it may be",
			text);
	else
		build_fact(r->profile, r->capture, "losses", "stopped", FACT_LOSS,
			   "%s: what came after is not recorded",
			   text ? text : "of a reason that a newer proftop knows");
}

static void state_end(struct reader *r)
{
	if (r->tell.execed)
		build_fact(
			r->profile, r->capture, "file", "ended", FACT_PLAIN,
			"with the program that the process became, which has a trace of its own if it could be recorded");
	else if (r->blocks.head.stop != HEAP_GOES_ON)
		state_stop(r);
	else if (is_written(r))
		build_fact(r->profile, r->capture, "file", "goes on", FACT_PLAIN,
			   "it is still being written: what is shown is all that was there");
	else if (!r->tell.ended)
		build_fact(
			r->profile, r->capture, "losses", "not finished", FACT_LOSS,
			"the recording was cut short, and nobody could say why: all whole blocks were read");
}

/* Is the program of the trace no more, so that nothing of what it held is? Where recording only stopped, nobody knows. */
static bool is_gone(const struct reader *r)
{
	switch (r->blocks.head.stop) {
	case HEAP_GOES_ON:
	case HEAP_STOP_EXIT:
	case HEAP_STOP_KILLED:
	case HEAP_STOP_GONE:
	case HEAP_STOP_OOM:
		return !is_written(r);
	default:
		return r->tell.execed;
	}
}

static void tell_gone(struct reader *r)
{
	uint64_t last = r->tell.last > r->newest ? r->tell.last : r->newest;

	if (is_gone(r))
		build_heap_gone(r->profile, r->take.track, apply_records_time(&r->tell, last));
	else
		build_heap_lives_on(r->profile, r->take.track);
}

static void state_losses(struct reader *r)
{
	const struct heap_blocks *b = &r->blocks;
	struct heap_rows_stats rows = heap_rows_stats(r->take.rows);
	char bad[FMT_COUNTED_SIZE];

	state_end(r);
	if (!is_written(r))
		loss(r, "cut", b->n_cut_bytes, "byte", "at the end of no whole block");
	loss(r, "missing", b->n_missing, "block", "missing");
	if (b->n_bad > 0)
		build_fact(r->profile, r->capture, "losses", "damaged", FACT_LOSS,
			   "%s damaged, the first at offset %" PRIu64,
			   fmt_counted(bad, (int64_t)b->n_bad, "block"), b->first_bad_at);
	state_dropped(r);
	loss(r, "events", heap_merge_lost(r->merge), "event", "without sense");
	loss(r, "records", r->tell.n_bad, "record", "without sense");
	loss(r, "stacks", r->n_bad_stacks, "block", "of stacks without sense");
	loss(r, "ids", rows.n_odd_ids, "event", "of allocations that cannot be");
	loss(r, "sizes", rows.n_odd_sizes, "allocation",
	     "of more bytes than there can be: left out");
	if (r->take.n_skipped == 0)
		loss(r, "frees", rows.n_open_frees, "free",
		     "of allocations that are not in the file");
	loss(r, "lost", r->tell.n_lost, "event",
	     "not recorded: there was no memory to note them, the recorder itself was at work, or "
	     "their thread may not do what recording takes");
}

/* The recorder looks some times a second whether it was paused. */
static void state_pauses(struct reader *r, int64_t end)
{
	int64_t ns = apply_records_paused(&r->tell, end);
	char text[FMT_SIZE], n[FMT_COUNTED_SIZE];

	if (r->tell.n_pauses > 0)
		build_fact(r->profile, r->capture, "file", "paused", FACT_PLAIN,
			   "%s%s%s: what was allocated then is not known",
			   fmt_counted(n, (int64_t)(r->tell.n_pauses & INT64_MAX), "time"),
			   ns > 0 ? ", in all for about " : "", ns > 0 ? fmt_ns(text, ns) : "");
}

static void state_facts(struct reader *r)
{
	struct heap_track track = profile_heap_track(r->profile, r->take.track);
	int64_t begin = track.n_ticks ? track.tick[0].time_ns : 0;
	int64_t end = track.n_ticks ? track.tick[track.n_ticks - 1].time_ns : 0;
	struct heap_rows_stats rows;
	uint64_t n_unknown;
	char text[FMT_SIZE];

	heap_blocks_look_again(&r->blocks);
	builder_begin(r->profile);
	rows = heap_rows_stats(r->take.rows);
	n_unknown = rows.n_unknown_frees + (r->take.n_skipped > 0 ? rows.n_open_frees : 0);
	build_fact(r->profile, r->capture, "file", "size", FACT_PLAIN, "%s",
		   fmt_bytes(text, (int64_t)input_file_bytes(r->in)));
	build_fact(r->profile, r->capture, "file", "events", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)(r->take.n_events - r->take.n_left_out)));
	if (track.n_ticks > 0)
		build_fact(r->profile, r->capture, "file", "duration", FACT_PLAIN, "%s",
			   fmt_ns(text, end - begin));
	heap_rates_state(&r->tell, begin, end);
	state_pauses(r, end);
	tell_gone(r);
	if (n_unknown > 0)
		build_fact(r->profile, r->capture, "file", "frees of other blocks", FACT_PLAIN,
			   "%s, of what was not recorded", fmt_count(text, (int64_t)n_unknown));
	state_losses(r);
	builder_end(r->profile);
}

static void begin(struct reader *r, const struct read_options *o)
{
	int32_t pid = (int32_t)(r->blocks.head.pid & INT32_MAX);
	struct apply_records *t = &r->tell;

	if (o && o->resolve)
		r->options = *o->resolve;
	r->memory_bytes = o ? o->memory_bytes : 0;
	r->follow = o && o->follow && input_seekable(r->in) && r->progress;
	t->profile = r->profile;
	t->capture = r->capture;
	t->head = r->blocks.head;
	t->root_names = o ? o->root_names : ROOT_COMM;
	t->resolver = r->resolver = resolver_new(r->profile, r->capture, &r->options);
	t->stacks = r->stacks = heap_stacks_new(r->profile, r->resolver, pid);
	r->take.profile = r->profile;
	r->take.tell = t;
	r->take.stacks = r->stacks;
	r->merge = heap_merge_new(&r->blocks);
	builder_begin(r->profile);
	t->process = build_process(r->profile, r->capture, pid);
	r->take.heap_event = build_heap_event(r->profile, "malloc");
	builder_end(r->profile);
}

/* Do allocations take more memory than they should? A sentence of what failed is a loss, not an end. */
static void begin_allocations(struct reader *r)
{
	uint64_t each = USUAL_BYTES + r->tell.free_stacks * sizeof(uint32_t);
	struct err e = ERR_INIT;

	if (r->memory_bytes == 0 || r->n_allocations < r->memory_bytes / each)
		return;
	if (build_heap_in_files(r->profile, r->name, &e) < 0)
		build_fact(r->profile, r->capture, "losses", "memory", FACT_LOSS, "%s",
			   err_text(&e));
	else
		build_fact(r->profile, r->capture, "file", "allocations", FACT_PLAIN,
			   "are kept in temporary files, as memory may not hold them");
	err_clear(&e);
}

/* What the first pass told is needed to make the track. */
static void begin_events(struct reader *r)
{
	builder_begin(r->profile);
	begin_allocations(r);
	r->take.track = build_heap_track(r->profile, r->tell.process, 0, 0);
	build_heap_manner(r->profile, r->take.track, r->tell.attached,
			  apply_records_time(&r->tell, r->tell.held) -
				  apply_records_time(&r->tell, 0));
	r->take.map_event = build_heap_event(r->profile, "mmap");
	r->take.rows = heap_rows_new(r->profile, r->take.track);
	heap_taker_begin(&r->take);
	builder_end(r->profile);
}

/* Gives back what names do not need: these take memory of their own. */
static void done_with_events(struct reader *r)
{
	if (!r->merge)
		return;
	heap_merge_free(r->merge);
	builder_begin(r->profile);
	if (r->take.rows)
		build_heap_known(r->profile, r->take.track, TIME_NONE);
	heap_taker_done(&r->take);
	builder_end(r->profile);
	heap_stacks_free(r->stacks);
	r->merge = NULL;
	r->stacks = NULL;
}

static int find_names(struct reader *r)
{
	int rc = resolver_name(r->resolver, r->progress);

	return rc == 0 ? resolver_inline(r->resolver, r->progress) : rc;
}

/* What of the file has all that happened before it, of all threads: all but the last so much. */
static void settle(struct reader *r, uint64_t open)
{
	uint64_t newest = r->tell.newest > r->newest ? r->tell.newest : r->newest;

	r->until = newest > open ? newest - open : 0;
	heap_merge_until(r->merge, r->until);
	/* Another reader may have given stacks other numbers at any time: with the pen. */
	builder_begin(r->profile);
	apply_events_anew(&r->take);
	builder_end(r->profile);
}

static bool goes_on(const struct reader *r)
{
	return r->follow && is_written(r);
}

/* All that is in the file was read: nothing happened until a moment ago, as what does is written at once. */
static void tell_known(struct reader *r)
{
	int64_t open = apply_records_time(&r->tell, open_time(r)) - apply_records_time(&r->tell, 0);
	int64_t until = apply_records_time(&r->tell, r->until), now = clock_ns() - open;

	progress_behind(r->progress, 0);
	builder_begin(r->profile);
	build_heap_known(r->profile, r->take.track, now > until ? now : until);
	builder_end(r->profile);
}

/* Waits until there is more, or nobody writes any more. */
static int wait_for_more(struct reader *r)
{
	int64_t told_ns = INT64_MIN;

	while (goes_on(r) && input_file_bytes(r->in) == r->looked_bytes) {
		int64_t now_ns = clock_ns();

		/* Each time is a version of the profile, of which analyses are made. */
		if (told_ns == INT64_MIN || now_ns - told_ns >= KNOWN_NS) {
			tell_known(r);
			told_ns = now_ns;
		}
		if (progress_cancelled(r->progress))
			return -ECANCELED;
		poll(NULL, 0, LOOK_MS);
		heap_blocks_look_again(&r->blocks);
	}
	return 0;
}

/* As long as the trace is being written, all of it that is settled. */
static int follow(struct reader *r, struct err *e)
{
	int rc = 0;

	while (rc == 0 && goes_on(r)) {
		r->followed = true;
		atomic_store(&r->progress->grows, true); /* there is progress where one follows */
		settle(r, open_time(r));
		rc = read_events(r);
		if (rc < 0)
			break;
		apply_events_culled(&r->take);
		rc = find_names(r);
		if (rc == 0)
			rc = wait_for_more(r);
		if (rc == 0 && heap_blocks_resume(&r->blocks))
			rc = read_blocks(r, e);
	}
	if (r->progress)
		atomic_store(&r->progress->grows, false);
	progress_behind(r->progress, 0);
	settle(r, 0);
	heap_merge_until(r->merge, UINT64_MAX);
	return rc;
}

/* Of a trace that the reader was told to stop following, too. */
static int end_events(struct reader *r, struct err *e)
{
	int rc = read_events(r);

	progress_behind(r->progress, 0);
	if (rc == -ENOSPC)
		err_set(e, rc,
			"%s: there is no disk space for its allocations: TMPDIR says where to put them, "
			"PROFTOP_MEMORY how much may be in memory",
			r->name);
	if (rc < 0)
		return rc;
	apply_events_culled(&r->take);
	state_facts(r);
	done_with_events(r);
	return find_names(r);
}

static int read_all(struct reader *r, const struct read_options *o, struct err *e)
{
	int rc = heap_blocks_open(&r->blocks, r->in, r->name, e);

	if (rc < 0)
		return rc;
	begin(r, o);
	rc = read_blocks(r, e);
	if (rc < 0)
		return rc;
	begin_events(r);
	rc = follow(r, e);
	if (rc == -ECANCELED && r->follow)
		state_facts(r);
	return rc < 0 ? rc : end_events(r, e);
}

static int read_heap_trace(struct input *in, struct profile *p, capture_id c,
			   const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = {
		.in = in, .name = input_name(in), .profile = p, .capture = c, .progress = progress
	};
	struct input *whole = NULL;
	int rc = 0;

	/* Blocks are read where they lie, and say themselves when there will be no more. */
	input_follow(in, false);
	if (!input_seekable(in))
		rc = spool(in, &whole, progress, e);
	if (whole) {
		r.in = whole;
		r.copied = true;
	}
	if (rc == 0)
		rc = read_all(&r, o, e);
	if (rc == -EFBIG)
		err_set(e, rc,
			"%s: more is in it than proftop has numbers for: what came after that is not shown",
			r.name);
	done_with_events(&r);
	heap_blocks_done(&r.blocks);
	apply_records_done(&r.tell);
	resolver_free(r.resolver);
	input_close(whole);
	return rc;
}

const struct format format_heap_trace = {
	.name = "heap",
	.title = "heap traces of proftop record --heap",
	.probe = probe,
	.read = read_heap_trace,
};
