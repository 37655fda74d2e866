/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsing and printing of one term.
 *
 * A term's text is made from what was understood, never kept as it was typed, so that parsing the
 * text again gives the same term.
 */
#include "config.h"

#include "query/core/block_filter.h"
#include "query/core/filter_term.h"

#include "base/err.h"
#include "base/mem.h"
#include "query/core/regex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

static const struct {
	const char *name;
	enum term_value value;
	bool transform;
} kinds[] = {
#define X(kind, name, value, transform) { name, value, transform },
	TERM_KINDS(X)
#undef X
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct {
	const char *name;
	int64_t ns;
} time_units[] = {
	{ "", NS_PER_S }, { "s", NS_PER_S },      { "ms", 1000000 },        { "us", 1000 },
	{ "ns", 1 },      { "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S },
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A growing text. */
struct out {
	char *at;
	size_t n, cap;
};

static void put(struct out *o, char c)
{
	vec_push(o, c);
}

static void put_text(struct out *o, const char *s)
{
	while (*s)
		put(o, *s++);
}

static char *out_take(struct out *o)
{
	put(o, '\0');
	return o->at;
}

char *term_quote(const char *value)
{
	bool plain = *value && *value != '"' && *value != ':';
	struct out o = { 0 };

	for (const char *s = value; *s; s++)
		plain = plain && !is_blank(*s);
	if (plain)
		return xstrdup(value);
	put(&o, '"');
	for (const char *s = value; *s; s++) {
		if (*s == '"' || *s == '\\')
			put(&o, '\\');
		put(&o, *s);
	}
	put(&o, '"');
	return out_take(&o);
}

char *term_path(enum term_kind kind, const char *const *names, size_t n)
{
	struct out o = { 0 };
	char *value, *quoted, *text;

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			put(&o, ';');
		for (const char *s = names[i]; *s; s++) {
			if (*s == ';' || *s == '\\')
				put(&o, '\\');
			put(&o, *s);
		}
	}
	value = out_take(&o);
	quoted = term_quote(value);
	text = xasprintf("%s:%s", kinds[kind].name, quoted);
	free(quoted);
	free(value);
	return text;
}

/*
 * The value at s, a word or quoted, as a string of its own; *end is what follows it. NULL with a
 * sentence when a quote is not closed or something sticks to it.
 */
static char *take_value(const char *s, const char **end, struct err *e)
{
	struct out o = { 0 };

	if (*s != '"') {
		while (*s && !is_blank(*s))
			put(&o, *s++);
		*end = s;
		return out_take(&o);
	}
	for (s++; *s && *s != '"'; s++) {
		if (*s == '\\' && (s[1] == '"' || s[1] == '\\'))
			s++;
		put(&o, *s);
	}
	if (*s == '"' && (s[1] == '\0' || is_blank(s[1]))) {
		*end = s + 1;
		return out_take(&o);
	}
	vec_done(&o);
	err_set(e, -EINVAL,
		*s ? "a blank is missing after a quote in a filter term"
		   : "a quote is not closed in a filter term");
	return NULL;
}

/* Says which there are. */
static int unknown_kind(const char *s, size_t n, struct err *e)
{
	char *list = xstrdup(""), *longer;

	for (size_t i = 0; i < N_KINDS; i++) {
		longer = xasprintf("%s%s%s", list, i ? ", " : "", kinds[i].name);
		free(list);
		list = longer;
	}
	err_set(e, -EINVAL,
		"unknown kind of filter term \"%.*s:\"; a function is fn:, and kinds are %s",
		n > 40 ? 40 : (int)n, s, list);
	free(list);
	return -EINVAL;
}

/*
 * The kind that the text begins with; *value is what follows its colon. A word without a kind is a
 * function, as is one where the first colon is one of two (std::sort).
 */
static int take_kind(const char *s, enum term_kind *kind, const char **value, struct err *e)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	*kind = TERM_FN;
	*value = s;
	if (s[n] != ':' || s[n + 1] == ':')
		return 0;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (strlen(kinds[i].name) != n || strncmp(kinds[i].name, s, n) != 0)
			continue;
		*kind = (enum term_kind)i;
		*value = s + n + 1;
		return 0;
	}
	if (n == 0)
		return 0;
	return unknown_kind(s, n, e);
}

static int parse_regex(const char *value, struct term *t, struct err *e)
{
	t->regex = regex_new(value, e);
	return t->regex ? 0 : -EINVAL;
}

static int parse_state(const char *value, struct term *t, struct err *e)
{
	char names[128] = "";

	if (frame_class_find(value, &t->state)) {
		t->regex = frame_class_regex(t->state);
		return 0;
	}
	for (int i = 0; i < N_FRAME_CLASSES; i++) {
		strcat(names, i == 0 ? "" : i + 1 < N_FRAME_CLASSES ? ", " : " or ");
		strcat(names, frame_class_name((enum frame_class)i));
	}
	return err_set(e, -EINVAL, "filter term \"is:%s\" wants %s", value, names);
}

/* Digits up to INT32_MAX; false when there are none or too many. */
static bool take_number(const char **s, int32_t *out)
{
	int64_t n = 0;
	const char *at = *s;

	for (; *at >= '0' && *at <= '9'; at++) {
		n = n * 10 + (*at - '0');
		if (n > INT32_MAX)
			return false;
	}
	if (at == *s)
		return false;
	*s = at;
	*out = (int32_t)n;
	return true;
}

/* Numbers of threads are not in an order that means anything. */
static bool takes_ranges(enum term_kind k)
{
	return k == TERM_CPU || k == TERM_DEPTH || k == TERM_CAPTURE;
}

static int parse_numbers(const char *value, struct term *t, struct err *e)
{
	VEC(struct term_range) ranges = { 0 };
	const char *s = value;

	for (;; s++) {
		struct term_range r;

		if (!take_number(&s, &r.from))
			break;
		r.to = r.from;
		if (*s == '-' && takes_ranges(t->kind) && (s++, !take_number(&s, &r.to)))
			break;
		if (r.to < r.from || (*s != ',' && *s != '\0'))
			break;
		vec_push(&ranges, r);
		if (*s)
			continue;
		t->ranges = ranges.at;
		t->n_ranges = ranges.n;
		return 0;
	}
	vec_done(&ranges);
	return err_set(e, -EINVAL, "filter term \"%s:%s\" wants numbers separated by commas%s",
		       kinds[t->kind].name, value,
		       takes_ranges(t->kind) ? ", or ranges as 0-3" : "");
}

/* A decimal number with a unit; false when it is none or too large. *s is behind it then. */
static bool take_time(const char **s, int64_t *ns)
{
	const char *at = *s;
	int64_t n = 0, parts = 1, whole;
	bool fraction = false, digits = false;
	size_t len;

	for (;; at++) {
		if (*at == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (*at < '0' || *at > '9')
			break;
		digits = true;
		if (fraction && parts >= NS_PER_S)
			continue; /* below what is kept */
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *at - '0', &n))
			return false;
		parts *= fraction ? 10 : 1;
	}
	len = strcspn(at, ",");
	for (size_t i = 0; digits && i < sizeof(time_units) / sizeof(time_units[0]); i++) {
		if (strlen(time_units[i].name) != len || strncmp(time_units[i].name, at, len) != 0)
			continue;
		*s = at + len;
		if (__builtin_mul_overflow(n / parts, time_units[i].ns, &whole))
			return false;
		/* n % parts < 1e9 and no unit is above 3.6e12 ns: wider than 64 bits. */
		*ns = (int64_t)((__int128)(n % parts) * time_units[i].ns / parts);
		return !__builtin_add_overflow(*ns, whole, ns) && *ns < INT64_MAX;
	}
	return false;
}

static int parse_times(const char *value, struct term *t, struct err *e)
{
	const char *s = value;
	bool from = *s != ',', to;

	t->from_ns = 0;
	t->to_ns = INT64_MAX;
	if (from && !take_time(&s, &t->from_ns))
		goto bad;
	to = s[0] == ',' && s[1] != '\0';
	/* One moment is enough to be alive at. */
	if (*s == ',')
		s++;
	else if (from && (*s || t->kind != TERM_ALIVE))
		goto bad;
	if (to && !take_time(&s, &t->to_ns))
		goto bad;
	if (*s || !(from || to))
		goto bad;
	if (t->to_ns < t->from_ns)
		return err_set(e, -EINVAL, "filter term \"%s:%s\" ends before it begins",
			       kinds[t->kind].name, value);
	return 0;
bad:
	return err_set(e, -EINVAL,
		       "filter term \"%s:%s\" wants two times, as in 1.5,20 or 300ms,2s",
		       kinds[t->kind].name, value);
}

/* 4096, 4k, 1.5M: powers of 1,000, as in all numbers of bytes. */
static bool take_size(const char **s, int64_t *out)
{
	static const char units[] = "kMGT";
	char *end;
	double n;

	if (**s < '0' || **s > '9')
		return false;
	n = strtod(*s, &end);
	for (size_t i = 0; *end && i < strlen(units); i++) {
		if (units[i] != *end)
			continue;
		for (size_t k = 0; k <= i; k++)
			n *= 1000;
		end++;
		break;
	}
	*s = end;
	*out = n < 0x1p62 ? (int64_t)n : INT64_MAX;
	return n < 0x1p62;
}

static int parse_sizes(const char *value, struct term *t, struct err *e)
{
	const char *s = value;
	bool from = *s != ',', to;

	t->from_ns = 0;
	t->to_ns = INT64_MAX;
	if (strspn(value, "0123456789.,kMGT") != strlen(value) ||
	    (from && !take_size(&s, &t->from_ns)) || *s != ',')
		goto bad;
	to = *++s != '\0';
	if ((to && !take_size(&s, &t->to_ns)) || *s || !(from || to))
		goto bad;
	if (t->to_ns < t->from_ns)
		return err_set(e, -EINVAL, "filter term \"%s:%s\" ends before it begins",
			       kinds[t->kind].name, value);
	return 0;
bad:
	return err_set(e, -EINVAL, "filter term \"%s:%s\" wants two numbers, as in 16,4k or 1M,",
		       kinds[t->kind].name, value);
}

static int parse_word(const char *value, struct term *t, struct err *e)
{
	char *list = xstrdup("");

	for (t->word = 0; t->word < N_BLOCK_STATES; t->word++) {
		const char *word = block_state_word((enum block_state)t->word);
		char *longer;

		if (strcmp(word, value) == 0) {
			free(list);
			return 0;
		}
		longer = xasprintf("%s%s%s", list, *list ? ", " : "", word);
		free(list);
		list = longer;
	}
	err_set(e, -EINVAL, "filter term \"%s:%s\" wants one of: %s", kinds[t->kind].name, value,
		list);
	free(list);
	return -EINVAL;
}

static int parse_recursion(const char *value, struct term *t, struct err *e)
{
	t->all_recursion = strcmp(value, "all") == 0;
	if (t->all_recursion || strcmp(value, "direct") == 0)
		return 0;
	return err_set(e, -EINVAL, "filter term \"recursion:%s\" is neither direct nor all", value);
}

static int parse_path(const char *value, struct term *t, struct err *e)
{
	size_t len = strlen(value), n = 1;
	char *names;

	if (len == 0)
		return err_set(e, -EINVAL, "filter term \"%s:\" has no frames",
			       kinds[t->kind].name);
	for (const char *s = value; *s; s++)
		n += *s == ';';
	t->frames = xmalloc(n * sizeof(*t->frames) + len + 1);
	names = (char *)(t->frames + n);
	t->frames[t->n_frames++] = names;
	for (const char *s = value; *s; s++) {
		if (*s == ';') {
			*names++ = '\0';
			t->frames[t->n_frames++] = names;
			continue;
		}
		if (*s == '\\' && (s[1] == ';' || s[1] == '\\'))
			s++;
		*names++ = *s;
	}
	*names = '\0';
	return 0;
}

static int parse_value(const char *value, struct term *t, struct err *e)
{
	switch (kinds[t->kind].value) {
	case VALUE_REGEX:
		return parse_regex(value, t, e);
	case VALUE_STATE:
		return parse_state(value, t, e);
	case VALUE_NUMBERS:
		return parse_numbers(value, t, e);
	case VALUE_TIMES:
		return parse_times(value, t, e);
	case VALUE_SIZES:
		return parse_sizes(value, t, e);
	case VALUE_WORD:
		return parse_word(value, t, e);
	case VALUE_RECURSION:
		return parse_recursion(value, t, e);
	case VALUE_PATH:
		return parse_path(value, t, e);
	}
	return -EINVAL;
}

/* Seconds with as many decimals as they need. */
static void put_time(struct out *o, int64_t ns)
{
	char text[48];
	size_t len;

	snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64, ns / NS_PER_S, ns % NS_PER_S);
	len = strlen(text);
	while (text[len - 1] == '0')
		len--;
	text[text[len - 1] == '.' ? len - 1 : len] = '\0';
	put_text(o, text);
}

static void put_numbers(struct out *o, const struct term *t)
{
	char text[32];

	for (size_t i = 0; i < t->n_ranges; i++) {
		const struct term_range *r = &t->ranges[i];

		snprintf(text, sizeof(text), r->to > r->from ? "%s%d-%d" : "%s%d", i ? "," : "",
			 r->from, r->to);
		put_text(o, text);
	}
}

static void put_sizes(struct out *o, const struct term *t)
{
	char text[32];

	if (t->from_ns > 0 || t->to_ns == INT64_MAX) {
		snprintf(text, sizeof(text), "%" PRId64, t->from_ns);
		put_text(o, text);
	}
	put(o, ',');
	if (t->to_ns == INT64_MAX)
		return;
	snprintf(text, sizeof(text), "%" PRId64, t->to_ns);
	put_text(o, text);
}

/* The canonical text, given the value as it was understood. */
static char *term_print(const struct term *t, const char *value)
{
	struct out o = { 0 };
	char *text;

	if (kinds[t->kind].value == VALUE_PATH)
		return term_path(t->kind, t->frames, t->n_frames);
	if (t->negated)
		put(&o, '!');
	put_text(&o, kinds[t->kind].name);
	put(&o, ':');
	switch (kinds[t->kind].value) {
	case VALUE_NUMBERS:
		put_numbers(&o, t);
		break;
	case VALUE_TIMES:
		if (t->from_ns > 0 || t->to_ns == INT64_MAX)
			put_time(&o, t->from_ns);
		put(&o, ',');
		if (t->to_ns < INT64_MAX)
			put_time(&o, t->to_ns);
		break;
	case VALUE_SIZES:
		put_sizes(&o, t);
		break;
	case VALUE_REGEX:
	case VALUE_STATE:
	case VALUE_WORD:
	case VALUE_RECURSION:
	case VALUE_PATH:
		text = term_quote(value);
		put_text(&o, text);
		free(text);
		break;
	}
	return out_take(&o);
}

int term_parse(const char **text, struct term *out, struct err *e)
{
	const char *s = *text, *end;
	struct term t = { 0 };
	char *value = NULL;
	int rc;

	if (*s == '!') {
		t.negated = true;
		s++;
	}
	rc = take_kind(s, &t.kind, &s, e);
	if (rc == 0 && t.negated && kinds[t.kind].transform)
		rc = err_set(e, -EINVAL, "\"%s:\" changes stacks and cannot be negated",
			     kinds[t.kind].name);
	if (rc == 0 && !(value = take_value(s, &end, e)))
		rc = -EINVAL;
	if (rc == 0 && kinds[t.kind].value == VALUE_REGEX && !*value)
		rc = err_set(e, -EINVAL, "filter term \"%.*s\" has no expression",
			     (int)(end - *text), *text);
	if (rc == 0)
		rc = parse_value(value, &t, e);
	if (rc == 0) {
		while (is_blank(*end))
			end++;
		t.text = term_print(&t, value);
		*text = end;
		*out = t;
	} else {
		term_done(&t);
	}
	free(value);
	return rc;
}

void term_done(struct term *t)
{
	free(t->text);
	regex_free(t->regex);
	free(t->ranges);
	free(t->frames);
	*t = (struct term){ 0 };
}

bool term_is_transform(const struct term *t)
{
	return kinds[t->kind].transform;
}

bool term_has_number(const struct term *t, int64_t n)
{
	for (size_t i = 0; i < t->n_ranges; i++)
		if (n >= t->ranges[i].from && n <= t->ranges[i].to)
			return true;
	return false;
}

const char *term_kind_name(size_t i)
{
	return i < N_KINDS ? kinds[i].name : NULL;
}

const char *term_value_name(const char *kind, size_t i)
{
	static const char *const recursions[] = { "direct", "all" };
	/* As the rows of the tables of lifetimes and of sizes have them, in few words. */
	static const char *const lifetimes[] = { ",1us",      "1us,10us", "10us,100us",
						 "100us,1ms", "1ms,10ms", "10ms,100ms",
						 "100ms,1s",  "1s,10s",   "10s," };
	static const char *const sizes[] = { ",64",    "64,256", "256,1k", "1k,4k",
					     "4k,64k", "64k,1M", "1M," };

	if (strcmp(kind, kinds[TERM_IS].name) == 0)
		return i < N_FRAME_CLASSES ? frame_class_name((enum frame_class)i) : NULL;
	if (strcmp(kind, kinds[TERM_RECURSION].name) == 0)
		return i < 2 ? recursions[i] : NULL;
	if (strcmp(kind, kinds[TERM_LIFETIME].name) == 0)
		return i < sizeof(lifetimes) / sizeof(*lifetimes) ? lifetimes[i] : NULL;
	if (strcmp(kind, kinds[TERM_SIZE].name) == 0)
		return i < sizeof(sizes) / sizeof(*sizes) ? sizes[i] : NULL;
	if (strcmp(kind, kinds[TERM_BLOCK].name) == 0)
		return i < N_BLOCK_STATES ? block_state_word((enum block_state)i) : NULL;
	return NULL;
}

static size_t kind_of_name(const char *kind)
{
	size_t i = 0;

	while (i < N_KINDS && strcmp(kinds[i].name, kind) != 0)
		i++;
	return i;
}

bool term_kind_is_regex(const char *kind)
{
	size_t i = kind_of_name(kind);

	return i < N_KINDS && kinds[i].value == VALUE_REGEX;
}

bool term_kind_is_transform(const char *kind)
{
	size_t i = kind_of_name(kind);

	return i < N_KINDS && kinds[i].transform;
}
