/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file format: one const entry per format, found by content and never by name.
 */
#ifndef PROFTOP_FORMATS_FORMAT_H
#define PROFTOP_FORMATS_FORMAT_H

#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct analysis;
struct err;
struct input;
struct profile;
struct progress;
struct resolver_options;

struct read_options {
	const struct resolver_options *resolve; /* where symbols come from; borrowed */
	enum root_names root_names;             /* what root frames are called */
	const char *
		fields; /* of tracepoints, as innermost frames: names with commas, or "all"; or NULL */
	bool stitch;    /* truncated stacks go on as earlier ones of their thread, behind a mark */
	bool addresses;  /* frames without a symbol have their address in their name */
	bool as_printed; /* names of frames stay what the text says, not taken apart */
	bool follow; /* what is still being written is read as it grows, until it ends or nobody writes it any more */
	bool live; /* somebody watches while it is written: what comes is shown at once, and has times */
	bool scratch;          /* it goes with us: what was read of it need not stay on disk */
	uint64_t memory_bytes; /* tables that need more are kept in files; 0: never */
	void *prepared; /* what prepare() made of the input, which is read then; borrowed; NULL: nothing */
};

struct write_options {
	bool mark_kernel; /* "_[k]" behind names of the kernel's frames */
	bool mark_jit;    /* "_[j]" behind those of generated code */
	bool whole_names; /* folded: as views have them, not as the scripts of others */
	const char *name; /* of the file that is written; borrowed; NULL: it has none */
};

/* What a probe says of an input that its format is tried on only because no other takes it. */
#define FORMAT_LAST 1
/* From here on more bytes would not change the answer. */
#define FORMAT_SURE 70

/*
 * What a file of a format can hold of a profile. An export says what of it is lost; tests/formats/test_round_trips.c finds the
 * rest again in what was written.
 */
/* clang-format off */
#define HOLDINGS(X) \
	X(STACKS,    "call paths") \
	X(SAMPLES,   "single samples") \
	X(TIMES,     "times") \
	X(THREADS,   "threads") \
	X(CPUS,      "CPUs") \
	X(MODULES,   "modules") \
	X(ADDRESSES, "addresses") \
	X(LINES,     "source lines") \
	X(INLINED,   "inlining") \
	X(BUILD_IDS, "build-ids") \
	X(LABELS,    "labels") \
	X(CGROUPS,   "control groups") \
	X(BLOCKS,    "single allocations")
/* clang-format on */

enum holding {
#define X(id, what) HOLDS_##id,
	HOLDINGS(X)
#undef X
		N_HOLDINGS
};
#define HOLDS(id) (1u << HOLDS_##id)

struct format {
	const char *name;  /* perf.data, folded: for --to, --from and info */
	const char *title; /* one line for help */
	bool compares;     /* what it writes is of a lens that compares */
	bool one_event;    /* of several events it writes one */
	bool heaps_only;   /* it writes events of heaps only */
	bool packed;       /* what it writes is packed already */
	unsigned holds;    /* HOLDS() of what is in files that it writes */
	/* what it holds beside that of some: of the frames or threads that these have; NULL: nothing */
	unsigned (*holds_also)(const struct analysis *a);
	bool inlined; /* what it writes has inlined functions in their callers' locations */

	/*
	 * How surely bytes (the first n of the input, unpacked, n may be all) begin such a file: 0 no,
	 * 1..99 by guess, 100 by magic. NULL: cannot be read.
	 */
	int (*probe)(const uint8_t *bytes, size_t n);

	/*
	 * Reads all of in into p, publishing as it goes. 0, also when parts were lost (facts say
	 * which); -errno with a sentence when nothing could be used; -ECANCELED.
	 */
	int (*read)(struct input *in, struct profile *p, capture_id c, const struct read_options *o,
		    struct progress *progress, struct err *e);

	/*
	 * Reads all of in and takes it apart as far as goes without a profile, on any thread: of many files several at once. What it
	 * gives is for read(), and in the end for discard(). spent is what it gave for a file that has been read, whose memory it
	 * takes over; or NULL. NULL: the file cannot be read, spent is gone. No such function: nothing can be prepared.
	 */
	void *(*prepare)(struct input *in, void *spent);
	void (*discard)(void *prepared);

	/* Writes what the analysis shows. o may be NULL. 0 or -errno. NULL: cannot be written. */
	int (*write)(const struct analysis *a, const struct write_options *o, FILE *to,
		     struct err *e);
};

/* All of them, NULL-terminated. */
extern const struct format *const formats[];

/* By name, or NULL. */
const struct format *format_by_name(const char *name);

/* The surest reader, or NULL with a sentence (empty file, unknown content, what it looks like). */
const struct format *format_probe(struct input *in, struct err *e);

#endif
