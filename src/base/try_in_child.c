/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seccomp(2): who is killed by a filter ends as if by SIGSYS. */
#include "config.h"

#include "base/try_in_child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody wants to hear of its end. */
static void run_child(void (*try)(void *result), void *result)
{
	const struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	try(result);
	_exit(0);
}

int try_in_child_run(void (*try)(void *result), void *result, size_t n)
{
	void *shared = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status = -1, rc;

	if (shared == MAP_FAILED)
		return -errno;
	memcpy(shared, result, n);
	child = fork();
	if (child == 0)
		run_child(try, shared);
	rc = child < 0 ? -errno : 0;
	while (rc == 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			rc = -errno;
	if (rc == 0 && status != 0)
		rc = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? -ENOSYS : -ECHILD;
	if (rc == 0)
		memcpy(result, shared, n);
	munmap(shared, n);
	return rc;
}
