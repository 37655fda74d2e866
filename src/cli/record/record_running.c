/* SPDX-License-Identifier: GPL-3.0-or-later */
/* We only stand by: the process writes its trace itself, and goes on without us if we are killed. */
#include "config.h"

#include "cli/record/record_running.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/heap_library.h"
#include "cli/record/heap_settings.h"
#include "cli/record/output_path.h"
#include "cli/record/record_job.h"
#include "cli/record/record_traces.h"
#include "record/attach/attach.h"

#define GRACE_S 10u
#define LOOK_MS 200
#define END_MS  20000u /* for the process to end its recording */

void record_say_trace(const char *path)
{
	char size[FMT_SIZE];
	struct stat st;

	if (stat(path, &st)) {
		message("the trace %s is gone", path);
		return;
	}
	fmt_bytes(size, (int64_t)st.st_size);
	message("recorded %s in %s", size, path);
}

/* Digits and ms, s, m or h; 0: something else. */
static uint64_t parse_ms(const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; digits && digits < 7 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(text + digits, units[i].unit) == 0)
			return strtoull(text, NULL, 10) * units[i].ms;
	return 0;
}

bool record_duration(const struct options *o, uint64_t *ms)
{
	*ms = o->duration ? parse_ms(o->duration) : 0;
	if (*ms || !o->duration)
		return true;
	message("--duration wants a time, such as 500ms, 10s, 5m or 1h, not \"%s\"", o->duration);
	return false;
}

const char *record_about_names(const char *text)
{
	return isalpha((unsigned char)*text) ? "; pgrep NAME prints those of a name" : "";
}

int record_pid(const struct options *o)
{
	size_t digits = strspn(o->attach, "0123456789");

	if (digits && digits < 10 && !o->attach[digits] && atoi(o->attach) > 0)
		return atoi(o->attach);
	message("-p wants the number of a process, not \"%s\"%s", o->attach,
		strchr(o->attach, ',') ? "; heaps are recorded of one process at a time"
				       : record_about_names(o->attach));
	return 0;
}

/* NAME=VALUE with their NULs, as the tracer takes them. */
struct settings {
	VEC(char) text;
};

static void set(void *arg, const char *name, const char *value)
{
	struct settings *s = arg;
	char *line = value ? xasprintf("%s=%s", name, value) : NULL;

	for (size_t i = 0; line && (i == 0 || line[i - 1]); i++)
		vec_push(&s->text, line[i]);
	free(line);
}

/* The output when none is given: here, not where the process is. */
static char *default_output(void)
{
	char cwd[PATH_MAX], *path, *to;

	if (!getcwd(cwd, sizeof(cwd)))
		return xstrdup("proftop.%e.%p.heap");
	path = to = xmalloc(2 * strlen(cwd) + 32);
	for (const char *c = cwd; *c; c++) {
		if (*c == '%')
			*to++ = '%';
		*to++ = *c;
	}
	strcpy(to, "/proftop.%e.%p.heap");
	return path;
}

static void make_settings(struct settings *s, const struct record_job *j, const char *output,
			  uint64_t ms)
{
	char seconds[32], *own = output ? NULL : default_output();

	snprintf(seconds, sizeof(seconds), "%llu",
		 (unsigned long long)((ms + 999) / 1000 + GRACE_S));
	set(s, "PROFTOP_OUTPUT", output ? output : own);
	heap_settings_each(j, set, s);
	set(s, "PROFTOP_CHECK", getenv("PROFTOP_CHECK"));
	set(s, "PROFTOP_PAUSED", getenv("PROFTOP_PAUSED"));
	set(s, "PROFTOP_SAMPLE_EXACT", getenv("PROFTOP_SAMPLE_EXACT"));
	set(s, "PROFTOP_ENVIRONMENT", getenv("PROFTOP_ENVIRONMENT"));
	set(s, "PROFTOP_PSS", getenv("PROFTOP_PSS"));
	/* If we are killed, it ends all the same; later than by us, who may be slow to get in. */
	set(s, "PROFTOP_SECONDS", ms ? seconds : NULL);
	vec_push(&s->text, '\0');
	free(own);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Until the recording has ended, by itself, by a signal or because it is time. False: it does not end. */
static bool stand_by(struct attach *a, const sigset_t *signals, uint64_t ms)
{
	const struct timespec nap = { .tv_nsec = LOOK_MS * 1000000L };
	uint64_t end = ms ? now_ms() + ms : UINT64_MAX, patience = UINT64_MAX;

	while (attach_beat(a) == ATTACH_RECORDS) {
		bool told = sigtimedwait(signals, NULL, &nap) > 0;

		if (patience == UINT64_MAX && (told || now_ms() >= end)) {
			attach_detach(a);
			patience = now_ms() + END_MS;
		}
		if (now_ms() > patience)
			return false;
	}
	return true;
}

static enum status record_process(const struct record_job *j, int pid, const char *library,
				  const char *output, uint64_t ms)
{
	struct output_path place = { 0 };
	struct settings s = { 0 };
	struct attach *a = NULL;
	struct err e = ERR_INIT;
	sigset_t signals;
	int ret;

	if (!record_traces_clear(&place, output))
		return STATUS_USAGE;
	/* What ends us shall not end us while a thread of the process works for us. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGQUIT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	make_settings(&s, j, output, ms);
	ret = attach_begin(pid, library, s.text.at, s.text.n, &a, &e);
	vec_done(&s.text);
	if (ret) {
		output_path_undo(&place);
		return message_error(&e, STATUS_UNUSABLE);
	}
	output_path_keep(&place);
	message("recording the heap of process %d to %s; Ctrl-C ends it", pid, attach_path(a));
	if (*attach_unseen(a))
		message("%s", attach_unseen(a));
	if (!stand_by(a, &signals, ms))
		message("process %d does not end its recording; it will when it can", pid);
	if (attach_beat(a) == ATTACH_GONE)
		record_trace_gone(attach_path(a));
	if (*attach_why(a))
		message("recording stopped: %s", attach_why(a));
	record_say_trace(attach_path(a));
	attach_free(a);
	return STATUS_GOOD;
}

enum status record_running(const struct record_job *j, const char *output)
{
	int pid = record_pid(j->o);
	uint64_t ms;
	struct heap_library library;
	char *real_library;
	enum status status;

	if (!pid || !record_duration(j->o, &ms))
		return STATUS_USAGE;
	if (!heap_library_take(&library))
		return STATUS_USAGE;
	/* As it will stand among the mappings of the process. */
	real_library = realpath(library.path, NULL);
	status = record_process(j, pid, real_library ? real_library : library.path, output, ms);
	free(real_library);
	heap_library_release(&library);
	return status;
}
