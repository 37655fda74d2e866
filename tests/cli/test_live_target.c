/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What live says of a process that is stopped, by somebody or by us who attach to its heap; and whose time it tells. */
#include "config.h"

#include "base/process.h"
#include "cli/live/live_target.h"
#include "cli/options/options.h"
#include "cli/record/live_command.h"
#include "record/cpu/cgroup_fs.h"
#include "tui/app/tui.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that has stopped, for whoever traces it or for everybody. */
static pid_t stopped_child(bool traced)
{
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		if (traced)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
	cr_assert(WIFSTOPPED(status));
	return pid;
}

static void let_go(pid_t pid, bool traced)
{
	struct process_state s = { .letter = 't' };

	if (traced)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	else
		kill(pid, SIGCONT);
	while (strchr("Tt", s.letter))
		process_read(pid, &s);
}

static void expect_told(bool heap, bool traced, bool is_told)
{
	pid_t pid = stopped_child(traced);
	char number[16];
	struct options o = { .heap = heap, .attach = number };
	struct live_target *t;
	struct tui_target told;

	snprintf(number, sizeof(number), "%d", (int)pid);
	t = live_target_new(&o, NULL);
	live_target_look(t, &told);
	cr_expect_eq(strstr(told.text, "stopped") != NULL, is_told, "%s", told.text);
	cr_expect_eq(told.is_still, is_told);
	let_go(pid, traced);
	live_target_look(t, &told);
	cr_expect_eq(strstr(told.text, "continued") != NULL, is_told, "%s", told.text);
	live_target_free(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(live_target, says_who_was_stopped_and_goes_on)
{
	expect_told(false, false, true);
	expect_told(false, true, true);
	expect_told(true, false, true);
}

/* The recorder of a heap stops the process to come into it. */
Test(live_target, our_own_stop_is_none)
{
	expect_told(true, true, false);
}

/* What the processors do for a control group; -1: not known. */
static int64_t group_ns(char *name)
{
	struct options o = { .cgroup = name };
	struct live_target *t = live_target_new(&o, NULL);
	struct tui_target told;

	live_target_look(t, &told);
	live_target_free(t);
	return told.cpu_ns;
}

/* By its directory, too, as the sampler takes it. */
Test(live_target, a_control_group_by_either_name)
{
	char whole[] = "/", *root = cgroup_fs_root();
	int64_t ns = root ? group_ns(whole) : -1;

	if (ns >= 0)
		cr_expect_geq(group_ns(root), ns, "%s", root);
	free(root);
	if (ns < 0)
		cr_skip_test("nothing tells the times of control groups here");
}

/* A command that is begun late is told from then on, and before that no time is taken for its own. */
Test(live_target, a_command_that_begins_late)
{
	static const char *words[] = { "sh" };
	struct options o = { .files = { .at = words, .n = 1 } };
	struct live_command command = { .status = LIVE_GOES_ON };
	struct live_target *t = live_target_new(&o, &command);
	struct tui_target told;

	live_target_look(t, &told);
	cr_expect_eq(told.cpu_ns, -1);
	cr_expect_str_empty(told.text);
	atomic_store(&command.pid, (int)getpid());
	live_target_look(t, &told);
	cr_expect_geq(told.cpu_ns, 0);
	cr_expect_str_not_empty(told.text);
	live_target_free(t);
}
