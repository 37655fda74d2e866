/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the kernel's settings are: the sentence names the one that forbids it, a remedy that is none yet, and no other. */
#include "config.h"

#include "perf_rights.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

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
	  { "perf_event_paranoid is above 1", "kernel.perf_event_paranoid=1" },
	  { "kptr" } },
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
	{ "everything, behind a filter",
	  { .paranoid = 1, .may_all = true, .seccomp = 2 },
	  RIGHTS_ALL,
	  { "seccomp" },
	  { "sysctl" } },
	{ "anything", { .paranoid = 3 }, RIGHTS_OWN, { "perf_event_paranoid=2" }, { "seccomp" } },
	{ "another's process",
	  { .paranoid = 2 },
	  RIGHTS_PROCESS,
	  { "someone else", "CAP_SYS_PTRACE" },
	  { NULL } },
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

Test(perf_rights, too_many_files_are_no_matter_of_rights)
{
	const struct perf_rights none = { .paranoid = 4, .kptr = 2 };

	cr_expect(strstr(perf_rights_why(&none, RIGHTS_ALL, -EMFILE), "ulimit -n"));
}
