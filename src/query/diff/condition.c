/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/condition.h"

#include "base/err.h"
#include "base/text.h"
#include "query/core/regex.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of changes that one run a side does not tell, so many are said. */
#define MOST_DOUBTS 3
/* Columns of a function's name in a sentence. */
#define NAME_COLS   56

/* What a value is in. */
enum value_unit { VALUE_OWN, VALUE_PERCENT, VALUE_BYTES, VALUE_NS };

static const struct {
	const char *name;
	enum value_unit unit;
	double factor;
} units[] = {
	{ "", VALUE_OWN, 1 },           { "%", VALUE_PERCENT, 0.01 },
	{ "B", VALUE_BYTES, 1 },        { "kB", VALUE_BYTES, 1e3 },
	{ "KB", VALUE_BYTES, 1e3 },     { "MB", VALUE_BYTES, 1e6 },
	{ "GB", VALUE_BYTES, 1e9 },     { "TB", VALUE_BYTES, 1e12 },
	{ "KiB", VALUE_BYTES, 0x1p10 }, { "MiB", VALUE_BYTES, 0x1p20 },
	{ "GiB", VALUE_BYTES, 0x1p30 }, { "ns", VALUE_NS, 1 },
	{ "us", VALUE_NS, 1e3 },        { "ms", VALUE_NS, 1e6 },
	{ "s", VALUE_NS, 1e9 },         { "m", VALUE_NS, 60e9 },
	{ "h", VALUE_NS, 3600e9 },
};

#define N_UNITS (sizeof(units) / sizeof(*units))

struct condition {
	char *text;          /* as it was given; owned */
	char *metric;        /* "" the one that is compared; owned */
	char *pattern;       /* of functions; NULL: the whole; owned */
	struct regex *regex; /* of it; owned */
	bool self;           /* of functions: what ends in them */
	bool below;          /* it fails on less */
	bool or_equal;
	bool change; /* the value is one, not what there is after */
	enum value_unit unit;
	double value; /* in the metric's unit, or a ratio */
};

static int bad(const struct condition *c, const char *problem, struct err *e)
{
	return err_set(
		e, -EINVAL,
		"--fail-if \"%s\" %s; it is like total > +5%%, self(REGEX) > +3%%, leaked > +1MB or "
		"peak > 512MB",
		c->text, problem);
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* The ")" that an operator follows: expressions may have some of their own. NULL: none. */
static const char *find_end(const char *s)
{
	const char *found = NULL;

	for (; *s; s++)
		if (*s == ')' && (*skip_blanks(s + 1) == '>' || *skip_blanks(s + 1) == '<'))
			found = s;
	return found;
}

/* "self(RE)", "total", "leaked"; what follows is left in *s. */
static int parse_subject(struct condition *c, const char **s, struct err *e)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz-");
	char *word = xasprintf("%.*s", (int)n, *s);
	bool whole = !strcmp(word, "total");
	const char *end;

	c->self = !strcmp(word, "self");
	c->metric = c->self || whole ? xstrdup("") : xstrdup(word);
	free(word);
	if (n == 0)
		return bad(c, "does not begin with what is judged", e);
	*s += n;
	if (**s != '(')
		return c->self ? bad(c, "says self of no function", e) : 0;
	end = find_end(*s);
	if (!end)
		return bad(c, "has no \")\" before an operator", e);
	c->pattern = xasprintf("%.*s", (int)(end - *s - 1), *s + 1);
	*s = end + 1;
	c->regex = regex_new(c->pattern, e);
	return c->regex ? 0 : -EINVAL;
}

static int parse_value(struct condition *c, const char *s, struct err *e)
{
	double sign = *s == '-' ? -1 : 1, v;
	char *end;
	size_t n;

	c->change = *s == '+' || *s == '-';
	s += c->change;
	if (!isdigit((unsigned char)*s) && *s != '.')
		return bad(c, "has no number behind its operator", e);
	v = strtod(s, &end);
	s = skip_blanks(end);
	n = strcspn(s, " \t");
	for (size_t i = 0; i < N_UNITS && !*skip_blanks(s + n); i++) {
		if (strlen(units[i].name) != n || strncmp(units[i].name, s, n) != 0)
			continue;
		c->unit = units[i].unit;
		c->value = sign * v * units[i].factor;
		if (c->unit == VALUE_PERCENT && !c->change)
			return bad(c, "compares with a percentage that has no sign", e);
		return isfinite(c->value) ? 0 : bad(c, "has a number that is too large", e);
	}
	return bad(c, "has a unit that is none", e);
}

static int parse(struct condition *c, struct err *e)
{
	const char *s = skip_blanks(c->text);
	int rc = parse_subject(c, &s, e);

	if (rc)
		return rc;
	s = skip_blanks(s);
	if (*s != '>' && *s != '<')
		return bad(c, "has no operator (> >= < <=)", e);
	c->below = *s++ == '<';
	c->or_equal = *s == '=';
	return parse_value(c, skip_blanks(s + c->or_equal), e);
}

int condition_parse(const char *text, struct condition **out, struct err *e)
{
	struct condition *c = xcalloc(1, sizeof(*c));
	int rc;

	c->text = xstrdup(text);
	rc = parse(c, e);
	if (rc)
		condition_free(c);
	else
		*out = c;
	return rc;
}

void condition_free(struct condition *c)
{
	if (!c)
		return;
	free(c->text);
	free(c->metric);
	free(c->pattern);
	regex_free(c->regex);
	free(c);
}

const char *condition_text(const struct condition *c)
{
	return c->text;
}

const char *condition_metric(const struct condition *c)
{
	return c->metric;
}

/* Is it more (or less) than allowed, whatever the noise? */
static bool exceeds(const struct condition *c, const struct noise_delta *d)
{
	double v = c->change ? diff_change(d) : d->after, limit = c->value;

	if (c->unit == VALUE_PERCENT)
		limit *= fabs(d->before);
	/* Nothing became nothing: no part of it is a change. */
	if (c->unit == VALUE_PERCENT && v == 0 && d->before == 0)
		return false;
	if (v == limit)
		return c->or_equal;
	return c->below ? v < limit : v > limit;
}

/* "grew by +2.20 s (+6.1 %), 36.0 s → 38.2 s, ± 0.31 s"; the caller frees. */
static char *describe(const struct diff *d, const struct noise_delta *n, const char *what)
{
	char change[FMT_SIZE], part[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE], half[FMT_SIZE];
	char *relative = n->before > 0
				 ? xasprintf(" (%s %%)",
					     fmt_change_percent(part, diff_change(n), n->before))
				 : xstrdup("");
	char *noise = n->half > 0 ? xasprintf(" +- %s", fmt_amount(half, n->half, d->unit))
				  : xstrdup("");
	char *text = xasprintf("%s changed by %s%s%s, from %s to %s", what,
			       fmt_change(change, diff_change(n), d->unit), noise, relative,
			       fmt_amount(before, n->before, d->unit),
			       fmt_amount(after, n->after, d->unit));

	free(relative);
	free(noise);
	return text;
}

/* What a change that is more than allowed comes to. */
static void add_sentence(const struct condition *c, const struct diff *d, const char *name,
			 const struct noise_delta *n, bool fails, struct verdict *v)
{
	const char *metric = *c->metric ? c->metric : "total";
	char *folded = name ? text_fold_name(name, NAME_COLS, false) : NULL;
	char *what = !name     ? xstrdup(metric)
		     : c->self ? xasprintf("self of %s", folded)
			       : xasprintf("%s of %s", metric, folded);
	char *text = describe(d, n, what);

	if (fails)
		vec_push(&v->sentences, xasprintf("%s: it fails on %s", text, c->text));
	else
		vec_push(&v->doubts,
			 xasprintf("%s: run? one run a side does not tell if it fails on %s; "
				   "--runs 3 of record or compare does, --any lets it fail",
				   text, c->text));
	v->failed |= fails;
	free(text);
	free(what);
	free(folded);
}

/* One change: does it count, and is it more than allowed? */
static void judge_one(const struct condition *c, const struct diff *d, const char *name,
		      const struct diff_family *f, const struct noise_delta *of, bool any,
		      struct verdict *v)
{
	enum change_verdict verdict = diff_verdict(f, of);
	struct noise_delta n = *of;
	bool counts = any || !c->change || verdict == VERDICT_BEYOND;

	if (!exceeds(c, of) || (!counts && (verdict != VERDICT_OWN || v->doubts.n == MOST_DOUBTS)))
		return;
	diff_interval(f, &n);
	add_sentence(c, d, name, &n, counts, v);
}

/* The rows of functions that match; the caller frees. */
static uint32_t *find_rows(const struct condition *c, const struct diff *d, uint32_t *n)
{
	const struct table *t = &d->analysis->table;
	uint32_t *rows = xmalloc(t->n_rows * sizeof(*rows));

	*n = 0;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const char *label = d->analysis->table_keys->key[t->key[i]].label;

		if (regex_matches(c->regex, label, strlen(label)))
			rows[(*n)++] = i;
	}
	return rows;
}

static void judge_functions(const struct condition *c, const struct diff *d, bool any,
			    struct verdict *v)
{
	const struct noise_delta *deltas = c->self ? d->row_self : d->row_total;
	const struct diff_family *family = c->self ? &d->self : &d->total;
	uint32_t *rows = find_rows(c, d, &v->n_matching);

	for (uint32_t i = 0; i < v->n_matching; i++) {
		uint32_t key = d->analysis->table.key[rows[i]];

		judge_one(c, d, d->analysis->table_keys->key[key].label, family, &deltas[rows[i]],
			  any, v);
	}
	free(rows);
}

int condition_judge(const struct condition *c, const struct diff *d, bool any, struct verdict *out,
		    struct err *e)
{
	*out = (struct verdict){ .n_matching = 1 };
	if ((c->unit == VALUE_BYTES && d->unit != UNIT_BYTES) ||
	    (c->unit == VALUE_NS && d->unit != UNIT_NS))
		return bad(c, "has a unit that the metric is not in", e);
	if (c->regex)
		judge_functions(c, d, any, out);
	else
		judge_one(c, d, NULL, &d->total, &d->whole, any, out);
	return 0;
}

void verdict_done(struct verdict *v)
{
	for (size_t i = 0; i < v->sentences.n; i++)
		free(v->sentences.at[i]);
	for (size_t i = 0; i < v->doubts.n; i++)
		free(v->doubts.at[i]);
	vec_done(&v->sentences);
	vec_done(&v->doubts);
}
