/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources: Documentation/admin-guide/sysctl/kernel.rst, Documentation/admin-guide/perf-security.rst, capabilities(7). */
#include "config.h"

#include "record/cpu/perf_rights.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#define PATH_BYTES 256

static FILE *open_below(const char *proc, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	return fopen(path, "re");
}

static int64_t setting(const char *proc, const char *name)
{
	FILE *f = open_below(proc, name);
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

/* Those of the machine are all of them, as they are. */
static bool is_in_namespace(const char *proc)
{
	FILE *f = open_below(proc, "self/uid_map");
	uint64_t inside = 0, outside = 0, n = UINT32_MAX;

	if (f && fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &n) != 3)
		n = 0;
	if (f)
		fclose(f);
	return inside != 0 || outside != 0 || n != UINT32_MAX;
}

static void read_status(struct perf_rights *r, const char *proc)
{
	FILE *f = open_below(proc, "self/status");
	uint64_t caps = 0, uid = UINT64_MAX;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "CapEff:", 7) == 0)
			sscanf(line + 7, "%" SCNx64, &caps);
		else if (strncmp(line, "Seccomp:", 8) == 0)
			sscanf(line + 8, "%" SCNd64, &r->seccomp);
		else if (strncmp(line, "Uid:", 4) == 0)
			sscanf(line + 4, "%*u %" SCNu64, &uid);
	}
	if (f)
		fclose(f);
	r->in_namespace = is_in_namespace(proc);
	if (r->in_namespace)
		return;
	r->is_root = uid == 0;
	r->may_all = has(caps, CAP_PERFMON) || has(caps, CAP_SYS_ADMIN);
	r->may_ptrace = has(caps, CAP_SYS_PTRACE);
	r->may_lock = has(caps, CAP_IPC_LOCK);
	r->may_names = has(caps, CAP_SYSLOG);
}

void perf_rights_read_below(struct perf_rights *r, const char *proc)
{
	*r = (struct perf_rights){
		.paranoid = setting(proc, "sys/kernel/perf_event_paranoid"),
		.kptr = setting(proc, "sys/kernel/kptr_restrict"),
		.ptrace = setting(proc, "sys/kernel/yama/ptrace_scope"),
		.max_rate = setting(proc, "sys/kernel/perf_event_max_sample_rate"),
		.mlock_kb = setting(proc, "sys/kernel/perf_event_mlock_kb"),
		.seccomp = RIGHTS_UNKNOWN,
	};
	read_status(r, proc);
}

void perf_rights_read(struct perf_rights *r)
{
	perf_rights_read_below(r, "/proc");
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
	if (r->paranoid > 0 && r->is_root && !r->may_all)
		return "root has neither CAP_PERFMON nor CAP_SYS_ADMIN here, as in a container; start it with --cap-add "
		       "PERFMON, after which what runs in it sees what every process of the machine does, or outside "
		       "of it sysctl kernel.perf_event_paranoid=0 as root, which lets every user do so";
	if (r->paranoid > 0 && r->in_namespace)
		return "only root of the machine may watch whole cpus, and this is a user namespace, as of a "
		       "container without root; run as root outside of it, which shows what every process does, "
		       "or there sysctl kernel.perf_event_paranoid=0, which lets every user do so";
	if (r->paranoid > 0 && !r->may_all)
		return "only root may watch whole cpus; run as root, give this program CAP_PERFMON (setcap "
		       "cap_perfmon=ep, after which all who may run it see what every process does), or sysctl "
		       "kernel.perf_event_paranoid=0, which lets every user do so";
	return why_own(r);
}

/* As kallsyms_show_value() of the kernel decides. */
static const char *why_names(const struct perf_rights *r)
{
	if (r->may_names && r->kptr < 2)
		return "functions of the kernel have no names: this user may read addresses in /proc/kallsyms "
		       "(CAP_SYSLOG), but neither _text nor _stext is there, as in a kernel without CONFIG_KALLSYMS";
	if (r->kptr > 0 && r->paranoid > 1 && !r->may_names)
		return "functions of the kernel have no names: kernel.kptr_restrict and kernel.perf_event_paranoid "
		       "hide where they are; sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1 as root shows "
		       "it to every user, which helps who attacks the kernel";
	if (r->kptr > 0)
		return "functions of the kernel have no names: kernel.kptr_restrict hides where they are; sysctl "
		       "kernel.kptr_restrict=0 as root shows it to every user, which helps who attacks the kernel";
	/* A file that asks for a capability beyond those that a container was given is not even started. */
	if (r->paranoid > 1 && r->is_root)
		return "functions of the kernel have no names: kernel.perf_event_paranoid is above 1 and root has no "
		       "CAP_SYSLOG here, as in a container; start it with --cap-add SYSLOG, or outside of it sysctl "
		       "kernel.perf_event_paranoid=1 as root, which shows them to every user; either helps who attacks "
		       "the kernel";
	if (r->paranoid > 1 && r->in_namespace)
		return "functions of the kernel have no names: kernel.perf_event_paranoid is above 1, and this is a "
		       "user namespace, as of a container without root; outside of it sysctl "
		       "kernel.perf_event_paranoid=1 as root shows them to every user, which helps who attacks the "
		       "kernel";
	if (r->paranoid > 1)
		return "functions of the kernel have no names: kernel.perf_event_paranoid is above 1, which hides "
		       "where they are; CAP_SYSLOG (setcap cap_syslog=ep) shows it to this program and who may run "
		       "it, sysctl kernel.perf_event_paranoid=1 as root to every user, which helps who attacks the "
		       "kernel";
	return "functions of the kernel have no names: /proc/kallsyms does not tell where they are, as in some "
	       "containers; outside of them, and as root, it does";
}

static const char *why_kernel(const struct perf_rights *r)
{
	if (r->is_root)
		return "what the kernel does is left out: kernel.perf_event_paranoid is above 1, and root has no "
		       "CAP_PERFMON here, as in a container; start it with --cap-add PERFMON, after which what runs in "
		       "it sees what every process of the machine does, or outside of it sysctl "
		       "kernel.perf_event_paranoid=1 as root, which tells every user where the kernel's code lies";
	if (r->in_namespace)
		return "what the kernel does is left out: kernel.perf_event_paranoid is above 1; outside of this user "
		       "namespace, as of a container without root, sysctl kernel.perf_event_paranoid=1 as root shows "
		       "it, and tells every user where the kernel's code lies";
	return "what the kernel does is left out: kernel.perf_event_paranoid is above 1; sysctl "
	       "kernel.perf_event_paranoid=1 as root shows it, and tells every user where the kernel's code "
	       "lies";
}

const char *perf_rights_why(const struct perf_rights *r, enum rights_wish wish, int rc)
{
	if (rc == -ENOSYS && r->seccomp != 2)
		return "this kernel has no perf events (CONFIG_PERF_EVENTS)";
	if (rc == -EMFILE)
		return "as many files are open as this process may have; ulimit -n says how many";
	if (rc == -ENFILE)
		return "as many files are open as the machine allows; sysctl fs.file-max as root says how many and "
		       "allows more";
	if (rc != -EACCES && rc != -EPERM && rc != -ENOSYS)
		return strerror(-rc);
	/* Where the kernel has perf events, the filter answers that it has none. */
	if (rc == -ENOSYS)
		return why_own(r);
	switch (wish) {
	case RIGHTS_OWN:
		return why_own(r);
	case RIGHTS_PROCESS:
		return "it runs with the rights of someone else, or is protected from being looked at (ptrace); as "
		       "root, or with CAP_PERFMON and CAP_SYS_PTRACE, it can be watched, which shows its memory";
	case RIGHTS_KERNEL:
		return why_kernel(r);
	case RIGHTS_KERNELS:
		return "it happens in the kernel, which users may not watch while kernel.perf_event_paranoid is above "
		       "1; as root or with CAP_PERFMON it can be sampled, and sysctl kernel.perf_event_paranoid=1 "
		       "lets every user do so in own processes";
	case RIGHTS_ALL:
		return why_all(r);
	case RIGHTS_NAMES:
		return why_names(r);
	case RIGHTS_TRACE:
		return "what tracepoints tell is of all users, so only root, or who has CAP_PERFMON, may sample them "
		       "while kernel.perf_event_paranoid is above -1; sysctl kernel.perf_event_paranoid=-1 as root "
		       "lets every user see it";
	case RIGHTS_OTHERS:
		return "functions of others' programs that run already have no names: what those have mapped may not "
		       "be read; as root, or with CAP_SYS_PTRACE (setcap cap_perfmon,cap_sys_ptrace=ep, after which "
		       "all who may run this program can look into every process), it can";
	}
	return strerror(-rc);
}

const char *perf_rights_instead(enum rights_wish wish, int rc, bool own)
{
	if (rc != -EACCES && rc != -EPERM && rc != -ENOSYS)
		return NULL;
	switch (wish) {
	case RIGHTS_OWN:
	case RIGHTS_PROCESS:
	case RIGHTS_ALL:
		return own ? "without that, programs of your own can be watched: -- COMMAND, or -p PID"
			   : "without that, heaps can be watched: --heap -- COMMAND";
	case RIGHTS_KERNEL:
		return own ? "without that, what programs do themselves is sampled (:u)" : NULL;
	case RIGHTS_KERNELS:
	case RIGHTS_TRACE:
		return own ? "without that, what programs do themselves can be sampled: -e cpu-clock:u"
			   : NULL;
	case RIGHTS_NAMES:
	case RIGHTS_OTHERS:
		return NULL;
	}
	return NULL;
}

/* What root says for so many files. The caller frees. */
static char *raise_text(uint64_t n)
{
	int64_t most = setting("/proc", "sys/fs/nr_open");

	if (most > 0 && n > (uint64_t)most)
		return xasprintf("sysctl fs.nr_open=%" PRIu64 " and prlimit --nofile=%" PRIu64
				 " proftop record …",
				 n, n);
	return xasprintf("prlimit --nofile=%" PRIu64 " proftop record …", n);
}

char *perf_rights_files(const struct perf_files *f)
{
	uint64_t each = f->n_tasks * f->n_events, n = each * f->n_cpus + f->n_beside;
	char tasks[FMT_COUNTED_SIZE], files[FMT_COUNTED_SIZE], most[FMT_SIZE];
	char *more = raise_text(n), *one, *text;

	one = each + f->n_beside <= f->most && f->n_cpus > 1
		      ? xasprintf("-C %d records what runs on that cpu alone; ", f->cpu)
		      : xstrdup("");
	text = xasprintf(
		"%s take %s, one for each cpu and event, and %s may be open; %s%s%s as root "
		"allows as many (in a container, what starts it: --ulimit nofile=%" PRIu64 ")",
		fmt_counted(tasks, (int64_t)f->n_tasks, "thread"),
		fmt_counted(files, (int64_t)n, "file"), fmt_count(most, (int64_t)f->most), one,
		f->may_all ? "-a records them and all others with a few; " : "", more, n);
	free(one);
	free(more);
	return text;
}
