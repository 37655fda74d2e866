/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop live of what runs, on a pseudo terminal: a command, a process, their heaps, and who ends whom. */
#include "config.h"

#include "base/mem.h"
#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The command that row 0 says is recorded. */
static int command_of(struct pty *p)
{
	char *title = NULL, *at = NULL;
	int pid = 0;

	for (int i = 0; i < 2000 && !at; i++) {
		free(title);
		pty_bytes_within(p, 10);
		title = pty_text(p, 0);
		at = strstr(title, "● live") ? strstr(title, "· sh (") : NULL;
	}
	cr_assert(at, "%s", title);
	cr_assert_eq(sscanf(at, "· sh (%d)", &pid), 1);
	free(title);
	return pid;
}

static bool may_record(void)
{
	char *command;
	int status;

	cr_assert_geq(asprintf(&command,
			       "d=$(mktemp -d) && %s record -o $d/x -- true >/dev/null 2>&1; s=$?; "
			       "rm -r $d; exit $s",
			       program()),
		      0);
	status = system(command);
	free(command);
	return status == 0;
}

/* live of a command that never rests, where it can be recorded. */
static void start_busy_command(struct pty *p)
{
	char *const argv[] = { (char *)program(),
			       (char *)"live",
			       (char *)"--",
			       (char *)"sh",
			       (char *)"-c",
			       (char *)"while :; do :; done",
			       NULL };

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	pty_start(p, 120, 40, "xterm-256color", NULL, argv);
}

/* What happens to the command is shown, and what was seen of it stays. */
Test(live_runs, a_command, .timeout = 120)
{
	struct pty p;
	size_t before;
	int pid;

	start_busy_command(&p);
	pid = command_of(&p);
	pty_wait(&p, "FUNCTION");
	pty_wait(&p, "· cpu ");
	pty_type(&p, "z");
	pty_wait(&p, "● paused");
	pty_wait_idle(&p);
	cr_expect_eq(pty_bytes_within(&p, 3000), 0, "what goes on is not shown");
	pty_type(&p, "z");
	pty_wait(&p, "● live");
	kill(pid, SIGSTOP);
	pty_wait(&p, "● stopped · 0/s · lost 0 · cpu 0 % ·");
	pty_wait(&p, ") stopped ·");
	pty_wait_idle(&p);
	before = p.n_bytes;
	pty_bytes_within(&p, 5000);
	cr_expect_eq(p.n_bytes, before, "it does nothing: %.*s", (int)(p.n_bytes - before),
		     p.raw + before);
	kill(pid, SIGCONT);
	pty_wait(&p, ") continued ·");
	pty_wait_gone(&p, ") continued ·");
	kill(pid, SIGKILL);
	pty_wait(&p, ") killed by SIGKILL ·");
	pty_wait(&p, "● ended");
	cr_expect(pty_shows(&p, "FUNCTION"));
	quit_proftop(&p);
}

/* live of what runs already. */
static void start_watching(struct pty *p, const char *option, pid_t pid)
{
	char number[16];
	char *const argv[] = { (char *)program(), (char *)"live", (char *)option, number, NULL };

	snprintf(number, sizeof(number), "%d", (int)pid);
	pty_start(p, 120, 40, "xterm-256color", NULL, argv);
}

/* A shell that does what its input says, line by line, and that rests meanwhile; *to is that input. */
static pid_t start_shell(int *to)
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp("sh", "sh", (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	*to = ends[1];
	return pid;
}

static void tell(int to, const char *line)
{
	cr_assert_eq(write(to, line, strlen(line)), (ssize_t)strlen(line));
}

/* Whatever becomes of a process or a thread that was named stands in the first row. */
static void fates_are_shown(const char *option, const char *named)
{
	struct pty p;
	int to;
	pid_t pid;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	pid = start_shell(&to);
	start_watching(&p, option, pid);
	pty_wait(&p, "● live");
	kill(pid, SIGSTOP);
	pty_wait(&p, ") stopped");
	cr_expect(pty_shows(&p, named));
	kill(pid, SIGCONT);
	pty_wait(&p, ") continued");
	tell(to, "/bin/true\n/bin/true\n/bin/true\n");
	pty_wait(&p, "forked 3");
	tell(to, "exec sleep 1000\n");
	pty_wait(&p, "new program, forked 3");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pty_wait(&p, "exited, new program, forked 3");
	close(to);
	quit_proftop(&p);
}

Test(live_runs, fates_of_a_process, .timeout = 120)
{
	fates_are_shown("-p", "sh (");
}

Test(live_runs, fates_of_a_thread, .timeout = 120)
{
	fates_are_shown("-t", "sh (thread ");
}

/* Starts live with a directory of its own for what is temporary. */
static void start_with_directory(struct pty *p, const char *dir, const char *what,
				 const char *command)
{
	char *const argv[] = { (char *)"sh",
			       (char *)"-c",
			       (char *)"cd \"$1\"; TMPDIR=$1 exec $2 live $3 -- sh -c \"$4\"",
			       (char *)"sh",
			       (char *)dir,
			       realpath(program(), NULL),
			       (char *)what,
			       (char *)command,
			       NULL };

	pty_start(p, 120, 40, "xterm-256color", NULL, argv);
	free(argv[5]);
}

/* Nobody cleans up behind a viewer that is killed: what it used goes with those who are left. */
static void killed_leaves_nothing(const char *what, const char *command, const char *shown)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	char dir[] = "/tmp/proftop-test-XXXXXX";
	struct pty p;
	int tries = 0;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	cr_assert_not_null(mkdtemp(dir));
	start_with_directory(&p, dir, what, command);
	pty_wait(&p, shown);
	kill(p.pid, SIGKILL);
	pty_wait_end(&p);
	pty_end(&p);
	/* A directory can be removed when it is empty. */
	while (rmdir(dir) < 0 && tries++ < 3000)
		nanosleep(&nap, NULL);
	cr_expect_lt(tries, 3000, "%s is not empty", dir);
}

Test(live_runs, killed_leaves_nothing_of_samples, .timeout = 120)
{
	killed_leaves_nothing("", "while :; do :; done", "FUNCTION");
}

Test(live_runs, killed_leaves_nothing_of_a_heap, .timeout = 120)
{
	killed_leaves_nothing("--heap", "while :; do v=$v; done", "WHERE");
}

Test(live_runs, killed_leaves_nothing_of_both, .timeout = 120)
{
	killed_leaves_nothing("--cpu --heap", "while :; do v=$v; done", "WHERE");
}

/* A directory as one that was killed leaves it, or whoever goes on has it, with a file and one in a directory. */
static char *put_left(const char *dir, const char *name, bool old)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	static const char *const paths[] = { "", "/both", NULL };
	char *path = NULL, *at;

	for (size_t i = 0; paths[i]; i++) {
		int fd;

		free(path);
		cr_assert_geq(asprintf(&path, "%s/%s%s", dir, name, paths[i]), 0);
		cr_assert_eq(mkdir(path, 0700), 0);
		cr_assert_geq(asprintf(&at, "%s/trace", path), 0);
		fd = open(at, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		cr_assert_geq(fd, 0);
		close(fd);
		free(at);
	}
	free(path);
	cr_assert_geq(asprintf(&path, "%s/%s", dir, name), 0);
	if (old)
		cr_assert_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	return path;
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* What killed ones left goes when the next one begins, and nothing else does. */
Test(live_runs, takes_away_what_killed_ones_left, .timeout = 120)
{
	char dir[] = "/tmp/proftop-test-XXXXXX";
	char *left, *young, *used, *saved, *other, *link, *command;
	struct pty p;
	int lock;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	cr_assert_not_null(mkdtemp(dir));
	left = put_left(dir, "proftop-live-abcdef", true);
	young = put_left(dir, "proftop-live-ghijkl", false);
	used = put_left(dir, "proftop-live-mnopqr", true);
	saved = put_left(dir, "proftop-live-saved", true);
	other = put_left(dir, "other", true);
	cr_assert_geq(asprintf(&link, "%s/proftop-live-stuvwx", dir), 0);
	cr_assert_eq(symlink(other, link), 0);
	lock = open(used, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
	start_with_directory(&p, dir, "--heap", "while :; do v=$v; done");
	pty_wait(&p, "WHERE");
	cr_expect(!is_there(left));
	cr_expect(is_there(young), "somebody may just be making it");
	cr_expect(is_there(used), "somebody has it");
	cr_expect(is_there(saved), "it has a name of its own");
	cr_expect(is_there(other), "links lead elsewhere");
	cr_expect(is_there(link));
	quit_proftop(&p);
	close(lock);
	cr_assert_geq(asprintf(&command, "rm -r %s", dir), 0);
	cr_assert_eq(system(command), 0);
	free(command);
	free(link);
	free(other);
	free(saved);
	free(used);
	free(young);
	free(left);
}

/* Both kinds grow beside each other, and each has its numbers in one table. */
Test(live_runs, samples_and_heap_at_once, .timeout = 120)
{
	char dir[] = "/tmp/proftop-test-XXXXXX", *command;
	struct pty p;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	cr_assert_not_null(mkdtemp(dir));
	start_with_directory(&p, dir, "--cpu --heap --view top", "while :; do v=$v; done");
	pty_wait(&p, "malloc peak SELF");
	pty_wait(&p, "filter  !is:tracer"); /* as of a recording of both */
	pty_type(&p, "w");                  /* the file opens with both */
	pty_wait(&p, " --event malloc:peak proftop-live-");
	pty_type(&p, "9");
	pty_wait(&p, "WHERE");
	quit_proftop(&p);
	cr_assert_geq(asprintf(&command, "rm %s/proftop-live-*.perf.txt", dir), 0);
	cr_expect_eq(system(command), 0);
	free(command);
	cr_expect_eq(rmdir(dir), 0, "%s is not empty", dir);
}

/* A command that becomes another program, whose heap is another trace: that is shown, too, and it goes on. */
Test(live_runs, heaps_one_after_the_other, .timeout = 120)
{
	char dir[] = "/tmp/proftop-test-XXXXXX", *go;
	struct pty p;
	int fd;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	cr_assert_not_null(mkdtemp(dir));
	start_with_directory(
		&p, dir, "--heap --view info",
		"until test -e go; do v=$v; done; exec sh -c 'while :; do v=$v; done'");
	pty_wait(&p, "names ");
	cr_assert_geq(asprintf(&go, "%s/go", dir), 0);
	fd = open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	pty_wait(&p, "data.2.heap");
	pty_wait(&p, "● live");
	quit_proftop(&p);
	cr_expect_eq(unlink(go), 0);
	free(go);
	cr_expect_eq(rmdir(dir), 0, "%s is not empty", dir);
}

/* Does the tracer in the process hear us? */
static bool is_recorded(pid_t pid)
{
	char *command;
	int status;

	cr_assert_geq(asprintf(&command, "%s mark -p %d here >/dev/null 2>&1", program(), (int)pid),
		      0);
	status = system(command);
	free(command);
	return status == 0;
}

/* A busy shell whose heap is recorded by others, to the file. */
static pid_t start_recorded(const char *path)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	char *tracer = xasprintf("%.*slibproftop-heap.so",
				 (int)(strrchr(program(), '/') + 1 - program()), program());
	char *real_tracer = realpath(tracer, NULL);
	pid_t pid = fork();

	cr_assert_not_null(real_tracer, "%s", tracer);
	if (pid == 0) {
		setenv("LD_PRELOAD", real_tracer, 1);
		setenv("PROFTOP_OUTPUT", path, 1);
		execlp("sh", "sh", "-c", "while :; do v=$v; done", (char *)NULL);
		_exit(127);
	}
	free(tracer);
	free(real_tracer);
	for (int i = 0; i < 2000 && !is_recorded(pid); i++)
		nanosleep(&nap, NULL);
	return pid;
}

/* The trace of a heap that others record is followed, and theirs when we have gone. */
Test(live_runs, a_heap_that_others_record, .timeout = 120)
{
	char dir[] = "/tmp/proftop-test-XXXXXX", *path, number[16];
	char *argv[] = { (char *)program(), (char *)"live", (char *)"--heap",
			 (char *)"-p",      number,         NULL };
	struct pty p;
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	path = xasprintf("%s/theirs.heap", dir);
	pid = start_recorded(path);
	snprintf(number, sizeof(number), "%d", (int)pid);
	pty_start(&p, 120, 40, "xterm-256color", NULL, argv);
	pty_wait(&p, "theirs.heap (recorded by others)");
	pty_wait(&p, "WHERE");
	pty_wait(&p, "· sh (");
	quit_proftop(&p);
	cr_expect(is_recorded(pid), "it was ours to look at, not to end");
	pty_start(&p, 120, 40, "xterm-256color", NULL, argv);
	pty_wait(&p, "WHERE");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pty_wait(&p, "exited");
	quit_proftop(&p);
	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(rmdir(dir), 0, "%s is not empty", dir);
	free(path);
}

/* The only trace below a directory, and what its file is; false: there is none yet. */
static bool find_trace(const char *dir, struct stat *st)
{
	char *pattern = xasprintf("%s/*/data.heap", dir);
	glob_t found;
	bool there = glob(pattern, 0, NULL, &found) == 0 && stat(found.gl_pathv[0], st) == 0;

	globfree(&found);
	free(pattern);
	return there;
}

/* Of the trace that goes with a live view, what was read does not stay on disk; so nobody else can follow it. */
Test(live_runs, a_trace_that_goes_takes_little_room, .timeout = 120)
{
	char dir[] = "/tmp/proftop-test-XXXXXX";
	char *where = xasprintf("TMPDIR=%s", mkdtemp(dir)), *other;
	char *argv[] = { (char *)"env",
			 where,
			 (char *)program(),
			 (char *)"live",
			 (char *)"--heap",
			 (char *)"--",
			 (char *)"sh",
			 (char *)"-c",
			 (char *)"echo $$ >$TMPDIR/pid; while :; do v=$v; done",
			 NULL };
	struct stat st = { 0 };
	struct pty p;
	int status;

	pty_start(&p, 120, 40, "xterm-256color", NULL, argv);
	while (!find_trace(dir, &st) || st.st_size < 3000000)
		pty_bytes_within(&p, 50);
	while (find_trace(dir, &st) && st.st_blocks * 512 >= st.st_size)
		pty_bytes_within(&p, 50);
	other = xasprintf(
		"! %s live --heap -p $(cat %s/pid) 2>%s/said && grep -q 'being watched' %s/said",
		program(), dir, dir, dir);
	status = system(other);
	cr_expect_eq(status, 0, "another one is not told");
	quit_proftop(&p);
	free(other);
	other = xasprintf("rm -f %s/pid %s/said", dir, dir);
	status = system(other);
	cr_expect_eq(rmdir(dir), 0, "%s is not empty", dir);
	free(other);
	free(where);
}

/* Waits for a file that the command makes, and takes it away. */
static void wait_made(struct pty *p, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	bool made = false;

	for (int i = 0; i < 2000 && !made; i++) {
		pty_bytes_within(p, 10);
		made = unlink(path) == 0;
	}
	cr_expect(made, "there is no %s", name);
	free(path);
}

/* What is not the keyboard is the command's to read; the keyboard is ours. */
static void input_reaches(const char *redirected, const char *made)
{
	char dir[] = "/tmp/proftop-test-XXXXXX";
	char *line = xasprintf(
		"cd \"$1\" && echo told >in && exec \"$2\" live -- sh -c 'read -r word || "
		"word=nothing; rm in; : >\"$word\"; while :; do :; done' %s",
		redirected);
	char *argv[] = { (char *)"sh", (char *)"-c", line,
			 (char *)"sh", dir,          realpath(program(), NULL),
			 NULL };
	struct pty p;

	if (!may_record())
		cr_skip_test("nothing can be recorded here");
	cr_assert_not_null(mkdtemp(dir));
	pty_start(&p, 120, 40, "xterm-256color", NULL, argv);
	wait_made(&p, dir, made);
	pty_wait(&p, "FUNCTION");
	quit_proftop(&p);
	cr_expect_eq(rmdir(dir), 0, "%s is not empty", dir);
	free(argv[5]);
	free(line);
}

Test(live_runs, a_command_reads_what_is_piped_in, .timeout = 120)
{
	input_reaches("<in", "told");
}

Test(live_runs, a_command_has_no_keyboard, .timeout = 120)
{
	input_reaches("", "nothing");
}

/* From the baseline on, changes; without it, shares again. */
Test(live_runs, a_baseline, .timeout = 120)
{
	struct pty p;

	start_busy_command(&p);
	pty_wait(&p, "/s"); /* a rate: there is something */
	pty_type(&p, "B");
	pty_wait(&p, "BEFORE");
	pty_wait(&p, "since the baseline");
	pty_type(&p, "B");
	pty_wait_gone(&p, "BEFORE");
	pty_wait(&p, "since the start");
	pty_type(&p, "Z");
	pty_wait(&p, "since the reset");
	pty_type(&p, "r");
	pty_wait(&p, "last 10 s ·");
	pty_type(&p, "rr");
	pty_wait(&p, "fading by half in 5 s ·");
	quit_proftop(&p);
}

/* A time that was chosen is shown as long as it is, whatever window went on before. */
Test(live_runs, a_chosen_time_is_no_window, .timeout = 120)
{
	struct pty p;

	start_busy_command(&p);
	pty_wait(&p, "/s");
	pty_type(&p, "rT");
	pty_wait(&p, "[T heat]");
	pty_type(&p, "g\r");
	pty_wait(&p, "[5 flame]");
	pty_wait(&p, "filter  time:,");
	pty_wait(&p, "since the start");
	pty_type(&p, "r");
	pty_wait(&p, "a time is chosen");
	pty_type(&p, "\033");
	pty_wait(&p, "[T heat]");
	pty_wait(&p, "last 10 s ·");
	pty_wait_gone(&p, "filter  time:");
	quit_proftop(&p);
}

/* Who leaves takes the command and the recorder along. */
Test(live_runs, quitting_ends_the_command, .timeout = 120)
{
	struct pty p;
	int pid;

	start_busy_command(&p);
	pid = command_of(&p);
	pty_type(&p, "?G");
	pty_wait(&p, "which ends the command, too");
	pty_type(&p, "q");
	pty_wait(&p, "FUNCTION");
	pty_type(&p, "q");
	pty_wait(&p, "q again ends");
	cr_expect_eq(kill(pid, 0), 0);
	pty_type(&p, "j");
	pty_wait_gone(&p, "q again ends");
	pty_type(&p, "q");
	pty_wait(&p, "q again ends");
	pty_type(&p, "q");
	cr_expect_eq(pty_wait_end(&p), 0);
	cr_expect_eq(kill(pid, 0), -1);
	cr_expect_not_null(memmem(p.raw, p.n_bytes, "sh was stopped", 14));
	pty_expect_restored(&p);
	pty_end(&p);
}
