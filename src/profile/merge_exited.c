/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which threads there were, thousands by now, is of no use: what they did is told by name, and by process where that lives.
 * Processes that ended, too, are one for each name, ENDED_PREFIX before it. Samples keep their threads' names and control
 * groups, so that sums by these are what they were.
 */
#include "config.h"

#include "profile/merge_exited.h"

#include <stdlib.h>

#include "profile/compact.h"

static bool is_ended(const struct store_flags *flags, uint32_t id)
{
	return id < flags->n && flags->at[id];
}

/* The thread without its control group, of which it is said that it ended; itself, where there is none. */
static uint32_t base_of(const struct profile *p, uint32_t id)
{
	struct thread t = STORE_AT(struct thread, p->threads, id);
	uint32_t base;

	t.cgroup = ID_NONE;
	base = store_find_thread(p, &t);
	return base == MAP_NONE ? id : base;
}

/* The process that stands for those of the name. */
static process_id process_of_name(struct profile *p, const struct process *of)
{
	const char *name = profile_string(p, of->name, NULL);
	char *text = xasprintf(ENDED_PREFIX "%s", *name ? name : "[no name]");
	process_id id = build_process_of_name(p, of->capture, build_cstring(p, text));

	free(text);
	return id;
}

/* [n_threads] has a row that is not old. The caller frees. */
static bool *find_young(const struct profile *p, int64_t old_ns)
{
	const struct compact f = { .old_ns = old_ns };
	bool *young = xcalloc(p->now.n_threads, sizeof(*young));

	for (uint64_t i = 0; i < p->now.n_samples; i++) {
		struct folded row = compact_row_at(&p->samples, i);

		if (row.thread != ID_NONE && !compact_is_old(&f, &row))
			young[row.thread] = true;
	}
	return young;
}

/* [n_processes] has a thread that stays, or has not ended. The caller frees. */
static bool *find_staying(const struct profile *p, const bool *goes)
{
	bool *stays = xcalloc(p->now.n_processes, sizeof(*stays));

	for (uint32_t i = 0; i < p->now.n_processes; i++)
		stays[i] = !is_ended(&p->ended_processes, i);
	for (uint32_t i = 0; i < p->now.n_threads; i++) {
		const struct thread *t = &STORE_AT(struct thread, p->threads, i);

		/* What stands for ended ones goes with the process. */
		stays[t->process.v] |= !goes[i] && t->tid >= 0;
	}
	return stays;
}

bool merge_exited_due(const struct profile *p)
{
	return p->folding.n_ended > 0 && p->n_ended >= p->ended_at && p->trie.beyond.n == 0;
}

/* Of what goes as a whole it need not be known any more that it ended. */
static void forget_gone(struct profile *p, const bool *goes, uint32_t n)
{
	bool *left = xcalloc(n, sizeof(*left));

	for (uint32_t i = 0; i < n; i++)
		if (!goes[i])
			left[base_of(p, i)] = true;
	for (uint32_t i = 0; i < n && i < p->merge_exited_threads.n; i++) {
		if (left[i] || !p->merge_exited_threads.at[i])
			continue;
		p->merge_exited_threads.at[i] = false;
		p->n_ended--;
	}
	free(left);
}

/* The thread that stands for it. */
static uint32_t stand_in(struct profile *p, uint32_t thread, bool process_stays)
{
	struct thread t = STORE_AT(struct thread, p->threads, thread);

	t.tid = -1;
	if (!process_stays)
		t.process = process_of_name(p,
					    &STORE_AT(struct process, p->processes, t.process.v));
	return store_thread(p, &t).v;
}

uint32_t *merge_exited_threads(struct profile *p, int64_t old_ns)
{
	uint32_t n = p->now.n_threads, *to;
	bool *goes, *stays;

	if (p->folding.n_ended == 0 || p->n_ended < p->ended_at)
		return NULL;
	to = xmalloc(n * sizeof(*to));
	goes = find_young(p, old_ns);
	for (uint32_t i = 0; i < n; i++)
		goes[i] = !goes[i] && is_ended(&p->merge_exited_threads, base_of(p, i));
	stays = find_staying(p, goes);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *t = &STORE_AT(struct thread, p->threads, i);
		uint32_t process = t->process.v;
		/* What stands for threads of a process that goes goes, too. */
		bool moves = goes[i] || (t->tid < 0 && !stays[process]);

		to[i] = moves ? stand_in(p, i, stays[process]) : i;
	}
	forget_gone(p, goes, n);
	p->ended_at = p->n_ended + p->folding.n_ended;
	free(goes);
	free(stays);
	return to;
}
