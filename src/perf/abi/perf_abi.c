/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Byte layouts of perf events: attrs, records, samples.
 *
 * A sample is decoded straight through with a sticky cursor and tested once. Arrays are checked
 * against the bytes left before they are stepped over, so that a hostile count costs nothing.
 */
#include "config.h"

#include "perf/abi/perf_abi.h"

#include <sys/mman.h>

#define ATTR_BYTES_FIRST 64 /* PERF_ATTR_SIZE_VER0 */

/* The fields that sample_id_all puts behind other records. */
#define TRAILER_FIELDS \
	(PERF_S_TID | PERF_S_TIME | PERF_S_ID | PERF_S_STREAM_ID | PERF_S_CPU | PERF_S_IDENTIFIER)

static uint8_t reverse_bits(uint8_t v)
{
	unsigned r = 0;

	for (unsigned i = 0; i < 8; i++)
		r |= ((unsigned)v >> i & 1u) << (7 - i);
	return (uint8_t)r;
}

/*
 * A C bit field of 64 bits. Little-endian machines fill each byte from its lowest bit up and
 * big-endian ones from its highest bit down; both begin with the first byte.
 */
static uint64_t take_bit_field(struct bytes *b)
{
	bool big = b->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint64_t flags = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint8_t v = take_u8(b);

		flags |= (uint64_t)(big ? reverse_bits(v) : v) << (8 * i);
	}
	return flags;
}

/* n numbers of 64 bits. */
static struct perf_words take_words(struct bytes *b, uint64_t n)
{
	struct perf_words w = { .swap = b->swap };

	if (n > bytes_left(b) / sizeof(uint64_t)) {
		b->bad = true;
		b->at = b->end;
		return w;
	}
	w.n = (uint32_t)n;
	w.at = take_bytes(b, (size_t)n * sizeof(uint64_t));
	return w;
}

static struct perf_regs take_regs(struct bytes *b, uint64_t mask)
{
	struct perf_regs r = { .abi = take_u64(b) };

	if (r.abi) {
		r.mask = mask;
		r.words = take_words(b, (uint64_t)__builtin_popcountll(mask));
	}
	return r;
}

static struct perf_read take_read(struct bytes *b, uint64_t format)
{
	struct perf_read r = { .has_id = (format & PERF_RF_ID) != 0 };
	uint32_t lost = (format & PERF_RF_LOST) != 0;
	uint64_t times = (uint64_t)((format & PERF_RF_ENABLED) != 0) +
			 (uint64_t)((format & PERF_RF_RUNNING) != 0);

	if (format & PERF_RF_GROUP) {
		uint64_t n = take_u64(b);

		take_words(b, times);
		r.stride = 1 + r.has_id + lost;
		r.id_at = 1;
		if (n > bytes_left(b))
			b->bad = true;
		else
			r.words = take_words(b, n * r.stride);
		r.n = b->bad ? 0 : (uint32_t)n;
		return r;
	}
	r.n = 1;
	r.stride = (uint32_t)(1 + times + r.has_id + lost);
	r.id_at = (uint32_t)(1 + times);
	r.words = take_words(b, r.stride);
	return r;
}

static struct perf_words take_branches(struct bytes *b, uint64_t branch_type)
{
	struct perf_words w = { .swap = b->swap };
	uint64_t n = take_u64(b);

	if (branch_type & PERF_BR_HW_INDEX)
		take_u64(b);
	if (n > bytes_left(b)) {
		b->bad = true;
		return w;
	}
	w = take_words(b, 3 * n);
	if (branch_type & PERF_BR_COUNTERS)
		take_words(b, n);
	return w;
}

static void take_stack(struct bytes *b, struct perf_sample *s)
{
	s->stack_bytes = take_u64(b);
	if (s->stack_bytes == 0)
		return;
	s->stack = take_bytes(b, s->stack_bytes);
	s->stack_filled = take_u64(b);
	if (s->stack_filled > s->stack_bytes)
		s->stack_filled = s->stack_bytes;
}

/* The fields that nearly every sample has, up to the period; the others are absent. */
static void take_sample_head(struct bytes *b, uint64_t type, struct perf_sample *s)
{
	memset(s, 0, sizeof(*s));
	s->pid = s->tid = -1;
	s->time = UINT64_MAX;
	s->cpu = UINT32_MAX;
	if (type & PERF_S_IDENTIFIER)
		s->id = take_u64(b);
	if (type & PERF_S_IP)
		s->ip = take_u64(b);
	if (type & PERF_S_TID) {
		s->pid = (int32_t)take_u32(b);
		s->tid = (int32_t)take_u32(b);
	}
	if (type & PERF_S_TIME)
		s->time = take_u64(b);
	if (type & PERF_S_ADDR)
		s->addr = take_u64(b);
	if (type & PERF_S_ID)
		s->id = take_u64(b);
	if (type & PERF_S_STREAM_ID)
		s->stream_id = take_u64(b);
	if (type & PERF_S_CPU) {
		s->cpu = take_u32(b);
		take_u32(b);
	}
	if (type & PERF_S_PERIOD) {
		s->period = take_u64(b);
		s->has_period = true;
	}
}

/* What follows the registers and the stack. */
static void take_sample_tail(struct bytes *b, const struct perf_attr *a, struct perf_sample *s)
{
	uint64_t type = a->sample_type;

	if (type & (PERF_S_WEIGHT | PERF_S_WEIGHT_STRUCT))
		s->weight = take_u64(b);
	if (type & PERF_S_DATA_SRC)
		s->data_src = take_u64(b);
	if (type & PERF_S_TRANSACTION)
		s->transaction = take_u64(b);
	if (type & PERF_S_REGS_INTR)
		s->regs_intr = take_regs(b, a->sample_regs_intr);
	if (type & PERF_S_PHYS_ADDR)
		s->phys_addr = take_u64(b);
	if (type & PERF_S_CGROUP)
		s->cgroup = take_u64(b);
	if (type & PERF_S_DATA_PAGE_SIZE)
		s->data_page_size = take_u64(b);
	if (type & PERF_S_CODE_PAGE_SIZE)
		s->code_page_size = take_u64(b);
	if (type & PERF_S_AUX) /* the kernel's header describes it earlier, but writes it last */
		take_bytes(b, take_u64(b));
}

/* Text that ends at a NUL or where the trailer begins. */
static const char *take_name(struct bytes *b, size_t trailer, size_t *len)
{
	size_t left = bytes_left(b);

	*len = 0;
	if (left < trailer) {
		b->bad = true;
		return "";
	}
	return take_text(b, left - trailer, len);
}

const char *perf_record_name(uint32_t type)
{
	switch (type) {
#define X(name, number) \
	case number: \
		return #name;
		PERF_RECORDS(X)
#undef X
	default:
		return NULL;
	}
}

bool perf_attr_decode(struct bytes *b, size_t n, struct perf_attr *out)
{
	const uint8_t *at = take_bytes(b, n);
	/* What is absent from an older attr reads as zero. */
	uint8_t whole[112] = { 0 };
	struct bytes w = bytes_over(whole, sizeof(whole), b->swap);
	struct perf_attr a = { 0 };

	if (!at || n < ATTR_BYTES_FIRST)
		return false;
	memcpy(whole, at, n < sizeof(whole) ? n : sizeof(whole));
	a.type = take_u32(&w);
	a.size = take_u32(&w);
	a.config = take_u64(&w);
	a.sample_period = take_u64(&w);
	a.sample_type = take_u64(&w);
	a.read_format = take_u64(&w);
	a.flags = take_bit_field(&w);
	a.wakeup = take_u32(&w);
	a.bp_type = take_u32(&w);
	a.bp_addr = take_u64(&w);
	/* An attr may say that it is smaller than the room it stands in. */
	if (a.size >= ATTR_BYTES_FIRST && a.size < n && a.size < sizeof(whole))
		memset(whole + a.size, 0, sizeof(whole) - a.size);
	take_u64(&w); /* config2 */
	a.branch_sample_type = take_u64(&w);
	a.sample_regs_user = take_u64(&w);
	a.sample_stack_user = take_u32(&w);
	a.clockid = (int32_t)take_u32(&w);
	a.sample_regs_intr = take_u64(&w);
	*out = a;
	return true;
}

bool perf_reg(const struct perf_regs *r, unsigned reg, uint64_t *value)
{
	uint64_t bit = UINT64_C(1) << (reg & 63);
	uint32_t i;

	if (reg > 63 || !(r->mask & bit))
		return false;
	i = (uint32_t)__builtin_popcountll(r->mask & (bit - 1));
	if (i >= r->words.n)
		return false;
	*value = perf_word(&r->words, i);
	return true;
}

int perf_id_position(uint64_t sample_type)
{
	if (sample_type & PERF_S_IDENTIFIER)
		return 0;
	if (!(sample_type & PERF_S_ID))
		return -1;
	return __builtin_popcountll(sample_type &
				    (PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_ADDR));
}

int perf_trailer_id_position(const struct perf_attr *a)
{
	if (!(a->flags & PERF_ATTR_SAMPLE_ID_ALL))
		return 0;
	if (a->sample_type & PERF_S_IDENTIFIER)
		return 1;
	if (!(a->sample_type & PERF_S_ID))
		return 0;
	return 1 + __builtin_popcountll(a->sample_type & (PERF_S_STREAM_ID | PERF_S_CPU));
}

size_t perf_trailer_bytes(const struct perf_attr *a)
{
	if (!(a->flags & PERF_ATTR_SAMPLE_ID_ALL))
		return 0;
	return 8 * (size_t)__builtin_popcountll(a->sample_type & TRAILER_FIELDS);
}

bool perf_sample_decode(const struct perf_attr *a, const struct perf_record *r,
			struct perf_sample *out)
{
	struct bytes b = perf_record_body(r);
	uint64_t type = a->sample_type;

	take_sample_head(&b, type, out);
	if (type & PERF_S_READ)
		out->read = take_read(&b, a->read_format);
	if (type & PERF_S_CALLCHAIN)
		out->chain = take_words(&b, take_u64(&b));
	if (type & PERF_S_RAW) {
		out->raw_bytes = take_u32(&b);
		out->raw = take_bytes(&b, out->raw_bytes);
	}
	if (type & PERF_S_BRANCH_STACK)
		out->branches = take_branches(&b, a->branch_sample_type);
	if (type & PERF_S_REGS_USER)
		out->regs_user = take_regs(&b, a->sample_regs_user);
	if (type & PERF_S_STACK_USER)
		take_stack(&b, out);
	if (type >= PERF_S_WEIGHT)
		take_sample_tail(&b, a, out);
	if (type < PERF_S_END)
		out->n_behind = (uint32_t)bytes_left(&b);
	return !b.bad;
}

bool perf_sample_decode_head(const struct perf_attr *a, const struct perf_record *r,
			     struct perf_sample *out)
{
	struct bytes b = perf_record_body(r);

	take_sample_head(&b, a->sample_type, out);
	out->is_head = true;
	return !b.bad && !(a->sample_type & PERF_S_READ);
}

bool perf_trailer_decode(const struct perf_attr *a, const struct perf_record *r,
			 struct perf_trailer *out)
{
	struct bytes b = perf_record_body(r);
	size_t n = perf_trailer_bytes(a);
	uint64_t type = a->sample_type;

	*out = (struct perf_trailer){ .pid = -1, .tid = -1, .time = UINT64_MAX, .cpu = UINT32_MAX };
	if (n == 0)
		return true;
	if (bytes_left(&b) < n)
		return false;
	take_bytes(&b, bytes_left(&b) - n);
	if (type & PERF_S_TID) {
		out->pid = (int32_t)take_u32(&b);
		out->tid = (int32_t)take_u32(&b);
	}
	if (type & PERF_S_TIME)
		out->time = take_u64(&b);
	if (type & PERF_S_ID)
		out->id = take_u64(&b);
	if (type & PERF_S_STREAM_ID)
		take_u64(&b);
	if (type & PERF_S_CPU) {
		out->cpu = take_u32(&b);
		take_u32(&b);
	}
	if (type & PERF_S_IDENTIFIER)
		out->id = take_u64(&b);
	return !b.bad;
}

/*
 * Linux up to 6.18 leaves the bit set in what it tells of a mapping to all who record it, after one who wants
 * build-ids: others have a device and an inode there. Devices of disks have small minor numbers.
 */
static bool is_build_id(const uint8_t *file)
{
	bool inode = file[0] >= 7 && !(file[5] | file[6] | file[7]);

	return file[0] <= 20 && !(file[1] | file[2] | file[3]) && !inode;
}

static struct perf_file_id take_file_id(struct bytes b)
{
	struct perf_file_id f = { .major = take_u32(&b) };

	f.minor = take_u32(&b);
	f.inode = take_u64(&b);
	f.generation = take_u64(&b);
	return f;
}

/*
 * Linux 3.10 of some distributions has the path where others say what may be done there (PROT_…, at most the 16 bits
 * of a file's mode, which `perf inject --jit` writes), MAP_… flags, and then have the path, of 8 bytes at least.
 */
static bool is_old_path(struct bytes b, size_t trailer)
{
	bool has_room = bytes_left(&b) >= trailer + 16;
	uint8_t first = bytes_left(&b) > 0 ? *b.at : 0;

	return has_room ? take_u32(&b) > UINT16_MAX : first > ' ';
}

static void take_protection(struct bytes *b, bool *executable)
{
	uint32_t may = take_u32(b);

	/* A file's mode: what is injected is code. */
	*executable = (may & PROT_EXEC) || may & ~(uint32_t)(PROT_READ | PROT_WRITE | PROT_EXEC);
	take_u32(b); /* MAP_… flags */
}

bool perf_mmap_decode(const struct perf_record *r, size_t trailer, struct perf_mmap *out)
{
	struct bytes b = perf_record_body(r);
	struct perf_mmap m = { 0 };

	m.pid = (int32_t)take_u32(&b);
	m.tid = (int32_t)take_u32(&b);
	m.start = take_u64(&b);
	m.length = take_u64(&b);
	m.file_offset = take_u64(&b);
	m.executable = !(r->misc & PERF_MISC_MMAP_DATA);
	if (r->type == PERF_REC_MMAP2) {
		const uint8_t *file = take_bytes(&b, 24);

		if (file && r->misc & PERF_MISC_MMAP_BUILD_ID && is_build_id(file)) {
			m.n_build_id = file[0];
			memcpy(m.build_id, file + 4, m.n_build_id);
		} else if (file) {
			m.file = take_file_id(bytes_over(file, 24, r->swap));
		}
		if (!is_old_path(b, trailer))
			take_protection(&b, &m.executable);
	}
	m.path = take_name(&b, trailer, &m.path_len);
	*out = m;
	return !b.bad;
}

bool perf_comm_decode(const struct perf_record *r, size_t trailer, struct perf_comm *out)
{
	struct bytes b = perf_record_body(r);

	out->pid = (int32_t)take_u32(&b);
	out->tid = (int32_t)take_u32(&b);
	out->name = take_name(&b, trailer, &out->name_len);
	return !b.bad;
}

bool perf_task_decode(const struct perf_record *r, struct perf_task *out)
{
	struct bytes b = perf_record_body(r);

	out->pid = (int32_t)take_u32(&b);
	out->ppid = (int32_t)take_u32(&b);
	out->tid = (int32_t)take_u32(&b);
	out->ptid = (int32_t)take_u32(&b);
	out->time = take_u64(&b);
	return !b.bad;
}

bool perf_ksymbol_decode(const struct perf_record *r, size_t trailer, struct perf_ksymbol *out)
{
	struct bytes b = perf_record_body(r);

	out->start = take_u64(&b);
	out->length = take_u32(&b);
	take_u16(&b); /* BPF, or out-of-line code */
	out->unregister = take_u16(&b) & 1;
	out->name = take_name(&b, trailer, &out->name_len);
	return !b.bad;
}

bool perf_cgroup_decode(const struct perf_record *r, size_t trailer, struct perf_cgroup *out)
{
	struct bytes b = perf_record_body(r);

	out->number = take_u64(&b);
	out->path = take_name(&b, trailer, &out->path_len);
	return !b.bad;
}

bool perf_build_id_decode(const struct perf_record *r, struct perf_build_id *out)
{
	struct bytes b = perf_record_body(r);
	struct perf_build_id id = { .pid = (int32_t)take_u32(&b) };
	const uint8_t *bytes = take_bytes(&b, 24);

	if (bytes) {
		memcpy(id.build_id, bytes, sizeof(id.build_id));
		id.n_build_id = sizeof(id.build_id);
		if (r->misc & PERF_MISC_BUILD_ID_SIZE && bytes[20] <= sizeof(id.build_id))
			id.n_build_id = bytes[20];
		/* Without a size: what was shorter was filled up with zeros, by words. */
		while (!(r->misc & PERF_MISC_BUILD_ID_SIZE) && id.n_build_id >= 4 &&
		       !(id.build_id[id.n_build_id - 1] | id.build_id[id.n_build_id - 2] |
			 id.build_id[id.n_build_id - 3] | id.build_id[id.n_build_id - 4]))
			id.n_build_id = (uint8_t)(id.n_build_id - 4);
	}
	id.kernel = (r->misc & PERF_MISC_CPUMODE) == PERF_CPU_KERNEL;
	id.path = take_name(&b, 0, &id.path_len);
	*out = id;
	return !b.bad;
}

bool perf_deferred_decode(const struct perf_record *r, struct perf_deferred_chain *out)
{
	struct bytes b = perf_record_body(r);

	out->cookie = take_u64(&b);
	out->ips = take_words(&b, take_u64(&b));
	return !b.bad;
}

bool perf_sched_switch_decode(const struct perf_sample *s, bool swap, struct perf_sched_switch *out)
{
	struct bytes b = bytes_over(s->raw, s->raw ? s->raw_bytes : 0, swap);

	take_bytes(&b, 8 + 16); /* fields of all tracepoints; prev_comm */
	out->prev_tid = (int32_t)take_u32(&b);
	take_bytes(&b, 4 + 8 + 16); /* prev_prio, prev_state, next_comm */
	out->next_tid = (int32_t)take_u32(&b);
	return !b.bad;
}

bool perf_lost_decode(const struct perf_record *r, uint64_t *n_lost)
{
	struct bytes b = perf_record_body(r);

	if (r->type == PERF_REC_LOST)
		take_u64(&b); /* the event's id */
	*n_lost = take_u64(&b);
	return !b.bad;
}
