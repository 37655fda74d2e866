/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is tried before anything is attached to: where a filter of system calls forbids it, the trial says so. And what is no trace. */
#include "config.h"

#include "record/attach/heap_salvage.h"
#include "record/attach/tracee.h"
#include "tests/support/forbid.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* By a process of its own, so that what ends this one may do it. */
static bool finds(uint32_t call, uint32_t action, int rc)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(!forbid(call, action) || tracee_trial() == rc ? 0 : 1);
	waitpid(child, &status, 0);
	return status == 0;
}

Test(tracee, a_trial_finds_what_is_forbidden)
{
	if (tracee_trial() != 0)
		cr_skip_test("the tests themselves may not: there is nothing to forbid");
	cr_expect(finds(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM, -EPERM));
	cr_expect(finds(SYS_ptrace, SECCOMP_RET_ERRNO | EPERM, -EPERM));
	/* Who tries is killed, and we are not. */
	cr_expect(finds(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS, -ENOSYS));
	cr_expect(finds(SYS_ptrace, SECCOMP_RET_KILL_PROCESS, -ENOSYS));
}

/* A pipe that is opened and closed would have its writer killed: it is no trace, and is let alone. */
Test(heap_salvage, lets_pipes_alone)
{
	char path[] = "/tmp/proftop-fifo-XXXXXX", event[512];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_geq(inotify_add_watch(watch, path, IN_OPEN), 0);
	cr_expect_eq(heap_salvage(path, HEAP_STOP_GONE, 0, NULL), 0);
	cr_expect_eq(read(watch, event, sizeof(event)), -1, "it was opened");
	close(watch);
	unlink(path);
}
