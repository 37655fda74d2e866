/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes of a recording over time: what a thread was called when, and between which
 * moments the mappings of a process stayed as they were.
 *
 * Times are nanoseconds of the recording's clock; INT64_MIN is "since ever". What happened may be
 * told in any order, best by time. Names are kept here until a sample needs them in the profile.
 */
#ifndef PROFTOP_PERF_RECORDS_PERF_TASKS_H
#define PROFTOP_PERF_RECORDS_PERF_TASKS_H

#include "base/mem.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_tasks;

/* A thread as a sample sees it. */
struct perf_task_view {
	thread_id thread; /* its entry in the profile */
	stack_id root;    /* the node of its name, under which its stacks begin */
};

/* Borrows p. */
struct perf_tasks *perf_tasks_new(struct profile *p, capture_id c);
/* Stacks have other numbers from now on: roots are looked up anew. */
void perf_tasks_forget_roots(struct perf_tasks *t);
void perf_tasks_free(struct perf_tasks *t);

/* What root frames are called; before the first sample. */
void perf_tasks_root_names(struct perf_tasks *t, enum root_names names);

/* The thread is called so from then on; name is copied. */
void perf_tasks_name(struct perf_tasks *t, int32_t pid, int32_t tid, int64_t time_ns,
		     const char *name, size_t len);
/* A new thread, called as its parent is; a thread of that number from before has ended. */
void perf_tasks_fork(struct perf_tasks *t, int32_t pid, int32_t tid, int32_t parent_tid,
		     int64_t time_ns);
/* The thread ends then, which changes nothing before perf_tasks_retire(). */
void perf_tasks_exit(struct perf_tasks *t, int32_t tid, int64_t time_ns);
/* The mappings of a process (-1: of the kernel) change then. */
void perf_tasks_remapped(struct perf_tasks *t, int32_t pid, int64_t time_ns);

/* Has anything been told of the thread? */
bool perf_tasks_knows(struct perf_tasks *t, int32_t tid);

/*
 * The thread at that time, made in the profile when it is new there; wants the pen. A thread of which
 * nothing is known is called as perf calls it: ":" and its number, or "swapper" for the idle task.
 */
struct perf_task_view perf_tasks_at(struct perf_tasks *t, int32_t pid, int32_t tid,
				    int64_t time_ns);

/*
 * A number for the stretch of time around time_ns in which nothing remapped the process: equal numbers
 * mean the same process and the same mappings. It stays right when more is told later, for what
 * was located by then.
 */
uint32_t perf_tasks_epoch(struct perf_tasks *t, int32_t pid, int64_t time_ns);

/* Gives processes whose main thread was called otherwise since the last call that name; wants the pen. */
void perf_tasks_name_processes(struct perf_tasks *t);

/* Threads and processes that are not known any more; of a process all threads are among them. */
struct perf_retired {
	VEC(int32_t) tids;
	VEC(int32_t) pids;
};

/*
 * Forgets threads that had ended before a time, and processes all of whose threads had, where these are enough for it to
 * pay: of no time before or since is anything asked or told of them, but where their numbers come again. Adds them to
 * *gone, and tells the profile; wants the pen. False: they were not enough.
 */
bool perf_tasks_retire(struct perf_tasks *t, int64_t before_ns, struct perf_retired *gone);

/* How many threads and processes are known. */
size_t perf_tasks_n(const struct perf_tasks *t);

#endif
