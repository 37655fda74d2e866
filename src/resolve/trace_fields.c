/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields of tracepoints; see trace_fields.h. How an event prints its flags and symbols is a C expression
 * in its format file; numbers are shown as numbers instead.
 */
#include "config.h"

#include "trace_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "bytes.h"
#include "mem.h"

#define MAGIC      "\x17\x08\x44tracing"
#define EVENTS_MAX 65536u
#define FIELDS_MAX 256u
#define SHOWN_MAX  16u /* bytes of an array that is no text */

/* How the bytes of a field are meant. */
enum meaning {
	MEANING_NUMBER,
	MEANING_ADDRESS,  /* a pointer: in hexadecimal */
	MEANING_TEXT,     /* an array of characters */
	MEANING_BYTES,    /* another array */
	MEANING_DYNAMIC,  /* length << 16 | offset of it, from the start */
	MEANING_RELATIVE, /* the same from the field's end */
};

struct field {
	const char *name; /* in the arena */
	uint32_t offset, size;
	enum meaning meaning;
	bool is_signed;
	bool text; /* what a dynamic one leads to is text */
};

struct event {
	uint64_t id;
	const char *name; /* "system:name", in the arena */
	VEC(struct field) field;
};

struct trace_fields {
	VEC(struct event) event;
	struct arena text;
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

static void take_field(struct trace_fields *t, struct event *e, const char *line, const char *end)
{
	const char *d = memmem(line, (size_t)(end - line), "field:", 6), *stop;
	struct field f = { .name = NULL };
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
	if (has(d, type, "__rel_loc"))
		f.meaning = MEANING_RELATIVE;
	else if (has(d, type, "__data_loc"))
		f.meaning = MEANING_DYNAMIC;
	else if (array)
		f.meaning = f.text ? MEANING_TEXT : MEANING_BYTES;
	else if (memchr(d, '*', n) || strncmp(f.name, "__probe_", 8) == 0)
		f.meaning = MEANING_ADDRESS;
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
		} else if (stop - line > 9 && memcmp(line, "print fmt", 9) == 0) {
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

static uint64_t number_at(const uint8_t *p, uint32_t size, bool swap)
{
	struct bytes b = bytes_over(p, size, swap);

	switch (size) {
	case 1:
		return take_u8(&b);
	case 2:
		return take_u16(&b);
	case 4:
		return take_u32(&b);
	default:
		return take_u64(&b);
	}
}

static void put_number(struct writing *w, const struct field *f, const uint8_t *p, bool swap)
{
	uint64_t v = number_at(p, f->size, swap);
	unsigned unused = 64 - 8 * (f->size < 8 ? f->size : 8);
	char text[32];
	int n;

	if (f->meaning == MEANING_ADDRESS)
		n = snprintf(text, sizeof(text), "0x%" PRIx64, v);
	else if (f->is_signed)
		n = snprintf(text, sizeof(text), "%" PRId64, (int64_t)(v << unused) >> unused);
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

/* The value of a field that lies in the n raw bytes. False: it does not. */
static bool put_value(struct writing *w, const struct field *f, const uint8_t *raw, size_t n,
		      bool swap)
{
	bool number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	size_t at, length;
	uint64_t v;

	if (f->size == 0 || f->size > n || f->offset > n - f->size)
		return false;
	switch (f->meaning) {
	case MEANING_NUMBER:
	case MEANING_ADDRESS:
		if (number)
			put_number(w, f, raw + f->offset, swap);
		else
			put_bytes(w, raw + f->offset, f->size, false);
		return true;
	case MEANING_TEXT:
	case MEANING_BYTES:
		put_bytes(w, raw + f->offset, f->size, f->meaning == MEANING_TEXT);
		return true;
	case MEANING_DYNAMIC:
	case MEANING_RELATIVE:
		break;
	}
	if (f->size != 4)
		return false;
	v = number_at(raw + f->offset, 4, swap);
	at = v & 0xffff;
	at += f->meaning == MEANING_RELATIVE ? (size_t)f->offset + 4 : 0;
	length = (size_t)(v >> 16);
	if (at > n || length > n - at)
		return false;
	put_bytes(w, raw + at, length, f->text);
	return true;
}

static void put_field(struct writing *w, const struct field *f, const uint8_t *raw, size_t n,
		      bool swap)
{
	size_t before = w->n;

	put(w, " ", w->n > 0);
	put(w, f->name, strlen(f->name));
	put(w, "=", 1);
	if (put_value(w, f, raw, n, swap))
		return;
	w->n = before;
	w->out[before] = '\0';
}

bool trace_fields_text(const struct trace_fields *t, uint64_t id, const uint8_t *raw, size_t n,
		       bool swap, const char *list, char *out, size_t max)
{
	const struct event *e = find_event(t, id);
	struct writing w = { .out = out, .max = max };
	bool all = strcmp(list, "all") == 0;

	out[0] = '\0';
	for (size_t i = 0; e && all && i < e->field.n; i++)
		put_field(&w, &e->field.at[i], raw, n, swap);
	while (e && !all && *list) {
		size_t length = strcspn(list, ",");

		for (size_t i = 0; i < e->field.n; i++) {
			const struct field *f = &e->field.at[i];

			if (strlen(f->name) == length && memcmp(f->name, list, length) == 0)
				put_field(&w, f, raw, n, swap);
		}
		list += length + (list[length] == ',');
	}
	return w.n > 0;
}
