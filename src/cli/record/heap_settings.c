/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command line says of a heap recording, checked and in the tracer's words. */
#include "config.h"

#include "cli/record/heap_settings.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/system_limits.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/record_job.h"
#include "heaptrace/heap_wire.h"

/* A number of bytes as the tracer takes it, or none; says so if it is something else. */
static bool is_size(const char *option, const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text || (digits && digits < 10 &&
		      (!text[digits] || (strchr("kKMG", text[digits]) && !text[digits + 1]))))
		return true;
	message("%s wants a number of bytes, such as 512k, 10M or 1G, not \"%s\"", option, text);
	return false;
}

/* A time as the tracer takes it, or none; says so if it is something else. */
static bool is_time(const char *option, const char *text)
{
	static const char *const units[] = { "", "ns", "us", "ms", "s" };
	size_t digits = text ? strspn(text, "0123456789") : 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!text || (digits && digits < 10 && strcmp(text + digits, units[i]) == 0))
			return true;
	message("%s wants a time, such as 100us or 10ms, not \"%s\"", option, text);
	return false;
}

/* A part of a hundred as the tracer takes it, or none; says so if it is something else. */
static bool is_percent(const char *option, const char *text)
{
	size_t whole = text ? strspn(text, "0123456789") : 0, n = whole;

	if (!text)
		return true;
	if (text[n] == '.')
		n += 1 + strspn(text + n + 1, "0123456789");
	if (whole && whole < 4 && strspn(text, "0.") < n &&
	    (!text[n] || strcmp(text + n, "%") == 0))
		return true;
	message("%s wants a part of a hundred, such as 5%% or 0.5%%, not \"%s\"", option, text);
	return false;
}

/* Is it large enough for what a trace ends with? Says so if not. */
static bool is_trace_size(const struct record_job *j)
{
	const struct options *o = j->o;
	bool newest = o->keep && strcmp(o->keep, "newest") == 0;
	unsigned least = newest ? HEAP_SIZE_NEWEST : HEAP_SIZE_LEAST;
	uint64_t bytes;

	if (!j->max_size || (system_limits_parse_bytes(j->max_size, &bytes) && bytes >= least))
		return true;
	message("--max-size wants %uk or more %s, not %s: its end alone takes %uk", least >> 10,
		newest ? "to keep the newest events of a heap in" : "of a heap trace", j->max_size,
		HEAP_SIZE_END >> 10);
	return false;
}

bool heap_settings_check(const struct record_job *j)
{
	const struct options *o = j->o;

	if (!is_size("--sample", o->sample) || !is_size("--max-size", j->max_size) ||
	    !is_time("--cull", o->cull) || !is_percent("--max-overhead", o->max_overhead))
		return false;
	if (o->keep && strcmp(o->keep, "newest") != 0 && strcmp(o->keep, "oldest") != 0) {
		message("--keep wants newest or oldest, not \"%s\"", o->keep);
		return false;
	}
	if (o->keep && !j->max_size) {
		message("--keep says what stays of a trace that may not become larger: --max-size says how large");
		return false;
	}
	if (!is_trace_size(j))
		return false;
	if (o->cull && (o->sample || o->max_overhead)) {
		message("--cull and %s cannot both be: what sampling leaves out cannot be counted",
			o->sample ? "--sample" : "--max-overhead");
		return false;
	}
	return true;
}

void heap_settings_each(const struct record_job *j,
			void (*set)(void *arg, const char *name, const char *value), void *arg)
{
	const struct options *o = j->o;
	const struct {
		const char *name, *value; /* NULL: not asked for */
	} settings[] = {
		{ "PROFTOP_CODE", o->no_patch ? "0" : NULL },
		{ "PROFTOP_FREE_STACKS", o->free_stacks ? "1" : NULL },
		{ "PROFTOP_SAMPLE", o->sample },
		{ "PROFTOP_MAX_OVERHEAD", o->max_overhead },
		{ "PROFTOP_CULL", o->cull },
		{ "PROFTOP_MAX_SIZE", j->max_size },
		{ "PROFTOP_KEEP", j->live ? "unread" : o->keep },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].value)
			set(arg, settings[i].name, settings[i].value);
}
