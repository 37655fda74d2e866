/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Byte layouts of the records that Linux perf events write and that perf.data holds.
 *
 * Everything is decoded from bytes of any byte order into plain structs, which borrow strings and
 * arrays from the bytes. The layouts are those of perf_event_open(2), linux/perf_event.h and of
 * tools/perf/Documentation/perf.data-file-format.txt; names differ from the kernel's header on
 * purpose, so that both can be included.
 */
#ifndef PROFTOP_PERF_ABI_PERF_ABI_H
#define PROFTOP_PERF_ABI_PERF_ABI_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lazy_stack;

/* Record types: below 64 the kernel's, from 64 on those of the perf tool. */
/* clang-format off */
#define PERF_RECORDS(X) \
	X(MMAP, 1) X(LOST, 2) X(COMM, 3) X(EXIT, 4) X(THROTTLE, 5) X(UNTHROTTLE, 6) X(FORK, 7) \
	X(READ, 8) X(SAMPLE, 9) X(MMAP2, 10) X(AUX, 11) X(ITRACE_START, 12) X(LOST_SAMPLES, 13) \
	X(SWITCH, 14) X(SWITCH_CPU_WIDE, 15) X(NAMESPACES, 16) X(KSYMBOL, 17) X(BPF_EVENT, 18) \
	X(CGROUP, 19) X(TEXT_POKE, 20) X(AUX_OUTPUT_HW_ID, 21) X(CALLCHAIN_DEFERRED, 22) \
	X(HEADER_ATTR, 64) X(HEADER_EVENT_TYPE, 65) X(HEADER_TRACING_DATA, 66) \
	X(HEADER_BUILD_ID, 67) X(FINISHED_ROUND, 68) X(ID_INDEX, 69) X(AUXTRACE_INFO, 70) \
	X(AUXTRACE, 71) X(AUXTRACE_ERROR, 72) X(THREAD_MAP, 73) X(CPU_MAP, 74) X(STAT_CONFIG, 75) \
	X(STAT, 76) X(STAT_ROUND, 77) X(EVENT_UPDATE, 78) X(TIME_CONV, 79) X(HEADER_FEATURE, 80) \
	X(COMPRESSED, 81) X(FINISHED_INIT, 82) X(COMPRESSED2, 83) X(BPF_METADATA, 84) \
	X(SCHEDSTAT_CPU, 85) X(SCHEDSTAT_DOMAIN, 86)
/* clang-format on */

enum perf_record_type {
#define X(name, number) PERF_REC_##name = number,
	PERF_RECORDS(X)
#undef X
};

/* Types of simpleperf's own records; their size has 32 bits (the upper ones in `misc`). */
#define PERF_REC_SIMPLEPERF         32768u
#define PERF_REC_SIMPLEPERF_COUNT   32u
/* formats of tracepoints, as behind HEADER_TRACING_DATA */
#define PERF_REC_SIMPLEPERF_TRACING (PERF_REC_SIMPLEPERF + 9u)

/* Bits of a record's `misc`. */
#define PERF_MISC_CPUMODE       7u /* an enum perf_cpumode */
#define PERF_MISC_MMAP_DATA     (1u << 13)
#define PERF_MISC_COMM_EXEC     (1u << 13)
#define PERF_MISC_FORK_EXEC     (1u << 13) /* a synthesised fork: no mappings to copy */
#define PERF_MISC_SWITCH_OUT    (1u << 13)
#define PERF_MISC_MMAP_BUILD_ID (1u << 14)
#define PERF_MISC_BUILD_ID_SIZE (1u << 15)

enum perf_cpumode {
	PERF_CPU_UNKNOWN,
	PERF_CPU_KERNEL,
	PERF_CPU_USER,
	PERF_CPU_HYPERVISOR,
	PERF_CPU_GUEST_KERNEL,
	PERF_CPU_GUEST_USER
};

/* Bits of attr.sample_type. */
#define PERF_S_IP             (UINT64_C(1) << 0)
#define PERF_S_TID            (UINT64_C(1) << 1)
#define PERF_S_TIME           (UINT64_C(1) << 2)
#define PERF_S_ADDR           (UINT64_C(1) << 3)
#define PERF_S_READ           (UINT64_C(1) << 4)
#define PERF_S_CALLCHAIN      (UINT64_C(1) << 5)
#define PERF_S_ID             (UINT64_C(1) << 6)
#define PERF_S_CPU            (UINT64_C(1) << 7)
#define PERF_S_PERIOD         (UINT64_C(1) << 8)
#define PERF_S_STREAM_ID      (UINT64_C(1) << 9)
#define PERF_S_RAW            (UINT64_C(1) << 10)
#define PERF_S_BRANCH_STACK   (UINT64_C(1) << 11)
#define PERF_S_REGS_USER      (UINT64_C(1) << 12)
#define PERF_S_STACK_USER     (UINT64_C(1) << 13)
#define PERF_S_WEIGHT         (UINT64_C(1) << 14)
#define PERF_S_DATA_SRC       (UINT64_C(1) << 15)
#define PERF_S_IDENTIFIER     (UINT64_C(1) << 16)
#define PERF_S_TRANSACTION    (UINT64_C(1) << 17)
#define PERF_S_REGS_INTR      (UINT64_C(1) << 18)
#define PERF_S_PHYS_ADDR      (UINT64_C(1) << 19)
#define PERF_S_AUX            (UINT64_C(1) << 20)
#define PERF_S_CGROUP         (UINT64_C(1) << 21)
#define PERF_S_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define PERF_S_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define PERF_S_WEIGHT_STRUCT  (UINT64_C(1) << 24)
#define PERF_S_END \
	(UINT64_C(1) << 25) /* no sample_type that is known has this bit, or a higher one */

/* Bits of attr.read_format. */
#define PERF_RF_ENABLED (UINT64_C(1) << 0)
#define PERF_RF_RUNNING (UINT64_C(1) << 1)
#define PERF_RF_ID      (UINT64_C(1) << 2)
#define PERF_RF_GROUP   (UINT64_C(1) << 3)
#define PERF_RF_LOST    (UINT64_C(1) << 4)

/* Bits of attr.branch_sample_type: what the branches are, and what changes the layout. */
#define PERF_BR_CALL_STACK (UINT64_C(1) << 11)
#define PERF_BR_HW_INDEX   (UINT64_C(1) << 17)
#define PERF_BR_COUNTERS   (UINT64_C(1) << 19)

/* Bits of perf_attr.flags, numbered as the kernel's bit field is declared. */
#define PERF_ATTR_DISABLED               (UINT64_C(1) << 0)
#define PERF_ATTR_INHERIT                (UINT64_C(1) << 1)
#define PERF_ATTR_EXCLUDE_USER           (UINT64_C(1) << 4)
#define PERF_ATTR_EXCLUDE_KERNEL         (UINT64_C(1) << 5)
#define PERF_ATTR_EXCLUDE_HV             (UINT64_C(1) << 6)
#define PERF_ATTR_MMAP                   (UINT64_C(1) << 8)
#define PERF_ATTR_COMM                   (UINT64_C(1) << 9)
#define PERF_ATTR_FREQ                   (UINT64_C(1) << 10)
#define PERF_ATTR_INHERIT_STAT           (UINT64_C(1) << 11)
#define PERF_ATTR_ENABLE_ON_EXEC         (UINT64_C(1) << 12)
#define PERF_ATTR_TASK                   (UINT64_C(1) << 13)
#define PERF_ATTR_WATERMARK              (UINT64_C(1) << 14)
#define PERF_ATTR_PRECISE_SHIFT          15 /* two bits */
#define PERF_ATTR_MMAP_DATA              (UINT64_C(1) << 17)
#define PERF_ATTR_SAMPLE_ID_ALL          (UINT64_C(1) << 18)
#define PERF_ATTR_EXCLUDE_HOST           (UINT64_C(1) << 19)
#define PERF_ATTR_EXCLUDE_GUEST          (UINT64_C(1) << 20)
#define PERF_ATTR_EXCLUDE_CALLCHAIN_USER (UINT64_C(1) << 22)
#define PERF_ATTR_MMAP2                  (UINT64_C(1) << 23)
#define PERF_ATTR_COMM_EXEC              (UINT64_C(1) << 24)
#define PERF_ATTR_USE_CLOCKID            (UINT64_C(1) << 25)
#define PERF_ATTR_CONTEXT_SWITCH         (UINT64_C(1) << 26)
#define PERF_ATTR_KSYMBOL                (UINT64_C(1) << 29)
#define PERF_ATTR_BPF_EVENT              (UINT64_C(1) << 30)
#define PERF_ATTR_CGROUP                 (UINT64_C(1) << 32)
#define PERF_ATTR_BUILD_ID               (UINT64_C(1) << 34)

/* attr.type */
enum perf_type {
	PERF_T_HARDWARE,
	PERF_T_SOFTWARE,
	PERF_T_TRACEPOINT,
	PERF_T_HW_CACHE,
	PERF_T_RAW,
	PERF_T_BREAKPOINT
};

/* Bits of the feature map, and numbers of a perf.data, and numbers in HEADER_FEATURE records. */
enum perf_feature {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CPUDESC = 8,
	PERF_FEATURE_TOTAL_MEM = 10,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_CLOCKID = 23,
	PERF_FEATURE_BPF_PROG_INFO = 25,
	PERF_FEATURE_BPF_BTF = 26,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURE_CPU_PMU_CAPS = 28,
	PERF_FEATURE_CLOCK_DATA = 29,
	PERF_FEATURE_PMU_CAPS = 31,
	PERF_FEATURE_LAST = 33, /* the newest that is known; what is above is counted */
	PERF_FEATURE_SIMPLEPERF = 128,
	PERF_FEATURE_SIMPLEPERF_FILE2 = 132,
	PERF_FEATURE_SIMPLEPERF_LAST = 132
};

/* Entries of a callchain from here up are marks: what follows belongs to another cpu mode. */
#define PERF_CTX_MAX           ((uint64_t)-4095)
#define PERF_CTX_HV            ((uint64_t)-32)
#define PERF_CTX_KERNEL        ((uint64_t)-128)
#define PERF_CTX_USER          ((uint64_t)-512)
#define PERF_CTX_USER_DEFERRED ((uint64_t)-640) /* one entry follows: a cookie, not an address */
#define PERF_CTX_GUEST         ((uint64_t)-2048)
#define PERF_CTX_GUEST_KERNEL  ((uint64_t)-2176)
#define PERF_CTX_GUEST_USER    ((uint64_t)-2560)

/*
 * How a chain ends that our recorder made of a copied stack: an enum walk_end, in bits of the sample's `misc` that the kernel
 * leaves 0 and other readers do not look at. Older recorders of ours set no PERF_MISC_CHAIN_MADE: their chains end with that
 * number, below PERF_CHAIN_END_MAX, where they do not reach the root, which others take for a frame. The event of both
 * has sample_stack_user without PERF_S_STACK_USER.
 */
#define PERF_MISC_CHAIN_END_AT 8 /* the lowest of three bits */
#define PERF_MISC_CHAIN_END    (7u << PERF_MISC_CHAIN_END_AT)
#define PERF_MISC_CHAIN_MADE   (1u << 11)
#define PERF_CHAIN_END_MAX     16u

/* What an event was asked to record: perf_event_attr, of whatever size it was written. */
struct perf_attr {
	uint32_t type;               /* enum perf_type, or a PMU's number */
	uint32_t size;               /* as recorded; 0 in files of before it had one */
	uint64_t config;             /* which event of the type */
	uint64_t sample_period;      /* events per sample, or samples per second with FREQ */
	uint64_t sample_type;        /* PERF_S_… */
	uint64_t read_format;        /* PERF_RF_… */
	uint64_t flags;              /* PERF_ATTR_…, in the order of declaration */
	uint32_t wakeup;             /* bytes in the ring that wake its reader, with WATERMARK */
	uint32_t bp_type;            /* breakpoints: 1 read, 2 write, 4 execute */
	uint64_t bp_addr;            /* breakpoints: where; else config1 */
	uint64_t branch_sample_type; /* PERF_BR_… */
	uint64_t sample_regs_user;   /* mask of registers in REGS_USER */
	uint32_t sample_stack_user;  /* bytes of stack asked for */
	int32_t clockid;             /* CLOCK_…, when flags has USE_CLOCKID */
	uint64_t sample_regs_intr;   /* mask of registers in REGS_INTR */
};

/* A record: header and body, of a file of one byte order. Borrowed. */
struct perf_record {
	const uint8_t *at; /* its header */
	uint32_t size;     /* of header and body */
	uint32_t type;     /* enum perf_record_type, or something unknown */
	uint16_t misc;     /* PERF_MISC_… */
	bool swap;         /* of the other byte order */
};

#define PERF_RECORD_HEADER_BYTES 8
#define PERF_RECORD_MISC_AT      4 /* where `misc` stands in a record */

/* A record that is no sample. */
struct perf_beside {
	uint32_t at;     /* bytes from the first record's header to its own */
	uint32_t number; /* records before it */
};

struct predecode;

/* Whole records, one behind the other. Borrowed. */
struct perf_records {
	const uint8_t *at; /* the first one's header */
	size_t n_bytes;    /* of all */
	uint64_t offset;   /* of the first in its file, for messages; nearly, when it was packed */
	uint64_t first;    /* how many records came before */
	bool swap;         /* of the other byte order */
	/* [n_gaps] what was not read of samples among them, see lazy_stack.h */
	struct lazy_stack *gaps;
	size_t n_gaps; /* of these records, and of what came before in the same window */
	const struct perf_beside *beside; /* [n_beside]; NULL: nobody looked for them */
	size_t n_beside;
	size_t n_samples;               /* the other records; valid with beside, and with */
	const struct predecode *digest; /* [n_samples] see predecode.h; NULL: nobody made them */
};

/* An array of 64-bit numbers inside a record; read with perf_word(). */
struct perf_words {
	const uint8_t *at; /* NULL when n is 0 */
	uint32_t n;        /* numbers */
	bool swap;         /* of the other byte order */
};

/* Registers: one word for each set bit of mask, from the lowest. */
struct perf_regs {
	uint64_t abi;            /* 0: none, 1: 32-bit, 2: 64-bit */
	uint64_t mask;           /* which */
	struct perf_words words; /* their values */
};

/* A counter's value inside a sample of READ. */
struct perf_value {
	uint64_t value; /* since the event was opened */
	uint64_t id;    /* of the event; 0 when not recorded */
};

/* Values of a group, or of one event, inside a sample of READ. */
struct perf_read {
	struct perf_words words; /* the values, as recorded; see perf_read_value() */
	uint32_t n;              /* how many values */
	uint32_t stride;         /* words from one to the next */
	bool has_id;             /* an id stands behind each value */
	uint32_t id_at;          /* words from a value to its id */
};

/* Everything of a sample that was recorded; what was not is 0, NULL or as said. */
struct perf_sample {
	uint64_t id;   /* of the event; 0: not recorded */
	uint64_t ip;   /* where the cpu was */
	int32_t pid;   /* -1: not recorded, or a task that is gone */
	int32_t tid;   /* likewise */
	uint64_t time; /* UINT64_MAX: not recorded */
	uint64_t addr; /* data address of memory events and faults */
	uint64_t stream_id;
	uint32_t cpu;            /* UINT32_MAX: not recorded */
	uint64_t period;         /* meaningful when has_period */
	bool has_period;         /* PERF_S_PERIOD was asked for */
	bool is_head;            /* what follows here is damaged, and absent */
	struct perf_read read;   /* values of counters */
	uint32_t n_behind;       /* bytes of the record behind all that it should hold */
	struct perf_words chain; /* addresses, leaf first, with PERF_CTX_ marks between */
	const uint8_t *raw;      /* tracepoint fields */
	uint32_t raw_bytes;
	struct perf_words branches; /* {from, to, flags} each, newest first */
	struct perf_regs regs_user;
	const uint8_t *stack;   /* a copy of the user stack from its pointer up */
	uint64_t stack_bytes;   /* that were copied */
	uint64_t stack_filled;  /* of these, the ones that hold data */
	struct lazy_stack *gap; /* the stack's end, where that was not read; else NULL */
	uint64_t weight, data_src, transaction;
	struct perf_regs regs_intr;
	uint64_t phys_addr;
	uint64_t cgroup; /* number of the control group */
	uint64_t data_page_size, code_page_size;
};

/* What stands at the end of other records when attr has SAMPLE_ID_ALL. */
struct perf_trailer {
	int32_t pid, tid; /* -1: not recorded */
	uint64_t time;    /* UINT64_MAX: not recorded */
	uint64_t id;      /* 0: not recorded */
	uint32_t cpu;     /* UINT32_MAX: not recorded */
};

/* Which file it is. All 0: not recorded. */
struct perf_file_id {
	uint32_t major, minor; /* the device's */
	uint64_t inode, generation;
};

struct perf_mmap {
	int32_t pid, tid;
	uint64_t start, length, file_offset;
	bool executable;
	uint8_t build_id[20];
	uint8_t n_build_id;       /* bytes of it; 0: none recorded */
	struct perf_file_id file; /* MMAP2 without a build-id */
	const char *path;         /* not terminated */
	size_t path_len;
};

struct perf_comm {
	int32_t pid, tid;
	const char *name; /* not terminated */
	size_t name_len;
};

/* FORK and EXIT */
struct perf_task {
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct perf_ksymbol {
	uint64_t start;
	uint32_t length;
	bool unregister;
	const char *name; /* not terminated */
	size_t name_len;
};

/* CGROUP: which control group the number in samples is. */
struct perf_cgroup {
	uint64_t number;
	const char *path; /* from the hierarchy's root; not terminated */
	size_t path_len;
};

/* CALLCHAIN_DEFERRED: the user part of the chains of samples with this cookie. */
struct perf_deferred_chain {
	uint64_t cookie; /* of one way into the kernel of one thread */
	struct perf_words ips;
};

/* What a sample of sched:sched_switch says: the layout of its fields has not changed since 2.6.39. */
struct perf_sched_switch {
	int32_t prev_tid; /* leaves the cpu */
	int32_t next_tid; /* comes onto it */
};

/* HEADER_BUILD_ID records, and the entries of the BUILD_ID feature, which look the same. */
struct perf_build_id {
	int32_t pid;
	uint8_t build_id[20];
	uint8_t n_build_id; /* bytes of it */
	bool kernel;        /* of kernel code: the kernel itself, or a module */
	const char *path;   /* not terminated */
	size_t path_len;
};

/* "SAMPLE", or NULL for a type that is not known. */
const char *perf_record_name(uint32_t type);

/*
 * The attr that stands in the next n bytes of b: n may be less or more than we know of. What is missing
 * is 0. False when not even the first version (64 bytes) is there. The cursor moves n bytes.
 */
bool perf_attr_decode(struct bytes *b, size_t n, struct perf_attr *out);

/*
 * The record that begins at p, where PERF_RECORD_HEADER_BYTES can be read. Returns the size that it
 * claims, which the caller compares with the bytes left; 0 for an impossible one (below 8).
 */
static inline uint64_t perf_record_at(const uint8_t *p, bool swap, struct perf_record *out)
{
	struct bytes b = bytes_over(p, PERF_RECORD_HEADER_BYTES, swap);
	uint32_t size;

	out->at = p;
	out->type = take_u32(&b);
	out->misc = take_u16(&b);
	size = take_u16(&b);
	if (out->type - PERF_REC_SIMPLEPERF < PERF_REC_SIMPLEPERF_COUNT)
		size |= (uint32_t)out->misc << 16;
	out->size = size;
	out->swap = swap;
	return size < PERF_RECORD_HEADER_BYTES ? 0 : size;
}

/* A cursor over the record's body. */
static inline struct bytes perf_record_body(const struct perf_record *r)
{
	return bytes_over(r->at + PERF_RECORD_HEADER_BYTES, r->size - PERF_RECORD_HEADER_BYTES,
			  r->swap);
}

static inline uint64_t perf_word(const struct perf_words *w, uint32_t i)
{
	uint64_t v;

	memcpy(&v, w->at + (size_t)i * sizeof(v), sizeof(v));
	return w->swap ? __builtin_bswap64(v) : v;
}

/* Is register number reg recorded? Then *value is it. */
bool perf_reg(const struct perf_regs *r, unsigned reg, uint64_t *value);

static inline struct perf_value perf_read_value(const struct perf_read *r, uint32_t i)
{
	uint32_t at = i * r->stride;

	return (struct perf_value){ .value = perf_word(&r->words, at),
				    .id = r->has_id ? perf_word(&r->words, at + r->id_at) : 0 };
}

/*
 * Words from the body's start to the event's id in samples of this type, -1 when they hold none;
 * and from the record's end back to it in other records' trailers (1: the last word), 0 for none.
 */
int perf_id_position(uint64_t sample_type);
int perf_trailer_id_position(const struct perf_attr *a);

/* Bytes of the trailer that records other than samples end in. */
size_t perf_trailer_bytes(const struct perf_attr *a);

/* Decoders: false when the record is too short for what it claims; *out is undefined then. */
bool perf_sample_decode(const struct perf_attr *a, const struct perf_record *r,
			struct perf_sample *out);
/*
 * Of a sample that cannot be decoded: what stands before the parts that say themselves how long they are. False also
 * when counter values follow, as what they say is missing.
 */
bool perf_sample_decode_head(const struct perf_attr *a, const struct perf_record *r,
			     struct perf_sample *out);
bool perf_trailer_decode(const struct perf_attr *a, const struct perf_record *r,
			 struct perf_trailer *out);
/* trailer: bytes that the record ends in and that are no text */
bool perf_mmap_decode(const struct perf_record *r, size_t trailer, struct perf_mmap *out);
bool perf_comm_decode(const struct perf_record *r, size_t trailer, struct perf_comm *out);
bool perf_task_decode(const struct perf_record *r, struct perf_task *out);
bool perf_ksymbol_decode(const struct perf_record *r, size_t trailer, struct perf_ksymbol *out);
bool perf_cgroup_decode(const struct perf_record *r, size_t trailer, struct perf_cgroup *out);
bool perf_build_id_decode(const struct perf_record *r, struct perf_build_id *out);
bool perf_deferred_decode(const struct perf_record *r, struct perf_deferred_chain *out);
/* The raw data of a sample of sched:sched_switch. */
bool perf_sched_switch_decode(const struct perf_sample *s, bool swap,
			      struct perf_sched_switch *out);
/* LOST, LOST_SAMPLES: how many */
bool perf_lost_decode(const struct perf_record *r, uint64_t *n_lost);

#endif
