/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One question after the other, the more telling ones first. */
#include "config.h"

#include "record/attach/attach_check.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/process.h"
#include "record/attach/program_file.h"
#include "record/attach/remote.h"

#define LOADING_TRIES 25u

/* What /proc/PID/status says. */
struct status {
	char state;               /* R, S, T … */
	int tgid, parent, tracer; /* process ids */
	unsigned uid;             /* effective */
	int seccomp;              /* 0: none */
	bool shadow;              /* a shadow stack is in use */
};

static void take_field(struct status *s, const char *line)
{
	sscanf(line, "State: %c", &s->state);
	sscanf(line, "Tgid: %d", &s->tgid);
	sscanf(line, "PPid: %d", &s->parent);
	sscanf(line, "TracerPid: %d", &s->tracer);
	sscanf(line, "Uid: %*u %u", &s->uid);
	sscanf(line, "Seccomp: %d", &s->seccomp);
	s->shadow |= strncmp(line, "x86_Thread_features:", 20) == 0 && strstr(line, "shstk");
}

static bool read_status(const char *path, pid_t pid, struct status *s)
{
	char line[256];
	FILE *f;

	*s = (struct status){ .tgid = (int)pid };
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		take_field(s, line);
	fclose(f);
	return true;
}

static int check_state(pid_t pid, const struct status *s, struct err *e)
{
	if (s->tgid != (int)pid)
		return err_set(e, -EINVAL, "%d is a thread of process %d: attach to that one",
			       (int)pid, s->tgid);
	if (s->state == 'Z' || s->state == 'X')
		return err_set(e, -ESRCH, "process %d has ended already", (int)pid);
	if (s->tracer)
		return err_set(
			e, -EBUSY,
			"process %d is being traced by process %d (a debugger?): end that one first",
			(int)pid, s->tracer);
	if (s->state == 'T' || s->state == 't')
		return err_set(e, -EBUSY,
			       "process %d is stopped: continue it first (kill -CONT %d)", (int)pid,
			       (int)pid);
	return 0;
}

static int ptrace_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

/* The kernel does not let us: why? */
static int refused(pid_t pid, const struct status *s, struct err *e)
{
	int scope = ptrace_scope();

	if (geteuid() != 0 && s->uid != geteuid())
		return err_set(e, -EPERM,
			       "process %d is of another user: attach as that user, or as root",
			       (int)pid);
	if (scope >= 3)
		return err_set(
			e, -EPERM,
			"process %d cannot be attached to: the kernel forbids it to everybody until the machine starts anew (kernel.yama.ptrace_scope is 3); start it under the recorder: --heap -- COMMAND",
			(int)pid);
	if (scope >= 1 && geteuid() != 0)
		return err_set(
			e, -EPERM,
			"process %d cannot be attached to: only root may here (kernel.yama.ptrace_scope is %d); attach as root, or sysctl kernel.yama.ptrace_scope=0, which lets every process look into others of its user; or start it under the recorder: --heap -- COMMAND",
			(int)pid, scope);
	return err_set(
		e, -EPERM,
		"process %d may not be attached to: it hides its memory, has more rights, or a container lacks SYS_PTRACE; attach as root, outside of the container; or start it under the recorder: --heap -- COMMAND",
		(int)pid);
}

static bool same_link(pid_t pid, const char *name)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	if (stat(path, &own))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return stat(path, &its) == 0 && own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

static int check_executable(pid_t pid, struct err *e)
{
	struct program_file f;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (!program_file_read(path, &f))
		return err_set(e, -ENOENT, "process %d has no executable that can be read",
			       (int)pid);
	if (!f.is_wide)
		return err_set(
			e, -ENOEXEC,
			"process %d runs a program of 32 bits: only those of 64 bits can be recorded",
			(int)pid);
	if (!*f.loader)
		return err_set(
			e, -ENOEXEC,
			"process %d runs a statically linked program, into which no library can be loaded: link it dynamically",
			(int)pid);
	if (strstr(f.loader, "ld-musl"))
		return err_set(
			e, -ENOEXEC,
			"process %d uses the C library musl, whose programs are recorded from their start only: --heap -- COMMAND",
			(int)pid);
	return 0;
}

static int check_libc(pid_t pid, struct err *e)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct remote *r = NULL;
	struct remote_module *libc;
	uint64_t flags;
	int ret = remote_open(pid, &r, e);

	if (ret)
		return ret;
	libc = remote_glibc(r, GLIBC_LIBC);
	/* One that has just begun is still loading its libraries. */
	for (unsigned i = 0; !libc && i < LOADING_TRIES; i++) {
		nanosleep(&nap, NULL);
		ret = remote_look(r, e);
		if (ret)
			break;
		libc = remote_glibc(r, GLIBC_LIBC);
	}
	if (ret) {
		remote_free(r);
		return ret;
	}
	/* The names of old versions begin alike when " (deleted)" follows. */
	if (libc ? strstr(remote_module_path(libc), " (deleted)") != NULL
		 : remote_module_named(r, "libc.so.6 (deleted)") != NULL)
		ret = err_set(
			e, -ESTALE,
			"process %d runs with a C library that was replaced since: restart it",
			(int)pid);
	else if (!libc)
		ret = err_set(e, -ENOEXEC,
			      "process %d has no glibc loaded, which the heap tracer needs",
			      (int)pid);
	else if (!remote_dlopen(r, &flags))
		ret = err_set(
			e, -ENOEXEC,
			"process %d has a C library that loads no libraries later; start it under proftop record",
			(int)pid);
	remote_free(r);
	return ret;
}

/* May its memory be read? */
static bool is_open_to_us(pid_t pid)
{
	struct remote *r = NULL;
	struct err ignored = ERR_INIT;
	struct remote_module *m = NULL;

	if (remote_open(pid, &r, &ignored) == 0)
		m = remote_executable(r);
	remote_free(r);
	err_clear(&ignored);
	return m != NULL;
}

/* A child of vfork(2) has its parent's memory until it runs a program. */
static bool shares_memory(pid_t pid, pid_t parent)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	for (unsigned i = 0; i < LOADING_TRIES; i++) {
		if (syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) != 0)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

/* Each thread may have a sandbox of its own. */
static int check_sandboxes(pid_t pid, struct err *e)
{
	char path[96];
	struct status s;
	struct dirent *d;
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (!ret && dir && (d = readdir(dir))) {
		int tid = atoi(d->d_name);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, tid);
		if (tid <= 0 || !read_status(path, pid, &s) || !s.seccomp)
			continue;
		ret = tid == (int)pid
			      ? err_set(e, -EPERM,
					"process %d is in a sandbox (seccomp) that may end it for what recording needs: start it under proftop record, or without its sandbox",
					(int)pid)
			      : err_set(e, -EPERM,
					"process %d has a thread in a sandbox (seccomp), %d, that may end it for what recording needs: start it under proftop record, or without its sandbox",
					(int)pid, tid);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int attach_check(pid_t pid, struct err *e)
{
	struct status s;
	char exe[64], target[8];
	int ret;

	snprintf(exe, sizeof(exe), "/proc/%d/status", (int)pid);
	if (!process_any_shown())
		return err_set(
			e, -ENOENT,
			"there is no /proc here, which says what runs: mount -t proc nodev /proc, as root");
	if (!read_status(exe, pid, &s))
		return err_set(e, -ESRCH, "there is no process %d", (int)pid);
	if (pid == getpid())
		return err_set(e, -EINVAL, "process %d is this one", (int)pid);
	ret = check_state(pid, &s, e);
	if (ret)
		return ret;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (readlink(exe, target, sizeof(target)) < 0)
		return errno == ENOENT
			       ? err_set(e, -EINVAL, "process %d is part of the kernel", (int)pid)
			       : refused(pid, &s, e);
	if (!same_link(pid, "ns/mnt") || !same_link(pid, "root/"))
		return err_set(
			e, -EXDEV,
			"process %d sees other files than we do (a container?): run proftop in there, for example by nsenter -t %d -m -p",
			(int)pid, (int)pid);
	ret = check_executable(pid, e);
	if (ret)
		return ret;
	if (!is_open_to_us(pid))
		return refused(pid, &s, e);
	if (shares_memory(pid, s.parent))
		return err_set(
			e, -EBUSY,
			"process %d shares the memory of process %d that made it (vfork), until it runs a program: attach to that one, or try again",
			(int)pid, s.parent);
	ret = check_sandboxes(pid, e);
	if (ret)
		return ret;
	if (s.shadow)
		return err_set(
			e, -EPERM,
			"process %d runs with a shadow stack, which forbids calls from outside: start it under proftop record",
			(int)pid);
	return check_libc(pid, e);
}
