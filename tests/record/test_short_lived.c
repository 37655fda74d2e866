/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process may be killed between any two instructions: what it left out of its trace by then is counted once all the same. */
#include "config.h"

#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/short_lived.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTED_WORDS 9u /* that the test puts into the ring */

static uint64_t *put(uint64_t *at, uint64_t ticks, uint64_t op, uint64_t operand)
{
	at[0] = ticks << 32 | 7;
	at[1] = op << NOTE_OP_SHIFT | operand;
	return at + 2;
}

/* Two allocations at one stack, one with its address noted, and their frees. */
static void put_notes(struct tracer_thread *t)
{
	uint64_t *at = put(t->ring, 10, HEAP_ALLOC, 100);

	at = put(at, 11, NOTE_ALLOC_AT, 50);
	*at++ = 0x5000;
	at = put(at, 12, HEAP_FREE, 1);
	at = put(at, 13, HEAP_FREE, 0);
	cr_assert_eq(at - t->ring, NOTED_WORDS);
	atomic_store(&t->head, NOTED_WORDS);
}

static struct tracer_thread *make_recorder(void)
{
	struct tracer_thread *t;

	shared_memory_begin();
	if (shared_memory_id() < 0)
		cr_skip_test("no memory can be had here that outlives a process");
	recorder.box = shared_memory_map(sizeof(*recorder.box));
	t = shared_memory_map(sizeof(*t));
	t->ring = shared_memory_map(RING_WORDS * sizeof(*t->ring));
	recorder.options.cull_ns = 1000000000;
	recorder.tick_shift = 0;
	tracer_clock_init(&recorder.clock);
	cr_assert(short_lived_init());
	/* It goes with the last of us that has it. */
	shared_memory_remove();
	put_notes(t);
	return t;
}

struct counts {
	uint64_t allocs, frees, bytes, culled;
};

/* What a reader would count of it. */
static struct counts count(const struct tracer_thread *t)
{
	static uint64_t ring[RING_WORDS];
	const struct pending_state *box = recorder.box;
	uint32_t changing = atomic_load(&box->cull_pair.sum);
	struct counts c = { 0 };
	struct cull_sum undone;

	memcpy(ring, t->ring, NOTED_WORDS * sizeof(*ring));
	if (changing)
		short_lived_undo(&box->cull_pair, &undone, ring);
	for (uint32_t i = 0; i < box->n_sums; i++) {
		const struct cull_sum *s = i + 1 == changing ? &undone : &box->sums[i];

		c.culled += s->calls;
		c.bytes += s->calls ? s->bytes : 0;
	}
	c.allocs = c.frees = c.culled;
	for (unsigned at = 0; at < NOTED_WORDS; at += tracer_note_words(&ring[at])) {
		uint64_t op = short_lived_op(&ring[at]);
		bool allocates = op == HEAP_ALLOC || op == NOTE_ALLOC_AT;

		c.allocs += allocates;
		c.bytes += allocates ? ring[at + 1] & NOTE_OPERAND : 0;
		c.frees += op == HEAP_FREE;
	}
	return c;
}

/* A process that leaves out what can be, and can be stopped meanwhile. */
static pid_t start(struct tracer_thread *t)
{
	pid_t child = fork();

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		short_lived_mark(t, NOTED_WORDS, true);
		_exit(0);
	}
	return child;
}

Test(short_lived, is_counted_once_wherever_the_process_is_killed)
{
	struct tracer_thread *t = make_recorder();
	pid_t child = start(t);
	unsigned n_undone = 0;
	int status;

	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		struct counts c = count(t);

		n_undone += atomic_load(&recorder.box->cull_pair.sum) != 0;
		cr_assert(c.allocs == 2 && c.frees == 2 && c.bytes == 150,
			  "%d allocations, %d frees, %d bytes, of which %d were left out",
			  (int)c.allocs, (int)c.frees, (int)c.bytes, (int)c.culled);
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL))
			break;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		cr_skip_test("a process may not be stopped here");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_expect_eq(count(t).culled, 2);
	cr_expect_gt(n_undone, 10);
}
