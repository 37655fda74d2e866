/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command on a kernel that seems old: masked [perf] COMMAND…. Calls that came after Linux 3.10 say ENOSYS, and with "perf"
 * perf_event_open does, too.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST (sizeof(masked) / sizeof(masked[0]))

/* By the numbers that x86_64 and aarch64 share where headers may be too old for the names. */
static const unsigned masked[] = {
	SYS_perf_event_open,  SYS_memfd_create,      SYS_statx,
	435 /* clone3 */,     436 /* close_range */, 437 /* openat2 */,
	439 /* faccessat2 */, SYS_getrandom,         434 /* pidfd_open */
};

int main(int argc, char **argv)
{
	int perf = argc > 1 && strcmp(argv[1], "perf") == 0;
	struct sock_filter code[2 * MOST + 2];
	struct sock_fprog program = { 0, code };

	if (argc < 2 + perf)
		return 2;
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							   offsetof(struct seccomp_data, nr));
	for (size_t i = perf ? 0 : 1; i < MOST; i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								   masked[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								   SECCOMP_RET_ERRNO | ENOSYS);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("masked");
		return 77;
	}
	execvp(argv[1 + perf], argv + 1 + perf);
	perror(argv[1 + perf]);
	return 127;
}
