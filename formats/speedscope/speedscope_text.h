/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a speedscope file says, as its schema names it (speedscope.app/file-format-schema.json). Frames may come behind the profiles
 * that refer to them, so that all of it is gathered before anything is built.
 */
#ifndef PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_TEXT_H
#define PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_TEXT_H

#include "base/mem.h"
#include "formats/json/json_stream.h"
#include "formats/named_frames.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* A frame begins or ends; `at` is in the profile's unit. */
struct speedscope_event {
	double at;
	uint32_t frame;
	bool opens;
};

/* Most files have fewer frames. */
#define SPEEDSCOPE_LARGE UINT16_MAX

/* Its outer frames are those of the one before: a file's stacks would take as much as the file. */
struct speedscope_sample {
	uint32_t n_shared, n_own;
};

struct speedscope_profile {
	string_id name, unit;
	/* what proftop says of its own profiles: empty and -1 in those of others */
	string_id metric, kind, thread, process;
	int64_t pid, tid;
	bool own;
	bool evented;
	double start, end; /* in the unit */
	VEC(struct speedscope_sample) samples;
	/* those of their own of all samples, outermost first in each; from SPEEDSCOPE_LARGE on that, and then two halves */
	VEC(uint16_t) frames;
	VEC(double) weights;                 /* in the unit */
	VEC(struct speedscope_event) events; /* in the order of the file */
};

struct speedscope_text {
	struct profile *p;              /* strings go there; borrowed */
	VEC(struct named_frame) frames; /* shared.frames */
	VEC(string_id) modules;         /* [frames.n] likewise: paths, or empty */
	VEC(struct speedscope_profile) profiles;
	string_id exporter;
	VEC(uint32_t) sample; /* frames of the profile's newest one so far, outermost first */
	uint32_t n_frames;    /* how many are of the one that is being read */
	uint32_t n_shared;    /* of these, from the first on, which the one before has, too */
};

/* As json_read(). The pen is taken a moment at a time. */
int speedscope_text_read(struct speedscope_text *t, struct profile *p, struct input *in,
			 struct json_end *end, struct progress *progress, struct err *e);
void speedscope_text_done(struct speedscope_text *t);

#endif
