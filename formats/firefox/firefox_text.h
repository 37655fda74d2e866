/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a profile of the Firefox Profiler says: tables in columns, which refer to each other by index. In processed profiles a column is
 * an array; in Gecko's a table is an array of rows, and a schema says which cell of a row is which column. Either way the same columns
 * are made of it (github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md and gecko-profile-format.md).
 */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_TEXT_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_TEXT_H

#include "base/mem.h"
#include "formats/firefox/firefox_series.h"
#include "formats/json/json_stream.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

typedef VEC(uint32_t) firefox_indexes;
typedef VEC(double) firefox_numbers;

/* Samples of a thread, or allocations. */
struct firefox_samples {
	struct firefox_series stack;
	struct firefox_series time;   /* ms; or since the sample before */
	bool deltas;                  /* the latter */
	struct firefox_series weight; /* empty: each is 1 */
	struct firefox_series
		cpu; /* what the thread used since the sample before, in meta.sampleUnits */
	string_id weight_type;
};
enum firefox_samples_kind { FIREFOX_SAMPLES, FIREFOX_JS, FIREFOX_NATIVE };
#define N_FIREFOX_SAMPLES 3

/* What stacks are made of. */
struct firefox_tables {
	firefox_indexes prefix, frame;          /* of stacks */
	firefox_indexes frame_func, frame_line; /* of frames; Gecko's have frame_location instead */
	firefox_indexes frame_location;         /* a string each */
	firefox_indexes
		frame_category; /* index of the text's categories; NONE: that of the frame around it */
	firefox_indexes stack_category; /* the same of stacks, in older profiles */
	firefox_indexes
		frame_address; /* from where the library of the function was loaded; NONE: not told */
	firefox_indexes frame_symbol; /* of the library, that has the function; NONE: none has */
	firefox_indexes func_name, func_resource; /* of functions */
	firefox_indexes func_file, func_line;
	firefox_indexes func_source; /* instead of func_file: an index of source_file */
	firefox_indexes source_file; /* a string each */
	firefox_indexes resource_lib, resource_name; /* of resources */
	firefox_indexes strings;                     /* string_id of each */
};

/* What happened at a moment, or for a time. */
struct firefox_markers {
	firefox_indexes name;       /* a string each */
	firefox_numbers start, end; /* ms; NAN: not told */
	firefox_indexes phase;      /* enum firefox_phase; empty: they are told by their times */
	firefox_indexes category;
};
enum firefox_phase {
	FIREFOX_INSTANT,
	FIREFOX_INTERVAL,
	FIREFOX_INTERVAL_BEGIN,
	FIREFOX_INTERVAL_END
};

struct firefox_thread {
	string_id name, process_name;
	int64_t pid, tid; /* -1: not told */
	bool taken;       /* its columns are gone */
	uint32_t process; /* index of the text's starts */
	/* what proftop says of its own profiles (formats/write/export_own.h): empty in those of others */
	string_id metric, kind, own_name, own_process;
	bool own;
	struct firefox_samples samples[N_FIREFOX_SAMPLES];
	struct firefox_markers markers;
	struct firefox_tables tables;
	/* index of the text's, of old profiles in which a thread has its own */
	firefox_indexes libs;
};

struct firefox_lib {
	string_id name, path, code_id;
	int64_t start, end, offset; /* of Gecko's: where it was mapped, and of what in its image */
	uint32_t process;           /* where; index of the text's starts */
};

/* A table of Gecko's while it is read. */
struct firefox_rows {
	firefox_numbers cell; /* NAN: null, or no number */
	VEC(size_t) row_end;  /* where each row's cells end */
	uint32_t column
		[8]; /* by what it is for the reader: which cell, FIREFOX_NONE: there is none */
};

struct firefox_text {
	struct profile *p; /* strings go there; borrowed */
	VEC(struct firefox_thread) threads;
	VEC(struct firefox_lib) libs;
	/* ms since 1970 at which each process began from which its times are, the main one first; 0: not told */
	firefox_numbers starts;
	/* of newer profiles: for threads that have none of their own */
	struct firefox_tables shared;
	bool has_shared;              /* and all of them */
	struct firefox_tables unused; /* what is said of them once more */
	double interval_ms;           /* 0: not told */
	int64_t version;              /* of processed profiles; or of Gecko's; 0: not told */
	string_id product, cpu_unit;
	firefox_indexes categories; /* string_id of each; those of the process that was read last */
	/* Takes a thread as soon as it is whole; its columns are freed then. Returns false where it waits for the rest of the file. */
	bool (*take)(void *arg, const struct firefox_thread *thread);
	void *arg;
	/* While it is read: */
	uint32_t process;                /* index of starts */
	struct firefox_tables *tables;   /* the thread's, or the shared ones */
	struct firefox_samples *samples; /* the thread's of one kind */
	struct firefox_rows rows;
};

/* As json_read(). What t has of .take and .arg stays; all else is emptied. Takes and gives the write lock; take() is called with it. */
int firefox_text_read(struct firefox_text *t, struct profile *p, struct input *in,
		      struct json_end *end, struct progress *progress, struct err *e);
/* Frees its columns; it is taken then. */
void firefox_thread_done(struct firefox_thread *t);
void firefox_text_done(struct firefox_text *t);

#endif
