/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames as valgrind's tools and dhat-rs write them: "0x109255: leak_here() (alloc.cpp:8)", "0x48417B4: malloc (in /lib/x.so)",
 * "0x401AB9F: ???". Equal texts are one location.
 */
#ifndef PROFTOP_FORMATS_VALGRIND_VALGRIND_FRAME_H
#define PROFTOP_FORMATS_VALGRIND_VALGRIND_FRAME_H

#include "base/map.h"
#include "base/mem.h"
#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

/* A text that came, and its location. */
struct valgrind_frame {
	uint32_t text;     /* string_id */
	uint32_t location; /* location_id */
};

/* Zeroed but for p is none. */
struct valgrind_frames {
	struct profile *p; /* borrowed */
	VEC(struct valgrind_frame) all;
	struct map by_text;
	uint64_t n_nameless; /* of them, without a function */
};

void valgrind_frames_done(struct valgrind_frames *f);

/* Wants the pen, as does the next. */
location_id valgrind_frame_location(struct valgrind_frames *f, const char *s, size_t n);
/* A remark in place of frames: "[below massif's threshold]". */
location_id valgrind_frame_mark(struct profile *p, const char *name);

#endif
