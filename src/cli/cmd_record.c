/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop record: of CPU samples see record_cpu.h, of heaps record_heap.h and record_running.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/heap_settings.h"
#include "cli/record/output_path.h"
#include "cli/record/record_cpu.h"
#include "cli/record/record_heap.h"
#include "cli/record/record_job.h"
#include "cli/record/record_running.h"
#include "cli/record/record_runs.h"

/* The first option given that only recordings of CPU samples have; NULL: none is. */
static const char *of_cpu(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ o->freq, "--freq" },          { o->count, "--count" },
		{ o->events.n > 0, "--event" }, { o->call_graph, "--call-graph" },
		{ o->off_cpu, "--off-cpu" },    { o->all_cpus, "--all-cpus" },
		{ o->cpus, "--cpus" },          { o->tasks, "--task" },
		{ o->cgroup, "--cgroup" },      { o->realtime, "--realtime" },
		{ o->compress, "--compress" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

/* What belongs together and what does not. */
static bool is_whole_wish(const struct record_job *j)
{
	const struct options *o = j->o;

	if (of_cpu(o))
		message("%s is for CPU samples: without --heap", of_cpu(o));
	else if (o->attach ? o->files.n != 0 : o->files.n == 0)
		message("record wants a command or a process: proftop record --heap -- COMMAND, or proftop record --heap -p PID");
	else if (j->output && strcmp(j->output, "-") == 0)
		message("the program that is recorded writes the trace of its heap itself, to a file: -o FILE");
	else
		return heap_settings_check(j);
	return false;
}

enum status record_run(const struct record_job *j)
{
	const struct options *o = j->o;
	enum status status;
	char *output;

	if (o->cpu || !o->heap)
		return record_cpu(j);
	if (!is_whole_wish(j) || !output_path_check(j->output))
		return STATUS_USAGE;
	output = j->output ? output_path_absolute(j->output) : NULL;
	status = o->attach ? record_running(j, output) : record_heap(j, output);
	free(output);
	return status;
}

static enum status record(const struct options *o)
{
	const struct record_job j = { .o = o, .output = o->output, .max_size = o->max_size };

	if (o->runs)
		return record_runs(o, record, o->heap && !o->cpu ? NULL : "perf.data");
	return record_run(&j);
}

const struct command cmd_record = {
	.name = "record",
	.synopsis =
		"[--cpu] [--heap] [--runs N] [-o FILE] -- COMMAND…, or [--cpu | --heap] [-o FILE] -p PID, or -a",
	.summary =
		"Records what a command, running processes or a whole machine do with the CPU, or with --heap every\nallocation and free, with stacks; of a command both at once, with --cpu --heap.",
	.verb = ON_RECORD,
	.run = record,
};
