/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the kernel's own events are those of resolve/perf_events. */
#include "config.h"

#include "record/cpu/event_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "perf/records/perf_events.h"
#include "record/cpu/pmu_event.h"
#include "record/cpu/tracepoint.h"

/* What is counted, and how precisely. */
#define MODIFIERS "ukhHGp"

/* Where the last ':' of text stands if only letters that say what is counted follow; else n. */
static size_t modifier_at(const char *text, size_t n)
{
	size_t i = n;

	while (i > 0 && strchr(MODIFIERS, text[i - 1]))
		i--;
	return i > 0 && i < n && text[i - 1] == ':' ? i - 1 : n;
}

/* Of UNIT/TERMS/: behind the second slash; 0: it is none. */
static size_t unit_length(const char *text, size_t n)
{
	const char *first = memchr(text, '/', n), *second = NULL;

	if (first)
		second = memchr(first + 1, '/', n - (size_t)(first + 1 - text));
	return second ? (size_t)(second + 1 - text) : first ? n : 0;
}

size_t event_spec_length(const char *text)
{
	size_t n = strcspn(text, ",/");

	if (text[n] == '/') {
		n += 1 + strcspn(text + n + 1, "/");
		n += strcspn(text + n, ",");
	}
	return n;
}

static int take_modifiers(const char *text, size_t n, struct perf_attr *a, struct err *e)
{
	bool user = memchr(text, 'u', n), kernel = memchr(text, 'k', n), hv = memchr(text, 'h', n);
	unsigned precise = 0;

	if (user || kernel || hv)
		a->flags |= (user ? 0 : PERF_ATTR_EXCLUDE_USER) |
			    (kernel ? 0 : PERF_ATTR_EXCLUDE_KERNEL) |
			    (hv ? 0 : PERF_ATTR_EXCLUDE_HV);
	if (memchr(text, 'G', n) && !memchr(text, 'H', n))
		a->flags |= PERF_ATTR_EXCLUDE_HOST;
	for (size_t i = 0; i < n; i++)
		precise += text[i] == 'p';
	if (precise > 3)
		return err_set(e, -EINVAL, "an event cannot be more precise than :ppp");
	a->flags |= (uint64_t)precise << PERF_ATTR_PRECISE_SHIFT;
	return 0;
}

/* Behind a unit's name anything may stand. */
static int check_modifiers(const char *modifiers, size_t n, const char *text, size_t n_text,
			   struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr(MODIFIERS, modifiers[i]))
			return err_set(e, -EINVAL, "\"%.*s\" ends in what says nothing of an event",
				       (int)n_text, text);
	return 0;
}

/* r and hexadecimal digits: what the processor's manual says. */
static bool take_raw(const char *text, size_t n, struct perf_attr *a)
{
	char digits[20];
	char *end;

	if (n < 2 || n > sizeof(digits) || text[0] != 'r')
		return false;
	memcpy(digits, text + 1, n - 1);
	digits[n - 1] = '\0';
	a->config = strtoull(digits, &end, 16);
	a->type = PERF_T_RAW;
	return *end == '\0';
}

/* Is it worth being sampled by rate, as everything is that happens all the time? */
static bool is_frequent(const struct perf_attr *a)
{
	return a->type != PERF_T_TRACEPOINT &&
	       (a->type != PERF_T_SOFTWARE || perf_attr_unit(a) == UNIT_NS);
}

int event_spec_parse(const char *text, size_t n, struct event_spec *out, struct err *e)
{
	size_t unit = unit_length(text, n), modifier = unit ? unit : modifier_at(text, n);
	const char *colon = memchr(text, ':', modifier);
	struct event_spec s = { .by_rate = true };
	int rc = 0;

	if (unit) {
		rc = pmu_event_parse(PMU_DEVICES, text, unit, &s, e);
	} else if (colon) {
		s.attr.type = PERF_T_TRACEPOINT;
		rc = tracepoint_find(tracepoint_directory(), text, modifier, &s.attr.config, e);
	} else if (!perf_attr_by_name(text, modifier, &s.attr) &&
		   !take_raw(text, modifier, &s.attr)) {
		rc = err_set(e, -EINVAL,
			     "there is no event \"%.*s\"; cycles, cpu-clock, page-faults, "
			     "context-switches or a tracepoint such as sched:sched_switch are some",
			     (int)n, text);
	}
	/* Behind a slash they may stand without a colon. */
	if (unit && unit < n && text[unit] != ':')
		modifier--;
	if (rc == 0 && modifier < n)
		rc = check_modifiers(text + modifier + 1, n - modifier - 1, text, n, e);
	if (rc == 0 && modifier < n)
		rc = take_modifiers(text + modifier + 1, n - modifier - 1, &s.attr, e);
	if (rc) {
		event_spec_done(&s);
		return rc;
	}
	s.by_rate = is_frequent(&s.attr);
	if (!s.name)
		s.name = xstrndup(text, n);
	*out = s;
	return 0;
}

void event_spec_done(struct event_spec *s)
{
	free(s->name);
	s->name = NULL;
}

/* Each with the modifiers of the pattern, which begin at `modifier`. */
static int add_matching(const char *text, size_t n, size_t modifier, struct event_specs *out,
			struct err *e)
{
	struct tracepoint_names names = { 0 };
	int rc = tracepoint_match(tracepoint_directory(), text, modifier, &names, e);

	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		char *name = xasprintf("%s%.*s", names.at[i], (int)(n - modifier), text + modifier);
		struct event_spec spec;

		rc = event_spec_parse(name, strlen(name), &spec, e);
		free(name);
		if (rc == 0)
			vec_push(out, spec);
	}
	tracepoint_names_done(&names);
	return rc;
}

int event_specs_add(struct event_specs *s, const char *text, size_t n, struct err *e)
{
	size_t modifier = unit_length(text, n) ? n : modifier_at(text, n);
	struct event_spec spec;
	int rc;

	if (unit_length(text, n) == 0 && memchr(text, ':', modifier) &&
	    tracepoint_is_pattern(text, modifier))
		return add_matching(text, n, modifier, s, e);
	rc = event_spec_parse(text, n, &spec, e);
	if (rc == 0)
		vec_push(s, spec);
	return rc;
}

void event_specs_done(struct event_specs *s)
{
	for (size_t i = 0; i < s->n; i++)
		event_spec_done(&s->at[i]);
	vec_done(s);
}
