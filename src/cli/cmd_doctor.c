/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proftop doctor: what can be recorded here and what not, why, what would change that and what that would open to
 * others; what there is to name functions with; what the terminal can do.
 *
 * A line begins with a blank where all is well, with '?' where something is missing; the next line says what to do, and
 * another one what there is without that.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "record/attach/attach.h"
#include "record/cpu/perf_rights.h"
#include "record/cpu/perf_trial.h"
#include "record/cpu/proc_synthesize.h"
#include "record/cpu/tracepoint.h"

#define NAME_COLS 22
#define VALUE_COL (2 + NAME_COLS + 1)

static void heading(const char *text)
{
	printf("%s\n", text);
}

/* How wide the terminal is; INT_MAX: there is none. */
static int terminal_cols(void)
{
	struct winsize size = { 0 };

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
									       : INT_MAX;
}

/* Below the value, word by word in as many rows of the terminal as it takes; elsewhere one line, for scripts. */
static void more(const char *advice)
{
	int cols = terminal_cols(), left = cols < 2 * VALUE_COL ? 2 : VALUE_COL, at = left;

	printf("%*s", left, "");
	for (const char *word = advice; *word; word += strspn(word, " ")) {
		size_t n = strcspn(word, " ");

		if (at > left && (int)n >= cols - at) {
			printf("\n%*s", left, "");
			at = left;
		}
		at += printf("%s%.*s", at > left ? " " : "", (int)n, word);
		word += n;
	}
	putchar('\n');
}

/* advice: NULL where all is well. */
static void line(const char *name, const char *value, const char *advice)
{
	printf("%c %-*s %s\n", advice ? '?' : ' ', NAME_COLS, name, value);
	if (advice)
		more(advice);
}

static void setting(const char *name, int64_t v, const char *advice)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, v);
	line(name, v == RIGHTS_UNKNOWN ? "not there" : text, v == RIGHTS_UNKNOWN ? NULL : advice);
}

/* Where own programs cannot be sampled nothing else can, either, and the reason is said there. */
#define AS_OWN "as own programs cannot be sampled"

/* own: RIGHTS_OWN is granted. */
static void trial(const struct perf_rights *r, const char *name, int rc, enum rights_wish wish,
		  bool own)
{
	const char *instead = perf_rights_instead(wish, rc, own);

	if (rc != 0 && !own && wish != RIGHTS_OWN) {
		line(name, "no", AS_OWN);
		return;
	}
	line(name, rc == 0 ? "yes" : "no", rc == 0 ? NULL : perf_rights_why(r, wish, rc));
	if (instead)
		more(instead);
}

static bool tell_cpu(const struct perf_rights *r)
{
	struct perf_trial t;
	bool own;

	perf_trial_run(&t);
	own = t.own == 0;
	heading("sampling the CPU (record, live)");
	if (!process_any_shown())
		line("/proc", "not there",
		     "what runs, and what the kernel's settings are, is not known here; mount -t proc nodev /proc as root shows it");
	trial(r, "own programs", t.own, RIGHTS_OWN, own);
	trial(r, "with the kernel", t.own_kernel, RIGHTS_KERNEL, own);
	trial(r, "the whole machine", t.whole, RIGHTS_ALL, own);
	if (t.whole == 0 && !r->may_ptrace)
		line("others' programs", "without names",
		     perf_rights_why(r, RIGHTS_OTHERS, -EACCES));
	line("hardware counters", t.counter == 0 ? "yes" : "no",
	     t.counter == 0 ? NULL
	     : !own         ? AS_OWN
		    : "cpu-clock is sampled instead of cycles, by the kernel's timer; counters are there on "
		      "most real machines, and in virtual ones where the host passes them on");
	if (tracepoint_directory())
		trial(r, "tracepoints", t.tracepoint, RIGHTS_TRACE, own);
	else
		line("tracepoints", "no", tracepoint_why_none());
	setting("perf_event_paranoid", r->paranoid, NULL);
	setting("max sample rate", r->max_rate, NULL);
	setting("ring memory, kB a cpu", r->mlock_kb, NULL);
	line("capabilities",
	     r->may_all ? "what sampling needs (CAP_PERFMON or CAP_SYS_ADMIN)"
	     : r->in_namespace
		     ? "of a user namespace alone, which allow no sampling beyond one's own"
		     : "neither CAP_PERFMON nor CAP_SYS_ADMIN",
	     NULL);
	line("seccomp", r->seccomp == 2 ? "a filter, as in containers" : "no filter", NULL);
	return own;
}

#ifdef HAVE_TRACER
#define HEAPS true
#else
#define HEAPS false
#endif

/* Can a heap be recorded of what is no child of ours? */
static void tell_attaching(const struct perf_rights *r)
{
	static const char name[] = "of what runs already";

	int rc = attach_trial();

	if (rc == -ENOTSUP)
		line(name, "no", "as of commands");
	else if (r->ptrace >= 1 && !r->may_ptrace)
		line(name, "no", "as ptrace_scope forbids it");
	else if (rc == 0)
		line(name, r->may_ptrace ? "yes" : "own programs", NULL);
	else
		line(name, "no",
		     "a seccomp filter or a security module forbids to stop threads (ptrace) or to read their memory "
		     "(process_vm_readv); start the container with --cap-add SYS_PTRACE, after which what runs in it can look "
		     "into every process that it sees; without that, programs are recorded from their start: --heap -- COMMAND");
}

static void tell_heap(const struct perf_rights *r)
{
	heading("recording the heap (record --heap)");
	line("of commands", HEAPS ? "yes" : "no",
	     HEAPS ? NULL
		   : "the heap tracer is for x86_64 and aarch64 as yet; heaps recorded elsewhere can be opened");
	tell_attaching(r);
	setting("ptrace_scope", r->ptrace,
		r->ptrace < 1 || r->may_ptrace
			? NULL
			: "only children can be attached to (-p PID); as root, or after sysctl "
			  "kernel.yama.ptrace_scope=0, which lets every process look into others of its user; without that, "
			  "programs are recorded from their start: --heap -- COMMAND");
}

/* Does the kernel tell us where its functions are? */
static bool knows_kernel(void)
{
	const char *name;

	return proc_synthesize_text("/proc/kallsyms", &name) != 0;
}

static void tell_symbols(const struct perf_rights *r)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	bool packages = access("/usr/lib/debug", R_OK | X_OK) == 0;
	char *clean;

	heading("names");
	trial(r, "the kernel's", knows_kernel() ? 0 : -EPERM, RIGHTS_NAMES, true);
	setting("kptr_restrict", r->kptr, NULL);
	line("/usr/lib/debug", packages ? "yes" : "no",
	     packages
		     ? NULL
		     : "no debug packages are installed; functions of stripped programs have no names without");
	clean = text_clean(servers ? servers : "", servers ? strlen(servers) : 0, true);
	line("DEBUGINFOD_URLS", servers && *servers ? clean : "not set",
	     servers && *servers
		     ? NULL
		     : "with a server's address, debug files that are missing are fetched from there; the "
		       "server learns which programs you profile");
	free(clean);
}

static void tell_terminal(void)
{
	const char *term = getenv("TERM"), *colour = getenv("COLORTERM");
	struct winsize size = { 0 };
	char text[64] = "none: output goes elsewhere";

	heading("terminal");
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		snprintf(text, sizeof(text), "%ux%u", size.ws_col, size.ws_row);
	line("size", text, NULL);
	line("TERM", term && *term ? term : "not set",
	     term && *term && strcmp(term, "dumb") != 0
		     ? NULL
		     : "reports are printed instead of screens; export TERM=xterm-256color fits most");
	line("COLORTERM", colour && *colour ? colour : "not set", NULL);
	line("characters", message_ascii(false) ? "ASCII" : "UTF-8",
	     !message_ascii(false)
		     ? NULL
		     : "lines and bars are drawn in ASCII; export LC_ALL=C.UTF-8 has them drawn");
}

static enum status doctor(const struct options *o)
{
	struct perf_rights r;
	struct utsname u;
	bool works;

	if (o->files.n > 0) {
		message("doctor takes no words: proftop doctor");
		return STATUS_USAGE;
	}
	perf_rights_read(&r);
	printf("proftop %s", VERSION);
	if (uname(&u) == 0)
		printf(", %s %s, %s", u.sysname, u.release, u.machine);
	putchar('\n');
	works = tell_cpu(&r);
	tell_heap(&r);
	tell_symbols(&r);
	tell_terminal();
	return works ? STATUS_GOOD : STATUS_NO;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.synopsis = "",
	.summary = "Says what can be recorded here and what not, why, and what would change that.",
	.verb = ON_DOCTOR,
	.run = doctor,
};
