/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder as a process of ours; see live_recorder.h. */
#include "config.h"

#include "live_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "mem.h"
#include "options.h"
#include "say.h"
#include "unnamed.h"

#define LOOK_MS    20
#define COMMAND_MS 60 /* a command that cannot be started is known by then */
/* A command that was told to end may take so long; a process whose heap is recorded is always waited for. */
#define END_MS     3000

struct live_recorder {
	const struct options *o; /* borrowed */
	char *directory;         /* of the file; owned */
	char *path;              /* owned */
	pid_t pid;               /* 0: it has ended */
	int status;              /* then, as waitpid(2) has it */
	int out, log;            /* what the command and the recorder wrote */
};

static void nap(void)
{
	const struct timespec t = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&t, NULL);
}

/* The name of a process, from what the kernel says of it; "" when it is gone. *state as ps shows it. */
static void read_process(int pid, char name[32], char *state)
{
	char path[64], line[512], *open, *close;
	FILE *f;

	*name = '\0';
	*state = 'X';
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		open = strchr(line, '(');
		close = strrchr(line, ')');
		if (open && close && close > open && close[1] == ' ') {
			snprintf(name, 32, "%.*s", (int)(close - open - 1), open + 1);
			*state = close[2];
		}
	}
	if (f)
		fclose(f);
}

void live_target_text(int pid, char *out, size_t size)
{
	char name[32], state;

	read_process(pid, name, &state);
	if (strchr("XZ", state))
		snprintf(out, size, "%d exited", pid);
	else
		snprintf(out, size, "%s (%d)%s", name, pid, strchr("Tt", state) ? " stopped" : "");
}

/* What the file is called: it is what the screen shows first. The caller frees. */
static char *target_name(const struct options *o)
{
	const char *slash;
	char name[32], state, *out;
	int pid;

	if (o->files.n > 0) {
		slash = strrchr(o->files.at[0], '/');
		return xstrdup(slash && slash[1] ? slash + 1 : o->files.at[0]);
	}
	pid = o->attach ? atoi(o->attach) : 0;
	if (!pid)
		return xstrdup(o->tasks ? "threads" : o->cgroup ? "cgroup" : "everything");
	read_process(pid, name, &state);
	out = xasprintf("%s (%d)", *name ? name : "process", pid);
	for (char *at = out; *at; at++)
		if (*at == '/')
			*at = '_';
	return out;
}

/* In the child: records, and never returns. */
static _Noreturn void record(const struct live_recorder *r)
{
	struct options o = *r->o;
	int null = open("/dev/null", O_RDONLY);

	/* A group of its own: keys of the terminal are ours. It ends with us, however that happens. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(null, STDIN_FILENO);
	dup2(r->out, STDOUT_FILENO);
	dup2(r->log, STDERR_FILENO);
	signal(SIGPIPE, SIG_DFL);
	o.command = &cmd_record;
	o.output = r->path;
	o.live = true;
	_exit((int)cmd_record.run(&o));
}

static bool has_ended(struct live_recorder *r)
{
	if (r->pid && waitpid(r->pid, &r->status, WNOHANG) == r->pid)
		r->pid = 0;
	return r->pid == 0;
}

/* Did it end because there is no such command? As shells say it. */
static bool has_no_command(const struct live_recorder *r)
{
	return r->pid == 0 && WIFEXITED(r->status) && WEXITSTATUS(r->status) >= 126;
}

/* The file has something in it, or it never will. */
static bool wait_file(struct live_recorder *r)
{
	struct stat st;
	int ms = 0;

	for (;;) {
		bool ended = has_ended(r), begun = stat(r->path, &st) == 0 && st.st_size > 0;

		if (has_no_command(r))
			return false;
		/* It begins before the command is tried. */
		if (begun && (ended || r->o->files.n == 0 || ms >= COMMAND_MS))
			return true;
		if (ended)
			return false;
		nap();
		ms += begun ? LOOK_MS : 0;
	}
}

/* Copies what was written to fd, but for lines with the text without. */
static void put_lines(int fd, FILE *to, const char *without)
{
	FILE *f = lseek(fd, 0, SEEK_SET) == 0 ? fdopen(dup(fd), "r") : NULL;
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (!without || !strstr(line, without))
			fputs(line, to);
	free(line);
	if (f)
		fclose(f);
}

static struct live_recorder *fail(struct live_recorder *r, struct err *e)
{
	say_error(e, STATUS_USAGE);
	live_recorder_free(r);
	return NULL;
}

static int make_files(struct live_recorder *r, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *name;

	r->directory = xasprintf("%s/proftop-live-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->directory)) {
		int why = errno;

		free(r->directory);
		r->directory = NULL;
		return err_set(e, -why, "no place for a recording in %s: %s",
			       tmp && *tmp ? tmp : "/tmp", strerror(why));
	}
	name = target_name(r->o);
	r->path = xasprintf("%s/%s", r->directory, name);
	free(name);
	r->out = unnamed_open("what the command writes", e);
	r->log = r->out < 0 ? r->out : unnamed_open("what the recorder says", e);
	return r->log < 0 ? r->log : 0;
}

struct live_recorder *live_recorder_start(const struct options *o, enum status *status)
{
	struct live_recorder *r = xcalloc(1, sizeof(*r));
	struct err e = ERR_INIT;

	*status = STATUS_USAGE;
	r->o = o;
	r->out = r->log = -1;
	if (make_files(r, &e))
		return fail(r, &e);
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0)
		record(r);
	if (r->pid < 0) {
		r->pid = 0;
		err_set(&e, -errno, "no process for the recorder: %s", strerror(errno));
		return fail(r, &e);
	}
	if (wait_file(r))
		return r;
	*status = WIFEXITED(r->status) && WEXITSTATUS(r->status)
			  ? (enum status)WEXITSTATUS(r->status)
			  : STATUS_UNUSABLE;
	live_recorder_free(r);
	return NULL;
}

const char *live_recorder_path(const struct live_recorder *r)
{
	return r->path;
}

int live_recorder_pid(const struct live_recorder *r)
{
	return (int)r->pid;
}

int live_recorder_target(const struct live_recorder *r)
{
	char path[64];
	int pid = 0;
	FILE *f;

	if (r->o->attach)
		return strchr(r->o->attach, ',') ? 0 : atoi(r->o->attach);
	if (r->o->files.n == 0 || !r->pid)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)r->pid, (int)r->pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

/* Tells the recorder to end, and its command too. */
static void end(struct live_recorder *r)
{
	bool command = r->o->files.n > 0;

	if (has_ended(r))
		return;
	kill(command ? -r->pid : r->pid, SIGTERM);
	kill(command ? -r->pid : r->pid, SIGCONT);
	for (int ms = 0; !has_ended(r) && (!command || ms < END_MS); ms += LOOK_MS)
		nap();
	if (has_ended(r))
		return;
	kill(-r->pid, SIGKILL);
	waitpid(r->pid, &r->status, 0);
	r->pid = 0;
}

void live_recorder_free(struct live_recorder *r)
{
	if (!r)
		return;
	end(r);
	if (r->out >= 0)
		put_lines(r->out, stdout, NULL);
	if (r->log >= 0)
		put_lines(r->log, stderr, r->directory);
	if (r->path)
		unlink(r->path);
	if (r->directory)
		rmdir(r->directory);
	if (r->out >= 0)
		close(r->out);
	if (r->log >= 0)
		close(r->log);
	free(r->path);
	free(r->directory);
	free(r);
}
