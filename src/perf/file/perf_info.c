/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of the container: what it is, who wrote it where, and what of it could not be read. */
#include "config.h"

#include "perf/file/perf_info.h"

#include "base/fmt.h"
#include "input/dir_parts.h"
#include "perf/file/perf_header.h"
#include "perf/file/perf_stream.h"
#include "profile/builder.h"

#include <inttypes.h>
#include <time.h>

static void text_fact(struct profile *p, capture_id c, const char *name, const char *text)
{
	if (text && text[0])
		build_fact(p, c, "file", name, FACT_PLAIN, "%s", text);
}

/* When the first sample was taken, by the wall clock. */
static void time_facts(struct profile *p, capture_id c, const struct perf_header *h,
		       int64_t begin_ns, int64_t end_ns)
{
	char text[FMT_SIZE], when[64];
	struct tm parts;
	time_t at;

	if (begin_ns == TIME_NONE || end_ns < begin_ns)
		return;
	build_fact(p, c, "file", "duration", FACT_PLAIN, "%s", fmt_ns(text, end_ns - begin_ns));
	if (h->clock_ns == 0 || h->wall_ns > INT64_MAX || h->clock_ns > INT64_MAX)
		return;
	/* Differences of clocks: unsigned, so that nonsense wraps instead of overflowing. */
	at = (time_t)((int64_t)(h->wall_ns - h->clock_ns + (uint64_t)begin_ns) / 1000000000);
	if (gmtime_r(&at, &parts) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &parts))
		build_fact(p, c, "file", "recorded", FACT_PLAIN, "%s", when);
}

static void mode_fact(struct profile *p, capture_id c, const struct dir_parts *parts,
		      const struct perf_header *h)
{
	bool big = h->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	const char *order = big ? "big" : "little";

	if (parts->dir && parts->number.n > 0)
		build_fact(p, c, "file", "mode", FACT_PLAIN,
			   "directory of %zu files with records, %s-endian", parts->number.n + 1,
			   order);
	else
		build_fact(p, c, "file", "mode", FACT_PLAIN, "%s, %s-endian",
			   h->pipe      ? "pipe"
			   : parts->dir ? "directory"
					: "file",
			   order);
}

static void header_facts(struct profile *p, capture_id c, uint64_t file_bytes,
			 const struct dir_parts *parts, const struct perf_header *h)
{
	const struct capture *capture = profile_capture(p, c);
	char text[FMT_SIZE];

	if (file_bytes > 0)
		build_fact(p, c, "file", "size", FACT_PLAIN, "%s",
			   fmt_bytes(text, (int64_t)(file_bytes & INT64_MAX)));
	mode_fact(p, c, parts, h);
	text_fact(p, c, "command", h->command_line);
	text_fact(p, c, "perf version", h->version);
	text_fact(p, c, "host", h->hostname);
	text_fact(p, c, "kernel", h->os_release);
	text_fact(p, c, "architecture", h->arch);
	text_fact(p, c, "cpu", h->cpu);
	if (h->n_cpus)
		build_fact(p, c, "file", "cpus", FACT_PLAIN, "%" PRIu32, h->n_cpus);
	if (h->memory_bytes && h->memory_bytes <= INT64_MAX)
		build_fact(p, c, "file", "memory", FACT_PLAIN, "%s",
			   fmt_bytes(text, (int64_t)h->memory_bytes));
	time_facts(p, c, h, capture_begin(capture), capture_end(capture));
}

static void header_losses(struct profile *p, capture_id c, const struct perf_header *h)
{
	char text[FMT_SIZE];

	if (h->no_data_size)
		build_fact(p, c, "losses", "not finished", FACT_LOSS,
			   "the recorder was killed or is still writing: read to the end of the "
			   "file, without what it writes last (host, command, names of events)");
	if (h->n_missing)
		build_fact(p, c, "losses", "truncated", FACT_LOSS,
			   "the file ends %s before its records do",
			   fmt_bytes(text, (int64_t)(h->n_missing & INT64_MAX)));
	if (h->attrs_guessed)
		build_fact(p, c, "losses", "events damaged", FACT_LOSS,
			   "the description of the events is damaged and was worked out from the "
			   "rest");
	if (h->n_features_damaged)
		build_fact(p, c, "losses", "features damaged", FACT_LOSS,
			   "%" PRIu32 " parts of the header are damaged", h->n_features_damaged);
	if (h->n_features_unknown)
		build_fact(p, c, "losses", "features unknown", FACT_PLAIN,
			   "%" PRIu32 " parts of the header are of unknown kinds",
			   h->n_features_unknown);
}

static void end_fact(struct profile *p, capture_id c, const struct perf_stream_stats *s)
{
	char text[FMT_SIZE];

	switch (s->end) {
	case PERF_END_CLEAN:
		break;
	case PERF_END_CUT:
		build_fact(p, c, "losses", "cut", FACT_LOSS,
			   "the last record, at offset %" PRIu64 ", is not whole", s->end_offset);
		break;
	case PERF_END_BAD_SIZE:
		build_fact(p, c, "losses", "damaged", FACT_LOSS,
			   "the record at offset %" PRIu64
			   " has an impossible size; it and the %s behind it were not read",
			   s->end_offset, fmt_bytes(text, (int64_t)s->n_bytes_after));
		break;
	case PERF_END_TEXT:
		build_fact(p, c, "losses", "text", FACT_PLAIN,
			   "the records end at offset %" PRIu64
			   "; what follows is text that a program wrote there",
			   s->end_offset);
		break;
	}
}

static void stream_losses(struct profile *p, capture_id c, const struct perf_stream_stats *s,
			  const char *broken)
{
	char text[FMT_COUNTED_SIZE];

	end_fact(p, c, s);
	if (broken)
		build_fact(p, c, "losses", "reading", FACT_LOSS, "%s", broken);
	if (s->n_packed_bad)
		build_fact(p, c, "losses", "compressed", FACT_LOSS,
			   "%s could not be unpacked, the first at offset %" PRIu64,
			   fmt_counted(text, (int64_t)s->n_packed_bad, "compressed record"),
			   s->packed_bad_offset);
	if (s->n_aux_bytes)
		build_fact(p, c, "losses", "aux", FACT_LOSS,
			   "%s of hardware trace (Intel PT, CoreSight) skipped",
			   fmt_bytes(text, (int64_t)(s->n_aux_bytes & INT64_MAX)));
	if (s->n_too_large)
		build_fact(p, c, "losses", "large records", FACT_LOSS,
			   "%s of more than 64 KiB skipped",
			   fmt_counted(text, (int64_t)s->n_too_large, "record"));
}

void perf_info(struct profile *p, capture_id c, uint64_t file_bytes, const struct dir_parts *parts,
	       const struct perf_header *h, const struct perf_stream_stats *s, const char *broken)
{
	char text[FMT_COUNTED_SIZE];

	header_facts(p, c, file_bytes, parts, h);
	if (s->n_packed)
		build_fact(p, c, "file", "compressed", FACT_PLAIN, "zstd, %s",
			   fmt_counted(text, (int64_t)s->n_packed, "record"));
	header_losses(p, c, h);
	stream_losses(p, c, s, broken);
}
