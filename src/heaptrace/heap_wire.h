/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our heap trace, the container: the head of a file, blocks, their columns, variable-length numbers.
 *
 * doc/trace-format.md is the reference; heap_events.h and heap_records.h are what blocks hold. The
 * writing side runs inside of programs that are being recorded: nothing here allocates, locks,
 * prints, or calls anything that might. All numbers are little-endian.
 */
#ifndef PROFTOP_HEAPTRACE_HEAP_WIRE_H
#define PROFTOP_HEAPTRACE_HEAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_FILE_MAGIC        "PROFHEAP"
#define HEAP_FILE_VERSION      2u /* readers refuse greater ones */
#define HEAP_FILE_NO_GAPS      1u /* the version of files without HEAP_GAP */
#define HEAP_FILE_HEADER_SIZE  64u
#define HEAP_BLOCK_MAGIC       0x4b4c4250u /* "PBLK" */
#define HEAP_BLOCK_HEADER_SIZE 88u
#define HEAP_COLUMN_ENTRY_SIZE 12u
#define HEAP_MAX_COLUMNS       16u
#define HEAP_MAX_BLOCK         (2u << 20) /* bytes of a block as stored, header included */
#define HEAP_MAX_COLUMN        (1u << 20) /* bytes of a column, unpacked */
#define HEAP_MAX_EVENTS        65536u     /* of one block */
#define HEAP_MAX_UNIT_NS       1000000000u

/* A trace that may not become larger than so many bytes keeps some for its end; less would leave none for events. */
#define HEAP_SIZE_END    (192u << 10)
#define HEAP_SIZE_LEAST  (256u << 10)
#define HEAP_SIZE_NEWEST (400u << 10) /* where the oldest events go: it is halved each time */

enum heap_arch { HEAP_X86_64 = 1, HEAP_AARCH64 = 2 };

/*
 * Why a recording stopped: X(name, number, sentence). Of those from HEAP_STOP_SIZE on, the program went on or was killed: what came
 * after, or its last moments, are not in the trace.
 */
/* clang-format off */
#define HEAP_STOPS(X) \
	X(EXIT, 1, "the program ended") \
	X(DETACHED, 2, "it was told to from outside") \
	X(TIME, 3, "its time was up") \
	X(LEFT, 4, "nobody was there any more who had begun it") \
	X(SIZE, 5, "the trace is as large as it may be") \
	X(DISK_FULL, 6, "the disk is full") \
	X(QUOTA, 7, "the disk quota is used up") \
	X(FILE_LIMIT, 8, "the file may not become larger") \
	X(REPLACED, 9, "the file was replaced by another") \
	X(WRITE, 10, "the file could not be written") \
	X(KILLED, 11, "the program was killed") \
	X(GONE, 12, "the program was gone without a word") \
	X(STUCK, 13, "the recorder's thread came no further: it was ended, or the disk does not answer") \
	X(OOM, 14, "the kernel killed the program, as memory was short")
/* clang-format on */

enum heap_stop {
	HEAP_GOES_ON = 0, /* or nobody could say that it did not */
#define X(name, number, sentence) HEAP_STOP_##name = number,
	HEAP_STOPS(X)
#undef X
};

/* The sentence; NULL of what came later, and of HEAP_GOES_ON. */
const char *heap_stop_text(uint8_t stop);

struct heap_file_header {
	uint32_t version;
	uint32_t unit_ns;  /* length of one unit of every time in the file: 1 … 10⁹ */
	uint64_t start_ns; /* CLOCK_REALTIME when time was 0, since 1970 */
	/* CLOCK_MONOTONIC at that moment, ns: joins recordings of one machine */
	uint64_t start_mono;
	uint64_t run; /* random: tells files of one name apart */
	uint32_t pid;
	uint8_t arch; /* enum heap_arch */
	uint8_t stop; /* enum heap_stop, or what came later; the one thing that is written once more */
	uint8_t signal; /* HEAP_STOP_KILLED: by which */
	uint8_t spent;  /* 1: its first reader takes out of it what was read; else 0 */
	/* 1 + the id of the shared memory that has what the file has not yet; 0: there is none */
	uint32_t box;
	uint8_t id_chunk_bits; /* ids of one chunk (all but the low bits equal) are one thread's: 8 … 32 */
};

/* Writes HEAP_FILE_HEADER_SIZE bytes. */
void heap_put_file_header(uint8_t *out, const struct heap_file_header *h);

/* Why a header, a block or a column is not usable. */
enum heap_fault {
	HEAP_OK,
	HEAP_CUT,      /* more bytes are needed: the file ends here, or is still being written */
	HEAP_NOT_OURS, /* the magic is another */
	HEAP_TOO_NEW,  /* a version that came later */
	HEAP_CHECKSUM, /* the bytes are not those that were written */
	HEAP_MALFORMED /* lengths or numbers that cannot be */
};

/* Reads the head of a file from its first n bytes; *out is untouched unless HEAP_OK. */
enum heap_fault heap_take_file_header(const uint8_t *in, size_t n, struct heap_file_header *out);

/* Types of blocks. Readers skip those they do not know. */
enum heap_block_type {
	HEAP_BLOCK_EVENTS = 1,  /* of one thread, in its order: heap_events.h */
	HEAP_BLOCK_STACKS = 2,  /* nodes of the stack trie */
	HEAP_BLOCK_RECORDS = 3, /* everything else: heap_records.h */
	HEAP_BLOCK_SKIPPED = 4 /* says which events were dropped to stay below a size: no columns */
};

/* What the columns of blocks are. Readers skip those they do not know. */
enum heap_column_id {
	HEAP_COL_OP = 1,      /* events: a byte each */
	HEAP_COL_TIME = 2,    /* events: numbers */
	HEAP_COL_SIZE = 3,    /* events: numbers */
	HEAP_COL_STACK = 4,   /* events: numbers */
	HEAP_COL_REF = 5,     /* events: numbers */
	HEAP_COL_ADDRESS = 6, /* events: numbers; may be absent */
	HEAP_COL_LOOSE = 7,   /* events: numbers */
	HEAP_COL_RANGE = 8,   /* events: numbers */
	HEAP_COL_EARLY = 9,   /* events: numbers; may be absent */
	HEAP_COL_PARENT = 16, /* stacks: numbers */
	HEAP_COL_IP = 17,     /* stacks: numbers */
	HEAP_COL_RECORDS = 24 /* records: one after the other */
};

enum heap_codec { HEAP_STORED = 0, HEAP_ZSTD = 1 };

struct heap_column {
	const uint8_t *bytes; /* as stored; borrowed */
	uint32_t n_stored;
	uint32_t n_raw; /* unpacked; equal to n_stored when HEAP_STORED; at most HEAP_MAX_COLUMN */
	uint8_t id;     /* an enum heap_column_id, or what came later */
	uint8_t codec;  /* an enum heap_codec; others cannot be read */
};

struct heap_block {
	uint16_t type;       /* an enum heap_block_type, or what came later */
	uint16_t n_columns;  /* at most HEAP_MAX_COLUMNS */
	uint32_t size;       /* of the whole block in the file, header included */
	uint64_t number;     /* 0, 1, 2 … in the order of the file: a gap means loss */
	uint64_t first_time; /* in the file's units since its start */
	uint64_t last_time;
	uint64_t first_id; /* events: of the first allocation in it; stacks: of the first node */
	uint64_t bytes;    /* events: sum of the sizes allocated */
	uint32_t thread;   /* events: whose; else 0 */
	uint32_t n;        /* events, nodes, or records in it */
	uint32_t n_allocs; /* events: how many take an id */
	uint32_t n_frees;  /* events: how many end an allocation */
	struct heap_column column[HEAP_MAX_COLUMNS];
};

/* Bytes that a block with these columns has in front of their data. */
static inline size_t heap_block_head(unsigned n_columns)
{
	return HEAP_BLOCK_HEADER_SIZE + n_columns * (size_t)HEAP_COLUMN_ENTRY_SIZE;
}

/*
 * Writes header and column table of b, whose columns' stored bytes already follow at
 * out + heap_block_head(b->n_columns), one after the other; column[].bytes is not looked at. Sets
 * b->size and returns it, or 0 when that would pass HEAP_MAX_BLOCK.
 */
uint32_t heap_seal_block(uint8_t *out, struct heap_block *b);

/* That of a sealed block, whatever its number. */
uint64_t heap_block_checksum(const uint8_t *block);

/* Gives a sealed block, all of it at hand, another number; its checksum is not of that. */
void heap_number_block(uint8_t *block, uint64_t number);

/*
 * Reads the block at in, of which n bytes are at hand. HEAP_CUT with *need set: that many bytes are
 * needed. HEAP_CHECKSUM: out has the header and need its size, so that the block can be stepped over.
 * With check false the checksum is not looked at, and only the header and column table must be there
 * (columns' bytes may then lie past in + n).
 */
enum heap_fault heap_take_block(const uint8_t *in, size_t n, bool check, struct heap_block *out,
				size_t *need);

/* The column with this id, or NULL. Borrowed from b. */
const struct heap_column *heap_block_column(const struct heap_block *b, uint8_t id);

/* A place to write to: what does not fit sets `full` and writes nothing. */
struct heap_out {
	uint8_t *begin, *at, *end;
	bool full;
};

static inline struct heap_out heap_out_over(void *p, size_t n)
{
	return (struct heap_out){ p, p, (uint8_t *)p + n, false };
}

static inline size_t heap_out_n(const struct heap_out *o)
{
	return (size_t)(o->at - o->begin);
}

static inline void heap_put_u8(struct heap_out *o, uint8_t v)
{
	if (o->at == o->end)
		o->full = true;
	else
		*o->at++ = v;
}

/* ULEB128: seven bits a byte, low ones first, the top bit set on all but the last. */
static inline void heap_put_number(struct heap_out *o, uint64_t v)
{
	if (o->end - o->at < 10) {
		o->full = true;
		return;
	}
	for (; v >= 0x80; v >>= 7)
		*o->at++ = (uint8_t)(v | 0x80);
	*o->at++ = (uint8_t)v;
}

void heap_put_bytes(struct heap_out *o, const void *p, size_t n);

/* A place to read from: what is not there reads as 0 and sets `bad`. */
struct heap_in {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct heap_in heap_in_over(const void *p, size_t n)
{
	return (struct heap_in){ p, n ? (const uint8_t *)p + n : p, false };
}

static inline uint8_t heap_take_u8(struct heap_in *in)
{
	if (in->at == in->end) {
		in->bad = true;
		return 0;
	}
	return *in->at++;
}

/* A number of more than one byte. */
uint64_t heap_take_long_number(struct heap_in *in);

/* Bad when it runs out, or does not fit 64 bits. */
static inline uint64_t heap_take_number(struct heap_in *in)
{
	if (in->at != in->end && *in->at < 0x80)
		return *in->at++;
	return heap_take_long_number(in);
}

/* n bytes, or NULL and bad. Borrowed. */
const uint8_t *heap_take_bytes(struct heap_in *in, uint64_t n);

/* Signed numbers as unsigned ones, small ones small: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
static inline uint64_t heap_zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static inline uint64_t heap_unzigzag(uint64_t v)
{
	return v >> 1 ^ (UINT64_C(0) - (v & 1));
}

#endif
