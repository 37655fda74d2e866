/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be sampled here, found out by trying. */
#ifndef PROFTOP_RECORD_CPU_PERF_TRIAL_H
#define PROFTOP_RECORD_CPU_PERF_TRIAL_H

/* 0: it works; else -errno, -ENOSYS also where a filter of system calls kills who tries, which is a child. */
struct perf_trial {
	int own;        /* a clock on a thread of ours */
	int own_kernel; /* the same with what the kernel does */
	int counter;    /* cycles of the processor's own counter */
	int whole;      /* a cpu, with all that runs there */
	int tracepoint; /* one on a thread of ours; -ENOENT: there is none that we know of */
};

void perf_trial_run(struct perf_trial *t);

#endif
