/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of the expressions of "print fmt"; see print_expr.h. As in C, but that numbers have 64 bits
 * until they are cast or printed. Flags and symbols as libtraceevent writes them.
 */
#include "config.h"

#include "perf/tracepoint/print_expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perf/tracepoint/trace_field.h"

#define OP2(a, b) ((a) << 8 | (b))

void print_put(struct print_text *w, const char *s, size_t n)
{
	size_t room = w->max - w->n - 1;

	n = n < room ? n : room;
	memcpy(w->at + w->n, s, n);
	w->n += n;
	w->at[w->n] = '\0';
}

static bool less(struct print_value a, struct print_value b)
{
	return a.is_unsigned || b.is_unsigned ? a.v < b.v : (int64_t)a.v < (int64_t)b.v;
}

static bool divide(uint16_t op, struct print_value a, struct print_value b, uint64_t *out)
{
	bool is_signed = !a.is_unsigned && !b.is_unsigned;

	if (b.v == 0)
		return false;
	if (is_signed && (int64_t)b.v == -1)
		*out = op == '/' ? 0 - a.v : 0;
	else if (is_signed)
		*out = (uint64_t)(op == '/' ? (int64_t)a.v / (int64_t)b.v
					    : (int64_t)a.v % (int64_t)b.v);
	else
		*out = op == '/' ? a.v / b.v : a.v % b.v;
	return true;
}

/* a op b; false: not with these. */
static bool compute(uint16_t op, struct print_value a, struct print_value b,
		    struct print_value *out)
{
	out->is_unsigned = a.is_unsigned || b.is_unsigned;
	switch (op) {
	case '+':
		out->v = a.v + b.v;
		return true;
	case '-':
		out->v = a.v - b.v;
		return true;
	case '*':
		out->v = a.v * b.v;
		return true;
	case '&':
		out->v = a.v & b.v;
		return true;
	case '|':
		out->v = a.v | b.v;
		return true;
	case '^':
		out->v = a.v ^ b.v;
		return true;
	case OP2('<', '<'):
		*out = (struct print_value){ b.v < 64 ? a.v << b.v : 0, a.is_unsigned };
		return true;
	case OP2('>', '>'):
		*out = (struct print_value){ b.v < 64 ? a.v >> b.v : 0, a.is_unsigned };
		return true;
	case '/':
	case '%':
		return divide(op, a, b, &out->v);
	default:
		return false;
	}
}

/* a op b that is true or false; false: it is no such operator. */
static bool compare(uint16_t op, struct print_value a, struct print_value b, uint64_t *out)
{
	switch (op) {
	case OP2('=', '='):
		*out = a.v == b.v;
		return true;
	case OP2('!', '='):
		*out = a.v != b.v;
		return true;
	case '<':
		*out = less(a, b);
		return true;
	case '>':
		*out = less(b, a);
		return true;
	case OP2('<', '='):
		*out = !less(b, a);
		return true;
	case OP2('>', '='):
		*out = !less(a, b);
		return true;
	case OP2('&', '&'):
		*out = a.v && b.v;
		return true;
	case OP2('|', '|'):
		*out = a.v || b.v;
		return true;
	default:
		return false;
	}
}

static bool unary(const struct print_node *e, const struct trace_raw *raw, struct print_value *out)
{
	struct print_value a;

	if (!print_number(e->a, raw, &a))
		return false;
	*out = a;
	if (e->op == '-')
		out->v = 0 - a.v;
	else if (e->op == '~')
		out->v = ~a.v;
	else if (e->op == '!')
		*out = (struct print_value){ !a.v, false };
	return true;
}

static bool binary(const struct print_node *e, const struct trace_raw *raw, struct print_value *out)
{
	struct print_value a, b;

	if (!print_number(e->a, raw, &a) || !print_number(e->b, raw, &b))
		return false;
	*out = (struct print_value){ 0, false };
	return compare(e->op, a, b, &out->v) || compute(e->op, a, b, out);
}

static bool cast(const struct print_node *e, const struct trace_raw *raw, struct print_value *out)
{
	unsigned unused = e->size > 0 && e->size < 8 ? 64 - 8 * e->size : 0;

	if (!print_number(e->a, raw, out))
		return false;
	out->v <<= unused;
	out->v = e->is_unsigned ? out->v >> unused : (uint64_t)((int64_t)out->v >> unused);
	out->is_unsigned = e->is_unsigned && unused == 0;
	return true;
}

/* An element of an array. */
static bool element(const struct print_node *e, const struct trace_raw *raw,
		    struct print_value *out)
{
	uint32_t size = e->field->element;
	struct print_value i;
	const uint8_t *at;
	size_t n;

	if ((size != 1 && size != 2 && size != 4 && size != 8) || !print_number(e->a, raw, &i) ||
	    !raw || !trace_field_bytes(e->field, raw, &at, &n) || i.v >= n / size)
		return false;
	out->v = trace_number(at + i.v * size, size, e->field->is_signed, raw->swap);
	out->is_unsigned = size == 8 && !e->field->is_signed;
	return true;
}

bool print_number(const struct print_node *e, const struct trace_raw *raw, struct print_value *out)
{
	const uint8_t *at;
	size_t n;

	switch (e->kind) {
	case PRINT_NUMBER:
		*out = (struct print_value){ e->number, e->is_unsigned };
		return true;
	case PRINT_FIELD:
		out->is_unsigned = e->field->size == 8 && !e->field->is_signed;
		return raw && trace_field_number(e->field, raw, &out->v);
	case PRINT_LENGTH:
		out->is_unsigned = false;
		if (!raw || !trace_field_bytes(e->field, raw, &at, &n))
			return false;
		out->v = n;
		return true;
	case PRINT_ELEMENT:
		return element(e, raw, out);
	case PRINT_UNARY:
		return unary(e, raw, out);
	case PRINT_BINARY:
		return binary(e, raw, out);
	case PRINT_CAST:
		return cast(e, raw, out);
	case PRINT_CHOICE:
		return print_number(e->a, raw, out) && print_number(out->v ? e->b : e->c, raw, out);
	case PRINT_STRING:
	case PRINT_FLAGS:
	case PRINT_SYMBOLIC:
	case PRINT_HEX:
	case PRINT_ARRAY:
	case PRINT_UNKNOWN:
		break;
	}
	return false;
}

static void put_hex(struct print_text *w, uint64_t v)
{
	char text[32];

	print_put(w, text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, v));
}

static void put_flags(const struct print_node *e, uint64_t v, struct print_text *w)
{
	size_t before = w->n;

	for (const struct print_name *n = e->names; n; n = n->next) {
		if (n->value == 0 || (v & n->value) != n->value)
			continue;
		if (w->n > before)
			print_put(w, e->text, strlen(e->text));
		print_put(w, n->text, strlen(n->text));
		v &= ~n->value;
	}
	if (v == 0)
		return;
	if (w->n > before)
		print_put(w, e->text, strlen(e->text));
	put_hex(w, v);
}

static void put_symbol(const struct print_node *e, uint64_t v, struct print_text *w)
{
	const struct print_name *n = e->names;

	while (n && n->value != v)
		n = n->next;
	if (n)
		print_put(w, n->text, strlen(n->text));
	else
		put_hex(w, v);
}

/* The bytes of an array that a call is given. */
static bool bytes_of(const struct print_node *e, const struct trace_raw *raw, const uint8_t **at,
		     size_t *n)
{
	return e->kind == PRINT_FIELD && trace_field_bytes(e->field, raw, at, n);
}

static bool put_bytes(const struct print_node *e, const struct trace_raw *raw, struct print_text *w)
{
	struct print_value count, size = { 1, false };
	const uint8_t *at;
	size_t n;

	if (!bytes_of(e->a, raw, &at, &n) || !print_number(e->b, raw, &count) ||
	    (e->c && !print_number(e->c, raw, &size)))
		return false;
	if ((size.v != 1 && size.v != 2 && size.v != 4 && size.v != 8) || count.v > n / size.v)
		return false;
	print_put(w, "{", e->kind == PRINT_ARRAY);
	for (size_t i = 0; i < count.v && w->n + 1 < w->max; i++) {
		char text[32];
		uint64_t v = trace_number(at + i * size.v, (uint32_t)size.v, false, raw->swap);
		const char *between = e->kind == PRINT_ARRAY ? "," : e->text;

		print_put(w, between, i > 0 ? strlen(between) : 0);
		if (e->kind == PRINT_ARRAY)
			put_hex(w, v);
		else
			print_put(w, text,
				  (size_t)snprintf(text, sizeof(text), "%02x", (unsigned)v & 0xff));
	}
	print_put(w, "}", e->kind == PRINT_ARRAY);
	return true;
}

/* A field as text, if it is some. */
static bool put_field(const struct print_node *e, const struct trace_raw *raw, struct print_text *w)
{
	const struct trace_field *f = e->field;
	const uint8_t *at;
	size_t n;

	if (f->meaning != TRACE_TEXT && !(f->meaning >= TRACE_DYNAMIC && f->text))
		return false;
	if (!trace_field_bytes(f, raw, &at, &n))
		return false;
	print_put(w, (const char *)at, strnlen((const char *)at, n));
	return true;
}

bool print_string(const struct print_node *e, const struct trace_raw *raw, struct print_text *w)
{
	struct print_value v;

	switch (e->kind) {
	case PRINT_STRING:
		print_put(w, e->text, strlen(e->text));
		return true;
	case PRINT_CHOICE:
		return print_number(e->a, raw, &v) && print_string(v.v ? e->b : e->c, raw, w);
	case PRINT_CAST:
		return print_string(e->a, raw, w);
	case PRINT_FLAGS:
		if (!print_number(e->a, raw, &v))
			return false;
		put_flags(e, v.v, w);
		return true;
	case PRINT_SYMBOLIC:
		if (!print_number(e->a, raw, &v))
			return false;
		put_symbol(e, v.v, w);
		return true;
	case PRINT_HEX:
	case PRINT_ARRAY:
		return put_bytes(e, raw, w);
	case PRINT_FIELD:
		if (put_field(e, raw, w))
			return true;
		break;
	case PRINT_NUMBER:
	case PRINT_ELEMENT:
	case PRINT_LENGTH:
	case PRINT_UNARY:
	case PRINT_BINARY:
	case PRINT_UNKNOWN:
		break;
	}
	if (!print_number(e, raw, &v))
		return false;
	put_hex(w, v.v);
	return true;
}
