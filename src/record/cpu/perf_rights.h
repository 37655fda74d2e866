/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel lets this user measure, and why not more: its settings, our capabilities, containers. */
#ifndef PROFTOP_RECORD_CPU_PERF_RIGHTS_H
#define PROFTOP_RECORD_CPU_PERF_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* A setting that could not be read. */
#define RIGHTS_UNKNOWN INT64_MIN

struct perf_rights {
	int64_t paranoid; /* kernel.perf_event_paranoid */
	int64_t kptr;     /* kernel.kptr_restrict */
	int64_t ptrace;   /* kernel.yama.ptrace_scope; RIGHTS_UNKNOWN also without Yama */
	int64_t max_rate; /* kernel.perf_event_max_sample_rate */
	int64_t mlock_kb; /* kernel.perf_event_mlock_kb */
	int64_t seccomp;  /* of this process: 0 none, 1 strict, 2 a filter */
	bool may_all;     /* CAP_PERFMON or CAP_SYS_ADMIN: the above is no limit */
	bool may_ptrace;  /* CAP_SYS_PTRACE */
	bool may_lock;    /* CAP_IPC_LOCK */
	bool may_names; /* CAP_SYSLOG: paranoid hides no addresses of the kernel, and of kptr only 2 does */
	bool is_root; /* of the machine, with whatever is left of its capabilities */
	bool in_namespace; /* of users: capabilities are none over the machine, and the above are false */
};

void perf_rights_read(struct perf_rights *r);
/* The same where /proc is another directory. */
void perf_rights_read_below(struct perf_rights *r, const char *proc);

/* What was tried. */
enum rights_wish {
	RIGHTS_OWN,     /* an event on ourselves, without the kernel */
	RIGHTS_PROCESS, /* a process */
	RIGHTS_KERNEL,  /* the kernel's part of a process */
	RIGHTS_KERNELS, /* what happens in the kernel only */
	RIGHTS_ALL,     /* everything on the cpus, or a control group */
	RIGHTS_NAMES,   /* where the kernel's functions are */
	RIGHTS_TRACE,   /* a tracepoint, with what it tells */
	RIGHTS_OTHERS,  /* what others' programs have mapped */
};

/* Why it failed with rc (-errno), the remedy and its risk: the rest of a sentence, borrowed for good. */
const char *perf_rights_why(const struct perf_rights *r, enum rights_wish wish, int rc);

/*
 * What can be had without the right, to be said behind that: own tells whether RIGHTS_OWN is granted. Borrowed for good; NULL:
 * rc is no matter of rights, or there is nothing.
 */
const char *perf_rights_instead(enum rights_wish wish, int rc, bool own);

/* Events that need more files than may be open: one for each thread, cpu and event. */
struct perf_files {
	uint64_t n_tasks, n_cpus, n_events;
	uint64_t n_beside; /* files besides */
	uint64_t most;     /* that may be open: the hard limit */
	int cpu;           /* the first of the cpus */
	bool may_all;      /* whole cpus may be watched instead */
};

/* Why that failed, and what needs fewer or allows more: the rest of a sentence. The caller frees. */
char *perf_rights_files(const struct perf_files *f);

#endif
