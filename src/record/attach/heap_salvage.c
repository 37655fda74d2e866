/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace's end is found, what the memory has beyond it becomes blocks, and then the memory goes. The process may have written
 * anywhere before it died: nothing of what it left is taken at its word.
 */
#include "config.h"

#include "record/attach/heap_salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "heaptrace/heap_events.h"
#include "heaptrace/heap_records.h"
#include "record/heap/trace/decode_notes.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/short_lived.h"
#include "record/heap/trace/tracer.h"

#define BLOCK_EVENTS 30000u
#define BLOCK_NODES  65536u
#define NODE_BYTES   20u /* of a node in its columns, at most */
#define WORTH_IT     48u /* bytes below which packing is not tried */

/* A segment as we have it. */
struct part {
	uint64_t address, bytes; /* where the process had it */
	uint8_t *at;
	int id;
};

struct salvage {
	const char *path;
	int fd;
	struct heap_file_header head;
	uint64_t size; /* of the file */
	uint64_t disk; /* bytes of it that are on the disk */
	struct part part[KEPT_SEGMENTS];
	uint32_t n_parts;
	struct pending_state *box; /* in part[0] */
	struct tracer_clock clock;
	struct box_file file; /* as it is by now */
	bool was_pending;     /* the block that was being written is in the file */
	uint64_t last_us;     /* of the newest event */
	uint64_t n_lost;
	uint8_t *block; /* [HEAP_MAX_BLOCK] */
	void *memory;   /* of events, nodes or records; large enough for each */
	struct heap_out records;
	uint32_t n_records; /* in it */
	struct heap_event_writer events;
	const struct tracer_thread *thread; /* whose events */
	bool is_full; /* the trace may not become larger, and something did not fit */
	int ret;      /* the first failure */
	struct err *e;
};

static void fail(struct salvage *s, int code, const char *what)
{
	if (!s->ret)
		s->ret = err_set(
			s->e, code,
			"%s: what its program noted before it was killed is still in memory, and cannot be added: %s",
			s->path, what);
}

/* What the process had at an address; NULL: it is not in memory that was kept. */
static void *reach(const struct salvage *s, const volatile void *at, uint64_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)at;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct part *p = &s->part[i];

		if (address >= p->address && address - p->address < p->bytes &&
		    bytes <= p->bytes - (address - p->address) && address % 8 == 0)
			return p->at + (address - p->address);
	}
	return NULL;
}

/* Is the process there, beyond being waited for? */
static bool is_alive(pid_t pid)
{
	char path[64], text[512], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && !strchr("ZXx", state[2]);
}

static struct kept_head *attach(struct salvage *s, int id)
{
	struct shmid_ds ds;
	struct kept_head *h;

	if (s->n_parts == KEPT_SEGMENTS || shmctl(id, IPC_STAT, &ds) ||
	    ds.shm_segsz < KEPT_HEAD + sizeof(struct pending_state))
		return NULL;
	h = shmat(id, NULL, 0);
	if (h == (void *)-1)
		return NULL;
	s->part[s->n_parts++] =
		(struct part){ .bytes = ds.shm_segsz, .at = (uint8_t *)h, .id = id };
	return h;
}

/* The other segments of the set. */
static void attach_others(struct salvage *s, const struct kept_head *first)
{
	uint32_t n = atomic_load(&first->n_segments);

	s->part[0].address = first->segment[0].address;
	for (uint32_t i = 1; i < n && i < KEPT_SEGMENTS; i++) {
		const struct kept_head *h = attach(s, first->segment[i].id);

		if (!h)
			continue;
		s->part[s->n_parts - 1].address = first->segment[i].address;
		if (h->magic != KEPT_MAGIC || h->set != first->set) {
			shmdt(h);
			s->n_parts--;
		}
	}
}

static void let_go(struct salvage *s, bool remove)
{
	for (uint32_t i = s->n_parts; i-- > 0;) {
		if (remove)
			shmctl(s->part[i].id, IPC_RMID, NULL);
		shmdt(s->part[i].at);
	}
	s->n_parts = 0;
}

/* The set of the trace, of a process that is gone. False: there is none with anything in it. */
static bool find_box(struct salvage *s)
{
	int id = (int)s->head.box - 1;
	struct kept_head *first;
	struct shmid_ds ds;

	if (s->head.box == 0)
		return false;
	if (shmctl(id, IPC_STAT, &ds)) {
		if (errno == EACCES && s->head.stop == HEAP_GOES_ON)
			fail(s, -EACCES, "it belongs to another user");
		return false;
	}
	if (ds.shm_nattch > 0 && is_alive(ds.shm_cpid))
		return false;
	first = attach(s, id);
	if (!first)
		return false;
	s->box = (struct pending_state *)(void *)(s->part[0].at + KEPT_HEAD);
	if (first->magic != KEPT_MAGIC || first->first != id)
		return false;
	attach_others(s, first);
	if (atomic_load(&first->state) != KEPT_IN_USE) {
		let_go(s, true);
		return false;
	}
	if (s->box->layout != box_layout()) {
		fail(s, -EPROTO, "another version of proftop recorded it");
		return false;
	}
	return s->box->run == s->head.run;
}

static bool is_sound(const struct tracer_clock *c)
{
	return c->n_pieces > 0 && c->n_pieces <= CLOCK_PIECES && isfinite(c->ns_per_tick) &&
	       fabs(c->ns_per_tick) < 1e6 && fabs(c->seen_ns) < 1e18;
}

/* Ours and the program's counter are one, and so are the clocks: what a tick is worth is known better by now. */
static void set_clock(struct salvage *s)
{
	s->clock = s->box->clock[atomic_load(&s->box->clock_at) & 1];
	if (!is_sound(&s->clock))
		tracer_clock_init(&s->clock);
	if (atomic_load(&s->clock.counter))
		tracer_clock_adjust(&s->clock);
}

/* Adds what a block of the file holds to what is known of it. */
static void count_block(struct salvage *s, const struct heap_block *b)
{
	struct box_file *f = &s->file;

	f->n_bytes += b->size;
	f->n_blocks = b->number + 1;
	if (b->type == HEAP_BLOCK_STACKS)
		f->n_nodes = b->first_id + b->n - 1;
	if (b->type == HEAP_BLOCK_EVENTS || b->type == HEAP_BLOCK_SKIPPED) {
		f->n_events += b->n;
		f->n_allocs += b->n_allocs;
		f->n_frees += b->n_frees;
		f->n_allocated += b->bytes;
	}
	if (b->last_time > s->last_us)
		s->last_us = b->last_time;
}

/*
 * Steps over the blocks that are in the file: from where the process knew it to be whole, or from the beginning where it had just been
 * written anew. False: it cannot be read.
 */
static bool find_end(struct salvage *s, uint64_t inode)
{
	struct box_file f = s->box->file[atomic_load(&s->box->file_at) & 1];
	uint64_t pending = atomic_load(&s->box->pending.checksum);
	struct heap_block b;
	size_t need;

	s->file = (struct box_file){ .n_bytes = HEAP_FILE_HEADER_SIZE };
	if (f.inode == inode && f.n_bytes <= s->size && f.n_bytes >= HEAP_FILE_HEADER_SIZE)
		s->file = f;
	while (s->file.n_bytes < s->size) {
		uint64_t left = s->size - s->file.n_bytes;
		size_t n = left < HEAP_MAX_BLOCK ? (size_t)left : HEAP_MAX_BLOCK;
		enum heap_fault fault;

		if (pread(s->fd, s->block, n, (off_t)s->file.n_bytes) != (ssize_t)n)
			return false;
		fault = heap_take_block(s->block, n, true, &b, &need);
		if (fault != HEAP_OK && fault != HEAP_CHECKSUM)
			break;
		if (fault == HEAP_CHECKSUM && s->file.n_bytes + b.size >= s->size)
			break;
		count_block(s, &b);
		s->was_pending |= fault == HEAP_OK && pending != 0 &&
				  heap_block_checksum(s->block) == pending;
	}
	return true;
}

/* May the trace have so many bytes more? */
static bool has_room(struct salvage *s, uint64_t bytes)
{
	uint64_t most = s->box->max_bytes, had = s->head.spent ? s->disk : s->file.n_bytes;

	if (most && had + bytes > most)
		s->is_full = true;
	return !s->is_full;
}

static size_t pack(struct heap_column *c, const struct heap_out *from, uint8_t *to, size_t room)
{
	size_t n = heap_out_n(from), packed;

	*c = (struct heap_column){ .n_raw = (uint32_t)n, .n_stored = (uint32_t)n };
	packed = n >= WORTH_IT ? ZSTD_compress(to, room, from->begin, n, 1) : n;
	if (n >= WORTH_IT && !ZSTD_isError(packed) && packed < n) {
		c->n_stored = (uint32_t)packed;
		c->codec = HEAP_ZSTD;
	} else if (n && n <= room) {
		memcpy(to, from->begin, n);
	}
	return c->n_stored;
}

/* Appends a block of the columns that are not empty, and of the address column of events. */
static void append(struct salvage *s, struct heap_block *b, const struct heap_out *column,
		   const uint8_t *id, unsigned n)
{
	unsigned n_columns = 0;
	uint8_t *to;

	for (unsigned i = 0; i < n; i++)
		n_columns += heap_out_n(&column[i]) ||
			     (id[i] == HEAP_COL_ADDRESS && s->box->addresses);
	to = s->block + heap_block_head(n_columns);
	b->n_columns = 0;
	b->number = s->file.n_blocks;
	for (unsigned i = 0; i < n; i++) {
		struct heap_column *c = &b->column[b->n_columns];

		if (!heap_out_n(&column[i]) && !(id[i] == HEAP_COL_ADDRESS && s->box->addresses))
			continue;
		to += pack(c, &column[i], to, (size_t)(s->block + HEAP_MAX_BLOCK - to));
		c->id = id[i];
		b->n_columns++;
	}
	if (s->ret || heap_seal_block(s->block, b) == 0 || !has_room(s, b->size))
		return;
	for (size_t done = 0; done < b->size;) {
		ssize_t got = pwrite(s->fd, s->block + done, b->size - done,
				     (off_t)(s->file.n_bytes + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			fail(s, got < 0 ? -errno : -ENOSPC, strerror(got < 0 ? errno : ENOSPC));
			return;
		}
		done += (size_t)got;
	}
	count_block(s, b);
}

static void write_records(struct salvage *s, const struct heap_out *from, uint32_t n)
{
	static const uint8_t id[] = { HEAP_COL_RECORDS };
	struct heap_block b = { .type = HEAP_BLOCK_RECORDS, .n = n };

	b.first_time = b.last_time = s->last_us;
	if (n)
		append(s, &b, from, id, 1);
}

/* Writes the records that came together. */
static void flush_records(struct salvage *s)
{
	write_records(s, &s->records, s->n_records);
	s->records.at = s->records.begin;
	s->n_records = 0;
}

static void put_record(struct salvage *s, struct heap_record *r)
{
	if (r->number[HEAP_TIME] == 0)
		r->number[HEAP_TIME] = s->last_us;
	if (!heap_put_record(&s->records, r)) {
		flush_records(s);
		if (!heap_put_record(&s->records, r))
			return;
	}
	s->n_records++;
}

static bool is_told(const struct heap_record *r, const struct cull_sum *c)
{
	return r->type == HEAP_REC_CULLED && r->number[HEAP_CULLED_STACK] == c->stack &&
	       r->number[HEAP_CULLED_THREAD] == c->thread &&
	       r->number[HEAP_CULLED_COUNT] == c->calls && r->number[HEAP_CULLED_BYTES] == c->bytes;
}

/* Records that were put and not written. told: unless NULL, a sum that one of them may tell; it is emptied then. */
static void add_records(struct salvage *s, struct cull_sum *told)
{
	uint32_t at = atomic_load(&s->box->oldest), end = atomic_load(&s->box->filling);

	if (s->was_pending && !s->box->pending.thread)
		at = s->box->pending.oldest;
	for (; end - at < BOX_RECORD_QUEUE; at++) {
		uint32_t i = at % BOX_RECORD_QUEUE, n = 0;
		uint32_t bytes = atomic_load(&s->box->record_bytes[i]);
		uint8_t *from = reach(s, s->box->record_memory + i * (size_t)BOX_RECORD_BYTES,
				      BOX_RECORD_BYTES);
		struct heap_in in;
		struct heap_record r;
		struct heap_out out;

		if (!from || bytes > BOX_RECORD_BYTES)
			continue;
		in = heap_in_over(from, bytes);
		while (heap_take_record(&in, &r)) {
			n++;
			if (told && is_told(&r, told))
				told->calls = 0;
		}
		if (in.bad)
			continue;
		out = heap_out_over(from, bytes);
		out.at = out.end;
		write_records(s, &out, n);
	}
}

/* Stacks that have no number in the file yet. */
static void add_nodes(struct salvage *s)
{
	static const uint8_t id[] = { HEAP_COL_PARENT, HEAP_COL_IP };
	uint64_t n_nodes = atomic_load(&s->box->n_nodes);

	if (n_nodes >= UINT64_C(1) << TRIE_NODE_BITS)
		return;
	while (s->file.n_nodes < n_nodes && !s->ret && !s->is_full) {
		uint64_t first = s->file.n_nodes + 1, left = n_nodes - s->file.n_nodes;
		struct heap_node_state state = { .id = first };
		struct heap_block b = { .type = HEAP_BLOCK_STACKS, .first_id = first };
		size_t half = BLOCK_NODES * (size_t)NODE_BYTES / 2;
		struct heap_out column[2] = { heap_out_over(s->memory, half),
					      heap_out_over((uint8_t *)s->memory + half, half) };

		b.n = left < BLOCK_NODES ? (uint32_t)left : BLOCK_NODES;
		b.first_time = b.last_time = s->last_us;
		for (uint32_t i = 0; i < b.n; i++) {
			uint64_t number = first + i;
			struct trie_node *chunk =
				atomic_load(&s->box->chunk[number / TRIE_CHUNK_NODES]);
			const struct trie_node *t = reach(
				s, chunk ? chunk + number % TRIE_CHUNK_NODES : NULL, sizeof(*t));
			struct heap_node node = { HEAP_IP_UNKNOWN, 0, false };

			if (t && t->parent < number)
				node = (struct heap_node){ t->ip >> 1, t->parent, t->ip & 1 };
			heap_put_node(&column[0], &column[1], &state, &node);
		}
		append(s, &b, column, id, 2);
	}
}

static void tell_lost(struct salvage *s, uint32_t index, uint64_t n)
{
	s->n_lost += n;
	if (n)
		put_record(s, &(struct heap_record){ .type = HEAP_REC_LOST,
						     .number = { 0, index, n } });
}

/* When recording was switched off or on, where that was not told. */
static void tell_switches(struct salvage *s)
{
	const struct pending_state *box = s->box;
	uint64_t n = atomic_load(&box->n_switches), told = atomic_load(&box->n_switches_told);

	for (; told < n && n - told <= BOX_SWITCHES; told++) {
		uint64_t at = atomic_load(&box->switch_us[told % BOX_SWITCHES]);

		put_record(s, &(struct heap_record){ .type = HEAP_REC_SWITCH,
						     .number = { at ? at - 1 : 0, told & 1 } });
	}
}

/* The process was killed while it left a pair out: that is as if it had not begun to. */
static void undo_cull(struct salvage *s, struct cull_sum *sums)
{
	struct cull_pair *pair = &s->box->cull_pair;
	uint32_t sum = atomic_load(&pair->sum);
	struct tracer_thread *t = reach(s, pair->thread, sizeof(*t));
	uint64_t *ring = t ? reach(s, t->ring, RING_WORDS * sizeof(*ring)) : NULL;

	if (sum && sum <= s->box->n_sums && ring)
		short_lived_undo(pair, &sums[sum - 1], ring);
}

/* What culling left out and did not tell. */
static void tell_culled(struct salvage *s, struct cull_sum *sums)
{
	uint64_t start = s->clock.start_ns, since = s->box->cull_since_ns;
	double us = s->clock.ns_per_tick * (double)(UINT64_C(1) << (s->box->tick_shift & 31)) /
		    1000;

	for (uint32_t i = 0; i < s->box->n_sums; i++) {
		const struct cull_sum *c = &sums[i];
		double lived = (double)c->ticks * us;

		if (c->calls)
			put_record(s,
				   &(struct heap_record){
					   .type = HEAP_REC_CULLED,
					   .number = {
						   0, since > start ? (since - start) / 1000 : 0,
						   c->stack, c->calls, c->bytes,
						   lived >= 0 && lived < 1e18 ? (uint64_t)lived : 0,
						   c->thread, c->temporary } });
	}
}

static struct tracer_thread *thread_at(const struct salvage *s, uint32_t i)
{
	return reach(s, atomic_load(&s->box->thread[i]), sizeof(struct tracer_thread));
}

static uint32_t count_threads(const struct salvage *s)
{
	uint32_t n = atomic_load(&s->box->n_threads);

	return n < BOX_THREADS ? n : BOX_THREADS;
}

/* What the notes of a thread that were not written begin with. */
static struct tracer_taken taken_of(const struct salvage *s, struct tracer_thread *t)
{
	uint32_t at = atomic_load(&t->kept_at) & 1;

	if (s->was_pending && reach(s, s->box->pending.thread, sizeof(*t)) == t)
		at = s->box->pending.kept_at & 1;
	return t->kept[at];
}

static bool has_intent(const struct tracer_thread *t)
{
	return t->intent.operand && t->intent.head == atomic_load(&t->head);
}

/* Threads that have notes, and were not announced. */
static void tell_threads(struct salvage *s)
{
	for (uint32_t i = 0, n = count_threads(s); i < n; i++) {
		struct tracer_thread *t = thread_at(s, i);
		struct heap_record r = { .type = HEAP_REC_THREAD };

		if (!t)
			continue;
		if (!t->announced &&
		    (taken_of(s, t).tail != atomic_load(&t->head) || has_intent(t))) {
			r.number[HEAP_THREAD_INDEX] = t->index;
			r.number[HEAP_THREAD_TID] = (uint64_t)t->tid;
			r.text[0] =
				(struct heap_text){ (const uint8_t *)t->first_name,
						    strnlen(t->first_name, sizeof(t->first_name)) };
			put_record(s, &r);
		}
		tell_lost(s, t->index, atomic_load(&t->n_unsaid));
	}
}

static void begin_events(struct salvage *s, const struct tracer_taken *from)
{
	heap_event_writer_init(&s->events, s->memory, BLOCK_EVENTS, s->thread->index,
			       from->write_id, from->write_us);
	s->events.addresses = s->box->addresses;
}

static void finish_events(const struct tracer_taking *k, uint64_t tail)
{
	struct salvage *s = k->arg;

	(void)tail;
	if (s->events.n)
		append(s, &s->events.block, s->events.column, heap_event_columns,
		       HEAP_N_EVENT_COLUMNS);
	begin_events(s, k->s);
}

static void lose_events(const struct tracer_taking *k, uint64_t n)
{
	struct salvage *s = k->arg;

	tell_lost(s, s->thread->index, n);
}

/* A large block that the thread had asked its allocator for when the process was killed. */
static void take_intent(struct salvage *s, const struct tracer_taking *k)
{
	const struct tracer_intent *i = &s->thread->intent;
	struct heap_event e = { .op = HEAP_ALLOC, .stack = i->stack };

	if (s->thread->next_id != s->thread->end_id) {
		k->s->write_id += k->s->n_culled;
		k->s->n_culled = 0;
	} else {
		k->s->write_id = s->box->next_chunk << ID_CHUNK_BITS;
		s->box->next_chunk++;
	}
	k->finish(k, 0);
	e.time = tracer_clock_us(k->clock, i->ticks << k->tick_shift);
	e.time = e.time > k->s->write_us ? e.time : k->s->write_us;
	e.size = i->operand & NOTE_OPERAND;
	e.kind = i->operand >> NOTE_KIND_SHIFT & 3;
	heap_write_event(&s->events, &e);
}

static void add_thread(struct salvage *s, struct tracer_thread *t)
{
	struct tracer_taken taken = taken_of(s, t);
	uint64_t head = atomic_load(&t->head);
	const uint64_t *ring = reach(s, t->ring, RING_WORDS * sizeof(*ring));
	const struct tracer_taking k = { .s = &taken,
					 .ring = ring,
					 .clock = &s->clock,
					 .tick_shift = s->box->tick_shift & 31,
					 .w = &s->events,
					 .finish = finish_events,
					 .lost = lose_events,
					 .arg = s };

	if (!ring || head - taken.tail > RING_WORDS || (head == taken.tail && !has_intent(t)))
		return;
	s->thread = t;
	begin_events(s, &taken);
	decode_notes(&k, taken.tail, head);
	if (has_intent(t))
		take_intent(s, &k);
	finish_events(&k, head);
}

/* Says what there is no more of; of a process that became another program, that it did. */
static void tell_end(struct salvage *s, uint64_t n_bytes)
{
	struct heap_record r = { .type = HEAP_REC_EXEC };
	const char *program = s->box->program;

	if (!atomic_load(&s->box->becomes)) {
		put_record(s, &(struct heap_record){
				      .type = HEAP_REC_END,
				      .number = { 0, s->file.n_events, s->file.n_allocs,
						  s->file.n_frees, s->file.n_allocated,
						  s->n_lost + atomic_load(&s->box->n_lost) } });
	} else if (s->file.n_bytes != n_bytes) {
		/* It was told before what came now. */
		r.text[0] = (struct heap_text){ (const uint8_t *)program,
						strnlen(program, sizeof(s->box->program)) };
		put_record(s, &r);
	}
	flush_records(s);
}

/* Everything that is in memory only, in an order in which readers know what later parts name. */
static void add_all(struct salvage *s)
{
	struct pending_state *box = s->box;
	uint32_t telling = atomic_load(&box->cull_telling);
	uint64_t n_bytes = s->file.n_bytes;
	struct cull_sum *sums = box->sums && box->n_sums <= UINT16_MAX
					? reach(s, box->sums, box->n_sums * sizeof(*sums))
					: NULL;

	if (sums)
		undo_cull(s, sums);
	add_records(s, sums && telling && telling <= box->n_sums ? &sums[telling - 1] : NULL);
	add_nodes(s);
	tell_switches(s);
	tell_lost(s, 0, atomic_load(&box->n_unsaid));
	tell_threads(s);
	if (sums)
		tell_culled(s, sums);
	flush_records(s);
	for (uint32_t i = 0, n = count_threads(s); i < n; i++) {
		struct tracer_thread *t = thread_at(s, i);

		if (t)
			add_thread(s, t);
	}
	tell_end(s, n_bytes);
}

static void tell_stop(struct salvage *s, enum heap_stop stop, uint8_t signal)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];

	if (s->head.stop != HEAP_GOES_ON || atomic_load(&s->box->becomes))
		return;
	s->head.stop = (uint8_t)(s->is_full ? HEAP_STOP_SIZE : stop);
	s->head.signal = s->is_full ? 0 : signal;
	heap_put_file_header(bytes, &s->head);
	if (pwrite(s->fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		fail(s, -EIO, "its head cannot be written");
}

/* With the file open and nobody else at it. */
static int complete(struct salvage *s, enum heap_stop stop, uint8_t signal)
{
	size_t room = heap_event_memory(BLOCK_EVENTS), nodes = BLOCK_NODES * (size_t)NODE_BYTES;
	uint8_t *records = xmalloc(BOX_RECORD_BYTES);
	struct stat st;

	s->block = xmalloc(HEAP_MAX_BLOCK);
	s->memory = xmalloc(room > nodes ? room : nodes);
	s->records = heap_out_over(records, BOX_RECORD_BYTES);
	set_clock(s);
	if (s->box->salvaged_from && ftruncate(s->fd, (off_t)s->box->salvaged_from))
		fail(s, -errno, strerror(errno));
	if (!s->ret && fstat(s->fd, &st) == 0) {
		s->size = (uint64_t)st.st_size;
		s->disk = (uint64_t)st.st_blocks * 512;
		if (!find_end(s, st.st_ino))
			fail(s, -EIO, "the trace cannot be read");
	}
	if (!s->ret && s->file.n_bytes < s->size && ftruncate(s->fd, (off_t)s->file.n_bytes))
		fail(s, -errno, strerror(errno));
	if (!s->ret) {
		s->box->salvaged_from = s->file.n_bytes;
		add_all(s);
	}
	if (s->ret && s->box->salvaged_from)
		(void)!ftruncate(s->fd, (off_t)s->box->salvaged_from);
	else if (!s->ret)
		tell_stop(s, stop, signal);
	free(records);
	free(s->memory);
	free(s->block);
	return s->ret ? s->ret : 1;
}

/*
 * Reads the head of what may be a trace that its process did not end. A pipe is not even opened: who writes to it would be told
 * by a signal that nobody reads any more.
 */
static bool read_head(const char *path, struct heap_file_header *h)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	struct stat st;
	bool is;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	     pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	     heap_take_file_header(bytes, sizeof(bytes), h) == HEAP_OK && h->box;
	close(fd);
	return is;
}

int heap_salvage(const char *path, enum heap_stop stop, uint8_t signal, struct err *e)
{
	struct salvage s = { .path = path, .e = e };
	int ret = 0;

	if (!read_head(path, &s.head))
		return 0;
	if (find_box(&s)) {
		s.fd = open(path, O_RDWR | O_CLOEXEC);
		if (s.fd < 0)
			fail(&s, -errno, strerror(errno));
		else if (flock(s.fd, LOCK_EX) == 0 && read_head(path, &s.head) &&
			 atomic_load(&((struct kept_head *)(void *)s.part[0].at)->state) ==
				 KEPT_IN_USE)
			ret = complete(&s, stop, signal);
		if (ret > 0)
			atomic_store(&((struct kept_head *)(void *)s.part[0].at)->state,
				     KEPT_FINISHED);
		if (s.fd >= 0)
			close(s.fd);
	}
	let_go(&s, ret > 0);
	return s.ret ? s.ret : ret;
}
