/* SPDX-License-Identifier: GPL-3.0-or-later */
/* -C, and what is online. */
#include "config.h"

#include "record/cpu/cpu_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define ONLINE   "/sys/devices/system/cpu/online"
#define CPUS_MAX 65536

/* Calls for each number of the list. False: it is no list. */
static bool parse(const char *text, struct cpu_list *out)
{
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text || first < 0)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
			if (end == text)
				return false;
		}
		if (last < first || last >= CPUS_MAX || (*end && *end != ',' && *end != '\n'))
			return false;
		for (long i = first; i <= last; i++)
			vec_push(out, (int)i);
		text = *end ? end + 1 : end;
	}
	return out->n > 0;
}

static bool read_sys(const char *path, struct cpu_list *out)
{
	FILE *f = fopen(path, "re");
	char text[4096];
	bool good = f && fgets(text, sizeof(text), f) && parse(text, out);

	if (f)
		fclose(f);
	return good;
}

/* A line for each cpu that is online, "cpu3 1 2 …", behind that of their sums, "cpu  4 5 …". */
static void read_stat(const char *path, struct cpu_list *out)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	int cpu;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu%d ", &cpu) == 1 && line[3] != ' ' && cpu >= 0 &&
		    cpu < CPUS_MAX)
			vec_push(out, cpu);
	if (f)
		fclose(f);
}

/* Those that this process may run on, in the kernel's words 64 a time. */
static void read_own(struct cpu_list *out)
{
	uint64_t mask[CPUS_MAX / 64];
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	for (long i = 0; i < n * 8; i++)
		if (mask[i / 64] >> (i % 64) & 1)
			vec_push(out, (int)i);
}

void cpu_list_online(const char *sys, const char *stat, struct cpu_list *out)
{
	if (read_sys(sys, out))
		return;
	vec_clear(out);
	read_stat(stat, out);
	if (out->n == 0)
		read_own(out);
	if (out->n == 0)
		vec_push(out, 0);
}

static bool has(const struct cpu_list *l, int cpu)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == cpu)
			return true;
	return false;
}

int cpu_list_read(const char *text, struct cpu_list *out, struct err *e)
{
	struct cpu_list online = { 0 }, wanted = { 0 }, each = { 0 };
	int rc = 0;

	cpu_list_online(ONLINE, "/proc/stat", &online);
	if (!text) {
		*out = online;
		return 0;
	}
	if (!parse(text, &wanted))
		rc = err_set(e, -EINVAL, "-C wants cpus such as 0-3,8, not \"%s\"", text);
	for (size_t i = 0; rc == 0 && i < wanted.n; i++) {
		if (!has(&online, wanted.at[i]))
			rc = err_set(e, -ENODEV, "there is no cpu %d, or it is offline",
				     wanted.at[i]);
		else if (!has(&each, wanted.at[i]))
			vec_push(&each, wanted.at[i]);
	}
	vec_done(&online);
	vec_done(&wanted);
	if (rc)
		vec_done(&each);
	else
		*out = each;
	return rc;
}
