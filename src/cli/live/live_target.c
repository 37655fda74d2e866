/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts: proc_pid_stat(5), proc_pid_task(5) for children, proc_stat(5), Documentation/admin-guide/cgroup-v2.rst. */
#include "config.h"

#include "cli/live/live_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/process.h"
#include "cli/options/options.h"
#include "cli/record/live_command.h"
#include "record/cpu/cgroup_fs.h"
#include "record/cpu/cpu_list.h"
#include "tui/app/tui.h"

#define NS_PER_S     INT64_C(1000000000)
/* A process that goes on is said to for so many looks. */
#define LOOKS_AFTER  10
/* Of a process with more threads, and of one with more that it began, not all are asked for children. */
#define THREADS_MOST 256
#define FAMILY_MOST  1024
/* From so many on it may be that none lives long enough for a sample. */
#define SHORT_MANY   8

/* One of those that were named. */
struct named {
	int id;         /* of a process or a thread */
	dev_t device;   /* of the program; 0: not known */
	ino_t inode;    /* likewise */
	bool stopped;   /* at the last look */
	bool execed;    /* it became another program since the first */
	int n_going_on; /* looks for which it is said to have continued */
	char name[32];  /* that it had last */
};

enum fate { FATE_RUNS, FATE_CONTINUED, FATE_STOPPED, FATE_EXITED, N_FATES };

static const char *const fates[N_FATES] = {
	[FATE_RUNS] = "",
	[FATE_CONTINUED] = "continued",
	[FATE_STOPPED] = "stopped",
	[FATE_EXITED] = "exited",
};

struct live_target {
	const struct options *o;
	const struct live_command *command; /* borrowed; NULL: none */
	bool threads;                       /* those named are */
	bool looked;                        /* at least once */
	struct {
		struct named *at;
		size_t n, cap;
	} named;                   /* none: cpus, or a control group */
	struct thread_list family; /* processes that the named ones had begun by the last look */
	uint64_t n_forked;         /* that were seen to come */
	int64_t first_ns;          /* time that they had taken at the first look */
	struct cpu_list cpus;      /* none: all */
	char *group;               /* file with the times of the control group, or NULL; owned */
};

static void add_named(struct live_target *t, int id)
{
	const struct named n = { .id = id };

	for (size_t i = 0; i < t->named.n; i++)
		if (t->named.at[i].id == id)
			return;
	if (id > 0)
		vec_push(&t->named, n);
}

/* A control group is named as the sampler takes it: by its path in the hierarchy, or by its directory. The caller frees. */
static char *group_file(const char *name)
{
	char *root = cgroup_fs_root();
	char *path = xasprintf("%s/%s/cpu.stat", root ? root : "", name);

	free(root);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return xasprintf("%s/cpu.stat", name);
}

struct live_target *live_target_new(const struct options *o, const struct live_command *command)
{
	struct live_target *t = xcalloc(1, sizeof(*t));
	const char *at = o->attach ? o->attach : o->tasks;

	t->o = o;
	t->threads = !o->attach && o->tasks;
	for (; at && *at; at += strcspn(at, ","), at += *at == ',')
		add_named(t, atoi(at));
	t->command = command;
	if (o->cpus)
		cpu_list_read(o->cpus, &t->cpus, NULL); /* what is wrong with it was said by now */
	if (o->cgroup)
		t->group = group_file(o->cgroup);
	return t;
}

void live_target_free(struct live_target *t)
{
	if (!t)
		return;
	vec_done(&t->named);
	vec_done(&t->family);
	vec_done(&t->cpus);
	free(t->group);
	free(t);
}

/* Did it become another program? Where the program may not be looked at its name tells, unless it names itself. */
static void look_for_exec(struct named *n, const char *name)
{
	char path[64];
	struct stat st, own;
	bool seen;

	snprintf(path, sizeof(path), "/proc/%d/exe", n->id);
	seen = stat(path, &st) == 0;
	/* What a command begins as. */
	if (seen && stat("/proc/self/exe", &own) == 0 && own.st_dev == st.st_dev &&
	    own.st_ino == st.st_ino)
		return;
	if (seen && n->inode)
		n->execed |= n->device != st.st_dev || n->inode != st.st_ino;
	else if (!seen && !n->inode && n->name[0])
		n->execed |= strcmp(n->name, name) != 0;
	if (seen) {
		n->device = st.st_dev;
		n->inode = st.st_ino;
	}
}

/* Who attaches to a heap stops the process for a moment, as a debugger does: nobody is to be told of that. */
static bool has_stopped(const struct live_target *t, char letter)
{
	return letter == 'T' || (letter == 't' && !(t->o->heap && t->o->attach));
}

static enum fate look_at(const struct live_target *t, struct named *n)
{
	struct process_state s;
	bool stopped;

	process_read(n->id, &s);
	if (t->threads ? thread_has_ended(n->id) : process_has_ended(n->id))
		return FATE_EXITED;
	look_for_exec(n, s.name);
	memcpy(n->name, s.name, sizeof(n->name));
	stopped = has_stopped(t, s.letter);
	if (n->stopped && !stopped)
		n->n_going_on = LOOKS_AFTER;
	else if (n->n_going_on > 0)
		n->n_going_on--;
	n->stopped = stopped;
	return stopped ? FATE_STOPPED : n->n_going_on > 0 ? FATE_CONTINUED : FATE_RUNS;
}

/* Numbers in a file of /proc, with blanks between. */
static void add_children(const char *path, struct thread_list *to)
{
	FILE *f = fopen(path, "re");
	int child;

	while (f && to->n < FAMILY_MOST && fscanf(f, "%d", &child) == 1)
		vec_push(to, child);
	if (f)
		fclose(f);
}

static void children_of(int pid, struct thread_list *to)
{
	struct thread_list threads = { 0 };
	char path[64];

	process_threads(pid, &threads);
	for (size_t i = 0; i < threads.n && i < THREADS_MOST; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, threads.at[i]);
		add_children(path, to);
	}
	vec_done(&threads);
}

static bool is_in(const struct thread_list *list, int id)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == id)
			return true;
	return false;
}

/* Who came since the last look. */
static void look_at_family(struct live_target *t)
{
	struct thread_list now = { 0 };

	if (t->threads)
		return;
	for (size_t i = 0; i < t->named.n; i++)
		children_of(t->named.at[i].id, &now);
	for (size_t i = 0; i < now.n; i++)
		children_of(now.at[i], &now);
	/* What a command began before the first look it began while it was recorded. */
	if (t->looked || t->o->files.n > 0)
		for (size_t i = 0; i < now.n; i++)
			t->n_forked += !is_in(&t->family, now.at[i]);
	vec_done(&t->family);
	t->family = now;
}

/* Of a stat of a process or a thread; with what ended below a process. */
static int64_t task_ns(const char *path)
{
	unsigned long long user = 0, kernel = 0, below[2] = { 0, 0 };
	char text[1024], *at;
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	at = strrchr(text, ')');
	/* From the letter on, the 12th number to the 15th. */
	if (!at ||
	    sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
		   &user, &kernel, &below[0], &below[1]) < 4)
		return 0;
	return (int64_t)(user + kernel + below[0] + below[1]) * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static int64_t named_ns(const struct live_target *t)
{
	char path[64];
	int64_t sum = 0;

	for (size_t i = 0; i < t->named.n; i++) {
		int id = t->named.at[i].id;

		snprintf(path, sizeof(path), t->threads ? "/proc/%d/task/%d/stat" : "/proc/%d/stat",
			 id, id);
		sum += task_ns(path);
	}
	for (size_t i = 0; i < t->family.n; i++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", t->family.at[i]);
		sum += task_ns(path);
	}
	return sum;
}

static int64_t group_ns(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t us = -1;
	char line[128];

	while (f && us < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "usage_usec %" SCNd64, &us) != 1)
			us = -1;
	if (f)
		fclose(f);
	return us < 0 ? -1 : us * 1000;
}

/* Is it the line of all cpus, or of one of those that are wanted? */
static bool is_wanted(const struct live_target *t, const char *line)
{
	int cpu;

	if (strncmp(line, "cpu", 3) != 0)
		return false;
	if (line[3] == ' ')
		return t->cpus.n == 0;
	cpu = atoi(line + 3);
	for (size_t i = 0; i < t->cpus.n; i++)
		if (t->cpus.at[i] == cpu)
			return true;
	return false;
}

/* Busy is what is neither idle nor waiting for a disk. */
static bool add_busy(const char *line, unsigned long long *busy)
{
	unsigned long long v[8] = { 0 };

	if (sscanf(line, "%*s %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) < 4)
		return false;
	*busy += v[0] + v[1] + v[2] + v[5] + v[6] + v[7];
	return true;
}

static int64_t cpus_ns(const struct live_target *t)
{
	FILE *f = fopen("/proc/stat", "re");
	unsigned long long busy = 0;
	bool known = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		known |= is_wanted(t, line) && add_busy(line, &busy);
	if (f)
		fclose(f);
	return known ? (int64_t)busy * (NS_PER_S / sysconf(_SC_CLK_TCK)) : -1;
}

static void signal_name(int signal, char *out, size_t room)
{
#ifdef HAVE_SIGABBREV_NP
	const char *name = sigabbrev_np(signal);

	if (name) {
		snprintf(out, room, "killed by SIG%s", name);
		return;
	}
#endif
	snprintf(out, room, "killed by signal %d", signal);
}

/* What became of the command is known of those that we began. */
static void tell_end(const struct live_target *t, struct tui_target *out, char *told, size_t room)
{
	int status = t->command ? atomic_load(&t->command->status) : LIVE_GOES_ON;

	snprintf(told, room, "%s", fates[FATE_EXITED]);
	if (status == LIVE_GOES_ON)
		return;
	out->was_killed = WIFSIGNALED(status);
	if (out->was_killed)
		signal_name(WTERMSIG(status), told, room);
	else if (WEXITSTATUS(status))
		snprintf(told, room, "exited with %d", WEXITSTATUS(status));
}

/* One that ended before the first look has no name any more: a command has that it was asked for by. */
static const char *name_of(const struct live_target *t, const struct named *n)
{
	if (n->name[0] || !t->command)
		return n->name[0] ? n->name : "process";
	return path_last_part(t->o->files.at[0]);
}

static void tell_one(const struct live_target *t, enum fate fate, struct tui_target *out)
{
	const struct named *n = &t->named.at[0];
	char told[32];

	if (fate == FATE_EXITED)
		tell_end(t, out, told, sizeof(told));
	else
		snprintf(told, sizeof(told), "%s", fates[fate]);

	snprintf(out->text, sizeof(out->text), "%s (%s%d)%s%s%s", name_of(t, n),
		 t->threads ? "thread " : "", n->id, *told ? " " : "", told,
		 !n->execed ? ""
		 : *told    ? ", new program"
			    : " new program");
}

static void tell_several(const struct live_target *t, const size_t n_of[N_FATES],
			 struct tui_target *out)
{
	size_t n = 0, room = sizeof(out->text), n_execed = 0;

	for (size_t i = 0; i < t->named.n; i++)
		n_execed += t->named.at[i].execed;
	n += (size_t)snprintf(out->text, room, "%zu %s", t->named.n,
			      t->threads ? "threads" : "processes");
	for (int i = FATE_CONTINUED; i < N_FATES && n < room; i++)
		if (n_of[i] > 0)
			n += (size_t)snprintf(out->text + n, room - n, ", %zu %s", n_of[i],
					      fates[i]);
	if (n_execed > 0 && n < room)
		snprintf(out->text + n, room - n, ", %zu new program%s", n_execed,
			 n_execed > 1 ? "s" : "");
}

/* Why there may be no sample yet. What is beside the heap tracer's is of no use there. */
static void tell_hint(const struct live_target *t, struct tui_target *out)
{
	bool samples = t->o->cpu || !t->o->heap, several = t->named.n > 1;
	const char *who = several ? "they" : t->named.at[0].name;
	const size_t room = sizeof(out->hint);
	char *hint = out->hint;

	if (out->is_still && out->cpu_ns >= 0)
		snprintf(hint, room, "%s %s stopped: kill -CONT lets %s go on", who,
			 several ? "are" : "is", several ? "them" : "it");
	else if (!samples)
		snprintf(hint, room, "waiting for the first allocation");
	else if (out->cpu_ns >= 0 && out->cpu_ns == t->first_ns)
		snprintf(hint, room, "%s %s no cpu so far, and samples are taken on a cpu%s", who,
			 several ? "take" : "takes",
			 t->o->off_cpu ? "" : "; --off-cpu records what is waited for, too");
	else if (out->n_forked >= SHORT_MANY)
		snprintf(hint, room,
			 "what %s begins may end before its first sample is due: proftop live -a "
			 "has samples of whatever runs",
			 several ? "one of them" : who);
}

void live_target_look(struct live_target *t, struct tui_target *out)
{
	size_t n_of[N_FATES] = { 0 };
	enum fate last = FATE_RUNS;
	bool first = !t->looked;

	*out = (struct tui_target){ .cpu_ns = -1 };
	/* The recorder may begin it after the first look: until then nothing is known of it, and nobody else is meant. */
	if (t->command)
		add_named(t, atomic_load(&t->command->pid));
	if (t->named.n == 0 && t->command)
		return;
	if (t->named.n == 0) {
		out->cpu_ns = t->group ? group_ns(t->group) : cpus_ns(t);
		return;
	}
	for (size_t i = 0; i < t->named.n; i++)
		n_of[last = look_at(t, &t->named.at[i])]++;
	look_at_family(t);
	t->looked = true;
	out->n_forked = t->n_forked;
	out->is_still = n_of[FATE_STOPPED] + n_of[FATE_EXITED] == t->named.n;
	out->has_ended = n_of[FATE_EXITED] == t->named.n;
	out->cpu_ns = out->has_ended ? -1 : named_ns(t);
	if (first)
		t->first_ns = out->cpu_ns;
	tell_hint(t, out);
	if (t->named.n == 1)
		tell_one(t, last, out);
	else
		tell_several(t, n_of, out);
}
