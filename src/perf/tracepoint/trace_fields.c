/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields of tracepoints; see trace_fields.h. Fields that are shown one by one are shown as they are; what
 * an event makes of its flags and symbols says its "print fmt" (print_fmt.h).
 */
#include "config.h"

#include "perf/tracepoint/trace_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "perf/tracepoint/print_fmt.h"
#include "perf/tracepoint/trace_field.h"

#define MAGIC      "\x17\x08\x44tracing"
#define EVENTS_MAX 65536u
#define FIELDS_MAX 256u
#define PARTS_MAX  ((size_t)256 << 10) /* of the expressions in all "print fmt"s */
#define SHOWN_MAX  16u                 /* bytes of an array that is no text */

struct event {
	uint64_t id;
	const char *name; /* "system:name", in the arena */
	VEC(struct trace_field) field;
	const struct print_fmt *printed; /* NULL: not understood; in the arena */
};

struct trace_fields {
	VEC(struct event) event;
	struct arena text;
	size_t n_left; /* parts that "print fmt"s may still have */
};

/* The number behind key in [line, end). False when there is none. */
static bool number_of(const char *line, const char *end, const char *key, uint32_t *out)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));

	if (!at)
		return false;
	*out = 0;
	for (at += strlen(key); at < end && *at >= '0' && *at <= '9'; at++)
		*out = *out * 10 + (uint32_t)(*at - '0');
	return true;
}

static bool has(const char *s, size_t n, const char *word)
{
	return memmem(s, n, word, strlen(word)) != NULL;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "unsigned int x[4]" → its name; *type bytes come before. */
static const char *name_of(struct trace_fields *t, const char *d, size_t n, size_t *type)
{
	size_t end = n, begin;

	while (end > 0 && !is_word(d[end - 1]))
		end--;
	/* Behind the name there may be "[4]". */
	if (end < n && memchr(d + end, ']', n - end)) {
		const char *open = memrchr(d, '[', n);

		end = open ? (size_t)(open - d) : 0;
		while (end > 0 && !is_word(d[end - 1]))
			end--;
	}
	begin = end;
	while (begin > 0 && is_word(d[begin - 1]))
		begin--;
	*type = begin;
	return arena_strndup(&t->text, d + begin, end - begin);
}

/* Bytes of one thing of an array of size bytes: "[N]" says how many there are, or else the type's name. */
static uint32_t element_of(const char *d, size_t n, size_t type, uint32_t size)
{
	static const struct {
		const char *word;
		uint32_t size;
	} sizes[] = { { "char", 1 }, { "8", 1 },  { "short", 2 }, { "16", 2 },
		      { "32", 4 },   { "64", 8 }, { "long", 8 },  { "int", 4 } };
	const char *open = memrchr(d, '[', n);
	uint32_t count = 0;

	if (!open)
		return 0;
	if (number_of(open, d + n, "[", &count) && count > 0 && size % count == 0)
		return size / count;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (has(d, type, sizes[i].word))
			return sizes[i].size;
	return 0;
}

static void take_field(struct trace_fields *t, struct event *e, const char *line, const char *end)
{
	const char *d = memmem(line, (size_t)(end - line), "field:", 6), *stop;
	struct trace_field f = { .name = NULL };
	uint32_t is_signed = 0;
	size_t n, type;
	bool array;

	stop = d ? memchr(d, ';', (size_t)(end - d)) : NULL;
	if (!stop || !number_of(stop, end, "offset:", &f.offset) ||
	    !number_of(stop, end, "size:", &f.size))
		return;
	number_of(stop, end, "signed:", &is_signed);
	d += 6;
	n = (size_t)(stop - d);
	f.name = name_of(t, d, n, &type);
	f.is_signed = is_signed;
	array = memchr(d, '[', n) != NULL;
	f.text = has(d, type, "char");
	f.element = element_of(d, n, type, f.size);
	if (has(d, type, "__rel_loc"))
		f.meaning = TRACE_RELATIVE;
	else if (has(d, type, "__data_loc"))
		f.meaning = TRACE_DYNAMIC;
	else if (array)
		f.meaning = f.text ? TRACE_TEXT : TRACE_BYTES;
	else if (memchr(d, '*', n) || strncmp(f.name, "__probe_", 8) == 0)
		f.meaning = TRACE_ADDRESS;
	if (*f.name && strncmp(f.name, "common_", 7) != 0 && e->field.n < FIELDS_MAX)
		vec_push(&e->field, f);
}

/* A format file. */
static void take_format(struct trace_fields *t, const char *system, const char *s, size_t n)
{
	struct event e = { .name = NULL };
	const char *end = s + n, *name = NULL;
	size_t name_n = 0;
	uint32_t id = 0;
	char *full;

	for (const char *line = s; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		if (!name && stop - line > 6 && memcmp(line, "name: ", 6) == 0) {
			name = line + 6;
			name_n = (size_t)(stop - name);
		} else if (stop - line > 4 && memcmp(line, "ID: ", 4) == 0) {
			number_of(line, stop, "ID: ", &id);
		} else if (stop - line > 10 && memcmp(line, "print fmt:", 10) == 0) {
			e.printed = print_fmt_new(line + 10, (size_t)(stop - line) - 10, e.field.at,
						  e.field.n, &t->text, &t->n_left);
			break;
		} else {
			take_field(t, &e, line, stop);
		}
		line = stop + 1;
	}
	if (!name || id == 0 || t->event.n >= EVENTS_MAX) {
		vec_done(&e.field);
		return;
	}
	full = xasprintf("%s:%.*s", system, (int)(name_n < 256 ? name_n : 256), name);
	e.id = id;
	e.name = arena_strndup(&t->text, full, strlen(full));
	free(full);
	vec_push(&t->event, e);
}

/* A size and as many bytes; NULL when they are not there. They end in no NUL. */
static const char *take_sized(struct bytes *b, uint64_t size)
{
	return size <= bytes_left(b) ? (const char *)take_bytes(b, (size_t)size) : NULL;
}

/* A name that must be there, and what stands behind it. */
static bool pass_page(struct bytes *b, const char *name)
{
	const char *got = take_cstr(b);

	return !b->bad && strcmp(got, name) == 0 && take_sized(b, take_u64(b));
}

static void take_systems(struct trace_fields *t, struct bytes *b)
{
	uint32_t n_systems = take_u32(b);

	for (uint32_t i = 0; i < n_systems && !b->bad; i++) {
		const char *system = take_cstr(b);
		uint32_t n_events = take_u32(b);

		for (uint32_t k = 0; k < n_events && !b->bad; k++) {
			uint64_t size = take_u64(b);
			const char *format = take_sized(b, size);

			if (!format)
				return;
			take_format(t, system, format, (size_t)size);
		}
	}
}

static void take_all(struct trace_fields *t, struct bytes *b)
{
	uint32_t n;

	take_cstr(b); /* version */
	b->swap = take_u8(b) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	take_u8(b);  /* bytes of a long */
	take_u32(b); /* bytes of a page */
	if (!pass_page(b, "header_page") || !pass_page(b, "header_event"))
		return;
	n = take_u32(b);
	for (uint32_t i = 0; i < n && !b->bad; i++) {
		uint64_t size = take_u64(b);
		const char *format = take_sized(b, size);

		if (!format)
			return;
		take_format(t, "ftrace", format, (size_t)size);
	}
	take_systems(t, b);
}

struct trace_fields *trace_fields_new(const void *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);
	const uint8_t *magic = take_bytes(&b, sizeof(MAGIC) - 1);
	struct trace_fields *t;

	if (!magic || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	arena_init(&t->text);
	t->n_left = PARTS_MAX;
	take_all(t, &b);
	return t;
}

void trace_fields_free(struct trace_fields *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->event.n; i++)
		vec_done(&t->event.at[i].field);
	vec_done(&t->event);
	arena_done(&t->text);
	free(t);
}

static const struct event *find_event(const struct trace_fields *t, uint64_t id)
{
	for (size_t i = 0; i < t->event.n; i++)
		if (t->event.at[i].id == id)
			return &t->event.at[i];
	return NULL;
}

const char *trace_fields_event(const struct trace_fields *t, uint64_t id)
{
	const struct event *e = find_event(t, id);

	return e ? e->name : NULL;
}

char *trace_fields_names(const struct trace_fields *t, uint64_t id)
{
	const struct event *e = find_event(t, id);
	char *text = xstrdup(""), *longer;

	for (size_t i = 0; e && i < e->field.n; i++) {
		longer = xasprintf("%s%s%s", text, i ? " " : "", e->field.at[i].name);
		free(text);
		text = longer;
	}
	return text;
}

/* What has been written of a text. */
struct writing {
	char *out;
	size_t n, max;
};

static void put(struct writing *w, const char *s, size_t n)
{
	size_t room = w->max - w->n - 1;

	n = n < room ? n : room;
	memcpy(w->out + w->n, s, n);
	w->n += n;
	w->out[w->n] = '\0';
}

static void put_number(struct writing *w, const struct trace_field *f, uint64_t v)
{
	char text[32];
	int n;

	if (f->meaning == TRACE_ADDRESS)
		n = snprintf(text, sizeof(text), "0x%" PRIx64, v);
	else if (f->is_signed)
		n = snprintf(text, sizeof(text), "%" PRId64, (int64_t)v);
	else
		n = snprintf(text, sizeof(text), "%" PRIu64, v);
	put(w, text, (size_t)n);
}

static void put_bytes(struct writing *w, const uint8_t *p, size_t n, bool text)
{
	char hex[3];

	if (text) {
		put(w, (const char *)p, strnlen((const char *)p, n));
		return;
	}
	for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
		snprintf(hex, sizeof(hex), "%02x", p[i]);
		put(w, hex, 2);
	}
}

/* The value of a field that lies in the raw bytes. False: it does not. */
static bool put_value(struct writing *w, const struct trace_field *f, const struct trace_raw *raw)
{
	const uint8_t *bytes;
	uint64_t v;
	size_t n;

	if (trace_field_number(f, raw, &v)) {
		put_number(w, f, v);
		return true;
	}
	if (!trace_field_bytes(f, raw, &bytes, &n))
		return false;
	put_bytes(w, bytes, n,
		  f->meaning == TRACE_TEXT || (f->meaning >= TRACE_DYNAMIC && f->text));
	return true;
}

static void put_field(struct writing *w, const struct trace_field *f, const struct trace_raw *raw)
{
	size_t before = w->n;

	put(w, " ", w->n > 0);
	put(w, f->name, strlen(f->name));
	put(w, "=", 1);
	if (put_value(w, f, raw))
		return;
	w->n = before;
	w->out[before] = '\0';
}

bool trace_fields_text(const struct trace_fields *t, uint64_t id, const struct trace_raw *raw,
		       const char *list, const struct print_symbols *symbols, char *out, size_t max)
{
	const struct event *e = find_event(t, id);
	struct writing w = { .out = out, .max = max };
	bool all = strcmp(list, "all") == 0;

	out[0] = '\0';
	if (strcmp(list, "print") == 0) {
		if (e && e->printed && print_fmt_text(e->printed, raw, symbols, out, max))
			return true;
		all = true;
		out[0] = '\0';
	}
	for (size_t i = 0; e && all && i < e->field.n; i++)
		put_field(&w, &e->field.at[i], raw);
	while (e && !all && *list) {
		size_t length = strcspn(list, ",");

		for (size_t i = 0; i < e->field.n; i++) {
			const struct trace_field *f = &e->field.at[i];

			if (strlen(f->name) == length && memcmp(f->name, list, length) == 0)
				put_field(&w, f, raw);
		}
		list += length + (list[length] == ',');
	}
	return w.n > 0;
}
