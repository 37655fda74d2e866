/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proftop record: of CPU samples see record_cpu.h; with --heap it runs a command with the heap tracer preloaded, and
 * says where its trace is. The command sees the standard streams, signals and environment that it would see without us, but for what the
 * tracer needs, and its exit status is ours.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "mem.h"
#include "options.h"
#include "record_cpu.h"
#include "record_running.h"
#include "record_traces.h"
#include "say.h"

#define LIBRARY        "libproftop-heap.so"
#define NOT_EXECUTABLE 126 /* as shells say it */
#define NOT_FOUND      127

struct recording {
	const struct options *o;
	char *library;
	char *output; /* absolute; NULL: by the command's name and number */
	char *log;    /* a file of our own */
	pid_t pid;    /* of the command; 0: not run yet */
};

/* The directory of this program's file with a '/' at its end; the caller frees. */
static char *own_directory(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	while (n > 0 && path[n - 1] != '/')
		n--;
	return xstrndup(path, n > 0 ? (size_t)n : 0);
}

/* The tracer: beside this program (in a build directory), in ../lib/proftop, or where it was installed. */
static char *find_library(void)
{
	char *directory = own_directory();
	char *places[] = { xasprintf("%s" LIBRARY, directory),
			   xasprintf("%s../lib/proftop/" LIBRARY, directory),
			   xstrdup(PKGLIBDIR "/" LIBRARY) };
	char *found = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!found && access(places[i], R_OK) == 0)
			found = places[i];
		else
			free(places[i]);
	}
	free(directory);
	return found;
}

/* The path from the root; the caller frees. */
static char *absolute(const char *path)
{
	char directory[PATH_MAX];

	if (*path == '/' || !getcwd(directory, sizeof(directory)))
		return xstrdup(path);
	return xasprintf("%s/%s", directory, path);
}

static void set_number(const char *name, long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", v);
	setenv(name, text, 1);
}

/* What the tracer finds in its environment. In the child. */
static void set_environment(const struct recording *r)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload = others && *others ? xasprintf("%s:%s", r->library, others)
					  : xstrdup(r->library);

	setenv("LD_PRELOAD", preload, 1);
	free(preload);
	setenv("PROFTOP_LOGFILE", r->log, 1);
	if (r->output)
		setenv("PROFTOP_OUTPUT", r->output, 1);
	if (r->o->free_stacks)
		setenv("PROFTOP_FREE_STACKS", "1", 1);
	if (r->o->sample)
		setenv("PROFTOP_SAMPLE", r->o->sample, 1);
	if (r->o->max_overhead)
		setenv("PROFTOP_MAX_OVERHEAD", r->o->max_overhead, 1);
	if (r->o->cull)
		setenv("PROFTOP_CULL", r->o->cull, 1);
	if (r->o->max_size)
		setenv("PROFTOP_MAX_SIZE", r->o->max_size, 1);
	if (r->o->keep)
		setenv("PROFTOP_KEEP", r->o->keep, 1);
	if (r->o->children)
		setenv("PROFTOP_CHILDREN", "1", 1);
	else
		set_number("PROFTOP_ONLY_PID", (long)getpid());
}

static _Noreturn void become(const struct recording *r)
{
	const struct options *o = r->o;
	char **argv = xcalloc(o->files.n + 1, sizeof(*argv));

	for (size_t i = 0; i < o->files.n; i++)
		argv[i] = xstrdup(o->files.at[i]);
	set_environment(r);
	execvp(argv[0], argv);
	say("%s: %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Waits for the command's end, and passes on to it that it shall end. */
static int stand_by(pid_t pid, const sigset_t *signals)
{
	int status = -1, signal;
	bool told = false;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
		if (sigwait(signals, &signal) == 0 && signal == SIGTERM) {
			kill(pid, SIGTERM);
			told = true;
		}
	/* Said twice, it is not to keep us from telling of the trace. */
	if (told)
		sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	return status;
}

/* Runs the command to its end; the status of waitpid(2), or -1. */
static int run_command(struct recording *r)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	struct sigaction before[3];
	sigset_t signals, mask;
	int status = -1;
	pid_t pid;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	/* Whoever started us may not want to hear of children; we do. */
	sigaction(SIGCHLD, &usual, &before[2]);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGCHLD, &before[2], NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		become(r);
	}
	if (pid < 0)
		return -1;
	r->pid = pid;
	/* Keys that end the command leave us to tell of its trace. */
	sigaction(SIGINT, &ignore, &before[0]);
	sigaction(SIGQUIT, &ignore, &before[1]);
	status = stand_by(pid, &signals);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGQUIT, &before[1], NULL);
	sigaction(SIGCHLD, &before[2], NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}

/* Says what the tracer's log says; false: nothing. */
static bool say_log(const struct recording *r)
{
	FILE *f = fopen(r->log, "r");
	struct record_traces traces = { 0 };
	char *line = NULL;
	bool said = false;
	size_t room = 0;
	ssize_t len;

	while (f && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		said = true;
		if (!record_traces_take(&traces, line))
			say("%s", strncmp(line, "proftop: ", 9) == 0 ? line + 9 : line);
	}
	record_traces_say(&traces, r->pid);
	record_traces_done(&traces);
	free(line);
	if (f)
		fclose(f);
	return said;
}

static enum status record_heap(struct recording *r)
{
	char log[] = "/tmp/proftop-log-XXXXXX";
	int fd, status;

	if (r->output)
		record_traces_make_way(r->output);
	if (r->output && !record_make_way(r->output))
		return STATUS_USAGE;
	fd = mkstemp(log);
	if (fd < 0) {
		say("%s: %s", log, strerror(errno));
		return STATUS_USAGE;
	}
	close(fd);
	r->log = log;
	status = run_command(r);
	if (!say_log(r) && !(WIFEXITED(status) && WEXITSTATUS(status) >= NOT_EXECUTABLE))
		say("nothing was recorded; the heap of programs that are statically linked, or that run with the rights of others (setuid), cannot be: the loader does not let a library in; one that is built with the address sanitizer wants ASAN_OPTIONS=verify_asan_link_order=0");
	unlink(log);
	if (status == -1)
		return STATUS_USAGE;
	/* A command killed by a signal is told of as shells tell it. */
	return (enum status)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* A number of bytes as the tracer takes it, or none; says so if it is something else. */
static bool is_size(const char *option, const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text || (digits && digits < 10 &&
		      (!text[digits] || (strchr("kKMG", text[digits]) && !text[digits + 1]))))
		return true;
	say("%s wants a number of bytes, such as 512k, 10M or 1G, not \"%s\"", option, text);
	return false;
}

/* A time as the tracer takes it, or none; says so if it is something else. */
static bool is_time(const char *option, const char *text)
{
	static const char *const units[] = { "", "ns", "us", "ms", "s" };
	size_t digits = text ? strspn(text, "0123456789") : 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!text || (digits && digits < 10 && strcmp(text + digits, units[i]) == 0))
			return true;
	say("%s wants a time, such as 100us or 10ms, not \"%s\"", option, text);
	return false;
}

/* A part of a hundred as the tracer takes it, or none; says so if it is something else. */
static bool is_percent(const char *option, const char *text)
{
	size_t whole = text ? strspn(text, "0123456789") : 0, n = whole;

	if (!text)
		return true;
	if (text[n] == '.')
		n += 1 + strspn(text + n + 1, "0123456789");
	if (whole && whole < 4 && strspn(text, "0.") < n &&
	    (!text[n] || strcmp(text + n, "%") == 0))
		return true;
	say("%s wants a part of a hundred, such as 5%% or 0.5%%, not \"%s\"", option, text);
	return false;
}

static bool are_good(const struct options *o)
{
	if (!is_size("--sample", o->sample) || !is_size("--max-size", o->max_size) ||
	    !is_time("--cull", o->cull) || !is_percent("--max-overhead", o->max_overhead))
		return false;
	if (o->keep && strcmp(o->keep, "newest") != 0 && strcmp(o->keep, "oldest") != 0) {
		say("--keep wants newest or oldest, not \"%s\"", o->keep);
		return false;
	}
	if (o->keep && !o->max_size) {
		say("--keep says what stays of a trace that may not become larger: --max-size says how large");
		return false;
	}
	if (o->cull && (o->sample || o->max_overhead)) {
		say("--cull and %s cannot both be: what sampling leaves out cannot be counted",
		    o->sample ? "--sample" : "--max-overhead");
		return false;
	}
	return true;
}

/* Is anything asked for that only recordings of CPU samples have? */
static bool of_cpu(const struct options *o)
{
	return o->freq || o->count || o->events.n > 0 || o->call_graph || o->off_cpu ||
	       o->all_cpus || o->cpus || o->tasks || o->cgroup || o->compress;
}

static enum status record(const struct options *o)
{
	struct recording r = { .o = o };
	enum status status;

	if (o->cpu && o->heap) {
		say("--cpu and --heap at once are not recorded yet: one of them, or two recordings");
		return STATUS_USAGE;
	}
	if (!o->heap)
		return record_cpu(o);
	if (of_cpu(o)) {
		say("--freq, --count, --event, --call-graph, --off-cpu, --all-cpus, --cpus, --task, --cgroup and --compress are for CPU samples: without --heap");
		return STATUS_USAGE;
	}
	if (o->attach ? o->files.n != 0 : o->files.n == 0) {
		say("record wants a command or a process: proftop record --heap -- COMMAND, or proftop record --heap -p PID");
		return STATUS_USAGE;
	}
	if (o->duration && !o->attach) {
		say("--duration is for processes that run already: with -p PID");
		return STATUS_USAGE;
	}
	if (!are_good(o))
		return STATUS_USAGE;
	r.library = find_library();
	if (!r.library) {
		say("the heap tracer %s is neither beside this program nor in %s", LIBRARY,
		    PKGLIBDIR);
		return STATUS_USAGE;
	}
	if (o->output)
		r.output = absolute(o->output);
	status = o->attach ? record_running(o, r.library, r.output) : record_heap(&r);
	free(r.output);
	free(r.library);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.synopsis =
		"[--cpu | --heap] [-o FILE] -- COMMAND…, or [--cpu | --heap] [-o FILE] -p PID, or -a",
	.summary =
		"Records what a command, running processes or a whole machine do with the CPU, or with --heap every\nallocation and free, with stacks.",
	.verb = ON_RECORD,
	.run = record,
};
