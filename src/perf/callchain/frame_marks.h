/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remarks that stand in stacks in place of frames that are not known. */
#ifndef PROFTOP_PERF_CALLCHAIN_FRAME_MARKS_H
#define PROFTOP_PERF_CALLCHAIN_FRAME_MARKS_H

#include "perf/callchain/callchain_intern.h"

#include <stdint.h>

struct profile;

/* clang-format off */
#define PERF_MARKS(X) \
	X(TRUNCATED, "[truncated]") \
	X(STITCHED, "[stitched]") \
	X(NO_FILE, "[no file]") \
	X(NO_TABLES, "[no unwind tables]") \
	X(BROKEN, "[broken stack]") \
	X(TOO_DEEP, "[too deep]") \
	X(DEFERRED, "[deferred]") \
	X(BITS_32, "[32-bit]") \
	X(NOT_UNWOUND, "[not unwound]")
/* clang-format on */

enum perf_mark {
#define X(name, text) PERF_MARK_##name,
	PERF_MARKS(X)
#undef X
		N_PERF_MARKS
};

/* The marks of a profile. */
struct frame_marks {
	struct profile *profile;
	uint32_t location[N_PERF_MARKS]; /* location_id, ID_NONE until it is needed */
};

void frame_marks_init(struct frame_marks *m, struct profile *p);

/* The mark as a part of a user stack. Wants the pen. */
struct perf_chain_part frame_marks_part(struct frame_marks *m, enum perf_mark mark);

#endif
