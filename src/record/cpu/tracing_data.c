/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout is that of trace.dat 0.6 (tools/perf/util/trace-event-info.c); lists that nobody needs are empty. */
#include "config.h"

#include "record/cpu/tracing_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "perf/records/perf_events.h"
#include "record/cpu/tracepoint.h"

#define MAGIC           "\027\010\104tracing"
#define TRACING_VERSION "0.6"

/* A file below the directory of tracefs, behind its size, which tracefs does not say beforehand. */
static void put_file(struct perf_put *to, const char *tracing, const char *name)
{
	char *path = xasprintf("%s/%s", tracing, name);
	FILE *f = fopen(path, "re");
	size_t begun = to->n, n;
	uint8_t part[4096];
	uint64_t size;

	free(path);
	perf_put_u64(to, 0);
	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		perf_put_bytes(to, part, n);
	size = to->n - begun - sizeof(size);
	memcpy(to->at + begun, &size, sizeof(size));
	if (f)
		fclose(f);
}

static bool is_tracepoint(const struct perf_event *e)
{
	return e->attr.type == PERF_T_TRACEPOINT && e->name && strchr(e->name, ':');
}

/* Each as a system of one event: nothing says that a system may not come twice. */
static void put_formats(struct perf_put *to, const char *tracing, const struct perf_events *e)
{
	uint32_t n = 0;

	for (size_t i = 0; i < e->all.n; i++)
		n += is_tracepoint(&e->all.at[i]);
	perf_put_u32(to, n);
	for (size_t i = 0; i < e->all.n; i++) {
		const char *name = e->all.at[i].name;
		size_t system = is_tracepoint(&e->all.at[i]) ? strcspn(name, ":") : 0;
		char *path;

		if (system == 0)
			continue;
		path = xasprintf("events/%.*s/%.*s/format", (int)system, name,
				 (int)strcspn(name + system + 1, ":"), name + system + 1);
		perf_put_bytes(to, name, system);
		perf_put_bytes(to, "", 1);
		perf_put_u32(to, 1);
		put_file(to, tracing, path);
		free(path);
	}
}

void tracing_data_put(const struct perf_events *e, struct perf_put *to)
{
	const char *tracing = tracepoint_directory();
	const uint8_t sizes[2] = { 0 /* little-endian */, sizeof(long) };
	bool any = false;

	for (size_t i = 0; i < e->all.n; i++)
		any = any || is_tracepoint(&e->all.at[i]);
	if (!any || !tracing)
		return;
	perf_put_bytes(to, MAGIC, sizeof(MAGIC) - 1);
	perf_put_bytes(to, TRACING_VERSION, sizeof(TRACING_VERSION));
	perf_put_bytes(to, sizes, sizeof(sizes));
	perf_put_u32(to, (uint32_t)sysconf(_SC_PAGESIZE));
	perf_put_bytes(to, "header_page", sizeof("header_page"));
	put_file(to, tracing, "events/header_page");
	perf_put_bytes(to, "header_event", sizeof("header_event"));
	put_file(to, tracing, "events/header_event");
	perf_put_u32(to, 0); /* formats of ftrace's own events */
	put_formats(to, tracing, e);
	perf_put_u32(to, 0); /* bytes of kallsyms */
	perf_put_u32(to, 0); /* bytes of formats of printk */
	perf_put_u64(to, 0); /* bytes of names of threads */
}
