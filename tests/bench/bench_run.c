/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command some times with its output thrown away and prints "SECONDS CPU-SECONDS PEAK-KILOBYTES": the
 * median time, the median of what its threads together took of the cpus, and the largest peak of its resident
 * memory. A command that takes longer than -t SECONDS is ended, and the time is then ">SECONDS". Exits with 1
 * when the command failed.
 *
 * bench_run [-t SECONDS] RUNS COMMAND…
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 100

enum outcome { RAN, FAILED, TOO_SLOW };

/* One run. */
struct run {
	double seconds, cpu;
	long peak_kb;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* In a group of its own, so that what it starts can be ended with it. */
static void become(char **command)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		_exit(126);
	setpgid(0, 0);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(command[0], command);
	_exit(127);
}

/* Ends the group when the time is up: a process beside it, which costs the measured one nothing. */
static pid_t start_watchdog(pid_t group, int limit)
{
	pid_t pid = limit ? fork() : -1;

	if (pid != 0)
		return pid;
	sleep((unsigned)limit);
	kill(-group, SIGKILL);
	_exit(0);
}

static enum outcome run(char **command, int limit, struct run *r)
{
	double begin = now();
	struct rusage usage;
	pid_t pid = fork(), watchdog;
	int status;

	if (pid == 0)
		become(command);
	if (pid < 0)
		return FAILED;
	watchdog = start_watchdog(pid, limit);
	if (wait4(pid, &status, 0, &usage) != pid)
		return FAILED;
	r->seconds = now() - begin;
	r->cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
	if (watchdog > 0) {
		kill(watchdog, SIGKILL);
		waitpid(watchdog, NULL, 0);
	}
	if (usage.ru_maxrss > r->peak_kb)
		r->peak_kb = usage.ru_maxrss;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && limit && r->seconds >= limit)
		return TOO_SLOW;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? RAN : FAILED;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure(int n, int limit, char **command)
{
	double seconds[RUNS_MAX], cpu[RUNS_MAX];
	struct run r = { 0 };

	for (int i = 0; i < n; i++) {
		enum outcome outcome = run(command, limit, &r);

		if (outcome == FAILED)
			return EXIT_FAILURE;
		if (outcome == TOO_SLOW) {
			printf(">%d %.4f %ld\n", limit, r.cpu, r.peak_kb);
			return EXIT_SUCCESS;
		}
		seconds[i] = r.seconds;
		cpu[i] = r.cpu;
	}
	qsort(seconds, (size_t)n, sizeof(seconds[0]), by_value);
	qsort(cpu, (size_t)n, sizeof(cpu[0]), by_value);
	printf("%.4f %.4f %ld\n", seconds[n / 2], cpu[n / 2], r.peak_kb);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int n, limit = 0;

	if (argc > 2 && !strcmp(argv[1], "-t")) {
		limit = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	n = argc > 2 ? atoi(argv[1]) : 0;
	if (n < 1 || n > RUNS_MAX || limit < 0)
		return EXIT_FAILURE;
	return measure(n, limit, argv + 2);
}
