/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ring for each cpu, which belongs to an event of our own that counts nothing, so that it is there whichever of
 * the threads that are watched end. What an event is asked for is settled when it is opened for the first time:
 * less and less, until the kernel takes it.
 */
#include "config.h"

#include "record/cpu/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/system_limits.h"
#include "perf/records/perf_events.h"
#include "record/cpu/cgroup_fs.h"
#include "record/cpu/cpu_list.h"
#include "record/cpu/event_fds.h"
#include "record/cpu/known_threads.h"
#include "record/cpu/perf_rights.h"
#include "record/cpu/perf_sys.h"
#include "record/cpu/perf_trial.h"

#define RING_MIN        ((size_t)64 << 10)
#define RING_SMALL      ((size_t)512 << 10)   /* enough where no stacks are copied */
#define RING_LARGE      ((size_t)16 << 20)    /* half a second of 999 stacks of the largest size */
#define RINGS_MAX       ((uint64_t)256 << 20) /* of all cpus */
#define MEMORY_PER_RING 128                   /* nor more than this part of memory */
#define STACKS_PER_RING 64u                   /* copies that fit into a ring, at least */
#define STACKS_WANTED   256u                  /* the same, of those that are larger than usual */
#define STACK_USUAL     (8u << 10)            /* bytes of a copy, as perf has it */
#define STACK_MAX       (32u << 10)           /* of a copy whose size nobody said */
#define STACK_EACH_MAX  (8u << 10) /* the same, where every event is a sample: they come in crowds */

#define FILES_MAX    ((rlim_t)1 << 20) /* what fs.nr_open allows where nobody changed it */
#define FILES_BESIDE 64                /* that may be open for other reasons */
#define LOOK_EACH    64                /* threads that are opened before rings are emptied */
#define LISTS_MAX    100               /* of threads that start each other while they are opened */

#define SOFTWARE_CPU_CLOCK 0
#define SOFTWARE_DUMMY     9

/* All that a walk may need: what there is of numbered registers. */
#if defined(__x86_64__)
#define USER_REGS UINT64_C(0xff01ff)
#elif defined(__aarch64__)
#define USER_REGS ((UINT64_C(1) << 33) - 1)
#else
#define USER_REGS UINT64_C(0)
#endif

/* Told by the first event, of everything that is no sample. */
#define BESIDE \
	(PERF_ATTR_MMAP | PERF_ATTR_COMM | PERF_ATTR_TASK | PERF_ATTR_MMAP2 | PERF_ATTR_COMM_EXEC)

struct sampler {
	const struct sampler_options *o; /* while it is opened; borrowed */
	struct perf_rights rights;
	struct perf_events events;
	VEC(bool) settled; /* by event: the kernel took it once */
	struct cpu_list cpus;
	VEC(int) owners;             /* by cpu: the event whose ring it is */
	VEC(struct ring *) rings;    /* by cpu */
	struct event_fds *files;     /* the events on all cpus and threads */
	struct known_threads *known; /* while it is opened */
	VEC(char *) remarks;
	VEC(struct pollfd) polled; /* the owners, and room for others */
	size_t ring_bytes;
	uint64_t hz; /* samples a second, as many as are allowed */
	uint32_t stack_bytes;
	size_t n_tasks; /* threads that are watched, or 1 */
	int cgroup;     /* its directory; -1: none */
	int last;       /* why the last thread could not be opened */
	bool on_exec;
	bool own_clock; /* of the kernel's: of what is seen, CLOCK_MONOTONIC but for milliseconds */
	bool told_kernel; /* that it is left out */
	bool early; /* the first event tells from when it is opened which threads are started */
};

/* A file for each thread, cpu and event: as many as we may have; root may have more than is usual. */
static void want_files(void)
{
	const struct rlimit many = { .rlim_cur = FILES_MAX, .rlim_max = FILES_MAX };
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_MAX)
		return;
	if (limit.rlim_max < FILES_MAX && setrlimit(RLIMIT_NOFILE, &many) == 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void remark(struct sampler *s, char *text)
{
	vec_push(&s->remarks, text);
}

static bool is_whole(const struct sampler *s)
{
	return s->o->n_pids == 0 && s->o->n_tids == 0;
}

/* --- rings ---------------------------------------------------------------------------------- */

/* What all rings may have: of users what they may lock for rings, and as any memory beside (perf_mmap() of the kernel). */
static uint64_t rings_room(const struct perf_rights *r)
{
	uint64_t room = system_limits_memory_bytes() / MEMORY_PER_RING, may;
	struct rlimit limit;

	room = room < RINGS_MAX ? room : RINGS_MAX;
	if (r->may_lock || r->paranoid < 0 || r->mlock_kb < 0 ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur >= RINGS_MAX)
		return room;
	may = limit.rlim_cur +
	      ((uint64_t)r->mlock_kb << 10) * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	return may < room ? may : room;
}

/* As large for each cpu, so that stacks have one size; a page before it belongs to it. */
static size_t ring_wish(const struct sampler *s)
{
	uint64_t room = rings_room(&s->rights), page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t n = s->o->stacks == SAMPLER_COPIES ? RING_LARGE : RING_SMALL;

	while (n > RING_MIN && (n + page) * s->cpus.n > room)
		n /= 2;
	return n;
}

/* What cannot be, why, and what can be instead; own: RIGHTS_OWN is granted. Returns rc. */
static int say_right(const struct sampler *s, enum rights_wish wish, int rc, bool own,
		     const char *what, struct err *e)
{
	const char *instead = perf_rights_instead(wish, rc, own);

	return err_set(e, rc, "%s: %s%s%s", what, perf_rights_why(&s->rights, wish, rc),
		       instead ? "; " : "", instead ? instead : "");
}

/* Clocks can be chosen since Linux 4.1, and there is an event for nothing since 3.12. After rc: is something else worth trying? */
static bool ask_ring_for_less(struct perf_attr *a, int rc)
{
	if (rc == -EINVAL && a->flags & PERF_ATTR_USE_CLOCKID) {
		a->flags &= ~PERF_ATTR_USE_CLOCKID;
		a->clockid = 0;
		return true;
	}
	if ((rc == -ENOENT || rc == -EINVAL) && a->config == SOFTWARE_DUMMY) {
		a->config = SOFTWARE_CPU_CLOCK;
		return true;
	}
	return false;
}

static int open_ring(struct sampler *s, int cpu, struct err *e)
{
	struct perf_scope self = { .task = 0, .cpu = cpu };
	struct perf_attr a = {
		.type = PERF_T_SOFTWARE,
		.config = SOFTWARE_DUMMY,
		.flags = PERF_ATTR_DISABLED | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV |
			 PERF_ATTR_USE_CLOCKID | PERF_ATTR_WATERMARK,
		.clockid = CLOCK_MONOTONIC,
	};
	struct ring *ring = NULL;
	int rc, fd;

	for (;; s->ring_bytes /= 2) {
		a.wakeup = (uint32_t)(s->ring_bytes / 2);
		do
			fd = perf_sys_open(&a, &self);
		while (fd < 0 && ask_ring_for_less(&a, fd));
		s->own_clock = !(a.flags & PERF_ATTR_USE_CLOCKID);
		if (fd < 0)
			return say_right(s, RIGHTS_OWN, fd, false, "nothing can be sampled", e);
		rc = ring_map(fd, s->ring_bytes, &ring);
		if (rc == 0)
			break;
		close(fd);
		if ((rc != -EPERM && rc != -ENOMEM) || s->ring_bytes <= RING_MIN)
			return err_set(
				e, rc,
				"the ring of cpu %d cannot be mapped: %s; what this user may lock is "
				"taken, by another recording perhaps: ulimit -l, or sysctl "
				"kernel.perf_event_mlock_kb as root, allows more, which others then "
				"have less of",
				cpu, strerror(-rc));
	}
	vec_push(&s->owners, fd);
	vec_push(&s->rings, ring);
	return 0;
}

static uint32_t stack_max(const struct sampler *s)
{
	for (size_t i = 0; i < s->o->n_events; i++)
		if (!s->o->events[i].by_rate)
			return STACK_EACH_MAX;
	return STACK_MAX;
}

/* The fewer fit into a ring, the sooner it runs over where we are not let run in time. */
static uint32_t stack_wish(const struct sampler *s)
{
	size_t n = s->ring_bytes / STACKS_WANTED, usual = s->ring_bytes / STACKS_PER_RING;
	uint32_t most = stack_max(s);

	usual = usual < STACK_USUAL ? usual : STACK_USUAL;
	n = n > usual ? n : usual;
	return n < most ? (uint32_t)n : most;
}

static int open_rings(struct sampler *s, struct err *e)
{
	int rc = 0;

	s->ring_bytes = ring_wish(s);
	for (size_t i = 0; i < s->cpus.n && rc == 0; i++)
		rc = open_ring(s, s->cpus.at[i], e);
	s->stack_bytes = s->o->stack_bytes ? s->o->stack_bytes : stack_wish(s);
	return rc;
}

/* --- events --------------------------------------------------------------------------------- */

static void ask_for_stacks(const struct sampler *s, struct perf_attr *a)
{
	if (s->o->stacks == SAMPLER_NO_STACKS)
		return;
	a->sample_type |= PERF_S_CALLCHAIN;
	if (s->o->stacks == SAMPLER_CHAINS || USER_REGS == 0)
		return;
	a->sample_type |= PERF_S_REGS_USER | PERF_S_STACK_USER;
	a->flags |= PERF_ATTR_EXCLUDE_CALLCHAIN_USER;
	a->sample_regs_user = USER_REGS;
	a->sample_stack_user = s->stack_bytes;
}

static struct perf_attr make_attr(const struct sampler *s, const struct event_spec *spec)
{
	struct perf_attr a = spec->attr;

	a.sample_type = PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_CPU |
			PERF_S_PERIOD;
	if (a.type == PERF_T_TRACEPOINT)
		a.sample_type |= PERF_S_RAW;
	if (is_whole(s))
		a.sample_type |= PERF_S_CGROUP;
	a.read_format = PERF_RF_ID | PERF_RF_LOST;
	a.flags |= PERF_ATTR_SAMPLE_ID_ALL;
	a.flags |= s->early && s->events.all.n == 0 ? 0 : PERF_ATTR_DISABLED;
	/* That of the ring. */
	if (!s->own_clock) {
		a.flags |= PERF_ATTR_USE_CLOCKID;
		a.clockid = CLOCK_MONOTONIC;
	}
	if (!(a.flags & PERF_ATTR_EXCLUDE_HOST))
		a.flags |= PERF_ATTR_EXCLUDE_GUEST;
	a.sample_period = spec->period ? spec->period : s->o->period;
	if (a.sample_period == 0) {
		a.sample_period = spec->by_rate ? s->hz : 1;
		a.flags |= spec->by_rate ? PERF_ATTR_FREQ : 0;
	}
	if (!is_whole(s))
		a.flags |= PERF_ATTR_INHERIT;
	if (s->o->on_exec)
		a.flags |= PERF_ATTR_ENABLE_ON_EXEC;
	if (s->events.all.n == 0) {
		a.flags |= s->o->data ? PERF_ATTR_MMAP_DATA : 0;
		a.flags |= BESIDE | PERF_ATTR_KSYMBOL | PERF_ATTR_BPF_EVENT;
		/* Of every process they would get into recordings of others, which perf does not survive (Linux up to 6.17). */
		a.flags |= is_whole(s) ? PERF_ATTR_CGROUP : PERF_ATTR_BUILD_ID;
		a.flags |= s->o->switches ? PERF_ATTR_CONTEXT_SWITCH : 0;
	}
	ask_for_stacks(s, &a);
	return a;
}

/* The kernel refuses a higher rate than its limit, which it lowers by itself where sampling takes long. */
static void settle_rate(struct sampler *s)
{
	uint64_t most = s->rights.max_rate > 0 ? (uint64_t)s->rights.max_rate : UINT64_MAX;

	s->hz = s->o->hz;
	if (s->hz <= most || s->o->period > 0)
		return;
	s->hz = most;
	remark(s, xasprintf("%" PRIu64 " samples a second are the most that "
			    "kernel.perf_event_max_sample_rate allows; sysctl "
			    "kernel.perf_event_max_sample_rate=%" PRIu64
			    " as root allows what was asked for, at "
			    "the price of a slower machine while it is sampled",
			    most, s->o->hz));
}

static void add_event(struct sampler *s, const struct event_spec *spec)
{
	struct perf_attr a = make_attr(s, spec);

	perf_events_add(&s->events, &a, spec->name);
	vec_push(&s->settled, false);
}

static void rename_event(struct perf_event *e, char *name)
{
	free(e->name);
	e->name = name;
}

/* Does it happen in the kernel only, or was only that asked for? */
static bool is_kernels(const struct perf_attr *a)
{
	return a->flags & PERF_ATTR_EXCLUDE_USER || a->type == PERF_T_TRACEPOINT ||
	       (a->type == PERF_T_SOFTWARE && (a->config == 3 || a->config == 4));
}

/* Without hardware counters, as in most virtual machines, the clock has to serve. */
static bool become_clock(struct sampler *s, struct perf_event *e)
{
	if (e->attr.type != PERF_T_HARDWARE || (e->attr.config != 0 && e->attr.config != 9))
		return false;
	e->attr.type = PERF_T_SOFTWARE;
	e->attr.config = SOFTWARE_CPU_CLOCK;
	e->attr.flags &= ~(UINT64_C(3) << PERF_ATTR_PRECISE_SHIFT);
	remark(s, xasprintf("%s are not counted here, as in most virtual machines: cpu-clock is "
			    "sampled instead, by the kernel's timer",
			    perf_event_name_of(e)));
	rename_event(
		e, xstrdup(e->attr.flags & PERF_ATTR_EXCLUDE_KERNEL ? "cpu-clock:u" : "cpu-clock"));
	return true;
}

static bool leave_out_kernel(struct sampler *s, struct perf_event *e, int rc)
{
	if (e->attr.flags & PERF_ATTR_EXCLUDE_KERNEL || is_kernels(&e->attr) || s->rights.may_all)
		return false;
	e->attr.flags |= PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	/* Whoever named modifiers knows what is left of them. */
	if (!strchr(perf_event_name_of(e), ':'))
		rename_event(e, xasprintf("%s:u", perf_event_name_of(e)));
	if (!s->told_kernel)
		remark(s, xstrdup(perf_rights_why(&s->rights, RIGHTS_KERNEL, rc)));
	s->told_kernel = true;
	return true;
}

/* Asks for less of what older kernels do not know. */
static bool leave_out_news(struct perf_attr *a)
{
	static const uint64_t news[] = { PERF_ATTR_BUILD_ID, PERF_ATTR_CGROUP,
					 PERF_ATTR_KSYMBOL | PERF_ATTR_BPF_EVENT,
					 PERF_ATTR_CONTEXT_SWITCH,
					 PERF_ATTR_MMAP2 | PERF_ATTR_COMM_EXEC };

	if (a->read_format & PERF_RF_LOST) {
		a->read_format &= ~PERF_RF_LOST;
		return true;
	}
	if (a->sample_type & PERF_S_CGROUP) {
		a->sample_type &= ~PERF_S_CGROUP;
		return true;
	}
	for (size_t i = 0; i < sizeof(news) / sizeof(news[0]); i++) {
		if (!(a->flags & news[i]))
			continue;
		a->flags &= ~news[i];
		return true;
	}
	/* Before Linux 3.12 the id has another place. */
	if (a->sample_type & PERF_S_IDENTIFIER) {
		a->sample_type ^= PERF_S_IDENTIFIER | PERF_S_ID;
		return true;
	}
	return false;
}

/* After rc: is something else worth trying? */
static bool ask_for_less(struct sampler *s, struct perf_event *e, int rc)
{
	unsigned precise = e->attr.flags >> PERF_ATTR_PRECISE_SHIFT & 3;

	switch (rc) {
	case -EACCES:
	case -EPERM:
		return leave_out_kernel(s, e, rc);
	case -EINVAL:
		return leave_out_news(&e->attr);
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
		if (precise == 0)
			return become_clock(s, e);
		e->attr.flags -= UINT64_C(1) << PERF_ATTR_PRECISE_SHIFT;
		return true;
	default:
		return false;
	}
}

static int say_files(const struct sampler *s, const char *name, int rc, struct err *e)
{
	struct perf_files f = {
		.n_tasks = s->n_tasks,
		.n_cpus = s->cpus.n,
		.n_events = s->events.all.n,
		.n_beside = s->cpus.n + FILES_BESIDE,
		.cpu = s->cpus.at[0],
		.may_all = s->rights.may_all || s->rights.paranoid <= 0,
	};
	struct rlimit limit;
	char *why;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		f.most = limit.rlim_max;
	why = perf_rights_files(&f);
	rc = err_set(e, rc, "%s cannot be sampled: %s", name, why);
	free(why);
	return rc;
}

/* What was it that the event needed? */
static enum rights_wish wish_of(const struct sampler *s, const struct perf_attr *a)
{
	if (a->type == PERF_T_TRACEPOINT && (!is_whole(s) || s->rights.paranoid <= 0))
		return RIGHTS_TRACE;
	if (is_whole(s))
		return RIGHTS_ALL;
	return is_kernels(a) ? RIGHTS_KERNELS : RIGHTS_PROCESS;
}

/* Why an event could not be opened. */
static int say_event(struct sampler *s, struct perf_event *event, const struct perf_scope *at,
		     int rc, struct err *e)
{
	enum rights_wish wish = wish_of(s, &event->attr);
	const char *name = perf_event_name_of(event);
	char *what;

	if (rc == -ENOENT || rc == -ENODEV || rc == -EOPNOTSUPP)
		return err_set(e, rc, "%s is not counted on this machine", name);
	if (rc == -EINVAL)
		return err_set(e, rc, "the kernel does not take the event %s as it is asked for",
			       name);
	if (rc == -EMFILE)
		return say_files(s, name, rc, e);
	what = is_whole(s) ? xasprintf("%s cannot be sampled on cpu %d", name, at->cpu)
			   : xasprintf("%s of process %d cannot be sampled", name, at->task);
	/* The rings, which are there, are events of our own. */
	say_right(s, wish, rc, true, what, e);
	free(what);
	return rc;
}

/* One event on one cpu, of one thread or all. -ESRCH: there is no such thread any more. */
static int open_event(struct sampler *s, uint32_t event, const struct perf_scope *at, size_t cpu,
		      struct err *e)
{
	struct perf_event *p = &s->events.all.at[event];
	int fd, rc;

	/* Where there can be none, opening says so. */
	event_fds_make_room(s->files);
	do
		fd = perf_sys_open(&p->attr, at);
	while (fd < 0 && !s->settled.at[event] && ask_for_less(s, p, fd));
	if (fd == -ESRCH)
		return fd;
	if (fd < 0)
		return say_event(s, p, at, fd, e);
	s->settled.at[event] = true;
	event_fds_add(s->files, fd);
	rc = perf_sys_redirect(fd, s->owners.at[cpu]);
	if (rc)
		return err_set(e, rc, "%s cannot write to the ring of cpu %d: %s",
			       perf_event_name_of(p), at->cpu, strerror(-rc));
	perf_events_add_id(&s->events, event, perf_sys_id(fd));
	return 0;
}

/* All events of a thread (or of all) on all cpus. */
static int open_task(struct sampler *s, int task, struct err *e)
{
	struct perf_scope at = { .task = task, .is_cgroup = s->cgroup >= 0 };
	int rc = 0;

	if (at.is_cgroup)
		at.task = s->cgroup;
	for (size_t c = 0; c < s->cpus.n && rc == 0; c++) {
		at.cpu = s->cpus.at[c];
		for (uint32_t i = 0; i < s->events.all.n && rc == 0; i++)
			rc = open_event(s, i, &at, c, e);
	}
	return rc;
}

/* --- what is watched ------------------------------------------------------------------------ */

/* What came while events were opened is not kept but for who was started: nobody knows yet what was before. */
static void look_for_started(struct sampler *s)
{
	sampler_turn(s);
	sampler_take(s, known_threads_look, s->known);
}

/* Leaves those that are not watched. They may have been started by one that is, whose record is on its way. */
static void keep_unknown(struct sampler *s, struct thread_list *threads)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };

	for (int again = 0; again < 2; again++) {
		size_t n = 0;

		if (again && threads->n > 0)
			nanosleep(&moment, NULL);
		look_for_started(s);
		for (size_t i = 0; i < threads->n; i++)
			if (!known_threads_have(s->known, threads->at[i]))
				threads->at[n++] = threads->at[i];
		threads->n = n;
	}
}

/* Those that end meanwhile are left out. */
static int open_threads(struct sampler *s, const struct thread_list *threads, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < threads->n && rc == 0; i++) {
		rc = open_task(s, threads->at[i], e);
		if (rc == -ESRCH)
			rc = 0;
		known_threads_add(s->known, threads->at[i]);
		if (i % LOOK_EACH == LOOK_EACH - 1)
			look_for_started(s);
	}
	return rc;
}

/*
 * All threads of a process. They are listed before the first is opened: what an opened one starts is watched with it, and would be
 * counted twice if it were opened, too. What one starts that is opened later is seen by listing them again.
 */
static int open_process(struct sampler *s, int pid, struct err *e)
{
	struct thread_list threads = { 0 };
	size_t before = event_fds_count(s->files);
	int rc = 0;

	process_threads(pid, &threads);
	if (threads.n == 0)
		return err_set(e, -ESRCH, "there is no process %d", pid);
	if (!process_any_shown() && !s->on_exec)
		remark(s,
		       xasprintf(
			       "of process %d only the first thread is known, and no functions, as there is no /proc here: mount -t proc nodev /proc, as root",
			       pid));
	for (int i = 0; i < LISTS_MAX && rc == 0 && threads.n > 0; i++) {
		rc = open_threads(s, &threads, e);
		process_threads(pid, &threads);
		keep_unknown(s, &threads);
	}
	if (rc == 0 && event_fds_count(s->files) == before)
		rc = err_set(e, -ESRCH, "process %d has ended", pid);
	if (rc == 0 && threads.n > 0)
		remark(s, xasprintf("threads of process %d start others and end before they can be "
				    "opened: some may be missing, with what they start; -a would "
				    "have them",
				    pid));
	vec_done(&threads);
	return rc;
}

static int open_cgroup(struct sampler *s, const char *name, struct err *e)
{
	char *root = cgroup_fs_root(), *path = xasprintf("%s/%s", root ? root : "", name);

	s->cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->cgroup < 0)
		s->cgroup = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	free(root);
	if (s->cgroup < 0)
		return err_set(e, -ENOENT, "there is no control group %s", name);
	return 0;
}

static size_t count_tasks(const struct sampler_options *o)
{
	size_t n = o->n_tids;

	for (size_t i = 0; i < o->n_pids; i++) {
		struct thread_list threads = { 0 };

		process_threads(o->pids[i], &threads);
		n += threads.n;
		vec_done(&threads);
	}
	return n > 0 ? n : 1;
}

static int open_targets(struct sampler *s, struct err *e)
{
	const struct sampler_options *o = s->o;
	int rc = 0;

	s->n_tasks = count_tasks(o);
	if (o->cgroup)
		rc = open_cgroup(s, o->cgroup, e);
	if (rc == 0 && is_whole(s))
		return open_task(s, -1, e);
	for (size_t i = 0; i < o->n_pids && rc == 0; i++)
		rc = open_process(s, o->pids[i], e);
	for (size_t i = 0; i < o->n_tids && rc == 0; i++) {
		rc = open_task(s, o->tids[i], e);
		if (rc == -ESRCH)
			rc = err_set(e, rc, "there is no thread %d", o->tids[i]);
	}
	return rc;
}

static void add_events(struct sampler *s)
{
	struct event_spec usual = { .attr = { .type = PERF_T_HARDWARE }, .by_rate = true };
	char name[] = "cycles";

	usual.name = name;
	settle_rate(s);
	for (size_t i = 0; i < s->o->n_events; i++)
		add_event(s, &s->o->events[i]);
	if (s->o->n_events == 0)
		add_event(s, &usual);
}

/* Filters of system calls may kill who asks, without a word of why. */
static int check_filter(const struct sampler *s, struct err *e)
{
	struct perf_trial t;

	if (s->rights.seccomp != 2)
		return 0;
	perf_trial_run(&t);
	return t.own == -ENOSYS
		       ? say_right(s, RIGHTS_OWN, t.own, false, "nothing can be sampled", e)
		       : 0;
}

int sampler_open(const struct sampler_options *o, struct sampler **out, struct err *e)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	int rc;

	s->o = o;
	s->cgroup = -1;
	s->on_exec = o->on_exec;
	s->early = o->n_pids > 0 && !o->on_exec;
	s->known = known_threads_new();
	perf_rights_read(&s->rights);
	want_files();
	s->files = event_fds_new(0);
	rc = cpu_list_read(o->cpus, &s->cpus, e);
	if (rc == 0)
		rc = check_filter(s, e);
	if (rc == 0)
		rc = open_rings(s, e);
	if (rc == 0) {
		add_events(s);
		rc = open_targets(s, e);
	}
	s->o = NULL;
	known_threads_free(s->known);
	s->known = NULL;
	if (rc) {
		sampler_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	event_fds_free(s->files);
	for (size_t i = 0; i < s->rings.n; i++)
		ring_unmap(s->rings.at[i]);
	for (size_t i = 0; i < s->owners.n; i++)
		close(s->owners.at[i]);
	for (size_t i = 0; i < s->remarks.n; i++)
		free(s->remarks.at[i]);
	if (s->cgroup >= 0)
		close(s->cgroup);
	perf_events_done(&s->events);
	vec_done(&s->settled);
	vec_done(&s->cpus);
	vec_done(&s->owners);
	vec_done(&s->rings);
	vec_done(&s->remarks);
	vec_done(&s->polled);
	free(s);
}

struct perf_events *sampler_events(struct sampler *s)
{
	return &s->events;
}

uint64_t sampler_hz(const struct sampler *s)
{
	return s->hz;
}

const char *const *sampler_remarks(const struct sampler *s, size_t *n)
{
	*n = s->remarks.n;
	return (const char *const *)s->remarks.at;
}

static int enable(int fd, void *arg)
{
	(void)arg;
	return perf_sys_enable(fd);
}

static int disable(int fd, void *arg)
{
	(void)arg;
	perf_sys_disable(fd);
	return 0;
}

static int add_lost(int fd, void *n)
{
	*(uint64_t *)n += perf_sys_lost(fd);
	return 0;
}

int sampler_start(struct sampler *s, struct err *e)
{
	int rc = s->on_exec ? 0 : event_fds_each(s->files, enable, NULL);

	return rc ? err_set(e, rc, "counting cannot begin: %s", strerror(-rc)) : 0;
}

void sampler_stop(struct sampler *s)
{
	event_fds_each(s->files, disable, NULL);
}

uint64_t sampler_lost(const struct sampler *s)
{
	uint64_t n = 0;

	event_fds_each(s->files, add_lost, &n);
	return n;
}

void sampler_wait(struct sampler *s, const int *others, size_t n, int ms)
{
	vec_clear(&s->polled);
	for (size_t i = 0; i < s->owners.n; i++)
		vec_push(&s->polled, ((struct pollfd){ .fd = s->owners.at[i], .events = POLLIN }));
	for (size_t i = 0; i < n; i++)
		vec_push(&s->polled, ((struct pollfd){ .fd = others[i], .events = POLLIN }));
	poll(s->polled.at, s->polled.n, ms);
}

void sampler_turn(struct sampler *s)
{
	for (size_t i = 0; i < s->rings.n; i++)
		ring_turn(s->rings.at[i]);
}

void sampler_ahead(struct sampler *s, ring_fn *each, void *arg)
{
	for (size_t i = 0; i < s->rings.n; i++)
		ring_ahead(s->rings.at[i], each, arg);
}

void sampler_take(struct sampler *s, ring_fn *each, void *arg)
{
	for (size_t i = 0; i < s->rings.n; i++)
		ring_take(s->rings.at[i], each, arg);
}
