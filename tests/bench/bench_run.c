/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command some times with its output thrown away and prints "SECONDS PEAK-KILOBYTES": the median
 * time and the largest peak of its resident memory. Exits with 1 when the command failed.
 *
 * bench_run RUNS COMMAND…
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 100

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void become(char **command)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		_exit(126);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(command[0], command);
	_exit(127);
}

static bool run(char **command, double *seconds, long *peak_kb)
{
	double begin = now();
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		become(command);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return false;
	*seconds = now() - begin;
	if (usage.ru_maxrss > *peak_kb)
		*peak_kb = usage.ru_maxrss;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;
	double seconds[RUNS_MAX];
	long peak_kb = 0;

	if (n < 1 || n > RUNS_MAX)
		return EXIT_FAILURE;
	for (int i = 0; i < n; i++)
		if (!run(argv + 2, &seconds[i], &peak_kb))
			return EXIT_FAILURE;
	qsort(seconds, (size_t)n, sizeof(seconds[0]), by_value);
	printf("%.4f %ld\n", seconds[n / 2], peak_kb);
	return EXIT_SUCCESS;
}
