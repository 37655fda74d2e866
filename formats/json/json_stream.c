/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules' paths are made into a tree; where one is in the text is a stack of its nodes, with NULL for what no rule asks for. */
#include "config.h"

#include "formats/json/json_stream.h"

#include "base/arena.h"
#include "base/mem.h"
#include "formats/json/json_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct stream {
	struct arena arena; /* of nodes */
	struct node root;
	VEC(const struct node *)
	open; /* objects and arrays that have begun, NULL: of no interest */
	VEC(const struct node *) member; /* [open.n] what the next value of each is */
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

/* Tokens. */

static const struct node *current(const struct stream *s)
{
	return s->open.n ? s->member.at[s->open.n - 1] : &s->root;
}

static void on_value(void *arg, const struct json_value *v)
{
	struct stream *s = arg;
	const struct node *n = current(s);

	if (n && n->rule && n->rule->value)
		n->rule->value(s->to, v);
}

static void on_begin(void *arg, bool array)
{
	struct stream *s = arg;
	const struct node *n = current(s);

	if (n && n->rule && n->rule->begin)
		n->rule->begin(s->to);
	vec_push(&s->open, n);
	vec_reserve(&s->member, s->open.n);
	s->member.at[s->open.n - 1] = array ? element_of(n) : NULL;
}

static void on_end(void *arg)
{
	struct stream *s = arg;
	const struct node *n = s->open.at[--s->open.n];

	if (n && n->rule && n->rule->end)
		n->rule->end(s->to);
}

static void on_key(void *arg, const char *text, size_t n)
{
	struct stream *s = arg;
	const struct node *m = member_of(s->open.at[s->open.n - 1], text, n);

	s->member.at[s->open.n - 1] = m;
	if (m && m->rule && m->rule->key)
		m->rule->key(s->to, text, n);
}

static const struct json_tokens tokens = {
	.value = on_value,
	.key = on_key,
	.begin = on_begin,
	.end = on_end,
};

/* Reading. */

static int read_values(struct input *in, const struct json_rule *rules, size_t n_rules, void *to,
		       bool many, struct json_end *end_of, struct progress *progress, struct err *e)
{
	struct stream s = { .to = to };
	int rc;

	plant(&s, rules, n_rules);
	rc = json_scan(in, &tokens, &s, many, end_of, progress, e);
	arena_done(&s.arena);
	vec_done(&s.open);
	vec_done(&s.member);
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

double json_double(const struct json_value *v, double otherwise)
{
	static const double tens[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	char text[64];
	char *stop;
	double x;

	/* both are exact, and so is the one rounding of their quotient (Clinger, "How to read floating point numbers accurately", 1990) */
	if (v->kind == JSON_NUMBER && v->exact)
		return (double)v->digits / tens[v->n_behind];
	if (v->kind != JSON_NUMBER || v->n >= sizeof(text))
		return otherwise;
	memcpy(text, v->s, v->n);
	text[v->n] = '\0';
	x = strtod(text, &stop);
	return *stop == '\0' && isfinite(x) ? x : otherwise;
}

int64_t json_int(const struct json_value *v, int64_t otherwise)
{
	char text[24];
	char *stop;
	int64_t x;
	double d;

	if (v->kind != JSON_NUMBER)
		return otherwise;
	if (v->exact && v->n_behind == 0)
		return v->digits;
	if (v->n < sizeof(text)) {
		memcpy(text, v->s, v->n);
		text[v->n] = '\0';
		errno = 0;
		x = strtoll(text, &stop, 10);
		if (*stop == '\0' && errno == 0)
			return x;
	}
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
