/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a perf.data: header, then windows of records into the feed, some windows ahead.
 *
 * Mappings and names of the windows behind are told before the samples of a window are fed, because rounds of
 * the recorder's buffers are not in order of time. Where that is not enough (rounds longer than the windows
 * that may wait), the file is read twice at once: a scout goes some rounds before. For maps that were written
 * last (--tail-synthesize) it goes to the end.
 */
#include "config.h"

#include "formats/perf_data.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "input/dir_parts.h"
#include "input/input.h"
#include "input/spool.h"
#include "perf/abi/lazy_stack.h"
#include "perf/file/bpf_programs.h"
#include "perf/file/perf_archive.h"
#include "perf/file/perf_growing.h"
#include "perf/file/perf_header.h"
#include "perf/file/perf_info.h"
#include "perf/file/perf_stream.h"
#include "perf/file/readahead.h"
#include "perf/file/simpleperf_files.h"
#include "perf/ingest/ingest.h"
#include "perf/ingest/perf_facts.h"
#include "perf/records/perf_events.h"
#include "perf/tracepoint/trace_fields.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "symbols/symbolize_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* Records fed between two publications: some milliseconds. */
#define BATCH_BYTES       ((size_t)1 << 20)
/* That were read of windows which wait to be fed, at most. */
#define WAITING_BYTES     ((size_t)16 << 20)
/* From here on it pays to name functions while reading goes on. */
#define NAME_BESIDE_BYTES ((uint64_t)8 << 20)

#define PIPE_BEGIN 16 /* bytes of a pipe's header */

/* Where somebody watches: the pause within a round after which what came is shown. */
#define LIVE_PATIENCE_MS 25

struct reader {
	struct input *in;       /* the file being read: the one that was asked for, or a part */
	const char *name;       /* of what was asked for, also when it was copied; borrowed */
	struct dir_parts parts; /* further files */
	size_t n_parts_begun;   /* of them */
	struct profile *profile;
	capture_id capture;
	struct resolver_options options; /* as told, but for same_machine */
	struct perf_archives archives;   /* what options.archives points to */
	VEC(const char *) dirs;          /* what options.symbol_dirs points to, when it is longer */
	char *kcore_dir;                 /* in dirs; owned */
	enum root_names root_names;      /* as told */
	bool stitch, live;               /* as told */
	struct progress *progress;
	struct perf_header header;
	struct perf_events events;
	struct perf_stream *stream;     /* of in */
	struct readahead *ahead;        /* its windows, while they are read */
	struct perf_stream_stats stats; /* of the streams before it */
	uint64_t n_bytes_before;        /* of the files before it */
	uint64_t n_bytes;               /* of all files; 0: unknown */
	struct resolver *resolver;
	struct ingest *feed;
	struct trace_fields *fields;     /* of tracepoints, or NULL; owned */
	const char *list;                /* which of them are shown, or NULL; borrowed */
	struct symbolize_thread *naming; /* NULL: names are found in the end */
	uint64_t begin, end;             /* of the records in that file; end 0: unknown */
	struct perf_growing growing;     /* valid when header.growing */
	bool all_told;                   /* what is beside the samples was told to the end */
	/* of in as well, some way before the other; NULL: there is none */
	struct perf_stream *scout_stream;
	struct readahead *scout; /* its windows */
	uint64_t n_scouted;      /* records of in that were told */
	uint64_t fed_to; /* offset in it that samples were fed up to, about where it is packed */
};

static int probe(const uint8_t *bytes, size_t n)
{
	static const char *const magic[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };

	for (size_t i = 0; n >= 8 && i < sizeof(magic) / sizeof(*magic); i++)
		if (memcmp(bytes, magic[i], 8) == 0)
			return 100;
	return 0;
}

/*
 * May it have been this machine? Nothing that was recorded says that it was another one. One of this name with another
 * kernel is this one before it was started anew: its files are still there.
 */
static void compare_machine(const struct perf_header *h, struct resolver_options *o)
{
	struct utsname here;
	bool same_release;

	if (uname(&here) != 0) {
		o->same_machine = false;
		return;
	}
	same_release = !h->os_release || strcmp(h->os_release, here.release) == 0;
	o->same_machine = o->same_machine &&
			  (h->hostname ? strcmp(h->hostname, here.nodename) == 0 : same_release) &&
			  (!h->arch || strcmp(h->arch, here.machine) == 0);
	o->other_kernel = !same_release;
}

/* By which other files that have times can be put beside the samples. */
static void tell_clock(struct reader *r)
{
	struct resolver_clock c = { .cpu_zero = r->header.cpu_zero,
				    .cpu_mult = r->header.cpu_mult,
				    .cpu_shift = (unsigned)r->header.cpu_shift };

	for (size_t i = 0; i < r->events.all.n; i++) {
		const struct perf_attr *a = &r->events.all.at[i].attr;

		c.monotonic = c.monotonic ||
			      (a->flags & PERF_ATTR_USE_CLOCKID && a->clockid == CLOCK_MONOTONIC);
	}
	resolver_clock(r->resolver, &c);
}

/* What simpleperf brings for machines where its files are not, and perf of code that is in no file. */
static void tell_symbols(struct reader *r)
{
	struct perf_header *h = &r->header;
	bool good = simpleperf_files(r->resolver, h->files[0].at, h->files[0].n, h->swap);

	good = simpleperf_files2(r->resolver, h->files[1].at, h->files[1].n) && good;
	h->n_features_damaged += !good;
	good = bpf_programs(r->resolver, (struct bpf_feature){ h->bpf[0].at, h->bpf[0].n },
			    (struct bpf_feature){ h->bpf[1].at, h->bpf[1].n }, h->swap);
	h->n_features_damaged += !good;
}

/* perf record --kcore keeps the kernel's symbols beside the records. */
static void look_in_kcore_dir(struct reader *r)
{
	if (!r->parts.dir)
		return;
	for (size_t i = 0; i < r->options.n_symbol_dirs; i++)
		vec_push(&r->dirs, r->options.symbol_dirs[i]);
	r->kcore_dir = xasprintf("%s/kcore_dir", r->parts.dir);
	vec_push(&r->dirs, r->kcore_dir);
	r->options.symbol_dirs = r->dirs.at;
	r->options.n_symbol_dirs = r->dirs.n;
}

/* All that is needed to understand samples; once the header has told what it can. */
static void begin_feeding(struct reader *r)
{
	compare_machine(&r->header, &r->options);
	look_in_kcore_dir(r);
	perf_archives_find(&r->archives, r->name, &r->options, r->progress);
	r->options.archives = r->archives.all.at;
	r->options.n_archives = r->archives.all.n;
	r->resolver = resolver_new(r->profile, r->capture, &r->options);
	if (r->header.os_release)
		resolver_kernel_release(r->resolver, r->header.os_release);
	tell_clock(r);
	tell_symbols(r);
	perf_header_tell_build_ids(&r->header, r->resolver);
	r->feed = ingest_new(r->profile, r->capture, r->resolver, &r->events, r->header.arch);
	ingest_root_names(r->feed, r->root_names);
	if (r->stitch)
		ingest_stitch(r->feed);
	ingest_branch_depth(r->feed, r->header.branch_depth);
	ingest_may_ask(r->feed, r->end > 0);
	/* The end of a pipe may be hours away. */
	if (r->end == 0 || r->n_bytes >= NAME_BESIDE_BYTES)
		r->naming = symbolize_thread_start(r->resolver, r->progress);
}

/* Records of the perf tool: attrs and features of a pipe, names of events, build-ids. */
static void take_tool_records(struct reader *r, const struct perf_records *w)
{
	struct perf_build_id id;
	struct perf_record record;

	for (size_t at = 0; at < w->n_bytes; at += record.size) {
		perf_record_at(w->at + at, w->swap, &record);
		if (record.type < PERF_REC_HEADER_ATTR)
			continue;
		if (record.type != PERF_REC_HEADER_BUILD_ID)
			perf_header_record(&r->header, &record, &r->events);
		else if (r->resolver && perf_build_id_decode(&record, &id))
			perf_header_tell_build_id(&id, r->resolver);
	}
	perf_header_describe(&r->header, &r->events);
}

static struct perf_stream *open_records(const struct reader *r, struct input *in, uint64_t begin,
					uint64_t end, bool skim)
{
	struct perf_stream *s = perf_stream_new(in, begin, end, r->header.swap,
						r->header.packed_max);

	perf_stream_leave_gaps(s, skim);
	if (r->live)
		perf_stream_patience(s, LIVE_PATIENCE_MS);
	return s;
}

/* Drops the records before number `from`. */
static void pass_over(struct perf_records *w, uint64_t from)
{
	while (w->first < from && w->n_bytes > 0) {
		struct perf_record record;

		perf_record_at(w->at, w->swap, &record);
		w->at += record.size;
		w->n_bytes -= record.size;
		w->offset += record.size;
		w->first++;
		w->beside = NULL;
		w->digest = NULL;
	}
}

/* From now on it is the scout that tells what is beside the samples of the file being read. */
static void send_scout(struct reader *r)
{
	r->n_scouted = readahead_n_records(r->ahead);
	r->scout_stream = open_records(r, r->in, r->begin, r->end, true);
	r->scout = readahead_new(r->scout_stream, true);
}

static void call_scout_back(struct reader *r)
{
	readahead_free(r->scout);
	perf_stream_free(r->scout_stream);
	r->scout = NULL;
	r->scout_stream = NULL;
}

/* Has so many rounds and records of the file told, or all that there are. */
static int scout(struct reader *r, uint64_t n_rounds, uint64_t n_records)
{
	struct perf_records w;

	if (!r->scout)
		send_scout(r);
	while (ingest_rounds_told(r->feed) < n_rounds || r->n_scouted < n_records) {
		if (readahead_next(r->scout, &w, NULL) <= 0) {
			r->all_told = true;
			break;
		}
		pass_over(&w, r->n_scouted);
		ingest_look(r->feed, &w, PRESCAN_TELL);
		if (readahead_n_records(r->scout) > r->n_scouted)
			r->n_scouted = readahead_n_records(r->scout);
		if (progress_cancelled(r->progress))
			return -ECANCELED;
	}
	return 0;
}

/* Tells what is beside the samples in a file that is not read yet. */
static int look_through(struct reader *r, struct input *in)
{
	struct perf_stream *ahead = open_records(r, in, 0, input_file_bytes(in), true);
	struct perf_records w;
	int rc = 0;

	while (rc == 0 && perf_stream_next(ahead, &w, NULL) > 0) {
		ingest_look(r->feed, &w, PRESCAN_TELL);
		rc = progress_cancelled(r->progress) ? -ECANCELED : 0;
	}
	perf_stream_free(ahead);
	return rc;
}

/* What is beside the samples to the end of the recording. */
static int look_ahead(struct reader *r)
{
	int rc = scout(r, UINT64_MAX, UINT64_MAX);

	r->all_told = true;
	ingest_may_ask(r->feed, false);
	for (size_t i = r->n_parts_begun; i < r->parts.number.n && rc == 0; i++) {
		struct input *in;

		if (dir_parts_open(&r->parts, i, &in, NULL) != 0)
			continue;
		if (input_file_bytes(in) > 0)
			rc = look_through(r, in);
		input_close(in);
	}
	return rc;
}

/* What tracepoints recorded, once the recording has said how it is laid out. */
static void learn_fields(struct reader *r)
{
	size_t n;
	const uint8_t *tracing = readahead_tracing(r->ahead, &n);

	perf_header_tracing(&r->header, tracing, n);
	if (r->fields || r->header.tracing.n == 0)
		return;
	r->fields = trace_fields_new(r->header.tracing.at, r->header.tracing.n);
	for (size_t i = 0; r->fields && i < r->events.all.n; i++) {
		struct perf_event *e = &r->events.all.at[i];
		const char *name = trace_fields_event(r->fields, e->attr.config);

		if (e->attr.type == PERF_T_TRACEPOINT && !e->name && name)
			e->name = xstrdup(name);
	}
}

/* Looks at a new window, the last one of the stream. */
static int look(struct reader *r, const struct perf_records *w)
{
	if (r->header.pipe || !r->feed)
		take_tool_records(r, w);
	learn_fields(r);
	if (!r->feed)
		begin_feeding(r);
	/* Of a file, nothing tells of events any more: one thread may digest while another feeds. */
	if (!r->header.pipe)
		readahead_digest(r->ahead, &r->events);
	if (r->fields && r->list)
		ingest_fields(r->feed, r->fields, r->list);
	ingest_look(r->feed, w, PRESCAN_COUNT | (r->all_told || r->scout ? 0 : PRESCAN_TELL));
	/* What all cpus tell is needed before what one of them sampled. */
	if (!r->all_told && r->parts.number.n > 0)
		return look_ahead(r);
	return 0;
}

static void tell_naming(struct reader *r)
{
	struct profile_counts counts;

	profile_counts_read(r->profile, &counts);
	symbolize_thread_more(r->naming, counts.n_locations);
}

/* Feeds the samples of a window, in batches. */
static int feed(struct reader *r, const struct perf_records *w)
{
	struct ingest_cursor c = { .number = w->first };
	enum perf_fed fed = INGEST_SOME;
	int rc = 0;

	while (fed != INGEST_ALL && fed != INGEST_FULL && rc == 0) {
		builder_begin(r->profile);
		if (r->live) {
			ingest_retire(r->feed);
			ingest_shorten(r->feed);
		}
		fed = ingest_samples(r->feed, w, &c, BATCH_BYTES);
		if (r->live && !ingest_waits(r->feed))
			fed = INGEST_FULL;
		rc = builder_end(r->profile);
		tell_naming(r);
		if (fed == INGEST_AHEAD)
			rc = look_ahead(r);
		if (progress_cancelled(r->progress))
			return -ECANCELED;
	}
	r->fed_to = w->offset + c.at;
	return fed == INGEST_FULL ? -EFBIG : rc;
}

/* Windows that were looked at and are to be fed, the oldest first. */
struct queue {
	struct perf_records window[PERF_WINDOWS_MOST];
	uint64_t n_rounds[PERF_WINDOWS_MOST]; /* that had been finished at the end of each */
	size_t n_read[PERF_WINDOWS_MOST];     /* bytes in memory of each, when it came */
	unsigned first, n;                    /* a ring */
	size_t n_bytes;                       /* that were read of all of them */
};

static uint64_t n_rounds_read(const struct reader *r)
{
	return ingest_stats(r->feed)->look.n_records[PERF_REC_FINISHED_ROUND];
}

/* Rounds that must be told before samples of the oldest window are fed. */
static uint64_t n_rounds_wanted(const struct queue *q)
{
	return q->n_rounds[q->first] + 2;
}

/*
 * Was all told that is older than samples of the oldest window? Records of one round may be older than samples of
 * the round before, but not of the one before that. A pipe is not kept waiting.
 */
static bool may_feed(const struct reader *r, const struct queue *q)
{
	if (q->n < 2)
		return false;
	return r->all_told || r->end == 0 || ingest_rounds_told(r->feed) >= n_rounds_wanted(q);
}

/* Must the oldest window wait no longer? */
static bool is_full(const struct queue *q)
{
	return q->n == PERF_WINDOWS_MOST || q->n_bytes >= WAITING_BYTES;
}

/* What a window takes of memory, about; its gaps take none until they are filled. */
static size_t bytes_read(const struct perf_records *w)
{
	size_t n = w->n_bytes;

	for (size_t i = 0; i < w->n_gaps; i++)
		n -= w->gaps[i].n < n ? w->gaps[i].n : n;
	return n;
}

static int feed_oldest(struct reader *r, struct queue *q)
{
	const struct perf_records *w = &q->window[q->first];

	q->n_bytes -= q->n_read[q->first];
	q->first = (q->first + 1) % PERF_WINDOWS_MOST;
	q->n--;
	return feed(r, w);
}

/* Looks at a window and feeds those that need not wait any longer. */
static int take_window(struct reader *r, struct queue *q, const struct perf_records *w)
{
	unsigned at = (q->first + q->n) % PERF_WINDOWS_MOST;
	int rc = look(r, w);

	q->window[at] = *w;
	q->n_rounds[at] = n_rounds_read(r);
	q->n_read[at] = bytes_read(w);
	q->n_bytes += q->n_read[at];
	q->n++;
	/* Rounds are longer than what may wait: later windows may still tell of this one's time. */
	if (rc == 0 && (r->scout || is_full(q)) && q->n > 1 && !may_feed(r, q))
		rc = scout(r, n_rounds_wanted(q), readahead_n_records(r->ahead));
	while (rc == 0 && may_feed(r, q))
		rc = feed_oldest(r, q);
	progress_set(r->progress, r->n_bytes_before + readahead_done(r->ahead), r->n_bytes);
	progress_forked(r->progress, ingest_stats(r->feed)->look.n_forked);
	progress_lost(r->progress, prescan_lost(&ingest_stats(r->feed)->look));
	return rc;
}

/* All windows. Where reading fails, what came before is fed, and broken says why. */
static int read_records(struct reader *r, struct err *broken)
{
	struct queue q = { .n = 0 };
	struct perf_records w;
	int rc = 0;

	r->ahead = readahead_new(r->stream, r->end > r->begin + PERF_WINDOW_BYTES);
	while (rc == 0 && readahead_next(r->ahead, &w, broken) > 0) {
		rc = take_window(r, &q, &w);
		readahead_keep(r->ahead, q.n > 1 ? q.n : 1);
	}
	if (rc == 0 && r->scout && !r->all_told)
		rc = scout(r, 0, readahead_n_records(r->ahead));
	while (rc == 0 && q.n > 0)
		rc = feed_oldest(r, &q);
	call_scout_back(r);
	readahead_free(r->ahead);
	r->ahead = NULL;
	return rc;
}

/* Why a recording without a sample is unusable; 0 when it is just empty. */
static int explain_nothing(struct reader *r, struct err *e)
{
	const struct perf_stream_stats *s = &r->stats;
	const char *name = input_name(r->in);

	if (r->feed && ingest_stats(r->feed)->n_samples > 0)
		return 0;
	if (r->feed && ingest_stats(r->feed)->n_no_event > 0)
		return err_set(e, -EBADMSG, "%s: holds samples of events that it does not describe",
			       name);
	if (r->feed && ingest_stats(r->feed)->n_bad_samples > 0)
		return err_set(e, -EBADMSG,
			       "%s: no sample can be decoded, the first is at offset %" PRIu64,
			       name, ingest_stats(r->feed)->bad_sample_offset);
	if (s->n_packed_bad > 0)
		return err_set(e, -EBADMSG,
			       "%s: its compressed records cannot be unpacked, from offset %" PRIu64
			       " on",
			       name, s->packed_bad_offset);
	if (s->end == PERF_END_BAD_SIZE)
		return err_set(e, -EBADMSG,
			       "%s: the record at offset %" PRIu64
			       " has an impossible size, and no sample comes before it",
			       name, s->end_offset);
	if (s->end != PERF_END_CLEAN || r->header.n_missing > 0)
		return err_set(e, -EBADMSG,
			       "%s: ends at offset %" PRIu64 " before its first sample", name,
			       s->end_offset + s->n_bytes_after);
	if (r->events.all.n == 0)
		return err_set(e, -EBADMSG, "%s: describes no event and holds no sample", name);
	return 0;
}

/* Which fields there are to be shown. */
static void state_fields(struct reader *r)
{
	for (size_t i = 0; r->fields && i < r->events.all.n; i++) {
		struct perf_event *e = &r->events.all.at[i];
		char *names;

		if (e->attr.type != PERF_T_TRACEPOINT || e->n_samples == 0)
			continue;
		names = trace_fields_names(r->fields, e->attr.config);
		if (*names)
			build_fact(r->profile, r->capture, "fields", perf_event_name_of(e),
				   FACT_PLAIN, "%s", names);
		free(names);
	}
}

static void state_facts(struct reader *r, const struct err *broken, bool full)
{
	builder_begin(r->profile);
	if (full)
		build_fact(r->profile, r->capture, "losses", "rest of the file", FACT_LOSS,
			   "does not fit into memory; read up to byte %" PRIu64, r->fed_to);
	perf_info(r->profile, r->capture, input_file_bytes(r->in) + r->parts.n_bytes, &r->parts,
		  &r->header, &r->stats, broken->code ? err_text(broken) : NULL);
	if (r->feed) {
		ingest_settle(r->feed);
		/* Both end and begin with facts about stacks, which are to be one section. */
		perf_facts(r->profile, r->capture, ingest_stats(r->feed), &r->events);
		ingest_end(r->feed);
		resolver_facts(r->resolver);
		state_fields(r);
	}
	builder_end(r->profile);
}

/* Where nothing says for good where the records end. */
static int open_growing(struct reader *r, struct err *e)
{
	r->begin = r->header.data.offset;
	r->end = 0;
	r->stream = open_records(r, r->in, r->begin, 0, false);
	return perf_growing_begin(&r->growing, r->in, &r->header, e);
}

/* The parts of a directory are read when all of them are whole. */
static void wait_for_parts(struct reader *r)
{
	static const char name[] = "parts";

	builder_begin(r->profile);
	build_fact(r->profile, r->capture, "file", name, FACT_MISSING,
		   "%zu files are being written, and read when their recorder has ended",
		   r->parts.number.n);
	builder_end(r->profile);
	perf_growing_wait(r->in, &r->header, r->progress);
	builder_begin(r->profile);
	build_fact(r->profile, r->capture, "file", name, FACT_PLAIN,
		   "%zu files, read when their recorder had ended", r->parts.number.n);
	builder_end(r->profile);
	dir_parts_done(&r->parts);
	dir_parts_find(&r->parts, DIR_PARTS_RECORDS, input_directory(r->in));
	input_follow(r->in, false);
	perf_header_again(r->in, &r->header);
}

static int open_stream(struct reader *r, struct err *e)
{
	int rc;

	if (r->header.pipe) {
		r->begin = PIPE_BEGIN;
		r->end = input_seekable(r->in) && !input_follows(r->in) ? input_file_bytes(r->in)
									: 0;
	} else {
		dir_parts_find(&r->parts, DIR_PARTS_RECORDS, input_directory(r->in));
		if (input_follows(r->in) && r->parts.number.n > 0)
			wait_for_parts(r);
		rc = perf_header_read_sections(r->in, &r->header, &r->events, e);
		if (rc < 0)
			return rc;
		if (r->header.growing)
			return open_growing(r, e);
		r->begin = r->header.data.offset;
		r->end = r->begin + r->header.data.size;
	}
	r->n_bytes = r->end ? input_file_bytes(r->in) + r->parts.n_bytes : 0;
	r->stream = open_records(r, r->in, r->begin, r->end, false);
	return 0;
}

/* Counts of several files; the first end that was not clean is the one that is told. */
static void end_stream(struct reader *r)
{
	const struct perf_stream_stats *s = perf_stream_stats(r->stream);
	struct perf_stream_stats *all = &r->stats;

	if (all->end == PERF_END_CLEAN &&
	    !(r->header.growing && perf_growing_ended(&r->growing, s->end_offset, r->progress))) {
		all->end = s->end;
		all->end_offset = s->end_offset;
		all->n_bytes_after = s->n_bytes_after;
	}
	if (all->n_packed_bad == 0)
		all->packed_bad_offset = s->packed_bad_offset;
	all->n_records += s->n_records;
	all->n_packed += s->n_packed;
	all->n_packed_bad += s->n_packed_bad;
	all->n_too_large += s->n_too_large;
	all->n_aux_bytes += s->n_aux_bytes;
	r->n_bytes_before += perf_stream_done(r->stream);
	perf_stream_free(r->stream);
	r->stream = NULL;
}

/* The file of one cpu, or of some, in a directory. */
static int read_part(struct reader *r, size_t i, struct err *broken)
{
	struct input *main_file = r->in;
	struct input *part;
	int rc = 0;

	r->n_parts_begun = i + 1;
	if (dir_parts_open(&r->parts, i, &part, broken) != 0)
		return 0;
	r->in = part;
	r->begin = 0;
	r->end = input_file_bytes(part);
	if (r->end > 0) {
		r->stream = open_records(r, part, 0, r->end, false);
		rc = read_records(r, broken);
		end_stream(r);
	}
	r->in = main_file;
	input_close(part);
	return rc;
}

/* All records, of all files. */
static int read_files(struct reader *r, struct err *broken)
{
	int rc = read_records(r, broken);

	end_stream(r);
	for (size_t i = 0; i < r->parts.number.n && rc == 0; i++)
		rc = read_part(r, i, broken);
	return rc;
}

/* Is that what builder_end() says of a profile that something did not fit into? */
static bool ran_full(int rc)
{
	return rc == -EFBIG || rc == -ENOSPC;
}

/* Names and inlined frames for what was read; named: what became of that so far. */
static int name_all(struct reader *r, int named)
{
	/* Of what is full already, as much as fits. */
	if (named == 0 || ran_full(named))
		named = resolver_name(r->resolver, r->progress);
	if (named == 0)
		named = resolver_fetch(r->resolver, r->progress);
	if (named == 0)
		named = resolver_inline(r->resolver, r->progress);
	return named;
}

/* What there was no memory for, unless that was said of the samples. */
static int state_unnamed(struct reader *r, bool said)
{
	builder_begin(r->profile);
	if (!said)
		build_fact(r->profile, r->capture, "losses", "names", FACT_LOSS,
			   "some functions and inlined frames do not fit into memory");
	builder_end(r->profile);
	return 0;
}

/* Everything from the stream on. */
static int read_stream(struct reader *r, struct err *e)
{
	struct err broken = ERR_INIT;
	int rc = read_files(r, &broken), named;
	bool full = ran_full(rc);

	named = symbolize_thread_finish(r->naming);
	r->naming = NULL;
	if (rc == -ECANCELED) {
		err_clear(&broken);
		return rc;
	}
	state_facts(r, &broken, full);
	if (full && ingest_stats(r->feed)->n_samples == 0)
		err_set(&broken, rc, "%s: does not fit into memory", input_name(r->in));
	rc = broken.code && (!r->feed || ingest_stats(r->feed)->n_samples == 0)
		     ? err_set(e, broken.code, "%s", err_text(&broken))
		     : explain_nothing(r, e);
	err_clear(&broken);
	if (rc == 0 && r->resolver)
		named = name_all(r, named);
	if (rc == 0 && ran_full(named))
		named = state_unnamed(r, full);
	builder_begin(r->profile);
	perf_archives_facts(&r->archives, r->profile, r->capture);
	builder_end(r->profile);
	return rc < 0 ? rc : named;
}

static void state_copied(struct reader *r)
{
	builder_begin(r->profile);
	build_fact(r->profile, r->capture, "file", "copied", FACT_PLAIN,
		   "to a temporary file without a name, as its parts are read here and there");
	builder_end(r->profile);
}

static int read_all(struct reader *r, struct err *e)
{
	struct input *whole = NULL;
	int rc = perf_header_read(r->in, &r->header, e);

	/* A file's attrs and features stand apart from its records: it has to be read here and there. */
	if (rc == 0 && !r->header.pipe && !input_seekable(r->in))
		rc = spool(r->in, &whole, r->progress, e);
	if (rc == 0 && whole) {
		r->in = whole;
		state_copied(r);
	}
	if (rc == 0)
		rc = open_stream(r, e);
	if (rc == 0)
		rc = read_stream(r, e);
	input_close(whole);
	return rc;
}

static int read_perf_data(struct input *in, struct profile *p, capture_id c,
			  const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = {
		.in = in, .name = input_name(in), .profile = p, .capture = c, .progress = progress
	};
	int rc;

	if (o && o->resolve)
		r.options = *o->resolve;
	if (o)
		r.root_names = o->root_names;
	if (o)
		r.list = o->fields;
	r.stitch = o && o->stitch;
	r.live = o && o->live;
	rc = read_all(&r, e);
	ingest_free(r.feed);
	resolver_free(r.resolver);
	trace_fields_free(r.fields);
	perf_stream_free(r.stream);
	perf_archives_done(&r.archives);
	dir_parts_done(&r.parts);
	vec_done(&r.dirs);
	free(r.kcore_dir);
	perf_events_done(&r.events);
	perf_header_done(&r.header);
	return rc;
}

const struct format format_perf_data = {
	.name = "perf.data",
	.title = "Linux perf recordings: perf.data files and pipes, simpleperf",
	.probe = probe,
	.read = read_perf_data,
};
