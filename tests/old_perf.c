/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command where perf_event_open() refuses what came after Linux 3.10, with the errors that perf_copy_attr() of kernel/events/core.c
 * has there: flags of the call, the size of attr, its bits, sample_type, read_format and software events. What it does not refuse the
 * kernel of this machine does. Ends as the command, or with 77 where calls cannot be watched (before Linux 5.5).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE_THEN   96 /* PERF_ATTR_SIZE_VER3 */
#define BITS_THEN   23 /* of attr, up to exclude_callchain_user */
#define TYPES_THEN  (PERF_SAMPLE_DATA_SRC * 2 - 1)
#define FORMAT_THEN (PERF_FORMAT_GROUP * 2 - 1)
#define EVENTS_THEN (PERF_COUNT_SW_EMULATION_FAULTS + 1)
#define FLAGS_THEN  (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP)

static int refusal(const struct perf_event_attr *a, uint64_t flags)
{
	uint64_t bits, reserved;

	memcpy(&bits, (const char *)a + offsetof(struct perf_event_attr, read_format) + 8, 8);
	/* clockid's place */
	reserved = (uint32_t)a->clockid;
	if (flags & ~(uint64_t)FLAGS_THEN || bits >> BITS_THEN || reserved ||
	    a->sample_type > TYPES_THEN || a->read_format > FORMAT_THEN)
		return EINVAL;
	for (size_t i = SIZE_THEN; i < a->size && i < sizeof(*a); i++)
		if (((const char *)a)[i])
			return E2BIG;
	return a->type == PERF_TYPE_SOFTWARE && a->config >= EVENTS_THEN ? ENOENT : 0;
}

static void answer(int listener)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp reply = { 0 };
	struct perf_event_attr a = { 0 };
	char path[64];
	int memory;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return;
	snprintf(path, sizeof(path), "/proc/%u/mem", call.pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	reply.id = call.id;
	reply.error = -EFAULT;
	if (memory >= 0 && pread(memory, &a, sizeof(a), (off_t)call.data.args[0]) > SIZE_THEN)
		reply.error = -refusal(&a, call.data.args[4]);
	if (reply.error == 0)
		reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	close(memory);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

/* A descriptor that says when a call waits. It is made by the command's process, and taken from there. */
static int watch_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

int main(int argc, char **argv)
{
	int listener, status;
	pid_t command, watcher = -1;

	if (argc < 2)
		return 2;
	/* This process is filtered itself: it opens no event. */
	listener = watch_calls();
	if (listener < 0) {
		perror("old_perf");
		return 77;
	}
	command = fork();
	if (command == 0) {
		close(listener);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	watcher = fork();
	if (watcher == 0)
		for (;;)
			answer(listener);
	close(listener);
	waitpid(command, &status, 0);
	kill(watcher, SIGKILL);
	waitpid(watcher, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
