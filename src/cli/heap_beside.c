/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer writes to the directory by itself, and goes on if we are killed. */
#include "config.h"

#include "heap_beside.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach.h"
#include "err.h"
#include "fmt.h"
#include "heap_launch.h"
#include "heap_settings.h"
#include "mem.h"
#include "options.h"
#include "record_job.h"
#include "record_place.h"
#include "record_traces.h"
#include "say.h"

struct heap_beside {
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

struct heap_beside *heap_beside_new(const struct record_job *j, const char *directory)
{
	struct heap_beside *b;
	char *pattern;

	if (j->o->files.n == 0) {
		say("--cpu --heap wants a command: proftop %s --cpu --heap -- COMMAND; of what runs already one of them can be recorded",
		    j->live ? "live" : "record");
		return NULL;
	}
	if (strcmp(directory, "-") == 0) {
		say("record --cpu --heap writes a directory, which goes through no pipe: -o NAME");
		return NULL;
	}
	if (!heap_settings_check(j))
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->directory = record_place_absolute(directory);
	b->data = xasprintf("%s/data", directory);
	pattern = trace_pattern(b->directory);
	b->launch = heap_launch_new(j, pattern);
	free(pattern);
	if (b->launch)
		return b;
	heap_beside_free(b);
	return NULL;
}

void heap_beside_free(struct heap_beside *b)
{
	if (!b)
		return;
	heap_launch_free(b->launch);
	free(b->directory);
	free(b->data);
	free(b);
}

bool heap_beside_make(const struct heap_beside *b)
{
	if (mkdir(b->directory, 0700) == 0)
		return true;
	say("%s: %s", b->directory, strerror(errno));
	return false;
}

void heap_beside_unmake(const struct heap_beside *b)
{
	/* A command that could not become its program may have begun a trace. */
	if (!record_place_remove(b->directory))
		rmdir(b->directory);
}

const char *heap_beside_data(const struct heap_beside *b)
{
	return b->data;
}

void heap_beside_environment(void *b)
{
	heap_launch_environment(((const struct heap_beside *)b)->launch);
}

void heap_beside_end(pid_t pid)
{
	struct attach *a = NULL;
	struct err e = ERR_INIT;

	if (attach_find(pid, &a, &e) || attach_end(a, &e))
		say("the heap is recorded until the command ends: %s", err_text(&e));
	err_clear(&e);
	attach_free(a);
}

char *heap_beside_text(const struct heap_beside *b, pid_t pid, int status)
{
	struct record_traces traces = { 0 };
	char size[FMT_SIZE], n[FMT_COUNTED_SIZE], *out = NULL;
	int64_t bytes = 0;
	bool said;

	said = heap_launch_traces(b->launch, &traces);
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
	record_traces_done(&traces);
	return out;
}
