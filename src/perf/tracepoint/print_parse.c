/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions of "print fmt"; see print_expr.h. The text comes from a recording: recursion and the
 * height of trees are bounded, and whatever is not understood makes the whole expression fail.
 */
#include "config.h"

#include "perf/tracepoint/print_expr.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "perf/tracepoint/trace_field.h"

#define DEPTH_MAX  128 /* of parentheses and calls */
#define HEIGHT_MAX 256
#define ANY_LEVEL  1

#define OP2(a, b) ((uint16_t)((a) << 8 | (b)))

static const struct {
	const char text[3];
	int level; /* higher binds tighter */
} operators[] = {
	/* the longer ones first */
	{ "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 }, { ">=", 7 },
	{ "<<", 8 }, { ">>", 8 }, { "|", 3 },  { "^", 4 },  { "&", 5 },  { "<", 7 },
	{ ">", 7 },  { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

/* Words of types, and how large a number of them is; 0: as large as any. */
static const struct {
	const char *word;
	uint32_t size;
} types[] = {
	{ "unsigned", 0 }, { "signed", 0 },   { "long", 8 },   { "int", 4 },     { "short", 2 },
	{ "char", 1 },     { "bool", 0 },     { "void", 0 },   { "const", 0 },   { "struct", 0 },
	{ "union", 0 },    { "enum", 0 },     { "u8", 1 },     { "u16", 2 },     { "u32", 4 },
	{ "u64", 8 },      { "s8", 1 },       { "s16", 2 },    { "s32", 4 },     { "s64", 8 },
	{ "__u8", 1 },     { "__u16", 2 },    { "__u32", 4 },  { "__u64", 8 },   { "__s8", 1 },
	{ "__s16", 2 },    { "__s32", 4 },    { "__s64", 8 },  { "uint8_t", 1 }, { "uint16_t", 2 },
	{ "uint32_t", 4 }, { "uint64_t", 8 }, { "int8_t", 1 }, { "int16_t", 2 }, { "int32_t", 4 },
	{ "int64_t", 8 },  { "__force", 0 },
};

static const struct print_node *parse_choice(struct print_source *p);
static const struct print_node *parse_unary(struct print_source *p);

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static void pass_blanks(struct print_source *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
		p->at++;
}

bool print_pass(struct print_source *p, const char *s)
{
	size_t n = strlen(s);

	pass_blanks(p);
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, s, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* The length of the word at the cursor. */
static size_t word(struct print_source *p)
{
	size_t n = 0;

	pass_blanks(p);
	while (p->at + n < p->end && is_word(p->at[n]))
		n++;
	return n;
}

/* Is it one number whatever the sample? Masks of many flags become one at once. */
static bool is_constant(const struct print_node *n, struct print_value *v)
{
	bool computed = n->kind == PRINT_UNARY || n->kind == PRINT_BINARY || n->kind == PRINT_CAST;

	return computed && n->a->kind == PRINT_NUMBER && (!n->b || n->b->kind == PRINT_NUMBER) &&
	       print_number(n, NULL, v);
}

/* A node with what is known of it; NULL when the tree gets too high or there are too many. */
static const struct print_node *keep(struct print_source *p, struct print_node n)
{
	const struct print_node *below[] = { n.a, n.b, n.c };
	struct print_node *kept;
	struct print_value v;

	if (is_constant(&n, &v))
		n = (struct print_node){ .kind = PRINT_NUMBER,
					 .number = v.v,
					 .is_unsigned = v.is_unsigned };
	else
		for (size_t i = 0; i < 3; i++)
			if (below[i] && below[i]->height >= n.height)
				n.height = (uint16_t)(below[i]->height + 1);
	if (n.height > HEIGHT_MAX || p->n_left == 0)
		return NULL;
	p->n_left--;
	kept = arena_alloc(p->arena, sizeof(*kept));
	*kept = n;
	return kept;
}

static char unescaped(struct print_source *p)
{
	char c = *p->at++;

	if (c != '\\' || p->at == p->end)
		return c;
	c = *p->at++;
	return c == 'n' || c == 't' || c == 'r' ? ' ' : c;
}

char *print_take_string(struct print_source *p)
{
	VEC(char) s = { 0 };
	char *kept = NULL;
	bool any = false;

	while (print_pass(p, "\"")) {
		any = true;
		while (p->at < p->end && *p->at != '"')
			vec_push(&s, unescaped(p));
		if (p->at == p->end) {
			any = false;
			break;
		}
		p->at++;
	}
	if (any)
		kept = arena_strndup(p->arena, s.at, s.n);
	vec_done(&s);
	return kept;
}

static const struct print_node *parse_number(struct print_source *p)
{
	size_t n = word(p);
	char text[32], *end;
	struct print_node e = { .kind = PRINT_NUMBER };

	if (n == 0 || n >= sizeof(text))
		return NULL;
	memcpy(text, p->at, n);
	text[n] = '\0';
	e.number = strtoull(text, &end, 0);
	for (; *end; end++) {
		if (!strchr("uUlL", *end))
			return NULL;
		e.is_unsigned = e.is_unsigned || *end == 'u' || *end == 'U';
	}
	e.is_unsigned = e.is_unsigned && (strpbrk(text, "lL") || e.number > UINT32_MAX);
	p->at += n;
	return keep(p, e);
}

static const struct trace_field *take_field(struct print_source *p)
{
	size_t n = word(p);

	for (size_t i = 0; n > 0 && i < p->n_fields; i++) {
		const char *name = p->fields[i].name;

		if (strlen(name) != n || memcmp(name, p->at, n) != 0)
			continue;
		p->at += n;
		return &p->fields[i];
	}
	return NULL;
}

/* REC->name, perhaps with an index. */
static const struct print_node *parse_record(struct print_source *p)
{
	struct print_node e = { .kind = PRINT_FIELD, .field = take_field(p) };

	if (!e.field)
		return NULL;
	if (!print_pass(p, "["))
		return keep(p, e);
	e.kind = PRINT_ELEMENT;
	e.a = parse_choice(p);
	return e.a && print_pass(p, "]") ? keep(p, e) : NULL;
}

/* "{ value, "name" }, …" up to the end of the call. */
static bool parse_names(struct print_source *p, struct print_node *e)
{
	const struct print_name **last = &e->names;

	while (print_pass(p, ",")) {
		const struct print_node *value;
		struct print_value v;
		struct print_name n = { .next = NULL }, *kept;

		if (!print_pass(p, "{"))
			return false;
		value = parse_choice(p);
		if (!value || !print_pass(p, ","))
			return false;
		n.text = print_take_string(p);
		/* The last may be { 0, NULL }. */
		if (!n.text && !parse_choice(p))
			return false;
		if (!print_pass(p, "}") || p->n_left == 0)
			return false;
		/* A name of the kernel's for a number cannot be looked up. */
		if (!n.text || !print_number(value, NULL, &v))
			continue;
		n.value = v.v;
		p->n_left--;
		kept = arena_alloc(p->arena, sizeof(*kept));
		*kept = n;
		*last = kept;
		last = (const struct print_name **)&kept->next;
	}
	return true;
}

/* The further arguments of a call with bytes, of which n are told. */
static bool parse_bytes(struct print_source *p, struct print_node *e, unsigned n)
{
	e->a = parse_choice(p);
	if (!e->a || !print_pass(p, ",") || !(e->b = parse_choice(p)))
		return false;
	return n < 3 || (print_pass(p, ",") && (e->c = parse_choice(p)));
}

/* What stands in a call up to its ')'. */
static void pass_arguments(struct print_source *p)
{
	unsigned open = 0;
	bool quoted = false;

	for (; p->at < p->end && (quoted || open > 0 || *p->at != ')'); p->at++) {
		if (quoted && *p->at == '\\' && p->end - p->at > 1)
			p->at++;
		else if (*p->at == '"')
			quoted = !quoted;
		else if (!quoted)
			open = *p->at == '(' ? open + 1 : *p->at == ')' ? open - 1 : open;
	}
}

static bool parse_call(struct print_source *p, const char *name, size_t n, struct print_node *e)
{
#define IS(s) (n == sizeof(s) - 1 && memcmp(name, s, n) == 0)
	if (IS("__get_str") || IS("__get_rel_str") || IS("__get_dynamic_array") ||
	    IS("__get_rel_dynamic_array")) {
		e->kind = PRINT_FIELD;
		e->field = take_field(p);
		return e->field != NULL;
	}
	if (IS("__get_dynamic_array_len") || IS("__get_rel_dynamic_array_len")) {
		e->kind = PRINT_LENGTH;
		e->field = take_field(p);
		return e->field != NULL;
	}
	if (IS("__print_flags") || IS("__print_flags_u64")) {
		e->kind = PRINT_FLAGS;
		e->a = parse_choice(p);
		if (!e->a || !print_pass(p, ","))
			return false;
		e->text = print_take_string(p);
		return e->text && parse_names(p, e);
	}
	if (IS("__print_symbolic") || IS("__print_symbolic_u64")) {
		e->kind = PRINT_SYMBOLIC;
		e->a = parse_choice(p);
		return e->a && parse_names(p, e);
	}
	if (IS("__print_hex") || IS("__print_hex_str")) {
		e->kind = PRINT_HEX;
		e->text = IS("__print_hex") ? " " : "";
		return parse_bytes(p, e, 2);
	}
	if (IS("__print_array")) {
		e->kind = PRINT_ARRAY;
		return parse_bytes(p, e, 3);
	}
	e->kind = PRINT_UNKNOWN;
	pass_arguments(p);
	return true;
#undef IS
}

static const struct print_node *parse_word(struct print_source *p)
{
	size_t n = word(p);
	const char *name = p->at;
	struct print_node e = { .kind = PRINT_FIELD };

	p->at += n;
	if (n == 3 && memcmp(name, "REC", 3) == 0 && print_pass(p, "->"))
		return parse_record(p);
	if (n == 0)
		return NULL;
	if (!print_pass(p, "(")) {
		e.kind = PRINT_UNKNOWN;
		return keep(p, e);
	}
	return parse_call(p, name, n, &e) && print_pass(p, ")") ? keep(p, e) : NULL;
}

static bool is_type_word(const char *s, size_t n, uint32_t *size)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strlen(types[i].word) != n || memcmp(types[i].word, s, n) != 0)
			continue;
		*size = types[i].size;
		return true;
	}
	*size = 0;
	return n > 2 && memcmp(s + n - 2, "_t", 2) == 0;
}

/*
 * The rest of a cast behind its '('; false and the cursor where it was when it is none. A plain
 * "unsigned" is an int.
 */
static bool pass_cast(struct print_source *p, struct print_node *e)
{
	const char *begin = p->at;
	uint32_t size = 0, least = UINT32_MAX;
	bool is_unsigned = false, named = false, pointer = false;
	size_t n, n_words = 0;

	while ((n = word(p)) > 0 && (named || is_type_word(p->at, n, &size))) {
		is_unsigned = is_unsigned || *p->at == 'u' ||
			      memcmp(p->at, "__u", n < 3 ? n : 3) == 0;
		/* "long long int" and "long unsigned int" are as large as their largest word says. */
		if (size == 8 || (size > 0 && least == UINT32_MAX))
			least = size;
		named = n >= 4 && (memcmp(p->at, "stru", 4) == 0 || memcmp(p->at, "enum", 4) == 0 ||
				   memcmp(p->at, "unio", 4) == 0);
		n_words++;
		p->at += n;
	}
	while (print_pass(p, "*"))
		pointer = true;
	if (n_words == 0 || !print_pass(p, ")")) {
		p->at = begin;
		return false;
	}
	if (is_unsigned && n_words == 1 && least == UINT32_MAX)
		least = 0;
	e->size = pointer || least == UINT32_MAX ? 0 : least;
	e->is_unsigned = is_unsigned || pointer;
	return true;
}

static const struct print_node *parse_parens(struct print_source *p)
{
	struct print_node e = { .kind = PRINT_CAST };
	const struct print_node *inner;

	if (pass_cast(p, &e)) {
		e.a = parse_unary(p);
		return e.a ? keep(p, e) : NULL;
	}
	inner = parse_choice(p);
	return inner && print_pass(p, ")") ? inner : NULL;
}

static const struct print_node *parse_operand(struct print_source *p)
{
	struct print_node e = { .kind = PRINT_STRING };

	pass_blanks(p);
	if (p->at == p->end)
		return NULL;
	if (*p->at == '"') {
		e.text = print_take_string(p);
		return e.text ? keep(p, e) : NULL;
	}
	if (print_pass(p, "("))
		return parse_parens(p);
	return *p->at >= '0' && *p->at <= '9' ? parse_number(p) : parse_word(p);
}

static const struct print_node *parse_unary(struct print_source *p)
{
	struct print_node e = { .kind = PRINT_UNARY };
	const struct print_node *got;

	if (p->depth == DEPTH_MAX)
		return NULL;
	p->depth++;
	pass_blanks(p);
	if (p->at < p->end && strchr("-~!+", *p->at)) {
		e.op = (uint8_t)*p->at++;
		e.a = parse_unary(p);
		got = e.a ? keep(p, e) : NULL;
	} else {
		got = parse_operand(p);
	}
	p->depth--;
	return got;
}

/* The operator at the cursor, if it binds at least so tightly; passed. 0: none. */
static uint16_t take_operator(struct print_source *p, int level, int *out)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		const char *s = operators[i].text;

		if (!print_pass(p, s))
			continue;
		if (operators[i].level < level) {
			p->at -= strlen(s);
			return 0;
		}
		*out = operators[i].level;
		return (uint16_t)(s[1] ? OP2(s[0], s[1]) : s[0]);
	}
	return 0;
}

static const struct print_node *parse_binary(struct print_source *p, int level)
{
	const struct print_node *a = parse_unary(p);
	int found = 0;

	while (a) {
		struct print_node e = { .kind = PRINT_BINARY, .a = a };

		e.op = take_operator(p, level, &found);
		if (e.op == 0)
			return a;
		e.b = parse_binary(p, found + 1);
		if (!e.b)
			return NULL;
		a = keep(p, e);
	}
	return NULL;
}

static const struct print_node *parse_choice(struct print_source *p)
{
	struct print_node e = { .kind = PRINT_CHOICE };
	const struct print_node *got;

	if (p->depth == DEPTH_MAX)
		return NULL;
	p->depth++;
	got = e.a = parse_binary(p, ANY_LEVEL);
	if (e.a && print_pass(p, "?")) {
		e.b = parse_choice(p);
		e.c = e.b && print_pass(p, ":") ? parse_choice(p) : NULL;
		got = e.c ? keep(p, e) : NULL;
	}
	p->depth--;
	return got;
}

const struct print_node *print_take_expr(struct print_source *p)
{
	return parse_choice(p);
}
