/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What V8 writes, as the DevTools protocol names it (Profiler.Profile, HeapProfiler.SamplingHeapProfile): a tree of nodes, and samples
 * that name a node each. A trace has several profiles, each in chunks that add nodes and samples.
 */
#ifndef PROFTOP_FORMATS_V8_V8_TEXT_H
#define PROFTOP_FORMATS_V8_V8_TEXT_H

#include "base/map.h"
#include "base/mem.h"
#include "formats/json/json_stream.h"
#include "formats/named_frames.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* So many samples of a node were on a line. */
struct v8_tick {
	uint32_t line;
	uint32_t n;
};

struct v8_node {
	uint32_t id;
	uint32_t parent; /* id; 0: not told here */
	uint32_t within; /* index + 1 of the node that it is nested in; 0: none */
	struct named_frame frame;
	int64_t hits;
	int64_t self_bytes; /* of heap profiles */
	size_t first_tick;  /* of the profile's */
	uint32_t n_ticks;
};

/* A node names its children. */
struct v8_edge {
	uint32_t parent, child; /* ids */
};

struct v8_profile {
	int64_t pid, tid;
	string_id key; /* what chunks are known by; 0: a file of one profile */
	VEC(struct v8_node) nodes;
	VEC(struct v8_edge) edges;
	VEC(uint32_t) samples;     /* ids of nodes */
	VEC(struct v8_tick) ticks; /* of files: which sample was on which line is not told */
	VEC(uint32_t) lines;       /* of chunks: of each sample; 0: not told */
	VEC(int64_t) deltas_us;    /* since the sample before, or the start */
	VEC(int64_t) at_us;        /* instead of deltas, in old files */
	int64_t start_us, end_us;  /* 0: not told */
	bool is_heap;
};

/* A thread or process that a trace names. */
struct v8_name {
	int64_t pid, tid; /* tid -1: the process */
	string_id name;
};

/* A duration of a trace, or its begin or end. */
struct v8_span {
	int64_t pid, tid;
	double at_us, for_us; /* for_us: of whole ones */
	uint32_t order;       /* in the file */
	char phase;           /* 'B', 'E' or 'X' */
	struct named_frame frame;
};

/* A sample of a trace, of "stackFrames" (Hermes). */
struct v8_frame_sample {
	int64_t pid, tid, at_us;
	uint32_t frame; /* id of its node */
};

struct v8_text {
	struct profile *p; /* strings go there; borrowed */
	VEC(struct v8_profile) profiles;
	struct map by_key;         /* of profiles that come in chunks */
	VEC(struct v8_name) names; /* one of each thread and process: the last that the trace has */
	struct map by_thread;      /* of names */
	VEC(struct v8_span) spans;
	VEC(struct v8_node) stack_frames; /* of a trace; ids are string_ids of theirs */
	VEC(struct v8_frame_sample) frame_samples;
	uint64_t n_others;     /* events of a trace that are neither */
	struct v8_profile now; /* what is being read: the file's profile, or a chunk */
	VEC(uint32_t) nesting; /* indexes of now's nodes that have begun, where they are nested */
	string_id event,
		named;       /* of the trace's event that is being read: its name, and args.name */
	struct v8_span span; /* the same event as a duration; phase 0: none that is read */
	bool is_array;       /* a trace without an object around it, which need not end */
	bool in_event;
};

/* As json_read(). */
int v8_text_read(struct v8_text *t, struct profile *p, struct input *in, struct json_end *end,
		 struct progress *progress, struct err *e);
/* The name of a thread, or with tid -1 of a process; {0}: the trace has none. */
string_id v8_text_name(const struct v8_text *t, int64_t pid, int64_t tid);
void v8_text_done(struct v8_text *t);

#endif
