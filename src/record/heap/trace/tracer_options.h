/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the environment asks for: PROFTOP_… variables, read once. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_OPTIONS_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define TRACER_MAX_PATH 4096u

#define TRACER_MAX_ODD 20u

/* How much the log is told. */
enum tracer_level {
	TRACER_OFF,
	TRACER_WARN, /* what is not recorded, and why */
	TRACER_INFO, /* what is done, too */
};

/* A variable whose value makes no sense. */
struct tracer_odd {
	const char *name;    /* static */
	char value[64];      /* its beginning */
	const char *instead; /* what holds instead; static */
};

struct tracer_options {
	char output
		[TRACER_MAX_PATH]; /* the pattern: what %… stands for is filled in for each name that is tried */
	char log[TRACER_MAX_PATH]; /* where lines for the log go; empty: to standard error, or nowhere */
	enum tracer_level level;
	uint64_t error_device,
		error_inode;   /* what standard error was at the beginning; 0: no log goes there */
	uint64_t check;        /* every so many stacks are compared with a full walk; 0: none */
	uint64_t sample_bytes; /* mean bytes between allocations that are recorded; 0: all are */
	double most_share; /* of the program's own time on processors that recording may take; 0: any */
	uint64_t sample_exact; /* those of so many bytes are recorded in any case; 0: none */
	uint64_t cull_ns;   /* what was freed by then is only counted; 0: everything is written */
	uint64_t max_bytes; /* the trace becomes no larger; 0: it may */
	bool size_raised;   /* fewer bytes were asked for than a trace needs */
	bool keep_newest;   /* it loses its oldest events then; else it ends */
	bool keep_unread; /* whoever reads it takes out what was read: its size is what is left on disk */
	uint32_t only_pid;      /* record no other process; 0: any */
	bool children;          /* children of forks are recorded, to files of their own */
	bool free_stacks;       /* frees are recorded with their stacks */
	bool addresses;         /* allocations are recorded with their addresses */
	bool environment;       /* the environment is recorded */
	bool pss;               /* the proportional set size is sampled */
	bool code;              /* code of allocators may be changed; see patch_allocators.h */
	uint32_t toggle_signal; /* the signal that pauses and resumes; 0: none */
	bool paused;            /* begin without recording allocations */
	bool disabled;          /* do not record at all */
	uint32_t seconds;       /* recording ends by itself after so many; 0: it does not */
	struct tracer_odd odd[TRACER_MAX_ODD];
	uint32_t n_odd; /* in it */
};

/*
 * Reads them: from the environment, or from `settings`, which are NAME=VALUE, each with its NUL, and an empty one
 * at the end. False: the path of the output is too long.
 */
bool tracer_options_read(struct tracer_options *o, const char *settings);

/* The name of the running program's file, as %e has it; empty: not known. */
void tracer_options_program(char out[TRACER_MAX_PATH]);

/*
 * The n-th choice for a name, where n - 1 are there already: a %n of the pattern is n - 1; without one "name.heap" becomes
 * "name.n.heap", n > 1. Absolute: the working directory, the program and the time are those of now. False: too long.
 */
bool tracer_options_name(const struct tracer_options *o, unsigned n, char out[TRACER_MAX_PATH]);

#endif
