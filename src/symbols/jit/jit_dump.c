/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit-PID.dump; see jit_dump.h. Records are read one after the other, without the code in them. Debug
 * information comes before the code that it is about.
 */
#include "config.h"

#include "symbols/jit/jit_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbols/search/own_file.h"

#define MAGIC         0x4a695444u /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694au
#define HEAD_BYTES    40
#define PREFIX_BYTES  16
#define NAME_BYTES    4096
#define PLACES_MAX    (UINT32_C(2) << 20)
#define TABLES_MAX    (UINT64_C(1) << 20) /* bytes of unwind tables of one function */
#define CPU_CLOCK     1u                  /* flag: times are the cpu's */
#define SAME_FILE     "\xff"

enum record {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG_INFO,
	RECORD_CLOSE, /* says nothing */
	RECORD_UNWINDING
};

/* Unwind tables in the dump; all 0: none. */
struct tables {
	uint64_t offset; /* of their bytes */
	uint64_t size;   /* of them, with the header */
	uint64_t head;   /* bytes of it that are .eh_frame_hdr */
};

/* A function. */
struct code {
	uint64_t offset;  /* of its bytes */
	uint64_t size;    /* of them */
	uint64_t index;   /* the program's number for it */
	const char *name; /* in the arena */
	const char *file; /* likewise; NULL: not told */
	uint32_t line;    /* in file */
	uint64_t address; /* of its bytes, when it was loaded */
	struct tables tables;
};

/* Debug information that waits for its code. */
struct debug {
	uint64_t address; /* the code's; meaningless while file is NULL */
	const char *file;
	uint32_t line;
};

struct jit_dump {
	struct jit_dump_head head;
	VEC(struct code) code; /* by offset */
	VEC(struct jit_place) place;
	struct map by_index;  /* of code: the first of each number */
	struct debug debug;   /* told last */
	struct tables tables; /* likewise, for the next code */
	char *path;           /* of the file */
	uint64_t bytes;       /* that it had when it was read last */
	/* Where reading goes on when it has more: the first record that is not whole, and what was known before it. */
	struct {
		uint64_t at;
		size_t n_code, n_places;
		struct debug debug;
		struct tables tables;
	} next;
	bool has_tables; /* see jit_dump_has_tables() */
	bool cut;        /* see jit_dump_cut() */
	struct arena text;
};

/* The file while it is read. */
struct source_file {
	int fd;
	uint64_t at;    /* of the record */
	uint64_t bytes; /* of the file */
};

/* A record's beginning, as much as was asked for and is there. */
struct record_head {
	uint32_t type; /* enum record, or another */
	uint64_t size; /* of all of it */
	uint64_t time;
	uint8_t bytes[PREFIX_BYTES + 48 + NAME_BYTES];
	size_t n; /* bytes there */
};

static size_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n && offset + done <= INT64_MAX) {
		ssize_t got = pread(fd, (uint8_t *)to + done, n - done, (off_t)(offset + done));

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	return done;
}

static bool same_index(const void *things, uint32_t value, const void *key)
{
	const struct jit_dump *d = things;

	return d->code.at[value].index == *(const uint64_t *)key;
}

static void add_place(struct jit_dump *d, uint64_t time, uint64_t address, const struct code *c)
{
	struct jit_place p = {
		.time = time, .address = address, .size = c->size, .offset = c->offset
	};

	if (c->size > 0 && c->size <= UINT64_MAX - address)
		vec_push(&d->place, p);
}

static const char *keep(struct jit_dump *d, const char *s)
{
	return arena_strndup(&d->text, s, strnlen(s, NAME_BYTES));
}

static void take_load(struct jit_dump *d, const struct record_head *r, struct bytes *b,
		      uint64_t record_at)
{
	struct code c = { .tables = d->tables };
	uint64_t address, head;
	const char *name;

	d->tables = (struct tables){ .size = 0 };
	take_u64(b); /* pid, tid */
	take_u64(b); /* vma */
	address = c.address = take_u64(b);
	c.size = take_u64(b);
	c.index = take_u64(b);
	name = (const char *)b->at;
	head = (uint64_t)(b->at - r->bytes) + strnlen(name, bytes_left(b)) + 1;
	/* A name that is longer than what was read of it is no name. */
	if (b->bad || head > r->n || head > r->size)
		return;
	c.name = keep(d, name);
	c.offset = record_at + head;
	/* What the record has no room for would reach into the next one. */
	if (c.size > r->size - head)
		c.size = r->size - head;
	if (d->debug.file && d->debug.address == address) {
		c.file = d->debug.file;
		c.line = d->debug.line;
	}
	d->debug.file = NULL;
	d->has_tables = d->has_tables || c.tables.size > 0;
	if (map_find(&d->by_index, hash_u64(c.index), same_index, d, &c.index) == MAP_NONE)
		map_add(&d->by_index, hash_u64(c.index), (uint32_t)d->code.n);
	vec_push(&d->code, c);
	add_place(d, r->time, address, &c);
}

static void take_move(struct jit_dump *d, const struct record_head *r, struct bytes *b)
{
	uint64_t address, index;
	uint32_t i;

	take_u64(b); /* pid, tid */
	take_u64(b); /* vma */
	take_u64(b); /* where it was */
	address = take_u64(b);
	take_u64(b); /* its size, which the load gave */
	index = take_u64(b);
	i = map_find(&d->by_index, hash_u64(index), same_index, d, &index);
	if (!b->bad && i != MAP_NONE && i < d->code.n)
		add_place(d, r->time, address, &d->code.at[i]);
}

/* The first entry is where the function begins. */
static void take_debug_info(struct jit_dump *d, struct bytes *b)
{
	uint64_t address = take_u64(b), n = take_u64(b);
	const char *file;
	uint32_t line;

	take_u64(b); /* address of the entry */
	line = take_u32(b);
	take_u32(b); /* discriminator */
	file = take_cstr(b);
	d->debug.file = NULL;
	if (b->bad || n == 0 || !*file || strcmp(file, SAME_FILE) == 0)
		return;
	d->debug = (struct debug){ .address = address, .file = keep(d, file), .line = line };
}

static void take_unwinding(struct jit_dump *d, const struct record_head *r, struct bytes *b,
			   uint64_t record_at)
{
	struct tables t = { .size = take_u64(b) };
	uint64_t at;

	t.head = take_u64(b);
	take_u64(b); /* how much of it is mapped */
	at = (uint64_t)(b->at - r->bytes);
	d->tables = (struct tables){ .size = 0 };
	if (b->bad || t.size > r->size - at || t.head > t.size || t.size > TABLES_MAX)
		return;
	t.offset = record_at + at;
	d->tables = t;
}

/* The next record; false at the end, or where none can be. */
static bool next_record(struct jit_dump *d, const struct source_file *f, struct record_head *r)
{
	struct bytes b;

	r->n = read_at(f->fd, r->bytes, PREFIX_BYTES, f->at);
	b = bytes_over(r->bytes, r->n, d->head.swapped);
	r->type = take_u32(&b);
	r->size = take_u32(&b);
	r->time = take_u64(&b);
	d->cut = d->cut || (r->n > 0 && (b.bad || r->size < PREFIX_BYTES));
	return !b.bad && r->size >= PREFIX_BYTES;
}

static void take_record(struct jit_dump *d, struct source_file *f, struct record_head *r)
{
	size_t want = r->size < sizeof(r->bytes) ? (size_t)r->size : sizeof(r->bytes);
	struct bytes b;

	if (r->type > RECORD_UNWINDING || r->type == RECORD_CLOSE)
		return;
	r->n = read_at(f->fd, r->bytes, want, f->at);
	b = bytes_over(r->bytes, r->n, d->head.swapped);
	take_bytes(&b, PREFIX_BYTES);
	switch ((enum record)r->type) {
	case RECORD_LOAD:
		take_load(d, r, &b, f->at);
		break;
	case RECORD_MOVE:
		take_move(d, r, &b);
		break;
	case RECORD_DEBUG_INFO:
		take_debug_info(d, &b);
		break;
	case RECORD_UNWINDING:
		take_unwinding(d, r, &b, f->at);
		break;
	case RECORD_CLOSE:
		break;
	}
}

static int take_head(struct jit_dump *d, struct source_file *f, const char *path, struct err *e)
{
	uint8_t bytes[HEAD_BYTES];
	struct bytes b = bytes_over(bytes, read_at(f->fd, bytes, sizeof(bytes), 0), false);
	uint32_t magic = take_u32(&b);

	d->head.swapped = b.swap = magic == MAGIC_SWAPPED;
	if (b.bad || (magic != MAGIC && magic != MAGIC_SWAPPED))
		return err_set(e, -EBADMSG, "%s is no jitdump", path);
	take_u32(&b); /* version: what followed 1 only added records */
	f->at = take_u32(&b);
	d->head.machine = take_u32(&b);
	take_u32(&b); /* padding */
	d->head.pid = (int32_t)take_u32(&b);
	d->head.time = take_u64(&b);
	d->head.cpu_clock = take_u64(&b) & CPU_CLOCK;
	if (b.bad || f->at < HEAD_BYTES)
		return err_set(e, -EBADMSG, "%s: its header is damaged", path);
	return 0;
}

static void take_records(struct jit_dump *d, struct source_file *f)
{
	struct record_head *r = xmalloc(sizeof(*r));

	d->cut = false;
	d->bytes = f->bytes;
	for (;;) {
		d->next.at = f->at;
		d->next.n_code = d->code.n;
		d->next.n_places = d->place.n;
		d->next.debug = d->debug;
		d->next.tables = d->tables;
		if (d->place.n >= PLACES_MAX || !next_record(d, f, r))
			break;
		take_record(d, f, r);
		f->at += r->size;
		if (f->at > f->bytes) {
			d->cut = true;
			break;
		}
	}
	free(r);
}

int jit_dump_load(const char *path, struct jit_dump **out, struct err *e)
{
	struct jit_dump *d = xcalloc(1, sizeof(*d));
	struct source_file f = { .fd = -1 };
	struct stat st;
	int rc = own_file_open(path, &f.fd, e);

	arena_init(&d->text);
	d->path = xstrdup(path);
	if (rc == 0)
		rc = take_head(d, &f, path, e);
	if (rc == 0) {
		f.bytes = fstat(f.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
		take_records(d, &f);
	}
	if (f.fd >= 0)
		close(f.fd);
	if (rc == 0)
		*out = d;
	else
		jit_dump_free(d);
	return rc;
}

bool jit_dump_more(struct jit_dump *d)
{
	size_t n_places = d->place.n;
	struct source_file f = { .fd = -1, .at = d->next.at };
	struct stat st;

	if (own_file_open(d->path, &f.fd, NULL) != 0)
		return false;
	f.bytes = fstat(f.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	if (f.bytes > d->bytes) {
		/* What was not whole is read again. */
		d->code.n = d->next.n_code;
		d->place.n = d->next.n_places;
		d->debug = d->next.debug;
		d->tables = d->next.tables;
		take_records(d, &f);
	}
	close(f.fd);
	return d->place.n > n_places;
}

void jit_dump_free(struct jit_dump *d)
{
	if (!d)
		return;
	vec_done(&d->code);
	vec_done(&d->place);
	map_done(&d->by_index);
	free(d->path);
	arena_done(&d->text);
	free(d);
}

const struct jit_dump_head *jit_dump_head(const struct jit_dump *d)
{
	return &d->head;
}

const struct jit_place *jit_dump_places(const struct jit_dump *d, size_t *n)
{
	*n = d->place.n;
	return d->place.at;
}

static const struct code *code_at(const struct jit_dump *d, uint64_t offset)
{
	size_t low = 0;

	BISECT(low, d->code.n, i, d->code.at[i].offset <= offset);
	if (low == 0 || offset - d->code.at[low - 1].offset >= d->code.at[low - 1].size)
		return NULL;
	return &d->code.at[low - 1];
}

const char *jit_dump_name(const struct jit_dump *d, uint64_t offset)
{
	const struct code *c = code_at(d, offset);

	return c ? c->name : NULL;
}

const char *jit_dump_source(const struct jit_dump *d, uint64_t offset, uint32_t *line)
{
	const struct code *c = code_at(d, offset);

	if (!c || !c->file)
		return NULL;
	*line = c->line;
	return c->file;
}

bool jit_dump_has_tables(const struct jit_dump *d)
{
	return d->has_tables;
}

/* Is what begins here a header, version 1 with three encodings, and no entry that fits? */
static bool is_table_head(const struct jit_dump *d, const uint8_t *bytes, uint64_t n)
{
	struct bytes b = bytes_over(bytes, (size_t)n, d->head.swapped);

	return n >= 4 && bytes[0] == 1 && take_u32(&b) > n;
}

size_t jit_dump_index(const struct jit_dump *d, uint64_t offset)
{
	const struct code *c = code_at(d, offset);

	return c ? (size_t)(c - d->code.at) : SIZE_MAX;
}

size_t jit_dump_n(const struct jit_dump *d)
{
	return d->code.n;
}

uint8_t *jit_dump_read_tables(const struct jit_dump *d, size_t index, struct jit_tables *out)
{
	const struct code *c = &d->code.at[index];
	size_t n = (size_t)c->tables.size, head = (size_t)c->tables.head;
	uint8_t *bytes;
	int fd;

	*out = (struct jit_tables){ .code = c->address, .code_offset = c->offset };
	if (n == head || own_file_open(d->path, &fd, NULL) != 0)
		return NULL;
	bytes = xmalloc(n);
	if (read_at(fd, bytes, n, c->tables.offset) == n) {
		out->eh_frame = bytes;
		/* The specification has the header in front, perf and those who write for it behind. */
		if (is_table_head(d, bytes, n))
			out->eh_frame += head;
		out->n = n - head;
		/* As perf lays them out: after the code, on a multiple of 8. */
		out->address = c->address + ((c->size + 7) & ~UINT64_C(7));
	} else {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	return bytes;
}

bool jit_dump_cut(const struct jit_dump *d)
{
	return d->cut;
}
