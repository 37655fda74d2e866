/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is tried before anything is attached to: where a filter of system calls forbids it, the trial says so. */
#include "config.h"

#include "forbid.h"
#include "tracee.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
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
	/* Where the tests themselves may not, there is nothing to forbid. */
	if (tracee_trial() != 0)
		return;
	cr_expect(finds(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM, -EPERM));
	cr_expect(finds(SYS_ptrace, SECCOMP_RET_ERRNO | EPERM, -EPERM));
	/* Who tries is killed, and we are not. */
	cr_expect(finds(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS, -ENOSYS));
	cr_expect(finds(SYS_ptrace, SECCOMP_RET_KILL_PROCESS, -ENOSYS));
}
