/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder as a process of ours; see live_recorder.h. */
#include "config.h"

#include "cli/live/live_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "cli/live/live_output.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/scratch.h"
#include "cli/record/live_command.h"
#include "cli/record/record_job.h"
#include "heaptrace/heap_wire.h"

#define NAME_COLS  200 /* of a control group, or of a list of cpus */
#define LOOK_MS    20
#define TRACE      "data.heap" /* the first of them, see dir_parts.h */
#define PIPE_BYTES (1 << 20)   /* so much may wait while the screen is being made */
#define COMMAND_MS 60          /* a command that cannot be started is known by then */
/* A command that was told to end may take so long; a process whose heap is recorded is always waited for. */
#define END_MS     3000
/* The threads of one that was killed go within it. */
#define LEFT_MS    1000

/* Traces of heaps may take this part of what is left on their disk, and no more than so many bytes, until they are read. */
#define SCRATCH_PART 4
#define SCRATCH_MOST (UINT64_C(4) << 30)

struct live_recorder {
	const struct options *o; /* borrowed */
	char *name;              /* of what is recorded; owned */
	/* of what is recorded; without a path: CPU samples alone, through a pipe */
	struct scratch place;
	int reader, writer;           /* the pipe's ends, as far as they are ours; -1: none */
	char *path;                   /* what is to be read; owned */
	pid_t pid;                    /* 0: it has ended */
	int status;                   /* then, as waitpid(2) has it */
	struct live_command *command; /* shared with the recorder */
	int direct; /* standard output, where that is no terminal; -1: it is one */
	struct live_output *out, *log; /* what the command and the recorder wrote */
};

/* Are both kinds recorded? Then to a directory in ours, which is one recording. */
static bool is_both(const struct options *o)
{
	return o->cpu && o->heap;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void nap(void)
{
	const struct timespec t = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&t, NULL);
}

/* Where no process was named; no longer than names of files may be. The caller frees. */
static char *place_name(const struct options *o)
{
	const char *cpus = o->cpus, *slash = o->cgroup ? strrchr(o->cgroup, '/') : NULL;

	if (o->cgroup)
		return xasprintf("cgroup %.*s", NAME_COLS,
				 slash && slash[1] ? slash + 1 : o->cgroup);
	if (cpus)
		return xasprintf("%s %.*s", cpus[strcspn(cpus, ",-")] ? "cpus" : "cpu", NAME_COLS,
				 cpus);
	return xstrdup("everything");
}

/* It is what the screen shows first, and a file is called by it. The caller frees. */
static char *target_name(const struct options *o)
{
	const char *one = o->attach ? o->attach : o->tasks;
	struct process_state s;
	const char *slash;
	char *out;

	if (o->files.n > 0) {
		slash = strrchr(o->files.at[0], '/');
		return xstrdup(slash && slash[1] ? slash + 1 : o->files.at[0]);
	}
	if (one && strchr(one, ','))
		return xstrdup(o->attach ? "processes" : "threads");
	if (one) {
		process_read(atoi(one), &s); /* it knows threads by their numbers, too */
		out = xasprintf("%s (%s%d)", *s.name ? s.name : "process",
				o->attach ? "" : "thread ", atoi(one));
	} else {
		out = place_name(o);
	}
	for (char *at = out; *at; at++)
		if (*at == '/')
			*at = '_';
	return out;
}

/*
 * In the child: is there nobody who reads, and who would clean up? Whoever told us to end does not read any more. A
 * viewer that is killed goes thread by thread, and is our parent until the last one has gone.
 */
static bool is_left(pid_t viewer)
{
	struct sigaction term;

	/* That is how a recorder of a command is left when it was told. */
	if (sigaction(SIGTERM, NULL, &term) == 0 && term.sa_handler == SIG_IGN)
		return true;
	for (int ms = 0; getppid() == viewer && ms < LEFT_MS; ms += LOOK_MS)
		nap();
	return getppid() != viewer;
}

/* Is there input for the command? Keys of the terminal are ours, which are read from /dev/tty then. */
static bool has_input(const struct options *o)
{
	return o->files.n > 0 && fcntl(STDIN_FILENO, F_GETFD) >= 0 && !isatty(STDIN_FILENO);
}

/* Where the command writes: the screen is ours, anything else is its own. */
static int command_out(const struct live_recorder *r)
{
	return r->direct >= 0 ? r->direct : live_output_fd(r->out);
}

/*
 * What a trace may take of the disk with what was not read yet, where the user does not say it: a part of what is left
 * there, as others want some too. The caller frees.
 */
static char *scratch_size(const char *directory)
{
	uint64_t most = SCRATCH_MOST, left;
	struct statvfs fs;

	if (statvfs(directory, &fs) == 0) {
		left = (uint64_t)fs.f_bavail * fs.f_frsize / SCRATCH_PART;
		most = left < most ? left : most;
	}
	most = most > HEAP_SIZE_LEAST ? most : HEAP_SIZE_LEAST;
	return xasprintf("%" PRIu64 "k", most >> 10);
}

/* In the child: records, and never returns. */
static _Noreturn void record(struct live_recorder *r, pid_t viewer)
{
	struct record_job job = {
		.o = r->o,
		.max_size = r->o->max_size,
		.live = true,
		.command_out = command_out(r),
		.command = r->command,
	};
	enum status status;
	int null = has_input(r->o) ? -1 : open("/dev/null", O_RDONLY);

	/* A group of its own: keys of the terminal are ours. It ends with us, however that happens. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(r->place.path ? job.command_out : r->writer, STDOUT_FILENO);
	dup2(live_output_fd(r->log), STDERR_FILENO);
	/* Or it would not hear that nobody reads any more. */
	drop(&r->reader);
	drop(&r->writer);
	signal(SIGPIPE, SIG_DFL);
	job.output = !r->place.path  ? "-"
		     : is_both(r->o) ? xasprintf("%s/%s", r->place.path, r->name)
				     : xasprintf("%s/" TRACE, r->place.path);
	if (r->place.path && !job.max_size)
		job.max_size = scratch_size(r->place.path);
	status = record_run(&job);
	if (r->place.path && is_left(viewer))
		scratch_remove(&r->place);
	_exit((int)status);
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
	return r->pid == 0 && atomic_load(&r->command->pid) == 0 && WIFEXITED(r->status) &&
	       WEXITSTATUS(r->status) >= 126;
}

/* Does anybody have it open for writing? A program that became another one has not: that has a trace of its own. */
static bool has_writer(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool none = fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;

	if (fd >= 0)
		close(fd);
	return !none;
}

/* The first trace, where all are shown: those before the one that is read first are not. */
static bool has_first_trace(struct live_recorder *r)
{
	char *path = xasprintf("%s/" TRACE, r->place.path);
	struct stat st;

	if (stat(path, &st) || st.st_size == 0) {
		free(path);
		return false;
	}
	free(r->path);
	r->path = path;
	return true;
}

/* The trace that was written to last is what is shown, and those that come after it. */
static bool has_last_trace(struct live_recorder *r)
{
	DIR *d = opendir(r->place.path);
	struct timespec last = { 0 };
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *path = xasprintf("%s/%s", r->place.path, entry->d_name);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
		    (st.st_mtim.tv_sec > last.tv_sec ||
		     (st.st_mtim.tv_sec == last.tv_sec && st.st_mtim.tv_nsec >= last.tv_nsec))) {
			last = st.st_mtim;
			free(r->path);
			r->path = path;
			path = NULL;
		}
		free(path);
	}
	if (d)
		closedir(d);
	return last.tv_sec > 0;
}

static bool has_begun(struct live_recorder *r)
{
	struct pollfd pipe = { .fd = r->reader, .events = POLLIN };
	struct stat st;
	char *data;
	bool begun;

	if (!r->place.path)
		return poll(&pipe, 1, 0) > 0 && pipe.revents & POLLIN;
	if (is_both(r->o)) {
		data = xasprintf("%s/data", r->path);
		begun = stat(data, &st) == 0 && st.st_size > 0;
		free(data);
		return begun;
	}
	if (r->o->children)
		return has_first_trace(r);
	return has_last_trace(r) && (r->pid == 0 || has_writer(r->path));
}

/* There is something to be read, or there never will be. */
static bool wait_file(struct live_recorder *r)
{
	int ms = 0;

	for (;;) {
		bool ended = has_ended(r), begun = has_begun(r);

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

static struct live_recorder *fail(struct live_recorder *r, struct err *e)
{
	message_error(e, STATUS_USAGE);
	live_recorder_free(r);
	return NULL;
}

/* Where traces of heaps go. */
static int make_directory(struct live_recorder *r, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	int rc = scratch_make(&r->place, tmp && *tmp ? tmp : "/tmp", "proftop-live-", e);

	if (rc)
		return rc;
	if (is_both(r->o))
		r->path = xasprintf("%s/%s", r->place.path, r->name);
	return 0;
}

static int make_pipe(struct live_recorder *r, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_set(e, -errno, "no pipe from the recorder: %s", strerror(errno));
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* or as large as it is */
	r->reader = ends[0];
	r->writer = ends[1];
	r->path = xasprintf("/dev/fd/%d", r->reader);
	return 0;
}

/* Both have it, on this side of fork(2) and on that. */
static int share_command(struct live_recorder *r, struct err *e)
{
	void *shared = mmap(NULL, sizeof(*r->command), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return err_set(e, -errno, "no memory to share with the recorder: %s",
			       strerror(errno));
	r->command = shared;
	atomic_init(&r->command->pid, 0);
	atomic_init(&r->command->status, LIVE_GOES_ON);
	return 0;
}

static int make_files(struct live_recorder *r, struct err *e)
{
	int rc = r->o->heap ? make_directory(r, e) : make_pipe(r, e);

	if (rc)
		return rc;
	if (!isatty(STDOUT_FILENO))
		r->direct = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	r->out = live_output_new("what the command writes", e);
	r->log = r->out ? live_output_new("what the recorder says", e) : NULL;
	return r->log ? share_command(r, e) : -EIO;
}

struct live_recorder *live_recorder_start(const struct options *o, enum status *status)
{
	struct live_recorder *r = xcalloc(1, sizeof(*r));
	struct err e = ERR_INIT;
	pid_t viewer = getpid();

	*status = STATUS_USAGE;
	r->o = o;
	r->direct = r->reader = r->writer = -1;
	r->name = target_name(o);
	if (make_files(r, &e))
		return fail(r, &e);
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0)
		record(r, viewer);
	if (r->pid < 0) {
		r->pid = 0;
		err_set(&e, -errno, "no process for the recorder: %s", strerror(errno));
		return fail(r, &e);
	}
	drop(&r->writer);
	live_output_bound(r->out);
	live_output_bound(r->log);
	if (wait_file(r))
		return r;
	*status = WIFEXITED(r->status) && WEXITSTATUS(r->status)
			  ? (enum status)WEXITSTATUS(r->status)
			  : STATUS_UNUSABLE;
	live_recorder_free(r);
	return NULL;
}

const char *live_recorder_name(const struct live_recorder *r)
{
	return r->name;
}

const char *live_recorder_path(const struct live_recorder *r)
{
	return r->path;
}

int live_recorder_pid(const struct live_recorder *r)
{
	return (int)r->pid;
}

const struct live_command *live_recorder_command(const struct live_recorder *r)
{
	return r->o->files.n > 0 ? r->command : NULL;
}

/* Tells the recorder to end, and its command too. Nobody reads any more: it need not wait for that. */
static void end(struct live_recorder *r)
{
	bool command = r->o->files.n > 0;

	if (has_ended(r))
		return;
	kill(command ? -r->pid : r->pid, SIGTERM);
	kill(command ? -r->pid : r->pid, SIGCONT);
	drop(&r->reader);
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
	if (r->out)
		live_output_print(r->out, stdout, NULL);
	if (r->log)
		live_output_print(r->log, stderr,
				  r->place.path ? r->place.path : "standard output");
	scratch_remove(&r->place);
	if (r->command)
		munmap(r->command, sizeof(*r->command));
	live_output_free(r->out);
	live_output_free(r->log);
	drop(&r->direct);
	drop(&r->reader);
	drop(&r->writer);
	free(r->name);
	free(r->path);
	free(r);
}
