/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap_hold hold TID: stops that thread alone, as a disk that does not answer would, until the input ends. heap_hold end TID: has
 * it leave by a system call of its own. Prints a line when that is done. 77: this system lets nobody do so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its next step is exit(2), which the instruction before is, as it sleeps in the kernel. */
static int make_it_leave(pid_t tid)
{
#ifdef __x86_64__
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r))
		return 77;
	r.rip -= 2;
	r.rax = SYS_exit;
	r.orig_rax = (unsigned long long)-1;
	r.rdi = 0;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) ? 77 : 0;
#else
	(void)tid;
	return 77;
#endif
}

int main(int argc, char **argv)
{
	pid_t tid = argc == 3 ? (pid_t)atoi(argv[2]) : 0;
	int ret = 0, status;

	if (tid <= 0)
		return 2;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
	    waitpid(tid, &status, __WALL) != tid)
		return 77;
	if (strcmp(argv[1], "end") == 0)
		ret = make_it_leave(tid);
	if (strcmp(argv[1], "end") == 0) {
		ptrace(PTRACE_DETACH, tid, 0, 0);
		puts("done");
		return ret;
	}
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return 0;
}
