/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: linux/perf_event.h, and tools/perf/util/event.h and synthetic-events.c for what perf writes itself. */
#include "config.h"

#include "perf/abi/perf_size.h"

#include "perf/abi/perf_abi.h"

#include <stdint.h>
#include <string.h>

/* What follows a record's header. */
enum shape {
	SHAPE_ANY,    /* nothing is known of it */
	SHAPE_FIXED,  /* so many bytes */
	SHAPE_TEXT,   /* so many bytes, then a string, filled up with NULs to whole words */
	SHAPE_MMAP2,  /* likewise, or 8 bytes less, see perf_mmap_decode() */
	SHAPE_UPDATE, /* so many bytes, then what the number says that these begin with */
	SHAPE_COUNTED /* a number of 8 bytes, then so many bytes for each */
};

#define PERF_FIRST_OF_TOOL 64u /* type */

/* Kinds of EVENT_UPDATE that are texts. */
#define UPDATE_UNIT 0u
#define UPDATE_NAME 2u
#define UPDATE_ROOM 64u /* bytes behind the text at most: perf leaves some */

static const struct {
	uint8_t shape;
	uint8_t bytes;
} layouts[] = {
	[PERF_REC_MMAP] = { SHAPE_TEXT, 32 },
	[PERF_REC_LOST] = { SHAPE_FIXED, 16 },
	[PERF_REC_COMM] = { SHAPE_TEXT, 8 },
	[PERF_REC_EXIT] = { SHAPE_FIXED, 24 },
	[PERF_REC_THROTTLE] = { SHAPE_FIXED, 24 },
	[PERF_REC_UNTHROTTLE] = { SHAPE_FIXED, 24 },
	[PERF_REC_FORK] = { SHAPE_FIXED, 24 },
	[PERF_REC_MMAP2] = { SHAPE_MMAP2, 64 },
	[PERF_REC_AUX] = { SHAPE_FIXED, 24 },
	[PERF_REC_ITRACE_START] = { SHAPE_FIXED, 8 },
	[PERF_REC_LOST_SAMPLES] = { SHAPE_FIXED, 8 },
	[PERF_REC_SWITCH] = { SHAPE_FIXED, 0 },
	[PERF_REC_SWITCH_CPU_WIDE] = { SHAPE_FIXED, 8 },
	[PERF_REC_KSYMBOL] = { SHAPE_TEXT, 16 },
	[PERF_REC_BPF_EVENT] = { SHAPE_FIXED, 16 },
	[PERF_REC_CGROUP] = { SHAPE_TEXT, 8 },
	[PERF_REC_FINISHED_ROUND] = { SHAPE_FIXED, 0 },
	[PERF_REC_THREAD_MAP] = { SHAPE_COUNTED, 24 },
	[PERF_REC_STAT_CONFIG] = { SHAPE_COUNTED, 16 },
	[PERF_REC_STAT_ROUND] = { SHAPE_FIXED, 16 },
	[PERF_REC_EVENT_UPDATE] = { SHAPE_UPDATE, 16 },
	[PERF_REC_FINISHED_INIT] = { SHAPE_FIXED, 0 },
};

/*
 * b: the rest of a record. loose: old perf filled up names of the kernel's modules with more words than they need, and
 * not with NULs only.
 */
static bool is_one_text(struct bytes b, bool loose)
{
	size_t n = bytes_left(&b);
	const uint8_t *text = take_bytes(&b, n), *end = n > 0 ? memchr(text, 0, n) : NULL;

	if (loose)
		return end && *text > ' ';
	return end && n - (size_t)(end - text) <= sizeof(uint64_t);
}

/* A name or a unit; of other updates the length says nothing. */
static bool is_update(struct bytes b)
{
	uint64_t kind = take_u64(&b);
	size_t n;
	const uint8_t *text, *end;

	take_u64(&b); /* id */
	if (kind != UPDATE_UNIT && kind != UPDATE_NAME)
		return !b.bad;
	n = bytes_left(&b);
	text = take_bytes(&b, n);
	end = n > 0 ? memchr(text, 0, n) : NULL;
	return end && n - (size_t)(end - text) <= UPDATE_ROOM;
}

bool perf_size_fits(const struct perf_record *r, size_t trailer)
{
	struct bytes b = perf_record_body(r), at;
	size_t bytes, n;

	if (r->type >= sizeof(layouts) / sizeof(*layouts))
		return true;
	bytes = layouts[r->type].bytes;
	if (r->type >= PERF_FIRST_OF_TOOL)
		trailer = 0;
	if (bytes_left(&b) < trailer)
		return false;
	n = bytes_left(&b) - trailer;
	b = bytes_over(b.at, n, r->swap);
	switch ((enum shape)layouts[r->type].shape) {
	case SHAPE_ANY:
		return true;
	case SHAPE_FIXED:
		return n == bytes;
	case SHAPE_TEXT:
		take_bytes(&b, bytes);
		return !b.bad && is_one_text(b, (r->misc & PERF_MISC_CPUMODE) == PERF_CPU_KERNEL);
	case SHAPE_MMAP2:
		take_bytes(&b, bytes - 8);
		at = b;
		take_bytes(&b, 8);
		return (!b.bad && is_one_text(b, false)) || (!at.bad && is_one_text(at, false));
	case SHAPE_UPDATE:
		return is_update(b);
	case SHAPE_COUNTED:
		return n >= 8 && (n - 8) % bytes == 0 && (n - 8) / bytes == take_u64(&b);
	}
	return true;
}
