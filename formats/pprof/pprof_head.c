/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers are told with all their digits: "2.55000102 s". */
#include "config.h"

#include "formats/pprof/pprof_head.h"

#include "formats/pprof/pprof_tables.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define MOST_TEXT 4096
#define MOST_NAME 255
/* Names of facts, of which some go on with what they are of. */
#define COMMENT   "comment"
#define UNIT_OF   "unit of "
#define LABEL     "label "
#define NUMBERS   "numbers" /* in no unit */

/* Telling. */

static void tell_text(struct profile *p, capture_id c, const char *name, struct pprof_string s)
{
	if (s.n > 0)
		build_fact(p, c, "file", name, FACT_PLAIN, "%.*s",
			   (int)(s.n < MOST_TEXT ? s.n : MOST_TEXT), s.s);
}

static void tell_period(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	struct pprof_string type = pprof_string(t, t->period_type.type);
	struct pprof_string unit = pprof_string(t, t->period_type.unit);

	/* a cut file may have no texts */
	if (t->period > 0 && type.n > 0 && type.n <= MOST_NAME && unit.n > 0 && unit.n <= MOST_NAME)
		build_fact(p, c, "file", "period", FACT_PLAIN, "%" PRId64 " %.*s of %.*s",
			   t->period, (int)unit.n, unit.s, (int)type.n, type.s);
}

/* ".25" of a quarter of a second, "" of none. */
static void write_fraction(char out[16], int64_t ns)
{
	size_t n = (size_t)snprintf(out, 16, ".%09" PRId64, ns % NS_PER_S);

	while (n > 0 && (out[n - 1] == '0' || out[n - 1] == '.'))
		out[--n] = '\0';
}

static void tell_times(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	time_t at = (time_t)(t->time_ns / NS_PER_S);
	char text[64], fraction[16];
	struct tm parts;

	write_fraction(fraction, t->time_ns);
	if (t->time_ns > 0 && gmtime_r(&at, &parts) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
		build_fact(p, c, "file", "recorded", FACT_PLAIN, "%s%s UTC", text, fraction);
	write_fraction(fraction, t->duration_ns);
	if (t->duration_ns > 0)
		build_fact(p, c, "file", "duration", FACT_PLAIN, "%" PRId64 "%s s",
			   t->duration_ns / NS_PER_S, fraction);
}

/* A fact's name is its own: what is told of several things has theirs behind it. */
static void tell_of(struct profile *p, capture_id c, const char *what, struct pprof_text of,
		    struct pprof_text text)
{
	char *name;

	if (of.n == 0 || of.n > MOST_NAME || text.n > MOST_NAME)
		return;
	name = xasprintf("%s%.*s", what, (int)of.n, of.s);
	build_fact(p, c, "file", name, FACT_PLAIN, "%.*s", (int)text.n, text.s);
	free(name);
}

static void tell_units(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	for (size_t i = 0; i < t->types.n && i < 64; i++) {
		struct pprof_string type = pprof_string(t, t->types.at[i].type);
		struct pprof_string unit = pprof_string(t, t->types.at[i].unit);

		if (unit.n > 0 && !pprof_known_unit(unit))
			tell_of(p, c, UNIT_OF, (struct pprof_text){ type.s, type.n },
				(struct pprof_text){ unit.s, unit.n });
	}
}

void pprof_head_tell_label(struct profile *p, capture_id c, struct pprof_text key,
			   struct pprof_text unit)
{
	static const struct pprof_text none = { NUMBERS, sizeof(NUMBERS) - 1 };

	tell_of(p, c, LABEL, key, unit.n > 0 ? unit : none);
}

void pprof_head_tell(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	char name[32];

	tell_period(p, c, t);
	tell_times(p, c, t);
	tell_units(p, c, t);
	for (size_t i = 0; i < t->comments.n && i < PPROF_COMMENTS_MOST; i++) {
		snprintf(name, sizeof(name), i == 0 ? COMMENT : COMMENT " %zu", i + 1);
		tell_text(p, c, name, pprof_string(t, t->comments.at[i]));
	}
	tell_text(p, c, "documentation", pprof_string(t, t->doc_url));
	tell_text(p, c, "frames left out", pprof_string(t, t->drop));
}

/* Reading. */

/* Digits behind a point, as ns. */
static int64_t fraction_ns(const char **s)
{
	int64_t ns = 0, each = NS_PER_S / 10;

	if (**s != '.')
		return 0;
	for (++*s; **s >= '0' && **s <= '9'; ++*s, each /= 10)
		ns += (**s - '0') * each;
	return ns;
}

static int64_t read_time(const char *s)
{
	struct tm parts = { 0 };
	const char *rest = strptime(s, "%Y-%m-%d %H:%M:%S", &parts);
	int64_t ns = rest ? fraction_ns(&rest) : 0;
	time_t at = rest && strcmp(rest, " UTC") == 0 ? timegm(&parts) : 0;

	return at > 0 && at < INT64_MAX / NS_PER_S ? at * NS_PER_S + ns : 0;
}

static int64_t read_duration(const char *s)
{
	char *end;
	long long whole = strtoll(s, &end, 10);
	const char *rest = end;
	int64_t ns = fraction_ns(&rest);

	return end > s && strcmp(rest, " s") == 0 && whole >= 0 && whole < INT64_MAX / NS_PER_S
		       ? whole * NS_PER_S + ns
		       : 0;
}

/* "10000000 nanoseconds of cpu" */
static void read_period(struct pprof_head *h, const char *s, size_t n)
{
	char *end;
	long long period = strtoll(s, &end, 10);
	const char *of = strstr(end, " of ");

	if (end == s || *end != ' ' || period <= 0 || !of)
		return;
	h->period = period;
	h->period_unit = (struct pprof_text){ end + 1, (size_t)(of - end) - 1 };
	h->period_type = (struct pprof_text){ of + 4, n - (size_t)(of + 4 - s) };
}

static bool begins(const char *name, const char *what, struct pprof_text *rest)
{
	size_t n = strlen(what);

	if (strncmp(name, what, n) != 0)
		return false;
	*rest = (struct pprof_text){ name + n, strlen(name) - n };
	return true;
}

static void read_fact(struct pprof_head *h, const char *name, const char *s, size_t n)
{
	struct pprof_text text = { s, n }, rest;

	if (strcmp(name, "recorded") == 0)
		h->time_ns = read_time(s);
	else if (strcmp(name, "duration") == 0)
		h->duration_ns = read_duration(s);
	else if (strcmp(name, "period") == 0)
		read_period(h, s, n);
	else if (strcmp(name, "documentation") == 0)
		h->doc_url = text;
	else if (begins(name, COMMENT, &rest))
		vec_push(&h->comments, text);
	else if (begins(name, UNIT_OF, &rest))
		vec_push(&h->units, ((struct pprof_named_unit){ rest, text }));
	else if (begins(name, LABEL, &rest))
		vec_push(&h->labels, ((struct pprof_named_unit){ rest, text }));
}

void pprof_head_read(struct pprof_head *h, const struct profile *p,
		     const struct profile_counts *counts)
{
	*h = (struct pprof_head){ 0 };
	for (uint32_t i = 0; i < counts->n_facts && counts->n_captures == 1; i++) {
		struct fact f = profile_fact(p, i);
		size_t n;
		const char *text = profile_string(p, f.text, &n);

		if (strcmp(profile_string(p, f.section, NULL), "file") == 0)
			read_fact(h, profile_string(p, f.name, NULL), text, n);
	}
}

void pprof_head_done(struct pprof_head *h)
{
	vec_done(&h->comments);
	vec_done(&h->units);
	vec_done(&h->labels);
}

const struct pprof_text *pprof_head_unit(const struct pprof_named_unit *list, size_t n,
					 const char *name, size_t n_name)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].name.n == n_name && memcmp(list[i].name.s, name, n_name) == 0)
			return &list[i].unit;
	return NULL;
}
