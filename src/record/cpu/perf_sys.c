/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel takes an attr as bytes, which perf_put.h makes; nothing else of it is known here. */
#include "config.h"

#include "record/cpu/perf_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf/abi/perf_put.h"

int perf_sys_open(const struct perf_attr *a, const struct perf_scope *s)
{
	unsigned long flags = s->is_cgroup ? PERF_FLAG_PID_CGROUP : 0;
	uint8_t attr[PERF_ATTR_BYTES];
	long fd;

	perf_attr_encode(a, attr);
	fd = syscall(SYS_perf_event_open, attr, s->task, s->cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
	/* Before Linux 3.14 that flag is none; more often something else is wrong, and is again. */
	if (fd < 0 && errno == EINVAL) {
		fd = syscall(SYS_perf_event_open, attr, s->task, s->cpu, -1, flags);
		if (fd >= 0)
			fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

uint64_t perf_sys_id(int fd)
{
	uint64_t id, values[3];

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		return id;
	/* Before Linux 3.12: as read_format PERF_RF_ID has it, the count and the id. */
	return read(fd, values, sizeof(values)) >= (ssize_t)(2 * sizeof(*values)) ? values[1] : 0;
}

int perf_sys_redirect(int fd, int to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to) == 0 ? 0 : -errno;
}

uint64_t perf_sys_lost(int fd)
{
	uint64_t values[3]; /* as PERF_RF_ID | PERF_RF_LOST has it: the count, the id, lost */

	return read(fd, values, sizeof(values)) == sizeof(values) ? values[2] : 0;
}

int perf_sys_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0 ? 0 : -errno;
}

int perf_sys_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0 ? 0 : -errno;
}
