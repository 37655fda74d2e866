/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real program with a profile made for it; see pty_proftop.h. */
#include "config.h"

#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/proftop-pty-XXXXXX";

const char *program(void)
{
	const char *given = getenv("PROFTOP");

	return given ? given : "./proftop";
}

const char *profile_path(void)
{
	return path;
}

void write_profile(const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

/* Names as long as C++ makes them, under a handful of callers. */
void make_profile(void)
{
	FILE *f = fdopen(mkstemp(path), "w");

	cr_assert_not_null(f);
	for (int i = 0; i < 300; i++)
		fprintf(f,
			"main;serve(Listener&);handle_%d(Conn*);"
			"Parser<Rec%d>::parse_record_%03d(Slice) %d\n",
			i % 7, i, i, 1000 - 3 * i);
	fprintf(f, "main;flush_loop 5000\n");
	fclose(f);
}

void drop_profile(void)
{
	unlink(path);
}

void start_proftop_with(struct pty *p, int cols, int rows, const char *term, const char *const *env,
			const char *option)
{
	char *const argv[] = { (char *)program(), path, (char *)option, NULL };

	pty_start(p, cols, rows, term, env, argv);
}

void start_proftop(struct pty *p)
{
	start_proftop_with(p, 120, 40, "xterm-256color", NULL, NULL);
	pty_wait(p, "flush_loop");
	pty_wait(p, "? help");
	pty_wait_gone(p, "loading");
	pty_wait_idle(p);
}

void quit_proftop(struct pty *p)
{
	int status;

	pty_type(p, "Q");
	status = pty_wait_end(p);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
	pty_expect_restored(p);
	pty_end(p);
}

int marked_row(struct pty *p)
{
	for (int row = 0; row < p->rows; row++)
		for (int col = 0; col < 3; col++)
			if (pty_cell(p, row, col).chars[0] == 0x25b8)
				return row;
	return -1;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#ifdef SANITIZED
/* Criterion 2.4 loses 48 bytes when tests end beside each other; the sanitizer asks for this. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libcriterion";
}
#endif

bool died_of(int status, int signal_number)
{
#ifdef SANITIZED
	/* the sanitizer reports faults and ends by itself */
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return true;
#endif
	return WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
}
