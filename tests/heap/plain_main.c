/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests without Criterion, one after the other, each in a process of its own: ends with 0 if none failed. */
#include <criterion/criterion.h>

#include <sys/wait.h>
#include <unistd.h>

static struct plain_test *first, **last = &first;
static unsigned n_failed;

void plain_add(struct plain_test *t)
{
	*last = t;
	last = &t->next;
}

void plain_check(bool ok, bool can_go_on, const char *what, const char *file, int line)
{
	if (ok)
		return;
	n_failed++;
	printf("%s:%d: not so: %s\n", file, line, what);
	if (!can_go_on)
		exit(1);
}

static bool passes(const struct plain_test *t)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		n_failed = 0;
		t->run();
		exit(n_failed != 0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
	unsigned n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct plain_test *t = first; t; t = t->next, n++) {
		bool passed = passes(t);

		n_failed += !passed;
		printf("%s %s/%s\n", passed ? "passed" : "FAILED", t->suite, t->name);
	}
	printf("%u tests, %u failed\n", n, n_failed);
	return n == 0 || n_failed != 0;
}
