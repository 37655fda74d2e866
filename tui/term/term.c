/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curses, signals, and the way out.
 *
 * Curses knows the terminal: what it is able to do, its modes, its keys. It draws nothing: on screens
 * full of colours it sends two to three times as much as is needed, most of it colours that are set
 * already, so frame_diff.c works out what to send. Curses' own writes go past stdio, so ours go to the
 * descriptor directly too. Large frames are bracketed by synchronized output (DEC mode 2026).
 *
 * Input is read through a pad, because reading through a window would refresh it.
 */
#include "config.h"

#include "tui/term/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <termcap.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/canvas/theme.h"
#include "tui/contract/keymap.h"
#include "tui/term/cursor_output.h"
#include "tui/term/frame_diff.h"
#include "tui/term/jobs.h"
#include "tui/term/osc52.h"
#include "tui/term/terminal_restore.h"
#include "tui/term/terminal_type.h"

#define MAX_WAIT_FDS 8
/* Things the mouse did between two looks; curses keeps no more. */
#define MOUSE_MOST   8
/* A terminal that takes nothing for so long will not. */
#define STUCK_MS     1000
/* Bytes of a frame from which on synchronizing is worth its 16. */
#define SYNC_BYTES   600

/* Curses installs handlers for these, which we take away again: ours is a descriptor. */
static const int meddled[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define N_MEDDLED (sizeof(meddled) / sizeof(meddled[0]))

/* What curses shall call the brackets around pasted text: past all of its own codes. */
#define CODE_PASTE     (KEY_MAX + 1)
#define CODE_PASTE_END (KEY_MAX + 2)
/* And reports of focus. */
#define CODE_FOCUS     (KEY_MAX + 3)
#define CODE_FOCUS_END (KEY_MAX + 4)

struct term {
	SCREEN *screen;    /* curses' */
	FILE *in;          /* /dev/tty where standard input is none; NULL: standard input; owned */
	int in_fd;         /* where keys come from */
	int out_fd;        /* where bytes go to: ours, or standard output */
	bool stuck;        /* nothing can be sent any more, and we are to end */
	int signal_fd;     /* owned */
	sigset_t old_mask; /* signals blocked before us */
	WINDOW *pad;       /* keys are read through it */
	int n_colours;     /* 256, 16, 8, 0 */
	bool sync;         /* bracket large frames */
	bool focus;        /* reports of focus are wanted and understood */
	struct frame_diff *paint; /* owned */
	int cursor;               /* curs_set()'s, -1 at first */
	char *cursor_on;          /* what switches it on; owned */
	MEVENT mouse[MOUSE_MOST]; /* [n_mouse] not yet told of, the oldest last */
	size_t n_mouse;
	char partial[4]; /* [n_partial] of a character whose other bytes are not here yet */
	size_t n_partial;
	bool pasting; /* what comes is pasted text, not keys */
	int killed;   /* signal that asked us to end, or 0 */
};

/* What terminfo says, without requests for delays ("$<5/>"); "" when there is none. The caller frees. */
static char *plain_text(const char *s)
{
	char *out, *at;

	if (!s || s == (const char *)-1)
		s = "";
	out = at = xmalloc(strlen(s) + 1);
	while (*s != '\0') {
		const char *end = strncmp(s, "$<", 2) == 0 ? strchr(s, '>') : NULL;

		if (end)
			s = end + 1;
		else
			*at++ = *s++;
	}
	*at = '\0';
	return out;
}

static char *capability(const char *name)
{
	return plain_text(tigetstr(name));
}

/* Is that what the terminal takes for it, with two parameters? */
static bool takes(const char *name, int a, int b, const char *sequence)
{
	const char *s = tigetstr(name);
	char *text;
	bool same;

	if (!s || s == (const char *)-1)
		return false;
	text = plain_text(tparm(s, a, b));
	same = strcmp(text, sequence) == 0;
	free(text);
	return same;
}

static bool is_described(const char *term)
{
	return tgetent(NULL, term) == 1;
}

/* What to do where there is no screen. */
#define MOST_TAKE "export TERM=xterm-256color fits most terminals"

int term_possible(struct err *e)
{
	const char *term = getenv("TERM");
	int ret = 0;

	if (!isatty(STDOUT_FILENO))
		return err_set(e, -ENOTTY, "standard output is no terminal");
	if (!term || *term == '\0')
		return err_set(e, -ENOTTY,
			       "TERM is not set, which says what the terminal is: " MOST_TAKE);
	if (!terminal_type_find(term, is_described))
		return err_set(e, -ENOTTY, "nothing here describes terminals of type '%s': %s",
			       term, MOST_TAKE);
	if (!takes("cup", 1, 2, "\033[2;3H"))
		ret = err_set(e, -ENOTTY, "a terminal of type '%s' cannot place its cursor: %s",
			      term, MOST_TAKE);
	if (ret == 0 && !isatty(STDIN_FILENO)) {
		int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

		if (fd < 0)
			return err_set(e, -ENOTTY, "there is no terminal to take keys from");
		close(fd);
	}
	return ret;
}

/* How many colours are chosen by the sequences that we know. */
static int known_colours(void)
{
	/* terminals of millions of colours (xterm-direct) have no palette but the first eight */
	int n = tigetnum("colors");

	if (n >= 8 && n <= 256 && takes("setaf", 243, 0, "\033[38;5;243m"))
		return theme_depth(n);
	if (n >= 16 && n <= 256 && takes("setaf", 9, 0, "\033[91m"))
		return 16;
	return n >= 8 && takes("setaf", 1, 0, "\033[31m") ? 8 : 0;
}

static int wanted_colours(enum colour_mode mode)
{
	const char *no_color = getenv("NO_COLOR");
	int has = known_colours(), most = 0;

	switch (mode) {
	case COLOUR_AUTO:
		return no_color && *no_color != '\0' ? 0 : has;
	case COLOUR_NEVER:
		return 0;
	case COLOUR_8:
		most = 8;
		break;
	case COLOUR_16:
		most = 16;
		break;
	case COLOUR_256:
		most = 256;
		break;
	}
	return most < has ? most : has;
}

/* Was or is there a signal that asks us to end? */
static bool must_end(const struct term *t)
{
	sigset_t pending;

	return t->killed != 0 || (sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) ||
								sigismember(&pending, SIGHUP)));
}

/*
 * Until the terminal takes more, which one that is held still (^S) or has hung does not. False: we are asked to end meanwhile,
 * and it takes nothing for STUCK_MS.
 */
static bool wait_out(struct term *t)
{
	struct pollfd out = { .fd = t->out_fd, .events = POLLOUT };

	while (!t->stuck && poll(&out, 1, STUCK_MS) == 0)
		t->stuck = must_end(t);
	return !t->stuck;
}

/* Straight to the terminal, behind what curses has written. */
static void send(struct term *t, const char *s, size_t n)
{
	fflush(stdout);
	while (n > 0 && !t->stuck) {
		ssize_t sent = write(t->out_fd, s, n);

		if (sent < 0 && (errno == EINTR || (errno == EAGAIN && wait_out(t))))
			continue;
		if (sent <= 0)
			return;
		s += sent;
		n -= (size_t)sent;
	}
}

/*
 * A way to the terminal of our own, as waiting in write() nobody could end us; others have standard output, too, and are not
 * to be told to try again.
 */
static int open_out(void)
{
	int fd = open("/proc/self/fd/1", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? STDOUT_FILENO : fd;
}

/* Shows the cursor or hides it. */
static void show_cursor(struct term *t, bool want)
{
	if ((int)want != t->cursor && wait_out(t))
		curs_set(want);
	t->cursor = want;
}

/* Terminals that know, or may know, mode 2026; others ignore it, but these print rubbish or are slow. */
static bool may_sync(const struct term_options *o)
{
	const char *term = getenv("TERM");

	return o->sync && term && strcmp(term, "linux") != 0 && strncmp(term, "vt", 2) != 0 &&
	       strcmp(term, "ansi") != 0 && strncmp(term, "screen", 6) != 0;
}

/* Terminals that know, or may know, mode 2004, bracketed paste. */
static bool may_bracket(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "linux") != 0 && strncmp(term, "vt", 2) != 0 &&
	       strcmp(term, "ansi") != 0;
}

/* May the terminal know mode 1004, reports of focus, and are those no keys of its own? */
static bool may_tell_focus(void)
{
	return may_bracket() && key_defined("\033[I") == 0 && key_defined("\033[O") == 0;
}

static int open_keys(struct term *t, struct err *e)
{
	t->in_fd = STDIN_FILENO;
	if (isatty(STDIN_FILENO))
		return 0;
	t->in = fopen("/dev/tty", "r+e");
	if (!t->in)
		return err_set(e, -errno, "/dev/tty: %s", strerror(errno));
	t->in_fd = fileno(t->in);
	return 0;
}

static SCREEN *start_curses(struct term *t)
{
	struct sigaction before[N_MEDDLED];
	SCREEN *screen;

	for (size_t i = 0; i < N_MEDDLED; i++)
		sigaction(meddled[i], NULL, &before[i]);
	screen = newterm(NULL, stdout, t->in ? t->in : stdin);
	for (size_t i = 0; i < N_MEDDLED; i++)
		sigaction(meddled[i], &before[i], NULL);
	return screen;
}

static void set_modes(struct term *t, const struct term_options *o)
{
	cbreak();
	noecho();
	nonl();
	if (!getenv("ESCDELAY"))
		set_escdelay(25);
	t->pad = newpad(1, 1);
	keypad(t->pad, TRUE);
	nodelay(t->pad, TRUE);
	/* what terminfo often lacks */
	define_key("\033[Z", KEY_BTAB);
	define_key("\033[200~", CODE_PASTE);
	define_key("\033[201~", CODE_PASTE_END);
	t->focus = o->focus && may_tell_focus();
	if (t->focus) {
		define_key("\033[I", CODE_FOCUS);
		define_key("\033[O", CODE_FOCUS_END);
	}
	t->n_colours = wanted_colours(o->colour);
	if (o->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
			  NULL);
		mouseinterval(0);
	}
}

/* Attributes that cannot be shown together with colours, as bits of ours. */
static uint16_t clashing(void)
{
	int ncv = tigetnum("ncv");

	return ncv < 0 ? 0
		       : (uint16_t)((ncv & 0x02 ? LOOK_UNDERLINE : 0) |
				    (ncv & 0x04 ? LOOK_REVERSE : 0) | (ncv & 0x20 ? LOOK_BOLD : 0));
}

/* Do tabs reach the terminal, or does its line make blanks of them? */
static bool has_tabs(void)
{
	struct termios modes;

	return tcgetattr(STDOUT_FILENO, &modes) == 0 && (modes.c_oflag & TABDLY) != TAB3;
}

static struct terminal_can abilities(const struct term *t)
{
	const char *type = getenv("TERM");

	return (struct terminal_can){
		.n_colours = t->n_colours,
		.undo = takes("op", 0, 0, "\033[39;49m") && takes("rmul", 0, 0, "\033[24m"),
		.wait = tigetflag("xenl") > 0,
		.tint = tigetflag("bce") > 0,
		.tabs = takes("ht", 0, 0, "\t") && tigetnum("it") == 8 && has_tabs(),
		.el = takes("el", 0, 0, "\033[K"),
		.ech = takes("ech", 7, 0, "\033[7X"),
		.scroll = takes("csr", 1, 2, "\033[2;3r") && takes("ind", 0, 0, "\n") &&
			  takes("ri", 0, 0, "\033M"),
		.leap = takes("indn", 7, 0, "\033[7S") && takes("rin", 7, 0, "\033[7T"),
		.cp437 = type && strcmp(type, "linux") == 0,
		.clash = t->n_colours > 0 ? clashing() : 0,
	};
}

static void rescue_add_capability(const char *name)
{
	char *s = capability(name);

	terminal_restore_add(s);
	free(s);
}

static void arm_rescue(const struct term *t, const struct term_options *o)
{
	if (may_sync(o))
		terminal_restore_add("\033[?2026l");
	if (o->mouse)
		terminal_restore_add("\033[?1006;1000l");
	if (may_bracket())
		terminal_restore_add("\033[?2004l");
	if (t->focus)
		terminal_restore_add("\033[?1004l");
	if (takes("csr", 1, 2, "\033[2;3r"))
		terminal_restore_add("\033[r");
	rescue_add_capability("sgr0");
	rescue_add_capability("rmkx");
	rescue_add_capability("rmcup");
	rescue_add_capability("cnorm");
	terminal_restore_arm();
}

/* The terminal is ours, in curses' modes, and nobody knows what it shows. */
static void enter(struct term *t)
{
	wnoutrefresh(stdscr);
	doupdate();
	if (may_bracket())
		send(t, "\033[?2004h", 8);
	if (t->focus)
		send(t, "\033[?1004h", 8);
	frame_diff_forget(t->paint);
	t->cursor = -1;
	t->pasting = false;
}

int term_open(const struct term_options *o, struct term **out, struct err *e)
{
	struct term *t = xcalloc(1, sizeof(*t));
	const char *type = getenv("TERM");
	struct terminal_can can;
	int ret = open_keys(t, e);

	if (ret < 0) {
		free(t);
		return ret;
	}
	t->signal_fd = jobs_watch(&t->old_mask);
	terminal_restore_prepare(t->in_fd);
	if (t->signal_fd >= 0)
		t->screen = start_curses(t);
	if (!t->screen) {
		ret = err_set(e, -ENOTTY, "the terminal '%s' cannot be used", type ? type : "");
		terminal_restore_done();
		pthread_sigmask(SIG_SETMASK, &t->old_mask, NULL);
		if (t->signal_fd >= 0)
			close(t->signal_fd);
		if (t->in)
			fclose(t->in);
		free(t);
		return ret;
	}
	set_modes(t, o);
	arm_rescue(t, o);
	t->cursor_on = capability("cnorm");
	t->sync = may_sync(o);
	can = abilities(t);
	t->paint = frame_diff_new(&can);
	t->out_fd = open_out();
	enter(t);
	*out = t;
	return 0;
}

/*
 * Gives the screen to others for a while, or for good. The cursor is switched on last: some terminals
 * bring its state back together with the main screen.
 */
static void leave(struct term *t)
{
	size_t n;
	const char *bytes = frame_diff_plain(t->paint, &n);

	send(t, bytes, n);
	if (may_bracket())
		send(t, "\033[?2004l", 8);
	if (t->focus)
		send(t, "\033[?1004l", 8);
	if (wait_out(t))
		endwin();
	else
		terminal_restore_modes();
	send(t, t->cursor_on, strlen(t->cursor_on));
}

void term_close(struct term *t)
{
	int killed = t->killed;

	leave(t);
	terminal_restore_done();
	delwin(t->pad);
	delscreen(t->screen);
	frame_diff_free(t->paint);
	free(t->cursor_on);
	if (t->in)
		fclose(t->in);
	if (t->out_fd != STDOUT_FILENO)
		close(t->out_fd);
	close(t->signal_fd);
	if (killed != 0)
		jobs_die(killed);
	pthread_sigmask(SIG_SETMASK, &t->old_mask, NULL);
	free(t);
}

void term_size(const struct term *t, int *cols, int *rows)
{
	(void)t;
	*cols = COLS;
	*rows = LINES;
}

int term_colours(const struct term *t)
{
	return t->n_colours;
}

void term_draw(struct term *t, const struct canvas *c)
{
	size_t n;
	const char *bytes = frame_diff_frame(t->paint, c, &n);
	bool sync = t->sync && n >= SYNC_BYTES;

	show_cursor(t, c->cursor_row >= 0 && c->cursor_row < c->rows && c->cursor_col >= 0 &&
			       c->cursor_col < c->cols);
	if (sync)
		send(t, "\033[?2026h", 8);
	send(t, bytes, n);
	if (sync)
		send(t, "\033[?2026l", 8);
}

void term_repaint(struct term *t)
{
	frame_diff_forget(t->paint);
}

/* Takes the size that the terminal has now. */
static void take_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		return;
	if (size.ws_row != LINES || size.ws_col != COLS)
		resizeterm(size.ws_row, size.ws_col);
}

/* After somebody else had the terminal. */
static void take_back(struct term *t)
{
	take_size();
	enter(t);
}

static void take_signal(struct term *t, int number, struct term_event *e)
{
	switch (number) {
	case SIGINT:
		e->kind = TERM_KEY;
		e->key = KEYCODE_CTRL('C');
		break;
	case SIGTSTP:
		leave(t);
		jobs_stop();
		take_back(t);
		e->kind = TERM_RESIZE;
		break;
	case SIGCONT:
		/* stopped from outside: the shell may have changed the line's modes */
		leave(t);
		take_back(t);
		e->kind = TERM_RESIZE;
		break;
	case SIGWINCH:
		/* the same size again may mean that it was another for an instant: what is there? */
		take_size();
		frame_diff_forget(t->paint);
		e->kind = TERM_RESIZE;
		break;
	default:
		t->killed = number;
		e->kind = TERM_GONE;
		break;
	}
}

static const struct {
	int curses;
	uint32_t key;
} key_codes[] = {
	{ KEY_UP, KEYCODE_UP },
	{ KEY_DOWN, KEYCODE_DOWN },
	{ KEY_LEFT, KEYCODE_LEFT },
	{ KEY_RIGHT, KEYCODE_RIGHT },
	{ KEY_HOME, KEYCODE_HOME },
	{ KEY_END, KEYCODE_END },
	{ KEY_PPAGE, KEYCODE_PAGE_UP },
	{ KEY_NPAGE, KEYCODE_PAGE_DOWN },
	{ KEY_IC, KEYCODE_INSERT },
	{ KEY_DC, KEYCODE_DELETE },
	{ KEY_BTAB, KEYCODE_S_TAB },
	{ KEY_ENTER, KEYCODE_ENTER },
	{ KEY_BACKSPACE, KEYCODE_BACKSPACE },
};

static uint32_t key_of_code(wint_t code)
{
	if (code >= (wint_t)KEY_F(1) && code <= (wint_t)KEY_F(12))
		return KEYCODE_F1 + (code - (wint_t)KEY_F(1));
	for (size_t i = 0; i < sizeof(key_codes) / sizeof(key_codes[0]); i++)
		if ((wint_t)key_codes[i].curses == code)
			return key_codes[i].key;
	return KEYCODE_NONE;
}

/* One key stands for all that the mouse did; curses gives the newest first. */
static void fetch_mouse(struct term *t)
{
	MEVENT m;

	while (getmouse(&m) == OK && t->n_mouse < MOUSE_MOST)
		t->mouse[t->n_mouse++] = m;
}

/* The oldest thing that the mouse did and was not told of; there is one. */
static void take_mouse(struct term *t, struct term_event *e)
{
	MEVENT m = t->mouse[--t->n_mouse];

	e->row = m.y;
	e->col = m.x;
	if (m.bstate & BUTTON1_PRESSED) {
		e->kind = TERM_CLICK;
	} else if (m.bstate & BUTTON1_RELEASED) {
		e->kind = TERM_RELEASE;
	} else if (m.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		e->kind = TERM_WHEEL;
		e->notches = m.bstate & BUTTON4_PRESSED ? -1 : 1;
	}
}

/*
 * The next key, KEY_CODE_YES, or character of UTF-8, OK; ERR: there is none. curses decodes characters by the locale, and one
 * static file has none.
 */
static int next_code(struct term *t, wint_t *c)
{
	size_t used;
	int got;

	while ((got = wgetch(t->pad)) != ERR) {
		*c = (wint_t)got;
		if (got > 0xff)
			return KEY_CODE_YES;
		if (got < 0x80) {
			t->n_partial = 0;
			return OK;
		}
		/* a byte that begins a character ends a malformed one */
		if (got >= 0xc0)
			t->n_partial = 0;
		t->partial[t->n_partial++] = (char)got;
		*c = text_decode(t->partial, t->n_partial, &used);
		if (used == t->n_partial && *c != 0xfffd) {
			t->n_partial = 0;
			return OK;
		}
		t->n_partial %= sizeof(t->partial);
	}
	return ERR;
}

/* Gives a character back to next_code(). */
static void give_back(wint_t c)
{
	char bytes[4];
	size_t n = text_encode(c, bytes);

	while (n > 0)
		ungetch((unsigned char)bytes[--n]);
}

/*
 * What follows an escape that was none of the known keys: nothing (the key Esc), or the rest of a
 * sequence that terminfo does not know, which must not be taken for keys.
 */
static bool is_lone_escape(struct term *t)
{
	wint_t c;
	int kind = next_code(t, &c);

	if (kind == KEY_CODE_YES)
		ungetch((int)c);
	if (kind != OK)
		return true;
	if (c == 'O') {
		next_code(t, &c);
		return false;
	}
	if (c != '[') {
		give_back(c);
		return true;
	}
	/* parameters and intermediates, then one final byte (ECMA-48 §5.4) */
	while (next_code(t, &c) == OK && c >= 0x20 && c < 0x40)
		;
	return false;
}

/* A character of pasted text; a lone Esc ends a paste whose end was lost. */
static void take_pasted(struct term *t, wint_t c, int kind, struct term_event *e)
{
	if (kind == KEY_CODE_YES) {
		t->pasting = c != CODE_PASTE_END;
	} else if (c == KEYCODE_ESC) {
		t->pasting = !is_lone_escape(t);
	} else {
		e->kind = TERM_PASTE;
		e->key = c < 0x20 ? ' ' : (uint32_t)c;
	}
}

/* One key or click; false when there is none. */
static bool take_input(struct term *t, struct term_event *e)
{
	wint_t c;
	int kind;

	if (t->n_mouse > 0) {
		take_mouse(t, e);
		return true;
	}
	kind = next_code(t, &c);
	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES && (c == CODE_FOCUS || c == CODE_FOCUS_END)) {
		e->kind = TERM_FOCUS;
		e->has_focus = c == CODE_FOCUS;
		return true;
	}
	if (t->pasting) {
		take_pasted(t, c, kind, e);
		return true;
	}
	if (kind == KEY_CODE_YES) {
		t->pasting = c == CODE_PASTE;
		if (c == KEY_MOUSE)
			fetch_mouse(t);
		e->key = key_of_code(c);
	} else if (c == KEYCODE_ESC) {
		e->key = is_lone_escape(t) ? KEYCODE_ESC : KEYCODE_NONE;
	} else {
		e->key = c == '\n' ? KEYCODE_ENTER : c == 0x08 ? KEYCODE_BACKSPACE : (uint32_t)c;
	}
	if (e->kind == TERM_NOTHING && e->key != KEYCODE_NONE)
		e->kind = TERM_KEY;
	return true;
}

void term_next(struct term *t, struct term_event *e)
{
	struct signalfd_siginfo info;

	*e = (struct term_event){ .kind = TERM_NOTHING };
	if (t->killed != 0)
		e->kind = TERM_GONE;
	while (e->kind == TERM_NOTHING &&
	       read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		take_signal(t, (int)info.ssi_signo, e);
	while (e->kind == TERM_NOTHING && take_input(t, e))
		;
}

void term_wait(struct term *t, const int *fds, size_t n, int timeout_ms)
{
	struct pollfd polls[2 + MAX_WAIT_FDS] = { { .fd = t->in_fd, .events = POLLIN },
						  { .fd = t->signal_fd, .events = POLLIN } };

	for (size_t i = 0; i < n && i < MAX_WAIT_FDS; i++)
		polls[2 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (poll(polls, 2 + (nfds_t)(n < MAX_WAIT_FDS ? n : MAX_WAIT_FDS), timeout_ms) <= 0)
		return;
	if (polls[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		t->killed = SIGHUP;
}

bool term_copy(struct term *t, const char *text)
{
	char *bytes = osc52_sequence(text, getenv("TMUX") != NULL);

	if (!bytes)
		return false;
	send(t, bytes, strlen(bytes));
	free(bytes);
	return true;
}

int term_run(struct term *t, char *const argv[])
{
	int ret;

	leave(t);
	fflush(NULL);
	ret = jobs_run(argv, t->in_fd, STDOUT_FILENO, &t->old_mask);
	take_back(t);
	return ret;
}

int term_feed(struct term *t, const char *command, const char *text)
{
	return jobs_feed(command, text, &t->old_mask);
}
