/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules' paths are made into a tree; where one is in the text is a stack of its nodes, with NULL for what no rule asks for.
 * yajl takes the text apart as it comes. Most of a large profile is arrays of plain numbers, which are taken apart here: what yajl has
 * before and behind such a run is what it would have of an array that begins or ends there.
 */
#include "config.h"

#include "formats/json/json_stream.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "input/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <yajl/yajl_parse.h>

#define PIECE_BYTES ((size_t)256 << 10)

/* What a path leads to. */
struct node {
	const char *
		key; /* of the object above, "*" for all, or NULL for elements of an array; borrowed */
	size_t n_key;
	struct node *child;           /* the first below */
	struct node *next;            /* beside */
	const struct json_rule *rule; /* or NULL */
	const struct node *same;      /* whose children are meant instead of own ones, or NULL */
};

/* What yajl told last. */
enum told { TOLD_VALUE, TOLD_ARRAY, TOLD_OTHER };

struct stream {
	struct arena arena; /* of nodes */
	struct node root;
	VEC(const struct node *)
	open; /* objects and arrays that have begun, NULL: of no interest */
	VEC(const struct node *) member; /* [open.n] what the next value of each is */
	VEC(bool) is_array;              /* [open.n] */
	enum told told;
	uint64_t n_told;
	void *to;
};

/* The tree of rules. */

static struct node *child_of(struct stream *s, struct node *parent, const char *key, size_t n)
{
	struct node *c;

	for (c = parent->child; c; c = c->next)
		if ((!c->key && !key) ||
		    (c->key && key && c->n_key == n && memcmp(c->key, key, n) == 0))
			return c;
	c = arena_alloc(&s->arena, sizeof(*c));
	*c = (struct node){ .key = key, .n_key = n, .next = parent->child };
	parent->child = c;
	return c;
}

static struct node *node_at(struct stream *s, const char *path)
{
	struct node *at = &s->root;

	while (*path) {
		size_t n;

		if (strncmp(path, "[]", 2) == 0) {
			at = child_of(s, at, NULL, 0);
			path += 2;
			continue;
		}
		path += *path == '.';
		n = strcspn(path, ".[");
		at = child_of(s, at, path, n);
		path += n;
	}
	return at;
}

static void plant(struct stream *s, const struct json_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		node_at(s, rules[i].path)->rule = &rules[i];
	for (size_t i = 0; i < n; i++)
		if (rules[i].same)
			node_at(s, rules[i].path)->same = node_at(s, rules[i].same);
}

static const struct node *element_of(const struct node *n)
{
	const struct node *c = n ? (n->same ? n->same : n)->child : NULL;

	while (c && c->key)
		c = c->next;
	return c;
}

static const struct node *member_of(const struct node *n, const char *key, size_t n_key)
{
	const struct node *c = n ? (n->same ? n->same : n)->child : NULL, *any = NULL;

	for (; c; c = c->next) {
		if (!c->key)
			continue;
		if (c->n_key == n_key && memcmp(c->key, key, n_key) == 0)
			return c;
		if (c->n_key == 1 && c->key[0] == '*')
			any = c;
	}
	return any;
}

/* What yajl calls. */

static const struct node *current(const struct stream *s)
{
	return s->open.n ? s->member.at[s->open.n - 1] : &s->root;
}

static void note(struct stream *s, enum told told)
{
	s->told = told;
	s->n_told++;
}

static int put(struct stream *s, const struct json_value *v)
{
	const struct node *n = current(s);

	note(s, TOLD_VALUE);
	if (n && n->rule && n->rule->value)
		n->rule->value(s->to, v);
	return 1;
}

static int on_null(void *arg)
{
	return put(arg, &(struct json_value){ .kind = JSON_NULL });
}

static int on_bool(void *arg, int truth)
{
	return put(arg, &(struct json_value){ .kind = JSON_BOOL, .truth = truth != 0 });
}

static int on_number(void *arg, const char *text, size_t n)
{
	return put(arg, &(struct json_value){ .kind = JSON_NUMBER, .s = text, .n = n });
}

static int on_string(void *arg, const unsigned char *text, size_t n)
{
	return put(arg,
		   &(struct json_value){ .kind = JSON_STRING, .s = (const char *)text, .n = n });
}

static int begin(struct stream *s, bool array)
{
	const struct node *n = current(s);

	if (n && n->rule && n->rule->begin)
		n->rule->begin(s->to);
	vec_push(&s->open, n);
	vec_reserve(&s->member, s->open.n);
	s->member.at[s->open.n - 1] = array ? element_of(n) : NULL;
	vec_push(&s->is_array, array);
	note(s, array ? TOLD_ARRAY : TOLD_OTHER);
	return 1;
}

static int end(void *arg)
{
	struct stream *s = arg;
	const struct node *n = s->open.at[--s->open.n];

	s->is_array.n--;
	note(s, TOLD_OTHER);
	if (n && n->rule && n->rule->end)
		n->rule->end(s->to);
	return 1;
}

static int on_object(void *arg)
{
	return begin(arg, false);
}

static int on_array(void *arg)
{
	return begin(arg, true);
}

static int on_key(void *arg, const unsigned char *text, size_t n)
{
	struct stream *s = arg;
	const struct node *m = member_of(s->open.at[s->open.n - 1], (const char *)text, n);

	s->member.at[s->open.n - 1] = m;
	note(s, TOLD_OTHER);
	if (m && m->rule && m->rule->key)
		m->rule->key(s->to, (const char *)text, n);
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = end,
	.yajl_start_array = on_array,
	.yajl_end_array = end,
};

/*
 * yajl's memory. Its stack of what is open grows by 128 bytes at a time: where realloc() moves what it has each time (other C
 * libraries than glibc, sanitizers), a text of nothing but brackets takes quadratic time. Each block has room to double here.
 */

struct block {
	size_t room; /* bytes of `at` */
	_Alignas(max_align_t) char at[];
};

static void *block_resized(struct block *b, size_t room)
{
	if (room > SIZE_MAX - sizeof(*b))
		mem_fail(room);
	b = xreallocarray(b, 1, sizeof(*b) + room);
	b->room = room;
	return b->at;
}

static struct block *block_of(void *at)
{
	return (struct block *)((char *)at - offsetof(struct block, at));
}

static void *block_new(void *arg, size_t n)
{
	(void)arg;
	return block_resized(NULL, n);
}

static void *block_grow(void *arg, void *at, size_t n)
{
	struct block *b = at ? block_of(at) : NULL;

	(void)arg;
	if (!b || b->room > SIZE_MAX / 2)
		return block_resized(b, n);
	if (n <= b->room)
		return at;
	return block_resized(b, n > 2 * b->room ? n : 2 * b->room);
}

static void block_free(void *arg, void *at)
{
	(void)arg;
	if (at)
		free(block_of(at));
}

/* Runs of numbers. Pieces end in a NUL, which is no part of any. */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Behind digits; NULL: there are none. */
static const char *past_digits(const char *at)
{
	const char *from = at;

	while (is_digit(*at))
		at++;
	return at > from ? at : NULL;
}

/* Behind a number; NULL where it is none that yajl would take. */
static const char *past_number(const char *at)
{
	const char *from = at += *at == '-';

	at = past_digits(at);
	if (!at || (*from == '0' && at > from + 1))
		return NULL;
	if (*at == '.' && !(at = past_digits(at + 1)))
		return NULL;
	if (*at == 'e' || *at == 'E') {
		at++;
		at = past_digits(at + (*at == '+' || *at == '-'));
	}
	return at;
}

/*
 * Takes the numbers and nulls of the innermost array which end in a comma that another of them follows. Returns where the rest is, which
 * begins with a value.
 */
static const char *take_run(struct stream *s, const char *at)
{
	const struct node *n = current(s);
	json_value_fn *value = n && n->rule ? n->rule->value : NULL;

	for (;;) {
		bool null = *at == 'n' && strncmp(at, "null", 4) == 0;
		const char *end = null ? at + 4 : past_number(at), *next = end;
		struct json_value v = { .kind = null ? JSON_NULL : JSON_NUMBER, .s = at };

		if (!end || *next++ != ',')
			return at;
		while (*next == ' ' || *next == '\n')
			next++;
		if (!is_digit(*next) && *next != '-' && *next != 'n')
			return at;
		v.n = null ? 0 : (size_t)(end - at);
		if (value)
			value(s->to, &v);
		at = next;
	}
}

static bool in_array(const struct stream *s)
{
	return s->open.n > 0 && s->is_array.at[s->open.n - 1];
}

/* To where yajl has an array's beginning, or a comma in one that goes on from the piece before. */
static size_t first_part(const struct stream *s, const char *at, size_t n, bool goes_on)
{
	const char *end = memchr(at, goes_on && in_array(s) ? ',' : '[', n);

	return end ? (size_t)(end - at) + 1 : n;
}

/* *at becomes what was given to yajl last. */
static yajl_status parse_piece(struct stream *s, yajl_handle h, const char **at, size_t n)
{
	const char *end = *at + n, *next = *at;
	bool goes_on = true;

	while (next < end) {
		size_t part = first_part(s, next, (size_t)(end - next), goes_on);
		uint64_t before = s->n_told;
		yajl_status status;

		*at = next;
		status = yajl_parse(h, (const unsigned char *)*at, part);
		if (status != yajl_status_ok)
			return status;
		next += part;
		/* one value and a comma: what is in quotes may have commas, too */
		if (goes_on && in_array(s) && next[-1] == ',' && s->n_told == before + 1 &&
		    s->told == TOLD_VALUE)
			next = take_run(s, next);
		else if (s->n_told > before && s->told == TOLD_ARRAY && next[-1] == '[')
			next = take_run(s, next);
		goes_on = false;
	}
	return yajl_status_ok;
}

/* Reading. */

/* yajl's words, without its lines of context and the full stop of some: the sentence goes on. */
static char *why_of(yajl_handle h)
{
	unsigned char *text = yajl_get_error(h, 0, NULL, 0);
	char *why = xstrdup(text ? (const char *)text : "it is no JSON");
	size_t n = strcspn(why, "\n");

	if (text)
		yajl_free_error(h, text);
	while (n > 0 && (why[n - 1] == '.' || why[n - 1] == ' '))
		n--;
	why[n] = '\0';
	return why;
}

static int read_pieces(struct stream *s, struct input *in, yajl_handle h, struct json_end *end_of,
		       struct progress *progress, struct err *e)
{
	char *piece = xmalloc(PIECE_BYTES + 1);
	const char *at = piece;
	yajl_status status = yajl_status_ok;
	struct err broken = ERR_INIT;
	ssize_t n = 0;

	while (status == yajl_status_ok && !progress_cancelled(progress)) {
		n = input_read(in, piece, PIECE_BYTES, &broken);
		if (n <= 0)
			break;
		piece[n] = '\0';
		at = piece;
		status = parse_piece(s, h, &at, (size_t)n);
		end_of->offset = input_offset(in) - (uint64_t)n + (uint64_t)(at - piece);
		progress_set(progress, input_file_done(in), input_file_bytes(in));
	}
	free(piece);
	if (progress_cancelled(progress) || n == -ECANCELED) {
		err_clear(&broken);
		return -ECANCELED;
	}
	if (n < 0 && input_offset(in) == 0) {
		err_set(e, (int)n, "%s", err_text(&broken));
		err_clear(&broken);
		return (int)n;
	}
	if (n < 0) {
		end_of->why = xstrdup(err_text(&broken));
		end_of->offset = input_offset(in);
	} else if (status == yajl_status_ok) {
		end_of->offset = input_offset(in);
		status = yajl_complete_parse(h);
	} else {
		end_of->offset += yajl_get_bytes_consumed(h);
	}
	if (!end_of->why && status != yajl_status_ok)
		end_of->why = why_of(h);
	err_clear(&broken);
	return 0;
}

static int read_values(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
		       bool many, struct json_end *end_of, struct progress *progress, struct err *e)
{
	struct stream s = { .to = to };
	yajl_alloc_funcs memory = { .malloc = block_new,
				    .realloc = block_grow,
				    .free = block_free };
	yajl_handle h = yajl_alloc(&callbacks, &memory, &s);
	int rc;

	*end_of = (struct json_end){ 0 };
	if (!h)
		mem_fail(sizeof(s));
	/* names are cleaned before they are shown, whatever bytes they are */
	yajl_config(h, yajl_dont_validate_strings, 1);
	yajl_config(h, yajl_allow_multiple_values, many);
	plant(&s, rules, n_rules);
	rc = read_pieces(&s, in, h, end_of, progress, e);
	yajl_free(h);
	arena_done(&s.arena);
	vec_done(&s.open);
	vec_done(&s.member);
	vec_done(&s.is_array);
	return rc;
}

int json_read(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
	      struct json_end *end_of, struct progress *progress, struct err *e)
{
	return read_values(in, rules, n_rules, to, false, end_of, progress, e);
}

int json_read_lines(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
		    struct json_end *end_of, struct progress *progress, struct err *e)
{
	return read_values(in, rules, n_rules, to, true, end_of, progress, e);
}

/* Values. */

/*
 * A number of at most 15 digits with at most as many behind the point: both are exact as doubles, and so is the one rounding of their
 * quotient (Clinger, "How to read floating point numbers accurately", 1990). False for all others.
 */
static bool plain_double(const struct json_value *v, double *out)
{
	static const double tens[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	size_t i = v->s[0] == '-', point = v->n, digits = 0;
	int64_t x = 0;

	if (v->n > 16)
		return false;
	for (; i < v->n; i++) {
		if (v->s[i] == '.' && point == v->n)
			point = i;
		else if (v->s[i] < '0' || v->s[i] > '9' || ++digits > 15)
			return false;
		else
			x = 10 * x + (v->s[i] - '0');
	}
	if (digits == 0)
		return false;
	*out = (double)x / tens[point < v->n ? v->n - 1 - point : 0];
	*out = v->s[0] == '-' ? -*out : *out;
	return true;
}

double json_double(const struct json_value *v, double otherwise)
{
	char text[64];
	char *stop;
	double x;

	if (v->kind == JSON_NUMBER && v->n > 0 && plain_double(v, &x))
		return x;

	if (v->kind != JSON_NUMBER || v->n >= sizeof(text))
		return otherwise;
	memcpy(text, v->s, v->n);
	text[v->n] = '\0';
	x = strtod(text, &stop);
	return *stop == '\0' && isfinite(x) ? x : otherwise;
}

int64_t json_int(const struct json_value *v, int64_t otherwise)
{
	size_t i = v->kind == JSON_NUMBER && v->s[0] == '-';
	int64_t x = 0;
	double d;

	if (v->kind != JSON_NUMBER)
		return otherwise;
	for (; i < v->n && v->s[i] >= '0' && v->s[i] <= '9'; i++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, v->s[i] - '0', &x))
			break;
	if (i == v->n && i > 0)
		return v->s[0] == '-' ? -x : x;
	d = round(json_double(v, NAN));
	return d > -9.2e18 && d < 9.2e18 ? (int64_t)d : otherwise;
}

uint32_t json_index(const struct json_value *v)
{
	int64_t x = json_int(v, -1);

	return x >= 0 && x < UINT32_MAX ? (uint32_t)x : UINT32_MAX;
}

/* Probes. */

/* Past a string that begins at i; n where it has no end. */
static size_t past_string(const uint8_t *text, size_t n, size_t i)
{
	for (i++; i < n && text[i] != '"'; i++)
		i += text[i] == '\\';
	return i < n ? i + 1 : n;
}

bool json_has_key(const uint8_t *text, size_t n, const char *key)
{
	size_t n_key = strlen(key), depth = 0;

	for (size_t i = 0; i < n;) {
		size_t end_at;

		depth += text[i] == '{' || text[i] == '[';
		if ((text[i] == '}' || text[i] == ']') && --depth == 0)
			return false;
		if (text[i] != '"') {
			if (depth == 0 && !strchr(" \t\r\n", text[i]))
				return false;
			i++;
			continue;
		}
		end_at = past_string(text, n, i);
		if (depth == 1 && end_at - i == n_key + 2 &&
		    memcmp(text + i + 1, key, n_key) == 0) {
			while (end_at < n && strchr(" \t\r\n", text[end_at]))
				end_at++;
			if (end_at < n && text[end_at] == ':')
				return true;
		}
		i = end_at;
	}
	return false;
}
