/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program on a pseudo terminal; see pty.h. */
#include "config.h"

#include "tests/support/pty.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

/* Only what does not come at all fails: a machine may be very busy. */
#define DEADLINE_MS 60000

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int on_prop(VTermProp prop, VTermValue *value, void *user)
{
	struct pty *p = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		p->altscreen = value->boolean;
	else if (prop == VTERM_PROP_CURSORVISIBLE)
		p->cursor_visible = value->boolean;
	return 1;
}

static const VTermScreenCallbacks callbacks = { .settermprop = on_prop };

/* In the child: the slave becomes the controlling terminal and the standard streams. */
static void take_terminal(int master)
{
	int fd = open(ptsname(master), O_RDWR);

	setsid();
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
		_exit(126);
	for (int to = 0; to < 3; to++)
		dup2(fd, to);
	if (fd > 2)
		close(fd);
	close(master);
}

/* In the child: nothing of our environment decides what the program does. */
static void set_up(const char *term, const char *const *env)
{
	static const char *const clean[] = { "NO_COLOR", "COLORTERM", "TMUX",   "STY",   "ESCDELAY",
					     "LINES",    "COLUMNS",   "EDITOR", "VISUAL" };
	sigset_t none;

	for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		unsetenv(clean[i]);
	setenv("TERM", term, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	for (; env && *env; env++)
		putenv((char *)*env);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static void open_screen(struct pty *p, int cols, int rows)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	*p = (struct pty){ .cols = cols, .rows = rows, .cursor_visible = true };
	p->vt = vterm_new(rows, cols);
	vterm_set_utf8(p->vt, 1);
	p->screen = vterm_obtain_screen(p->vt);
	vterm_screen_enable_altscreen(p->screen, 1);
	vterm_screen_set_callbacks(p->screen, &callbacks, p);
	vterm_screen_reset(p->screen, 1);
	p->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(p->fd >= 0 && grantpt(p->fd) == 0 && unlockpt(p->fd) == 0, "no pseudo terminal");
	cr_assert_eq(ioctl(p->fd, TIOCSWINSZ, &size), 0);
	cr_assert_eq(tcgetattr(p->fd, &p->before), 0);
}

/* Whoever runs the tests may ignore or block signals (nohup, cron), which programs inherit. */
static void usual_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* True in the child. */
static bool split(struct pty *p, const char *term, const char *const *env)
{
	p->pid = fork();
	cr_assert(p->pid >= 0, "fork: %s", strerror(errno));
	if (p->pid == 0) {
		take_terminal(p->fd);
		usual_signals();
		set_up(term, env);
		return true;
	}
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	return false;
}

void pty_start(struct pty *p, int cols, int rows, const char *term, const char *const *env,
	       char *const argv[])
{
	open_screen(p, cols, rows);
	if (split(p, term, env)) {
		execvp(argv[0], argv);
		_exit(127);
	}
}

void pty_start_call(struct pty *p, int cols, int rows, const char *term, const char *const *env,
		    int (*call)(void *arg), void *arg)
{
	open_screen(p, cols, rows);
	if (split(p, term, env))
		_exit(call(arg));
}

void pty_end(struct pty *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	close(p->fd);
	vterm_free(p->vt);
	free(p->raw);
}

/* What the terminal itself answers (reports, positions) goes back to the program. */
static void answer(struct pty *p)
{
	char bytes[256];
	size_t n;

	while ((n = vterm_output_read(p->vt, bytes, sizeof(bytes))) > 0)
		if (write(p->fd, bytes, n) < 0)
			return;
}

/* libvterm 0.1 takes the first of several modes only, and no reports of focus: they are looked for in the bytes. */
static void watch_modes(struct pty *p, const char *bytes, size_t n)
{
	for (size_t i = 0; i + 5 <= n; i++)
		if (memcmp(bytes + i, "1000", 4) == 0 && (bytes[i + 4] | 4) == 'l')
			p->mouse = bytes[i + 4] == 'h';
	for (size_t i = 0; i + 8 <= n; i++)
		if (memcmp(bytes + i, "\033[?1004", 7) == 0)
			p->focus = bytes[i + 7] == 'h';
}

/* Takes in what is there within ms; false when nothing came. */
static bool pump(struct pty *p, int ms)
{
	struct pollfd poller = { .fd = p->fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	if (poll(&poller, 1, ms) <= 0 || !(poller.revents & POLLIN))
		return false;
	n = read(p->fd, bytes, sizeof(bytes));
	if (n <= 0)
		return false;
	if (p->n_bytes + (size_t)n > p->cap)
		p->raw = vec_grow(p->raw, &p->cap, p->n_bytes + (size_t)n, 1);
	memcpy(p->raw + p->n_bytes, bytes, (size_t)n);
	p->n_bytes += (size_t)n;
	watch_modes(p, bytes, (size_t)n);
	vterm_input_write(p->vt, bytes, (size_t)n);
	vterm_screen_flush_damage(p->screen);
	answer(p);
	return true;
}

void pty_type(struct pty *p, const char *bytes)
{
	size_t n = strlen(bytes);

	p->n_when_typed = p->n_bytes;
	cr_assert_eq(write(p->fd, bytes, n), (ssize_t)n);
}

void pty_resize(struct pty *p, int cols, int rows)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	p->cols = cols;
	p->rows = rows;
	vterm_set_size(p->vt, rows, cols);
	cr_assert_eq(ioctl(p->fd, TIOCSWINSZ, &size), 0);
}

VTermScreenCell pty_cell(struct pty *p, int row, int col)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(p->screen, (VTermPos){ .row = row, .col = col }, &cell);
	return cell;
}

/* Appends a row to text, and cuts trailing blanks. */
static size_t add_row(struct pty *p, int row, char *text, size_t n)
{
	size_t end = n;

	for (int col = 0; col < p->cols; col++) {
		VTermScreenCell cell = pty_cell(p, row, col);

		if (cell.chars[0] == (uint32_t)-1)
			continue;
		for (int i = 0; i < 2; i++)
			if (cell.chars[i] != 0 || i == 0)
				n += text_encode(cell.chars[i] ? cell.chars[i] : ' ', text + n);
			else
				break;
		if (cell.chars[0] != 0 && cell.chars[0] != ' ')
			end = n;
	}
	text[end] = '\0';
	return end;
}

char *pty_text(struct pty *p, int row)
{
	char *text = xmalloc((size_t)p->rows * ((size_t)p->cols * 8 + 1) + 1);
	size_t n = 0;

	if (row >= 0) {
		add_row(p, row, text, 0);
		return text;
	}
	for (int i = 0; i < p->rows; i++) {
		n = add_row(p, i, text, n);
		text[n++] = '\n';
	}
	text[n] = '\0';
	return text;
}

bool pty_shows(struct pty *p, const char *text)
{
	char *all = pty_text(p, -1);
	bool found = strstr(all, text) != NULL;

	free(all);
	return found;
}

/* Has the program ended, with nothing left to read? Then nothing more will come. */
static bool is_dead(struct pty *p)
{
	siginfo_t info = { .si_pid = 0 };

	if (p->pid <= 0 || waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return true;
	return info.si_pid != 0 && !pump(p, 0);
}

static void give_up(struct pty *p, const char *what, const char *text)
{
	char *all = pty_text(p, -1);

	cr_assert_fail("%s \"%s\" on a screen of %dx%d:\n%s", what, text, p->cols, p->rows, all);
}

void pty_wait(struct pty *p, const char *text)
{
	long end = now_ms() + DEADLINE_MS;

	while (!pty_shows(p, text)) {
		if (now_ms() > end || is_dead(p))
			give_up(p, "no", text);
		pump(p, 20);
	}
}

void pty_wait_gone(struct pty *p, const char *text)
{
	long end = now_ms() + DEADLINE_MS;

	while (pty_shows(p, text)) {
		if (now_ms() > end || is_dead(p))
			give_up(p, "still", text);
		pump(p, 20);
	}
}

void pty_wait_row(struct pty *p, int row, const char *text)
{
	long end = now_ms() + DEADLINE_MS;

	for (;;) {
		char *have = pty_text(p, row);
		bool found = strncmp(have, text, strlen(text)) == 0;

		free(have);
		if (found)
			return;
		if (now_ms() > end || is_dead(p))
			give_up(p, "no row that begins", text);
		pump(p, 20);
	}
}

/* Has the program nothing to read and does it sleep? */
static bool asleep(struct pty *p)
{
	char path[64], stat[512] = "", *state;
	int queued = 0, fd = open(ptsname(p->fd), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	FILE *f;

	if (fd >= 0) {
		ioctl(fd, FIONREAD, &queued);
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	f = fopen(path, "re");
	if (f) {
		stat[fread(stat, 1, sizeof(stat) - 1, f)] = '\0';
		fclose(f);
	}
	state = strrchr(stat, ')');
	return queued == 0 && state && state[1] == ' ' && state[2] == 'S';
}

void pty_wait_idle(struct pty *p)
{
	long end = now_ms() + DEADLINE_MS;

	/*
	 * Several times in a row: a program also sleeps for an instant while it works. More often
	 * while there was no answer yet: what is typed reaches the program's side a little later.
	 */
	for (int quiet = 0; quiet < (p->n_bytes > p->n_when_typed ? 3 : 250);) {
		cr_assert(now_ms() < end, "the program does not come to rest");
		if (pump(p, 1))
			quiet = 0;
		else
			quiet = asleep(p) ? quiet + 1 : 0;
	}
}

size_t pty_bytes_within(struct pty *p, int ms)
{
	long end = now_ms() + ms;
	size_t before = p->n_bytes;

	while (now_ms() < end)
		pump(p, (int)(end - now_ms()));
	return p->n_bytes - before;
}

int pty_wait_end(struct pty *p)
{
	long end = now_ms() + DEADLINE_MS;
	int status = 0;

	while (waitpid(p->pid, &status, WNOHANG) == 0) {
		cr_assert(now_ms() < end, "the program does not end");
		pump(p, 5);
	}
	while (pump(p, 0))
		;
	p->pid = 0;
	return status;
}

bool pty_sent(const struct pty *p, const char *bytes)
{
	return p->n_bytes > 0 && memmem(p->raw, p->n_bytes, bytes, strlen(bytes)) != NULL;
}

void pty_expect_restored(struct pty *p)
{
	struct termios now;

	cr_assert(!p->altscreen, "the alternate screen is left on");
	cr_assert(p->cursor_visible, "the cursor is left off");
	cr_assert(!p->mouse, "the mouse is left on");
	cr_assert(!p->focus, "reports of focus are left on");
	cr_assert_eq(tcgetattr(p->fd, &now), 0);
	cr_assert_eq(now.c_lflag, p->before.c_lflag, "local modes %x, not %x", now.c_lflag,
		     p->before.c_lflag);
	cr_assert_eq(now.c_iflag, p->before.c_iflag);
	cr_assert_eq(now.c_oflag, p->before.c_oflag);
}
