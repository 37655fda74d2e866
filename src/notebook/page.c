/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "notebook/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

/* A larger file is none of ours. */
#define PAGE_BYTES_MOST 1000000u
/* Views, and notes, of one file. */
#define ENTRIES_MOST    5000u
#define NAME_BYTES_MOST 64u
#define HEAD_LINE       "# saved views and notes of proftop"
/* Somebody else's change takes as long as the disk does: how often it is looked, and for how long. */
#define LOCK_PAUSE_MS   5
#define LOCK_MOST_MS    5000

struct key {
	const char *name;
	size_t offset; /* of a char * */
};

static const struct key view_keys[] = {
#define X(field, key) { key, offsetof(struct saved_view, field) },
	SAVED_VIEW_KEYS(X)
#undef X
};

static const struct key note_keys[] = {
#define X(field, key) { key, offsetof(struct note, field) },
	NOTE_KEYS(X)
#undef X
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char **field_of(void *entry, const struct key *k)
{
	return (char **)(void *)((char *)entry + k->offset);
}

static const char *value_of(const void *entry, const struct key *k)
{
	return *(char *const *)(const void *)((const char *)entry + k->offset);
}

static void fields_free(void *entry, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(*field_of(entry, &keys[i]));
}

static void fields_copy(void *to, const void *from, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = value_of(from, &keys[i]);

		*field_of(to, &keys[i]) = value ? xstrdup(value) : NULL;
	}
}

void saved_view_done(struct saved_view *v)
{
	free(v->name);
	fields_free(v, view_keys, COUNT(view_keys));
	*v = (struct saved_view){ 0 };
}

struct saved_view saved_view_copy(const struct saved_view *v)
{
	struct saved_view copy = { .name = v->name ? xstrdup(v->name) : NULL };

	fields_copy(&copy, v, view_keys, COUNT(view_keys));
	return copy;
}

void note_done(struct note *n)
{
	fields_free(n, note_keys, COUNT(note_keys));
	*n = (struct note){ 0 };
}

static struct note note_copy(const struct note *n)
{
	struct note copy = { 0 };

	fields_copy(&copy, n, note_keys, COUNT(note_keys));
	return copy;
}

int saved_view_check_name(const char *name, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	char *clean;
	bool good;

	if (*name == '\0')
		return err_set(e, -EINVAL, "a view needs a name");
	if (strlen(name) > NAME_BYTES_MOST)
		return err_set(e, -EINVAL, "the name of a view has at most %u bytes",
			       NAME_BYTES_MOST);
	clean = text_clean(name, strlen(name), false);
	good = strcmp(clean, name) == 0 && *name != '-';
	free(clean);
	for (const char *s = name; good && *s; s++)
		good = (unsigned char)*s >= 0x80 || strchr(allowed, *s);
	if (!good)
		return err_set(e, -EINVAL,
			       "the name of a view is one word of letters, digits, -, _ and ., not "
			       "\"%s\"",
			       name);
	return 0;
}

/* A growing text. */
struct line {
	char *at;
	size_t n, cap;
};

static void add(struct line *l, const char *s, size_t n)
{
	vec_reserve(l, l->n + n + 1);
	memcpy(l->at + l->n, s, n);
	l->n += n;
	l->at[l->n] = '\0';
}

static void add_text(struct line *l, const char *s)
{
	add(l, s, strlen(s));
}

static bool is_plain(const char *value)
{
	for (const char *s = value; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == '"' || *s == '\\' || *s == '#' || *s == 0x7f)
			return false;
	return *value != '\0';
}

static void add_value(struct line *l, const char *value)
{
	if (is_plain(value)) {
		add_text(l, value);
		return;
	}
	add_text(l, "\"");
	for (const char *s = value; *s; s++) {
		char code[8];

		if (*s == '"' || *s == '\\') {
			add(l, "\\", 1);
			add(l, s, 1);
		} else if (*s == '\n') {
			add_text(l, "\\n");
		} else if (*s == '\t') {
			add_text(l, "\\t");
		} else if ((unsigned char)*s < ' ' || *s == 0x7f) {
			snprintf(code, sizeof(code), "\\x%02x", (unsigned)(unsigned char)*s);
			add_text(l, code);
		} else {
			add(l, s, 1);
		}
	}
	add_text(l, "\"");
}

static void add_fields(struct line *l, const void *entry, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = value_of(entry, &keys[i]);

		if (!value)
			continue;
		add_text(l, l->n > 0 ? " " : "");
		add_text(l, keys[i].name);
		add_text(l, "=");
		add_value(l, value);
	}
}

char *saved_view_text(const struct saved_view *v)
{
	struct line l = { 0 };

	add_text(&l, v->name);
	add_fields(&l, v, view_keys, COUNT(view_keys));
	return l.at;
}

static char *note_line(const struct note *n)
{
	struct line l = { 0 };

	add_text(&l, "note");
	add_fields(&l, n, note_keys, COUNT(note_keys));
	return l.at;
}

static char *view_line(const struct saved_view *v)
{
	char *text = saved_view_text(v), *line = xasprintf("view %s", text);

	free(text);
	return line;
}

/* Adds a copy of a line; its number. */
static size_t add_line(struct note_page *p, const char *text, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, text, n);
	copy[n] = '\0';
	vec_push(&p->lines, ((struct page_line){ copy, n }));
	return p->lines.n - 1;
}

/* NULL takes it away. */
static void set_line(struct note_page *p, size_t line, char *text)
{
	free(p->lines.at[line].text);
	p->lines.at[line] = (struct page_line){ text, text ? strlen(text) : 0 };
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes one character of a quoted value off *at; -1: an escape that is none. */
static int take_char(const char **at)
{
	const char *s = *at;
	int high, low;

	if (*s != '\\') {
		*at = s + 1;
		return (unsigned char)*s;
	}
	*at = s + 2;
	switch (s[1]) {
	case '"':
	case '\\':
		return s[1];
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		high = hex_digit(s[2]);
		low = high < 0 ? -1 : hex_digit(s[3]);
		*at = s + 4;
		return low < 0 || high + low == 0 ? -1 : high * 16 + low;
	default:
		return -1;
	}
}

/* Takes a value off *at, whose end is NUL; the caller frees. NULL with a sentence. */
static char *take_value(const char **at, struct err *e)
{
	struct line l = { 0 };
	const char *s = *at;

	if (*s != '"') {
		size_t n = strcspn(s, " \t");

		*at = s + n;
		return xstrndup(s, n);
	}
	add_text(&l, "");
	for (s++; *s && *s != '"';) {
		int c = take_char(&s);
		char byte = (char)c;

		if (c < 0) {
			err_set(e, -EINVAL, "a value has a \\ with something unknown behind it");
			free(l.at);
			return NULL;
		}
		add(&l, &byte, 1);
	}
	if (*s != '"') {
		err_set(e, -EINVAL, "a quoted value does not end");
		free(l.at);
		return NULL;
	}
	*at = s + 1;
	return l.at;
}

static int take_fields(const char *s, void *entry, const struct key *keys, size_t n, struct err *e)
{
	for (s += strspn(s, " \t"); *s && *s != '#'; s += strspn(s, " \t")) {
		size_t len = strcspn(s, "= \t"), i = 0;
		char *value;

		if (s[len] != '=')
			return err_set(e, -EINVAL, "expected key=value, not '%.*s'", (int)len, s);
		while (i < n && (strlen(keys[i].name) != len || memcmp(keys[i].name, s, len) != 0))
			i++;
		if (i == n)
			return err_set(e, -EINVAL, "there is no key '%.*s' here", (int)len, s);
		s += len + 1;
		value = take_value(&s, e);
		if (!value)
			return -EINVAL;
		free(*field_of(entry, &keys[i]));
		*field_of(entry, &keys[i]) = value;
		if (*s && *s != ' ' && *s != '\t')
			return err_set(e, -EINVAL, "a blank is missing behind the value of %s",
				       keys[i].name);
	}
	return 0;
}

/* Puts a copy in for the view of that name, or as a new one; -EFBIG with a sentence. */
static int put_view(struct note_page *p, const struct saved_view *v, size_t line, struct err *e)
{
	size_t at = page_find_view(p, v->name);

	if (at == SIZE_MAX && p->views.n >= ENTRIES_MOST)
		return err_set(e, -EFBIG, "there are more than %u views", ENTRIES_MOST);
	if (at == SIZE_MAX) {
		at = p->views.n;
		vec_push(&p->views, saved_view_copy(v));
	} else {
		saved_view_done(&p->views.at[at]);
		p->views.at[at] = saved_view_copy(v);
	}
	p->views.at[at].line = line;
	return 0;
}

/* The last line of the page, of which `rest` is what stands behind "view ". */
static int take_view(struct note_page *p, const char *rest, struct err *e)
{
	size_t n = strcspn(rest, " \t"), old;
	struct saved_view v = { .name = xstrndup(rest, n) };
	int rc = saved_view_check_name(v.name, e);

	if (!rc)
		rc = take_fields(rest + n, &v, view_keys, COUNT(view_keys), e);
	old = rc ? SIZE_MAX : page_find_view(p, v.name);
	/* The last of several counts: an earlier one would be back when that is taken away. */
	if (old != SIZE_MAX)
		set_line(p, p->views.at[old].line, NULL);
	if (!rc)
		rc = put_view(p, &v, p->lines.n - 1, e);
	saved_view_done(&v);
	return rc;
}

static int take_note(struct note_page *p, const char *rest, struct err *e)
{
	struct note n = { .line = p->lines.n - 1 };
	int rc = take_fields(rest, &n, note_keys, COUNT(note_keys), e);

	if (!rc && (!n.of || !n.name || !n.text))
		rc = err_set(e, -EINVAL, "a note says of=, name= and text=");
	/* Looking for each of so many would take long; a file that was written by us has none twice. */
	if (!rc && p->notes.n >= ENTRIES_MOST)
		rc = err_set(e, -EFBIG, "there are more than %u notes", ENTRIES_MOST);
	if (!rc) {
		vec_push(&p->notes, n);
		return 0;
	}
	note_done(&n);
	return rc;
}

/* Takes what the last line of the page says, unless it is there for people alone. */
static int take_line(struct note_page *p, struct err *e)
{
	const struct page_line *l = &p->lines.at[p->lines.n - 1];
	const char *s = l->text + strspn(l->text, " \t");

	if (s == l->text + l->n || *s == '#')
		return 0;
	if (strlen(l->text) < l->n)
		return err_set(e, -EINVAL, "a line has a NUL byte in it");
	if (strncmp(s, "view ", 5) == 0)
		return take_view(p, s + 5 + strspn(s + 5, " \t"), e);
	if (strncmp(s, "note ", 5) == 0)
		return take_note(p, s + 5, e);
	return err_set(e, -EINVAL, "a line begins with view or note");
}

void page_done(struct note_page *p)
{
	for (size_t i = 0; i < p->views.n; i++)
		saved_view_done(&p->views.at[i]);
	for (size_t i = 0; i < p->notes.n; i++)
		note_done(&p->notes.at[i]);
	for (size_t i = 0; i < p->lines.n; i++)
		free(p->lines.at[i].text);
	vec_done(&p->views);
	vec_done(&p->notes);
	vec_done(&p->lines);
}

int page_parse(struct note_page *p, const char *text, size_t n, const char *path, struct err *e)
{
	const char *end = text + n, *next;
	unsigned n_wrong = 0;
	struct err first = ERR_INIT;
	int ret = 0;

	for (unsigned number = 1; text < end; text = next, number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct err bad = ERR_INIT;
		size_t len;

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if (stop > text && stop[-1] == '\r')
			stop--;
		len = (size_t)(stop - text);
		add_line(p, text, len);
		if (take_line(p, &bad) && n_wrong++ == 0)
			err_set(&first, -EINVAL, "%s:%u: %s", path, number, err_text(&bad));
		err_clear(&bad);
	}
	if (n_wrong > 1)
		ret = err_set(e, -EINVAL, "%s; %u more lines are wrong", err_text(&first),
			      n_wrong - 1);
	else if (n_wrong)
		ret = err_set(e, -EINVAL, "%s", err_text(&first));
	err_clear(&first);
	return ret;
}

int page_read(struct note_page *p, const char *path, struct err *e)
{
	/* A pipe of that name is not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = 0;
	struct stat st;
	size_t n = 0;
	ssize_t got = 1;
	char *text;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return 0;
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -EINVAL, "%s: is no file of saved views and notes", path);
	}
	text = xmalloc(PAGE_BYTES_MOST + 1);
	while (n <= PAGE_BYTES_MOST && got > 0) {
		got = read(fd, text + n, PAGE_BYTES_MOST + 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		ret = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else if (n > PAGE_BYTES_MOST)
		ret = err_set(e, -EFBIG, "%s: too large for a file of saved views and notes", path);
	else
		ret = page_parse(p, text, n, path, e);
	free(text);
	close(fd);
	return ret;
}

char *page_text(const struct note_page *p, size_t *n)
{
	struct line l = { 0 };

	add_text(&l, "");
	for (size_t i = 0; i < p->lines.n; i++) {
		if (!p->lines.at[i].text)
			continue;
		add(&l, p->lines.at[i].text, p->lines.at[i].n);
		add_text(&l, "\n");
	}
	*n = l.n;
	return l.at;
}

/* All directories above the file; whether they are there shows when it is written. */
static void make_directories(const char *path)
{
	char *copy = xstrdup(path);

	for (char *s = strchr(copy + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(copy, 0777);
		*s = '/';
	}
	free(copy);
}

/* For reading where it may not be written: it is another file that takes its place. */
static int open_page(struct page_lock *l, const char *path, bool make)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	l->is_new = false;
	l->fd = open(path, O_RDWR | flags);
	if (l->fd < 0 && (errno == EACCES || errno == EROFS || errno == EISDIR))
		l->fd = open(path, O_RDONLY | flags);
	if (l->fd < 0 && errno == ENOENT && make) {
		make_directories(path);
		l->fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
		l->is_new = l->fd >= 0;
	}
	if (l->fd >= 0)
		return 0;
	/* Somebody else has made it now, or the path is a link that leads nowhere. */
	if (errno == EEXIST)
		return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? -ENOENT : -EAGAIN;
	return -errno;
}

/* Is the file that is locked still the one of the path? */
static bool is_there(const struct page_lock *l, const char *path)
{
	struct stat mine, there;

	return fstat(l->fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
	       mine.st_ino == there.st_ino;
}

/* One try: 0, -EAGAIN when somebody else has it, or -errno. */
static int try_lock(struct page_lock *l, const char *path, bool make)
{
	struct stat st;
	int rc = open_page(l, path, make);

	if (rc)
		return rc;
	if (fstat(l->fd, &st) || !S_ISREG(st.st_mode))
		rc = -EINVAL;
	else if (flock(l->fd, LOCK_EX | LOCK_NB) == 0)
		rc = is_there(l, path) ? 0 : -EAGAIN;
	else if (errno == EWOULDBLOCK || errno == EINTR)
		rc = -EAGAIN;
	/* Otherwise the file system has no locks, and changes are made without. */
	if (rc) {
		close(l->fd);
		l->fd = -1;
	}
	return rc;
}

int page_lock(struct page_lock *l, const char *path, bool make, struct err *e)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000 };
	int rc = -EAGAIN;

	*l = (struct page_lock){ .fd = -1 };
	for (int ms = 0; ms < LOCK_MOST_MS && rc == -EAGAIN; ms += LOCK_PAUSE_MS) {
		if (ms > 0)
			nanosleep(&pause, NULL);
		rc = try_lock(l, path, make);
	}
	if (rc == 0 || (!make && (rc == -ENOENT || rc == -ENOTDIR || rc == -ENAMETOOLONG)))
		return 0;
	if (rc == -EAGAIN)
		return err_set(e, rc, "%s: another program has it locked", path);
	if (rc == -EINVAL)
		return err_set(e, rc, "%s: is no file of saved views and notes", path);
	return err_set(e, rc, "%s: %s", path, strerror(-rc));
}

void page_unlock(struct page_lock *l, const char *path)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (l->is_new && is_there(l, path) && fstat(l->fd, &st) == 0 && st.st_size == 0)
		unlink(path);
	close(l->fd);
	l->fd = -1;
}

static int write_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, text, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		n -= (size_t)put;
	}
	return 0;
}

/* The new file, with all that it is to have. */
static int write_beside(const char *beside, const char *text, size_t n, mode_t mode)
{
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, n);
	/* Where modes cannot be set, it stays as private as it is. */
	(void)fchmod(fd, mode);
	if (!rc && fsync(fd) && errno != EINVAL)
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int page_write(const struct note_page *p, const struct page_lock *l, const char *path,
	       struct err *e)
{
	size_t n;
	char *text = page_text(p, &n);
	char *beside = xasprintf("%s.%d.new", path, (int)getpid());
	struct stat st;
	int rc = 0;

	if (n > PAGE_BYTES_MOST) {
		rc = err_set(e, -EFBIG, "%s: there is no room for more views and notes", path);
		goto out;
	}
	rc = fstat(l->fd, &st) ? -errno : write_beside(beside, text, n, st.st_mode & 0777);
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc && rc != -EEXIST)
		unlink(beside);
	if (rc)
		err_set(e, rc, "%s: %s", path, strerror(-rc));
out:
	free(beside);
	free(text);
	return rc;
}

size_t page_find_view(const struct note_page *p, const char *name)
{
	for (size_t i = 0; i < p->views.n; i++)
		if (strcmp(p->views.at[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

size_t page_find_note(const struct note_page *p, const struct note *like)
{
	for (size_t i = 0; i < p->notes.n; i++) {
		const struct note *n = &p->notes.at[i];

		if (same(n->name, like->name) && same(n->of, like->of) &&
		    same(n->module, like->module))
			return i;
	}
	return SIZE_MAX;
}

/* The line of a new entry; a new file says what it is. */
static size_t new_line(struct note_page *p)
{
	if (p->lines.n == 0)
		add_line(p, HEAD_LINE, strlen(HEAD_LINE));
	return add_line(p, "", 0);
}

int page_put_view(struct note_page *p, const struct saved_view *v, struct err *e)
{
	size_t old = page_find_view(p, v->name);
	size_t line = old == SIZE_MAX ? new_line(p) : p->views.at[old].line;
	int rc = put_view(p, v, line, e);

	set_line(p, line, rc ? NULL : view_line(v));
	return rc;
}

int page_put_note(struct note_page *p, const struct note *n, struct err *e)
{
	size_t at = page_find_note(p, n), line;

	if (at == SIZE_MAX && p->notes.n >= ENTRIES_MOST)
		return err_set(e, -EFBIG, "there are more than %u notes", ENTRIES_MOST);
	if (at == SIZE_MAX) {
		at = p->notes.n;
		line = new_line(p);
		vec_push(&p->notes, note_copy(n));
	} else {
		line = p->notes.at[at].line;
		note_done(&p->notes.at[at]);
		p->notes.at[at] = note_copy(n);
	}
	p->notes.at[at].line = line;
	set_line(p, line, note_line(n));
	return 0;
}

bool page_drop_view(struct note_page *p, const char *name)
{
	size_t at = page_find_view(p, name);

	if (at == SIZE_MAX)
		return false;
	set_line(p, p->views.at[at].line, NULL);
	saved_view_done(&p->views.at[at]);
	p->views.n--;
	memmove(&p->views.at[at], &p->views.at[at + 1], (p->views.n - at) * sizeof(*p->views.at));
	return true;
}

bool page_drop_note(struct note_page *p, const struct note *like)
{
	size_t at = page_find_note(p, like);

	if (at == SIZE_MAX)
		return false;
	set_line(p, p->notes.at[at].line, NULL);
	note_done(&p->notes.at[at]);
	p->notes.n--;
	memmove(&p->notes.at[at], &p->notes.at[at + 1], (p->notes.n - at) * sizeof(*p->notes.at));
	return true;
}
