/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring of times: the n-th switch since the beginning pauses where n is even, and goes on where it is odd. */
#include "config.h"

#include "record/heap/trace/tracer_switch.h"

#include "heaptrace/heap_records.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_forbidden.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define MOST BOX_SWITCHES

static bool told_missed;

/* Switch number n has just been made. */
static void note(uint64_t n)
{
	bool may_call = !tracer_forbidden_own();
	int kept = errno;

	/* In a child that is not recorded. */
	if (!recorder.box)
		return;
	atomic_store(&recorder.box->n_switches, n + 1);
	/* The kernel, which this thread may not call, would say the time: the writer does instead. */
	if (may_call)
		atomic_store(&recorder.box->switch_us[n % MOST],
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
		atomic_store(&recorder.box->switch_us[i], 0);
	atomic_store(&recorder.box->n_switches, 0);
	atomic_store(&recorder.box->n_switches_told, 0);
	told_missed = false;
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
	if (!told_missed)
		tracer_writer_record(&r);
	told_missed = true;
}

void tracer_switch_tell(void)
{
	struct pending_state *box = recorder.box;
	uint64_t n = atomic_load(&recorder.n_switches), told = atomic_load(&box->n_switches_told);

	if (n - told > MOST) {
		/* Pauses as a whole. */
		told += (n - told - MOST + 1) & ~UINT64_C(1);
		tell_missed();
	}
	for (; told < n; told++) {
		uint64_t at = atomic_exchange(&box->switch_us[told % MOST], 0);
		struct heap_record r = { .type = HEAP_REC_SWITCH };

		r.number[HEAP_TIME] = at ? at - 1 : 0;
		r.number[HEAP_SWITCH_ON] = told & 1;
		tracer_writer_record(&r);
		atomic_store(&box->n_switches_told, told + 1);
	}
	atomic_store(&box->n_switches_told, told);
}
