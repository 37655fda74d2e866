/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a child tries comes back, and what becomes of it is told. Filters are for good, so they are a child's. */
#include "config.h"

#include "base/try_in_child.h"
#include "record/cpu/perf_trial.h"
#include "tests/support/forbid.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void answer(void *result)
{
	*(int *)result = 42;
}

static void die(void *result)
{
	*(int *)result = 42;
	raise(SIGSYS);
}

static void give_up(void *result)
{
	*(int *)result = 42;
	_exit(1);
}

Test(trial, tells_what_became_of_the_child)
{
	int n = 7;

	cr_expect_eq(try_in_child_run(die, &n, sizeof(n)), -ENOSYS);
	cr_expect_eq(try_in_child_run(give_up, &n, sizeof(n)), -ECHILD);
	cr_expect_eq(n, 7);
	cr_expect_eq(try_in_child_run(answer, &n, sizeof(n)), 0);
	cr_expect_eq(n, 42);
}

static void try_under_filter(void *result)
{
	struct perf_trial t = { 0 };

	if (forbid(SYS_perf_event_open, SECCOMP_RET_KILL_PROCESS))
		perf_trial_run(&t);
	else
		t.own = t.whole = -ENOSYS;
	*(struct perf_trial *)result = t;
}

Test(trial, outlives_a_filter_that_kills)
{
	struct perf_trial t = { 0 };

	cr_assert_eq(try_in_child_run(try_under_filter, &t, sizeof(t)), 0);
	cr_expect_eq(t.own, -ENOSYS);
	cr_expect_eq(t.whole, -ENOSYS);
}
