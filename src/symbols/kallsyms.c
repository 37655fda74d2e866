/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's symbols as text; see kallsyms.h. A line is "address type name", for a module's symbol
 * followed by a tab and "[module]" (kernel/kallsyms.c). As in perf, types T, W, D and B count.
 *
 * Plain files are read through a small buffer and stay open. What /proc makes up while it is read is kept as it was.
 */
#include "config.h"

#include "symbols/kallsyms.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#define TEXT_MAX     ((size_t)512 << 20)
#define CHUNK_BYTES  ((size_t)64 << 10) /* of a plain file that are read at once */
#define LINE_BYTES   ((size_t)4 << 10)  /* longer than any line */
#define LINE_TYPICAL 40                 /* bytes, for a guess at their number */
#define PAGE         UINT64_C(4096)

/* A symbol: where it begins, and where its line does. */
struct place {
	uint64_t start;
	uint64_t line;
};

/* What a line says; names end where the line has another character. */
struct line {
	uint64_t start;
	const char *name, *module; /* module NULL: the kernel itself */
	size_t n_name, n_module;
};

/* A symbol that was asked for. */
struct met {
	uint64_t place; /* index of its place */
	const struct kallsym *is;
};

struct kallsyms {
	int fd;                   /* of a plain file; -1: text holds all */
	char *text;               /* [n_text] all, or [CHUNK_BYTES] what was read last; owned */
	uint64_t n_text;          /* bytes of all */
	VEC(struct place) places; /* by start, then by line */
	bool all_zero;            /* no symbol begins anywhere else */
	VEC(struct met) met;
	struct map by_place; /* of met */
	struct arena names;
};

/* Up to n bytes from there on, fewer at the end; how many. They stay until the next call. */
static size_t bytes_at(struct kallsyms *k, uint64_t from, size_t n, const char **at)
{
	ssize_t got;

	*at = k->text;
	if (from >= k->n_text)
		return 0;
	if (n > k->n_text - from)
		n = (size_t)(k->n_text - from);
	if (k->fd < 0) {
		*at = k->text + from;
		return n;
	}
	do {
		got = pread(k->fd, k->text, n, (off_t)from);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? 0 : (size_t)got;
}

/* The digits at the beginning of n bytes; how many, 0 when they are too many for an address. */
static size_t take_hex(const char *s, size_t n, uint64_t *value)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned c = (unsigned char)s[i], digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (c | 32) - 'a' + 10;
		else
			break;
		v = v << 4 | digit;
	}
	*value = v;
	return i <= 16 ? i : 0;
}

/* Eight digits at once, byte by byte side by side. False: one of them is none. */
static bool take_eight(const char *s, uint64_t *value)
{
	const uint64_t each = 0x0101010101010101;
	uint64_t text, letters, v;

	memcpy(&text, s, sizeof(text));
	text = le64toh(text);
	letters = text >> 6 & each;
	text |= letters << 5; /* lower case */
	v = (text & 15 * each) + 9 * letters;
	/* '0' is 0x30 and 'a' is 0x61: letters stand for 10 and more, digits for less, nothing for 16. */
	if ((text & 0xf0 * each) != 0x30 * (each + letters) || (v & 16 * each) != 0 ||
	    ((v + 6 * each) & 16 * each) != letters << 4)
		return false;
	v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ff;
	v = (v << 8 | v >> 16) & 0x0000ffff0000ffff;
	*value = (v << 16 | v >> 32) & UINT32_MAX;
	return true;
}

/* As take_hex(), of digits as the kernel writes them; their number, or 0: they are others. */
static size_t take_sixteen(const char *s, size_t n, uint64_t *value)
{
	uint64_t high, low;

	if (n <= 16 || s[16] != ' ' || !take_eight(s, &high) || !take_eight(s + 8, &low))
		return 0;
	*value = high << 32 | low;
	return 16;
}

static bool type_counts(char type)
{
	type = (char)(type & ~32);
	return type == 'T' || type == 'W' || type == 'D' || type == 'B';
}

/* What the n bytes of a line say before the name, whose place is told. */
static bool take_start(const char *s, size_t n, uint64_t *start, size_t *name)
{
	size_t digits = take_sixteen(s, n, start);

	if (digits == 0)
		digits = take_hex(s, n, start);

	*name = digits + 3;
	return digits > 0 && n > *name && s[digits] == ' ' && s[digits + 2] == ' ' &&
	       type_counts(s[digits + 1]);
}

static bool take_line(const char *s, size_t n, struct line *out)
{
	const char *tab, *end;
	size_t name;

	*out = (struct line){ .module = NULL };
	if (!take_start(s, n, &out->start, &name))
		return false;
	out->name = s + name;
	out->n_name = n - name;
	tab = memchr(out->name, '\t', out->n_name);
	if (!tab)
		return true;
	out->n_name = (size_t)(tab - out->name);
	n -= (size_t)(tab + 1 - s);
	end = n > 0 && tab[1] == '[' ? memchr(tab + 2, ']', n - 1) : NULL;
	if (end) {
		out->module = tab + 2;
		out->n_module = (size_t)(end - out->module);
	}
	return true;
}

/* Is called for the n bytes of a line that begins at an offset; false ends it. */
typedef bool line_fn(void *arg, const char *s, size_t n, uint64_t at);

static bool each_of_chunk(const char *s, size_t n, uint64_t at, line_fn *fn, void *arg)
{
	const char *end = s + n, *from = s;

	while (from < end) {
		const char *stop = memchr(from, '\n', (size_t)(end - from));

		if (!stop)
			stop = end;
		if (!fn(arg, from, (size_t)(stop - from), at + (uint64_t)(from - s)))
			return false;
		from = stop + 1;
	}
	return true;
}

static void each_line(struct kallsyms *k, line_fn *fn, void *arg)
{
	size_t most = k->fd < 0 ? SIZE_MAX : CHUNK_BYTES, n;
	const char *s, *last;

	for (uint64_t at = 0; (n = bytes_at(k, at, most, &s)) > 0; at += n) {
		/* A line that is cut is whole next time; one that fills all the room is none. */
		last = at + n < k->n_text ? memrchr(s, '\n', n) : NULL;
		if (last)
			n = (size_t)(last + 1 - s);
		if (!each_of_chunk(s, n, at, fn, arg))
			return;
	}
}

/* line_fn: keeps its place. */
static bool keep_place(void *arg, const char *s, size_t n, uint64_t at)
{
	struct kallsyms *k = arg;
	struct place p = { .line = at };
	size_t name;

	if (take_start(s, n, &p.start, &name)) {
		k->all_zero &= p.start == 0;
		vec_push(&k->places, p);
	}
	return true;
}

static int by_start(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->start, b->start) ?: COMPARE(a->line, b->line);
}

/* They come in order but for those of modules, which come last. */
static void sort(struct kallsyms *k)
{
	struct place *p = k->places.at, *rest;
	size_t n = k->places.n, ahead = 1, left;

	while (ahead < n && p[ahead].start >= p[ahead - 1].start)
		ahead++;
	if (ahead >= n)
		return;
	left = n - ahead;
	rest = xreallocarray(NULL, left, sizeof(*rest));
	memcpy(rest, p + ahead, left * sizeof(*rest));
	qsort(rest, left, sizeof(*rest), by_start);
	/* From the end on, each to its place: of equals those of the rest are the later ones. */
	while (left > 0) {
		if (ahead > 0 && p[ahead - 1].start > rest[left - 1].start) {
			ahead--;
			p[ahead + left] = p[ahead];
		} else {
			left--;
			p[ahead + left] = rest[left];
		}
	}
	free(rest);
}

static struct kallsyms *kallsyms_new(int fd, char *text, uint64_t n)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));

	k->fd = fd;
	k->text = text;
	k->n_text = n;
	k->all_zero = true;
	arena_init(&k->names);
	vec_reserve(&k->places, (size_t)(n / LINE_TYPICAL));
	each_line(k, keep_place, k);
	sort(k);
	return k;
}

struct kallsyms *kallsyms_of_text(char *text, size_t n)
{
	return kallsyms_new(-1, text, n);
}

/* All of what cannot be read here and there. */
static int read_all(int fd, char **text, size_t *n)
{
	VEC(char) all = { 0 };
	ssize_t got;

	do {
		vec_reserve(&all, all.n + ((size_t)1 << 20));
		got = read(fd, all.at + all.n, all.cap - all.n);
		if (got > 0)
			all.n += (size_t)got;
	} while ((got > 0 || (got < 0 && errno == EINTR)) && all.n < TEXT_MAX);
	if (got < 0) {
		vec_done(&all);
		return -errno;
	}
	*text = all.at;
	*n = all.n;
	return 0;
}

int kallsyms_load(const char *path, struct kallsyms **out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
	struct stat st;
	char *text = NULL;
	size_t n = 0;

	if (fd < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	/* Files of /proc say that they are empty. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		n = (uint64_t)st.st_size < TEXT_MAX ? (size_t)st.st_size : TEXT_MAX;
		*out = kallsyms_new(fd, xmalloc(CHUNK_BYTES), n);
		return 0;
	}
	rc = read_all(fd, &text, &n);
	close(fd);
	if (rc < 0)
		return err_set(e, rc, "%s: %s", path, strerror(-rc));
	*out = kallsyms_of_text(text, n);
	return 0;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k->text);
	vec_done(&k->places);
	vec_done(&k->met);
	map_done(&k->by_place);
	arena_done(&k->names);
	free(k);
}

size_t kallsyms_n(const struct kallsyms *k)
{
	return k->places.n;
}

bool kallsyms_hidden(const struct kallsyms *k)
{
	return k->places.n > 0 && k->all_zero;
}

/* Reads a line again; false when the file is another one by now. It stays until the next call. */
static bool line_of(struct kallsyms *k, size_t i, struct line *out)
{
	const struct place *p = &k->places.at[i];
	const char *s, *stop;
	size_t n = bytes_at(k, p->line, LINE_BYTES, &s);

	stop = memchr(s, '\n', n);
	return take_line(s, stop ? (size_t)(stop - s) : n, out) && out->start == p->start;
}

static uint64_t page_up(uint64_t x)
{
	return x > UINT64_MAX - PAGE ? UINT64_MAX : (x + PAGE - 1) & ~(PAGE - 1);
}

/* Where a symbol ends that is the last one at its address: at the next of its module, else two pages on. */
static uint64_t end_of(struct kallsyms *k, size_t i, const char *module)
{
	uint64_t start = k->places.at[i].start;
	struct line next;

	if (i + 1 == k->places.n)
		return page_up(start) > UINT64_MAX - PAGE ? UINT64_MAX : page_up(start) + PAGE;
	if (line_of(k, i + 1, &next) && (module == NULL) == (next.module == NULL) &&
	    (!module ||
	     (strlen(module) == next.n_module && memcmp(module, next.module, next.n_module) == 0)))
		return k->places.at[i + 1].start;
	return start > UINT64_MAX - 2 * PAGE ? UINT64_MAX : page_up(start + PAGE);
}

static bool same_place(const void *things, uint32_t value, const void *key)
{
	const struct kallsyms *k = things;

	return k->met.at[value].place == *(const uint64_t *)key;
}

/* Symbol number i, each once. */
static const struct kallsym *meet(struct kallsyms *k, uint64_t i)
{
	uint64_t hash = hash_u64(i);
	uint32_t at = map_find(&k->by_place, hash, same_place, k, &i);
	struct kallsym *s;
	struct line l;

	if (at != MAP_NONE)
		return k->met.at[at].is;
	if (!line_of(k, (size_t)i, &l))
		return NULL;
	s = arena_alloc(&k->names, sizeof(*s));
	s->start = l.start;
	s->name = arena_strndup(&k->names, l.name, l.n_name);
	s->module = l.module ? arena_strndup(&k->names, l.module, l.n_module) : NULL;
	s->end = end_of(k, (size_t)i, s->module);
	map_add(&k->by_place, hash, (uint32_t)k->met.n);
	vec_push(&k->met, ((struct met){ i, s }));
	return s;
}

const struct kallsym *kallsyms_find(struct kallsyms *k, uint64_t address)
{
	size_t low = 0;
	const struct kallsym *s;

	BISECT(low, k->places.n, i, k->places.at[i].start <= address);
	s = low > 0 ? meet(k, low - 1) : NULL;
	return s && address < s->end ? s : NULL;
}

/* A symbol that is looked for by name. */
struct wanted {
	const char *name;
	size_t n; /* its length */
	uint64_t value;
	bool found;
};

/* line_fn */
static bool is_other(void *arg, const char *s, size_t n, uint64_t at)
{
	struct wanted *w = arg;
	struct line l;

	(void)at;
	if (!take_line(s, n, &l) || l.module || l.n_name != w->n ||
	    memcmp(l.name, w->name, w->n) != 0)
		return true;
	w->value = l.start;
	w->found = true;
	return false;
}

bool kallsyms_value(struct kallsyms *k, const char *name, uint64_t *value)
{
	struct wanted w = { .name = name, .n = strlen(name) };

	each_line(k, is_other, &w);
	if (w.found)
		*value = w.value;
	return w.found;
}
