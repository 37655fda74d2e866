/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each trial opens one event and closes it: config 0 is the cpu clock, or cycles. */
#include "config.h"

#include "perf_trial.h"

#include <unistd.h>

#include "perf_abi.h"
#include "perf_sys.h"

#define NO_KERNEL (PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)

/* Opens an event that never counts. */
static int try_open(uint32_t type, uint64_t flags, int task)
{
	struct perf_attr a = { .type = type, .sample_period = 1000000 };
	struct perf_scope at = { .task = task };
	int fd;

	a.flags = PERF_ATTR_DISABLED | flags;
	fd = perf_sys_open(&a, &at);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

void perf_trial_run(struct perf_trial *t)
{
	t->own = try_open(PERF_T_SOFTWARE, NO_KERNEL, 0);
	t->own_kernel = try_open(PERF_T_SOFTWARE, 0, 0);
	t->counter = try_open(PERF_T_HARDWARE, NO_KERNEL, 0);
	t->whole = try_open(PERF_T_SOFTWARE, 0, -1);
}
