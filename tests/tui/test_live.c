/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop live on a pseudo terminal: what it shows of a pipe that goes on, what it sends, and how it ends. */
#include "config.h"

#include "base/mem.h"
#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define UPDATE_BYTES 4096 /* an update of a screen of 120x40 sends no more */

/* The program and the pipe that it reads. */
struct live {
	struct pty p;
	char dir[32], path[64];
	int fd; /* the writer's end */
};

/* What comes "first" is a part of a shell's line: conditions to run it under. */
static void start_with(struct live *l, const char *term, const char *first)
{
	/* Curses loads libgpm for the console, which loses ten bytes. */
	static const char *const env[] = { "ASAN_OPTIONS=detect_leaks=0", NULL };
	char *proftop = realpath(program(), NULL);
	char *line = xasprintf("cd \"$1\" && %s exec \"$2\" live \"$3\"", first);
	char *argv[] = { (char *)"sh", (char *)"-c", line,    (char *)"sh",
			 l->dir,       proftop,      l->path, NULL };
	const struct timespec nap = { .tv_nsec = 10000000 };

	cr_assert_not_null(proftop);
	strcpy(l->dir, "/tmp/proftop-test-XXXXXX");
	cr_assert_not_null(mkdtemp(l->dir));
	snprintf(l->path, sizeof(l->path), "%s/pipe", l->dir);
	cr_assert_eq(mkfifo(l->path, 0600), 0);
	pty_start(&l->p, 120, 40, term, strcmp(term, "linux") == 0 ? env : NULL, argv);
	while ((l->fd = open(l->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO)
		nanosleep(&nap, NULL);
	free(proftop);
	free(line);
	cr_assert_geq(l->fd, 0);
}

static void start_on(struct live *l, const char *term)
{
	start_with(l, term, "");
}

static void start(struct live *l)
{
	start_on(l, "xterm-256color");
}

static void put(struct live *l, const char *text)
{
	struct pollfd room = { .fd = l->fd, .events = POLLOUT };

	cr_assert_eq(poll(&room, 1, 60000), 1, "nobody reads");
	cr_assert_eq(write(l->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* After it has ended by itself. */
static void take_away(struct live *l)
{
	pty_end(&l->p);
	close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
}

static void end(struct live *l)
{
	quit_proftop(&l->p);
	close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
}

/* Waits until row says the text; some rows hold what changes, so the whole screen is asked. */
static void wait_row_has(struct pty *p, int row, const char *text)
{
	char *got = NULL;

	for (int i = 0; i < 2000; i++) {
		free(got);
		pty_bytes_within(p, 10);
		got = pty_text(p, row);
		if (strstr(got, text))
			break;
	}
	cr_expect(strstr(got, text), "row %d is: %s", row, got);
	free(got);
}

Test(live, shows_what_comes_and_says_that_it_ended, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\nmain;sort 10\n");
	pty_wait(&l.p, "parse");
	pty_wait(&l.p, "● live");
	put(&l, "main;sort 90\nmain;walk 5\n");
	pty_wait(&l.p, "walk");
	pty_wait_row(&l.p, 3, " ▸  74.1");
	close(l.fd);
	l.fd = -1;
	pty_wait(&l.p, "● ended");
	pty_wait(&l.p, "walk"); /* what came stays, on a screen that is painted anew */
	end(&l);
}

/* Who writes into a pipe shares the terminal, and says there how it went before it ends. */
Test(live, what_others_said_is_gone_at_the_end, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	vterm_input_write(l.p.vt, "\033[5;2Hrubbish", 13);
	cr_assert(pty_shows(&l.p, "rubbish"));
	close(l.fd);
	l.fd = -1;
	pty_wait(&l.p, "● ended");
	pty_wait_gone(&l.p, "rubbish");
	pty_wait(&l.p, "parse");
	end(&l);
}

/* A file that nobody has begun to write is waited for, as a pipe is. */
Test(live, waits_for_an_empty_file, .timeout = 120)
{
	char path[] = "/tmp/proftop-test-XXXXXX";
	int fd = mkstemp(path);
	char *const argv[] = { (char *)program(), (char *)"live", path, NULL };
	const char text[] = "main;parse 30\n";
	struct pty p;

	cr_assert_geq(fd, 0);
	close(fd); /* it has no writer yet */
	pty_start(&p, 120, 40, "xterm-256color", NULL, argv);
	pty_wait(&p, "● live");
	pty_bytes_within(&p, 1500); /* longer than a file without a writer is waited for */
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	pty_wait(&p, "parse");
	cr_expect(pty_shows(&p, "● live"));
	close(fd);
	pty_wait(&p, "● ended");
	quit_proftop(&p);
	unlink(path);
}

/* While nothing comes nothing is sent, and while it is frozen nothing either, whatever comes. */
Test(live, sends_nothing_for_nothing, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\nmain;sort 10\n");
	pty_wait(&l.p, "· 0/s");
	pty_wait_idle(&l.p);
	cr_expect_eq(pty_bytes_within(&l.p, 1500), 0);
	pty_type(&l.p, "z");
	pty_wait(&l.p, "● paused");
	pty_wait_idle(&l.p);
	put(&l, "main;late 1000\n");
	cr_expect_eq(pty_bytes_within(&l.p, 1500), 0, "what comes while it is frozen is not shown");
	pty_type(&l.p, "z");
	pty_wait(&l.p, "late");
	end(&l);
}

/* Who looks elsewhere is sent nothing, whatever comes, and sees all of it when coming back. */
Test(live, is_still_without_the_focus, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\nmain;sort 10\n");
	pty_wait(&l.p, "sort");
	cr_assert(l.p.focus);
	pty_type(&l.p, "\033[O");
	pty_wait(&l.p, "● unfocused");
	pty_wait_idle(&l.p);
	put(&l, "main;late 1000\n");
	cr_expect_eq(pty_bytes_within(&l.p, 1500), 0);
	pty_resize(&l.p, 100, 30); /* what is done to the screen is seen there */
	pty_wait(&l.p, "late");
	pty_wait_idle(&l.p);
	put(&l, "main;later 2000\n");
	cr_expect_eq(pty_bytes_within(&l.p, 1500), 0);
	pty_type(&l.p, "\033[I");
	pty_wait(&l.p, "later");
	pty_wait(&l.p, "● live");
	end(&l);
}

/* Terminals that report the one and not the other: who types is there. */
Test(live, a_key_is_focus, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	pty_type(&l.p, "\033[O");
	pty_wait(&l.p, "● unfocused");
	pty_type(&l.p, "2");
	pty_wait(&l.p, "● live");
	put(&l, "main;late 1000\n");
	pty_wait(&l.p, "late");
	end(&l);
}

/* Where it cannot be, or is not wanted, it is not asked for, and the report of it does nothing. */
Test(live, focus_is_asked_for_where_it_is_known, .timeout = 120)
{
	struct live l;

	start_on(&l, "linux");
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	cr_expect(!pty_sent(&l.p, "1004"));
	pty_type(&l.p, "\033[O");
	put(&l, "main;late 1000\n");
	pty_wait(&l.p, "late");
	end(&l);
}

/* Killed, it gives that back, too. */
Test(live, a_signal_ends_reports_of_focus, .timeout = 120)
{
	static const int signals[] = { SIGTERM, SIGSEGV };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct live l;

		start(&l);
		put(&l, "main;parse 30\n");
		pty_wait(&l.p, "parse");
		cr_assert(l.p.focus);
		kill(l.p.pid, signals[i]);
		pty_wait_end(&l.p);
		pty_expect_restored(&l.p);
		take_away(&l);
	}
}

/* Rows around it may change places and numbers: the one that is selected stays where it is. */
Test(live, the_selected_row_keeps_its_place, .timeout = 120)
{
	struct live l;
	int row;

	start(&l);
	put(&l, "main;a_1 90\nmain;b_2 80\nmain;c_3 70\nmain;d_4 60\nmain;e_5 50\nmain;f_6 40\n");
	pty_wait(&l.p, "f_6");
	pty_type(&l.p, "jj");
	pty_wait_idle(&l.p);
	row = marked_row(&l.p);
	wait_row_has(&l.p, row, "c_3");
	put(&l, "main;f_6 1000\nmain;e_5 900\n"); /* from the fourth on to the first */
	pty_wait_row(&l.p, row - 2, "    45.4");
	cr_expect_eq(marked_row(&l.p), row);
	wait_row_has(&l.p, row, "c_3");
	put(&l, "main;c_3 9000\n"); /* it would be the first itself */
	wait_row_has(&l.p, row, "80.3");
	cr_expect_eq(marked_row(&l.p), row);
	wait_row_has(&l.p, row, "c_3");
	end(&l);
}

/* In trees, too, whatever comes before it. */
Test(live, the_selected_row_of_a_tree_stays_selected, .timeout = 120)
{
	struct live l;
	int row;

	start(&l);
	put(&l, "main;a_1 90\nmain;b_2 80\nmain;c_3 70\nmain;d_4 60\n");
	pty_wait(&l.p, "d_4");
	pty_type(&l.p, "2jjj");
	pty_wait_idle(&l.p);
	row = marked_row(&l.p);
	wait_row_has(&l.p, row, "c_3");
	put(&l, "main;d_4 1000\nmain;e_5 900\n");
	pty_wait(&l.p, "e_5");
	pty_wait_idle(&l.p);
	wait_row_has(&l.p, marked_row(&l.p), "c_3");
	cr_expect_gt(marked_row(&l.p), row, "two rows are above it now");
	end(&l);
}

/* Each row of the report of a file is on the screen, with its numbers. */
static void shown_as_reported(struct pty *p, const char *path)
{
	char *command, line[256], self[16], total[16], count[16], name[64], *row = NULL;
	int n = 0;
	FILE *f;

	cr_assert_geq(asprintf(&command, "%s report -n 0 --min 0 %s", program(), path), 0);
	f = popen(command, "r");
	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		bool found = false;

		if (line[0] == '#' ||
		    sscanf(line, "%15s %15s %15s %63s", self, total, count, name) != 4)
			continue;
		for (int i = 3; i < p->rows && !found; i++) {
			free(row);
			row = pty_text(p, i);
			found = strstr(row, name) && strstr(row, self) && strstr(row, total) &&
				strstr(row, count);
		}
		cr_expect(found, "not on the screen: %s", line);
		n++;
	}
	cr_expect_eq(pclose(f), 0);
	cr_expect_eq(n, 3);
	free(row);
	free(command);
}

/* What is saved is what is shown, to the last sample. */
Test(live, saves_what_is_shown, .timeout = 120)
{
	char *row = NULL, *name = NULL, path[128], text[128] = "";
	struct live l;
	FILE *f;

	start(&l);
	put(&l, "main;parse 30\nmain;sort 10\n");
	pty_wait(&l.p, "sort");
	put(&l, "main;sort 7\n");
	pty_wait_row(&l.p, 4, "    36.2"); /* 17 of 47 */
	pty_type(&l.p, "w");
	pty_wait(&l.p, "saved: proftop ");
	for (int i = 0; i < l.p.rows && !name; i++) {
		free(row);
		row = pty_text(&l.p, i);
		name = strstr(row, "proftop-live-");
	}
	cr_assert(name);
	name[strcspn(name, " ")] = '\0';
	snprintf(path, sizeof(path), "%s/%s", l.dir, name);
	f = fopen(path, "r");
	cr_assert(f, "%s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	cr_expect_str_eq(text, "main;parse 30\nmain;sort 17\n");
	shown_as_reported(&l.p, path);
	unlink(path);
	free(row);
	end(&l);
}

/* A disk without room: the file is named with the reason, and nothing is left of it. */
Test(live, says_why_nothing_is_saved, .timeout = 120)
{
	struct live l;

	start_with(&l, "xterm-256color", "trap '' XFSZ && ulimit -f 0 &&");
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	pty_type(&l.p, "w");
	pty_wait(&l.p, ".folded: cannot write folded stacks: File too large");
	end(&l);
	cr_expect_eq(access(l.dir, F_OK), -1, "something is left in %s", l.dir);
}

/* Forty rows whose numbers all change, ten times over. */
Test(live, an_update_is_small, .timeout = 120)
{
	struct live l;
	size_t before, most = 0;

	start(&l);
	for (int round = 1; round <= 10; round++) {
		char text[40 * 32], *at = text, total[32];

		for (int i = 0; i < 40; i++)
			at += sprintf(at, "main;function_%02d %d\n", i,
				      1000 + i * 37 * round % 501);
		before = l.p.n_bytes;
		put(&l, text);
		snprintf(total, sizeof(total), "/%d", 41);
		pty_wait(&l.p, total);
		pty_wait_idle(&l.p);
		pty_bytes_within(&l.p, 600);
		if (round > 1 && l.p.n_bytes - before > most)
			most = l.p.n_bytes - before;
	}
	cr_expect_leq(most, UPDATE_BYTES);
	end(&l);
}

/* A terminal that goes away takes the program with it; the pipe's writer hears of it. */
Test(live, ends_with_its_terminal, .timeout = 120)
{
	struct live l;

	start(&l);
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	kill(l.p.pid, SIGHUP);
	pty_wait_end(&l.p);
	signal(SIGPIPE, SIG_IGN);
	cr_expect_eq(write(l.fd, "x", 1), -1);
	take_away(&l);
}

/* Also where that takes nothing any more, as when ^S was typed: reading goes on, and who is asked to end does. */
Test(live, ends_where_its_terminal_is_held, .timeout = 120)
{
	struct live l;
	int slave;

	start(&l);
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	slave = open(ptsname(l.p.fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert_geq(slave, 0);
	cr_assert_eq(tcflow(slave, TCOOFF), 0);
	for (int i = 0; i < 4096; i++) /* more than the pipe holds: somebody reads it */
		put(&l, "main;sort 90\nmain;walk 5\nmain;late 7\n");
	kill(l.p.pid, SIGTERM);
	pty_wait_end(&l.p);
	close(slave);
	take_away(&l);
}

/* Types what paints all anew until the terminal has room for no more: the last frame is then cut anywhere. */
static void fill(struct live *l)
{
	int slave = open(ptsname(l->p.fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct pollfd room = { .fd = slave, .events = POLLOUT };

	cr_assert_geq(slave, 0);
	for (int i = 0; i < 6000 && poll(&room, 1, 0) == 1; i++) {
		const struct timespec nap = { .tv_nsec = 10000000 };

		cr_assert_eq(write(l->p.fd, "\f", 1), 1);
		nanosleep(&nap, NULL);
	}
	cr_assert_eq(poll(&room, 1, 0), 0, "the terminal takes whatever comes");
	close(slave);
}

/* Where a link stands still in the middle of a frame, the screen is whole once it moves on. */
Test(live, is_whole_after_a_terminal_that_stood_still, .timeout = 120)
{
	struct live l;
	char *text, *anew;

	start(&l);
	put(&l, "main;parse 30\n");
	pty_wait(&l.p, "parse");
	fill(&l);
	for (int i = 0; i < 4096; i++) { /* more than the pipe holds: it is read meanwhile */
		char line[64];

		snprintf(line, sizeof(line), "main;function_%02d %d\n", i % 40, 1 + i * 37 % 501);
		put(&l, line);
	}
	put(&l, "main;last 900000\n");
	pty_wait(&l.p, "last");
	pty_type(&l.p, "z");
	pty_wait(&l.p, "paused");
	/* what that said goes with the next key, as it would with the one below */
	pty_type(&l.p, "k");
	pty_wait_gone(&l.p, "still collected");
	pty_wait_idle(&l.p);
	text = pty_text(&l.p, -1);
	pty_type(&l.p, "\f");
	pty_wait_idle(&l.p);
	anew = pty_text(&l.p, -1);
	cr_expect_str_eq(text, anew);
	free(text);
	free(anew);
	end(&l);
}

/* A shell waits for who writes, and that one hears of our end by its next write only. */
Test(live, says_on_leaving_that_what_is_piped_in_goes_on, .timeout = 120)
{
	static const char said[] = "what is piped in has not ended; Ctrl-C ends it";

	for (int goes_on = 0; goes_on < 2; goes_on++) {
		struct live l;

		start_with(&l, "xterm-256color", "exec <\"$3\"; set -- \"$1\" \"$2\" -;");
		put(&l, "main;parse 30\n");
		pty_wait(&l.p, "parse");
		if (!goes_on) {
			close(l.fd);
			l.fd = -1;
			pty_wait(&l.p, "● ended");
		}
		pty_type(&l.p, "Q");
		pty_wait_end(&l.p);
		cr_expect_eq(pty_shows(&l.p, said), goes_on, "%d", goes_on);
		take_away(&l);
	}
}
