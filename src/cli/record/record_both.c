/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer writes to the directory by itself, and goes on if we are killed. */
#include "config.h"

#include "cli/record/record_both.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/heap_launch.h"
#include "cli/record/heap_settings.h"
#include "cli/record/output_path.h"
#include "cli/record/record_job.h"
#include "cli/record/record_traces.h"

struct record_both {
	char *directory; /* absolute; owned, as what follows */
	char *data;      /* in it, as the user named it */
	struct heap_launch *launch;
};

/* dir/data.heap as the tracer takes it, to whom a percent sign says something; the caller frees. */
static char *trace_pattern(const char *dir)
{
	static const char name[] = "/data.heap";
	char *out = xmalloc(2 * strlen(dir) + sizeof(name)), *to = out;

	for (; *dir; dir++) {
		if (*dir == '%')
			*to++ = '%';
		*to++ = *dir;
	}
	strcpy(to, name);
	return out;
}

struct record_both *record_both_new(const struct record_job *j, const char *directory)
{
	struct record_both *b;
	char *pattern;

	if (j->o->files.n == 0) {
		message("--cpu --heap wants a command: proftop %s --cpu --heap -- COMMAND; of what runs already one of them can be recorded",
			j->live ? "live" : "record");
		return NULL;
	}
	if (strcmp(directory, "-") == 0) {
		message("record --cpu --heap writes a directory, which goes through no pipe: -o NAME");
		return NULL;
	}
	if (!heap_settings_check(j))
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->directory = output_path_absolute(directory);
	b->data = xasprintf("%s/data", directory);
	pattern = trace_pattern(b->directory);
	b->launch = heap_launch_new(j, pattern);
	free(pattern);
	if (b->launch)
		return b;
	record_both_free(b);
	return NULL;
}

void record_both_free(struct record_both *b)
{
	if (!b)
		return;
	heap_launch_free(b->launch);
	free(b->directory);
	free(b->data);
	free(b);
}

bool record_both_make(const struct record_both *b)
{
	if (mkdir(b->directory, 0700) == 0)
		return true;
	message("%s: %s", b->directory, strerror(errno));
	return false;
}

void record_both_unmake(const struct record_both *b)
{
	/* A command that could not become its program may have begun a trace. */
	if (!output_path_remove(b->directory))
		rmdir(b->directory);
}

const char *record_both_data(const struct record_both *b)
{
	return b->data;
}

void record_both_environment(void *b)
{
	heap_launch_environment(((const struct record_both *)b)->launch);
}

char *record_both_text(const struct record_both *b, pid_t pid, int status)
{
	struct record_traces traces = { 0 };
	char size[FMT_SIZE], n[FMT_COUNTED_SIZE], *out = NULL;
	int64_t bytes = 0;
	bool said;

	said = heap_launch_traces(b->launch, pid, &traces);
	record_traces_ended(&traces, pid, status);
	for (size_t i = 0; i < traces.n; i++)
		bytes += traces.at[i].bytes > 0 ? traces.at[i].bytes : 0;
	fmt_bytes(size, bytes);
	if (traces.n == 1)
		out = xasprintf("the heap, %s", size);
	else if (traces.n > 1)
		out = xasprintf("%s of heaps, %s", fmt_counted(n, (int64_t)traces.n, "trace"),
				size);
	else if (!said)
		heap_launch_say_nothing(b->launch, "no heap", status);
	record_left_say(&traces.left);
	record_left_say_going_on(&traces.going_on, traces.output);
	record_traces_done(&traces);
	return out;
}
