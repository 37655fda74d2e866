/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records in windows.
 *
 * Plain records are read straight into the window they are handed out in; what is left of a cut record
 * at its end moves to the next one. With the first COMPRESSED record the stream changes over: bytes of
 * the file then go through a small buffer, plain records are copied and packed ones unpacked into the
 * window.
 *
 * Of long samples, which hold copied stacks, only the ends are read where the owner allows that: one pread()
 * from the end of one to the beginning of the next. As they keep their places, bytes of the window and of the
 * file still go together.
 *
 * Invariant of a window being filled: [0, whole) are whole records, [whole, n) is the beginning of one.
 */
#include "config.h"

#include "perf/file/perf_stream.h"

#include "base/err.h"
#include "base/mem.h"
#include "input/input.h"
#include "perf/abi/lazy_stack.h"
#include "perf/file/perf_pieces.h"
#include "perf/file/perf_windows.h"
#include "perf/ingest/predecode.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES_MAX 65535u             /* but for simpleperf's own, which are stepped over */
#define TRACING_MAX      ((size_t)64 << 20) /* bytes of tracing data that are kept */
#define TEXT_BYTES       16                 /* printable bytes that make a text */
#define PATIENCE_MS      500                /* a round that pauses for longer is shown as it is */

/*
 * How long a sample must be for a gap, what is read of its end (all that follows the copied stack, mostly), and of its
 * beginning at first: that doubles when, of so many gaps, more than a part were filled.
 */
#define GAP_RECORD_BYTES ((uint32_t)6 << 10)
#define GAP_TAIL_BYTES   ((size_t)256)
#define GAP_HEAD_BYTES   ((size_t)2 << 10)
#define SKIM_HEAD_BYTES  ((size_t)64)
#define GAP_TRIAL        64
#define GAP_FILLS_PART   4

/* What became of the record at the front. */
enum step { STEP_ON, STEP_MORE, STEP_WINDOW_ENDS, STEP_PACKED, STEP_STOP, STEP_LATER };

struct perf_stream {
	struct input *in;
	bool seekable;
	bool swap;
	uint64_t at, end; /* next byte to read, and where to stop; end 0: unknown */
	bool stopped;     /* nothing more comes */

	struct perf_windows windows;
	int patience_ms; /* see PATIENCE_MS */
	size_t n, whole; /* of the one being filled; see the file's comment */
	uint64_t first;  /* records in windows before it */
	bool round;      /* it holds a FINISHED_ROUND */
	bool awaited;    /* what was handed out last is used only when the next window is there */

	const struct perf_events *events; /* NULL: samples are not digested */
	bool may_leave_gaps;
	_Atomic size_t head; /* bytes to read of long samples, GAP_…; read by who fills gaps, too */
	size_t n_gaps;       /* since head has its size */
	/* Of them; counted by who looks at the windows, perhaps on another thread. */
	_Atomic size_t n_filled;
	size_t most; /* bytes to read at once: few after a gap */

	bool packed;          /* changed over */
	uint8_t *raw;         /* [room] bytes of the file, owned */
	size_t raw_at, raw_n; /* unread bytes are [raw_at, raw_n) */
	struct perf_pieces pieces;
	bool lost_step;       /* a piece was lost: where records begin is unknown */
	bool discard;         /* of this piece nothing can be used */
	bool cut;             /* this piece is what the file ends with, and lacks its end */
	bool keep;            /* what is dropped next is tracing data */
	VEC(uint8_t) tracing; /* see perf_stream_tracing() */
	struct err failure;   /* of reading; told when all before it was handed out */
	struct perf_stream_stats stats;
};

static uint8_t *filling(const struct perf_stream *s)
{
	return s->windows.of[s->windows.turn].at;
}

/* Offset in the file of a byte that was read but not used: `left` bytes before the next to read. */
static uint64_t offset_of(const struct perf_stream *s, size_t left)
{
	return s->at - left;
}

/* Up to n bytes of the file; 0 at the end. */
static ssize_t read_file(struct perf_stream *s, void *to, size_t n, struct err *e)
{
	ssize_t got;

	if (s->end && n > s->end - s->at)
		n = (size_t)(s->end - s->at);
	if (n == 0)
		return 0;
	got = s->seekable ? input_pread(s->in, to, n, s->at, e) : input_read(s->in, to, n, e);
	if (got > 0)
		s->at += (uint64_t)got;
	return got;
}

/* Is a window waited for, be it empty, and nothing more to read for some time? */
static bool is_idle(const struct perf_stream *s)
{
	return !s->seekable && (s->whole > 0 || s->awaited) && !input_comes(s->in, s->patience_ms);
}

/* Moves n bytes on in the file. */
static int skip_file(struct perf_stream *s, uint64_t n, struct err *e)
{
	uint8_t waste[16384];

	if (s->seekable) {
		s->at = s->end - s->at < n ? s->end : s->at + n;
		return 0;
	}
	while (n > 0) {
		ssize_t got = read_file(s, waste, n < sizeof(waste) ? (size_t)n : sizeof(waste), e);

		if (got <= 0)
			return (int)got;
		n -= (uint64_t)got;
	}
	return 0;
}

/* Bytes that stand behind a record and do not count in its size. */
static uint64_t payload_behind(const struct perf_record *r)
{
	struct bytes b = perf_record_body(r);

	if (r->type == PERF_REC_AUXTRACE)
		return take_u64(&b);
	/* simpleperf puts it inside the record, perf behind it. */
	if (r->type == PERF_REC_HEADER_TRACING_DATA && r->size <= PERF_RECORD_HEADER_BYTES + 8)
		return ((uint64_t)take_u32(&b) + 7) & ~UINT64_C(7);
	return 0;
}

static bool is_text(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && i < TEXT_BYTES && ((p[i] >= ' ' && p[i] <= '~') || p[i] == '\n'))
		i++;
	return n >= 4 && (i == n || i == TEXT_BYTES);
}

static void stop(struct perf_stream *s, enum perf_end end, const uint8_t *p, size_t left)
{
	uint64_t more = s->end > s->at ? s->end - s->at : 0;

	s->stopped = true;
	s->stats.end = left > 0 && is_text(p, left) ? PERF_END_TEXT : end;
	s->stats.end_offset = offset_of(s, left);
	s->stats.n_bytes_after = left + more;
}

/* Looks at the record at p, of which n bytes are there. */
static enum step look_at(struct perf_stream *s, const uint8_t *p, size_t n, struct perf_record *r)
{
	if (n < PERF_RECORD_HEADER_BYTES)
		return STEP_MORE;
	if (perf_record_at(p, s->swap, r) == 0) {
		stop(s, PERF_END_BAD_SIZE, p, n);
		return STEP_STOP;
	}
	if (r->size > n && s->end && r->size - n > s->end - s->at && r->size > RECORD_BYTES_MAX) {
		stop(s, PERF_END_BAD_SIZE, p, n);
		return STEP_STOP;
	}
	if (r->size > RECORD_BYTES_MAX)
		return STEP_WINDOW_ENDS;
	if (r->size > n)
		return STEP_MORE;
	return perf_pieces_holds(r) ? STEP_PACKED : STEP_ON;
}

/* A whole record is in the window, at `whole`. */
static void take_record(struct perf_stream *s, const struct perf_record *r)
{
	if (r->type != PERF_REC_SAMPLE)
		vec_push(&perf_windows_filling(&s->windows)->beside,
			 ((struct perf_beside){ (uint32_t)s->whole,
						(uint32_t)(s->stats.n_records - s->first) }));
	s->whole += r->size;
	s->stats.n_records++;
	s->round = s->round || r->type == PERF_REC_FINISHED_ROUND;
	s->keep = r->type == PERF_REC_HEADER_TRACING_DATA;
}

/* Puts what is dropped aside: n bytes at p, then n_file bytes of the file. */
static int keep_tracing(struct perf_stream *s, const uint8_t *p, size_t n, uint64_t n_file,
			struct err *e)
{
	if (s->tracing.n > 0 || n + n_file > TRACING_MAX)
		return skip_file(s, n_file, e);
	vec_reserve(&s->tracing, n + n_file);
	memcpy(s->tracing.at, p, n);
	s->tracing.n = n;
	while (n_file > 0) {
		ssize_t got = read_file(s, s->tracing.at + s->tracing.n, n_file, e);

		if (got <= 0)
			return (int)got;
		s->tracing.n += (size_t)got;
		n_file -= (uint64_t)got;
	}
	return 0;
}

/* Drops bytes that follow what was used: `left` of them are at p, the rest still in the file. */
static int drop(struct perf_stream *s, const uint8_t *p, size_t left, uint64_t n, size_t *dropped,
		struct err *e)
{
	bool keep = s->keep;

	s->keep = false;
	*dropped = n < left ? (size_t)n : left;
	if (keep && n > 0)
		return keep_tracing(s, p, *dropped, n - *dropped, e);
	return n > left ? skip_file(s, n - left, e) : 0;
}

/*
 * The window ends at `whole`: there stands a payload, or a record too large to keep. Drops it, and
 * leaves what follows as the beginning of the next window.
 */
static int step_over(struct perf_stream *s, uint64_t n, struct err *e)
{
	size_t dropped;
	int rc = drop(s, filling(s) + s->whole, s->n - s->whole, n, &dropped, e);

	s->n -= dropped;
	memmove(filling(s) + s->whole, filling(s) + s->whole + dropped, s->n - s->whole);
	return rc;
}

/* Goes through the records that are whole by now. */
static enum step take_plain(struct perf_stream *s, struct err *e, int *rc)
{
	struct perf_record r;
	enum step step;

	while (true) {
		uint64_t payload;

		step = look_at(s, filling(s) + s->whole, s->n - s->whole, &r);
		if (step != STEP_ON)
			break;
		payload = payload_behind(&r);
		take_record(s, &r);
		if (payload == 0)
			continue;
		s->stats.n_aux_bytes += r.type == PERF_REC_AUXTRACE ? payload : 0;
		*rc = step_over(s, payload, e);
		return STEP_WINDOW_ENDS;
	}
	if (step == STEP_WINDOW_ENDS) {
		s->stats.n_too_large++;
		*rc = step_over(s, r.size, e);
	}
	return step;
}

/* From here on records may be packed: what was read but not used moves to the other buffer. */
static void change_over(struct perf_stream *s)
{
	s->packed = true;
	s->raw = xmalloc(s->windows.room);
	s->raw_n = s->n - s->whole;
	memcpy(s->raw, filling(s) + s->whole, s->raw_n);
	s->n = s->whole;
}

static void fill_gap(void *stream, const struct lazy_stack *g)
{
	struct perf_stream *s = stream;
	struct err e =
		ERR_INIT; /* the file was there a moment ago; the next read tells what became of it */
	ssize_t got = input_pread(s->in, g->at, g->n, g->offset, &e);

	err_clear(&e);
	if (got < 0)
		got = 0;
	memset(g->at + got, 0, g->n - (size_t)got);
	/* Windows of before may still be walked when head has grown: what they lacked says nothing of it. */
	if (g->offset - g->record >= s->head)
		s->n_filled++;
}

/* The size of the record at `whole` when that is a long sample, all of which is in the file; else 0. */
static uint32_t long_sample(const struct perf_stream *s)
{
	size_t n = s->n - s->whole;
	struct perf_record r;

	if (!s->may_leave_gaps || n < PERF_RECORD_HEADER_BYTES)
		return 0;
	perf_record_at(filling(s) + s->whole, s->swap, &r);
	return r.type == PERF_REC_SAMPLE && r.size >= GAP_RECORD_BYTES &&
			       r.size - n <= s->end - s->at
		       ? r.size
		       : 0;
}

/* Leaves the gap in the long sample at `whole`, once its beginning is there. */
static void leave_gap(struct perf_stream *s, uint32_t size)
{
	size_t to = s->whole + size - GAP_TAIL_BYTES, n;

	s->most = s->head;
	if (s->n - s->whole < s->head || s->n >= to)
		return;
	n = to - s->n;
	vec_push(&perf_windows_filling(&s->windows)->gaps,
		 ((struct lazy_stack){ .record = offset_of(s, s->n - s->whole),
				       .offset = s->at,
				       .at = filling(s) + s->n,
				       .n = n,
				       .fill = fill_gap,
				       .source = s }));
	s->at += n;
	s->n = to;
	s->most = GAP_TAIL_BYTES + s->head;
	if (++s->n_gaps >= GAP_TRIAL && s->n_filled > s->n_gaps / GAP_FILLS_PART) {
		s->head = 2 * s->head;
		s->n_gaps = 0;
		s->n_filled = 0;
	}
}

/* More of the file into the window; 0 at the end. */
static ssize_t read_more(struct perf_stream *s, struct err *e)
{
	uint32_t size = long_sample(s);
	size_t n;
	ssize_t got;

	if (size > 0)
		leave_gap(s, size);
	n = s->windows.room - s->n;
	got = read_file(s, filling(s) + s->n, n < s->most ? n : s->most, e);
	s->most = s->most < s->windows.room / 2 ? s->most * 2 : s->windows.room;
	if (got > 0)
		s->n += (size_t)got;
	return got;
}

/* Is this, with which the file ends, the beginning of a packed record? */
static bool begins_piece(const struct perf_stream *s, const uint8_t *p, size_t n)
{
	struct perf_record r;

	if (n <= PERF_RECORD_HEADER_BYTES)
		return false;
	perf_record_at(p, s->swap, &r);
	return perf_pieces_holds(&r);
}

static int fill_plain(struct perf_stream *s, struct err *e)
{
	int rc = 0;

	while (true) {
		enum step step = take_plain(s, e, &rc);
		ssize_t got;

		if (rc < 0 || step == STEP_STOP || step == STEP_WINDOW_ENDS)
			return rc;
		if (step == STEP_PACKED) {
			change_over(s);
			return 0;
		}
		if (s->n == s->windows.room || long_sample(s) > s->windows.room - s->whole ||
		    (!s->seekable && s->round) || is_idle(s))
			return 0;
		got = read_more(s, e);
		if (got < 0)
			return (int)got;
		if (got > 0)
			continue;
		if (begins_piece(s, filling(s) + s->whole, s->n - s->whole))
			change_over(s);
		else
			stop(s, s->n > s->whole || s->at < s->end ? PERF_END_CUT : PERF_END_CLEAN,
			     filling(s) + s->whole, s->n - s->whole);
		return 0;
	}
}

static void piece_is_bad(struct perf_stream *s)
{
	perf_pieces_give_up(&s->pieces);
	s->n = s->whole;
	s->lost_step = true;
}

/* Could a record begin so? Asked only after something was lost. */
static bool is_plausible(const struct perf_record *r)
{
	return perf_record_name(r->type) && r->size >= PERF_RECORD_HEADER_BYTES && r->size % 8 == 0;
}

/* Takes the records that were unpacked whole. */
static void take_unpacked(struct perf_stream *s)
{
	struct perf_record r;

	while (s->n - s->whole >= PERF_RECORD_HEADER_BYTES) {
		uint64_t size = perf_record_at(filling(s) + s->whole, s->swap, &r);

		if (s->lost_step && !is_plausible(&r)) {
			s->discard = true;
			s->n = s->whole;
			return;
		}
		s->lost_step = false;
		if (size == 0 || size > RECORD_BYTES_MAX) {
			piece_is_bad(s);
			return;
		}
		if (size > s->n - s->whole)
			return;
		take_record(s, &r);
	}
}

/* Unpacks what fits of the piece into the window. */
static void unpack(struct perf_stream *s)
{
	bool bad;

	s->n += perf_pieces_unpack(&s->pieces, filling(s) + s->n, s->windows.room - s->n, &bad);
	if (s->discard)
		s->n = s->whole;
	else
		take_unpacked(s);
	if (bad)
		piece_is_bad(s);
}

/* Puts a plain record before the one whose beginning was unpacked. False: no room. */
static bool copy_record(struct perf_stream *s, const struct perf_record *r)
{
	uint8_t *to = filling(s) + s->whole;

	if (r->size > s->windows.room - s->n)
		return false;
	memmove(to + r->size, to, s->n - s->whole);
	memcpy(to, r->at, r->size);
	s->n += r->size;
	take_record(s, r);
	return true;
}

/* Makes the next record of the file whole in raw, but for a packed one with which the file ends: what is there. */
static enum step refill(struct perf_stream *s, struct perf_record *r, struct err *e, int *rc)
{
	while (true) {
		size_t left = s->raw_n - s->raw_at;
		enum step step = look_at(s, s->raw + s->raw_at, left, r);
		ssize_t got;

		if (step != STEP_MORE)
			return step;
		if (is_idle(s))
			return STEP_LATER;
		memmove(s->raw, s->raw + s->raw_at, left);
		s->raw_at = 0;
		s->raw_n = left;
		got = read_file(s, s->raw + left, s->windows.room - left, e);
		if (got < 0)
			*rc = (int)got;
		if (got == 0 && !s->cut && begins_piece(s, s->raw, left)) {
			s->cut = true;
			r->size = (uint32_t)left;
			return STEP_PACKED;
		}
		if (got <= 0) {
			stop(s, left > 0 || s->at < s->end ? PERF_END_CUT : PERF_END_CLEAN, s->raw,
			     left);
			return STEP_STOP;
		}
		s->raw_n += (size_t)got;
	}
}

static int drop_raw(struct perf_stream *s, uint64_t n, struct err *e)
{
	size_t dropped;
	int rc = drop(s, s->raw + s->raw_at, s->raw_n - s->raw_at, n, &dropped, e);

	s->raw_at += dropped;
	return rc;
}

/* The next record of the file into the window. False when the window ends here. */
static bool next_record(struct perf_stream *s, struct err *e, int *rc)
{
	struct perf_record r;
	enum step step = refill(s, &r, e, rc);
	uint64_t payload;

	if (step == STEP_STOP || step == STEP_LATER)
		return false;
	if (step == STEP_WINDOW_ENDS) {
		s->stats.n_too_large++;
		*rc = drop_raw(s, r.size, e);
		return *rc == 0;
	}
	if (step == STEP_PACKED) {
		perf_pieces_begin(&s->pieces, &r, offset_of(s, s->raw_n - s->raw_at));
		s->discard = false;
		s->raw_at += s->cut ? 0 : r.size;
		return true;
	}
	if (!copy_record(s, &r))
		return false;
	payload = payload_behind(&r);
	s->stats.n_aux_bytes += r.type == PERF_REC_AUXTRACE ? payload : 0;
	s->raw_at += r.size;
	*rc = drop_raw(s, payload, e);
	return *rc == 0 && (s->seekable || !s->round);
}

static void count_pieces(struct perf_stream *s)
{
	s->stats.n_packed = s->pieces.n;
	s->stats.n_packed_bad = s->pieces.n_bad;
	s->stats.packed_bad_offset = s->pieces.bad_offset;
}

static int fill_packed(struct perf_stream *s, struct err *e)
{
	int rc = 0;

	while (s->windows.room - s->n >= RECORD_BYTES_MAX) {
		if (s->pieces.more)
			unpack(s);
		else if (!next_record(s, e, &rc))
			break;
	}
	if (s->stopped && !s->cut && !perf_pieces_end(&s->pieces)) {
		s->n = s->whole;
		s->lost_step = true;
	}
	/* The last record was not unpacked to its end. */
	if (s->stopped && s->n > s->whole && s->stats.end == PERF_END_CLEAN) {
		s->stats.end = PERF_END_CUT;
		s->stats.n_bytes_after = s->n - s->whole;
	}
	count_pieces(s);
	return rc;
}

/* Another window begins with what the last one held of a cut record. */
static void turn_over(struct perf_stream *s)
{
	const uint8_t *from = filling(s) + s->whole;

	if (s->whole > 0) {
		perf_windows_turn(&s->windows);
		s->n -= s->whole;
		memcpy(filling(s), from, s->n);
	}
	s->whole = 0;
	s->round = false;
	s->first = s->stats.n_records;
	vec_clear(&perf_windows_filling(&s->windows)->gaps);
	vec_clear(&perf_windows_filling(&s->windows)->beside);
}

struct perf_stream *perf_stream_new(struct input *in, uint64_t begin, uint64_t end, bool swap,
				    uint32_t packed_max)
{
	struct perf_stream *s = xcalloc(1, sizeof(*s));

	s->in = in;
	s->seekable = end > 0;
	s->swap = swap;
	s->at = begin;
	s->end = end;
	perf_windows_init(&s->windows, !s->seekable, end > begin ? end - begin : 0);
	perf_pieces_init(&s->pieces, packed_max);
	s->patience_ms = PATIENCE_MS;
	s->head = GAP_HEAD_BYTES;
	s->most = s->windows.room;
	return s;
}

void perf_stream_free(struct perf_stream *s)
{
	if (!s)
		return;
	perf_pieces_done(&s->pieces);
	err_clear(&s->failure);
	vec_done(&s->tracing);
	free(s->raw);
	perf_windows_done(&s->windows);
	free(s);
}

void perf_stream_keep(struct perf_stream *s, unsigned n)
{
	assert(n <= PERF_WINDOWS_MOST);
	s->windows.kept = n;
}

void perf_stream_leave_gaps(struct perf_stream *s, bool skim)
{
	s->may_leave_gaps = s->seekable;
	s->head = skim ? SKIM_HEAD_BYTES : GAP_HEAD_BYTES;
}

void perf_stream_digest(struct perf_stream *s, const struct perf_events *e)
{
	s->events = e;
}

void perf_stream_patience(struct perf_stream *s, int ms)
{
	s->patience_ms = ms;
}

static void tell_gaps(struct perf_stream *s, struct perf_records *w)
{
	const struct perf_window *from = perf_windows_filling(&s->windows);

	w->gaps = from->gaps.at;
	w->n_gaps = from->gaps.n;
}

static void tell_beside(struct perf_stream *s, struct perf_records *w)
{
	struct perf_window *from = perf_windows_filling(&s->windows);

	vec_reserve(&from->beside, 1);
	w->beside = from->beside.at;
	w->n_beside = from->beside.n;
	w->n_samples = (size_t)(s->stats.n_records - s->first) - from->beside.n;
}

/* Records of copied stacks are mostly not there, nor of one chain that was seen before. */
static void digest(struct perf_stream *s, struct perf_records *w)
{
	struct perf_predecoded *d = &perf_windows_filling(&s->windows)->digests;

	w->digest = NULL;
	if (!s->events || w->n_gaps > 0)
		return;
	predecode_make(d, s->events, w);
	w->digest = d->of.at;
}

int perf_stream_next(struct perf_stream *s, struct perf_records *w, struct err *e)
{
	while (!s->stopped) {
		int rc = 0;

		turn_over(s);
		w->first = s->first;
		w->offset = s->packed ? s->pieces.offset : offset_of(s, s->n);
		w->swap = s->swap;
		w->at = filling(s);
		if (!s->packed)
			rc = fill_plain(s, &s->failure);
		if (rc == 0 && s->packed && !s->stopped)
			rc = fill_packed(s, &s->failure);
		s->stopped = s->stopped || rc < 0;
		w->n_bytes = s->whole;
		tell_gaps(s, w);
		tell_beside(s, w);
		digest(s, w);
		if (s->whole > 0 || (!s->seekable && s->awaited && !s->stopped)) {
			s->awaited = s->whole > 0;
			return 1;
		}
	}
	return s->failure.code ? err_set(e, s->failure.code, "%s", err_text(&s->failure)) : 0;
}

uint64_t perf_stream_done(const struct perf_stream *s)
{
	return s->seekable ? s->at : input_file_done(s->in);
}

const struct perf_stream_stats *perf_stream_stats(const struct perf_stream *s)
{
	return &s->stats;
}

const uint8_t *perf_stream_tracing(const struct perf_stream *s, size_t *n)
{
	*n = s->tracing.n;
	return s->tracing.at;
}
