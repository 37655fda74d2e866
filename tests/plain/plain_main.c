/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs tests without Criterion, each in a process of its own, as many at a time as there are processors. --filter SUITE/NAME, a
 * pattern of the shell, !(one|other) included, chooses; limits of time are multiplied by $PROFTOP_TEST_PATIENCE. Its last line is
 * as Criterion's, which .ci/run counts. Ends with 0 if none failed.
 */
#include <criterion/criterion.h>

#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

static struct plain_test *first, **last = &first;

/* Of the test that this process is. */
static bool failed;

void plain_add(struct plain_test *t)
{
	*last = t;
	last = &t->next;
}

static void say(const char *format, va_list arguments)
{
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void plain_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void plain_failed(const char *file, int line, bool can_go_on, const char *what, const char *format,
		  ...)
{
	va_list arguments;

	failed = true;
	fprintf(stderr, "%s:%d: Assertion Failed: %s:", file, line, what);
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	if (!can_go_on)
		exit(1);
}

void plain_skip(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(SKIPPED);
}

static struct plain_options options_of(const struct plain_test *t)
{
	struct plain_options o = t->o;

	for (const struct plain_test *s = first; s; s = s->next)
		if (!s->run && strcmp(s->suite, t->suite) == 0) {
			o.init = o.init ? o.init : s->o.init;
			o.fini = o.fini ? o.fini : s->o.fini;
			o.timeout = o.timeout > 0 ? o.timeout : s->o.timeout;
		}
	return o;
}

__attribute__((noreturn)) static void be(const struct plain_test *t, const struct plain_options *o)
{
	const char *patience = getenv("PROFTOP_TEST_PATIENCE");

	/* A group of its own, with what the test starts. */
	setpgid(0, 0);
	alarm((unsigned)(o->timeout * (patience ? atoi(patience) : 1)));
	if (o->init)
		o->init();
	t->run();
	if (o->fini)
		o->fini();
	exit(failed);
}

enum outcome { PASSED, FAILED, CRASHED, NOT_RUN };

static enum outcome outcome_of(const struct plain_options *o, int status)
{
	if (WIFSIGNALED(status))
		return o->signal && WTERMSIG(status) == o->signal ? PASSED : CRASHED;
	if (WEXITSTATUS(status) == SKIPPED)
		return NOT_RUN;
	return WEXITSTATUS(status) == 0 && o->signal == 0 ? PASSED : FAILED;
}

/* A test that runs. */
struct running {
	pid_t pid;
	const struct plain_test *test;
	struct plain_options o;
};

/* Waits for one of n, takes it out, and notes how it ended. */
static void wait_for_one(struct running *r, long *n, unsigned count[4])
{
	static const char *const said[] = { "PASS", "FAIL", "CRASH", "SKIP" };
	int status;
	pid_t pid = wait(&status);

	for (long i = 0; i < *n; i++)
		if (r[i].pid == pid) {
			enum outcome o = outcome_of(&r[i].o, status);

			count[o]++;
			/* What it left running ends with it. */
			kill(-pid, SIGKILL);
			if (o != PASSED)
				fprintf(stderr, "[%s] %s::%s\n", said[o], r[i].test->suite,
					r[i].test->name);
			r[i] = r[--*n];
			return;
		}
}

static bool is_wanted(const struct plain_test *t, const char *pattern)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", t->suite, t->name);
	return t->run && !t->o.disabled && fnmatch(pattern, name, FNM_EXTMATCH) == 0;
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 2 && strcmp(argv[1], "--filter") == 0 ? argv[2] : "*";
	long most = sysconf(_SC_NPROCESSORS_ONLN), n = 0;
	struct running *r = calloc(most > 0 ? (size_t)most : 1, sizeof(*r));
	unsigned count[4] = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct plain_test *t = first; r && t; t = t->next) {
		if (!is_wanted(t, pattern))
			continue;
		while (n > 0 && n >= most)
			wait_for_one(r, &n, count);
		r[n] = (struct running){ .test = t, .o = options_of(t) };
		r[n].pid = fork();
		if (r[n].pid == 0)
			be(t, &r[n].o);
		if (r[n].pid > 0)
			n++;
		else
			count[CRASHED]++;
	}
	while (n > 0)
		wait_for_one(r, &n, count);
	free(r);
	fprintf(stderr, "[====] Synthesis: Tested: %u | Passing: %u | Failing: %u | Crashing: %u\n",
		count[PASSED] + count[FAILED] + count[CRASHED], count[PASSED],
		count[FAILED] + count[CRASHED], count[CRASHED]);
	return count[FAILED] + count[CRASHED] != 0 || (count[PASSED] == 0 && count[NOT_RUN] == 0);
}
