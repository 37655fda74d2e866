/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/system_limits.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

/* The limit of a control group (version 2), UINT64_MAX: none. */
static uint64_t group_limit(const char *group)
{
	char *path = xasprintf("/sys/fs/cgroup%s/memory.max", group), text[32] = "";
	FILE *f = fopen(path, "re");
	uint64_t limit = UINT64_MAX;

	if (f && fgets(text, sizeof(text), f) && text[0] >= '0' && text[0] <= '9')
		limit = strtoull(text, NULL, 10);
	if (f)
		fclose(f);
	free(path);
	return limit;
}

/* Of the group that this process is in, as it sees it, and of all around that. */
static uint64_t own_group_limit(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t limit = group_limit("");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		char *group = line + 3, *slash;

		if (strncmp(line, "0::", 3) != 0)
			continue;
		group[strcspn(group, "\n")] = '\0';
		while ((slash = strrchr(group, '/'))) {
			uint64_t one = group_limit(group);

			limit = one < limit ? one : limit;
			*slash = '\0';
		}
	}
	if (f)
		fclose(f);
	return limit;
}

uint64_t system_limits_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = own_group_limit(), all = UINT64_MAX;

	if (pages > 0 && page > 0)
		all = (uint64_t)pages * (uint64_t)page;
	return all < limit ? all : limit;
}

uint64_t system_limits_address_space_left(void)
{
	unsigned long long pages = 0;
	struct rlimit limit;
	uint64_t used;
	FILE *f;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/*
 * What is mapped by itself goes back at once. The size is fixed, as glibc else raises it to what was freed last:
 * large blocks would then come from the heap and stay there (80 MB instead of 58 on a recording of 80 MB).
 *
 * Under a limit on address space all threads share one heap: glibc reserves 64 MB for each other one, which
 * columns (column.h), and what is not in columns, then lack.
 */
void system_limits_settle_malloc(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
#ifdef M_ARENA_MAX
	if (system_limits_address_space_left() != UINT64_MAX)
		mallopt(M_ARENA_MAX, 1);
#endif
}

/*
 * Answers that are made anew several times a second leave gaps in the heap of each thread that makes a part of them, which later
 * ones do not quite fit: more is mapped by itself then, and threads share two heaps.
 */
void system_limits_settle_malloc_for_hours(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 32 << 10);
#endif
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, system_limits_address_space_left() != UINT64_MAX ? 1 : 2);
#endif
}

bool system_limits_parse_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "kMG";
	const char *unit;
	unsigned shift = 0;
	char *end;
	uint64_t n;

	if (text[0] < '0' || text[0] > '9')
		return false;
	n = strtoull(text, &end, 10);
	if (*end) {
		unit = strchr(units, *end == 'K' ? 'k' : *end);
		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (n > UINT64_MAX >> shift)
		return false;
	*out = n << shift;
	return true;
}
