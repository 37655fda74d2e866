/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of perf script by their shape.
 *
 * Names of threads may hold blanks, numbers and slashes ("virt 1/2"), so a header is read outward from
 * its time or cpu, which nothing else looks like; only headers without either are read from the left.
 */
#include "config.h"

#include "formats/perf_script/perf_script_line.h"

#include <string.h>

/* Columns of an address (blank and %16lx), and of a period (%10lu). */
#define ADDRESS_COLUMNS 17
#define MISC_COLUMNS    6 /* %-6s */
#define TASK_COLUMNS    4 /* %5d/%-5d */
#define PERIOD_COLUMNS  10
#define TIME_COLUMNS    13 /* %5lu.%06lu: */

/* Words of a header that are looked at; the fields of tracepoints come behind them. */
#define MOST_WORDS 40

struct words {
	struct span at[MOST_WORDS];
	size_t columns[MOST_WORDS]; /* of each, with the blanks before it */
	size_t n;
	size_t behind; /* blanks behind the last one */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static struct span trimmed(const char *s, size_t n)
{
	while (n > 0 && is_blank(s[n - 1]))
		n--;
	while (n > 0 && is_blank(*s)) {
		s++;
		n--;
	}
	return (struct span){ s, n };
}

static size_t count_digits(struct span w, size_t from)
{
	size_t i = from;

	while (i < w.n && is_digit(w.s[i]))
		i++;
	return i - from;
}

static bool is_number(struct span w)
{
	return w.n > 0 && count_digits(w, 0) == w.n;
}

/* 812, 812/813, -1/0 */
static bool is_task(struct span w)
{
	size_t at = w.n > 0 && w.s[0] == '-' ? 1 : 0, digits = count_digits(w, at);

	if (digits == 0)
		return false;
	at += digits;
	if (at == w.n)
		return true;
	if (w.s[at] != '/')
		return false;
	at += at + 1 < w.n && w.s[at + 1] == '-' ? 2 : 1;
	digits = count_digits(w, at);
	return digits > 0 && at + digits == w.n;
}

/* [003]; [-01] where a sample does not say */
static bool is_cpu(struct span w)
{
	size_t at = w.n >= 2 && w.s[1] == '-' ? 2 : 1;

	return w.n >= at + 2 && w.s[0] == '[' && count_digits(w, at) == w.n - at - 1 &&
	       w.s[w.n - 1] == ']';
}

/* 2371.979838: */
static bool is_time(struct span w)
{
	size_t whole = count_digits(w, 0), parts;

	if (whole == 0 || whole == w.n || w.s[whole] != '.')
		return false;
	parts = count_digits(w, whole + 1);
	return parts > 0 && whole + parts + 2 == w.n && w.s[w.n - 1] == ':';
}

static bool is_event(struct span w)
{
	return w.n >= 2 && w.s[w.n - 1] == ':' && !is_time(w);
}

/* Up to n digits as a number; what does not fit becomes the largest. */
static int64_t value_of(const char *s, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s[i] - '0', &v))
			return INT64_MAX;
	return v;
}

static int32_t task_number(const char *s, size_t n)
{
	int64_t v;

	if (n > 0 && *s == '-')
		return -1;
	v = value_of(s, n);
	return v > INT32_MAX ? -1 : (int32_t)v;
}

static void take_task(struct span w, struct script_header *h)
{
	const char *slash = memchr(w.s, '/', w.n);
	size_t at = slash ? (size_t)(slash + 1 - w.s) : 0;

	if (slash)
		h->pid = task_number(w.s, at - 1);
	h->tid = task_number(w.s + at, w.n - at);
}

static void take_cpu(struct span w, struct script_header *h)
{
	int64_t v = w.s[1] == '-' ? CPU_NONE : value_of(w.s + 1, w.n - 2);

	h->cpu = v < CPU_NONE ? (uint16_t)v : CPU_NONE;
}

static void take_time(struct span w, struct script_header *h)
{
	size_t whole = count_digits(w, 0), parts = w.n - whole - 2;
	int64_t s = value_of(w.s, whole), ns = 0;

	for (size_t i = 0; i < 9; i++)
		ns = ns * 10 + (i < parts ? w.s[whole + 1 + i] - '0' : 0);
	if (!__builtin_mul_overflow(s, 1000000000, &s) && !__builtin_add_overflow(s, ns, &s))
		h->time_ns = s;
}

static void split(const char *s, size_t n, struct words *w)
{
	size_t at = 0;

	w->n = w->behind = 0;
	while (w->n < MOST_WORDS) {
		size_t from, before = at;

		while (at < n && is_blank(s[at]))
			at++;
		from = at;
		while (at < n && !is_blank(s[at]))
			at++;
		w->behind = at - before;
		if (at == from)
			return;
		w->behind = 0;
		w->columns[w->n] = at - before;
		w->at[w->n++] = (struct span){ s + from, at - from };
	}
}

/* The word that is the cpu or the time, w->n when there is none. */
static size_t find_anchor(const struct words *w)
{
	size_t first = w->n;

	for (size_t i = 0; i < w->n; i++) {
		if (!is_time(w->at[i]) && !is_cpu(w->at[i]))
			continue;
		if (i > 0 && is_task(w->at[i - 1]))
			return i;
		if (first == w->n)
			first = i;
	}
	return first;
}

/* Is word i a number so wide that it is a period, and no thread's? */
static bool is_period(const struct words *w, size_t i)
{
	return is_number(w->at[i]) && w->columns[i] >= PERIOD_COLUMNS + (i > 0);
}

/* What -F misc prints behind the task: U, K, Sp. */
static bool is_misc(struct span t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!strchr("KUHGgMESp", t.s[i]))
			return false;
	return t.n > 0 && t.n <= 3;
}

/* Is word i an address, right-aligned behind the field before, which may be filled up with blanks of its own? */
static bool is_address(const struct words *w, size_t i)
{
	size_t least = ADDRESS_COLUMNS + (i > 0), most = least;
	struct span t = w->at[i];

	if (i > 0 && is_misc(w->at[i - 1]))
		most += MISC_COLUMNS;
	if (i > 0 && is_task(w->at[i - 1]) && memchr(w->at[i - 1].s, '/', w->at[i - 1].n))
		most += TASK_COLUMNS;
	if (w->columns[i] < least || w->columns[i] > most || t.n > 16)
		return false;
	for (size_t k = 0; k < t.n; k++)
		if (!is_digit(t.s[k]) && (t.s[k] < 'a' || t.s[k] > 'f'))
			return false;
	return true;
}

/* The last address from word i on, behind which is a function's name; w->n: there is none. */
static size_t find_address(const struct words *w, size_t i)
{
	size_t last = w->n;

	for (; i < w->n; i++)
		if (is_address(w, i))
			last = i;
	return last;
}

/* Are there more blanks before word i than perf aligns it with, as behind a field that is filled up? */
static bool is_pushed(const struct words *w, size_t i)
{
	struct span t = w->at[i];
	size_t aligned = is_time(t)         ? TIME_COLUMNS
			 : is_number(t)     ? PERIOD_COLUMNS
			 : is_event(t)      ? 0
			 : is_address(w, i) ? ADDRESS_COLUMNS
					    : SIZE_MAX / 2;

	return w->columns[i] >= 1 + (t.n > aligned ? t.n : aligned) + MISC_COLUMNS / 2;
}

/* The first n words are who it was: a name, a task, or both, and behind them what -F misc prints. */
static void take_who(const struct words *w, size_t n, struct script_header *h)
{
	bool filled = n < w->n ? is_pushed(w, n) : w->behind >= MISC_COLUMNS / 2;

	if (n > 0 && is_misc(w->at[n - 1]) && (filled || (n > 1 && is_task(w->at[n - 2]))))
		n--;
	if (n > 0 && is_task(w->at[n - 1]))
		take_task(w->at[--n], h);
	if (n > 0)
		h->comm = (struct span){ w->at[0].s,
					 (size_t)(w->at[n - 1].s + w->at[n - 1].n - w->at[0].s) };
}

/* Period and event from word i on, and what is left of the line. */
static void take_what(const struct words *w, size_t i, const char *end, struct script_header *h)
{
	if (i + 1 < w->n && is_number(w->at[i]) && is_event(w->at[i + 1])) {
		h->period = value_of(w->at[i].s, w->at[i].n);
		h->has_period = true;
		i++;
	}
	if (i < w->n && is_event(w->at[i])) {
		h->event = (struct span){ w->at[i].s, w->at[i].n - 1 };
		i++;
	}
	if (i < w->n) {
		size_t address = find_address(w, i);

		h->has_frame = address < w->n;
		i = h->has_frame ? address : i;
		h->rest = (struct span){ w->at[i].s, (size_t)(end - w->at[i].s) };
	}
}

static bool is_record(struct span w)
{
	static const char mark[] = "PERF_RECORD_";

	return w.n >= sizeof(mark) - 1 && memcmp(w.s, mark, sizeof(mark) - 1) == 0;
}

static enum script_kind read_anchored(const struct words *w, size_t i, const char *end,
				      struct script_header *h)
{
	take_who(w, i, h);
	if (is_cpu(w->at[i]))
		take_cpu(w->at[i++], h);
	if (i + 1 < w->n && !is_time(w->at[i]) && is_time(w->at[i + 1]))
		i++; /* d.h., of latency formats */
	if (i < w->n && is_time(w->at[i]))
		take_time(w->at[i++], h);
	if (i < w->n && is_record(w->at[i]))
		return SCRIPT_RECORD;
	take_what(w, i, end, h);
	return SCRIPT_HEADER;
}

static bool ends_with(struct span t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && memcmp(t.s + t.n - n, with, n) == 0;
}

/* Cuts "+0x1f" from the end of a name. */
static void cut_offset(struct span *name)
{
	size_t n = name->n;

	while (n > 0 && is_hex(name->s[n - 1]))
		n--;
	if (n < name->n && n >= 3 && memcmp(name->s + n - 3, "+0x", 3) == 0)
		name->n = n - 3;
}

/* Takes " (MODULE)" from the end; a file that is gone has " (deleted)" within. */
static void take_module(struct span *t, struct script_frame *f)
{
	static const char deleted[] = " (deleted))";
	size_t close = t->n, at;

	while (close > 0 && t->s[close - 1] != ')')
		close--;
	if (close == 0)
		return;
	at = close - 1;
	if (ends_with((struct span){ t->s, close }, deleted))
		at = close - (sizeof(deleted) - 1);
	while (at > 0 && !(t->s[at] == '(' && t->s[at - 1] == ' '))
		at--;
	if (at == 0 && t->s[0] != '(')
		return;
	f->module = (struct span){ t->s + at + 1, close - at - 2 };
	f->inlined = f->module.n == strlen("inlined") &&
		     memcmp(f->module.s, "inlined", f->module.n) == 0;
	*t = trimmed(t->s, at);
}

/* An address is the first word; *t is what is behind it. */
static bool take_address(struct span *t, struct script_frame *f)
{
	size_t n = 0;
	uint64_t pc = 0;

	while (n < t->n && n < 17 && is_hex(t->s[n])) {
		char c = t->s[n++];

		pc = pc << 4 | (uint64_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	if (n == 0 || n > 16 || (n < t->n && !is_blank(t->s[n])))
		return false;
	f->address = (struct span){ t->s, n };
	f->pc = pc;
	*t = trimmed(t->s + n, t->n - n);
	return true;
}

bool script_frame_read(const char *s, size_t n, struct script_frame *f)
{
	struct script_frame out = { 0 };
	struct span t = trimmed(s, n);
	bool has_address = take_address(&t, &out);

	take_module(&t, &out);
	if (!has_address && (out.module.n == 0 || t.n == 0))
		return false;
	cut_offset(&t);
	out.name = t;
	*f = out;
	return true;
}

/* The event of a header that has no task either: "node cycles: 55b8 leaf (/bin/x)"; w->n: there is none. */
static size_t find_taskless_event(const struct words *w, const char *end)
{
	struct script_frame f;

	for (size_t k = 1; k + 1 < w->n; k++)
		if (is_event(w->at[k]) &&
		    script_frame_read(w->at[k + 1].s, (size_t)(end - w->at[k + 1].s), &f) &&
		    f.address.n >= 4 && f.module.n > 0)
			return k;
	return w->n;
}

/* Neither time nor cpu: "node 812 cycles:", "node 812/813 1000 cycles: …", "node 812". */
static enum script_kind read_bare(const struct words *w, const char *end, struct script_header *h)
{
	size_t k = 1;

	while (k < w->n && !(is_event(w->at[k]) && is_task(w->at[k - 1])))
		k++;
	if (k < w->n) {
		bool period = is_period(w, k - 1) ||
			      (k >= 2 && is_number(w->at[k - 1]) && is_task(w->at[k - 2]));

		take_who(w, period ? k - 1 : k, h);
		take_what(w, period ? k - 1 : k, end, h);
		return SCRIPT_HEADER;
	}
	k = find_taskless_event(w, end);
	if (k < w->n) {
		take_who(w, k, h);
		take_what(w, k, end, h);
		return SCRIPT_HEADER;
	}
	k = w->n - 1;
	if (w->n == MOST_WORDS || w->n < 2 || (!is_task(w->at[k]) && !is_event(w->at[k])))
		return SCRIPT_ODD;
	take_who(w, is_task(w->at[k]) ? w->n : k, h);
	take_what(w, is_task(w->at[k]) ? w->n : k, end, h);
	return SCRIPT_HEADER;
}

static struct script_header no_header(void)
{
	return (struct script_header){
		.pid = -1, .tid = -1, .cpu = CPU_NONE, .time_ns = TIME_NONE
	};
}

/* Of a line with its blanks, the last one excepted. */
static enum script_kind read_header(const char *s, size_t n, struct script_header *h)
{
	struct script_header out = no_header();
	enum script_kind kind;
	struct words w;
	size_t anchor;

	split(s, n, &w);
	anchor = find_anchor(&w);
	kind = anchor < w.n ? read_anchored(&w, anchor, s + n, &out) : read_bare(&w, s + n, &out);
	if (kind != SCRIPT_ODD)
		*h = out;
	return kind;
}

bool script_position_read(const char *s, size_t n, struct span *file, uint32_t *line)
{
	struct span t = trimmed(s, n);
	size_t at = t.n;
	int64_t number;

	while (at > 0 && is_digit(t.s[at - 1]))
		at--;
	if (at == t.n || at < 2 || t.s[at - 1] != ':')
		return false;
	number = value_of(t.s + at, t.n - at);
	if (number == 0 || number > UINT32_MAX)
		return false;
	*file = (struct span){ t.s, at - 1 };
	*line = (uint32_t)number;
	return true;
}

/* Has it the shape of what perf prints for -F srcline, known or not? */
static bool is_position(struct span t)
{
	struct span file;
	uint32_t line;

	return script_position_read(t.s, t.n, &file, &line) || ends_with(t, ":0") ||
	       (ends_with(t, "]") && memchr(t.s, '[', t.n));
}

enum script_kind script_line_read(const char *s, size_t n, bool in_sample, struct script_header *h,
				  struct script_frame *f)
{
	struct span t = trimmed(s, n);
	struct script_header header = { 0 };
	enum script_kind kind;

	if (t.n == 0)
		return SCRIPT_BLANK;
	if (s[0] == '#')
		return SCRIPT_COMMENT;
	if (s[0] == '\t' && script_frame_read(t.s, t.n, f))
		return SCRIPT_FRAME;
	if (in_sample && is_blank(s[0]) && is_position(t) && !memchr(t.s, ' ', t.n))
		return SCRIPT_POSITION;
	/* names of tracepoints' threads are indented as old frames are, but frames have no time */
	kind = read_header(s, (size_t)(t.s + t.n - s), &header);
	if (in_sample && is_blank(s[0]) &&
	    (kind == SCRIPT_ODD ||
	     (header.time_ns == TIME_NONE && header.cpu == CPU_NONE && !header.has_frame)) &&
	    script_frame_read(t.s, t.n, f) && f->address.n > 0 && f->module.n > 0)
		return SCRIPT_FRAME;
	/* Texts that somebody passed on may have lost their indents. */
	if (in_sample && kind == SCRIPT_ODD && script_frame_read(t.s, t.n, f) &&
	    f->address.n >= 4 && f->module.n > 0)
		return SCRIPT_FRAME;
	if (kind != SCRIPT_ODD)
		*h = header;
	return kind;
}

bool script_is_indented(const char *s, size_t n)
{
	size_t i = 1;
	struct script_frame f;

	if (n < ADDRESS_COLUMNS || s[0] != '\t')
		return false;
	while (i < n && s[i] == ' ')
		i++;
	while (i < n && is_hex(s[i]))
		i++;
	return i == ADDRESS_COLUMNS && script_frame_read(s, n, &f) && f.address.n > 0;
}

/* Who it was, a period, an event, an address: each may be absent. */
static void read_loose(const struct words *w, const char *end, struct script_header *h)
{
	size_t n = find_address(w, 0);

	h->has_frame = n < w->n;
	if (h->has_frame)
		h->rest = (struct span){ w->at[n].s, (size_t)(end - w->at[n].s) };
	if (n > 0 && is_event(w->at[n - 1])) {
		n--;
		h->event = (struct span){ w->at[n].s, w->at[n].n - 1 };
	}
	if (n > 0 && is_period(w, n - 1)) {
		n--;
		h->period = value_of(w->at[n].s, w->at[n].n);
		h->has_period = true;
	}
	take_who(w, n, h);
}

enum script_kind script_loose_read(const char *s, size_t n, bool in_sample, struct script_header *h,
				   struct script_frame *f)
{
	struct span t = trimmed(s, n);
	struct words w;

	if (t.n == 0)
		return SCRIPT_BLANK;
	if (s[0] == '#')
		return SCRIPT_COMMENT;
	if (s[0] == '\t')
		return script_frame_read(t.s, t.n, f) ? SCRIPT_FRAME : SCRIPT_ODD;
	split(s, n, &w);
	*h = no_header();
	read_loose(&w, t.s + t.n, h);
	if (!h->has_frame && in_sample && is_blank(s[0]) && is_position(t) &&
	    !memchr(t.s, ' ', t.n))
		return SCRIPT_POSITION;
	return SCRIPT_HEADER;
}

/* Is the line a header, or a sample alone, that says a time, a cpu or an event? */
static bool is_full(const char *s, size_t n)
{
	struct script_header h;
	struct script_frame f;
	enum script_kind kind = script_line_read(s, n, false, &h, &f);

	return kind == SCRIPT_HEADER &&
	       (h.time_ns != TIME_NONE || h.cpu != CPU_NONE || h.event.n > 0);
}

bool script_text_is_loose(const char *text, size_t n, bool *loose)
{
	bool known = false;

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;
		struct script_header h;
		struct script_frame f;

		*loose = true;
		if (len > 0 && text[at] != '\t' && text[at] != '#' && is_full(text + at, len)) {
			*loose = false;
			return true;
		}
		known |= script_is_indented(text + at, len) ||
			 (script_loose_read(text + at, len, false, &h, &f) == SCRIPT_HEADER &&
			  h.has_frame);
		at += len + 1;
	}
	return known;
}
