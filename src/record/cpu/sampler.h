/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events on threads and cpus, and the rings through which the kernel tells of them: where a recording and a live
 * view get their records from.
 *
 * Records come in turns, see ring.h: sampler_turn(), then sampler_ahead() for what is beside the samples, then
 * sampler_take(). All samples that are taken in a turn are of before whatever ahead has not shown yet. Records
 * point into the rings, and may be taken apart without being copied.
 */
#ifndef PROFTOP_RECORD_CPU_SAMPLER_H
#define PROFTOP_RECORD_CPU_SAMPLER_H

#include "record/cpu/event_spec.h"
#include "record/cpu/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct perf_events;
struct sampler;

/* What samples hold of stacks. */
enum sampler_stacks {
	SAMPLER_NO_STACKS,
	SAMPLER_CHAINS, /* the kernel's chains, by frame pointers in user mode */
	SAMPLER_COPIES, /* the kernel's chain of its own part, registers and a copy of the user stack */
};

struct sampler_options {
	/* [n_events]; none: cycles, or cpu-clock where those are not counted */
	const struct event_spec *events;
	size_t n_events;
	uint64_t hz;     /* samples a second, of what is sampled by rate */
	uint64_t period; /* a sample at each so many events, instead; 0: none is said */
	const int *pids; /* [n_pids] processes, with all their threads and what these will start */
	size_t n_pids;
	const int *tids; /* [n_tids] threads */
	size_t n_tids;
	const char *cpus; /* "0-3,8"; NULL: all */
	const char *
		cgroup; /* a control group's name or directory, or NULL; without it, pids and tids: all there is */
	enum sampler_stacks stacks;
	uint32_t stack_bytes; /* of SAMPLER_COPIES; 0: as the rings have room for */
	bool on_exec;         /* counting begins when the task becomes another program */
	bool data;     /* mappings without code are told, too: perf finds unwind tables by them */
	bool switches; /* records of threads that leave a cpu and come back */
};

/* -EINVAL, -ESRCH, -EACCES and so on with a sentence. Nothing is counted yet but by the first event of processes that run. */
int sampler_open(const struct sampler_options *o, struct sampler **out, struct err *e);
void sampler_free(struct sampler *s);

/* The events as the kernel was asked for them, with their ids; borrowed. */
struct perf_events *sampler_events(struct sampler *s);

/* Samples a second of a thread that runs, of what is sampled by rate: as asked for, or as the kernel allows. */
uint64_t sampler_hz(const struct sampler *s);

/* What is different from what was asked for, a sentence each; borrowed. */
const char *const *sampler_remarks(const struct sampler *s, size_t *n);

/* All counting begins, unless it does on_exec, and ends. */
int sampler_start(struct sampler *s, struct err *e);
void sampler_stop(struct sampler *s);

/* Records that found no room so far, as far as the kernel counts them: records tell of that only when others follow. */
uint64_t sampler_lost(const struct sampler *s);

/* Waits until a ring is half full, one of n descriptors can be read or time is up. */
void sampler_wait(struct sampler *s, const int *others, size_t n, int ms);

void sampler_turn(struct sampler *s);
void sampler_ahead(struct sampler *s, ring_fn *each, void *arg);
void sampler_take(struct sampler *s, ring_fn *each, void *arg);

#endif
