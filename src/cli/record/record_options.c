/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each option is checked by itself; then what they say together. */
#include "config.h"

#include "cli/record/record_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/system_limits.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/record_job.h"
#include "cli/record/record_running.h"
#include "record/cpu/cpu_list.h"
#include "record/cpu/perf_rights.h"

#define DEFAULT_HZ     999
#define DEFAULT_FILE   "perf.data"
#define ZSTD_LEVEL_MAX 19
#define REALTIME_MAX   99

/* Of what is named twice no sample shall be there twice. */
static void add_once(struct record_numbers *to, int v)
{
	for (size_t i = 0; i < to->n; i++)
		if (to->at[i] == v)
			return;
	vec_push(to, v);
}

/* Numbers with commas between, all above 0. Of none, as of what a shell found no process for, all would be recorded. */
static bool take_numbers(const char *option, const char *text, struct record_numbers *out)
{
	bool more = text != NULL;

	for (const char *at = text; more; at++) {
		size_t digits = strspn(at, "0123456789");
		int v = digits > 0 && digits < 10 ? atoi(at) : 0;

		if (v <= 0 || (at[digits] && at[digits] != ',')) {
			message("%s wants numbers below 1,000,000,000 with commas between, not \"%s\"%s",
				option, text, record_about_names(text));
			return false;
		}
		add_once(out, v);
		at += digits;
		more = *at == ',';
	}
	return true;
}

/* A number from 0 to max; text NULL leaves it alone. */
static bool take_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text)
		return true;
	if (digits == 0 || digits > 9 || text[digits] || strtoull(text, NULL, 10) > max) {
		message("%s wants a number up to %llu, not \"%s\"", option, (unsigned long long)max,
			text);
		return false;
	}
	*out = strtoull(text, NULL, 10);
	return true;
}

/* Names with commas between. */
static bool add_events(struct record_options *w, const char *names)
{
	struct err e = ERR_INIT;

	for (const char *at = names; *at;) {
		size_t n = event_spec_length(at);

		if (event_specs_add(&w->events, at, n, &e)) {
			message_error(&e, STATUS_USAGE);
			return false;
		}
		at += n + (at[n] == ',');
	}
	return true;
}

static bool take_events(const struct options *o, struct record_options *w)
{
	struct perf_rights rights;

	for (size_t i = 0; i < o->events.n; i++)
		if (!add_events(w, o->events.at[i]))
			return false;
	if (!o->off_cpu)
		return true;
	/* Samples of these tell where threads were when they left. */
	perf_rights_read(&rights);
	if (rights.paranoid > 1 && !rights.may_all) {
		message("waits off the cpu will have the stack of the sample before: only root is told where threads leave it");
		return true;
	}
	return (w->events.n > 0 || add_events(w, "cycles")) && add_events(w, "context-switches");
}

/*
 * Is --cpus a list? It is read again when the recording is opened, which is after files and commands have been touched; of
 * cpus that are not there it is told then, as of processes.
 */
static bool check_cpus(const char *text)
{
	struct cpu_list cpus = { 0 };
	struct err e = ERR_INIT;
	int rc = text ? cpu_list_read(text, &cpus, &e) : 0;

	vec_done(&cpus);
	if (rc == -EINVAL)
		message_error(&e, STATUS_USAGE);
	else
		err_clear(&e);
	return rc != -EINVAL;
}

/* --call-graph */
static bool take_stacks(const struct options *o, struct record_options *w)
{
	static const struct {
		const char *name;
		enum sampler_stacks stacks;
		bool unwind;
	} ways[] = { { "unwound", SAMPLER_COPIES, true },
		     { "dwarf", SAMPLER_COPIES, false },
		     { "fp", SAMPLER_CHAINS, false },
		     { "off", SAMPLER_NO_STACKS, false } };
	const char *text = o->call_graph ? o->call_graph : "unwound";
	size_t n = strcspn(text, ",");
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strlen(ways[i].name) != n || memcmp(ways[i].name, text, n) != 0 ||
		    (text[n] && ways[i].stacks != SAMPLER_COPIES))
			continue;
		if (!take_number("--call-graph HOW,SIZE", text[n] ? text + n + 1 : NULL,
				 RECORD_STACK_MAX, &bytes))
			return false;
		w->options.sampler.stacks = ways[i].stacks;
		w->options.sampler.stack_bytes = (uint32_t)(bytes + 7) & ~7u;
		w->options.sampler.data = ways[i].stacks == SAMPLER_COPIES && !ways[i].unwind;
		w->options.unwind = ways[i].unwind;
		return true;
	}
	message("--call-graph wants unwound, fp, dwarf or off, the first and the third perhaps with ,SIZE in bytes, not \"%s\"; stacks are recorded without being asked for",
		text);
	return false;
}

/* What belongs together and what does not. */
static bool is_whole_wish(const struct record_job *j)
{
	const struct options *o = j->o;
	int n = (o->attach || o->tasks) + (o->all_cpus || o->cgroup);

	if (!o->heap && (o->free_stacks || o->no_patch || o->sample || o->max_overhead || o->cull ||
			 o->keep || o->children)) {
		message("--free-stacks, --no-patch, --sample, --max-overhead, --cull, --keep and --children are for recordings of heaps: with --heap");
		return false;
	}
	if (o->cgroup && !*o->cgroup) {
		message("-G wants the name of a control group");
		return false;
	}
	if (n > 1 || (n == 0 && o->files.n == 0 && !o->cpus)) {
		const char *verb = j->live ? "live" : "record";

		message("%s wants one of a command, -p PID, -t TID and -a: proftop %s -- COMMAND",
			verb, verb);
		return false;
	}
	if (n > 0 && o->files.n > 0 && (o->heap || j->live)) {
		message("with %s, a command is what is recorded: without -p, -t, -a and -G",
			o->heap ? "--heap" : "live");
		return false;
	}
	return true;
}

/* How often. */
static bool take_rate(const struct options *o, struct sampler_options *s)
{
	s->hz = DEFAULT_HZ;
	if (!take_number("-F", o->freq, 1000000, &s->hz) ||
	    !take_number("-c", o->count, 999999999, &s->period))
		return false;
	if (o->count && (o->freq || s->period == 0)) {
		message(o->freq ? "-F and -c cannot both be: samples come so often a second, or at each so many events"
				: "-c wants at least one event");
		return false;
	}
	if (s->hz == 0)
		message("-F wants at least one sample a second");
	return s->hz > 0;
}

/* How large, how long and how urgent. */
static bool take_limits(const struct record_job *j, struct record_options *w)
{
	const struct options *o = j->o;
	/* Our own view, which reads a pipe, would have to unpack it at once. */
	uint64_t level = j->live && !o->heap ? 0 : 1;

	w->options.max_bytes = UINT64_MAX;
	if (!take_number("-z", o->compress, ZSTD_LEVEL_MAX, &level) ||
	    !take_number("-r", o->realtime, REALTIME_MAX, &w->realtime) ||
	    !record_duration(o, &w->duration_ms))
		return false;
	if (o->realtime && w->realtime == 0) {
		message("-r wants a priority from 1 to %d", REALTIME_MAX);
		return false;
	}
	w->options.zstd_level = (int)level;
	/* Of a live view, samples take no room: heaps may. */
	if (j->live && o->heap)
		return true;
	if (j->live && j->max_size) {
		message("live keeps no file of CPU samples: --max-size is for heaps, with --heap");
		return false;
	}
	if (j->max_size && !system_limits_parse_bytes(j->max_size, &w->options.max_bytes)) {
		message("--max-size wants a number of bytes, such as 512k, 10M or 1G, not \"%s\"",
			j->max_size);
		return false;
	}
	return true;
}

static void take_command(const struct options *o, struct record_options *w)
{
	static char program[] = "proftop";

	vec_push(&w->command, program);
	for (char **arg = o->argv; *arg; arg++)
		vec_push(&w->command, *arg);
	vec_push(&w->command, NULL);
	w->options.command = w->command.at;
}

bool record_options_take(const struct record_job *j, struct record_options *w)
{
	struct sampler_options *s = &w->options.sampler;
	const struct options *o = j->o;

	*w = (struct record_options){ .output = j->output ? j->output : DEFAULT_FILE };
	if (!is_whole_wish(j) || !check_cpus(o->cpus) || !take_numbers("-p", o->attach, &w->pids) ||
	    !take_numbers("-t", o->tasks, &w->tids) || !take_events(o, w) || !take_stacks(o, w) ||
	    !take_rate(o, s) || !take_limits(j, w))
		return false;
	s->cpus = o->cpus;
	s->cgroup = o->cgroup;
	s->switches = o->off_cpu;
	s->events = w->events.at;
	s->n_events = w->events.n;
	w->options.watched = j->live;
	w->options.path = w->output;
	take_command(o, w);
	return true;
}

void record_options_done(struct record_options *w)
{
	event_specs_done(&w->events);
	vec_done(&w->command);
	vec_done(&w->pids);
	vec_done(&w->tids);
}
