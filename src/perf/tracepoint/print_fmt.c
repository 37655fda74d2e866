/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "print fmt" of tracepoints; see print_fmt.h. */
#include "config.h"

#include "perf/tracepoint/print_fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "perf/tracepoint/print_expr.h"

#define ARGS_MAX   64
#define WIDTH_MAX  128 /* of a number or text, and its digits */
#define STRING_MAX 512
#define UNKNOWN    '?' /* a conversion, and what stands for a value that only the kernel knows */

/* Text, then perhaps an argument. */
struct piece {
	const char *text;
	const struct print_node *value; /* NULL: there is none */
	const struct print_node *width; /* of "%*"; or NULL */
	char flags[8];
	int least, digits; /* width and precision; -1: none */
	unsigned bytes;    /* of a number */
	char conversion;
	char symbol; /* of a pointer: 'S', 's' or 'B', see put_symbol(); 0: the address is meant */
	const struct piece *next;
};

struct print_fmt {
	const struct piece *first;
};

/* The arguments in the order in which the format takes them. */
struct args {
	const struct print_node *at[ARGS_MAX];
	size_t n, used;
};

static const struct print_node *next_arg(struct args *a)
{
	return a->used < a->n ? a->at[a->used++] : NULL;
}

static int take_int(const char **s)
{
	int v = -1;

	for (; **s >= '0' && **s <= '9'; (*s)++)
		v = v > WIDTH_MAX ? v : (v < 0 ? 0 : v) * 10 + (**s - '0');
	return v > WIDTH_MAX ? WIDTH_MAX : v;
}

/* "%p" has letters that say what is behind the pointer; only a few mean the pointer itself. */
static void take_pointer(const char **s, struct piece *p)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	p->bytes = 8;
	if (n > 0 && strchr("SF", **s))
		p->symbol = 'S';
	else if (n > 0 && strchr("sf", **s))
		p->symbol = 's';
	else if (n > 0 && **s == 'B')
		p->symbol = 'B';
	else if (n > 0 && !strchr("Kx", **s))
		p->conversion = UNKNOWN;
	*s += n;
}

/* What follows '%'. False: nobody here knows what it means. */
static bool take_spec(const char **s, struct piece *p, struct args *a)
{
	size_t n = strspn(*s, "-+ #0");

	if (n >= sizeof(p->flags))
		return false;
	memcpy(p->flags, *s, n);
	*s += n;
	if (**s == '*') {
		(*s)++;
		p->width = next_arg(a);
		if (!p->width)
			return false;
	}
	p->least = take_int(s);
	p->digits = -1;
	if (**s == '.') {
		(*s)++;
		p->digits = take_int(s);
		p->digits = p->digits < 0 ? 0 : p->digits;
	}
	for (p->bytes = 4; **s && strchr("hlLqzjt", **s); (*s)++)
		p->bytes = **s == 'h' ? p->bytes / 2 : 8;
	p->conversion = **s;
	if (!p->conversion || !strchr("diuxXocsp", p->conversion))
		return false;
	(*s)++;
	if (p->conversion == 'p')
		take_pointer(s, p);
	p->value = next_arg(a);
	return p->value != NULL;
}

/* The pieces of a format; false: not all is understood. */
static bool take_pieces(const char *s, struct args *a, struct arena *arena, size_t *left,
			const struct piece **last)
{
	while (*s) {
		struct piece p = { .value = NULL }, *kept;
		size_t n = strcspn(s, "%");

		/* "%%" is the end of a text with one of them. */
		if (s[n] == '%' && s[n + 1] == '%') {
			p.text = arena_strndup(arena, s, n + 1);
			s += n + 2;
		} else {
			p.text = arena_strndup(arena, s, n);
			s += n;
			if (*s++ == '\0')
				s--;
			else if (!take_spec(&s, &p, a))
				return false;
		}
		if (*left == 0)
			return false;
		--*left;
		kept = arena_alloc(arena, sizeof(*kept));
		*kept = p;
		*last = kept;
		last = &kept->next;
	}
	return true;
}

const struct print_fmt *print_fmt_new(const char *text, size_t n, const struct trace_field *fields,
				      size_t n_fields, struct arena *arena, size_t *left)
{
	struct print_source p = { .at = text,
				  .end = text + n,
				  .fields = fields,
				  .n_fields = n_fields,
				  .arena = arena,
				  .n_left = *left };
	const char *format = print_take_string(&p);
	struct args a = { .n = 0 };
	struct print_fmt *f;
	bool good = format != NULL;

	while (good && print_pass(&p, ",")) {
		const struct print_node *e = print_take_expr(&p);

		good = e && a.n < ARGS_MAX;
		if (good)
			a.at[a.n++] = e;
	}
	*left = p.n_left;
	if (!good || p.at < p.end)
		return NULL;
	f = arena_alloc(arena, sizeof(*f));
	f->first = NULL;
	return take_pieces(format, &a, arena, left, &f->first) ? f : NULL;
}

/* Writes text of so many columns at least. */
static void put_padded(struct print_text *w, const struct piece *p, int least, const char *s,
		       size_t n)
{
	bool left = strchr(p->flags, '-') != NULL;
	size_t room = least > 0 && (size_t)least > n ? (size_t)least - n : 0;

	for (size_t i = 0; !left && i < room; i++)
		print_put(w, " ", 1);
	print_put(w, s, n);
	for (size_t i = 0; left && i < room; i++)
		print_put(w, " ", 1);
}

static bool put_string(struct print_text *w, const struct piece *p, int least,
		       const struct trace_raw *raw)
{
	char text[STRING_MAX] = "";
	struct print_text t = { .at = text, .max = sizeof(text) };

	if (!print_string(p->value, raw, &t))
		return false;
	if (p->digits >= 0 && (size_t)p->digits < t.n)
		t.n = (size_t)p->digits;
	put_padded(w, p, least, text, t.n);
	return true;
}

static uint64_t cut(const struct piece *p, uint64_t v)
{
	unsigned unused = p->bytes < 8 ? 64 - 8 * (p->bytes ? p->bytes : 1) : 0;

	v <<= unused;
	return p->conversion == 'd' || p->conversion == 'i' ? (uint64_t)((int64_t)v >> unused)
							    : v >> unused;
}

static void put_number(struct print_text *w, const struct piece *p, int least, uint64_t v)
{
	char format[32], text[2 * WIDTH_MAX + 64];
	int n;

	v = cut(p, v);
	if (p->conversion == 'c') {
		text[0] = (char)v;
		put_padded(w, p, least, text, text[0] != '\0');
		return;
	}
	if (p->conversion == 'p') {
		n = v ? snprintf(text, sizeof(text), "0x%" PRIx64, v)
		      : snprintf(text, sizeof(text), "(nil)");
		put_padded(w, p, least, text, (size_t)n);
		return;
	}
	/* The flags are of the five that printf knows; the rest is ours. */
	snprintf(format, sizeof(format), "%%%s*.*" PRIu64, p->flags);
	format[strlen(format) - 1] = p->conversion;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(text, sizeof(text), format, least < 0 ? 0 : least, p->digits, v);
#pragma GCC diagnostic pop
	print_put(w, text, n > 0 ? (size_t)n : 0);
}

/*
 * "%ps" is a function and "%pS" also how far into it, without its size, as libtraceevent writes them; "%pB" is the same of a
 * return address, which may lie behind its function. False: nobody knows the function.
 */
static bool put_symbol(struct print_text *w, const struct piece *p, int least, uint64_t address,
		       const struct print_symbols *symbols)
{
	bool after_call = p->symbol == 'B';
	uint64_t offset = 0;
	const char *name = symbols->find(symbols->arg, address - after_call, &offset);
	char text[STRING_MAX];
	int n;

	if (!name)
		return false;
	if (p->symbol == 's')
		n = snprintf(text, sizeof(text), "%s", name);
	else
		n = snprintf(text, sizeof(text), "%s+0x%" PRIx64, name, offset + after_call);
	put_padded(w, p, least, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return true;
}

static bool put_piece(struct print_text *w, const struct piece *p, const struct trace_raw *raw,
		      const struct print_symbols *symbols)
{
	struct print_value v;
	int least = p->least;

	if (p->width) {
		if (!print_number(p->width, raw, &v))
			return false;
		least = v.v > WIDTH_MAX ? 0 : (int)v.v;
	}
	if (p->conversion == UNKNOWN)
		return false;
	if (p->conversion == 's')
		return put_string(w, p, least, raw);
	if (!print_number(p->value, raw, &v))
		return false;
	if (!p->symbol || !symbols || !put_symbol(w, p, least, v.v, symbols))
		put_number(w, p, least, v.v);
	return true;
}

bool print_fmt_text(const struct print_fmt *f, const struct trace_raw *raw,
		    const struct print_symbols *symbols, char *out, size_t max)
{
	struct print_text w = { .at = out, .max = max };
	bool any_known = false, any_unknown = false;

	out[0] = '\0';
	for (const struct piece *p = f->first; p; p = p->next) {
		print_put(&w, p->text, strlen(p->text));
		if (!p->value)
			continue;
		if (put_piece(&w, p, raw, symbols)) {
			any_known = true;
		} else {
			print_put(&w, "?", 1);
			any_unknown = true;
		}
	}
	return any_known || !any_unknown;
}
