/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The features are a table: each is one function that writes its section, and its bit and place follow from that. */
#include "config.h"

#include "record/cpu/perf_writer_head.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/build_id.h"
#include "perf/records/perf_events.h"
#include "record/cpu/proc_synthesize.h"
#include "record/cpu/tracing_data.h"

#define HEADER_BYTES   104
#define ATTR_STRIDE    (PERF_ATTR_BYTES + 16u)
#define TEXT_ALIGN     64u
#define KERNEL_NAME    "[kernel.kallsyms]"
#define BUILD_ID_WORDS 24 /* bytes of an id with its length and padding */
#define PACKED_VERSION 0  /* what perf writes; other readers refuse any other */
#define PACKED_ZSTD    1
#define RECORD_MAX     65528u
#define IDS_MAX \
	(8192 * sizeof(uint64_t) / 2) /* bytes of ids of one record, half of what it holds */

static const uint8_t zeros[TEXT_ALIGN] = { 0 };

static void put_text(struct perf_put *to, const char *s)
{
	size_t n = strlen(s) + 1, rest = TEXT_ALIGN - 1 - (n + TEXT_ALIGN - 1) % TEXT_ALIGN;

	perf_put_u32(to, (uint32_t)(n + rest));
	perf_put_bytes(to, s, n);
	perf_put_bytes(to, zeros, rest);
}

static void put_tracing(const struct perf_writer_head *h, struct perf_put *to)
{
	tracing_data_put(h->events, to);
}

/* Of the kernel; files have theirs in the records of their mappings. */
static void put_build_ids(const struct perf_writer_head *h, struct perf_put *to)
{
	uint8_t id[BUILD_ID_WORDS] = { 0 };
	struct build_id kernel;
	size_t begun;

	(void)h;
	if (!proc_synthesize_kernel_id(&kernel))
		return;
	memcpy(id, kernel.bytes, kernel.n);
	id[20] = kernel.n;
	begun = perf_put_begin(to, 0, PERF_CPU_KERNEL | PERF_MISC_BUILD_ID_SIZE);
	perf_put_u32(to, UINT32_MAX);
	perf_put_bytes(to, id, sizeof(id));
	perf_put_text(to, KERNEL_NAME, sizeof(KERNEL_NAME) - 1);
	perf_put_end(to, begun, NULL, NULL);
}

static void put_host(const struct perf_writer_head *h, struct perf_put *to)
{
	struct utsname u;

	(void)h;
	put_text(to, uname(&u) == 0 ? u.nodename : "");
}

static void put_release(const struct perf_writer_head *h, struct perf_put *to)
{
	struct utsname u;

	(void)h;
	put_text(to, uname(&u) == 0 ? u.release : "");
}

static void put_version(const struct perf_writer_head *h, struct perf_put *to)
{
	(void)h;
	put_text(to, PACKAGE_NAME " " PACKAGE_VERSION);
}

static void put_arch(const struct perf_writer_head *h, struct perf_put *to)
{
	struct utsname u;

	(void)h;
	put_text(to, uname(&u) == 0 ? u.machine : "");
}

static void put_n_cpus(const struct perf_writer_head *h, struct perf_put *to)
{
	(void)h;
	perf_put_u32(to, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	perf_put_u32(to, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_cpu(const struct perf_writer_head *h, struct perf_put *to)
{
	static const char key[] = "model name";
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512], *value = NULL;

	(void)h;
	while (f && !value && fgets(line, sizeof(line), f))
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			value = strchr(line, ':');
	if (value)
		value[strcspn(value, "\n")] = '\0';
	put_text(to, value && value[1] ? value + 2 : "");
	if (f)
		fclose(f);
}

static void put_memory(const struct perf_writer_head *h, struct perf_put *to)
{
	(void)h;
	perf_put_u64(to,
		     (uint64_t)sysconf(_SC_PHYS_PAGES) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024));
}

static void put_command(const struct perf_writer_head *h, struct perf_put *to)
{
	uint32_t n = 0;

	while (h->command[n])
		n++;
	perf_put_u32(to, n);
	for (uint32_t i = 0; i < n; i++)
		put_text(to, h->command[i]);
}

static void put_attr(struct perf_put *to, const struct perf_attr *a)
{
	uint8_t bytes[PERF_ATTR_BYTES];

	perf_attr_encode(a, bytes);
	perf_put_bytes(to, bytes, sizeof(bytes));
}

/* The ids of an event; their number. */
static uint32_t put_ids(struct perf_put *to, const struct perf_events *e, uint32_t event)
{
	uint32_t n = 0;

	for (size_t i = 0; i < e->ids.n; i++) {
		if (e->ids.at[i].event != event)
			continue;
		perf_put_u64(to, e->ids.at[i].id);
		n++;
	}
	return n;
}

static void put_events(const struct perf_writer_head *h, struct perf_put *to)
{
	perf_put_u32(to, (uint32_t)h->events->all.n);
	perf_put_u32(to, PERF_ATTR_BYTES);
	for (uint32_t i = 0; i < h->events->all.n; i++) {
		struct perf_put ids = { 0 };

		put_attr(to, &h->events->all.at[i].attr);
		perf_put_u32(to, put_ids(&ids, h->events, i));
		put_text(to, h->events->all.at[i].name);
		perf_put_bytes(to, ids.at, ids.n);
		vec_done(&ids);
	}
}

static void put_clock_id(const struct perf_writer_head *h, struct perf_put *to)
{
	(void)h;
	perf_put_u64(to, 1); /* its resolution: ns */
}

static void put_packing(const struct perf_writer_head *h, struct perf_put *to)
{
	if (h->zstd_level == 0)
		return;
	perf_put_u32(to, PACKED_VERSION);
	perf_put_u32(to, PACKED_ZSTD);
	perf_put_u32(to, (uint32_t)h->zstd_level);
	perf_put_u32(to, 1); /* the ratio, for show */
	perf_put_u32(to, DATA_PACKED_MAX);
}

static void put_clock(const struct perf_writer_head *h, struct perf_put *to)
{
	/* Before Linux 4.1 times are of no clock that has a name. */
	if (!(h->events->all.at[0].attr.flags & PERF_ATTR_USE_CLOCKID))
		return;
	perf_put_u32(to, 1); /* version */
	perf_put_u32(to, CLOCK_MONOTONIC);
	perf_put_u64(to, h->wall_ns);
	perf_put_u64(to, h->clock_ns);
}

/* By number, as their sections stand in the file. */
static const struct {
	enum perf_feature number;
	void (*put)(const struct perf_writer_head *h,
		    struct perf_put *to); /* nothing: there is none */
} features[] = {
	{ PERF_FEATURE_TRACING_DATA, put_tracing }, { PERF_FEATURE_BUILD_ID, put_build_ids },
	{ PERF_FEATURE_HOSTNAME, put_host },        { PERF_FEATURE_OSRELEASE, put_release },
	{ PERF_FEATURE_VERSION, put_version },      { PERF_FEATURE_ARCH, put_arch },
	{ PERF_FEATURE_NRCPUS, put_n_cpus },        { PERF_FEATURE_CPUDESC, put_cpu },
	{ PERF_FEATURE_TOTAL_MEM, put_memory },     { PERF_FEATURE_CMDLINE, put_command },
	{ PERF_FEATURE_EVENT_DESC, put_events },    { PERF_FEATURE_CLOCKID, put_clock_id },
	{ PERF_FEATURE_COMPRESSED, put_packing },   { PERF_FEATURE_CLOCK_DATA, put_clock },
};
#define N_FEATURES (sizeof(features) / sizeof(features[0]))

_Static_assert(N_FEATURES <= DATA_FEATURES_MAX, "as many as there is room for");

void data_features_make(const struct perf_writer_head *h, struct data_features *out)
{
	*out = (struct data_features){ .n = 0 };
	for (size_t i = 0; i < N_FEATURES; i++) {
		size_t before = out->bytes.n;

		features[i].put(h, &out->bytes);
		if (out->bytes.n == before)
			continue;
		out->bits |= UINT64_C(1) << features[i].number;
		out->numbers[out->n] = (uint8_t)features[i].number;
		out->ends[out->n++] = out->bytes.n;
	}
}

void data_features_done(struct data_features *f)
{
	vec_done(&f->bytes);
}

static void put_section(struct perf_put *to, uint64_t offset, uint64_t size)
{
	perf_put_u64(to, offset);
	perf_put_u64(to, size);
}

void perf_writer_head_put(const struct perf_writer_head *h, const struct data_features *f,
			  struct perf_put *to)
{
	uint32_t n = (uint32_t)h->events->all.n;
	uint64_t ids = HEADER_BYTES, attrs = ids + 8 * h->events->ids.n;
	uint64_t records = attrs + (uint64_t)n * ATTR_STRIDE;

	perf_put_bytes(to, "PERFILE2", 8);
	perf_put_u64(to, HEADER_BYTES);
	perf_put_u64(to, ATTR_STRIDE);
	put_section(to, attrs, (uint64_t)n * ATTR_STRIDE);
	put_section(to, records, 0);
	put_section(to, 0, 0); /* event types, which nobody writes any more */
	perf_put_u64(to, f->bits);
	for (int i = 0; i < 3; i++)
		perf_put_u64(to, 0);
	for (uint32_t i = 0; i < n; i++)
		put_ids(to, h->events, i);
	for (uint32_t i = 0; i < n; i++) {
		struct perf_put own = { 0 };
		uint64_t bytes = 8 * (uint64_t)put_ids(&own, h->events, i);

		put_attr(to, &h->events->all.at[i].attr);
		put_section(to, ids, bytes);
		ids += bytes;
		vec_done(&own);
	}
}

/*
 * An event with its ids: as many records as these need, each as of an event of its own that is like the others. A reader
 * takes them for one, by the name.
 */
static void put_pipe_event(const struct perf_writer_head *h, uint32_t event, struct perf_put *to)
{
	struct perf_put ids = { 0 };
	size_t at = 0;

	put_ids(&ids, h->events, event);
	do {
		size_t begun = perf_put_begin(to, PERF_REC_HEADER_ATTR, 0);
		size_t n = ids.n - at < IDS_MAX ? ids.n - at : IDS_MAX;

		put_attr(to, &h->events->all.at[event].attr);
		perf_put_bytes(to, ids.at + at, n);
		perf_put_end(to, begun, NULL, NULL);
		at += n;
	} while (at < ids.n);
	vec_done(&ids);
}

/* Formats of tracepoints stand behind their record, whose size is of whole words: perf refuses any other. */
static void put_pipe_tracing(const uint8_t *bytes, size_t n, struct perf_put *to)
{
	size_t begun = perf_put_begin(to, PERF_REC_HEADER_TRACING_DATA, 0), rest = (8 - n % 8) % 8;

	perf_put_u32(to, (uint32_t)(n + rest));
	perf_put_u32(to, 0);
	perf_put_end(to, begun, NULL, NULL);
	perf_put_bytes(to, bytes, n);
	perf_put_bytes(to, zeros, rest);
}

/* The section is records already, but for their type. */
static void put_pipe_build_ids(const uint8_t *bytes, size_t n, struct perf_put *to)
{
	const uint32_t type = PERF_REC_HEADER_BUILD_ID;
	size_t begun = to->n;

	perf_put_bytes(to, bytes, n);
	memcpy(to->at + begun, &type, sizeof(type));
}

static void put_pipe_feature(uint8_t number, const uint8_t *bytes, size_t n, struct perf_put *to)
{
	size_t begun = perf_put_begin(to, PERF_REC_HEADER_FEATURE, 0);

	perf_put_u64(to, number);
	perf_put_bytes(to, bytes, n);
	perf_put_bytes(to, zeros, (8 - n % 8) % 8);
	perf_put_end(to, begun, NULL, NULL);
}

void perf_writer_head_put_pipe(const struct perf_writer_head *h, const struct data_features *f,
			       struct perf_put *to)
{
	perf_put_bytes(to, "PERFILE2", 8);
	perf_put_u64(to, 16); /* bytes of this header */
	for (uint32_t i = 0; i < h->events->all.n; i++)
		put_pipe_event(h, i, to);
	for (size_t i = 0; i < f->n; i++) {
		size_t from = i > 0 ? f->ends[i - 1] : 0, n = f->ends[i] - from;

		if (f->numbers[i] == PERF_FEATURE_TRACING_DATA)
			put_pipe_tracing(f->bytes.at + from, n, to);
		else if (f->numbers[i] == PERF_FEATURE_BUILD_ID)
			put_pipe_build_ids(f->bytes.at + from, n, to);
		else if (n + 24 <= RECORD_MAX)
			put_pipe_feature(f->numbers[i], f->bytes.at + from, n, to);
	}
}

void data_features_put(const struct data_features *f, uint64_t at, struct perf_put *to)
{
	uint64_t begin = at + 16 * (uint64_t)f->n;

	for (size_t i = 0; i < f->n; i++) {
		size_t from = i > 0 ? f->ends[i - 1] : 0;

		put_section(to, begin + from, f->ends[i] - from);
	}
	perf_put_bytes(to, f->bytes.at, f->bytes.n);
}
