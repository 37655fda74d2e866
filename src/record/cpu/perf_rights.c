/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources: Documentation/admin-guide/sysctl/kernel.rst, Documentation/admin-guide/perf-security.rst, capabilities(7). */
#include "config.h"

#include "perf_rights.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static int64_t setting(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t v;

	if (!f)
		return RIGHTS_UNKNOWN;
	if (fscanf(f, "%" SCNd64, &v) != 1)
		v = RIGHTS_UNKNOWN;
	fclose(f);
	return v;
}

static bool has(uint64_t caps, unsigned cap)
{
	return caps >> cap & 1;
}

static void read_status(struct perf_rights *r)
{
	FILE *f = fopen("/proc/self/status", "re");
	uint64_t caps = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "CapEff:", 7) == 0)
			sscanf(line + 7, "%" SCNx64, &caps);
		else if (strncmp(line, "Seccomp:", 8) == 0)
			sscanf(line + 8, "%" SCNd64, &r->seccomp);
	}
	if (f)
		fclose(f);
	r->may_all = has(caps, CAP_PERFMON) || has(caps, CAP_SYS_ADMIN);
	r->may_ptrace = has(caps, CAP_SYS_PTRACE);
	r->may_lock = has(caps, CAP_IPC_LOCK);
}

void perf_rights_read(struct perf_rights *r)
{
	*r = (struct perf_rights){
		.paranoid = setting("/proc/sys/kernel/perf_event_paranoid"),
		.kptr = setting("/proc/sys/kernel/kptr_restrict"),
		.ptrace = setting("/proc/sys/kernel/yama/ptrace_scope"),
		.max_rate = setting("/proc/sys/kernel/perf_event_max_sample_rate"),
		.mlock_kb = setting("/proc/sys/kernel/perf_event_mlock_kb"),
		.seccomp = RIGHTS_UNKNOWN,
	};
	read_status(r);
}

static const char *why_own(const struct perf_rights *r)
{
	if (r->seccomp == 2)
		return "a seccomp filter forbids perf_event_open, as containers' default ones do; start the "
		       "container with --cap-add PERFMON and a seccomp profile that allows it, after which what "
		       "runs in it can also watch other processes that it sees";
	if (r->paranoid > 2)
		return "kernel.perf_event_paranoid keeps users from measuring even their own programs; sysctl "
		       "kernel.perf_event_paranoid=2 as root allows that, and makes a large part of the kernel "
		       "reachable for every user";
	return "the kernel refuses perf events; try as root";
}

static const char *why_all(const struct perf_rights *r)
{
	if (r->paranoid > 0 && !r->may_all)
		return "only root may watch whole cpus; run as root, give this program CAP_PERFMON (setcap "
		       "cap_perfmon=ep, after which all who may run it see what every process does), or sysctl "
		       "kernel.perf_event_paranoid=0, which lets every user do so";
	return why_own(r);
}

/* As kallsyms_show_value() of the kernel decides. */
static const char *why_names(const struct perf_rights *r)
{
	if (r->kptr > 0 && r->paranoid > 1)
		return "functions of the kernel have no names: kernel.kptr_restrict and kernel.perf_event_paranoid "
		       "hide where they are; sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1 as root shows "
		       "it to every user, which helps who attacks the kernel";
	if (r->kptr > 0)
		return "functions of the kernel have no names: kernel.kptr_restrict hides where they are; sysctl "
		       "kernel.kptr_restrict=0 as root shows it to every user, which helps who attacks the kernel";
	if (r->paranoid > 1)
		return "functions of the kernel have no names: kernel.perf_event_paranoid is above 1, which hides "
		       "where they are; sysctl kernel.perf_event_paranoid=1 as root shows it to every user, which "
		       "helps who attacks the kernel";
	return "functions of the kernel have no names: /proc/kallsyms does not tell where they are, as in some "
	       "containers; outside of them, and as root, it does";
}

const char *perf_rights_why(const struct perf_rights *r, enum rights_wish wish, int rc)
{
	if (rc == -ENOSYS)
		return "this kernel has no perf events (CONFIG_PERF_EVENTS)";
	if (rc == -EMFILE || rc == -ENFILE)
		return "each thread takes a file for each cpu and event, and there are too many; ulimit -n 1048576, "
		       "or record fewer cpus with -C or everything with -a";
	if (rc != -EACCES && rc != -EPERM)
		return strerror(-rc);
	switch (wish) {
	case RIGHTS_OWN:
		return why_own(r);
	case RIGHTS_PROCESS:
		return "it runs with the rights of someone else, or is protected from being looked at (ptrace); as "
		       "root, or with CAP_PERFMON and CAP_SYS_PTRACE, it can be watched, which shows its memory";
	case RIGHTS_KERNEL:
		return "what the kernel does is left out: kernel.perf_event_paranoid is above 1; sysctl "
		       "kernel.perf_event_paranoid=1 as root shows it, and tells every user where the kernel's code "
		       "lies";
	case RIGHTS_KERNELS:
		return "it happens in the kernel, which users may not watch while kernel.perf_event_paranoid is above "
		       "1; as root or with CAP_PERFMON it can be sampled, and sysctl kernel.perf_event_paranoid=1 "
		       "lets every user do so in own processes";
	case RIGHTS_ALL:
		return why_all(r);
	case RIGHTS_NAMES:
		return why_names(r);
	}
	return strerror(-rc);
}
