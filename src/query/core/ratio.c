/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ratios there are, and what they are of a row. */
#include "config.h"

#include "query/core/ratio.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/core/lens.h"

/* Of a normal distribution: so many standard deviations to each side hold 95 %. */
#define DEVIATIONS 1.96
/* An interval that reaches further than this factor either way says nothing. */
#define WIDEST     2.0

#define SPACES " \t"

/* Made by themselves. Names of events are perf's; the generic ones have two names each. */
static const struct {
	const char *name;
	double factor;
	const char *numerator;
	const char *denominator[2];
} usual[] = {
	{ "IPC", 1, "instructions", { "cycles", "cpu-cycles" } },
	{ "MPKI", 1000, "cache-misses", { "instructions", "instructions" } },
	{ "BR MISS %", 100, "branch-misses", { "branches", "branch-instructions" } },
};

#define N_USUAL (sizeof(usual) / sizeof(usual[0]))

/* The parts of a text; all are borrowed from it, with their lengths. */
struct parts {
	const char *name, *events;
	size_t n_name, n_events;
	double factor;
};

/* Without the spaces around it. */
static const char *trim(const char *s, size_t *n)
{
	while (*n && strchr(SPACES, s[*n - 1]))
		--*n;
	while (*n && strchr(SPACES, *s)) {
		s++;
		--*n;
	}
	return s;
}

static int not_a_ratio(const char *text, struct err *e)
{
	return err_set(
		e, -EINVAL,
		"--ratio wants NAME=EVENT/EVENT, or NAME=EVENT/EVENT*FACTOR with a factor above 0, not \"%s\"",
		text);
}

static int split(const char *text, struct parts *out, struct err *e)
{
	const char *equals = strchr(text, '='), *times = strrchr(text, '*');
	struct parts p = { .name = text, .factor = 1 };
	char *end;

	if (!equals)
		return not_a_ratio(text, e);
	p.n_name = (size_t)(equals - text);
	p.name = trim(p.name, &p.n_name);
	p.events = equals + 1;
	p.n_events = strlen(p.events);
	if (times && times > equals) {
		p.n_events = (size_t)(times - p.events);
		p.factor = strtod(times + 1, &end);
		end += strspn(end, SPACES);
		if (end == times + 1 || *end || !isfinite(p.factor) || p.factor <= 0)
			return not_a_ratio(text, e);
	}
	p.events = trim(p.events, &p.n_events);
	/* Something must stand on both sides of a slash. */
	if (!p.n_name || p.n_events < 3 || !memchr(p.events + 1, '/', p.n_events - 2))
		return not_a_ratio(text, e);
	*out = p;
	return 0;
}

int ratio_check(const char *text, struct err *e)
{
	struct parts p = { 0 };

	return strcmp(text, RATIO_NONE_NAME) == 0 ? 0 : split(text, &p, e);
}

/* The event of that name or prefix, which must be of samples that have periods. */
static int find_event(const struct profile *p, const char *s, size_t n, struct metric *out,
		      struct err *e)
{
	char *name;
	int rc;

	s = trim(s, &n);
	name = xstrndup(s, n);
	rc = metric_find(p, name, "", out, e);
	if (!rc && metric_is_heap(p, *out))
		rc = err_set(e, -EINVAL,
			     "--ratio is of events of samples, and \"%s\" is of allocations", name);
	else if (!rc && !profile_event(p, out->event)->has_weight)
		rc = err_set(e, -EINVAL,
			     "--ratio needs periods, and samples of \"%s\" have none here", name);
	free(name);
	return rc;
}

/* Names of events may hold slashes, as cpu_core/cycles/ does: the first one counts that has an event on each side. */
static int find_events(const struct profile *p, const struct parts *parts, struct metric out[2],
		       struct err *e)
{
	const char *end = parts->events + parts->n_events, *first = NULL;

	for (const char *at = parts->events + 1; at < end - 1; at++) {
		if (*at != '/')
			continue;
		first = first ? first : at;
		if (find_event(p, parts->events, (size_t)(at - parts->events), &out[0], NULL) ==
			    0 &&
		    find_event(p, at + 1, (size_t)(end - at - 1), &out[1], NULL) == 0)
			return 0;
	}
	/* The sentence is about the simplest reading. */
	if (find_event(p, parts->events, (size_t)(first - parts->events), &out[0], e))
		return -EINVAL;
	return find_event(p, first + 1, (size_t)(end - first - 1), &out[1], e) ? -EINVAL : 0;
}

/* The lens' column of it, which is added where there is none; the caller sees that there is room. */
static uint32_t column_of(struct lens *l, struct metric m, bool squares)
{
	for (uint32_t i = 0; i < l->n_columns; i++)
		if (metric_same_event(l->column[i].metric, m) &&
		    l->column[i].metric.measure == m.measure && !l->column[i].filter &&
		    l->column[i].squares == squares)
			return i;
	l->column[l->n_columns] = (struct lens_column){ .metric = m, .squares = squares };
	return l->n_columns++;
}

static void add(struct ratios *r, struct lens *l, const struct profile *p, char *name,
		double factor, const struct metric of[2])
{
	r->at[r->n++] = (struct ratio){
		.name = name,
		.factor = factor,
		.numerator = column_of(l, of[0], false),
		.denominator = column_of(l, of[1], false),
		.numerator_squares = column_of(l, of[0], true),
		.denominator_squares = column_of(l, of[1], true),
		.summed = metric_is_summed(p, of[0]) || metric_is_summed(p, of[1]),
	};
}

/* An event's name in parts: the PMU in front, the modifiers behind. */
struct event_name {
	const char *pmu, *base, *modifiers;
	size_t n_pmu, n_base;
};

static struct event_name event_name(const char *name)
{
	const char *slash = strchr(name, '/');
	struct event_name n = { .pmu = name, .base = slash ? slash + 1 : name };

	n.n_pmu = (size_t)(n.base - name);
	n.n_base = strcspn(n.base, ":/");
	n.modifiers = n.base + n.n_base;
	n.modifiers += strspn(n.modifiers, ":/");
	return n;
}

/* Were both counted at the same times: in user code, in the kernel, in guests? How precise they are does not matter. */
static bool same_modes(const struct event_name *a, const struct event_name *b)
{
	static const char modes[] = "ukhGHI";

	if (a->n_pmu != b->n_pmu || memcmp(a->pmu, b->pmu, a->n_pmu) != 0)
		return false;
	for (const char *m = modes; *m; m++)
		if (!strchr(a->modifiers, *m) != !strchr(b->modifiers, *m))
			return false;
	return true;
}

static bool is_called(const struct event_name *n, const char *base)
{
	return strlen(base) == n->n_base && memcmp(n->base, base, n->n_base) == 0;
}

/* Of the usual ratio, the first pair of events; false: there is none. */
static bool find_usual(const struct profile *p, uint32_t n_events, size_t which,
		       struct metric out[2])
{
	for (uint32_t a = 0; a < n_events; a++) {
		const struct event *event = profile_event(p, (event_id){ a });
		struct event_name name = event_name(profile_string(p, event->name, NULL));

		if (!event->has_weight || event->is_heap ||
		    !is_called(&name, usual[which].numerator))
			continue;
		for (uint32_t b = 0; b < n_events; b++) {
			const struct event *other = profile_event(p, (event_id){ b });
			struct event_name beside = event_name(profile_string(p, other->name, NULL));

			if (!other->has_weight || other->is_heap || !same_modes(&name, &beside) ||
			    (!is_called(&beside, usual[which].denominator[0]) &&
			     !is_called(&beside, usual[which].denominator[1])))
				continue;
			out[0] = (struct metric){ .event = { a } };
			out[1] = (struct metric){ .event = { b } };
			return true;
		}
	}
	return false;
}

static void add_usual(struct ratios *r, struct lens *l, const struct profile *p)
{
	struct profile_counts counts;
	struct metric of[2] = { { .event = { 0 } }, { .event = { 0 } } };

	profile_counts_read(p, &counts);
	for (size_t i = 0; i < N_USUAL; i++)
		if (l->n_columns + 4 <= LENS_MAX_COLUMNS && find_usual(p, counts.n_events, i, of))
			add(r, l, p, xstrdup(usual[i].name), usual[i].factor, of);
}

int ratios_add(struct ratios *r, struct lens *l, const struct profile *p, const char *const *texts,
	       size_t n, struct err *e)
{
	*r = (struct ratios){ .n_columns = l->n_columns };
	for (size_t i = 0; i < n; i++) {
		struct metric of[2] = { { .event = { 0 } }, { .event = { 0 } } };
		struct parts parts = { 0 };
		int rc;

		if (strcmp(texts[i], RATIO_NONE_NAME) == 0)
			continue;
		if (r->n == RATIOS_MAX || l->n_columns + 4 > LENS_MAX_COLUMNS)
			return err_set(e, -EINVAL, "--ratio can be given %d times at most",
				       RATIOS_MAX);
		rc = split(texts[i], &parts, e);
		if (!rc)
			rc = find_events(p, &parts, of, e);
		if (rc)
			return rc;
		add(r, l, p, xstrndup(parts.name, parts.n_name), parts.factor, of);
	}
	if (n == 0)
		add_usual(r, l, p);
	return 0;
}

void ratios_done(struct ratios *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->at[i].name);
	r->n = 0;
}

int ratios_of_lens(struct lens *l, const struct profile *p, const char *const *texts, size_t n,
		   struct err *e)
{
	struct ratios made;
	int rc;

	if (lens_compares(l) || l->grouping == GROUP_EVENT || filter_names_event(l->filter))
		return 0;
	rc = ratios_add(&made, l, p, texts, n, e);
	if (rc)
		l->n_columns = made.n_columns;
	else
		l->ratios = made.n ? ratios_copy(&made) : NULL;
	ratios_done(&made);
	return rc;
}

struct ratios *ratios_copy(const struct ratios *from)
{
	struct ratios *r;

	if (!from)
		return NULL;
	r = xmalloc(sizeof(*r));
	*r = *from;
	for (uint32_t i = 0; i < r->n; i++)
		r->at[i].name = xstrdup(from->at[i].name);
	return r;
}

void ratios_free(struct ratios *r)
{
	if (r)
		ratios_done(r);
	free(r);
}

/* A sum in its unit. */
static double amount(const int64_t *sums, const struct weights *w, uint32_t column)
{
	return (double)sums[column] / (double)(w->scale[column] > 1 ? w->scale[column] : 1);
}

/* The variance of that sum over its square: 1/n of n samples of equal periods. */
static double variance(const int64_t *sums, const struct weights *w, uint32_t column,
		       uint32_t squares)
{
	double sum = amount(sums, w, column);
	double unit = (double)w->square_unit[squares] /
		      (double)(w->scale[squares] > 1 ? w->scale[squares] : 1);

	return (double)sums[squares] * (unit / sum) * (unit / sum);
}

bool ratio_of(const struct ratio *r, const int64_t *sums, const struct weights *w,
	      struct ratio_value *out)
{
	double above = amount(sums, w, r->numerator), below = amount(sums, w, r->denominator);
	double v, width;

	if (below <= 0 || above < 0)
		return false;
	*out = (struct ratio_value){ .value = above / below * r->factor };
	if (r->summed)
		return true;
	if (above <= 0)
		return false;
	v = variance(sums, w, r->numerator, r->numerator_squares) +
	    variance(sums, w, r->denominator, r->denominator_squares);
	width = exp(DEVIATIONS * sqrt(v));
	out->low = out->value / width;
	out->high = out->value * width;
	out->has_interval = true;
	return width <= WIDEST;
}

int ratio_compare(const struct ratio *r, const int64_t *x, const int64_t *y,
		  const struct weights *w, bool reverse)
{
	struct ratio_value v = { .value = 0 }, u = { .value = 0 };
	bool has_x = ratio_of(r, x, w, &v), has_y = ratio_of(r, y, w, &u);
	int c;

	if (!has_x || !has_y)
		return (int)has_y - (int)has_x;
	c = v.value < u.value ? 1 : v.value > u.value ? -1 : 0;
	return reverse ? -c : c;
}

/* With a name that is safe on a screen. */
static char *ratio_text(const struct ratio *r, const struct ratio_value *v)
{
	char value[FMT_SIZE], low[FMT_SIZE], high[FMT_SIZE], *text;
	char *name = text_clean(r->name, strlen(r->name), false);

	fmt_ratio(value, v->value);
	if (v->has_interval)
		text = xasprintf("%s %s (%s-%s)", name, value, fmt_ratio(low, v->low),
				 fmt_ratio(high, v->high));
	else
		text = xasprintf("%s %s", name, value);
	free(name);
	return text;
}

char *ratios_text(const struct lens *l, const int64_t *sums, const struct weights *w)
{
	char *all = xstrdup("");

	for (uint32_t i = 0; l->ratios && i < l->ratios->n; i++) {
		struct ratio_value v = { .value = 0 };
		char *one, *longer;

		if (!ratio_of(&l->ratios->at[i], sums, w, &v))
			continue;
		one = ratio_text(&l->ratios->at[i], &v);
		longer = xasprintf("%s%s%s", all, *all ? "  " : "", one);
		free(one);
		free(all);
		all = longer;
	}
	return all;
}
