/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes of our own making, whose threads end in all orders. */
#include "config.h"

#include "base/process.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* In the way of who looks for brackets and blanks. */
#define NAME "a) R (b"

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A process whose first thread ends while another one goes on. */
static pid_t start(void)
{
	pid_t pid = fork();
	pthread_t other;

	if (pid == 0) {
		alarm(60);
		prctl(PR_SET_NAME, NAME);
		if (pthread_create(&other, NULL, wait_forever, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	return pid;
}

/* Until its first thread is shown as this; it takes a minute at most. */
static void wait_for(pid_t pid, char letter)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct process_state s;

	for (int i = 0; i < 60000; i++) {
		process_read(pid, &s);
		if (s.letter == letter)
			return;
		nanosleep(&nap, NULL);
	}
	cr_assert_fail("it is in state %c and not %c", s.letter, letter);
}

Test(process, goes_on_without_its_first_thread)
{
	struct thread_list threads = { 0 };
	struct process_state s;
	pid_t pid = start();

	cr_assert_gt(pid, 0);
	wait_for(pid, 'Z');
	cr_assert(thread_has_ended(pid));
	cr_assert_not(process_has_ended(pid));
	process_threads(pid, &threads);
	cr_assert_eq(threads.n, 2);
	for (size_t i = 0; i < threads.n; i++)
		cr_assert_eq(thread_has_ended(threads.at[i]), threads.at[i] == pid);
	vec_done(&threads);
	process_read(pid, &s);
	cr_assert_str_eq(s.name, NAME);
	cr_assert_eq(s.n_threads, 2);

	kill(pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	cr_assert(process_has_ended(pid), "its status is left of it, and no more");
	waitpid(pid, NULL, 0);
	cr_assert(process_has_ended(pid));
	process_read(pid, &s);
	cr_assert_str_eq(s.name, "");
}

Test(process, of_this_one)
{
	cr_assert_not(process_has_ended(getpid()));
	cr_assert_not(thread_has_ended(getpid()));
}
