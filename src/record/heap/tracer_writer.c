/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass takes what all rings hold at its beginning: records first, then new stacks, then events. */
#include "config.h"

#include "tracer_writer.h"

#include "arch.h"
#include "heap_events.h"
#include "tracer_blocks.h"
#include "tracer_cull.h"
#include "tracer_facts.h"
#include "tracer_memory.h"
#include "tracer_newest.h"
#include "tracer_switch.h"
#include "tracer_thread.h"
#include "tracer_throttle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BLOCK_EVENTS  30000u
#define BLOCK_NODES   65536u
#define RECORDS_BYTES (256u << 10)
#define RECORD_QUEUE  8u
#define FINISH_MS     5000u
#define FORK_MS       1000u

/* Records that will be a block. */
struct record_buffer {
	struct heap_out out; /* in record_memory */
	uint32_t n;          /* in it */
};

/* All of it but what records_lock guards belongs to whoever holds the drain lock. */
static struct writer {
	struct tracer_blocks blocks;
	struct heap_file_header head;
	struct heap_event_writer events;
	void *event_memory;              /* [heap_event_memory(BLOCK_EVENTS)] */
	uint8_t *node_memory;            /* [2][BLOCK_NODES * 10] */
	uint8_t *record_memory;          /* [RECORD_QUEUE][RECORDS_BYTES] */
	struct tracer_lock records_lock; /* of the five that follow */
	struct record_buffer records[RECORD_QUEUE];
	uint32_t filling; /* number of the buffer that records go into, modulo RECORD_QUEUE */
	uint32_t oldest;  /* the one to be written next; those from it to `filling` are not empty */
	uint64_t n_unnoted; /* records for which there was no room, and not told yet */
	uint32_t n_nodes;   /* of the trie that were written */
	uint64_t n_events, n_allocs, n_frees, n_bytes, n_lost; /* written so far */
	bool finished;
} writer;

/* Not by ticks: what they are worth is not known at the beginning. */
static uint64_t now_us(void)
{
	return (tracer_monotonic_ns() - recorder.clock.start_ns) / 1000;
}

/* Says in the head of the file why recording stops. The first reason is the one: what follows comes of it. */
static void tell_stop(enum heap_stop stop)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];

	if (writer.head.stop != HEAP_GOES_ON)
		return;
	writer.head.stop = (uint8_t)stop;
	heap_put_file_header(bytes, &writer.head);
	tracer_file_write_head(&writer.blocks.file, bytes, sizeof(bytes));
}

static bool failed(int ret)
{
	enum heap_stop stop = ret == -ENOSPC   ? HEAP_STOP_DISK_FULL
			      : ret == -EDQUOT ? HEAP_STOP_QUOTA
			      : ret == -EFBIG  ? HEAP_STOP_FILE_LIMIT
			      : ret == -ESTALE ? HEAP_STOP_REPLACED
					       : HEAP_STOP_WRITE;

	if (ret == 0)
		return false;
	tell_stop(stop);
	tracer_stop(heap_stop_text((uint8_t)stop));
	return true;
}

/* With records_lock held: the next buffer is filled from now on. False: it has yet to be written. */
static bool next_buffer(void)
{
	uint32_t at = (writer.filling + 1) % RECORD_QUEUE;

	if (writer.filling + 1 - writer.oldest >= RECORD_QUEUE)
		return false;
	writer.filling++;
	writer.records[at].n = 0;
	writer.records[at].out = heap_out_over(writer.record_memory + at * RECORDS_BYTES,
					       RECORDS_BYTES);
	return true;
}

/* With records_lock held. */
static bool put_record(const struct heap_record *r)
{
	struct record_buffer *b = &writer.records[writer.filling % RECORD_QUEUE];

	if (!heap_put_record(&b->out, r)) {
		/* What does not fit an empty one fits none. */
		if (b->n == 0 || !next_buffer())
			return false;
		b = &writer.records[writer.filling % RECORD_QUEUE];
		if (!heap_put_record(&b->out, r))
			return false;
	}
	b->n++;
	return true;
}

bool tracer_writer_try_record(struct heap_record *r)
{
	uint64_t blocked = tracer_signals_block();
	bool done;

	if (r->number[HEAP_TIME] == 0)
		r->number[HEAP_TIME] = now_us();
	tracer_lock(&writer.records_lock);
	done = put_record(r);
	tracer_unlock(&writer.records_lock);
	tracer_signals_restore(blocked);
	return done;
}

void tracer_writer_record(struct heap_record *r)
{
	if (tracer_writer_try_record(r))
		return;
	tracer_lock(&writer.records_lock);
	writer.n_unnoted++;
	tracer_unlock(&writer.records_lock);
}

/* With records_lock held: says how many records found no room. */
static void tell_unnoted(void)
{
	char text[] =
		"                     facts (marks, modules, names) came when there was no room for them";
	struct heap_record r = { .type = HEAP_REC_NOTE, .number = { now_us() } };
	size_t at = 20;

	for (uint64_t v = writer.n_unnoted; v; v /= 10)
		text[--at] = (char)('0' + v % 10);
	r.text[0] = (struct heap_text){ (const uint8_t *)text + at, sizeof(text) - 1 - at };
	if (writer.n_unnoted && put_record(&r))
		writer.n_unnoted = 0;
}

/* Writes the oldest buffer, if it is no later one than `until`; false: there is nothing of these to write. */
static bool write_buffer(uint32_t until)
{
	static const uint8_t id[] = { HEAP_COL_RECORDS };
	struct heap_block block = { .type = HEAP_BLOCK_RECORDS };
	const struct record_buffer *b = &writer.records[writer.oldest % RECORD_QUEUE];

	if (until - writer.oldest >= RECORD_QUEUE)
		return false;
	tracer_lock(&writer.records_lock);
	tell_unnoted();
	block.n = b->n;
	/* Others fill the next one meanwhile. */
	if (b->n && writer.oldest == writer.filling)
		next_buffer();
	tracer_unlock(&writer.records_lock);
	if (block.n == 0)
		return false;
	block.first_time = block.last_time = now_us();
	failed(tracer_blocks_write(&writer.blocks, &block, &b->out, id, 1, 0));
	tracer_lock(&writer.records_lock);
	writer.oldest++;
	tracer_unlock(&writer.records_lock);
	atomic_fetch_add_explicit(&recorder.room_word, 1, memory_order_release);
	tracer_wake(&recorder.room_word);
	return true;
}

static void write_records(void)
{
	uint32_t until;

	tracer_lock(&writer.records_lock);
	until = writer.filling;
	tracer_unlock(&writer.records_lock);
	while (write_buffer(until))
		;
}

/* Is there hardly any room left for records that can be had without writing some? */
static bool is_crowded(void)
{
	const struct record_buffer *b;
	bool crowded;

	tracer_lock(&writer.records_lock);
	b = &writer.records[writer.filling % RECORD_QUEUE];
	crowded = b->out.end - b->out.at < RECORDS_BYTES / 16;
	tracer_unlock(&writer.records_lock);
	return crowded;
}

static void write_nodes(uint32_t n_nodes)
{
	static const uint8_t id[] = { HEAP_COL_PARENT, HEAP_COL_IP };

	while (writer.n_nodes < n_nodes && tracer_is_on()) {
		uint32_t first = writer.n_nodes + 1, n = 0;
		struct heap_node_state s = { .id = first };
		struct heap_block block = { .type = HEAP_BLOCK_STACKS, .first_id = first };
		struct heap_out column[2] = {
			heap_out_over(writer.node_memory, BLOCK_NODES * 10),
			heap_out_over(writer.node_memory + BLOCK_NODES * 10, BLOCK_NODES * 10),
		};

		for (; first + n <= n_nodes; n++) {
			const struct trie_node *t = stack_trie_node(&recorder.trie, first + n);
			struct heap_node node = { t->ip >> 1, t->parent, t->ip & 1 };

			if (!heap_put_node(&column[0], &column[1], &s, &node))
				break;
		}
		block.n = n;
		block.first_time = block.last_time = now_us();
		if (failed(tracer_blocks_write(&writer.blocks, &block, column, id, 2, 0)))
			return;
		writer.n_nodes += n;
	}
}

/* Would the trace be larger than it may be, with so many bytes and its end? */
static bool is_large_with(uint64_t bytes)
{
	uint64_t most = recorder.options.max_bytes, more = bytes + HEAP_SIZE_END;

	if (!most || writer.blocks.file.n_bytes + more <= most)
		return false;
	return !recorder.options.keep_unread || tracer_file_room(&writer.blocks.file) + more > most;
}

/* May no more events be written? */
static bool is_large(void)
{
	return is_large_with(0);
}

/* Drops the oldest events, if that is wanted, where others would not fit. */
static void make_room(const struct heap_event_writer *w)
{
	uint64_t bytes = heap_block_head(HEAP_N_EVENT_COLUMNS), most = recorder.options.max_bytes;
	int ret;

	for (unsigned i = 0; w && i < HEAP_N_EVENT_COLUMNS; i++)
		bytes += heap_out_n(&w->column[i]);
	if (!recorder.options.keep_newest || !is_large_with(bytes))
		return;
	/* To half of it, so that it is not often. */
	ret = tracer_newest_keep(&writer.blocks, (most - HEAP_SIZE_END) / 2);
	/* Where stacks and facts alone are more than that, it ends as one that was not to be kept. */
	if (ret != -EFBIG)
		failed(ret);
}

/* Writes the events that came together, and gives the ring's words up to `tail` back. */
static void finish_block(struct tracer_thread *t, uint64_t tail)
{
	static const uint8_t id[] = { 0,
				      HEAP_COL_OP,
				      HEAP_COL_TIME,
				      HEAP_COL_SIZE,
				      HEAP_COL_STACK,
				      HEAP_COL_REF,
				      HEAP_COL_ADDRESS,
				      HEAP_COL_LOOSE,
				      HEAP_COL_RANGE,
				      HEAP_COL_EARLY };
	struct heap_event_writer *w = &writer.events;

	if (w->n && tracer_is_on())
		make_room(w);
	if (w->n && tracer_is_on() && !is_large() &&
	    !failed(tracer_blocks_write(&writer.blocks, &w->block, w->column, id,
					HEAP_N_EVENT_COLUMNS, 1u << HEAP_COL_ADDRESS))) {
		writer.n_events += w->block.n;
		writer.n_allocs += w->block.n_allocs;
		writer.n_frees += w->block.n_frees;
		writer.n_bytes += w->block.bytes;
	}
	heap_event_writer_init(w, writer.event_memory, BLOCK_EVENTS, t->index, t->write_id,
			       t->write_us);
	atomic_store_explicit(&t->tail, tail, memory_order_release);
	atomic_fetch_add_explicit(&recorder.room_word, 1, memory_order_release);
	tracer_wake(&recorder.room_word);
}

static uint64_t note_us(struct tracer_thread *t, uint64_t first)
{
	uint64_t us;

	t->write_ticks += (uint32_t)(first >> 32) - (uint32_t)t->write_ticks;
	us = tracer_clock_us(&recorder.clock, t->write_ticks << recorder.tick_shift);
	/* What a tick is worth is known a little better each time. */
	if (us > t->write_us)
		t->write_us = us;
	return t->write_us;
}

/* How long before the last event a realloc began. */
static uint64_t early_us(const struct tracer_thread *t, uint64_t ticks)
{
	uint64_t us = tracer_clock_us(&recorder.clock, ticks << recorder.tick_shift);

	return us < t->write_us ? t->write_us - us : 0;
}

static void count_lost(struct tracer_thread *t, uint64_t n)
{
	writer.n_lost += n;
	tracer_writer_record(&(struct heap_record){ .type = HEAP_REC_LOST,
						    .number = { t->write_us, t->index, n } });
}

/* The event that a note at `note` stands for; returns the words of the note. */
static unsigned read_event(struct tracer_thread *t, const uint64_t *note, struct heap_event *e)
{
	uint64_t operand = note[1] & NOTE_OPERAND;

	*e = (struct heap_event){ .time = note_us(t, note[0]), .stack = (uint32_t)note[0] };
	e->op = (uint8_t)(note[1] >> NOTE_OP_SHIFT);
	e->kind = note[1] >> NOTE_KIND_SHIFT & 3;
	switch ((enum heap_op)e->op) {
	case HEAP_FREE:
		e->id = operand;
		return 2;
	case HEAP_FREE_ADDRESS:
		e->old_address = operand;
		return 2;
	case HEAP_EVICT:
		e->id = operand;
		e->address = note[2];
		return 3;
	case HEAP_ALLOC:
		e->size = operand;
		e->address = note[2];
		return 3;
	case HEAP_REALLOC:
	case HEAP_REALLOC_ADDRESS:
		e->size = operand;
		e->address = note[2];
		e->old_id = e->old_address = note[3];
		e->early = early_us(t, note[4]);
		return 5;
	case HEAP_RANGE:
		e->size = operand;
		e->address = note[2];
		e->old_address = note[3];
		e->old_size = note[4];
		return 5;
	case HEAP_GAP:
		break;
	}
	return 2;
}

/* Adds e to the block, whose notes end before word `at`; a block that is full is written. */
static void write_event(struct tracer_thread *t, const struct heap_event *e, uint64_t at)
{
	if (!heap_write_event(&writer.events, e)) {
		finish_block(t, at);
		heap_write_event(&writer.events, e);
	}
	t->write_id = writer.events.state.next_id;
}

/*
 * Says which ids are nobody's, before what comes after their allocations. A free comes after none of them but after a
 * free that was left out all the same: then that is said by a gap of nothing, as a block that is freed next
 * after it was made is a temporary one.
 */
static void tell_gap(struct tracer_thread *t, uint64_t at, uint64_t op)
{
	struct heap_event e = { .op = HEAP_GAP, .time = t->write_us, .size = t->n_culled };
	bool tell = t->n_culled || (t->left_free && op == HEAP_FREE);

	t->n_culled = 0;
	t->left_free = false;
	if (tell)
		write_event(t, &e, at);
}

/* Takes the note at word `at` of the ring; returns how many words it has. */
static unsigned take_note(struct tracer_thread *t, uint64_t at)
{
	const uint64_t *note = &t->ring[at & (RING_WORDS - 1)];
	uint64_t last = RING_WORDS - 1 - (at & (RING_WORDS - 1));
	uint64_t op = last ? note[1] >> NOTE_OP_SHIFT : NOTE_PAD;
	struct heap_event e;
	unsigned n;

	if (op == NOTE_PAD)
		return (unsigned)last + 1;
	if (op == NOTE_CULLED || op == NOTE_CULLED_FREE) {
		note_us(t, note[0]);
		t->n_culled += op == NOTE_CULLED;
		t->left_free |= op == NOTE_CULLED_FREE;
		return tracer_note_words(note);
	}
	if (op == NOTE_CHUNK) {
		tell_gap(t, at, op);
		t->write_id = note[1] & NOTE_OPERAND;
		finish_block(t, at + 2);
		return 2;
	}
	if (op == NOTE_TIME) {
		t->write_ticks = note[1] & NOTE_OPERAND;
		return 2;
	}
	if (op == NOTE_LOST) {
		count_lost(t, note[1] & NOTE_OPERAND);
		return 2;
	}
	tell_gap(t, at, op);
	n = read_event(t, note, &e);
	write_event(t, &e, at);
	return n;
}

static void take_notes(struct tracer_thread *t, uint64_t head, bool all)
{
	uint64_t at = atomic_load_explicit(&t->tail, memory_order_relaxed);

	if (recorder.options.cull_ns && at != head)
		head = tracer_cull_mark(t, head, all);
	if (at == head)
		return;
	heap_event_writer_init(&writer.events, writer.event_memory, BLOCK_EVENTS, t->index,
			       t->write_id, t->write_us);
	while (at < head)
		at += take_note(t, at);
	finish_block(t, head);
}

/* Tells what was left out. The stacks that it names have been written. */
static void tell_culled(bool all)
{
	struct heap_record r;

	if (!recorder.options.cull_ns || !tracer_cull_is_due(all))
		return;
	while (tracer_cull_next(&r)) {
		if (is_crowded())
			write_records();
		tracer_writer_record(&r);
	}
}

/* Says that this is the end, and stops; `why` is for the log, unless NULL. With the drain lock held. */
static void end(enum heap_stop stop, const char *why)
{
	tell_culled(true);
	tracer_facts_usage();
	tracer_facts_checked();
	tracer_writer_record(&(struct heap_record){ .type = HEAP_REC_END,
						    .number = { 0, writer.n_events, writer.n_allocs,
								writer.n_frees, writer.n_bytes,
								writer.n_lost } });
	write_records();
	writer.finished = true;
	tell_stop(stop);
	tracer_stop(why);
}

/* Would the trace become larger than it may? Then it ends here. */
static bool ends_for_size(void)
{
	if (tracer_is_on())
		make_room(NULL);
	if (!is_large() || !tracer_is_on())
		return false;
	end(HEAP_STOP_SIZE, heap_stop_text(HEAP_STOP_SIZE));
	return true;
}

#define MOST_AT_ONCE 4096u

/* Tells of events lost by threads for which there was no memory. */
static void tell_unsaid(void)
{
	uint64_t n = atomic_exchange_explicit(&recorder.n_unsaid, 0, memory_order_relaxed);

	writer.n_lost += n;
	if (n)
		tracer_writer_record(
			&(struct heap_record){ .type = HEAP_REC_LOST, .number = { 0, 0, n } });
}

/* One pass, with the drain lock held; all: what waits for its free is not waited for. */
static void drain(bool all)
{
	static uint64_t head[MOST_AT_ONCE]; /* belongs to the drain lock as well */
	struct tracer_thread *t, *first = atomic_load(&recorder.threads);
	uint32_t n = 0;

	tracer_clock_adjust(&recorder.clock);
	tracer_switch_tell();
	tell_unsaid();
	tracer_limits_tell();
	for (t = first; t && n < MOST_AT_ONCE; t = t->next)
		head[n++] = atomic_load_explicit(&t->head, memory_order_acquire);
	n = 0;
	for (t = first; t && n < MOST_AT_ONCE; t = t->next, n++)
		if (!t->announced && head[n] != atomic_load(&t->tail))
			tracer_facts_thread(t);
	write_records();
	write_nodes(atomic_load_explicit(&recorder.trie.n_nodes, memory_order_acquire));
	n = 0;
	for (t = first; t && n < MOST_AT_ONCE && !ends_for_size(); t = t->next)
		take_notes(t, head[n++], all);
	if (tracer_is_on())
		tell_culled(all);
}

void tracer_writer_drain(void)
{
	tracer_lock(&recorder.drain);
	if (tracer_is_on() && !writer.finished)
		drain(false);
	tracer_unlock(&recorder.drain);
}

void tracer_writer_end_thread(struct tracer_thread *t)
{
	tracer_writer_record(
		&(struct heap_record){ .type = HEAP_REC_THREAD_END, .number = { 0, t->index } });
	t->announced = false;
	t->name[0] = '\0';
	atomic_store(&t->state, THREAD_FREE);
}

void tracer_writer_finish(enum heap_stop stop)
{
	if (!tracer_is_on() || !tracer_lock_within(&recorder.drain, FINISH_MS))
		return;
	if (!writer.finished && tracer_is_on()) {
		drain(true);
		if (tracer_is_on())
			end(stop, NULL);
	}
	tracer_unlock(&recorder.drain);
}

void tracer_writer_close(void)
{
	tracer_lock(&recorder.drain);
	tracer_file_close(&writer.blocks.file);
	tracer_unlock(&recorder.drain);
}

bool tracer_writer_hold(void)
{
	return tracer_lock_within(&writer.records_lock, FORK_MS);
}

void tracer_writer_release(void)
{
	tracer_unlock(&writer.records_lock);
}

void tracer_writer_forget(void)
{
	tracer_file_close(&writer.blocks.file);
	atomic_store(&recorder.writer_runs, false);
	atomic_store(&recorder.quit, false);
	atomic_store(&recorder.n_unsaid, 0);
}

void tracer_writer_flush(void)
{
	if (!tracer_lock_within(&recorder.drain, FINISH_MS))
		return;
	if (tracer_is_on() && !writer.finished) {
		drain(true);
		write_records();
	}
	tracer_unlock(&recorder.drain);
}

void tracer_writer_exec(const char *path)
{
	struct heap_record r = { .type = HEAP_REC_EXEC };

	if (!tracer_is_on() || !tracer_lock_within(&recorder.drain, FINISH_MS))
		return;
	if (!writer.finished) {
		r.text[0] = (struct heap_text){ (const uint8_t *)path, path ? strlen(path) : 0 };
		drain(true);
		tracer_facts_usage();
		tracer_writer_record(&r);
		write_records();
	}
	tracer_unlock(&recorder.drain);
}

uint32_t tracer_writer_throttle(uint32_t most_ms)
{
	struct tracer_written written;
	uint32_t ms = most_ms;

	tracer_lock(&recorder.drain);
	written = (struct tracer_written){ writer.n_allocs, writer.n_bytes };
	if (tracer_is_on() && !writer.finished)
		ms = tracer_throttle_look(&written);
	tracer_unlock(&recorder.drain);
	return ms < most_ms ? ms : most_ms;
}

const char *tracer_writer_path(void)
{
	return writer.blocks.file.path;
}

static bool map_all(void)
{
	if (writer.record_memory)
		return true;
	writer.event_memory = tracer_map(heap_event_memory(BLOCK_EVENTS));
	writer.node_memory = tracer_map(2 * BLOCK_NODES * 10);
	writer.record_memory = tracer_map(RECORD_QUEUE * RECORDS_BYTES);
	if (!writer.event_memory || !writer.node_memory || !writer.record_memory)
		return false;
	return true;
}

/* As before the first recording, but for the memory. */
static void renew(void)
{
	writer.records[0] =
		(struct record_buffer){ .out = heap_out_over(writer.record_memory, RECORDS_BYTES) };
	writer.filling = writer.oldest = writer.n_nodes = 0;
	writer.n_unnoted = 0;
	writer.n_events = writer.n_allocs = writer.n_frees = writer.n_bytes = writer.n_lost = 0;
	writer.finished = false;
	writer.blocks.n_blocks = 0;
	writer.blocks.file.n_bytes = 0;
}

/* Other libcs have none. */
#pragma weak strerrordesc_np

/*
 * "PATH: No such file or directory", good until the next one; NULL: all is well. Not by strerror, which takes the lock of
 * locales: the program may hold it, as it allocates in newlocale.
 */
static const char *file_fault(int ret)
{
	static char text[sizeof(writer.blocks.file.path) + 128];
	const char *why = strerrordesc_np && ret ? strerrordesc_np(-ret) : NULL;

	if (!ret)
		return NULL;
	if (why)
		snprintf(text, sizeof(text), "%s: %s", writer.blocks.file.path, why);
	else
		snprintf(text, sizeof(text), "%s: error %d", writer.blocks.file.path, -ret);
	return text;
}

bool tracer_writer_init(const char **why)
{
	struct heap_file_header h = { .version = HEAP_FILE_NO_GAPS, .unit_ns = 1000 };
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	int ret;

	*why = "no memory";
	if (!map_all() || (!writer.blocks.packer && tracer_blocks_init(&writer.blocks)) ||
	    (recorder.options.cull_ns && !tracer_cull_init()))
		return false;
	renew();
	ret = tracer_file_make(&writer.blocks.file, &recorder.options);
	*why = file_fault(ret);
	if (ret)
		return false;
	h.start_mono = recorder.clock.start_ns;
	h.start_ns = tracer_clock_ns(CLOCK_REALTIME) - (tracer_monotonic_ns() - h.start_mono);
	if (recorder.options.cull_ns)
		h.version = HEAP_FILE_VERSION;
	h.pid = (uint32_t)recorder.pid;
	h.arch = UNWIND_HERE == UNWIND_AARCH64 ? HEAP_AARCH64 : HEAP_X86_64;
	h.id_chunk_bits = ID_CHUNK_BITS;
	h.spent = recorder.options.keep_unread;
	if (getrandom(&h.run, sizeof(h.run), GRND_NONBLOCK) != sizeof(h.run))
		h.run = h.start_ns;
	writer.head = h;
	heap_put_file_header(bytes, &h);
	ret = tracer_file_write(&writer.blocks.file, bytes, sizeof(bytes));
	*why = file_fault(ret);
	if (ret)
		return false;
	tracer_facts_process();
	return true;
}
