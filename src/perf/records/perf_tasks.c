/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of threads and stretches of unchanged mappings, by time.
 *
 * Both are arrays sorted by time per thread and per process: nearly everything is appended, and a
 * lookup is nearly always in the stretch of the lookup before. Threads are found by their number
 * alone, as perf does: a number belongs to one process at a time.
 */
#include "config.h"

#include "perf/records/perf_tasks.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements that events out of order may shift; some 50 ms of work. */
#define MOVES_MAX ((size_t)1 << 25)

/* Samples take turns among a few threads, and between their process and the kernel. A power of two. */
#define N_RECENT 16u

/* So many must have ended, and a part of those that are known: retiring looks at all of them. */
#define RETIRE_LEAST 1024
#define RETIRE_PART  4

/* What a thread is called from a time on. */
struct task_name {
	int64_t time_ns;
	const char *name; /* in the arena; NULL: nobody said, or it is the parent's */
	size_t len;
	int32_t parent; /* whose name at that time it is; NO_PARENT: it is its own, or was looked up */
	int32_t pid;    /* of the samples that `thread` was made for */
	uint32_t thread; /* thread_id, ID_NONE until a sample needs it */
	uint32_t root;   /* stack_id, likewise */
};

#define NO_PARENT INT32_MIN

/* Forks of forks without a name in between; only hostile ones, which may go round, are more. */
#define GENERATIONS_MOST 65536u

struct task {
	int32_t tid;
	int32_t pid;                 /* as told; -1: nobody did */
	int64_t ended_ns;            /* INT64_MAX: it has not */
	bool told;                   /* something was said of it: it is not only sampled */
	struct task_name unnamed;    /* before the first of names */
	VEC(struct task_name) names; /* by time */
	size_t last;                 /* index of the name that was found last */
};

/* From a time on, the mappings are those of an epoch. */
struct remapping {
	int64_t time_ns;
	uint32_t epoch;
};

struct process_maps {
	int32_t pid;
	bool sampled;                     /* it is in the profile */
	bool goes;                        /* scratch: all its threads do, of which there is one */
	uint32_t first_epoch;             /* before the first of remappings */
	VEC(struct remapping) remappings; /* by time */
	int64_t from_ns, until_ns;        /* the stretch found last, [from, until) */
	uint32_t epoch;                   /* of that stretch */
};

struct perf_tasks {
	struct profile *profile;
	capture_id capture;
	struct arena names;
	VEC(struct task) tasks;
	struct map by_tid;
	VEC(struct process_maps) processes;
	struct map by_pid;
	uint32_t recent_tasks[N_RECENT];     /* indices found last, by their numbers' lower bits */
	uint32_t recent_processes[N_RECENT]; /* likewise */
	uint32_t n_epochs;                   /* given so far */
	size_t n_moved;                      /* elements shifted to make room, at most MOVES_MAX */
	size_t n_ended;                      /* exits told since threads were retired last */
	VEC(int32_t) renamed;       /* processes that perf_tasks_name_processes() looks at */
	enum root_names root_names; /* as told */
};

static bool same_tid(const void *things, uint32_t value, const void *key)
{
	return ((const struct task *)things)[value].tid == *(const int32_t *)key;
}

static bool same_pid(const void *things, uint32_t value, const void *key)
{
	return ((const struct process_maps *)things)[value].pid == *(const int32_t *)key;
}

static uint64_t hash_number(int32_t n)
{
	return hash_u64((uint32_t)n);
}

static struct task_name nameless(int64_t time_ns)
{
	return (struct task_name){
		.time_ns = time_ns, .parent = NO_PARENT, .thread = ID_NONE, .root = ID_NONE
	};
}

static struct task *find_task(struct perf_tasks *t, int32_t tid)
{
	uint32_t *recent = &t->recent_tasks[(uint32_t)tid % N_RECENT], at = *recent;

	if (at < t->tasks.n && t->tasks.at[at].tid == tid)
		return &t->tasks.at[at];
	at = map_find(&t->by_tid, hash_number(tid), same_tid, t->tasks.at, &tid);
	if (at == MAP_NONE)
		return NULL;
	*recent = at;
	return &t->tasks.at[at];
}

static struct task *get_task(struct perf_tasks *t, int32_t tid)
{
	struct task *task = find_task(t, tid);
	struct task new = {
		.tid = tid, .pid = -1, .ended_ns = INT64_MAX, .unnamed = nameless(INT64_MIN)
	};

	if (task)
		return task;
	map_add(&t->by_tid, hash_number(tid), (uint32_t)t->tasks.n);
	vec_push(&t->tasks, new);
	return &t->tasks.at[t->tasks.n - 1];
}

/* The name in force at a time. */
static struct task_name *name_at(struct task *task, int64_t time_ns)
{
	size_t low = 0, high = task->names.n;

	if (task->last < high && task->names.at[task->last].time_ns <= time_ns &&
	    (task->last + 1 == high || task->names.at[task->last + 1].time_ns > time_ns))
		return &task->names.at[task->last];
	BISECT(low, high, i, task->names.at[i].time_ns <= time_ns);
	if (low == 0)
		return &task->unnamed;
	task->last = low - 1;
	return &task->names.at[low - 1];
}

/*
 * The name whose name it has by its parents, as far as is told: FORK records are not in the order of their times, so that
 * the name of a parent at the time of a fork may be told after it. NULL: nobody said.
 */
static const struct task_name *origin_of(struct perf_tasks *t, const struct task_name *n)
{
	int64_t time_ns = n->time_ns;

	for (unsigned i = 0; n->parent != NO_PARENT && i < GENERATIONS_MOST; i++) {
		struct task *parent = find_task(t, n->parent);

		if (!parent)
			break;
		n = name_at(parent, time_ns);
		time_ns = n->time_ns;
	}
	return n->parent == NO_PARENT && n->name ? n : NULL;
}

/* Makes it its own name, and that of the parents in between: nothing is told of that time any more. */
static void look_up_name(struct perf_tasks *t, struct task_name *n)
{
	const struct task_name *origin = origin_of(t, n);
	const char *name = origin ? origin->name : NULL;
	size_t len = origin ? origin->len : 0;

	for (unsigned i = 0; n->parent != NO_PARENT && i < GENERATIONS_MOST; i++) {
		struct task *parent = find_task(t, n->parent);

		n->name = name;
		n->len = len;
		n->parent = NO_PARENT;
		if (!parent)
			break;
		n = name_at(parent, n->time_ns);
	}
}

/*
 * Room for one element at an index of a sorted array, as long as not too much is moved: hostile times
 * in falling order would make it quadratic. False: it has to be left out.
 */
static bool may_move(struct perf_tasks *t, size_t n)
{
	if (n > MOVES_MAX - t->n_moved)
		return false;
	t->n_moved += n;
	return true;
}

/*
 * Is it the second of two names in a row of the same name, so that it may become a third? What is said again and again
 * takes no room, but that it held twice is kept: what is told later may fall in between.
 */
static bool is_repeated(const struct task *task, size_t at, const struct task_name *n)
{
	const struct task_name *last = at > 1 && at == task->names.n ? &task->names.at[at - 1]
								     : NULL;

	return last && n->name && last->name == n->name && last[-1].name == n->name;
}

/* Behind those of the same time: what is told later holds. */
static void add_name(struct perf_tasks *t, struct task *task, const struct task_name *n)
{
	const struct task_name *before = name_at(task, n->time_ns);
	size_t at = before == &task->unnamed ? 0 : (size_t)(before - task->names.at) + 1;
	size_t n_behind = task->names.n - at;

	if (is_repeated(task, at, n)) {
		task->names.at[at - 1].time_ns = n->time_ns;
		return;
	}
	if (!may_move(t, n_behind))
		return;
	vec_push(&task->names, *n);
	memmove(&task->names.at[at + 1], &task->names.at[at], n_behind * sizeof(*n));
	task->names.at[at] = *n;
	if (task->tid == task->pid)
		vec_push(&t->renamed, task->pid);
}

static struct process_maps *get_process(struct perf_tasks *t, int32_t pid)
{
	struct process_maps new = { .pid = pid };
	uint32_t *recent = &t->recent_processes[(uint32_t)pid % N_RECENT], at = *recent;

	if (at < t->processes.n && t->processes.at[at].pid == pid)
		return &t->processes.at[at];
	at = map_find(&t->by_pid, hash_number(pid), same_pid, t->processes.at, &pid);
	if (at == MAP_NONE) {
		at = (uint32_t)t->processes.n;
		new.first_epoch = t->n_epochs++;
		map_add(&t->by_pid, hash_number(pid), at);
		vec_push(&t->processes, new);
	}
	*recent = at;
	return &t->processes.at[at];
}

/* Index of the first remapping after a time. */
static size_t remapping_after(const struct process_maps *m, int64_t time_ns)
{
	size_t low = 0, high = m->remappings.n;

	if (high > 0 && m->remappings.at[high - 1].time_ns <= time_ns)
		return high;
	BISECT(low, high, i, m->remappings.at[i].time_ns <= time_ns);
	return low;
}

/* Gives a process in the profile the name that its main thread had last. False: none is known. */
static bool name_process(struct perf_tasks *t, int32_t pid)
{
	const struct task *main_thread = find_task(t, pid);
	const struct task_name *last;

	if (!main_thread || main_thread->names.n == 0)
		return false;
	last = origin_of(t, &main_thread->names.at[main_thread->names.n - 1]);
	if (last)
		build_process_name(t->profile, build_process(t->profile, t->capture, pid),
				   build_string(t->profile, last->name, last->len));
	return last;
}

static void make_thread(struct perf_tasks *t, struct task_name *n, int32_t pid, int32_t tid)
{
	process_id process = build_process(t->profile, t->capture, pid);
	char made_up[16];
	string_id name;

	get_process(t, pid)->sampled = true;
	look_up_name(t, n);
	if (n->name) {
		name = build_string(t->profile, n->name, n->len);
	} else {
		snprintf(made_up, sizeof(made_up), ":%d", tid);
		name = build_cstring(t->profile, tid == 0 ? "swapper" : made_up);
	}
	n->pid = pid;
	n->thread = build_thread(t->profile, process, tid, name).v;
	n->root = build_stack(t->profile, (stack_id){ 0 },
			      build_root_location(t->profile, name, pid, tid, t->root_names))
			  .v;
	/* Samples of several cpus may come in another order than they were taken: the name now may be an older one. */
	if (!name_process(t, pid) && pid == tid)
		build_process_name(t->profile, process, name);
}

struct perf_tasks *perf_tasks_new(struct profile *p, capture_id c)
{
	struct perf_tasks *t = xcalloc(1, sizeof(*t));

	t->profile = p;
	t->capture = c;
	arena_init(&t->names);
	return t;
}

void perf_tasks_forget_roots(struct perf_tasks *t)
{
	for (size_t i = 0; i < t->tasks.n; i++) {
		struct task *task = &t->tasks.at[i];

		task->unnamed.root = ID_NONE;
		for (size_t k = 0; k < task->names.n; k++)
			task->names.at[k].root = ID_NONE;
	}
}

void perf_tasks_free(struct perf_tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->tasks.n; i++)
		vec_done(&t->tasks.at[i].names);
	for (size_t i = 0; i < t->processes.n; i++)
		vec_done(&t->processes.at[i].remappings);
	vec_done(&t->tasks);
	vec_done(&t->processes);
	vec_done(&t->renamed);
	map_done(&t->by_tid);
	map_done(&t->by_pid);
	arena_done(&t->names);
	free(t);
}

void perf_tasks_root_names(struct perf_tasks *t, enum root_names names)
{
	t->root_names = names;
}

/* Something is told of a thread of a process: of an ended one only what was before, else its number came again. */
static void note_told(struct task *task, int32_t pid, int64_t time_ns)
{
	task->told = true;
	task->pid = pid;
	if (time_ns > task->ended_ns)
		task->ended_ns = INT64_MAX;
}

void perf_tasks_name(struct perf_tasks *t, int32_t pid, int32_t tid, int64_t time_ns,
		     const char *name, size_t len)
{
	struct task *task = get_task(t, tid);
	struct task_name n = nameless(time_ns);
	const struct task_name *before = name_at(task, time_ns);

	note_told(task, pid, time_ns);
	n.name = before->name && before->len == len && memcmp(before->name, name, len) == 0
			 ? before->name
			 : arena_strndup(&t->names, name, len);
	n.len = len;
	add_name(t, task, &n);
}

void perf_tasks_fork(struct perf_tasks *t, int32_t pid, int32_t tid, int32_t parent_tid,
		     int64_t time_ns)
{
	struct task_name n = nameless(time_ns);
	struct task *child;

	if (tid == parent_tid)
		return;
	n.parent = parent_tid;
	child = get_task(t, tid);
	note_told(child, pid, time_ns);
	add_name(t, child, &n);
}

void perf_tasks_exit(struct perf_tasks *t, int32_t tid, int64_t time_ns)
{
	struct task *task = find_task(t, tid);

	if (!task || task->ended_ns != INT64_MAX ||
	    (task->names.n > 0 && task->names.at[task->names.n - 1].time_ns > time_ns))
		return;
	task->ended_ns = time_ns;
	t->n_ended++;
}

void perf_tasks_remapped(struct perf_tasks *t, int32_t pid, int64_t time_ns)
{
	struct process_maps *m = get_process(t, pid);
	size_t at = remapping_after(m, time_ns);
	size_t n_behind = m->remappings.n - at;
	struct remapping r = { .time_ns = time_ns, .epoch = t->n_epochs };

	m->from_ns = m->until_ns = 0;
	/* Several at one moment, or before all samples: one stretch. */
	if (at > 0 && m->remappings.at[at - 1].time_ns == time_ns) {
		m->remappings.at[at - 1].epoch = t->n_epochs++;
		return;
	}
	if (!may_move(t, n_behind))
		return;
	t->n_epochs++;
	vec_push(&m->remappings, r);
	memmove(&m->remappings.at[at + 1], &m->remappings.at[at], n_behind * sizeof(r));
	m->remappings.at[at] = r;
}

bool perf_tasks_knows(struct perf_tasks *t, int32_t tid)
{
	const struct task *task = find_task(t, tid);

	return task && task->told;
}

struct perf_task_view perf_tasks_at(struct perf_tasks *t, int32_t pid, int32_t tid, int64_t time_ns)
{
	struct task *task = get_task(t, tid);
	struct task_name *n = name_at(task, time_ns);

	if (task->pid < 0)
		task->pid = pid;
	if (n->root == ID_NONE || n->pid != pid)
		make_thread(t, n, pid, tid);
	return (struct perf_task_view){ .thread = { n->thread }, .root = { n->root } };
}

uint32_t perf_tasks_epoch(struct perf_tasks *t, int32_t pid, int64_t time_ns)
{
	struct process_maps *m = get_process(t, pid);
	size_t after;

	if (m->from_ns <= time_ns && time_ns < m->until_ns)
		return m->epoch;
	after = remapping_after(m, time_ns);
	m->from_ns = after > 0 ? m->remappings.at[after - 1].time_ns : INT64_MIN;
	m->until_ns = after < m->remappings.n ? m->remappings.at[after].time_ns : INT64_MAX;
	m->epoch = after > 0 ? m->remappings.at[after - 1].epoch : m->first_epoch;
	return m->epoch;
}

void perf_tasks_name_processes(struct perf_tasks *t)
{
	for (size_t i = 0; i < t->renamed.n; i++) {
		int32_t pid = t->renamed.at[i];
		uint32_t at = map_find(&t->by_pid, hash_number(pid), same_pid, t->processes.at,
				       &pid);

		if (at != MAP_NONE && t->processes.at[at].sampled)
			name_process(t, pid);
	}
	t->renamed.n = 0;
}

static bool is_gone(const struct task *task, int64_t before_ns)
{
	return task->ended_ns < before_ns;
}

/* Says of each process whether it goes. */
static void mark_processes(struct perf_tasks *t, int64_t before_ns)
{
	for (size_t i = 0; i < t->processes.n; i++)
		t->processes.at[i].goes = false;
	/* Those of threads that go, but for those of others. */
	for (int others = 0; others <= 1; others++) {
		for (size_t i = 0; i < t->tasks.n; i++) {
			const struct task *task = &t->tasks.at[i];
			uint32_t at = map_find(&t->by_pid, hash_number(task->pid), same_pid,
					       t->processes.at, &task->pid);

			if (at != MAP_NONE && task->pid > 0 && is_gone(task, before_ns) != others)
				t->processes.at[at].goes = !others;
		}
	}
}

/* The profile has the name that it had last, and hears that it ended. */
static void end_process(struct perf_tasks *t, const struct process_maps *m)
{
	if (!m->sampled)
		return;
	name_process(t, m->pid);
	build_process_ended(t->profile, build_process(t->profile, t->capture, m->pid));
}

static void end_name(struct perf_tasks *t, const struct task_name *n)
{
	if (n->thread != ID_NONE)
		build_thread_ended(t->profile, (thread_id){ n->thread });
}

static void end_task(struct perf_tasks *t, struct task *task)
{
	end_name(t, &task->unnamed);
	for (size_t i = 0; i < task->names.n; i++)
		end_name(t, &task->names.at[i]);
	vec_done(&task->names);
}

static void retire_processes(struct perf_tasks *t, struct perf_retired *gone)
{
	size_t n = 0;

	map_done(&t->by_pid);
	for (size_t i = 0; i < t->processes.n; i++) {
		struct process_maps *m = &t->processes.at[i];

		if (m->goes) {
			end_process(t, m);
			vec_done(&m->remappings);
			vec_push(&gone->pids, m->pid);
			continue;
		}
		map_add(&t->by_pid, hash_number(m->pid), (uint32_t)n);
		t->processes.at[n++] = *m;
	}
	t->processes.n = n;
}

static void retire_tasks(struct perf_tasks *t, int64_t before_ns, struct perf_retired *gone)
{
	size_t n = 0;

	map_done(&t->by_tid);
	for (size_t i = 0; i < t->tasks.n; i++) {
		struct task *task = &t->tasks.at[i];

		if (is_gone(task, before_ns)) {
			end_task(t, task);
			vec_push(&gone->tids, task->tid);
			continue;
		}
		map_add(&t->by_tid, hash_number(task->tid), (uint32_t)n);
		t->tasks.at[n++] = *task;
	}
	t->tasks.n = n;
}

/* Nothing is told of that time any more, and their parents may go. */
static void look_up_names(struct perf_tasks *t, int64_t before_ns)
{
	for (size_t i = 0; i < t->tasks.n; i++)
		for (size_t k = 0;
		     k < t->tasks.at[i].names.n && t->tasks.at[i].names.at[k].time_ns < before_ns;
		     k++)
			look_up_name(t, &t->tasks.at[i].names.at[k]);
}

/* Names of those that are left, without the others'. */
static void renew_names(struct perf_tasks *t)
{
	struct arena was = t->names;

	arena_init(&t->names);
	for (size_t i = 0; i < t->tasks.n; i++)
		for (size_t k = 0; k < t->tasks.at[i].names.n; k++) {
			struct task_name *n = &t->tasks.at[i].names.at[k];

			if (n->name)
				n->name = arena_strndup(&t->names, n->name, n->len);
		}
	arena_done(&was);
}

bool perf_tasks_retire(struct perf_tasks *t, int64_t before_ns, struct perf_retired *gone)
{
	if (t->n_ended < RETIRE_LEAST || t->n_ended < t->tasks.n / RETIRE_PART)
		return false;
	t->n_ended = 0;
	look_up_names(t, before_ns);
	mark_processes(t, before_ns);
	retire_processes(t, gone);
	retire_tasks(t, before_ns, gone);
	renew_names(t);
	return true;
}

size_t perf_tasks_n(const struct perf_tasks *t)
{
	return t->tasks.n + t->processes.n;
}
