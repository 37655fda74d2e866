/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_event_open(2) and what is asked of its descriptors. */
#ifndef PROFTOP_RECORD_CPU_PERF_SYS_H
#define PROFTOP_RECORD_CPU_PERF_SYS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_attr;

/* What is watched: a thread on one cpu, everything there (task -1), or a control group (by an open directory). */
struct perf_scope {
	int task;       /* a tid, or a descriptor of a control group's directory */
	int cpu;        /* which one */
	bool is_cgroup; /* what task is */
};

/* A descriptor, closed on exec, or -errno. */
int perf_sys_open(const struct perf_attr *a, const struct perf_scope *s);

/* By what id its records are told from others'; 0 when that cannot be had. */
uint64_t perf_sys_id(int fd);

/* Its records go into the ring of another one of the same cpu. 0 or -errno. */
int perf_sys_redirect(int fd, int to);

/* How many of its records found no room so far; 0 where the kernel does not count that (before Linux 6.0). */
uint64_t perf_sys_lost(int fd);

/* Begins and ends counting. 0 or -errno. */
int perf_sys_enable(int fd);
int perf_sys_disable(int fd);

#endif
