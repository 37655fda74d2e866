/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests without Criterion, one after the other in one process: ends with 0 if none failed. */
#include <criterion/criterion.h>

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

int main(void)
{
	unsigned n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct plain_test *t = first; t; t = t->next, n++) {
		unsigned before = n_failed;

		t->run();
		printf("%s %s/%s\n", n_failed == before ? "passed" : "FAILED", t->suite, t->name);
	}
	printf("%u tests, %u checks failed\n", n, n_failed);
	return n == 0 || n_failed != 0;
}
