/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer writes to a log of ours what would be lost among what the command says. */
#include "config.h"

#include "cli/record/heap_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/options/scratch.h"
#include "cli/record/heap_library.h"
#include "cli/record/heap_refusal.h"
#include "cli/record/heap_settings.h"
#include "cli/record/record_job.h"
#include "cli/record/record_traces.h"
#include "record/attach/attach.h"
#include "record/attach/heap_salvage.h"

struct heap_launch {
	const struct record_job *job; /* borrowed */
	struct heap_library library;
	char *output;           /* NULL: by the command's name and number; owned */
	struct scratch scratch; /* where the log is: when it went, nobody makes the log anew */
	char *log;              /* owned */
	uint64_t oom_kills;     /* before the command began */
	uint64_t begun_ns;      /* since 1970 */
};

/* n bytes that nobody guesses; kernels before 3.17 have them in a file only. */
static bool random_bytes(void *to, size_t n)
{
	ssize_t got = getrandom(to, n, 0);

	if (got < 0 && errno == ENOSYS) {
		int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return false;
		got = read(fd, to, n);
		close(fd);
	}
	return got == (ssize_t)n;
}

/*
 * The command may become another user, who writes to the log, too. Other users of the machine may not: they can pass through the
 * directory, but not list it, and do not know the log's name.
 */
static int make_log(struct heap_launch *l, struct err *e)
{
	uint64_t secret[2];
	int fd;

	if (!random_bytes(secret, sizeof(secret)))
		return err_set(e, -EIO, "no random name for a log: %s", strerror(errno));
	l->log = xasprintf("%s/log-%016" PRIx64 "%016" PRIx64, l->scratch.path, secret[0],
			   secret[1]);
	fd = open(l->log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0666) || chmod(l->scratch.path, 0711)) {
		err_set(e, -errno, "%s: %s", l->log, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	close(fd);
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* With twice as many there would be no memory for what outlives the command. */
#define MOST_LEFT 8u

/* What killed programs left in memory goes where it belongs. */
static void complete_others(void)
{
	char traces[FMT_COUNTED_SIZE];
	size_t n = heap_salvage_left(MOST_LEFT);

	if (n > 0)
		message("completed %s of killed programs, whose memory is free again",
			fmt_counted(traces, (int64_t)n, "trace"));
}

struct heap_launch *heap_launch_new(const struct record_job *j, const char *output)
{
	struct heap_launch *l = xcalloc(1, sizeof(*l));
	struct err e = ERR_INIT;

	*l = (struct heap_launch){ .job = j,
				   .oom_kills = record_traces_oom_kills(),
				   .begun_ns = now_ns() };
	if (!heap_library_take(&l->library)) {
		heap_launch_free(l);
		return NULL;
	}
	complete_others();
	l->output = output ? xstrdup(output) : NULL;
	if (scratch_make(&l->scratch, "/tmp", "proftop-record-", &e) || make_log(l, &e)) {
		message_error(&e, STATUS_USAGE);
		heap_launch_free(l);
		return NULL;
	}
	return l;
}

void heap_launch_free(struct heap_launch *l)
{
	if (!l)
		return;
	scratch_remove(&l->scratch);
	heap_library_release(&l->library);
	free(l->output);
	free(l->log);
	free(l);
}

static void set(void *arg, const char *name, const char *value)
{
	(void)arg;
	setenv(name, value, 1);
}

void heap_launch_environment(const struct heap_launch *l)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload = others && *others ? xasprintf("%s:%s", l->library.path, others)
					  : xstrdup(l->library.path);
	char pid[32];

	setenv("LD_PRELOAD", preload, 1);
	free(preload);
	setenv("PROFTOP_LOGFILE", l->log, 1);
	setenv("PROFTOP_LOG", "info", 1);
	if (l->output)
		setenv("PROFTOP_OUTPUT", l->output, 1);
	heap_settings_each(l->job, set, NULL);
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (l->job->o->children)
		setenv("PROFTOP_CHILDREN", "1", 1);
	else
		setenv("PROFTOP_ONLY_PID", pid, 1);
}

bool heap_launch_traces(const struct heap_launch *l, pid_t pid, struct record_traces *traces)
{
	FILE *f = fopen(l->log, "r");
	char *line = NULL;
	bool said = false;
	size_t room = 0, n_left;
	ssize_t len;

	traces->oom_kills = l->oom_kills;
	while (f && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		n_left = traces->left.n;
		if (!record_traces_take(traces, line))
			message("%s", strncmp(line, "proftop: ", 9) == 0 ? line + 9 : line);
		/* What the command ran beside itself says nothing about the command. */
		said |= traces->left.n == n_left;
	}
	free(line);
	if (f)
		fclose(f);
	record_traces_find(traces, l->output, pid, l->begun_ns);
	traces->output = l->output ? xstrdup(l->output) : NULL;
	record_left_find(l->job->o->children ? &traces->going_on : &traces->left, l->log, pid);
	return said;
}

void heap_launch_say_nothing(const struct heap_launch *l, const char *what, int status)
{
	char *why = heap_refusal(l->job->o->files.at[0], status);

	message("%s was recorded: %s", what, why);
	free(why);
}

bool heap_launch_say(const struct heap_launch *l, pid_t pid, int status)
{
	struct record_traces traces = { 0 };
	bool said = heap_launch_traces(l, pid, &traces);

	record_traces_ended(&traces, pid, status);
	record_traces_say(&traces, pid);
	record_traces_done(&traces);
	return said;
}

void heap_launch_end(pid_t pid)
{
	struct attach *a = NULL;
	struct err e = ERR_INIT;

	if (attach_find(pid, &a, &e) || attach_end(a, &e))
		message("the heap is recorded until the command ends: %s", err_text(&e));
	err_clear(&e);
	attach_free(a);
}
