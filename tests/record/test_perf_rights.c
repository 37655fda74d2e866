/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the kernel's settings are: the sentence names the one that forbids it, a remedy that is none yet, and no other. */
#include "config.h"

#include "record/cpu/perf_rights.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *what;
	struct perf_rights rights;
	enum rights_wish wish;
	const char *says[3], *silent[2];
} cases[] = {
	{ "names, by the one",
	  { .kptr = 1, .paranoid = 1 },
	  RIGHTS_NAMES,
	  { "kernel.kptr_restrict=0", "attacks" },
	  { "paranoid" } },
	{ "names, by the other",
	  { .paranoid = 2 },
	  RIGHTS_NAMES,
	  { "perf_event_paranoid is above 1", "kernel.perf_event_paranoid=1", "cap_syslog" },
	  { "kptr" } },
	{ "names, as root of a container",
	  { .paranoid = 2, .is_root = true },
	  RIGHTS_NAMES,
	  { "--cap-add SYSLOG", "outside of it sysctl" },
	  { "setcap" } },
	{ "names, as root with all capabilities",
	  { .paranoid = 2, .kptr = 1, .is_root = true, .may_names = true },
	  RIGHTS_NAMES,
	  { "this user may read", "_stext", "CONFIG_KALLSYMS" },
	  { "paranoid", "has no" } },
	{ "names, hidden from who has all capabilities, too",
	  { .paranoid = 2, .kptr = 2, .is_root = true, .may_names = true },
	  RIGHTS_NAMES,
	  { "kernel.kptr_restrict=0" },
	  { "paranoid", "CAP_SYSLOG" } },
	{ "names, in a container without root",
	  { .paranoid = 2, .in_namespace = true },
	  RIGHTS_NAMES,
	  { "user namespace", "outside of it sysctl" },
	  { "setcap", "CAP_SYSLOG" } },
	{ "names, by both",
	  { .kptr = 2, .paranoid = 4 },
	  RIGHTS_NAMES,
	  { "kernel.kptr_restrict=0", "kernel.perf_event_paranoid=1" },
	  { NULL } },
	{ "names, by neither",
	  { .paranoid = -1 },
	  RIGHTS_NAMES,
	  { "/proc/kallsyms" },
	  { "kptr", "paranoid" } },
	{ "everything",
	  { .paranoid = 1 },
	  RIGHTS_ALL,
	  { "CAP_PERFMON", "perf_event_paranoid=0" },
	  { "seccomp" } },
	{ "everything, as root of a container",
	  { .paranoid = 2, .is_root = true },
	  RIGHTS_ALL,
	  { "--cap-add PERFMON", "every process" },
	  { "run as root", "setcap" } },
	{ "a tracepoint", { .paranoid = 1 }, RIGHTS_TRACE, { "perf_event_paranoid=-1" }, { NULL } },
	{ "everything, behind a filter",
	  { .paranoid = 1, .may_all = true, .seccomp = 2 },
	  RIGHTS_ALL,
	  { "seccomp" },
	  { "sysctl" } },
	{ "everything, in a container without root",
	  { .paranoid = 2, .in_namespace = true },
	  RIGHTS_ALL,
	  { "user namespace", "outside" },
	  { "setcap" } },
	{ "anything", { .paranoid = 3 }, RIGHTS_OWN, { "perf_event_paranoid=2" }, { "seccomp" } },
	{ "another's process",
	  { .paranoid = 2 },
	  RIGHTS_PROCESS,
	  { "someone else", "CAP_SYS_PTRACE" },
	  { NULL } },
	{ "the kernel's part, as root of a container",
	  { .paranoid = 2, .is_root = true },
	  RIGHTS_KERNEL,
	  { "--cap-add PERFMON", "outside of it sysctl" },
	  { NULL } },
	{ "the kernel's part, in a container without root",
	  { .paranoid = 2, .in_namespace = true },
	  RIGHTS_KERNEL,
	  { "outside of this user namespace" },
	  { "CAP_" } },
	{ "the kernel's part",
	  { .paranoid = 2 },
	  RIGHTS_KERNEL,
	  { "perf_event_paranoid=1" },
	  { "seccomp" } },
};

Test(perf_rights, name_what_forbids_it)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why = perf_rights_why(&cases[i].rights, cases[i].wish, -EPERM);

		for (size_t k = 0; k < 3 && cases[i].says[k]; k++)
			cr_expect(strstr(why, cases[i].says[k]), "%s: %s", cases[i].what, why);
		for (size_t k = 0; k < 2 && cases[i].silent[k]; k++)
			cr_expect_null(strstr(why, cases[i].silent[k]), "%s: %s", cases[i].what,
				       why);
	}
}

/* A filter may say that there is no such system call. */
Test(perf_rights, a_filter_is_not_taken_for_a_kernel_without_events)
{
	const struct perf_rights filtered = { .paranoid = 2, .seccomp = 2 },
				 plain = { .paranoid = 2 };

	cr_expect(strstr(perf_rights_why(&filtered, RIGHTS_OWN, -ENOSYS), "seccomp"));
	cr_expect(strstr(perf_rights_why(&plain, RIGHTS_OWN, -ENOSYS), "CONFIG_PERF_EVENTS"));
}

static const struct {
	const char *what;
	struct perf_files files;
	const char *says[5], *silent[2];
} crowds[] = {
	{ "one cpu is enough",
	  { .n_tasks = 10001, .n_cpus = 2, .n_events = 1, .n_beside = 66, .most = 20000, .cpu = 4 },
	  { "10,001 threads take 20,068 files", "20,000 may be open", "-C 4 records",
	    "prlimit --nofile=20068 proftop", "--ulimit nofile=20068" },
	  { "-a", "nr_open" } },
	{ "not even one",
	  { .n_tasks = 10001, .n_cpus = 8, .n_events = 2, .most = 4096, .may_all = true },
	  { "160,016 files", "-a records" },
	  { "-C" } },
	{ "one cpu is all",
	  { .n_tasks = 10, .n_cpus = 1, .n_events = 2, .most = 100 },
	  { "20 files" },
	  { "-C", "-a" } },
	{ "more than any process may have",
	  { .n_tasks = UINT64_C(1) << 40, .n_cpus = 1, .n_events = 1, .most = 4096 },
	  { "sysctl fs.nr_open=1099511627776 and prlimit" },
	  { NULL } },
};

Test(perf_rights, too_many_files_are_no_matter_of_rights)
{
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		char *why = perf_rights_files(&crowds[i].files);

		for (size_t k = 0; k < 5 && crowds[i].says[k]; k++)
			cr_expect(strstr(why, crowds[i].says[k]), "%s: %s", crowds[i].what, why);
		for (size_t k = 0; k < 2 && crowds[i].silent[k]; k++)
			cr_expect_null(strstr(why, crowds[i].silent[k]), "%s: %s", crowds[i].what,
				       why);
		free(why);
	}
}

static const struct {
	enum rights_wish wish;
	bool own;
	const char *says; /* NULL: there is nothing else */
} others[] = {
	{ RIGHTS_ALL, true, "-p PID" },          { RIGHTS_ALL, false, "--heap -- COMMAND" },
	{ RIGHTS_PROCESS, true, "-- COMMAND" },  { RIGHTS_OWN, false, "--heap -- COMMAND" },
	{ RIGHTS_KERNEL, true, ":u" },           { RIGHTS_KERNEL, false, NULL },
	{ RIGHTS_KERNELS, true, "cpu-clock:u" }, { RIGHTS_NAMES, true, NULL },
};

/* Whoever lacks a right is told what there is without it, as far as that goes. */
Test(perf_rights, offer_what_is_next_best)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *text = perf_rights_instead(others[i].wish, -EACCES, others[i].own);

		cr_expect_eq(!text, !others[i].says, "%zu: %s", i, text ? text : "nothing");
		cr_expect(!text || strstr(text, others[i].says), "%zu: %s", i, text);
	}
	cr_expect_null(perf_rights_instead(RIGHTS_ALL, -EMFILE, true), "no matter of rights");
	cr_expect_null(perf_rights_instead(RIGHTS_ALL, 0, true), "it is granted");
}

/* A directory in the place of /proc. */
static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	cr_assert(f, "%s", path);
	fputs(text, f);
	fclose(f);
}

static const struct {
	const char *paranoid, *ptrace, *status, *uid_map;
	struct perf_rights want;
} kernels[] = {
	{ "2\n",
	  "1\n",
	  "Name:\tx\nUid:\t1000\t0\t0\t0\nCapEff:\t0000000000000000\nSeccomp:\t0\n",
	  "0 0 4294967295\n",
	  { .paranoid = 2, .ptrace = 1, .is_root = true } },
	{ "4\n",
	  "3\n",
	  "Uid:\t0\t1000\t1000\t1000\nCapEff:\t0000004000080000\nSeccomp:\t2\n",
	  "         0          0 4294967295\n",
	  { .paranoid = 4, .ptrace = 3, .seccomp = 2, .may_all = true, .may_ptrace = true } },
	/* root of a container without root */
	{ "3\n",
	  "0\n",
	  "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n",
	  "0 1000 1\n",
	  { .paranoid = 3, .in_namespace = true } },
	{ "-1\n",
	  "0\n",
	  "CapEff:\t000001ffffffffff\nSeccomp:\t0\n",
	  "0 0 4294967295\n",
	  { .paranoid = -1, .may_all = true, .may_ptrace = true, .may_names = true } },
};

Test(perf_rights, are_read_from_proc)
{
	static const char *const dirs[] = { "sys", "sys/kernel", "sys/kernel/yama", "self" };
	static const char *const files[] = { "sys/kernel/perf_event_paranoid",
					     "sys/kernel/yama/ptrace_scope", "self/status",
					     "self/uid_map" };
	char dir[] = "/tmp/proftop-test-XXXXXX", path[256];
	struct perf_rights r;

	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		cr_assert_eq(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const struct perf_rights *want = &kernels[i].want;

		put(dir, files[0], kernels[i].paranoid);
		put(dir, files[1], kernels[i].ptrace);
		put(dir, files[2], kernels[i].status);
		put(dir, files[3], kernels[i].uid_map);
		perf_rights_read_below(&r, dir);
		cr_expect_eq(r.paranoid, want->paranoid, "%zu", i);
		cr_expect_eq(r.ptrace, want->ptrace, "%zu", i);
		cr_expect_eq(r.seccomp, want->seccomp, "%zu", i);
		cr_expect_eq(r.may_all, want->may_all, "%zu", i);
		cr_expect_eq(r.may_ptrace, want->may_ptrace, "%zu", i);
		cr_expect_eq(r.may_names, want->may_names, "%zu", i);
		cr_expect_eq(r.is_root, want->is_root, "%zu", i);
		cr_expect_eq(r.in_namespace, want->in_namespace, "%zu", i);
		cr_expect_eq(r.kptr, RIGHTS_UNKNOWN, "%zu", i);
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		rmdir(path);
	}
	cr_expect_eq(rmdir(dir), 0);
}
