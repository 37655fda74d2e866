/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terminals of all kinds, and that they come back whatever happens. */
#include "config.h"

#include "base/mem.h"
#include "tests/support/made_perf.h"
#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Whatever ends a program by default, and can be caught. */
Test(terminal_exit, signals_give_the_terminal_back, WITH_PROFILE)
{
	const int signals[] = { SIGTERM, SIGHUP,    SIGQUIT,  SIGSEGV, SIGBUS,  SIGABRT,
				SIGFPE,  SIGILL,    SIGALRM,  SIGUSR1, SIGUSR2, SIGXCPU,
				SIGXFSZ, SIGVTALRM, SIGPROF,  SIGSYS,  SIGTRAP, SIGIO,
				SIGPWR,  SIGSTKFLT, SIGRTMIN, SIGRTMAX };

	for (size_t i = 0; i < N(signals); i++) {
		struct pty p;
		int status;

		start_proftop(&p);
		cr_assert(p.altscreen && p.mouse);
		kill(p.pid, signals[i]);
		status = pty_wait_end(&p);
		pty_expect_restored(&p);
		cr_expect(died_of(status, signals[i]), "signal %d: status %x", signals[i], status);
		pty_end(&p);
	}
}

/* Some say nothing to us. */
Test(terminal_exit, works_on_after_harmless_signals, WITH_PROFILE)
{
	static const int signals[] = { SIGPIPE, SIGCHLD, SIGURG };
	struct pty p;

	start_proftop(&p);
	for (size_t i = 0; i < N(signals); i++)
		kill(p.pid, signals[i]);
	pty_type(&p, "2");
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	quit_proftop(&p);
}

Test(terminal_exit, interrupt_quits, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "\003");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_expect_restored(&p);
	pty_end(&p);
}

Test(terminal_exit, a_lost_terminal_ends_it, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	close(p.fd);
	p.fd = open("/dev/null", O_RDWR);
	pty_wait_end(&p);
	pty_end(&p);
}

/* Curses loads libgpm for the console, which loses ten bytes and is gone when leaks are looked for. */
static const char *const no_leak_check[] = { "ASAN_OPTIONS=detect_leaks=0", NULL };

Test(terminal_exit, terminals_of_all_kinds, WITH_PROFILE)
{
	static const char *const terms[] = { "xterm-256color", "xterm",  "screen-256color",
					     "tmux-256color",  "screen", "linux",
					     "vt100",          "vt220" };

	for (size_t i = 0; i < N(terms); i++) {
		struct pty p;
		char *text;

		start_proftop_with(&p, 100, 30, terms[i], no_leak_check, NULL);
		pty_wait(&p, "flush_loop");
		pty_wait(&p, "? help");
		pty_type(&p, "jj2*jj5jj");
		pty_wait_idle(&p);
		text = pty_text(&p, 1);
		cr_assert(strstr(text, "[5 flame]"), "%s: %s", terms[i], text);
		free(text);
		quit_proftop(&p);
	}
}

/* The console's fonts have no eighths and no small triangles. */
Test(terminal_exit, linux_console_gets_code_page_437, WITH_PROFILE)
{
	struct pty p;

	start_proftop_with(&p, 100, 30, "linux", no_leak_check, NULL);
	pty_wait(&p, "flush_loop");
	pty_wait(&p, "►");
	pty_wait_idle(&p);
	cr_assert(!pty_sent(&p, "▸") && !pty_sent(&p, "▎") && !pty_sent(&p, "▏"));
	quit_proftop(&p);
}

Test(terminal_exit, ascii, WITH_PROFILE)
{
	static const char *const latin[] = { "LC_ALL=C", NULL };

	for (int by_locale = 0; by_locale < 2; by_locale++) {
		struct pty p;

		start_proftop_with(&p, 100, 30, "xterm", by_locale ? latin : NULL,
				   by_locale ? NULL : "--ascii");
		pty_wait(&p, "flush_loop");
		pty_type(&p, "2*jj5jj?");
		pty_wait(&p, "KEYS IN flame");
		pty_wait_idle(&p);
		for (size_t i = 0; i < p.n_bytes; i++)
			cr_assert((p.raw[i] & 0x80) == 0, "byte %zu", i);
		quit_proftop(&p);
	}
}

Test(terminal_exit, no_color, WITH_PROFILE)
{
	static const char *const set[] = { "NO_COLOR=1", NULL };
	static const char *const empty[] = { "NO_COLOR=", NULL };
	struct pty p;
	bool reversed = false;

	start_proftop_with(&p, 100, 30, "xterm-256color", set, NULL);
	pty_wait(&p, "flush_loop");
	pty_type(&p, "5jj1");
	pty_wait_idle(&p);
	cr_assert(!pty_sent(&p, "\033[38;5;") && !pty_sent(&p, "\033[48;5;"));
	for (int row = 0; row < p.rows; row++)
		for (int col = 0; col < p.cols; col++) {
			VTermScreenCell c = pty_cell(&p, row, col);

			cr_assert(VTERM_COLOR_IS_DEFAULT_FG(&c.fg) &&
				  VTERM_COLOR_IS_DEFAULT_BG(&c.bg));
			reversed |= c.attrs.reverse;
		}
	cr_assert(reversed, "nothing is selected");
	quit_proftop(&p);
	start_proftop_with(&p, 100, 30, "xterm-256color", empty, NULL);
	pty_wait(&p, "flush_loop");
	pty_type(&p, "5");
	pty_wait_idle(&p);
	cr_assert(pty_sent(&p, "\033[48;5;"), "an empty NO_COLOR took the colours");
	quit_proftop(&p);
}

Test(terminal_exit, color_option, WITH_PROFILE)
{
	static const struct {
		const char *option, *never, *some;
	} cases[] = {
		{ "--color=never", "48;5;", "\033[" },
		{ "--color=8", "48;5;", ";47m" },
		{ "--color=256", ";47m", "48;5;" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct pty p;

		start_proftop_with(&p, 100, 30, "xterm-256color", NULL, cases[i].option);
		pty_wait(&p, "flush_loop");
		pty_type(&p, "5jj/main\r");
		pty_wait_idle(&p);
		cr_expect(!pty_sent(&p, cases[i].never), "%s", cases[i].option);
		cr_expect(pty_sent(&p, cases[i].some), "%s", cases[i].option);
		quit_proftop(&p);
	}
}

Test(terminal_exit, dumb_terminals_get_the_report, WITH_PROFILE)
{
	static const char *const terms[] = { "dumb", "no-such-terminal", "" };

	for (size_t i = 0; i < N(terms); i++) {
		struct pty p;
		int status;

		start_proftop_with(&p, 100, 500, terms[i], NULL, NULL);
		status = pty_wait_end(&p);
		cr_assert_eq(status, 0, "%s: %x", terms[i], status);
		cr_assert(pty_sent(&p, "report"), "%s", terms[i]);
		cr_assert(pty_sent(&p, "flush_loop"), "%s", terms[i]);
		cr_assert(!pty_sent(&p, "\033"), "%s: escapes", terms[i]);
		pty_end(&p);
	}
}

/* The profile comes through standard input, the keys from the terminal all the same. */
Test(terminal_exit, keys_come_from_the_terminal_while_a_pipe_is_read, WITH_PROFILE)
{
	char *command = xasprintf("cat %s | %s -", profile_path(), program());
	char *const argv[] = { (char *)"sh", (char *)"-c", command, NULL };
	struct pty p;

	pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
	pty_wait(&p, "flush_loop");
	pty_type(&p, "2");
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	pty_type(&p, "Q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_expect_restored(&p);
	pty_end(&p);
	free(command);
}

/* A profile that never ends: the first screen is there, z stops, q works at once. */
Test(terminal_exit, works_while_loading, WITH_PROFILE)
{
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	char *argv[] = { (char *)program(), path, NULL };
	static const char some[] = "main;first 3\nmain;second 2\n";
	struct pty p;
	int fd;

	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR); /* a writer that stays */
	pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
	pty_wait(&p, "loading");
	cr_assert_eq(write(fd, some, sizeof(some) - 1), (ssize_t)sizeof(some) - 1);
	pty_wait(&p, "first");
	pty_type(&p, "2");
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	pty_type(&p, "q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_expect_restored(&p);
	pty_end(&p);
	close(fd);
	unlink(path);
}

/* A named pipe that nobody writes to: q and ^C end it as they end anything. */
Test(terminal_exit, a_pipe_without_a_writer, WITH_PROFILE)
{
	static const char *const keys[] = { "q", "\003" };
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	char *argv[] = { (char *)program(), path, NULL };
	struct pty p;

	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
		pty_wait(&p, "loading");
		pty_type(&p, keys[i]);
		cr_assert_eq(pty_wait_end(&p), 0, "key %zu", i);
		pty_expect_restored(&p);
		pty_end(&p);
	}
	unlink(path);
}

/* Lines that come byte by byte are shown when they are whole. */
Test(terminal_exit, a_pipe_that_drips, WITH_PROFILE)
{
	static const char some[] = "main;first 3\nmain;second 2\n";
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	char *argv[] = { (char *)program(), path, NULL };
	struct pty p;
	int fd;

	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
	fd = open(path, O_WRONLY);
	for (size_t i = 0; i < sizeof(some) - 1; i++) {
		cr_assert_eq(write(fd, some + i, 1), 1);
		usleep(2000);
	}
	pty_wait(&p, "first");
	pty_wait(&p, "second");
	pty_type(&p, "q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_end(&p);
	close(fd);
	unlink(path);
}

/* A recording through a pipe that stays open: all that has come is shown. */
Test(terminal_exit, a_pipe_of_perf_data, WITH_PROFILE)
{
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	char *argv[] = { (char *)program(), path, NULL };
	uint8_t bytes[16384]; /* the file has 13 kB */
	FILE *file = fopen(TEST_DATA "/perf_data/cut_pipe.data", "rb");
	size_t n = fread(bytes, 1, sizeof(bytes), file);
	struct pty p;
	int fd;

	fclose(file);
	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
	fd = open(path, O_WRONLY);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	pty_wait(&p, "[shares]");
	pty_type(&p, "q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_end(&p);
	close(fd);
	unlink(path);
}

/* Its functions have names long before it ends. */
Test(terminal_exit, names_before_a_pipe_ends, WITH_PROFILE)
{
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	char *argv[] = { (char *)"sh", (char *)"-c", NULL, NULL };
	struct made m = { 0 };
	struct pty p;
	int fd;

	cr_assert(made_pipe_of_us(&m, (const void *)(uintptr_t)&pty_wait_idle));
	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC); /* a writer that stays */
	argv[2] = xasprintf("%s - <%s", program(), path);
	pty_start(&p, 100, 30, "xterm-256color", NULL, argv);
	cr_assert_eq(write(fd, m.bytes.at, m.bytes.n), (ssize_t)m.bytes.n);
	pty_wait(&p, "pty_wait_idle");
	pty_type(&p, "Q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_end(&p);
	close(fd);
	made_done(&m);
	free(argv[2]);
	unlink(path);
}

Test(terminal_exit, unusable_input_is_a_sentence, WITH_PROFILE)
{
	struct pty p;
	int status;

	write_profile("no counts here\nnor here\n");
	start_proftop_with(&p, 100, 30, "xterm-256color", NULL, NULL);
	status = pty_wait_end(&p);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3, "status %x", status);
	pty_expect_restored(&p);
	cr_assert(pty_shows(&p, profile_path()), "the sentence does not name the file");
	pty_end(&p);
}

/* ^Z and fg under a shell with job control, with another size in between. */
Test(terminal_exit, suspend_and_continue, WITH_PROFILE)
{
	char *const argv[] = { (char *)"bash", (char *)"--norc", (char *)"--noprofile",
			       (char *)"-i", NULL };
	static const char *const env[] = { "PS1=READY \\#> ", "HISTFILE=", NULL };
	char *command = xasprintf("%s %s\n", program(), profile_path());
	struct pty p;

	pty_start(&p, 100, 30, "xterm-256color", env, argv);
	pty_wait(&p, "READY 1>");
	pty_type(&p, command);
	pty_wait(&p, "? help");
	for (int i = 0; i < 3; i++) {
		char *prompt;

		pty_type(&p, "\032");
		pty_wait(&p, "Stopped");
		/* Not an earlier one: before its prompt the shell sets the size of the terminal to what it read a moment ago. */
		prompt = xasprintf("READY %d>", i + 2);
		pty_wait(&p, prompt);
		free(prompt);
		cr_assert(!p.altscreen && !p.mouse);
		pty_resize(&p, 90 + i, 25 + i);
		pty_type(&p, "fg\n");
		pty_wait_row(&p, 24 + i, " Enter open");
		cr_assert(p.altscreen && p.mouse);
		pty_type(&p, "2");
		pty_wait_row(&p, 1, " 1 top [2 tree]");
		pty_type(&p, "1");
		pty_wait_row(&p, 1, "[1 top]");
	}
	pty_type(&p, "Q");
	pty_wait(&p, "READY 5>");
	pty_type(&p, "exit\n");
	pty_wait_end(&p);
	pty_expect_restored(&p);
	pty_end(&p);
	free(command);
}

/* Stopped and continued from outside, by a terminal that forgot everything. */
Test(terminal_exit, continues_on_a_blank_screen, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	kill(p.pid, SIGSTOP);
	vterm_screen_reset(p.screen, 1);
	vterm_state_reset(vterm_obtain_state(p.vt), 1);
	cr_assert(!pty_shows(&p, "flush_loop"));
	kill(p.pid, SIGCONT);
	pty_wait(&p, "flush_loop");
	pty_wait(&p, "? help");
	quit_proftop(&p);
}

Test(terminal_exit, repaints_on_demand, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	vterm_input_write(p.vt, "\033[2Jrubbish", 11);
	pty_type(&p, "\014");
	pty_wait(&p, "flush_loop");
	pty_wait_gone(&p, "rubbish");
	quit_proftop(&p);
}

Test(terminal_exit, the_editor_gets_the_terminal, WITH_PROFILE)
{
	static const char *const env[] = { "EDITOR=cat", NULL };
	struct pty p;

	start_proftop_with(&p, 100, 30, "xterm-256color", env, NULL);
	pty_wait(&p, "flush_loop");
	pty_type(&p, "E");
	pty_wait(&p, "no source file is known for");
	quit_proftop(&p);
}
