/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program to record that has many threads or becomes many processes:
 *
 *   nap N        N threads that wait; after SIGUSR1 they end
 *   wake N       the same, but each burns 3 ms of the cpu then, and starts another one that does, too
 *   churn        threads that live for a moment, one after the other, without end
 *   relay N MS   N threads that nap, and one that burns MS of the cpu, starts the next one of its kind and ends
 *   grow N       4,000 threads that nap are started by N others; each hundredth works without end
 *   forks N      N processes that are there at once, burn 3 ms each and end
 *   execs N      becomes itself N times, one after the other, and burns 3 ms in between
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_MS 3
#define GROWN   4000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int awake, wakes, relay_ms;
static pthread_attr_t small;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static __attribute__((noinline)) void burn(double ms)
{
	double end = now_ms() + ms;

	while (now_ms() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

static void start(pthread_t *t, void *(*fn)(void *))
{
	if (pthread_create(t, &small, fn, NULL)) {
		perror("a thread");
		exit(1);
	}
}

static void *pass(void *arg)
{
	return arg;
}

static void *burn_once(void *arg)
{
	burn(BURN_MS);
	return arg;
}

static void *nap(void *arg)
{
	pthread_t t;

	pthread_mutex_lock(&lock);
	while (!awake)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (!wakes)
		return arg;
	start(&t, burn_once);
	burn(BURN_MS);
	pthread_join(t, NULL);
	return arg;
}

static __attribute__((noinline)) void *relayed(void *arg)
{
	pthread_t t;

	burn(relay_ms);
	start(&t, relayed);
	pthread_detach(t);
	return arg;
}

static void *work(void *arg)
{
	for (;;)
		burn(1000);
	return arg;
}

static void *grow(void *arg)
{
	static _Atomic int n;
	pthread_t t;

	while (n < GROWN) {
		start(&t, n++ % 100 ? nap : work);
		usleep(1000);
	}
	return arg;
}

static void start_all(int n, void *(*fn)(void *))
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		start(&t, fn);
}

static void become_many(int n)
{
	int go[2];
	char c;

	if (pipe(go))
		exit(1);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid == 0) {
			close(go[1]);
			/* All are there when the first goes on. */
			if (read(go[0], &c, 1) != 0)
				_exit(1);
			burn(BURN_MS);
			_exit(0);
		}
	}
	close(go[1]);
	while (wait(NULL) > 0)
		;
}

static void become_again(char **argv, int n)
{
	char left[16];

	burn(BURN_MS);
	if (n == 0)
		return;
	snprintf(left, sizeof(left), "%d", n - 1);
	argv[2] = left;
	execv("/proc/self/exe", argv);
	exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0, signal;
	pthread_t t;
	sigset_t set;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (strcmp(what, "forks") == 0)
		return become_many(n), 0;
	if (strcmp(what, "execs") == 0)
		return become_again(argv, n), 0;
	while (strcmp(what, "churn") == 0) {
		start(&t, pass);
		pthread_join(t, NULL);
	}
	wakes = strcmp(what, "wake") == 0;
	relay_ms = argc > 3 ? atoi(argv[3]) : 0;
	start_all(n, strcmp(what, "grow") == 0 ? grow : nap);
	if (strcmp(what, "relay") == 0)
		start(&t, relayed);
	alarm(600);
	sigwait(&set, &signal);
	pthread_mutex_lock(&lock);
	awake = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	/* The last thread to end ends the process. */
	pthread_exit(NULL);
}
