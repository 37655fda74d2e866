/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One loop, from the first sample to the last. Whatever ends the recording, the command's status is ours. */
#include "config.h"

#include "cli/record/record_cpu.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/heap_launch.h"
#include "cli/record/live_command.h"
#include "cli/record/output_path.h"
#include "cli/record/record_both.h"
#include "cli/record/record_end.h"
#include "cli/record/record_job.h"
#include "cli/record/record_options.h"
#include "perf/records/perf_events.h"
#include "record/cpu/launch.h"

#define TURN_MS          100
#define NS_PER_S         UINT64_C(1000000000)
/* Less than this in the programs' own code is no reason to look for samples that are missing. */
#define UNSAMPLED_MIN_NS (NS_PER_S / 5)

/* A recording from the command line to its end. */
struct session {
	const struct record_job *job;
	const struct options *o; /* the job's */
	struct record_options wish;
	struct record_end end;
	struct launch *launch;    /* NULL: nothing was started */
	struct record_both *heap; /* NULL: that is not recorded */
	struct cpu_recording *recording;
	struct output_path place;
};

/* --heap: both go to a directory. */
static bool take_heap(struct session *s)
{
	if (!s->o->heap)
		return true;
	s->heap = record_both_new(s->job, s->wish.output);
	if (s->heap)
		s->wish.options.path = record_both_data(s->heap);
	return s->heap != NULL;
}

static bool is_pipe(const struct session *s)
{
	return strcmp(s->wish.options.path, "-") == 0;
}

static const char *file_name(const struct session *s)
{
	return is_pipe(s) ? "standard output" : s->wish.output;
}

/* In the process that becomes the command: its output goes where it does not mix with ours. */
static void make_ready(void *arg)
{
	const struct session *s = arg;

	if (s->job->live)
		dup2(s->job->command_out, STDOUT_FILENO);
	else if (is_pipe(s))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (s->heap)
		record_both_environment(s->heap);
}

static bool start_command(struct session *s)
{
	size_t n = s->o->files.n;
	struct err e = ERR_INIT;
	char **argv;
	int rc;

	if (n == 0)
		return true;
	argv = xcalloc(n + 1, sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = xstrdup(s->o->files.at[i]);
	rc = launch_prepare(argv, make_ready, s, &s->launch, &e);
	for (size_t i = 0; i < n; i++)
		free(argv[i]);
	free(argv);
	if (rc) {
		message_error(&e, STATUS_UNUSABLE);
		return false;
	}
	s->end.launch = s->launch;
	s->end.timed = s->o->attach || s->o->tasks || s->o->all_cpus || s->o->cgroup;
	if (s->end.timed)
		return true;
	vec_push(&s->wish.pids, (int)launch_pid(s->launch));
	s->wish.options.sampler.on_exec = true;
	return true;
}

static void say_stacks(const struct chain_stats *c)
{
	char percent[FMT_SIZE];

	if (c->n_by_end[WALK_TRUNCATED] * 100 > c->n_walked)
		message("%s %% of the stacks were deeper than what was copied of them, and end with [truncated]; --call-graph unwound,%u copies more",
			fmt_percent(percent, (int64_t)c->n_by_end[WALK_TRUNCATED],
				    (int64_t)c->n_walked),
			RECORD_STACK_MAX);
}

/* Is each sample a stretch of time on a processor, and are there no others? */
static bool counts_time(const struct session *s)
{
	const struct sampler_options *o = &s->wish.options.sampler;
	const struct perf_attr *a = o->n_events == 1 ? &o->events[0].attr : NULL;

	if (o->period > 0 || o->cpus || o->n_events > 1)
		return false;
	return !a || (a->type == PERF_T_SOFTWARE && perf_attr_unit(a) == UNIT_NS);
}

/*
 * The kernel counts for each thread anew: those that end before their first sample have none, nor has who starts many of them
 * one after the other. Says so where more than half of the time that the command and its children spent in their own code is
 * not in the samples.
 */
static void say_unsampled(const struct session *s, const struct cpu_recording_stats *stats)
{
	char ran[FMT_SIZE], seen[FMT_SIZE];
	uint64_t ran_ns, seen_ns = stats->n_samples * (NS_PER_S / stats->hz);
	struct rusage usage;

	if (s->end.status == -1 || s->end.timed || s->job->live || !counts_time(s) || stats->full ||
	    stats->n_lost > 0 || getrusage(RUSAGE_CHILDREN, &usage))
		return;
	ran_ns = (uint64_t)usage.ru_utime.tv_sec * NS_PER_S +
		 (uint64_t)usage.ru_utime.tv_usec * 1000;
	if (ran_ns < UNSAMPLED_MIN_NS || seen_ns * 2 > ran_ns)
		return;
	message("the command and what it started ran for %s in code of their own, of which %s are in the samples: processes and threads that end before their first sample have none, nor has who starts many of them; -a sees them all, -F more of them",
		fmt_ns(ran, (int64_t)ran_ns), fmt_ns(seen, (int64_t)seen_ns));
}

static void say_result(const struct session *s)
{
	struct cpu_recording_stats stats = cpu_recording_stats(s->recording);
	char n[FMT_COUNTED_SIZE], samples[FMT_COUNTED_SIZE], bytes[FMT_SIZE], *heap;

	say_stacks(&stats.chains);
	if (stats.n_lost > 0)
		message("%s lost, as the kernel's rings were full: fewer samples a second (-F) or smaller copies of stacks (--call-graph) take less, and -r 1 has us read them in time",
			fmt_counted(n, (int64_t)stats.n_lost, "record"));
	say_unsampled(s, &stats);
	heap = s->heap ? record_both_text(s->heap, launch_pid(s->launch), s->end.status) : NULL;
	message("recorded %s, %s, %s%s%sin %s",
		fmt_counted(samples, (int64_t)stats.n_samples, "sample"),
		fmt_bytes(bytes, (int64_t)stats.n_bytes), heap ? "and " : "", heap ? heap : "",
		heap ? ", " : "", file_name(s));
	free(heap);
}

static enum status command_status(struct session *s)
{
	bool timed_out;

	if (!s->launch)
		return STATUS_GOOD;
	timed_out = record_end_timed_out(&s->end);
	/* What nobody watches any more is of no use. */
	record_end_command(&s->end, s->job->live || timed_out);
	live_command_ended(s->job->command, s->end.status);
	return record_end_status(s->end.status, timed_out);
}

/* There is no recording after all: the file goes, and what was in its place comes back. */
static void leave_place(struct session *s)
{
	if (s->heap)
		record_both_unmake(s->heap);
	else if (!is_pipe(s))
		unlink(s->wish.options.path);
	output_path_undo(&s->place);
}

/* The file has no room any more: by the limit, or as rc says of the disk or the pipe. */
static void say_full(const struct session *s, int rc, struct err *e)
{
	struct cpu_recording_stats stats = cpu_recording_stats(s->recording);
	char lost[FMT_COUNTED_SIZE];

	if (rc)
		message("recording ends: %s; %s that came by then found no room, and are lost",
			err_text(e), fmt_counted(lost, (int64_t)stats.n_left_out, "sample"));
	else if (stats.full)
		message("recording ends: no sample more fits into what --max-size allows");
	err_clear(e);
}

/* From the first sample to the last. */
static enum status run(struct session *s)
{
	struct err e = ERR_INIT;
	enum status refused = STATUS_UNUSABLE;
	int rc = cpu_recording_start(s->recording, &e), ended;

	if (rc == 0 && s->launch) {
		rc = launch_go(s->launch, &e);
		refused = rc == -ENOENT ? (enum status)127 : (enum status)126;
		if (rc == 0)
			live_command_began(s->job->command, launch_pid(s->launch));
	}
	if (rc) {
		leave_place(s);
		return message_error(&e, refused);
	}
	output_path_keep(&s->place);
	if (!s->launch)
		message("recording to %s; Ctrl-C ends it", file_name(s));
	record_end_after(&s->end, s->wish.duration_ms);
	while (rc == 0 && !record_end_is_over(&s->end) && !cpu_recording_stats(s->recording).full)
		rc = cpu_recording_turn(s->recording, s->end.watched.at, s->end.watched.n, TURN_MS,
					&e);
	live_command_ended(s->job->command, s->end.status);
	ended = cpu_recording_end(s->recording, rc ? NULL : &e);
	if (rc == 0)
		rc = ended;
	say_full(s, rc, &e);
	if (s->heap && s->end.status == -1)
		heap_launch_end(launch_pid(s->launch));
	say_result(s);
	/* Nothing more comes, however long the command goes on: whoever follows the file is to know. */
	cpu_recording_free(s->recording);
	s->recording = NULL;
	if (is_pipe(s))
		close(STDOUT_FILENO);
	if (rc && !s->launch)
		return STATUS_UNUSABLE;
	return command_status(s);
}

/* Can there be such a file? Says so if not. */
static bool check_place(const char *path)
{
	if (strcmp(path, "-") != 0)
		return output_path_check(path);
	if (isatty(STDOUT_FILENO))
		message("a recording is no text for a terminal: -o FILE, or pipe it: proftop record -o - … | proftop live -");
	return !isatty(STDOUT_FILENO);
}

/* -r: of us alone, not of what we start. Says so if that may not be. */
static bool take_priority(const struct session *s)
{
	const struct sched_param how = { .sched_priority = (int)s->wish.realtime };

	if (s->wish.realtime == 0 ||
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &how) == 0)
		return true;
	message("-r %d cannot be had: %s; as root, with CAP_SYS_NICE, or where ulimit -r allows it, it can, and other programs wait while we work then",
		how.sched_priority, strerror(errno));
	return false;
}

/* Everything that can be refused is asked for before anything is moved. */
static enum status open_all(struct session *s)
{
	struct err e = ERR_INIT;

	if (!take_priority(s))
		return STATUS_UNUSABLE;
	if (cpu_recording_open(&s->wish.options, &s->recording, &e)) {
		message_error(&e, STATUS_UNUSABLE);
		if (s->heap)
			message("the heap alone can be recorded: proftop record --heap -- %s",
				s->o->files.at[0]);
		return STATUS_UNUSABLE;
	}
	if (!is_pipe(s) && !output_path_clear(&s->place, s->wish.output))
		return STATUS_USAGE;
	if (s->heap && !record_both_make(s->heap)) {
		output_path_undo(&s->place);
		return STATUS_USAGE;
	}
	if (cpu_recording_make_file(s->recording, &s->wish.options, &e)) {
		leave_place(s);
		return message_error(&e, STATUS_UNUSABLE);
	}
	return STATUS_GOOD;
}

/* All that is watched is known: whose samples come, and whose end is the recording's. */
static void take_targets(struct session *s)
{
	struct sampler_options *o = &s->wish.options.sampler;

	o->pids = s->end.pids = s->wish.pids.at;
	o->n_pids = s->end.n_pids = s->wish.pids.n;
	o->tids = s->end.tids = s->wish.tids.at;
	o->n_tids = s->end.n_tids = s->wish.tids.n;
}

static enum status begin(struct session *s)
{
	const char *const *remarks;
	enum status status;
	size_t n;

	if (!check_place(s->wish.output) || !start_command(s))
		return STATUS_USAGE;
	/* Whoever reads may go, and files may have a limit (ulimit -f): errors of writing. The command has its own way already. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	take_targets(s);
	/* Opening may take its time: who ends it meanwhile gets a whole file, too. */
	record_end_watch(&s->end);
	status = open_all(s);
	if (status != STATUS_GOOD)
		return status;
	remarks = cpu_recording_remarks(s->recording, &n);
	for (size_t i = 0; i < n && !s->o->again; i++)
		message("%s", remarks[i]);
	return run(s);
}

enum status record_cpu(const struct record_job *j)
{
	struct session s = { .job = j, .o = j->o, .end = { .signals = -1, .status = -1 } };
	enum status status = STATUS_USAGE;

	if (record_options_take(j, &s.wish) && take_heap(&s))
		status = begin(&s);
	cpu_recording_free(s.recording);
	launch_free(s.launch);
	record_both_free(s.heap);
	record_end_done(&s.end);
	record_options_done(&s.wish);
	return status;
}
