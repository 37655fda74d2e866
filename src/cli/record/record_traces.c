/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's log has a line "proftop: PID: PROGRAM writes: PATH" for each trace. */
#include "config.h"

#include "cli/record/record_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/record/output_path.h"
#include "heaptrace/heap_wire.h"
#include "record/attach/heap_salvage.h"

#define BEGINS     "proftop: "
#define WRITES     " writes: "
#define SUFFIX     ".heap"
#define MAX_NAMES  10000u /* that the tracer tries */
#define MOST_LINES 3u     /* for the programs that a process was */

static void look_again(struct record_trace *trace)
{
	struct stat st;

	if (stat(trace->path, &st) == 0)
		trace->bytes = (int64_t)st.st_size;
}

/* Takes program and path over. */
static void add_trace(struct record_traces *t, pid_t pid, char *program, char *path)
{
	struct record_trace trace = { .path = path, .program = program, .bytes = -1, .pid = pid };

	look_again(&trace);
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 8;
		t->at = xreallocarray(t->at, t->room, sizeof(*t->at));
	}
	t->at[t->n++] = trace;
}

bool record_traces_take(struct record_traces *t, const char *line)
{
	const char *writes = strstr(line, WRITES), *program;
	pid_t pid;
	char *end;

	if (record_left_take(&t->left, line))
		return true;
	if (!writes || strncmp(line, BEGINS, strlen(BEGINS)) != 0)
		return false;
	pid = (pid_t)strtol(line + strlen(BEGINS), &end, 10);
	if (end[0] != ':' || end[1] != ' ' || end + 2 > writes)
		return false;
	program = end + 2;
	add_trace(t, pid, xstrndup(program, (size_t)(writes - program)),
		  xstrdup(writes + strlen(WRITES)));
	return true;
}

struct head {
	struct heap_file_header h;
	uint64_t until_ns; /* when it was last written to, since 1970 */
};

static bool read_head(const char *path, struct head *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	struct stat st;
	bool good;

	if (fd < 0)
		return false;
	good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	       heap_take_file_header(bytes, sizeof(bytes), &out->h) == HEAP_OK;
	close(fd);
	if (good)
		out->until_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
				(uint64_t)st.st_mtim.tv_nsec;
	return good;
}

/* The n-th name for a trace; the caller frees. */
static char *numbered(const char *path, unsigned n)
{
	size_t len = strlen(path), suffix = strlen(SUFFIX);

	if (len <= suffix || strcmp(path + len - suffix, SUFFIX) != 0)
		return xasprintf("%s.%u", path, n);
	return xasprintf("%.*s.%u" SUFFIX, (int)(len - suffix), path, n);
}

static bool is_known(const struct record_traces *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].path, path) == 0)
			return true;
	return false;
}

/* Those that have a name by their program and the pid: "proftop.PROGRAM.PID.heap". */
static void find_by_pid(struct record_traces *t, pid_t pid, uint64_t begun_ns)
{
	static const char begins[] = "proftop.";
	char *cwd = realpath(".", NULL), *number = xasprintf(".%ld.", (long)pid);
	DIR *dir = cwd ? opendir(cwd) : NULL;
	struct dirent *d;
	struct head head;

	while (dir && (d = readdir(dir))) {
		const char *program = d->d_name + strlen(begins), *end;
		char *name;

		if (strncmp(d->d_name, begins, strlen(begins)) != 0 ||
		    !(end = strstr(program, number)))
			continue;
		name = xasprintf("%s/%s", cwd, d->d_name);
		if (!is_known(t, name) && read_head(name, &head) && head.h.pid == (uint64_t)pid &&
		    head.h.start_ns >= begun_ns)
			add_trace(t, pid, xstrndup(program, (size_t)(end - program)),
				  xstrdup(name));
		free(name);
	}
	if (dir)
		closedir(dir);
	free(number);
	free(cwd);
}

void record_traces_find(struct record_traces *t, const char *path, pid_t pid, uint64_t begun_ns)
{
	bool is_there = path && !strchr(path, '%');
	struct stat st;
	struct head head;

	if (!path)
		find_by_pid(t, pid, begun_ns);
	/* The tracer takes the first number that is free. */
	for (unsigned n = 2; is_there && n < MAX_NAMES; n++) {
		char *name = numbered(path, n);

		is_there = lstat(name, &st) == 0;
		if (is_there && !is_known(t, name) && read_head(name, &head) &&
		    head.h.start_ns >= begun_ns)
			add_trace(t, (pid_t)head.h.pid,
				  xasprintf("process %" PRIu64, (uint64_t)head.h.pid),
				  xstrdup(name));
		free(name);
	}
}

/* The larger one; of equal ones the later, which is nearer to what the user meant. */
static const struct record_trace *larger(const struct record_trace *a, const struct record_trace *b)
{
	return !a || b->bytes >= a->bytes ? b : a;
}

static void say_one(const struct record_trace *trace)
{
	char size[FMT_SIZE];

	if (trace->bytes < 0)
		message("the trace %s is gone", trace->path);
	else
		message("recorded %s of %s in %s", fmt_bytes(size, trace->bytes), trace->program,
			trace->path);
}

static void say_children(size_t n, int64_t bytes, const struct record_trace *largest)
{
	char traces[FMT_COUNTED_SIZE], sum[FMT_SIZE];

	if (n == 1)
		say_one(largest);
	else if (n > 1)
		message("and %s more of children, %s, the largest of %s in %s",
			fmt_counted(traces, (int64_t)n, "trace"), fmt_bytes(sum, bytes),
			largest->program, largest->path);
}

/* Was the process this program before its trace i? */
static bool told_before(const struct record_traces *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (t->at[k].pid == t->at[i].pid && strcmp(t->at[k].program, t->at[i].program) == 0)
			return true;
	return false;
}

/* "env, bash": the programs that the process was, each once. The caller frees. */
static char *programs_of(const struct record_traces *t, pid_t pid)
{
	char *all = xstrdup("");
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		char *longer;

		if (t->at[i].pid != pid || told_before(t, i))
			continue;
		longer = n < MOST_LINES ? xasprintf("%s%s%s", all, n ? ", " : "", t->at[i].program)
			 : n == MOST_LINES ? xasprintf("%s, …", all)
					   : xstrdup(all);
		free(all);
		all = longer;
		n++;
	}
	return all;
}

/* A process that was many programs: the trace that matters, and where the others begin. */
static void say_chain(const struct record_traces *t, const struct record_trace *own,
		      const struct record_trace *first, size_t n, int64_t bytes)
{
	char *programs = programs_of(t, own->pid), traces[FMT_COUNTED_SIZE], sum[FMT_SIZE];

	say_one(own);
	message("the command exec'd %s, one trace each: %s more, %s, from %s on", programs,
		fmt_counted(traces, (int64_t)n - 1, "trace"),
		fmt_bytes(sum, bytes - (own->bytes > 0 ? own->bytes : 0)), first->path);
	free(programs);
}

/* What process pid itself was. */
static void say_own(const struct record_traces *t, pid_t pid)
{
	const struct record_trace *largest = NULL, *first = NULL;
	int64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i].pid != pid)
			continue;
		first = first ? first : &t->at[i];
		largest = larger(largest, &t->at[i]);
		bytes += t->at[i].bytes > 0 ? t->at[i].bytes : 0;
		n++;
	}
	if (n > MOST_LINES) {
		say_chain(t, largest, first, n, bytes);
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].pid == pid)
			say_one(&t->at[i]);
}

void record_traces_say(struct record_traces *t, pid_t pid)
{
	const struct record_trace *largest = NULL, *child = NULL;
	size_t n_children = 0;
	int64_t bytes = 0;

	say_own(t, pid);
	for (size_t i = 0; i < t->n; i++) {
		const struct record_trace *trace = &t->at[i];

		largest = larger(largest, trace);
		if (trace->pid == pid)
			continue;
		child = larger(child, trace);
		bytes += trace->bytes > 0 ? trace->bytes : 0;
		n_children++;
	}
	say_children(n_children, bytes, child);
	if (t->n > 1 && largest->bytes >= 0)
		message("the largest is of %s: proftop %s opens it", largest->program,
			largest->path);
	record_left_say(&t->left);
	record_left_say_going_on(&t->going_on, t->output);
}

void record_traces_done(struct record_traces *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->at[i].path);
		free(t->at[i].program);
	}
	free(t->at);
	record_left_done(&t->left);
	record_left_done(&t->going_on);
	free(t->output);
	*t = (struct record_traces){ 0 };
}

/* Says why the recording stopped, where its file does not. It is the file's writer's place, but that is gone. */
static void tell_stop(const char *path, enum heap_stop stop, int signal)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	struct heap_file_header h;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	    heap_take_file_header(bytes, sizeof(bytes), &h) == HEAP_OK && h.stop == HEAP_GOES_ON) {
		h.stop = (uint8_t)stop;
		h.signal = (uint8_t)signal;
		heap_put_file_header(bytes, &h);
		(void)!pwrite(fd, bytes, sizeof(bytes), 0);
	}
	close(fd);
}

/* Adds what is still in memory, and says why the recording stopped; or says that something is missing. */
static void complete(const char *path, enum heap_stop stop, int signal)
{
	struct err e = ERR_INIT;

	if (heap_salvage(path, stop, (uint8_t)signal, &e) < 0)
		message("%s", err_text(&e));
	err_clear(&e);
}

uint64_t record_traces_oom_kills(void)
{
	FILE *f = fopen("/proc/vmstat", "r");
	unsigned long long n, found = UINT64_MAX;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "oom_kill %llu", &n) == 1)
			found = n;
	if (f)
		fclose(f);
	return found;
}

/* The kernel kills so, too; that it did just now says that it was the kernel. */
static enum heap_stop stop_of(const struct record_traces *t, int status)
{
	if (!WIFSIGNALED(status))
		return HEAP_STOP_GONE;
	return WTERMSIG(status) == SIGKILL && t->oom_kills != UINT64_MAX &&
			       record_traces_oom_kills() > t->oom_kills
		       ? HEAP_STOP_OOM
		       : HEAP_STOP_KILLED;
}

void record_traces_ended(struct record_traces *t, pid_t pid, int status)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	enum heap_stop stop = stop_of(t, status);
	bool is_last = true;

	for (size_t i = t->n; i-- > 0;) {
		struct record_trace *trace = &t->at[i];
		bool ended_so = is_last && trace->pid == pid;

		complete(trace->path, ended_so ? stop : HEAP_STOP_GONE, ended_so ? signal : 0);
		if (ended_so)
			tell_stop(trace->path, stop, signal);
		is_last &= !ended_so;
		look_again(trace);
	}
}

void record_trace_gone(const char *path)
{
	complete(path, HEAP_STOP_GONE, 0);
	tell_stop(path, HEAP_STOP_GONE, 0);
}

/* As an older trace is kept, but never in place of what is no trace. */
static void move_away(struct output_path *p, const char *path)
{
	char *old = xasprintf("%s.old", path);
	struct stat st;
	struct head h;

	if (lstat(old, &st) ? errno == ENOENT : read_head(old, &h))
		output_path_move(p, path);
	free(old);
}

static void clear_others(struct output_path *p, const char *path)
{
	struct head first, other;
	uint64_t until_ns;

	if (strchr(path, '%') || !read_head(path, &first))
		return;
	until_ns = first.until_ns;
	for (unsigned n = 2; n < MAX_NAMES; n++) {
		char *name = numbered(path, n);

		if (read_head(name, &other) && other.h.start_ns >= first.h.start_ns &&
		    (other.h.pid == first.h.pid || other.h.start_ns <= until_ns)) {
			until_ns = other.until_ns > until_ns ? other.until_ns : until_ns;
			move_away(p, name);
		}
		free(name);
	}
}

bool record_traces_clear(struct output_path *p, const char *path)
{
	if (!path)
		return true;
	clear_others(p, path);
	if (output_path_clear(p, path))
		return true;
	output_path_undo(p);
	return false;
}
