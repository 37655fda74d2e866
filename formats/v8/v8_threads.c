/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/v8/v8_threads.h"

#include "formats/v8/v8_text.h"

#include <inttypes.h>
#include <stdio.h>

static int32_t small_number(int64_t n)
{
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* Numbers that are addresses (of pthreads) are no numbers of threads: they are names. */
static string_id name_of_number(struct v8_text *t, int64_t tid)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "thread %" PRIx64, (uint64_t)tid);

	return build_string(t->p, text, (size_t)n);
}

thread_id v8_thread(struct v8_text *t, capture_id c, int64_t pid, int64_t tid,
		    enum root_names root_names, stack_id *root)
{
	string_id process = v8_text_name(t, pid, -1), thread = v8_text_name(t, pid, tid);
	int32_t number = pid > 0 ? small_number(pid) : -1;
	process_id id;

	if (number < 0 && tid <= 0 && thread.v == 0)
		return (thread_id){ ID_NONE };
	if (thread.v == 0 && small_number(tid) < 0)
		thread = name_of_number(t, tid);
	id = number >= 0 ? build_process(t->p, c, number) : build_process_of_name(t->p, c, process);
	if (number >= 0 && process.v != 0)
		build_process_name(t->p, id, process);
	*root = build_stack(
		t->p, *root,
		build_root_location(t->p, thread, number, small_number(tid), root_names));
	return build_thread(t->p, id, small_number(tid), thread);
}
