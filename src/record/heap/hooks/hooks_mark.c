/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks that the program sets, and its switch of the recording; proftop.h is its side. */
#include "config.h"

#include "heaptrace/heap_records.h"
#include "record/heap/proftop.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_record.h"
#include "record/heap/trace/tracer_switch.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <string.h>

#define MOST_BYTES 1000u

/* Until it has written something, or a moment has passed. */
static void wait_for_writer(struct loop_watch *watch)
{
	uint32_t word = atomic_load_explicit(&recorder.room_word, memory_order_acquire);

	if (!tracer_thread_drain_self())
		tracer_loop_await(watch, word, 10);
}

__attribute__((visibility("default"))) void proftop_mark_now(const char *name)
{
	struct walk_start from = TRACER_CALLER();
	struct tracer_thread *t = name ? tracer_thread_enter(&from) : NULL;
	struct heap_record r = { .type = HEAP_REC_MARK };
	struct loop_watch watch = { 0 };
	int kept = errno;

	if (!t)
		return;
	r.number[HEAP_MARK_THREAD] = t->index;
	r.text[0] = (struct heap_text){ (const uint8_t *)name, strnlen(name, MOST_BYTES) };
	while (!tracer_writer_try_record(&r) && tracer_is_on())
		wait_for_writer(&watch);
	tracer_thread_leave(t);
	errno = kept;
}

__attribute__((visibility("default"))) void proftop_switch_now(int on)
{
	tracer_switch(!on);
}
