/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options become those of a recording; then one loop, which ends with what is watched, a signal or a limit.
 *
 * Ctrl-C reaches the command by the terminal, and its end ends the recording; a second one ends it at once. What
 * limits end is the recording: the command goes on, and its status is ours still.
 */
#include "config.h"

#include "record_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu_list.h"
#include "cpu_recording.h"
#include "err.h"
#include "fmt.h"
#include "heap_beside.h"
#include "launch.h"
#include "machine.h"
#include "mem.h"
#include "options.h"
#include "perf_rights.h"
#include "process.h"
#include "record_place.h"
#include "record_running.h"
#include "say.h"

#define DEFAULT_HZ     999
#define DEFAULT_FILE   "perf.data"
#define STACK_MAX      65528u
#define ZSTD_LEVEL_MAX 19
#define TURN_MS        100

struct numbers {
	int *at;
	size_t n, cap;
};

/* A recording from the command line to its end. */
struct session {
	const struct options *o;
	struct cpu_recording_options options;
	struct event_specs events;
	VEC(char *) command; /* ours, as the file tells it */
	struct numbers pids, tids;
	uint64_t end_ms;          /* by the clock; UINT64_MAX: no limit */
	uint64_t max_bytes;       /* likewise */
	uint64_t ms;              /* --duration */
	struct launch *launch;    /* NULL: nothing was started */
	bool timed;               /* what else is recorded, as long as the command runs */
	struct heap_beside *heap; /* NULL: that is not recorded */
	const char *output;       /* what is to be opened afterwards; borrowed */
	struct cpu_recording *recording;
	struct record_place place;
	int signals;      /* a descriptor */
	VEC(int) watched; /* it, and one for each process that was there before */
	int status;       /* of the command, as waitpid(2) has it; -1: it runs */
	bool told;        /* a signal told us to end */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- options -------------------------------------------------------------------------------- */

/* Numbers with commas between, all above 0. Of none, as of what a shell found no process for, all would be recorded. */
static bool take_numbers(const char *option, const char *text, struct numbers *out)
{
	bool more = text != NULL;

	for (const char *at = text; more; at++) {
		size_t digits = strspn(at, "0123456789");
		int v = digits > 0 && digits < 10 ? atoi(at) : 0;

		if (v <= 0 || (at[digits] && at[digits] != ',')) {
			say("%s wants numbers with commas between, not \"%s\"", option, text);
			return false;
		}
		vec_push(out, v);
		at += digits;
		more = *at == ',';
	}
	return true;
}

/* A number from 0 to max; text NULL leaves it alone. */
static bool take_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text)
		return true;
	if (digits == 0 || digits > 9 || text[digits] || strtoull(text, NULL, 10) > max) {
		say("%s wants a number up to %llu, not \"%s\"", option, (unsigned long long)max,
		    text);
		return false;
	}
	*out = strtoull(text, NULL, 10);
	return true;
}

/* Names with commas between. */
static bool add_events(struct session *s, const char *names)
{
	struct err e = ERR_INIT;

	for (const char *at = names; *at;) {
		size_t n = event_spec_length(at);

		if (event_specs_add(&s->events, at, n, &e)) {
			say_error(&e, STATUS_USAGE);
			return false;
		}
		at += n + (at[n] == ',');
	}
	return true;
}

static bool take_events(struct session *s)
{
	struct perf_rights rights;

	for (size_t i = 0; i < s->o->events.n; i++)
		if (!add_events(s, s->o->events.at[i]))
			return false;
	if (!s->o->off_cpu)
		return true;
	/* Samples of these tell where threads were when they left. */
	perf_rights_read(&rights);
	if (rights.paranoid > 1 && !rights.may_all) {
		say("waits off the cpu will have the stack of the sample before: only root is told where threads leave it");
		return true;
	}
	return (s->events.n > 0 || add_events(s, "cycles")) && add_events(s, "context-switches");
}

/*
 * Is --cpus a list? It is read again when the recording is opened, which is after files and commands have been touched; of
 * cpus that are not there it is told then, as of processes.
 */
static bool check_cpus(const char *text)
{
	struct cpu_list cpus = { 0 };
	struct err e = ERR_INIT;
	int rc = text ? cpu_list_read(text, &cpus, &e) : 0;

	vec_done(&cpus);
	if (rc == -EINVAL)
		say_error(&e, STATUS_USAGE);
	else
		err_clear(&e);
	return rc != -EINVAL;
}

/* --call-graph */
static bool take_stacks(struct session *s)
{
	static const struct {
		const char *name;
		enum sampler_stacks stacks;
		bool unwind;
	} ways[] = { { "unwound", SAMPLER_COPIES, true },
		     { "dwarf", SAMPLER_COPIES, false },
		     { "fp", SAMPLER_CHAINS, false },
		     { "off", SAMPLER_NO_STACKS, false } };
	const char *text = s->o->call_graph ? s->o->call_graph : "unwound";
	size_t n = strcspn(text, ",");
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strlen(ways[i].name) != n || memcmp(ways[i].name, text, n) != 0 ||
		    (text[n] && ways[i].stacks != SAMPLER_COPIES))
			continue;
		if (!take_number("--call-graph HOW,SIZE", text[n] ? text + n + 1 : NULL, STACK_MAX,
				 &bytes))
			return false;
		s->options.sampler.stacks = ways[i].stacks;
		s->options.sampler.stack_bytes = (uint32_t)(bytes + 7) & ~7u;
		s->options.sampler.data = ways[i].stacks == SAMPLER_COPIES && !ways[i].unwind;
		s->options.unwind = ways[i].unwind;
		return true;
	}
	say("--call-graph wants unwound, fp, dwarf or off, the first and the third perhaps with ,SIZE in bytes, not \"%s\"; stacks are recorded without being asked for",
	    text);
	return false;
}

/* What belongs together and what does not. */
static bool is_whole_wish(const struct session *s)
{
	const struct options *o = s->o;
	int n = (o->attach || o->tasks) + (o->all_cpus || o->cgroup);

	if (!o->heap &&
	    (o->free_stacks || o->sample || o->max_overhead || o->cull || o->keep || o->children)) {
		say("--free-stacks, --sample, --max-overhead, --cull, --keep and --children are for recordings of heaps: with --heap");
		return false;
	}
	if (o->cgroup && !*o->cgroup) {
		say("-G wants the name of a control group");
		return false;
	}
	if (n > 1 || (n == 0 && o->files.n == 0 && !o->cpus)) {
		say("record wants one of a command, -p PID, -t TID and -a: proftop record -- COMMAND");
		return false;
	}
	if (n > 0 && o->files.n > 0 && (o->heap || o->live)) {
		say("with %s, a command is what is recorded: without -p, -t, -a and -G",
		    o->heap ? "--heap" : "live");
		return false;
	}
	return true;
}

static bool take_options(struct session *s)
{
	const struct options *o = s->o;
	static char program[] = "proftop";
	uint64_t hz = DEFAULT_HZ, level = 1, period = 0;

	s->max_bytes = UINT64_MAX;
	if (!is_whole_wish(s) || !check_cpus(o->cpus) || !take_numbers("-p", o->attach, &s->pids) ||
	    !take_numbers("-t", o->tasks, &s->tids) || !take_events(s) || !take_stacks(s) ||
	    !take_number("-F", o->freq, 1000000, &hz) ||
	    !take_number("-c", o->count, 999999999, &period) ||
	    !take_number("-z", o->compress, ZSTD_LEVEL_MAX, &level) || !record_duration(o, &s->ms))
		return false;
	if (o->count && (o->freq || period == 0)) {
		say(o->freq ? "-F and -c cannot both be: samples come so often a second, or at each so many events"
			    : "-c wants at least one event");
		return false;
	}
	if (hz == 0) {
		say("-F wants at least one sample a second");
		return false;
	}
	if (o->max_size && !machine_parse_bytes(o->max_size, &s->max_bytes)) {
		say("--max-size wants a number of bytes, such as 512k, 10M or 1G, not \"%s\"",
		    o->max_size);
		return false;
	}
	s->options.sampler.hz = hz;
	s->options.sampler.period = period;
	s->options.sampler.cpus = o->cpus;
	s->options.sampler.cgroup = o->cgroup;
	s->options.sampler.switches = o->off_cpu;
	s->options.sampler.events = s->events.at;
	s->options.sampler.n_events = s->events.n;
	s->options.zstd_level = (int)level;
	s->options.watched = o->live;
	s->output = s->options.path = o->output ? o->output : DEFAULT_FILE;
	vec_push(&s->command, program);
	for (char **arg = o->argv; *arg; arg++)
		vec_push(&s->command, *arg);
	vec_push(&s->command, NULL);
	s->options.command = s->command.at;
	return true;
}

/* --heap: both go to a directory. */
static bool take_heap(struct session *s)
{
	if (!s->o->heap)
		return true;
	s->heap = heap_beside_new(s->o, s->output);
	if (s->heap)
		s->options.path = heap_beside_data(s->heap);
	return s->heap != NULL;
}

/* --- the recording -------------------------------------------------------------------------- */

static bool is_pipe(const struct session *s)
{
	return strcmp(s->options.path, "-") == 0;
}

static const char *file_name(const struct session *s)
{
	return is_pipe(s) ? "standard output" : s->output;
}

/* In the process that becomes the command: its output goes where it does not mix with ours. */
static void make_ready(void *arg)
{
	const struct session *s = arg;

	if (s->o->live)
		dup2(s->o->live_out, STDOUT_FILENO);
	else if (is_pipe(s))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (s->heap)
		heap_beside_environment(s->heap);
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
		say_error(&e, STATUS_UNUSABLE);
		return false;
	}
	s->timed = s->o->attach || s->o->tasks || s->o->all_cpus || s->o->cgroup;
	if (s->timed)
		return true;
	vec_push(&s->pids, (int)launch_pid(s->launch));
	s->options.sampler.on_exec = true;
	return true;
}

/* Signals become readable; so do processes when they end. */
static void watch(struct session *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		vec_push(&s->watched, s->signals);
	for (size_t i = 0; i < s->pids.n && (!s->launch || s->timed); i++) {
		int fd = (int)syscall(SYS_pidfd_open, s->pids.at[i], 0);

		if (fd >= 0)
			vec_push(&s->watched, fd);
	}
}

static bool any_there(const struct session *s)
{
	for (size_t i = 0; i < s->pids.n; i++)
		if (!process_has_ended(s->pids.at[i]))
			return true;
	for (size_t i = 0; i < s->tids.n; i++)
		if (!thread_has_ended(s->tids.at[i]))
			return true;
	return false;
}

/* Processes that have ended are no reason any more not to wait. */
static void forget_ended(struct session *s)
{
	for (size_t i = 0; i < s->watched.n;) {
		struct pollfd p = { .fd = s->watched.at[i], .events = POLLIN };

		if (p.fd == s->signals || poll(&p, 1, 0) <= 0) {
			i++;
			continue;
		}
		close(p.fd);
		s->watched.at[i] = s->watched.at[--s->watched.n];
	}
}

/* Takes note of signals: the command's end, or that we shall end. */
static void read_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (s->signals >= 0 && read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* What comes from the terminal reaches the command, too; what is meant for us is passed on. */
		if (s->launch && !s->told && s->status == -1) {
			if (info.ssi_code != SI_KERNEL)
				kill(launch_pid(s->launch), (int)info.ssi_signo);
			s->told = true;
			continue;
		}
		s->end_ms = 0;
	}
	if (s->launch && s->status == -1)
		waitpid(launch_pid(s->launch), &s->status, WNOHANG);
}

static bool is_over(struct session *s)
{
	read_signals(s);
	if (now_ms() >= s->end_ms || cpu_recording_stats(s->recording).n_bytes >= s->max_bytes)
		return true;
	if (s->launch && (s->status != -1 || !s->timed))
		return s->status != -1;
	forget_ended(s);
	return s->pids.n + s->tids.n > 0 && !any_there(s);
}

static void say_stacks(const struct chain_stats *c)
{
	char percent[FMT_SIZE];

	if (c->n_by_end[WALK_TRUNCATED] * 100 > c->n_walked)
		say("%s %% of the stacks were deeper than what was copied of them, and end with [truncated]; --call-graph unwound,%u copies more",
		    fmt_percent(percent, (int64_t)c->n_by_end[WALK_TRUNCATED],
				(int64_t)c->n_walked),
		    STACK_MAX);
}

static void say_result(const struct session *s)
{
	struct cpu_recording_stats stats = cpu_recording_stats(s->recording);
	char n[FMT_SIZE], samples[FMT_COUNTED_SIZE], bytes[FMT_SIZE], *heap;

	say_stacks(&stats.chains);
	if (stats.n_lost > 0)
		say("%s records found no room in the kernel's rings and are lost: fewer samples a second (-F) or smaller copies of stacks (--call-graph) take less",
		    fmt_count(n, (int64_t)stats.n_lost));
	heap = s->heap ? heap_beside_text(s->heap, launch_pid(s->launch), s->status) : NULL;
	say("recorded %s, %s, %s%s%sin %s",
	    fmt_counted(samples, (int64_t)stats.n_samples, "sample"),
	    fmt_bytes(bytes, (int64_t)stats.n_bytes), heap ? "and " : "", heap ? heap : "",
	    heap ? ", " : "", file_name(s));
	free(heap);
}

static enum status command_status(struct session *s)
{
	if (!s->launch)
		return STATUS_GOOD;
	/* What nobody watches any more is of no use. */
	if (s->o->live && s->status == -1)
		kill(launch_pid(s->launch), SIGTERM);
	while (s->status == -1 && waitpid(launch_pid(s->launch), &s->status, 0) < 0 &&
	       errno == EINTR)
		;
	return (enum status)(WIFEXITED(s->status) ? WEXITSTATUS(s->status)
						  : 128 + WTERMSIG(s->status));
}

/* There is no recording after all: the file goes, and what was in its place comes back. */
static void leave_place(struct session *s)
{
	if (s->heap)
		heap_beside_unmake(s->heap);
	else if (!is_pipe(s))
		unlink(s->options.path);
	record_place_undo(&s->place);
}

/* From the first sample to the last. */
static enum status run(struct session *s)
{
	struct err e = ERR_INIT;
	enum status refused = STATUS_UNUSABLE;
	int rc = cpu_recording_start(s->recording, &e);

	if (rc == 0 && s->launch) {
		rc = launch_go(s->launch, &e);
		refused = rc == -ENOENT ? (enum status)127 : (enum status)126;
	}
	if (rc) {
		leave_place(s);
		return say_error(&e, refused);
	}
	record_place_keep(&s->place);
	if (!s->launch)
		say("recording to %s; Ctrl-C ends it", file_name(s));
	s->end_ms = s->ms ? now_ms() + s->ms : UINT64_MAX;
	while (rc == 0 && !is_over(s))
		rc = cpu_recording_turn(s->recording, s->watched.at, s->watched.n, TURN_MS, &e);
	if (rc == 0)
		rc = cpu_recording_end(s->recording, &e);
	if (rc) {
		say("recording ends: %s", err_text(&e));
		err_clear(&e);
	}
	if (s->heap && s->status == -1)
		heap_beside_end(launch_pid(s->launch));
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
		return record_place_check(path);
	if (isatty(STDOUT_FILENO))
		say("a recording is no text for a terminal: -o FILE, or pipe it: proftop record -o - … | proftop live -");
	return !isatty(STDOUT_FILENO);
}

/* Everything that can be refused is asked for before anything is moved. */
static enum status open_all(struct session *s)
{
	struct err e = ERR_INIT;

	if (cpu_recording_open(&s->options, &s->recording, &e)) {
		say_error(&e, STATUS_UNUSABLE);
		if (s->heap)
			say("the heap alone can be recorded: proftop record --heap -- %s",
			    s->o->files.at[0]);
		return STATUS_UNUSABLE;
	}
	if (!is_pipe(s) && !record_place_clear(&s->place, s->output))
		return STATUS_USAGE;
	if (s->heap && !heap_beside_make(s->heap)) {
		record_place_undo(&s->place);
		return STATUS_USAGE;
	}
	if (cpu_recording_make_file(s->recording, &s->options, &e)) {
		leave_place(s);
		return say_error(&e, STATUS_UNUSABLE);
	}
	return STATUS_GOOD;
}

static enum status begin(struct session *s)
{
	const char *const *remarks;
	enum status status;
	size_t n;

	if (!check_place(s->output) || !start_command(s))
		return STATUS_USAGE;
	/* Whoever reads may go: that is an error of writing. The command has its own way already. */
	signal(SIGPIPE, SIG_IGN);
	s->options.sampler.pids = s->pids.at;
	s->options.sampler.n_pids = s->pids.n;
	s->options.sampler.tids = s->tids.at;
	s->options.sampler.n_tids = s->tids.n;
	/* Opening may take its time: who ends it meanwhile gets a whole file, too. */
	watch(s);
	status = open_all(s);
	if (status != STATUS_GOOD)
		return status;
	remarks = cpu_recording_remarks(s->recording, &n);
	for (size_t i = 0; i < n; i++)
		say("%s", remarks[i]);
	return run(s);
}

enum status record_cpu(const struct options *o)
{
	struct session s = { .o = o, .signals = -1, .status = -1 };
	enum status status = STATUS_USAGE;

	if (take_options(&s) && take_heap(&s))
		status = begin(&s);
	cpu_recording_free(s.recording);
	launch_free(s.launch);
	heap_beside_free(s.heap);
	for (size_t i = 0; i < s.watched.n; i++)
		close(s.watched.at[i]);
	event_specs_done(&s.events);
	vec_done(&s.command);
	vec_done(&s.pids);
	vec_done(&s.tids);
	vec_done(&s.watched);
	return status;
}
