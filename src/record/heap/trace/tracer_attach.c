/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mailbox, and what it takes to come into a running program and to leave it. */
#include "config.h"

#include "record/heap/trace/tracer_attach.h"

#include "heaptrace/heap_mailbox.h"
#include "heaptrace/heap_records.h"
#include "record/heap/hooks/got.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_switch.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Whoever attached and did not stir for so long is gone. */
#define GONE_NS UINT64_C(60000000000)

EXPORTED struct heap_mailbox proftop_mailbox = { .magic = HEAP_MAILBOX_MAGIC,
						 .bytes = sizeof(proftop_mailbox) };
EXPORTED void proftop_attach_now(const char *settings);

/* Of the recording that goes on; used by the writer. */
static struct {
	bool from_outside; /* it was begun so */
	uint32_t beat;     /* of the mailbox, when it changed last */
	uint64_t beat_ns;  /* CLOCK_MONOTONIC then */
} visit;

/* What others write at any moment. */
static uint32_t look_at(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void show(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void copy_text(char *to, const char *from, size_t room)
{
	size_t n = strlen(from);

	n = n < room ? n : room - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

void tracer_attach_tell(const char *path, const char *unseen)
{
	copy_text(proftop_mailbox.path, path, sizeof(proftop_mailbox.path));
	copy_text(proftop_mailbox.unseen, unseen, sizeof(proftop_mailbox.unseen));
	proftop_mailbox.why[0] = '\0';
	show(&proftop_mailbox.state, HEAP_BOX_RECORDS);
}

void tracer_attach_tell_why(const char *why)
{
	copy_text(proftop_mailbox.why, why, sizeof(proftop_mailbox.why));
}

/* Nothing is recorded: begins. NULL, or why not. */
static const char *come_in(const char *settings)
{
	const char *why;

	if (!real.attached && !got_is_preloaded())
		real_calls_adopt(got_original);
	if (!real_calls_ready() || !real.malloc || !real.free)
		return "it has no malloc that other code can call";
	show(&proftop_mailbox.detach, 0);
	visit.beat = look_at(&proftop_mailbox.beat);
	visit.beat_ns = tracer_monotonic_ns();
	visit.from_outside = true;
	why = tracer_begin_again(settings);
	if (why)
		return why;
	if (!tracer_loop_start()) {
		tracer_end();
		return "no thread could be started in it";
	}
	if (real.attached)
		got_patch();
	proftop_mailbox.n_attached++;
	return NULL;
}

void proftop_attach_now(const char *settings)
{
	struct tracer_tls *tls = &tracer_tls;
	uint32_t busy = tls->busy;
	int kept = errno;
	const char *why;

	tls->busy = TRACER_POOL;
	if (recorder.on && recorder.pid != getpid())
		why = "it was forked from a recorded process and has its recorder, which cannot begin again";
	else
		why = tracer_is_on() || atomic_load(&recorder.writer_runs)
			      ? "its heap is being recorded already"
			      : come_in(settings);
	if (why)
		tracer_attach_tell_why(why);
	tls->busy = busy;
	errno = kept;
}

static void mark(void)
{
	struct heap_record r = { .type = HEAP_REC_MARK };
	uint64_t start = recorder.clock.start_ns, at = proftop_mailbox.time_ns;
	const char *name = proftop_mailbox.name;

	r.number[HEAP_TIME] = at > start ? (at - start) / 1000 : 0;
	r.text[0] = (struct heap_text){ (const uint8_t *)name,
					strnlen(name, sizeof(proftop_mailbox.name)) };
	tracer_writer_record(&r);
}

static void do_asked(void)
{
	uint32_t asked = look_at(&proftop_mailbox.asked);

	if (asked == proftop_mailbox.done)
		return;
	switch ((enum heap_mailbox_verb)proftop_mailbox.verb) {
	case HEAP_SAY_MARK:
		mark();
		break;
	case HEAP_SAY_PAUSE:
		tracer_switch(true);
		break;
	case HEAP_SAY_RESUME:
		tracer_switch(false);
		break;
	}
	show(&proftop_mailbox.done, asked);
}

/* HEAP_GOES_ON: it is not over. */
static enum heap_stop is_over(void)
{
	uint64_t now = tracer_monotonic_ns();
	uint32_t beat = look_at(&proftop_mailbox.beat), seconds = recorder.options.seconds;

	if (look_at(&proftop_mailbox.detach))
		return HEAP_STOP_DETACHED;
	if (seconds && now - recorder.clock.start_ns >= seconds * UINT64_C(1000000000))
		return HEAP_STOP_TIME;
	if (!visit.from_outside || beat != visit.beat) {
		visit.beat = beat;
		visit.beat_ns = now;
	}
	return now - visit.beat_ns > GONE_NS ? HEAP_STOP_LEFT : HEAP_GOES_ON;
}

void tracer_attach_look(void)
{
	enum heap_stop over;

	do_asked();
	if (real.attached || real.by_tables)
		got_patch_new();
	over = is_over();
	if (over != HEAP_GOES_ON)
		tracer_writer_finish(over);
}

void tracer_attach_leave(void)
{
	if (real.attached)
		got_restore();
	tracer_writer_close();
	tracer_rest();
	visit.from_outside = false;
	show(&proftop_mailbox.state, HEAP_BOX_IDLE);
}
