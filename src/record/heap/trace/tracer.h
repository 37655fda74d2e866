/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder of one process, as its parts see it: threads that note events, and the writer.
 *
 * A thread notes an event in a ring of its own, without locks and without system calls. Where a handler of signals
 * interrupts it in the middle of that, the handler's events go to a second ring, with a second state of all that there is
 * of a thread, or a third. What takes a lock does so with signals blocked. The writer
 * (a thread of ours, or whoever ends the process) empties the rings into the file. A ring that is full
 * makes its thread wait: nothing is lost silently, and memory stays bounded.
 *
 * Locks, in the order in which they may be taken: `ending`, `drain`, `slow`, the trie's.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_H

#include "record/heap/stack/live_modules.h"
#include "record/heap/stack/live_walk.h"
#include "record/heap/stack/stack_cache.h"
#include "record/heap/stack/stack_trie.h"
#include "record/heap/trace/pending_state.h"
#include "record/heap/trace/tracer_clock.h"
#include "record/heap/trace/tracer_lock.h"
#include "record/heap/trace/tracer_options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ID_CHUNK_BITS 16u
#define RING_WORDS    (1u << 17) /* 1 MiB */
#define BOX_VERSION   1u         /* other numbers when what the words of notes mean changes */

/* What a word says that begins a note: the op in the upper 4 bits of the second word. */
enum note_op {
	/* 0 … 6 are enum heap_op */
	NOTE_CHUNK = 8, /* the ids of the allocations that follow begin at the operand */
	NOTE_TIME = 9,  /* ticks at this note, in full */
	NOTE_PAD = 10,  /* the ring goes on at its beginning */
	NOTE_LOST = 11, /* so many events could not be noted */
	/* What culling (short_lived.h) made of an alloc and its free; the latter also for what was not noted at all. */
	NOTE_CULLED = 12,
	NOTE_CULLED_FREE = 13,
	/* With a third word, where addresses are recorded: an alloc, and what culling made of it. */
	NOTE_ALLOC_AT = 14,
	NOTE_CULLED_AT = 15
};
#define NOTE_OP_SHIFT   60u
#define NOTE_KIND_SHIFT 58u
#define NOTE_OPERAND    ((UINT64_C(1) << NOTE_KIND_SHIFT) - 1)

#define LINE_OF_CACHE __attribute__((aligned(64)))

/*
 * A large block that is about to be asked for: the allocator may touch all of it, and the process be killed for that. It counts while
 * nothing was noted since.
 */
struct tracer_intent {
	uint64_t head;    /* of the ring then */
	uint64_t operand; /* size and kind, as a note has them; 0: there is none */
	uint64_t ticks;   /* >> tick_shift: when */
	uint32_t stack;
};

/* Where a thread is. */
enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_ENDED };

struct tracer_thread {
	/* The thread's side. */
	uint64_t *ring;        /* [RING_WORDS] */
	_Atomic uint64_t head; /* words noted so far */
	uint64_t tail_seen;    /* tail, when it was last looked at */
	uint64_t next_id, end_id;
	uint64_t last_ticks; /* >> tick_shift: of the last note */
	struct live_walk *walk;
	uint32_t n_missed;         /* stacks that the cache did not hold: says which to replace */
	uint64_t rules_epoch;      /* of the recorder, when the rules were found */
	_Atomic uint64_t n_unsaid; /* events lost and not noted yet */
	uint64_t sample_mean;      /* with which the next was drawn; 0: none was */
	uint64_t sample_left;      /* bytes until one is sampled */
	/*
	 * Calls that are in no note, on the same line of the cache; see passed_told: other ones may have come between two
	 * notes.
	 */
	_Atomic uint64_t n_passed;
	uint64_t seed; /* of the thread's random numbers; 0: none were drawn */
	/* of allocations and frees; this and the two that follow, while they are counted */
	_Atomic uint64_t n_notes;
	_Atomic uint64_t n_timed,
		timed_ticks; /* notes of which the time was taken, and that, >> tick_shift */
	_Atomic uint64_t n_passed_long; /* of them: not by the short way of tracer_skips() */
	uint64_t passed_told;           /* n_passed at the last note */
	struct pass_lane
		*again; /* of calls that are looked at twice, see pass_cost.h; NULL: none was yet */
	uint64_t n_walks; /* stacks walked, while they are being checked */
	/*
	 * It is at an event that the program caused where sp was this, or 0; whatever a handler of signals does meanwhile is
	 * noted by `inner`.
	 */
	_Atomic uint64_t noting;
	/* another state of the same thread; NULL: none was needed yet */
	struct tracer_thread *inner;
	/* the least that last_ticks may be, where that is 0: a note was left */
	uint64_t least_ticks;
	_Atomic bool at_slot; /* it is changing a slot of the table of ids; see recorder.alone */
	pid_t tid;
	char first_name[16]; /* at its first event: what is told of one that ends right after */
	struct tracer_intent intent;
	/* >> tick_shift: of the last allocation whose mean was a matter of the clock; 0: of none */
	_Atomic uint64_t decided_ticks;

	/* The writer's side. */
	_Atomic uint64_t tail LINE_OF_CACHE; /* words taken so far */
	_Atomic uint32_t state;              /* enum thread_state */
	uint32_t index;                      /* in the trace */
	struct tracer_taken taken;           /* as it is at work; without the tail */
	struct tracer_taken kept[2];         /* as the file has it */
	_Atomic uint32_t kept_at;            /* which of the two counts */
	uint64_t named_us;                   /* when its name was last looked at */
	char name[16];                       /* as told last */
	uint64_t passed_number;              /* see tracer_threads_pass() */
	bool announced;                      /* its THREAD record has been written */
	struct tracer_thread *next;          /* in the list of all */
};

/* Which allocations are recorded; see tracer_sample.h. */
struct sample_rate {
	_Atomic uint64_t mean; /* bytes between those that are; 0: all are; or SAMPLE_CHANGES */
	uint64_t most;         /* bytes; what is larger is recorded in any case */
	/* Then it is `before` up to `at`, from there on `after`. */
	_Atomic uint64_t before, after;
	_Atomic uint64_t at; /* ticks >> tick_shift; UINT64_MAX: that has yet to be decided */
};

#define TRACER_ON_WAITS 1u

/*
 * What every event reads stands first, on lines of the cache that next to nobody writes to: else a processor that notes
 * waits for the line whenever another one has changed what lies beside it.
 */
struct recorder {
	/*
	 * 1: events are to be noted. In a page that is empty in the child of a fork, however it forks. Behind it
	 * TRACER_ON_WAITS: the pid of the child of a fork whose recording begins with its first event, or 0.
	 */
	_Atomic uint32_t *on;
	_Atomic uint8_t *known; /* [1 << KNOWN_BITS]; see live_blocks.h; NULL: all are recorded */
	/*
	 * What our hooks of libc's names call may call them in turn: where its code was led to us, too, or may call itself by
	 * those names. Else it does not, so that nothing is missed of handlers of signals that come meanwhile and allocate.
	 */
	bool nests;
	struct sample_rate rate;
	_Atomic uint64_t *ids;        /* [ID_SLOTS]; see live_blocks.h */
	_Atomic uint8_t *evicted;     /* [EVICTED_BYTES]; the same */
	_Atomic uint64_t rules_epoch; /* rises when code was unloaded */
	unsigned tick_shift;          /* ticks are noted without so many low bits */
	/* odd: no allocations are recorded now; frees of recorded ones are */
	_Atomic uint64_t n_switches;
	_Atomic bool alone;    /* no more than one thread has ever noted anything */
	_Atomic bool together; /* and it is certain that this one knows, if so */
	struct tracer_options options;

	/* What changes. */
	_Atomic(struct tracer_thread *) threads LINE_OF_CACHE; /* newest first; never taken out */
	_Atomic uint32_t n_threads;
	_Atomic uint32_t writer_word; /* what the writer sleeps on */
	_Atomic uint32_t writer_beat; /* rises with each step that whoever writes makes */
	_Atomic uint32_t room_word;   /* what threads with full rings sleep on */
	_Atomic bool writer_runs;
	_Atomic bool reap; /* a thread wants the state of one that has ended */
	/* enum tracer_limit: of any filter that was loaded; what new threads may inherit */
	_Atomic uint32_t limits;
	_Atomic bool no_start; /* a filter forbids what it takes to begin a thread */
	/* some thread has any: it may ask the thread that writes to write */
	_Atomic bool any_limits;
	struct pending_state *box;               /* what outlives us */
	struct tracer_clock clock LINE_OF_CACHE; /* its first field is read by every event */
	struct tracer_lock drain LINE_OF_CACHE;  /* of the file and all that leads to it */
	struct tracer_lock slow; /* of modules, rules and the tracer's small memory */
	struct live_modules modules;
	struct stack_trie trie;
	struct stack_cache stacks;
	uint8_t *slow_stack;       /* what runs with `slow` held runs on this one */
	uint8_t *end_stack;        /* the same for `ending` */
	struct tracer_lock ending; /* of what the end of a process calls */
	pid_t pid;
	_Atomic uint64_t n_checked, n_wrong; /* stacks compared with a full walk, and not equal */
};

/* Differs where what the box leads to looks otherwise: another build wrote it. */
static inline uint64_t box_layout(void)
{
	return (uint64_t)sizeof(struct pending_state) << 40 ^
	       (uint64_t)sizeof(struct tracer_thread) << 24 ^
	       (uint64_t)offsetof(struct tracer_thread, kept) << 12 ^
	       (uint64_t)offsetof(struct tracer_thread, intent) << 4 ^
	       (uint64_t)offsetof(struct pending_state, file) << 20 ^ RING_WORDS ^ BOX_VERSION;
}

extern struct recorder recorder __attribute__((visibility("hidden")));

static inline bool tracer_is_on(void)
{
	const _Atomic uint32_t *on = recorder.on;

	return __builtin_expect(on != NULL, 1) && atomic_load_explicit(on, memory_order_relaxed);
}

/*
 * Runs fn(arg) with the slow lock held and on a stack of our own, as those of programs may be small.
 * Errno is kept. False: the lock was not to be had in a while, fn did not run.
 */
bool tracer_run_slow(void (*fn)(void *arg), void *arg);

/* The same where whoever writes comes no further, with the line that says so; waits for nothing that it may wait for. */
void tracer_give_up(bool is_gone);
/* For the thread that writes, when nothing is recorded any more: tells what it was not there for. */
void tracer_came_back(void);

/* Stops recording for good, with a line for the log. The program goes on. */
void tracer_stop(const char *why);

#endif
