/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curses, signals, and the way out.
 *
 * Input is read through a pad, because reading through a window would refresh it. Frames are written
 * as whole rows of cells; curses works out what to send. Where a frame changes much it is bracketed by
 * synchronized output (DEC mode 2026), which curses does not know: its own writes go past stdio, so
 * what we write goes to the descriptor directly too.
 */
#include "config.h"

#include "term.h"

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
#include <termcap.h>
#include <unistd.h>
#include <wchar.h>

#include "err.h"
#include "glyphs.h"
#include "jobs.h"
#include "keymap.h"
#include "mem.h"
#include "osc52.h"
#include "rescue.h"
#include "theme.h"

#define MAX_WAIT_FDS  8
/* Cells that change before synchronizing is worth its 16 bytes. */
#define SYNC_CELLS    400
/* Widest run of blanks that is dressed as what is left of it. */
#define MAX_GAP       8
/* Style bits that matter here: a base and four flags. */
#define N_STYLE_CODES 0x1000u

/* Curses installs handlers for these, which we take away again: ours is a descriptor. */
static const int meddled[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define N_MEDDLED (sizeof(meddled) / sizeof(meddled[0]))

/* What a style is on this terminal. */
struct dress {
	attr_t attrs;
	short pair;
	bool known; /* worked out already */
	bool ink;   /* shows in letters only: blanks of all such styles look alike */
};

struct term {
	SCREEN *screen;    /* curses' */
	FILE *in;          /* /dev/tty where standard input is none; NULL: standard input; owned */
	int in_fd;         /* where keys come from */
	int signal_fd;     /* owned */
	sigset_t old_mask; /* signals blocked before us */
	WINDOW *pad;       /* keys are read through it */
	int n_colours;     /* 256, 16, 8, 0 */
	short n_pairs;     /* colour pairs in use */
	short pairs[257][257]; /* [fg + 1][bg + 1], 0: none yet */
	bool sync;             /* bracket large frames */
	bool cp437;            /* the console of Linux: fonts of 512 glyphs */
	bool forgot;           /* curses' picture of the screen is not `last` any more */
	struct canvas last;    /* as last sent; no cells at first */
	struct dress dress[N_STYLE_CODES];
	cchar_t *line;   /* [last.cols], a row on its way; owned */
	int cursor;      /* curs_set()'s, -1 at first */
	char *cursor_on; /* what switches it on; owned */
	int killed;      /* signal that asked us to end, or 0 */
};

int term_possible(struct err *e)
{
	const char *term = getenv("TERM");
	int ret = 0;

	if (!isatty(STDOUT_FILENO))
		return err_set(e, -ENOTTY, "standard output is no terminal");
	if (!term || *term == '\0' || tgetent(NULL, term) != 1)
		return err_set(e, -ENOTTY, "the terminal type '%s' is unknown", term ? term : "");
	if (!tigetstr("cup") || !tigetstr("clear"))
		ret = err_set(e, -ENOTTY, "a terminal of type '%s' cannot place its cursor", term);
	if (ret == 0 && !isatty(STDIN_FILENO)) {
		int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

		if (fd < 0)
			return err_set(e, -ENOTTY, "there is no terminal to take keys from");
		close(fd);
	}
	return ret;
}

static int wanted_colours(enum colour_mode mode)
{
	const char *no_color = getenv("NO_COLOR");
	/* terminals of millions of colours (xterm-direct) have no palette but the first eight */
	int has = has_colors() ? (COLORS > 256 ? 8 : theme_depth(COLORS)) : 0, most = 0;

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

/*
 * The pair of two colours of ours (-1: default); 0 when the terminal has no more. Plain text has a pair
 * of its own too: from a colour to pair 0 curses sends 11 bytes, from pair to pair 5.
 */
static short pair_of(struct term *t, int fg, int bg)
{
	short *pair = &t->pairs[fg + 1][bg + 1];

	if (*pair != 0 || t->n_pairs + 1 >= COLOR_PAIRS || t->n_pairs == INT16_MAX)
		return *pair;
	if (init_pair((short)(t->n_pairs + 1), (short)fg, (short)bg) == OK)
		*pair = ++t->n_pairs;
	return *pair;
}

static const struct dress *dress_of(struct term *t, uint16_t style)
{
	struct dress *d = &t->dress[style % N_STYLE_CODES];
	struct look look;

	if (d->known)
		return d;
	look = theme_look(style, t->n_colours);
	d->attrs = (look.attrs & LOOK_BOLD ? WA_BOLD : 0) |
		   (look.attrs & LOOK_REVERSE ? WA_REVERSE : 0) |
		   (look.attrs & LOOK_UNDERLINE ? WA_UNDERLINE : 0);
	if (t->n_colours > 0)
		d->pair = pair_of(t, look.fg, look.bg);
	d->ink = look.bg < 0 && d->attrs == 0;
	d->known = true;
	return d;
}

/* Curses must count the columns of a glyph as we did. */
static wchar_t shown(const struct term *t, const struct cell *cell, int width)
{
	uint32_t cp = t->cp437 ? glyph_cp437(cell->cp) : cell->cp;

	return wcwidth((wchar_t)cp) == width ? (wchar_t)cp : L'?';
}

static bool is_ink_blank(struct term *t, const struct cell *cell)
{
	return cell->cp == ' ' && cell->mark == 0 && dress_of(t, cell->style)->ink;
}

/*
 * What the blanks from col on are dressed in: as the letter to their left if nobody can see that, which
 * saves switching colours there and back. Wide gaps are left for curses to jump over.
 */
static const struct dress *dress_of_gap(struct term *t, const struct canvas *c,
					const struct cell *row, int col)
{
	const struct dress *own = dress_of(t, row[col].style), *left;
	int end = col;

	if (col == 0)
		return own;
	left = dress_of(t, row[col - 1].style);
	while (end < c->cols && end - col <= MAX_GAP && is_ink_blank(t, &row[end]))
		end++;
	return left->ink && end < c->cols && end - col <= MAX_GAP ? left : own;
}

/* Makes curses' cells of a row; returns how many there are. */
static int dress_row(struct term *t, const struct canvas *c, const struct cell *row)
{
	const struct dress *d = NULL;
	int n = 0;

	for (int col = 0; col < c->cols; col++) {
		bool wide = col + 1 < c->cols && row[col + 1].cp == 0;
		wchar_t text[3] = { shown(t, &row[col], wide ? 2 : 1), (wchar_t)row[col].mark, 0 };

		if (!is_ink_blank(t, &row[col]))
			d = dress_of(t, row[col].style);
		else if (col == 0 || !is_ink_blank(t, &row[col - 1]))
			d = dress_of_gap(t, c, row, col);
		setcchar(&t->line[n++], text, d->attrs, d->pair, NULL);
		if (wide && text[0] == L'?')
			setcchar(&t->line[n++], L" ", d->attrs, d->pair, NULL);
		col += wide;
	}
	return n;
}

static size_t count_changes(const struct cell *a, const struct cell *b, int n)
{
	size_t changes = 0;

	for (int i = 0; i < n; i++)
		changes += a[i].cp != b[i].cp || a[i].style != b[i].style || a[i].mark != b[i].mark;
	return changes;
}

/* Straight to the terminal, behind what curses has written. */
static void send(const char *s, size_t n)
{
	fflush(stdout);
	while (n > 0) {
		ssize_t sent = write(STDOUT_FILENO, s, n);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return;
		s += sent;
		n -= (size_t)sent;
	}
}

static void place_cursor(struct term *t, const struct canvas *c)
{
	int want = c->cursor_row >= 0 && c->cursor_row < c->rows && c->cursor_col >= 0 &&
		   c->cursor_col < c->cols;

	if (want != t->cursor)
		curs_set(want);
	t->cursor = want;
	if (want)
		wmove(stdscr, c->cursor_row, c->cursor_col);
	leaveok(stdscr, !want);
}

/* Makes `last` fit the canvas; where curses does not know it any more, everything differs. */
static void resize_last(struct term *t, const struct canvas *c)
{
	if (t->last.cell && t->last.cols == c->cols && t->last.rows == c->rows && !t->forgot)
		return;
	if (t->last.cell)
		canvas_done(&t->last);
	canvas_init(&t->last, c->cols, c->rows, c->ascii);
	t->forgot = false;
	for (int i = 0; i < c->cols * c->rows; i++)
		t->last.cell[i].cp = UINT32_MAX;
	t->line = xreallocarray(t->line, (size_t)c->cols + 1, sizeof(*t->line));
}

/* Terminals that know, or may know, mode 2026; others ignore it, but these print rubbish or are slow. */
static bool may_sync(const struct term_options *o)
{
	const char *term = getenv("TERM");

	return o->sync && term && strcmp(term, "linux") != 0 && strncmp(term, "vt", 2) != 0 &&
	       strcmp(term, "ansi") != 0 && strncmp(term, "screen", 6) != 0;
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

/* What curses erases with looks like what we call blank. */
static void set_background(struct term *t)
{
	const struct dress *d = dress_of(t, STYLE_NORMAL);
	cchar_t blank;

	setcchar(&blank, L" ", d->attrs, d->pair, NULL);
	wbkgrndset(stdscr, &blank);
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
	if (start_color() == OK)
		use_default_colors();
	t->n_colours = wanted_colours(o->colour);
	set_background(t);
	if (o->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
}

/* What terminfo says, without requests for delays ("$<5/>"); "" when there is none. The caller frees. */
static char *capability(const char *name)
{
	const char *s = tigetstr(name), *end;
	char *out, *at;

	if (!s || s == (const char *)-1)
		s = "";
	out = at = xmalloc(strlen(s) + 1);
	while (*s != '\0') {
		end = strncmp(s, "$<", 2) == 0 ? strchr(s, '>') : NULL;
		if (end)
			s = end + 1;
		else
			*at++ = *s++;
	}
	*at = '\0';
	return out;
}

static void rescue_add_capability(const char *name)
{
	char *s = capability(name);

	rescue_add(s);
	free(s);
}

static void arm_rescue(const struct term_options *o)
{
	if (may_sync(o))
		rescue_add("\033[?2026l");
	if (o->mouse)
		rescue_add("\033[?1006;1000l");
	rescue_add_capability("sgr0");
	rescue_add_capability("rmkx");
	rescue_add_capability("rmcup");
	rescue_add_capability("cnorm");
	rescue_arm();
}

int term_open(const struct term_options *o, struct term **out, struct err *e)
{
	struct term *t = xcalloc(1, sizeof(*t));
	const char *type = getenv("TERM");
	int ret = open_keys(t, e);

	if (ret < 0) {
		free(t);
		return ret;
	}
	t->signal_fd = jobs_watch(&t->old_mask);
	rescue_prepare(t->in_fd);
	if (t->signal_fd >= 0)
		t->screen = start_curses(t);
	if (!t->screen) {
		ret = err_set(e, -ENOTTY, "the terminal '%s' cannot be used", type ? type : "");
		rescue_done();
		pthread_sigmask(SIG_SETMASK, &t->old_mask, NULL);
		if (t->signal_fd >= 0)
			close(t->signal_fd);
		if (t->in)
			fclose(t->in);
		free(t);
		return ret;
	}
	set_modes(t, o);
	arm_rescue(o);
	t->cursor = -1;
	t->cursor_on = capability("cnorm");
	t->sync = may_sync(o);
	t->cp437 = type && strcmp(type, "linux") == 0;
	*out = t;
	return 0;
}

/*
 * Gives the screen to others for a while, or for good. The cursor is switched on last: some terminals
 * bring its state back together with the main screen.
 */
static void leave(struct term *t)
{
	endwin();
	send(t->cursor_on, strlen(t->cursor_on));
}

void term_close(struct term *t)
{
	int killed = t->killed;

	leave(t);
	rescue_done();
	delwin(t->pad);
	delscreen(t->screen);
	if (t->last.cell)
		canvas_done(&t->last);
	free(t->line);
	free(t->cursor_on);
	if (t->in)
		fclose(t->in);
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

bool term_mono(const struct term *t)
{
	return t->n_colours == 0;
}

void term_draw(struct term *t, const struct canvas *c)
{
	size_t changes = 0;
	bool sync;

	resize_last(t, c);
	for (int row = 0; row < c->rows; row++) {
		size_t at = (size_t)row * (size_t)c->cols, n;

		n = count_changes(c->cell + at, t->last.cell + at, c->cols);
		if (n > 0)
			mvwadd_wchnstr(stdscr, row, 0, t->line, dress_row(t, c, c->cell + at));
		changes += n;
	}
	memcpy(t->last.cell, c->cell, (size_t)c->cols * (size_t)c->rows * sizeof(*c->cell));
	sync = t->sync && changes >= SYNC_CELLS;
	if (sync)
		send("\033[?2026h", 8);
	place_cursor(t, c);
	wnoutrefresh(stdscr);
	doupdate();
	if (sync)
		send("\033[?2026l", 8);
}

void term_repaint(struct term *t)
{
	(void)t;
	clearok(curscr, TRUE);
}

/* Takes the size that the terminal has now. Curses forgets what does not fit, even if it does later. */
static void take_size(struct term *t)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		return;
	if (size.ws_row == LINES && size.ws_col == COLS)
		return;
	resizeterm(size.ws_row, size.ws_col);
	t->forgot = true;
}

/* After somebody else had the terminal. */
static void take_back(struct term *t)
{
	take_size(t);
	clearok(curscr, TRUE);
	t->cursor = -1;
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
		take_size(t);
		clearok(curscr, TRUE);
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

static void take_mouse(struct term_event *e)
{
	MEVENT m;

	if (getmouse(&m) != OK)
		return;
	e->row = m.y;
	e->col = m.x;
	if (m.bstate & BUTTON1_PRESSED) {
		e->kind = TERM_CLICK;
	} else if (m.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		e->kind = TERM_WHEEL;
		e->notches = m.bstate & BUTTON4_PRESSED ? -1 : 1;
	}
}

/*
 * What follows an escape that was none of the known keys: nothing (the key Esc), or the rest of a
 * sequence that terminfo does not know, which must not be taken for keys.
 */
static bool is_lone_escape(struct term *t)
{
	wint_t c;
	int kind = wget_wch(t->pad, &c);

	if (kind == KEY_CODE_YES)
		ungetch((int)c);
	if (kind != OK)
		return true;
	if (c == 'O') {
		wget_wch(t->pad, &c);
		return false;
	}
	if (c != '[') {
		unget_wch((wchar_t)c);
		return true;
	}
	/* parameters and intermediates, then one final byte (ECMA-48 §5.4) */
	while (wget_wch(t->pad, &c) == OK && c >= 0x20 && c < 0x40)
		;
	return false;
}

/* One key or click; false when there is none. */
static bool take_input(struct term *t, struct term_event *e)
{
	wint_t c;
	int kind = wget_wch(t->pad, &c);

	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES) {
		if (c == KEY_MOUSE)
			take_mouse(e);
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

	(void)t;
	if (!bytes)
		return false;
	send(bytes, strlen(bytes));
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
