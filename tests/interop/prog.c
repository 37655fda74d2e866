/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program to record: recursion of changing depth, system calls, a child and a thread with names. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone))

static volatile unsigned long sink;

FRAME static void spin(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned)i * sink + 1;
}

FRAME static void write_some(int fd, const char *bytes)
{
	for (int i = 0; i < 4; i++)
		if (write(fd, bytes, 4096) < 0)
			sink++;
}

FRAME static void touch_memory(void)
{
	char *m = malloc(1 << 20);

	for (int i = 0; i < 1 << 20; i += 4096)
		((volatile char *)m)[i] = 1;
	free(m);
	sink++;
}

FRAME static void descend(int left, int fd, const char *bytes)
{
	if (left > 0)
		descend(left - 1, fd, bytes);
	else if (sink % 3)
		spin(20000);
	else
		write_some(fd, bytes);
	sink++;
}

static void work_for(double seconds)
{
	static const char bytes[4096];
	int fd = open("/dev/null", O_WRONLY);
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 20; i++)
			descend(i, fd, bytes);
		touch_memory();
		usleep(100);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) +
			 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
		 seconds);
	close(fd);
}

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "a worker");
	work_for(*(double *)arg / 2);
	prctl(PR_SET_NAME, "worker;2");
	work_for(*(double *)arg / 2);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.2;
	pthread_t t;

	if (fork() == 0) {
		work_for(seconds / 2);
		execlp("true", "true", (char *)NULL);
		_exit(0);
	}
	pthread_create(&t, NULL, thread, &seconds);
	work_for(seconds);
	pthread_join(t, NULL);
	wait(NULL);
	return 0;
}
