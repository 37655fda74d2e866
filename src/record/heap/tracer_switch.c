/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring of times: the n-th switch since the beginning pauses where n is even, and goes on where it is odd. */
#include "config.h"

#include "tracer_switch.h"

#include "heap_records.h"
#include "tracer.h"
#include "tracer_limits.h"
#include "tracer_memory.h"
#include "tracer_writer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define MOST 1024u

static struct {
	_Atomic uint64_t at_us[MOST]; /* since the beginning of the recording, + 1; 0: not known */
	uint64_t n_told;              /* the writer's */
	bool told_missed;
} ring;

/* Switch number n has just been made. */
static void note(uint64_t n)
{
	bool may_call = !tracer_limits_own();
	int kept = errno;

	/* The kernel, which this thread may not call, would say the time: the writer does instead. */
	if (may_call)
		atomic_store(&ring.at_us[n % MOST],
			     (tracer_monotonic_ns() - recorder.clock.start_ns) / 1000 + 1);
	if (may_call && n % (MOST / 4) == 0) {
		atomic_fetch_add(&recorder.writer_word, 1);
		tracer_wake(&recorder.writer_word);
	}
	errno = kept;
}

void tracer_switch_begin(bool paused)
{
	for (unsigned i = 0; i < MOST; i++)
		atomic_store(&ring.at_us[i], 0);
	ring.n_told = 0;
	ring.told_missed = false;
	atomic_store(&recorder.n_switches, 0);
	if (paused)
		tracer_switch(true);
}

void tracer_switch(bool paused)
{
	uint64_t n = atomic_load(&recorder.n_switches);

	do {
		if ((n & 1) == paused)
			return;
	} while (!atomic_compare_exchange_weak(&recorder.n_switches, &n, n + 1));
	note(n);
}

void tracer_switch_over(void)
{
	note(atomic_fetch_add(&recorder.n_switches, 1));
}

/* So many came since the last look that their times are gone. */
static void tell_missed(void)
{
	static const char text[] =
		"recording was switched on and off so often that not each time is told";
	struct heap_record r = { .type = HEAP_REC_NOTE };

	r.text[0] = (struct heap_text){ (const uint8_t *)text, strlen(text) };
	if (!ring.told_missed)
		tracer_writer_record(&r);
	ring.told_missed = true;
}

void tracer_switch_tell(void)
{
	uint64_t n = atomic_load(&recorder.n_switches);

	if (n - ring.n_told > MOST) {
		/* Pauses as a whole. */
		ring.n_told += (n - ring.n_told - MOST + 1) & ~UINT64_C(1);
		tell_missed();
	}
	for (; ring.n_told < n; ring.n_told++) {
		uint64_t at = atomic_exchange(&ring.at_us[ring.n_told % MOST], 0);
		struct heap_record r = { .type = HEAP_REC_SWITCH };

		r.number[HEAP_TIME] = at ? at - 1 : 0;
		r.number[HEAP_SWITCH_ON] = ring.n_told & 1;
		tracer_writer_record(&r);
	}
}
