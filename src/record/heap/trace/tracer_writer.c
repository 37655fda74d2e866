/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass takes what all rings hold at its beginning: records first, then new stacks, then events. */
#include "config.h"

#include "record/heap/trace/tracer_writer.h"

#include "heaptrace/heap_events.h"
#include "record/heap/trace/decode_notes.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/short_lived.h"
#include "record/heap/trace/trace_rotate.h"
#include "record/heap/trace/tracer_blocks.h"
#include "record/heap/trace/tracer_facts.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_switch.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_throttle.h"
#include "unwind/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK_EVENTS 30000u
#define BLOCK_NODES  65536u
#define FINISH_MS    5000u
#define FORK_MS      1000u

/* Records that will be a block. */
struct record_buffer {
	struct heap_out out; /* in the box's memory */
	uint32_t n;          /* in it */
};

/* All of it but what records_lock guards belongs to whoever holds the drain lock. */
static struct writer {
	struct tracer_blocks blocks;
	struct heap_file_header head;
	struct heap_event_writer events;
	void *event_memory;              /* [heap_event_memory(BLOCK_EVENTS)] */
	uint8_t *node_memory;            /* [2][BLOCK_NODES * 10] */
	struct tracer_lock records_lock; /* of the two that follow, and of the box's records */
	struct record_buffer records[BOX_RECORD_QUEUE];
	_Atomic uint64_t n_unnoted; /* records for which there was no room, and not told yet */
	struct box_file done;       /* written so far; where and how many blocks is blocks' */
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

	atomic_fetch_add_explicit(&recorder.writer_beat, 1, memory_order_relaxed);
	if (ret == 0)
		return false;
	tell_stop(stop);
	tracer_stop(heap_stop_text((uint8_t)stop));
	return true;
}

/* What is put into the buffer being filled; with records_lock held. */
static struct record_buffer *filling(void)
{
	return &writer.records[atomic_load(&recorder.box->filling) % BOX_RECORD_QUEUE];
}

static void empty_buffer(uint32_t at)
{
	uint8_t *memory = recorder.box->record_memory + at * BOX_RECORD_BYTES;

	writer.records[at] = (struct record_buffer){ heap_out_over(memory, BOX_RECORD_BYTES), 0 };
	atomic_store(&recorder.box->record_bytes[at], 0);
}

/* With records_lock held: the next buffer is filled from now on. False: it has yet to be written. */
static bool next_buffer(void)
{
	struct pending_state *box = recorder.box;
	uint32_t next = atomic_load(&box->filling) + 1;

	if (next - atomic_load(&box->oldest) >= BOX_RECORD_QUEUE)
		return false;
	empty_buffer(next % BOX_RECORD_QUEUE);
	atomic_store(&box->filling, next);
	return true;
}

/* With records_lock held. */
static bool put_record(const struct heap_record *r)
{
	struct record_buffer *b = filling();

	if (!heap_put_record(&b->out, r)) {
		/* What does not fit an empty one fits none. */
		if (b->n == 0 || !next_buffer())
			return false;
		b = filling();
		if (!heap_put_record(&b->out, r))
			return false;
	}
	b->n++;
	atomic_store(&recorder.box->record_bytes[b - writer.records],
		     (uint32_t)heap_out_n(&b->out));
	return true;
}

bool tracer_writer_try_record(struct heap_record *r)
{
	uint64_t blocked = tracer_signals_block();
	bool done;

	if (r->number[HEAP_TIME] == 0)
		r->number[HEAP_TIME] = now_us();
	done = tracer_lock(&writer.records_lock);
	if (done) {
		done = put_record(r);
		tracer_unlock(&writer.records_lock);
	}
	tracer_signals_restore(blocked);
	return done;
}

void tracer_writer_record(struct heap_record *r)
{
	if (!tracer_writer_try_record(r))
		atomic_fetch_add(&writer.n_unnoted, 1);
}

/* With records_lock held: says how many records found no room. */
static void tell_unnoted(void)
{
	char text[] =
		"                     facts (marks, modules, names) came when there was no room for them";
	struct heap_record r = { .type = HEAP_REC_NOTE, .number = { now_us() } };
	size_t at = 20;

	uint64_t n = atomic_load(&writer.n_unnoted);

	for (uint64_t v = n; v; v /= 10)
		text[--at] = (char)('0' + v % 10);
	r.text[0] = (struct heap_text){ (const uint8_t *)text + at, sizeof(text) - 1 - at };
	if (n && put_record(&r))
		atomic_fetch_sub(&writer.n_unnoted, n);
}

/* What was pending counts, and the file is as it is now. */
static void note_done(void)
{
	struct pending_state *box = recorder.box;
	uint32_t at = !atomic_load(&box->file_at);

	writer.done.n_bytes = writer.blocks.file.n_bytes;
	writer.done.n_blocks = writer.blocks.n_blocks;
	writer.done.inode = writer.blocks.file.ino;
	box->file[at] = writer.done;
	atomic_store(&box->file_at, at);
	atomic_store(&box->pending.checksum, 0);
}

/* Writes the oldest buffer, if it is no later one than `until`; false: there is nothing of these to write. */
static bool write_buffer(uint32_t until)
{
	static const uint8_t id[] = { HEAP_COL_RECORDS };
	struct heap_block block = { .type = HEAP_BLOCK_RECORDS };
	struct pending_state *box = recorder.box;
	uint32_t oldest = atomic_load(&box->oldest);
	const struct record_buffer *b = &writer.records[oldest % BOX_RECORD_QUEUE];

	if (until - oldest >= BOX_RECORD_QUEUE)
		return false;
	if (!tracer_lock(&writer.records_lock))
		return false;
	tell_unnoted();
	block.n = b->n;
	/* Others fill the next one meanwhile. */
	if (b->n && oldest == atomic_load(&box->filling))
		next_buffer();
	tracer_unlock(&writer.records_lock);
	if (block.n == 0)
		return false;
	block.first_time = block.last_time = now_us();
	box->pending.thread = NULL;
	box->pending.oldest = oldest + 1;
	failed(tracer_blocks_write(&writer.blocks, &block, &b->out, id, 1, 0,
				   &box->pending.checksum));
	if (!tracer_lock(&writer.records_lock))
		return false;
	atomic_store(&box->oldest, oldest + 1);
	tracer_unlock(&writer.records_lock);
	note_done();
	atomic_fetch_add_explicit(&recorder.room_word, 1, memory_order_release);
	tracer_wake(&recorder.room_word);
	return true;
}

static void write_records(void)
{
	uint32_t until;

	if (!tracer_lock(&writer.records_lock))
		return;
	until = atomic_load(&recorder.box->filling);
	tracer_unlock(&writer.records_lock);
	while (write_buffer(until))
		;
}

/* Is there hardly any room left for records that can be had without writing some? */
static bool is_crowded(void)
{
	const struct record_buffer *b;
	bool crowded;

	if (!tracer_lock(&writer.records_lock))
		return false;
	b = filling();
	crowded = b->out.end - b->out.at < BOX_RECORD_BYTES / 16;
	tracer_unlock(&writer.records_lock);
	return crowded;
}

static void write_nodes(uint32_t n_nodes)
{
	static const uint8_t id[] = { HEAP_COL_PARENT, HEAP_COL_IP };

	while (writer.done.n_nodes < n_nodes && tracer_is_on()) {
		uint32_t first = (uint32_t)writer.done.n_nodes + 1, n = 0;
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
		if (failed(tracer_blocks_write(&writer.blocks, &block, column, id, 2, 0, NULL)))
			return;
		writer.done.n_nodes += n;
		note_done();
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
	ret = trace_rotate_keep(&writer.blocks, (most - HEAP_SIZE_END) / 2);
	/* Where stacks and facts alone are more than that, it ends as one that was not to be kept. */
	if (ret != -EFBIG)
		failed(ret);
}

/* Writes the events that came together, and gives the ring's words up to `tail` back. */
static void finish_block(struct tracer_thread *t, uint64_t tail)
{
	struct heap_event_writer *w = &writer.events;
	struct pending_state *box = recorder.box;
	uint32_t next = !atomic_load(&t->kept_at);

	t->kept[next] = t->taken;
	t->kept[next].tail = tail;
	if (w->n && tracer_is_on())
		make_room(w);
	box->pending.thread = t;
	box->pending.kept_at = next;
	if (w->n && tracer_is_on() && !is_large() &&
	    !failed(tracer_blocks_write(
		    &writer.blocks, &w->block, w->column, heap_event_columns, HEAP_N_EVENT_COLUMNS,
		    (uint32_t)w->addresses << HEAP_COL_ADDRESS, &box->pending.checksum))) {
		writer.done.n_events += w->block.n;
		writer.done.n_allocs += w->block.n_allocs;
		writer.done.n_frees += w->block.n_frees;
		writer.done.n_allocated += w->block.bytes;
	}
	atomic_store(&t->kept_at, next);
	note_done();
	heap_event_writer_init(w, writer.event_memory, BLOCK_EVENTS, t->index, t->taken.write_id,
			       t->taken.write_us);
	w->addresses = recorder.options.addresses;
	atomic_store_explicit(&t->tail, tail, memory_order_release);
	atomic_fetch_add_explicit(&recorder.room_word, 1, memory_order_release);
	tracer_wake(&recorder.room_word);
}

static void finish_taken(const struct tracer_taking *k, uint64_t tail)
{
	finish_block(k->arg, tail);
}

static void count_lost(const struct tracer_taking *k, uint64_t n)
{
	const struct tracer_thread *t = k->arg;

	atomic_fetch_add(&recorder.box->n_lost, n);
	tracer_writer_record(&(struct heap_record){ .type = HEAP_REC_LOST,
						    .number = { k->s->write_us, t->index, n } });
}

static void take_notes(struct tracer_thread *t, uint64_t head, bool all)
{
	uint64_t at = atomic_load_explicit(&t->tail, memory_order_relaxed);
	const struct tracer_taking k = {
		.s = &t->taken,
		.ring = t->ring,
		.clock = &recorder.clock,
		.tick_shift = recorder.tick_shift,
		.w = &writer.events,
		.finish = finish_taken,
		.lost = count_lost,
		.arg = t,
	};

	if (recorder.options.cull_ns && at != head)
		head = short_lived_mark(t, head, all);
	if (at == head)
		return;
	heap_event_writer_init(&writer.events, writer.event_memory, BLOCK_EVENTS, t->index,
			       t->taken.write_id, t->taken.write_us);
	writer.events.addresses = recorder.options.addresses;
	decode_notes(&k, at, head);
	finish_block(t, head);
}

/* Tells what was left out. The stacks that it names have been written. */
static void tell_culled(bool all)
{
	struct heap_record r;

	if (!recorder.options.cull_ns || !short_lived_is_due(all))
		return;
	while (short_lived_next(&r)) {
		if (is_crowded())
			write_records();
		tracer_writer_record(&r);
	}
}

/* Says that this is the end, and stops; `why` is for the log, unless NULL. With the drain lock held. */
static void end(enum heap_stop stop, const char *why)
{
	tell_culled(true);
	tracer_facts_usage(true);
	tracer_facts_checked();
	tracer_throttle_end();
	tracer_writer_record(&(struct heap_record){
		.type = HEAP_REC_END,
		.number = { 0, writer.done.n_events, writer.done.n_allocs, writer.done.n_frees,
			    writer.done.n_allocated, atomic_load(&recorder.box->n_lost) } });
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
	uint64_t n = atomic_exchange_explicit(&recorder.box->n_unsaid, 0, memory_order_relaxed);

	atomic_fetch_add(&recorder.box->n_lost, n);
	if (n)
		tracer_writer_record(
			&(struct heap_record){ .type = HEAP_REC_LOST, .number = { 0, 0, n } });
}

static void adjust_clock(void)
{
	struct pending_state *box = recorder.box;
	uint32_t at = !atomic_load(&box->clock_at);

	tracer_clock_adjust(&recorder.clock);
	box->clock[at] = recorder.clock;
	atomic_store(&box->clock_at, at);
}

/* One pass, with the drain lock held; all: what waits for its free is not waited for. */
static void drain(bool all)
{
	static uint64_t head[MOST_AT_ONCE]; /* belongs to the drain lock as well */
	struct tracer_thread *t, *first = atomic_load(&recorder.threads);
	uint32_t n = 0;

	adjust_clock();
	tracer_switch_tell();
	tell_unsaid();
	tracer_forbidden_tell();
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

bool tracer_writer_drain(void)
{
	if (!tracer_lock(&recorder.drain))
		return false;
	if (tracer_is_on() && !writer.finished)
		drain(false);
	tracer_unlock(&recorder.drain);
	return true;
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
	if (!tracer_lock(&recorder.drain))
		return;
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

/* Where there are other threads they may note more until they are gone. */
static void tell_exec(const char *path)
{
	struct pending_state *box = recorder.box;
	size_t n = path ? strnlen(path, sizeof(box->program) - 1) : 0;

	memcpy(box->program, path ? path : "", n);
	box->program[n] = '\0';
	atomic_store(&box->becomes, true);
	if (atomic_load(&recorder.alone))
		shared_memory_state(KEPT_FINISHED);
}

void tracer_writer_exec(const char *path)
{
	struct heap_record r = { .type = HEAP_REC_EXEC };

	if (!tracer_is_on() || !tracer_lock_within(&recorder.drain, FINISH_MS))
		return;
	if (!writer.finished) {
		r.text[0] = (struct heap_text){ (const uint8_t *)path, path ? strlen(path) : 0 };
		drain(true);
		tracer_facts_usage(true);
		tracer_writer_record(&r);
		write_records();
		tell_exec(path);
	}
	tracer_unlock(&recorder.drain);
}

void tracer_writer_gave_up(void)
{
	tell_stop(HEAP_STOP_STUCK);
}

uint32_t tracer_writer_throttle(uint32_t most_ms)
{
	struct tracer_written written;
	uint32_t ms = most_ms;

	if (!tracer_lock(&recorder.drain))
		return most_ms;
	written = (struct tracer_written){ writer.done.n_allocs, writer.done.n_allocated };
	if (tracer_is_on() && !writer.finished)
		ms = tracer_throttle_look(&written);
	tracer_unlock(&recorder.drain);
	return ms < most_ms ? ms : most_ms;
}

const char *tracer_writer_path(void)
{
	return writer.blocks.file.path;
}

dev_t tracer_writer_device(void)
{
	return writer.blocks.file.dev;
}

static bool map_all(void)
{
	if (writer.event_memory)
		return true;
	writer.event_memory = tracer_map(heap_event_memory(BLOCK_EVENTS));
	writer.node_memory = tracer_map(2 * BLOCK_NODES * 10);
	return writer.event_memory && writer.node_memory;
}

/* As before the first recording, but for the memory. */
static void renew(void)
{
	struct pending_state *box = recorder.box;

	empty_buffer(0);
	atomic_store(&box->filling, 0);
	atomic_store(&box->oldest, 0);
	writer.n_unnoted = 0;
	writer.done = (struct box_file){ 0 };
	atomic_store(&box->becomes, false);
	writer.finished = false;
	atomic_store(&box->n_lost, 0);
	atomic_store(&box->n_unsaid, 0);
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
	    (recorder.options.cull_ns && !short_lived_init()))
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
	if (syscall(SYS_getrandom, &h.run, sizeof(h.run), GRND_NONBLOCK) != (long)sizeof(h.run))
		h.run = h.start_ns;
	h.box = (uint32_t)(shared_memory_id() + 1);
	recorder.box->run = h.run;
	recorder.box->tick_shift = recorder.tick_shift;
	recorder.box->addresses = recorder.options.addresses;
	recorder.box->max_bytes = recorder.options.max_bytes;
	writer.head = h;
	heap_put_file_header(bytes, &h);
	ret = tracer_file_write(&writer.blocks.file, bytes, sizeof(bytes));
	*why = file_fault(ret);
	if (ret)
		return false;
	note_done();
	adjust_clock();
	shared_memory_name(writer.blocks.file.path);
	shared_memory_state(KEPT_IN_USE);
	tracer_facts_process();
	return true;
}
