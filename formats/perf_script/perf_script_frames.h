/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames of perf script as locations of the profile.
 *
 * A unit is what stands for one address: a frame's line, the lines of what is inlined into it above,
 * and the positions below each. Equal text is looked up once.
 */
#ifndef PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_FRAMES_H
#define PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_FRAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "formats/format.h"
#include "profile/builder.h"

/* Text and the locations that it became: mostly one. */
struct script_unit {
	const char *s;               /* in texts */
	size_t n;                    /* bytes of it */
	uint32_t first, n_locations; /* a run of locations */
};

struct script_frames {
	struct profile *p;             /* borrowed */
	struct read_options options;   /* a copy */
	struct map by_text;            /* of indices of units */
	VEC(struct script_unit) units; /* in order of appearance */
	VEC(location_id) locations;    /* runs of units, outermost first */
	struct arena texts;            /* of units */
};

/* o may be NULL. */
void script_frames_init(struct script_frames *f, struct profile *p, const struct read_options *o);
void script_frames_done(struct script_frames *f);

/* The unit of n bytes of text, whose lines end in newlines; wants the pen. Good until the next call. */
const struct script_unit *script_frames_unit(struct script_frames *f, const char *s, size_t n);

#endif
