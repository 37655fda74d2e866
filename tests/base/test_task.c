/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/task.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int count_up(void *arg)
{
	struct progress *p = arg;

	for (uint64_t i = 0; i < 1000; i++)
		progress_set(p, i + 1, 1000);
	return -EBADMSG;
}

static int wait_for_cancel(void *arg)
{
	const struct timespec ms = { 0, 1000000 };

	while (!progress_cancelled(arg))
		nanosleep(&ms, NULL);
	return -ECANCELED;
}

static int blocked_signals(void *arg)
{
	sigset_t *set = arg;

	return pthread_sigmask(SIG_SETMASK, NULL, set);
}

Test(task, result_progress_and_wake, .timeout = 20)
{
	struct progress p = { 0 };
	int wake_fd = eventfd(0, EFD_CLOEXEC);
	struct task *t = task_start(count_up, &p, wake_fd);
	uint64_t n = 0;

	cr_assert_not_null(t);
	cr_assert_eq(read(wake_fd, &n, sizeof(n)), 8);
	cr_assert_eq(n, 1);
	cr_assert(task_finished(t));
	cr_assert_eq(task_join(t), -EBADMSG);
	cr_assert_eq(p.done, 1000);
	cr_assert_eq(p.total, 1000);
	close(wake_fd);
}

Test(task, can_be_cancelled, .timeout = 20)
{
	struct progress p = { 0 };
	struct task *t = task_start(wait_for_cancel, &p, -1);

	cr_assert_not(task_finished(t));
	progress_cancel(&p);
	cr_assert_eq(task_join(t), -ECANCELED);
}

Test(task, signals_go_to_the_main_thread_but_faults_do_not_hide, .timeout = 20)
{
	static const struct {
		int signal;
		int blocked;
	} cases[] = { { SIGTERM, 1 }, { SIGINT, 1 }, { SIGWINCH, 1 }, { SIGHUP, 1 },
		      { SIGSEGV, 0 }, { SIGBUS, 0 }, { SIGABRT, 0 } };
	sigset_t set;

	sigemptyset(&set);
	cr_assert_eq(task_join(task_start(blocked_signals, &set, -1)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert_eq(sigismember(&set, cases[i].signal), cases[i].blocked, "signal %d",
			     cases[i].signal);
	cr_assert_eq(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
	cr_assert_eq(sigismember(&set, SIGTERM), 0, "the starter's mask is as before");
}

Test(task, nothing_to_join)
{
	cr_assert_eq(task_join(NULL), 0);
	cr_assert_not(progress_cancelled(NULL));
	progress_set(NULL, 1, 2);
}
