/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Config 0 is the cpu clock, or cycles. */
#include "config.h"

#include "record/cpu/perf_trial.h"

#include <errno.h>
#include <unistd.h>

#include "base/try_in_child.h"
#include "perf/abi/perf_abi.h"
#include "record/cpu/perf_sys.h"
#include "record/cpu/tracepoint.h"

#define NO_KERNEL (PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)

/* Opens an event that never counts, and closes it. */
static int try_attr(struct perf_attr a, int task)
{
	struct perf_scope at = { .task = task };
	int fd;

	a.sample_period = 1000000;
	a.flags |= PERF_ATTR_DISABLED;
	fd = perf_sys_open(&a, &at);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_open(uint32_t type, uint64_t flags, int task)
{
	return try_attr((struct perf_attr){ .type = type, .flags = flags }, task);
}

/* As recordings have them: with what they tell. */
static int try_tracepoint(void)
{
	static const char name[] = "sched:sched_switch";
	struct perf_attr a = { .type = PERF_T_TRACEPOINT, .sample_type = PERF_S_RAW };

	if (tracepoint_find(tracepoint_directory(), name, sizeof(name) - 1, &a.config, NULL))
		return -ENOENT;
	return try_attr(a, 0);
}

static void try_all(void *result)
{
	struct perf_trial *t = result;

	t->own = try_open(PERF_T_SOFTWARE, NO_KERNEL, 0);
	t->own_kernel = try_open(PERF_T_SOFTWARE, 0, 0);
	t->counter = try_open(PERF_T_HARDWARE, NO_KERNEL, 0);
	t->whole = try_open(PERF_T_SOFTWARE, 0, -1);
	t->tracepoint = try_tracepoint();
}

void perf_trial_run(struct perf_trial *t)
{
	int rc = try_in_child_run(try_all, t, sizeof(*t));

	if (rc)
		*t = (struct perf_trial){ rc, rc, rc, rc, rc };
}
