/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop mark, pause, resume and detach: said to the recorder of a process from outside. */
#include "config.h"

#include <stddef.h>

#include "base/err.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/record_running.h"
#include "record/attach/attach.h"

/* The recorder of the process that is meant. Not found: says why, and the status. */
static enum status find(const struct options *o, struct attach **a)
{
	struct err e = ERR_INIT;
	int pid;

	if (!o->attach) {
		message("%s wants a process: proftop %s -p PID", o->command->name,
			o->command->name);
		return STATUS_USAGE;
	}
	pid = record_pid(o);
	if (!pid)
		return STATUS_USAGE;
	return attach_find(pid, a, &e) ? message_error(&e, STATUS_UNUSABLE) : STATUS_GOOD;
}

static enum status tell(const struct options *o, enum attach_verb verb, const char *name)
{
	struct attach *a = NULL;
	struct err e = ERR_INIT;
	enum status status = find(o, &a);

	if (status == STATUS_GOOD && attach_say(a, verb, name, &e))
		status = message_error(&e, STATUS_UNUSABLE);
	attach_free(a);
	return status;
}

static enum status mark(const struct options *o)
{
	if (o->files.n != 1) {
		message("mark wants one name: proftop mark -p PID NAME");
		return STATUS_USAGE;
	}
	return tell(o, ATTACH_MARK, o->files.at[0]);
}

static enum status pause_recording(const struct options *o)
{
	return tell(o, ATTACH_PAUSE, NULL);
}

static enum status resume_recording(const struct options *o)
{
	return tell(o, ATTACH_RESUME, NULL);
}

static enum status detach(const struct options *o)
{
	struct attach *a = NULL;
	struct err e = ERR_INIT;
	enum status status = find(o, &a);

	if (status == STATUS_GOOD && attach_end(a, &e))
		status = message_error(&e, STATUS_UNUSABLE);
	if (status == STATUS_GOOD)
		record_say_trace(attach_path(a));
	attach_free(a);
	return status;
}

const struct command cmd_detach = {
	.name = "detach",
	.synopsis = "-p PID",
	.summary = "Ends the recording of a process' heap; the process goes on.",
	.verb = ON_TELL,
	.run = detach,
};

const struct command cmd_mark = {
	.name = "mark",
	.synopsis = "-p PID NAME",
	.summary = "Sets a mark in the heap trace that a process is being recorded to.",
	.verb = ON_TELL,
	.run = mark,
};

const struct command cmd_pause = {
	.name = "pause",
	.synopsis = "-p PID",
	.summary =
		"Records no more allocations of a process whose heap is being recorded, until resume.",
	.verb = ON_TELL,
	.run = pause_recording,
};

const struct command cmd_resume = {
	.name = "resume",
	.synopsis = "-p PID",
	.summary = "Records allocations of a process again, after pause.",
	.verb = ON_TELL,
	.run = resume_recording,
};
