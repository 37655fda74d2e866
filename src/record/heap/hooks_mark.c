/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks that the program sets, and its switch of the recording; proftop.h is its side. */
#include "config.h"

#include "heap_records.h"
#include "proftop.h"
#include "tracer_thread.h"
#include "tracer_writer.h"

#include <errno.h>
#include <string.h>

#define MOST_BYTES 1000u

__attribute__((visibility("default"))) void proftop_mark_now(const char *name)
{
	struct tracer_thread *t = name ? tracer_thread_enter() : NULL;
	struct heap_record r = { .type = HEAP_REC_MARK };
	int kept = errno;

	if (!t)
		return;
	r.number[HEAP_MARK_THREAD] = t->index;
	r.text[0] = (struct heap_text){ (const uint8_t *)name, strnlen(name, MOST_BYTES) };
	tracer_writer_record(&r);
	tracer_thread_leave();
	errno = kept;
}

__attribute__((visibility("default"))) void proftop_switch_now(int on)
{
	atomic_store(&recorder.paused, !on);
}
