/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is tried before anything is attached to: where a filter of system calls forbids it, the trial says so. */
#include "config.h"

#include "tracee.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* From now on the filter does that to the call. False where there are no filters. */
static bool forbid(uint32_t call, uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

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
