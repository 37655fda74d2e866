/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of a perf.data in windows: whole records, unpacked, from a file or from a pipe.
 *
 * COMPRESSED records hold pieces of zstd frames whose content is records again, which may begin in one
 * piece and end in another; payloads behind AUXTRACE and TRACING_DATA records are stepped over. What
 * comes out is one flat run of records. Memory is bounded: the windows that are kept and one more, another for what is packed.
 */
#ifndef PROFTOP_PERF_FILE_PERF_STREAM_H
#define PROFTOP_PERF_FILE_PERF_STREAM_H

#include "perf/abi/perf_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct input;
struct perf_events;
struct perf_stream;

/* How the records ended. */
enum perf_end {
	PERF_END_CLEAN,    /* with a whole record */
	PERF_END_CUT,      /* inside a record */
	PERF_END_BAD_SIZE, /* at a record of an impossible size: what follows cannot be read */
	PERF_END_TEXT      /* at text that a program wrote into the pipe */
};

struct perf_stream_stats {
	enum perf_end end;
	uint64_t end_offset;    /* in the file: of the cut or impossible record, or of the text */
	uint64_t n_bytes_after; /* from there to the end, as far as known */
	uint64_t n_records;     /* that were handed out */
	uint64_t n_packed;      /* COMPRESSED records */
	uint64_t n_packed_bad;  /* of these, the ones that could not be unpacked */
	uint64_t packed_bad_offset; /* the first of these */
	uint64_t n_too_large;       /* records and payloads that were stepped over for their size */
	uint64_t n_aux_bytes;       /* of AUXTRACE payloads */
};

/*
 * Of a file, small enough for what was read to stay in the cpu's cache until it is looked at; of a pipe,
 * which cannot be looked ahead in, large enough for a round of the buffers of some cpus.
 */
#define PERF_WINDOW_BYTES      ((size_t)1 << 20)
#define PERF_PIPE_WINDOW_BYTES ((size_t)16 << 20)
#define PERF_WINDOWS_MOST      32u /* that may be looked at at once */

/*
 * Reads [begin, end) of a seekable input, or all that comes from a pipe when end is 0; borrows in.
 * packed_max is what a COMPRESSED record may hold at most, 0 when nobody said.
 */
struct perf_stream *perf_stream_new(struct input *in, uint64_t begin, uint64_t end, bool swap,
				    uint32_t packed_max);
void perf_stream_free(struct perf_stream *s);

/*
 * From now on the middle of long samples need not be read: windows of a seekable input may have gaps, which may be
 * filled on one thread while another reads the next window. skim: little more than their headers is wanted.
 */
void perf_stream_leave_gaps(struct perf_stream *s, bool skim);

/* From now on samples are digested. The events are borrowed, and must not change any more. NULL: they are not. */
void perf_stream_digest(struct perf_stream *s, const struct perf_events *e);

/* Of a pipe: what has come is handed out when nothing more comes for so long. Half a second unless said. */
void perf_stream_patience(struct perf_stream *s, int ms);

/*
 * The next window. From a pipe it ends when a round is finished or pauses, for a live view, and is
 * empty when nothing has come for some time since the last one. It is borrowed until the next but one
 * call, or for longer by perf_stream_keep(). Returns 1, 0 at the end, -errno with a sentence.
 */
int perf_stream_next(struct perf_stream *s, struct perf_records *w, struct err *e);

/* So many windows, at most PERF_WINDOWS_MOST, of those handed out last are to outlive the next call: 1 at first. */
void perf_stream_keep(struct perf_stream *s, unsigned n);

/* Bytes of the file taken so far, packed. */
uint64_t perf_stream_done(const struct perf_stream *s);

const struct perf_stream_stats *perf_stream_stats(const struct perf_stream *s);

/* The data that stood behind the TRACING_DATA record of a pipe, once that came; *n of it. Borrowed. */
const uint8_t *perf_stream_tracing(const struct perf_stream *s, size_t *n);

#endif
