/* SPDX-License-Identifier: GPL-3.0-or-later */
/* -C, and what is online. */
#include "config.h"

#include "record/cpu/cpu_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

static bool read_online(struct cpu_list *out)
{
	FILE *f = fopen(ONLINE, "re");
	char text[4096];
	bool good = f && fgets(text, sizeof(text), f) && parse(text, out);

	if (f)
		fclose(f);
	return good;
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

	if (!read_online(&online))
		vec_push(&online, 0);
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
