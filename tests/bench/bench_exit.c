/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command and prints "MS END-MS": how long it took, and how long of that was after the time that it wrote to
 * descriptor 9, as bench_heap does at the end of main; 0 without. Exits with 1 when the command failed.
 *
 * bench_exit COMMAND…
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BENCH_END_FD 9

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void become(char **command, const int *end)
{
	if (dup2(end[1], BENCH_END_FD) < 0 || setenv("BENCH_END", "1", 1) ||
	    !freopen("/dev/null", "w", stdout))
		_exit(127);
	close(end[0]);
	close(end[1]);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	double begin = now_ms(), over;
	uint64_t end_ns = 0;
	int end[2], status;
	pid_t pid;

	if (argc < 2 || pipe(end)) {
		fprintf(stderr, "usage: bench_exit COMMAND…\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		become(argv + 1, end);
	close(end[1]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return 1;
	over = now_ms();
	if (read(end[0], &end_ns, sizeof(end_ns)) != sizeof(end_ns))
		end_ns = (uint64_t)(over * 1e6);
	printf("%.3f %.3f\n", over - begin, over - (double)end_ns / 1e6);
	return 0;
}
