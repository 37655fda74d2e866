/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel has a directory for each unit: type is its number, format/TERM says where a term's bits go
 * ("config:0-7,32-35"), events/NAME is made of terms. See perf-record(1) and Documentation/ABI/testing of the kernel,
 * sysfs-bus-event_source-devices-format and -events.
 */
#include "config.h"

#include "record/cpu/pmu_event.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/cpu/event_spec.h"

/* An event is made of terms, and not of other events. */
#define MOST_DEPTH 2

/* A unit whose terms are taken. */
struct pmu {
	const char *devices, *unit; /* borrowed */
	struct event_spec *out;
	unsigned depth; /* 1 within an event of its own */
};

/* The first line of a file of the unit; false: there is none. */
static bool read_line(const struct pmu *p, const char *directory, const char *name, char *line,
		      size_t size)
{
	char *path;
	FILE *f;
	bool got;

	if (strchr(name, '/') || strstr(name, ".."))
		return false;
	path = xasprintf("%s/%s/%s%s", p->devices, p->unit, directory, name);
	f = fopen(path, "re");
	free(path);
	if (!f)
		return false;
	got = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* The units that there are, with commas between; the caller frees. */
static char *list_units(const char *devices)
{
	DIR *d = opendir(devices);
	char *list = xstrdup("");
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *longer;

		if (entry->d_name[0] == '.')
			continue;
		longer = xasprintf("%s%s%s", list, *list ? ", " : "", entry->d_name);
		free(list);
		list = longer;
	}
	if (d)
		closedir(d);
	return list;
}

static int no_unit(const struct pmu *p, struct err *e)
{
	char *units = list_units(p->devices);
	int rc = err_set(e, -ENOENT, "this machine has no unit \"%s\" that counts%s; it has %s",
			 p->unit,
			 strncmp(p->unit, "cpu", 3) == 0
				 ? ", as most virtual machines do not have the processor's"
				 : "",
			 *units ? units : "none");

	free(units);
	return rc;
}

/* Puts the bits of a value where a format says: "config:0-7,32-35", the lowest first. */
static bool put_bits(struct perf_attr *a, const char *format, uint64_t value)
{
	size_t n = strcspn(format, ":");
	uint64_t *word = strncmp(format, "config", n) == 0    ? &a->config
			 : strncmp(format, "config1", n) == 0 ? &a->bp_addr
							      : NULL;
	const char *at = format + n;

	while (word && *at) {
		unsigned from, to;
		int used = 0;

		if (sscanf(at + 1, "%u%n", &from, &used) != 1)
			return false;
		at += 1 + used;
		to = from;
		if (*at == '-' && sscanf(at + 1, "%u%n", &to, &used) == 1)
			at += 1 + used;
		if (from > to || to > 63 || (*at && *at != ','))
			return false;
		for (unsigned bit = from; bit <= to; bit++, value >>= 1)
			*word = (*word & ~(UINT64_C(1) << bit)) | (value & 1) << bit;
	}
	return word && value == 0;
}

static int take_terms(struct pmu *p, const char *text, struct err *e);

/* What is said of the event and not of the unit; false: it is none of that. */
static bool take_common(struct event_spec *s, const char *name, const char *text, uint64_t value)
{
	if (strcmp(name, "config") == 0)
		s->attr.config = value;
	else if (strcmp(name, "config1") == 0)
		s->attr.bp_addr = value;
	else if (strcmp(name, "period") == 0)
		s->period = value;
	else if (strcmp(name, "name") != 0)
		return false;
	if (strcmp(name, "name") != 0)
		return true;
	free(s->name);
	s->name = xstrdup(text);
	return true;
}

/* "umask=0x1", "any", or the name of an event. */
static int take_term(struct pmu *p, const char *name, const char *text, struct err *e)
{
	char line[256], *end = NULL;
	uint64_t value = text ? strtoull(text, &end, 0) : 1;
	bool number = !text || (*text && !*end);

	if (text && (number || strcmp(name, "name") == 0) && take_common(p->out, name, text, value))
		return 0;
	if (read_line(p, "format/", name, line, sizeof(line))) {
		if (number && put_bits(&p->out->attr, line, value))
			return 0;
		return err_set(e, -EINVAL, "\"%s\" of the unit %s does not take %s", name, p->unit,
			       text ? text : "1");
	}
	if (!text && p->depth < MOST_DEPTH && read_line(p, "events/", name, line, sizeof(line))) {
		int rc;

		p->depth++;
		rc = take_terms(p, line, e);
		p->depth--;
		return rc;
	}
	return err_set(e, -EINVAL,
		       "the unit %s knows no \"%s\"; its terms are in %s/%s/format, its events in "
		       "events beside that",
		       p->unit, name, p->devices, p->unit);
}

static int take_terms(struct pmu *p, const char *text, struct err *e)
{
	char *copy = xstrdup(text), *save = NULL;
	int rc = 0;

	for (char *term = strtok_r(copy, ",", &save); term && rc == 0;
	     term = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(term, '=');

		if (equals)
			*equals++ = '\0';
		rc = take_term(p, term, equals, e);
	}
	free(copy);
	return rc;
}

int pmu_event_parse(const char *devices, const char *text, size_t n, struct event_spec *out,
		    struct err *e)
{
	const char *slash = memchr(text, '/', n);
	struct event_spec s = { .by_rate = true };
	struct pmu p = { .devices = devices, .out = &s };
	char line[32], *unit, *terms;
	int rc = 0;

	if (!slash || n < 2 || text[n - 1] != '/' || slash == text + n - 1)
		return err_set(e, -EINVAL,
			       "an event of a unit is written UNIT/TERMS/, not \"%.*s\"", (int)n,
			       text);
	p.unit = unit = xstrndup(text, (size_t)(slash - text));
	terms = xstrndup(slash + 1, (size_t)(text + n - 1 - slash - 1));
	if (!read_line(&p, "", "type", line, sizeof(line)))
		rc = no_unit(&p, e);
	s.attr.type = rc == 0 ? (uint32_t)strtoul(line, NULL, 10) : 0;
	if (rc == 0)
		rc = take_terms(&p, terms, e);
	free(unit);
	free(terms);
	if (rc == 0)
		*out = s;
	else
		event_spec_done(&s);
	return rc;
}
