/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/bytehound/bytehound_events.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/task.h"
#include "formats/bytehound/lz4_block.h"
#include "input/input.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_LZ4    1
#define CHUNK_STORED 2
#define CHUNK_HEAD   5

/* A chunk holds so many bytes at most; packed, a little more where it cannot be packed. */
#define CHUNK_BYTES  ((size_t)512 << 10)
#define PACKED_BYTES (CHUNK_BYTES + CHUNK_BYTES / 255 + 64)

/* More than that an event is not held in memory for. */
#define EVENT_BYTES ((size_t)64 << 20)

#define MAPS_PATH "/proc/self/maps"

/* What is held of events that are not whole is read again when there is twice as much, unless it is little. */
#define LITTLE_BYTES 4096

#define ALL_FRAMES UINT32_MAX

#define REGION_EXECUTABLE 4u

enum tag {
	TAG_HEADER,
	TAG_ALLOC,
	TAG_REALLOC,
	TAG_FREE,
	TAG_FILE,
	TAG_BACKTRACE,
	TAG_MEMORY_DUMP,
	TAG_MARKER,
	TAG_MEMORY_MAP,
	TAG_MEMORY_UNMAP,
	TAG_MALLOPT,
	TAG_ENVIRON,
	TAG_WALL_CLOCK,
	TAG_PARTIAL_BACKTRACE,
	TAG_STRING,
	TAG_DECODED_FRAME,
	TAG_DECODED_BACKTRACE,
	TAG_GROUP_STATISTICS,
	TAG_PARTIAL_BACKTRACE_32,
	TAG_BACKTRACE_32,
	TAG_ALLOC_EX,
	TAG_REALLOC_EX,
	TAG_FREE_EX,
	TAG_FILE_64,
	TAG_ADD_REGION,
	TAG_REMOVE_REGION,
	TAG_UPDATE_REGION_USAGE,
	TAG_MEMORY_MAP_EX,
	N_TAGS
};

/* What is being read. */
struct stream {
	struct bytehound_events *e;
	VEC(uint8_t) bytes; /* of events that are not taken yet */
	size_t wanted;      /* how many of them there are to be before they are read again */
	uint64_t skip;      /* bytes that follow and mean nothing */
	uint8_t *packed;    /* [PACKED_BYTES]; owned */
	uint8_t *plain;     /* [CHUNK_BYTES]; owned */
};

/* Numbers. */

/* The leading ones of the first byte say how many bytes follow; its other bits are the highest of the number. */
static uint64_t take_varint(struct bytes *b)
{
	uint8_t first = take_u8(b);
	unsigned n = first == 0xff ? 8 : (unsigned)__builtin_clz((unsigned)(uint8_t)~first << 24);
	uint64_t rest = 0;

	for (unsigned i = 0; i < n; i++)
		rest |= (uint64_t)take_u8(b) << 8 * i;
	if (n >= 7)
		return rest;
	return rest | (uint64_t)(first & (0xffu >> (n + 1))) << 8 * n;
}

static uint32_t take_string_of(struct bytehound_events *e, struct bytes *b, uint64_t n)
{
	const uint8_t *s = n <= bytes_left(b) ? take_bytes(b, (size_t)n) : NULL;

	if (!s) {
		b->bad = true;
		return 0;
	}
	return build_string(e->p, (const char *)s, strnlen((const char *)s, (size_t)n)).v;
}

/* A command line, whose parts end in NULs. */
static uint32_t take_command(struct bytehound_events *e, struct bytes *b, uint32_t n)
{
	const uint8_t *s = take_bytes(b, n);
	char *text;
	uint32_t id;

	if (!s)
		return 0;
	while (n > 0 && s[n - 1] == '\0')
		n--;
	text = xmalloc((size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		text[i] = s[i] ? (char)s[i] : ' ';
	id = build_string(e->p, text, n).v;
	free(text);
	return id;
}

/* Events. Each is taken whole, or b is bad at its end and nothing was kept. */

static void take_header(struct bytehound_events *e, struct bytes *b)
{
	uint32_t pid, command, executable;
	uint64_t start;

	take_u64(b);
	take_u64(b);
	start = take_u64(b);
	take_u64(b);
	take_u64(b);
	take_u64(b);
	pid = take_u32(b);
	command = take_command(e, b, take_u32(b));
	executable = take_string_of(e, b, take_u32(b));
	take_bytes(b, take_u32(b));
	take_u64(b);
	take_u8(b);
	if (b->bad)
		return;
	e->has_header = true;
	e->pid = pid;
	e->start_us = start;
	e->command = command;
	e->executable = executable;
}

static void take_body(struct bytehound_event *v, struct bytes *b)
{
	v->pointer = take_u64(b);
	v->size = take_u64(b);
	v->backtrace = take_u64(b);
	v->thread = take_u32(b);
	take_u32(b);
	take_u32(b);
	take_u64(b);
}

static void take_deed(struct bytehound_events *e, struct bytes *b, enum tag tag)
{
	struct bytehound_event v = { 0 };

	if (tag == TAG_ALLOC_EX || tag == TAG_REALLOC_EX || tag == TAG_FREE_EX) {
		v.id.thread = take_u64(b);
		v.id.number = take_u64(b);
		if (v.id.thread == UINT64_MAX && v.id.number == UINT64_MAX)
			v.id = (struct bytehound_id){ 0 };
	}
	v.time_us = take_u64(b);
	switch (tag) {
	case TAG_FREE:
	case TAG_FREE_EX:
		v.deed = BYTEHOUND_FREE;
		v.pointer = take_u64(b);
		v.backtrace = take_u64(b);
		v.thread = take_u32(b);
		break;
	case TAG_REALLOC:
	case TAG_REALLOC_EX:
		v.deed = BYTEHOUND_REALLOC;
		v.old_pointer = take_u64(b);
		take_body(&v, b);
		break;
	default:
		v.deed = BYTEHOUND_ALLOC;
		take_body(&v, b);
		break;
	}
	if (!b->bad)
		vec_push(&e->all, v);
}

static bool same_id(const void *things, uint32_t value, const void *key)
{
	return ((const struct bytehound_backtrace *)things)[value].id == *(const uint64_t *)key;
}

/* Of those of one id the first counts. */
static void add_backtrace(struct bytehound_events *e, struct bytehound_backtrace t)
{
	if (bytehound_backtrace_of(e, t.id))
		return;
	vec_push(&e->backtraces, t);
	map_add(&e->by_id, hash_u64(t.id), (uint32_t)e->backtraces.n - 1);
}

static uint64_t take_address(struct bytes *b, size_t each)
{
	return each == sizeof(uint32_t) ? take_u32(b) : take_u64(b);
}

/* n addresses, the innermost first, above outer. Their first link. */
static size_t take_links(struct bytehound_events *e, struct bytes *b, uint32_t n, size_t each,
			 size_t outer)
{
	size_t first = n > 0 ? e->links.n : outer;

	for (uint32_t i = 0; i < n; i++) {
		struct bytehound_link l = { .address = take_address(b, each),
					    .outer = i + 1 < n ? e->links.n + 1 : outer };

		vec_push(&e->links, l);
	}
	return first;
}

static void take_backtrace(struct bytehound_events *e, struct bytes *b, size_t each)
{
	struct bytehound_backtrace t = { 0 };

	t.id = take_u64(b);
	t.n = take_u32(b);
	if (b->bad || t.n > bytes_left(b) / each) {
		b->bad = true;
		return;
	}
	t.first = take_links(e, b, t.n, each, BYTEHOUND_NO_LINK);
	add_backtrace(e, t);
}

static bool same_tid(const void *things, uint32_t value, const void *key)
{
	return ((const struct bytehound_thread *)things)[value].tid == *(const uint32_t *)key;
}

static struct bytehound_thread *thread_of(struct bytehound_events *e, uint32_t tid)
{
	uint32_t known = map_find(&e->by_tid, hash_u64(tid), same_tid, e->threads.at, &tid);

	if (known != MAP_NONE)
		return &e->threads.at[known];
	map_add(&e->by_tid, hash_u64(tid), (uint32_t)e->threads.n);
	vec_push(&e->threads,
		 ((struct bytehound_thread){ .tid = tid, .first = BYTEHOUND_NO_LINK }));
	return &e->threads.at[e->threads.n - 1];
}

/* The new inner part of a stack, and how much of its thread's last one it takes the place of. */
static void take_partial(struct bytehound_events *e, struct bytes *b, size_t each)
{
	struct bytehound_backtrace t = { 0 };
	uint32_t tid, gone, n, shared;
	size_t outer;
	struct bytehound_thread *last;

	t.id = take_u64(b);
	tid = take_u32(b);
	gone = take_u32(b);
	n = take_u32(b);
	if (b->bad || n > bytes_left(b) / each) {
		b->bad = true;
		return;
	}
	last = thread_of(e, tid);
	e->n_odd += gone != ALL_FRAMES && gone > last->n;
	shared = gone < last->n ? last->n - gone : 0;
	outer = shared > 0 ? last->first : BYTEHOUND_NO_LINK;
	for (uint32_t i = 0; shared > 0 && i < gone; i++)
		outer = e->links.at[outer].outer;
	t.n = n > UINT32_MAX - shared ? UINT32_MAX : shared + n;
	t.first = take_links(e, b, n, each, outer);
	last->n = t.n;
	last->first = t.first;
	add_backtrace(e, t);
}

static void take_decoded(struct bytehound_events *e, struct bytes *b)
{
	struct bytehound_backtrace t = { .id = e->n_decoded,
					 .first = e->frame_ids.n,
					 .decoded = true };

	t.n = take_u32(b);
	if (b->bad || t.n > bytes_left(b) / sizeof(uint32_t)) {
		b->bad = true;
		return;
	}
	for (uint32_t i = 0; i < t.n; i++)
		vec_push(&e->frame_ids, take_u32(b));
	e->n_decoded++;
	add_backtrace(e, t);
}

static void take_frame(struct bytehound_events *e, struct bytes *b)
{
	struct bytehound_frame f = { 0 };

	take_u64(b);
	f.library = take_u32(b);
	take_u32(b);
	f.function = take_u32(b);
	f.source = take_u32(b);
	f.line = take_u32(b);
	take_u32(b);
	f.inlined = take_u8(b) != 0;
	if (!b->bad)
		vec_push(&e->frames, f);
}

static void take_string(struct bytehound_events *e, struct bytes *b)
{
	struct bytehound_string s = { .id = take_u32(b) };

	s.text = take_string_of(e, b, take_u32(b));
	if (!b->bad)
		vec_push(&e->strings, s);
}

static void take_region(struct bytehound_events *e, struct bytes *b)
{
	struct bytehound_region r = { .time_us = take_u64(b) };
	uint32_t flags;

	take_varint(b);
	r.start = take_u64(b);
	r.bytes = take_varint(b);
	r.offset = take_varint(b);
	take_varint(b);
	take_u32(b);
	take_u32(b);
	flags = take_u32(b);
	r.path = take_string_of(e, b, take_varint(b));
	r.executable = flags & REGION_EXECUTABLE;
	if (!b->bad)
		vec_push(&e->regions, r);
}

/* "55e5639c4000-55e5639c5000 r-xp 00001000 fe:00 10363766    /bin/prog" */
static void take_maps(struct bytehound_events *e, const char *s, size_t n, uint64_t time_us)
{
	const char *end = s + n;

	while (s < end) {
		const char *stop = memchr(s, '\n', (size_t)(end - s)), *path;
		struct bytehound_region r = { .time_us = time_us };
		uint64_t to;
		char line[128], rights[5];

		stop = stop ? stop : end;
		snprintf(line, sizeof(line), "%.*s", stop - s < 127 ? (int)(stop - s) : 127, s);
		path = memchr(s, '/', (size_t)(stop - s));
		if (path &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &r.start, &to, rights,
			   &r.offset) == 4 &&
		    to > r.start) {
			r.bytes = to - r.start;
			r.executable = strchr(rights, 'x') != NULL;
			r.path = build_string(e->p, path, (size_t)(stop - path)).v;
			vec_push(&e->regions, r);
		}
		s = stop + 1;
	}
}

/* Of files only the list of mappings matters; others, which are programs, are passed over without being held. */
static void take_file(struct stream *s, struct bytes *b, bool wide)
{
	uint64_t time = take_u64(b), n;
	uint32_t n_path = take_u32(b);
	const char *path = (const char *)take_bytes(b, n_path);

	n = wide ? take_u64(b) : take_u32(b);
	if (b->bad)
		return;
	if (n_path == strlen(MAPS_PATH) && memcmp(path, MAPS_PATH, n_path) == 0 &&
	    n <= EVENT_BYTES) {
		const uint8_t *contents = take_bytes(b, (size_t)n);

		if (contents)
			take_maps(s->e, (const char *)contents, (size_t)n, time);
		return;
	}
	if (n <= bytes_left(b)) {
		take_bytes(b, (size_t)n);
		return;
	}
	s->skip = n - bytes_left(b);
	take_bytes(b, bytes_left(b));
}

static void take_dump(struct stream *s, struct bytes *b)
{
	uint64_t n;

	take_u64(b);
	take_u64(b);
	n = take_u32(b);
	if (b->bad)
		return;
	if (n > bytes_left(b)) {
		s->skip = n - bytes_left(b);
		n = bytes_left(b);
	}
	take_bytes(b, (size_t)n);
}

static void take_group(struct bytehound_events *e, struct bytes *b)
{
	struct bytehound_group g = { .backtrace = take_u64(b), .first_us = take_u64(b) };

	take_u64(b);
	g.calls = take_u64(b);
	g.bytes = take_u64(b);
	take_u64(b);
	take_u64(b);
	if (!b->bad)
		vec_push(&e->groups, g);
}

static void take_source(struct bytes *b)
{
	take_u64(b);
	take_varint(b);
	take_u32(b);
}

static void take_removed(struct bytes *b)
{
	uint64_t n;

	take_u64(b);
	take_varint(b);
	take_u64(b);
	take_varint(b);
	n = take_varint(b);
	for (uint64_t i = 0; i < n && !b->bad; i++) {
		take_u64(b);
		take_varint(b);
		take_source(b);
	}
}

static void take_map(struct bytehound_events *e, struct bytes *b)
{
	take_varint(b);
	take_u64(b);
	take_varint(b);
	take_varint(b);
	take_u32(b);
	take_u32(b);
	take_u32(b);
	take_varint(b);
	take_source(b);
	e->n_maps += !b->bad;
}

static void take_usage(struct bytes *b)
{
	take_u64(b);
	take_varint(b);
	take_u64(b);
	for (int i = 0; i < 7; i++)
		take_varint(b);
}

/* Those of a fixed size that mean nothing here, in bytes behind their tag; 0: another one. */
static size_t fixed_bytes(enum tag tag)
{
	switch (tag) {
	case TAG_MARKER:
		return 4;
	case TAG_MEMORY_MAP:
		return 8 * 5 + 4 * 4 + 8;
	case TAG_MEMORY_UNMAP:
		return 8 * 4 + 4;
	case TAG_MALLOPT:
		return 8 * 2 + 4 * 4;
	case TAG_WALL_CLOCK:
		return 8 * 3;
	default:
		return 0;
	}
}

/* The next event; b is bad when it is not all there. False: it is of no known kind. */
static bool take_event(struct stream *s, struct bytes *b)
{
	struct bytehound_events *e = s->e;
	uint32_t tag = take_u32(b);

	if (b->bad)
		return true;
	if (tag >= N_TAGS || (tag != TAG_HEADER && !e->has_header))
		return false;
	switch ((enum tag)tag) {
	case TAG_HEADER:
		take_header(e, b);
		break;
	case TAG_ALLOC:
	case TAG_REALLOC:
	case TAG_FREE:
	case TAG_ALLOC_EX:
	case TAG_REALLOC_EX:
	case TAG_FREE_EX:
		take_deed(e, b, (enum tag)tag);
		break;
	case TAG_FILE:
	case TAG_FILE_64:
		take_file(s, b, tag == TAG_FILE_64);
		break;
	case TAG_BACKTRACE:
	case TAG_BACKTRACE_32:
		take_backtrace(e, b, tag == TAG_BACKTRACE ? 8 : 4);
		break;
	case TAG_PARTIAL_BACKTRACE:
	case TAG_PARTIAL_BACKTRACE_32:
		take_partial(e, b, tag == TAG_PARTIAL_BACKTRACE ? 8 : 4);
		break;
	case TAG_MEMORY_DUMP:
		take_dump(s, b);
		break;
	case TAG_ENVIRON:
		take_bytes(b, take_u32(b));
		break;
	case TAG_STRING:
		take_string(e, b);
		break;
	case TAG_DECODED_FRAME:
		take_frame(e, b);
		break;
	case TAG_DECODED_BACKTRACE:
		take_decoded(e, b);
		break;
	case TAG_GROUP_STATISTICS:
		take_group(e, b);
		break;
	case TAG_ADD_REGION:
		take_region(e, b);
		break;
	case TAG_REMOVE_REGION:
		take_removed(b);
		break;
	case TAG_UPDATE_REGION_USAGE:
		take_usage(b);
		break;
	case TAG_MEMORY_MAP_EX:
		take_map(e, b);
		break;
	case TAG_MARKER:
	case TAG_MEMORY_MAP:
	case TAG_MEMORY_UNMAP:
	case TAG_MALLOPT:
	case TAG_WALL_CLOCK:
		take_bytes(b, fixed_bytes((enum tag)tag));
		e->n_markers += tag == TAG_MARKER && !b->bad;
		e->n_maps += tag == TAG_MEMORY_MAP && !b->bad;
		break;
	case N_TAGS:
		break;
	}
	return true;
}

/* All events that are whole. False: one is of no known kind. last: no more bytes come. */
static bool take_events(struct stream *s, bool last)
{
	size_t taken = 0;
	bool known = true;

	if (s->bytes.n < s->wanted && !last)
		return true;
	while (taken < s->bytes.n && s->skip == 0) {
		struct bytes b = bytes_over(s->bytes.at + taken, s->bytes.n - taken, false);

		known = take_event(s, &b);
		if (!known || b.bad)
			break;
		taken = (size_t)(b.at - s->bytes.at);
	}
	if (taken > 0)
		memmove(s->bytes.at, s->bytes.at + taken, s->bytes.n - taken);
	s->bytes.n -= taken;
	s->wanted = s->bytes.n < LITTLE_BYTES      ? 0
		    : s->bytes.n < EVENT_BYTES / 2 ? 2 * s->bytes.n
						   : EVENT_BYTES;
	return known;
}

static void add_bytes(struct stream *s, const uint8_t *bytes, size_t n)
{
	size_t skip = s->skip < n ? (size_t)s->skip : n;

	s->skip -= skip;
	vec_reserve(&s->bytes, s->bytes.n + n - skip + 1);
	memcpy(s->bytes.at + s->bytes.n, bytes + skip, n - skip);
	s->bytes.n += n - skip;
}

/* Chunks. */

static uint32_t length_of(const uint8_t *head)
{
	uint32_t n;

	memcpy(&n, head + 1, sizeof(n));
	return n;
}

/* 1: there was one; 0: the file ended; -errno with a sentence in damage. */
static int take_chunk(struct stream *s, struct input *in)
{
	struct err *damage = &s->e->damage;
	uint64_t at = input_offset(in);
	uint8_t head[CHUNK_HEAD];
	ssize_t got = input_read_full(in, head, sizeof(head), damage);
	size_t n = CHUNK_BYTES, length;
	bool good = true;

	if (got == 0)
		return 0;
	if (got < 0)
		return (int)got;
	length = got == CHUNK_HEAD ? length_of(head) : 0;
	if (got < CHUNK_HEAD || (head[0] != CHUNK_LZ4 && head[0] != CHUNK_STORED) ||
	    length > (head[0] == CHUNK_LZ4 ? PACKED_BYTES : CHUNK_BYTES))
		return err_set(damage, -EBADMSG, "%s: no chunk at offset %" PRIu64, input_name(in),
			       at);
	got = input_read_full(in, s->packed, length, damage);
	if (got < 0)
		return (int)got;
	if (head[0] == CHUNK_LZ4) {
		good = lz4_block_unpack(s->packed, (size_t)got, s->plain, &n);
		add_bytes(s, s->plain, n);
	} else {
		add_bytes(s, s->packed, (size_t)got);
	}
	if ((size_t)got == length && good)
		return 1;
	/* What came of it still counts. */
	err_set(damage, -EBADMSG, "%s: the chunk at offset %" PRIu64 " is %s", input_name(in), at,
		(size_t)got < length ? "cut" : "damaged");
	return -EBADMSG;
}

int bytehound_events_read(struct bytehound_events *e, struct input *in, struct progress *progress)
{
	struct stream s = { .e = e };
	int rc = 1;

	s.packed = xmalloc(PACKED_BYTES);
	s.plain = xmalloc(CHUNK_BYTES);
	while (rc > 0) {
		uint64_t at = input_offset(in);

		rc = take_chunk(&s, in);
		builder_begin(e->p);
		if (!take_events(&s, rc <= 0)) {
			err_set(&e->damage, -EBADMSG,
				"%s: an event of no known kind in the chunk at offset %" PRIu64,
				input_name(in), at);
			rc = -EBADMSG;
		}
		if (builder_end(e->p) < 0)
			rc = -EFBIG;
		if (s.bytes.n > EVENT_BYTES) {
			err_set(&e->damage, -EBADMSG,
				"%s: an event of more than %zu MB at offset %" PRIu64,
				input_name(in), EVENT_BYTES >> 20, at);
			rc = -EBADMSG;
		}
		progress_set(progress, input_file_done(in), input_file_bytes(in));
		if (rc > 0 && progress_cancelled(progress))
			rc = -ECANCELED;
	}
	if (rc == 0 && (s.bytes.n > 0 || s.skip > 0))
		err_set(&e->damage, -EBADMSG, "%s: ends within an event", input_name(in));
	free(s.packed);
	free(s.plain);
	vec_done(&s.bytes);
	return rc == -ECANCELED || rc == -EFBIG ? rc : 0;
}

void bytehound_events_done(struct bytehound_events *e)
{
	vec_done(&e->threads);
	map_done(&e->by_tid);
	vec_done(&e->all);
	vec_done(&e->backtraces);
	map_done(&e->by_id);
	vec_done(&e->links);
	vec_done(&e->frame_ids);
	vec_done(&e->frames);
	vec_done(&e->strings);
	vec_done(&e->regions);
	vec_done(&e->groups);
	err_clear(&e->damage);
}

const struct bytehound_backtrace *bytehound_backtrace_of(const struct bytehound_events *e,
							 uint64_t id)
{
	uint32_t i = map_find(&e->by_id, hash_u64(id), same_id, e->backtraces.at, &id);

	return i != MAP_NONE ? &e->backtraces.at[i] : NULL;
}

/* The head of the stream: a header that names a machine, as all do. */
bool bytehound_events_begin(const uint8_t *bytes, size_t n)
{
	uint8_t plain[4096];
	size_t n_plain = sizeof(plain), length;
	struct bytes b;
	const uint8_t *arch;
	uint32_t n_arch;
	uint8_t pointer;

	if (n <= CHUNK_HEAD || (bytes[0] != CHUNK_LZ4 && bytes[0] != CHUNK_STORED))
		return false;
	length = length_of(bytes);
	if (length > PACKED_BYTES)
		return false;
	length = length < n - CHUNK_HEAD ? length : n - CHUNK_HEAD;
	if (bytes[0] == CHUNK_LZ4) {
		lz4_block_unpack(bytes + CHUNK_HEAD, length, plain, &n_plain);
	} else {
		n_plain = length < n_plain ? length : n_plain;
		memcpy(plain, bytes + CHUNK_HEAD, n_plain);
	}
	b = bytes_over(plain, n_plain, false);
	if (take_u32(&b) != TAG_HEADER)
		return false;
	take_bytes(&b, 6 * sizeof(uint64_t) + sizeof(uint32_t));
	take_bytes(&b, take_u32(&b));
	take_bytes(&b, take_u32(&b));
	n_arch = take_u32(&b);
	arch = take_bytes(&b, n_arch);
	take_u64(&b);
	pointer = take_u8(&b);
	return !b.bad && n_arch > 0 && n_arch < 32 && (pointer == 4 || pointer == 8) &&
	       ((arch[0] >= 'a' && arch[0] <= 'z') || (arch[0] >= 'A' && arch[0] <= 'Z'));
}
