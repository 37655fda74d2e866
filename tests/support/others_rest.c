/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layout: proc_pid_status(5). */
#include "config.h"

#include "tests/support/others_rest.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"

#define TRIES   50
#define LOOK_MS 400

/* Times that they went to sleep so far. */
static long n_sleeps(void)
{
	struct thread_list threads = { 0 };
	char path[64], line[128];
	long n, sum = 0;

	process_threads(getpid(), &threads);
	for (size_t i = 0; i < threads.n; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%d/status", threads.at[i]);
		f = threads.at[i] == getpid() ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			sum += sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1 ? n : 0;
		if (f)
			fclose(f);
	}
	vec_done(&threads);
	return sum;
}

bool others_rest(void)
{
	long before = -1, now = n_sleeps();

	for (int tries = 0; tries < TRIES && now != before; tries++) {
		before = now;
		poll(NULL, 0, LOOK_MS);
		now = n_sleeps();
	}
	return now == before;
}
