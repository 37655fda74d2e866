/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/made_perf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void made_done(struct made *m)
{
	vec_done(&m->bytes);
}

bool made_swaps(const struct made *m)
{
	return m->big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

void made_bytes(struct made *m, const void *p, size_t n)
{
	vec_reserve(&m->bytes, m->bytes.n + n + 1);
	if (n > 0)
		memcpy(m->bytes.at + m->bytes.n, p, n);
	m->bytes.n += n;
}

static void made_number(struct made *m, uint64_t v, unsigned n)
{
	uint8_t b[8];

	for (unsigned i = 0; i < n; i++)
		b[m->big ? n - 1 - i : i] = (uint8_t)(v >> (8 * i));
	made_bytes(m, b, n);
}

void made_u16(struct made *m, uint16_t v)
{
	made_number(m, v, 2);
}

void made_u32(struct made *m, uint32_t v)
{
	made_number(m, v, 4);
}

void made_u64(struct made *m, uint64_t v)
{
	made_number(m, v, 8);
}

void made_text(struct made *m, const char *s)
{
	static const uint8_t zero[8];
	size_t n = strlen(s) + 1;

	made_bytes(m, s, n);
	made_bytes(m, zero, -n & 7);
}

void made_u64_at(struct made *m, size_t at, uint64_t v)
{
	size_t n = m->bytes.n;

	m->bytes.n = at;
	made_u64(m, v);
	m->bytes.n = n;
}

size_t made_begin(struct made *m, uint32_t type, uint16_t misc)
{
	size_t at = m->bytes.n;

	made_u32(m, type);
	made_u16(m, misc);
	made_u16(m, 0);
	return at;
}

void made_end(struct made *m, size_t begun)
{
	size_t n = m->bytes.n, size = n - begun;

	m->bytes.n = begun + 6;
	made_u16(m, (uint16_t)size);
	m->bytes.n = n;
}

/* As a C bit field of the byte order is stored: the first one in the first byte's low or high bit. */
static void made_flags(struct made *m, uint64_t flags)
{
	for (unsigned byte = 0; byte < 8; byte++) {
		unsigned v = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			if (flags >> (8 * byte + bit) & 1)
				v |= 1u << (m->big ? 7 - bit : bit);
		made_number(m, v, 1);
	}
}

void made_attr(struct made *m, const struct perf_attr *a, uint32_t size)
{
	size_t from = m->bytes.n;

	made_u32(m, a->type);
	made_u32(m, size);
	made_u64(m, a->config);
	made_u64(m, a->sample_period);
	made_u64(m, a->sample_type);
	made_u64(m, a->read_format);
	made_flags(m, a->flags);
	made_u32(m, 0);
	made_u32(m, a->bp_type);
	made_u64(m, a->bp_addr);
	made_u64(m, 0x2222);
	made_u64(m, a->branch_sample_type);
	made_u64(m, a->sample_regs_user);
	made_u32(m, a->sample_stack_user);
	made_u32(m, 0);
	made_u64(m, a->sample_regs_intr);
	while (m->bytes.n < from + size)
		made_u64(m, 0x7777777777777777);
	m->bytes.n = from + size;
}

void made_trailer(struct made *m, int32_t pid, int32_t tid, uint64_t time)
{
	uint64_t type = m->attr.sample_type;

	if (!(m->attr.flags & PERF_ATTR_SAMPLE_ID_ALL))
		return;
	if (type & PERF_S_TID) {
		made_u32(m, (uint32_t)pid);
		made_u32(m, (uint32_t)tid);
	}
	if (type & PERF_S_TIME)
		made_u64(m, time);
	if (type & PERF_S_ID)
		made_u64(m, 0);
	if (type & PERF_S_STREAM_ID)
		made_u64(m, 0);
	if (type & PERF_S_CPU)
		made_u64(m, 0);
	if (type & PERF_S_IDENTIFIER)
		made_u64(m, 0);
}

void made_sample(struct made *m, const struct made_sample *s)
{
	uint64_t type = m->attr.sample_type;
	size_t at = made_begin(m, PERF_REC_SAMPLE, s->misc);

	if (type & PERF_S_IDENTIFIER)
		made_u64(m, s->id);
	if (type & PERF_S_IP)
		made_u64(m, s->ip);
	if (type & PERF_S_TID) {
		made_u32(m, (uint32_t)s->pid);
		made_u32(m, (uint32_t)s->tid);
	}
	if (type & PERF_S_TIME)
		made_u64(m, s->time);
	if (type & PERF_S_ID)
		made_u64(m, s->id);
	if (type & PERF_S_CPU) {
		made_u32(m, s->cpu);
		made_u32(m, 0);
	}
	if (type & PERF_S_PERIOD)
		made_u64(m, s->period);
	if (type & PERF_S_CALLCHAIN) {
		made_u64(m, s->n_chain);
		for (size_t i = 0; i < s->n_chain; i++)
			made_u64(m, s->chain[i]);
	}
	if (type & PERF_S_CGROUP)
		made_u64(m, s->cgroup);
	made_end(m, at);
}

static void put_comm(struct made *m, uint16_t misc, int32_t pid, int32_t tid, uint64_t time,
		     const char *name)
{
	size_t at = made_begin(m, PERF_REC_COMM, misc);

	made_u32(m, (uint32_t)pid);
	made_u32(m, (uint32_t)tid);
	made_text(m, name);
	made_trailer(m, pid, tid, time);
	made_end(m, at);
}

void made_comm(struct made *m, int32_t pid, int32_t tid, uint64_t time, const char *name)
{
	put_comm(m, 0, pid, tid, time, name);
}

void made_exec(struct made *m, int32_t pid, uint64_t time, const char *name)
{
	put_comm(m, PERF_MISC_COMM_EXEC, pid, pid, time, name);
}

void made_cgroup(struct made *m, uint64_t time, uint64_t number, const char *path)
{
	size_t at = made_begin(m, PERF_REC_CGROUP, 0);

	made_u64(m, number);
	made_text(m, path);
	made_trailer(m, 1, 1, time);
	made_end(m, at);
}

void made_fork(struct made *m, int32_t pid, int32_t ppid, int32_t tid, int32_t ptid, uint64_t time)
{
	size_t at = made_begin(m, PERF_REC_FORK, 0);

	made_u32(m, (uint32_t)pid);
	made_u32(m, (uint32_t)ppid);
	made_u32(m, (uint32_t)tid);
	made_u32(m, (uint32_t)ptid);
	made_u64(m, time);
	made_trailer(m, pid, tid, time);
	made_end(m, at);
}

void made_mmap(struct made *m, int32_t pid, uint64_t time, uint64_t start, uint64_t length,
	       const char *path)
{
	size_t at = made_begin(m, PERF_REC_MMAP, pid == -1 ? PERF_CPU_KERNEL : PERF_CPU_USER);

	made_u32(m, (uint32_t)pid);
	made_u32(m, (uint32_t)pid);
	made_u64(m, start);
	made_u64(m, length);
	made_u64(m, 0);
	made_text(m, path);
	made_trailer(m, pid, pid, time);
	made_end(m, at);
}

void made_mark(struct made *m, uint32_t type)
{
	made_end(m, made_begin(m, type, 0));
}

void made_file(struct made *m, const struct made *records, uint64_t data_size)
{
	static const uint64_t header = 104, attr = 128, entry = 128 + 16;

	m->big = records->big;
	made_bytes(m, m->big ? "2ELIFREP" : "PERFILE2", 8);
	made_u64(m, header);
	made_u64(m, entry);
	made_u64(m, header);
	made_u64(m, entry);
	made_u64(m, header + entry);
	made_u64(m, data_size);
	for (int i = 0; i < 6; i++)
		made_u64(m, 0);
	made_attr(m, &records->attr, (uint32_t)attr);
	made_u64(m, 0);
	made_u64(m, 0);
	made_bytes(m, records->bytes.at, records->bytes.n);
}

void made_pipe(struct made *m, const struct made *records)
{
	size_t at;

	m->big = records->big;
	made_bytes(m, m->big ? "2ELIFREP" : "PERFILE2", 8);
	made_u64(m, 16);
	at = made_begin(m, PERF_REC_HEADER_ATTR, 0);
	made_attr(m, &records->attr, 128);
	made_u64(m, 4711);
	made_end(m, at);
	made_bytes(m, records->bytes.at, records->bytes.n);
}

/* Where in which file an address of this process is; path has room for 4096. */
static bool place_of(const void *address, uint64_t *offset, char *path)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4600];
	uint64_t start, end;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]",
			       &start, &end, offset, path) == 4 &&
			(uintptr_t)address >= start && (uintptr_t)address < end;
	if (f)
		fclose(f);
	*offset += found ? (uintptr_t)address - start : 0;
	return found;
}

bool made_pipe_of_us(struct made *m, const void *function)
{
	struct made records = { .attr = made_clock_attr() };
	uint64_t offset = 0, start = 0x10000000;
	char path[4096];
	bool found = place_of(function, &offset, path);

	made_comm(&records, 7, 7, 0, "us");
	made_mmap(&records, 7, 0, start, 0x10000000, path);
	for (size_t i = 0; found && i < 20; i++) {
		struct made_sample s = { .misc = PERF_CPU_USER,
					 .ip = start + offset,
					 .pid = 7,
					 .tid = 7,
					 .time = 10 * i,
					 .period = 2,
					 .n_chain = 2,
					 .chain = { PERF_CTX_USER, start + offset } };

		made_sample(&records, &s);
	}
	made_mark(&records, PERF_REC_FINISHED_ROUND);
	made_pipe(m, &records);
	made_done(&records);
	return found;
}

struct perf_attr made_clock_attr(void)
{
	return (struct perf_attr){
		.type = PERF_T_SOFTWARE,
		.sample_period = 4000,
		.sample_type = PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_CPU | PERF_S_PERIOD |
			       PERF_S_CALLCHAIN,
		.flags = PERF_ATTR_FREQ | PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_EXCLUDE_GUEST,
	};
}

static void print_frame(FILE *to, const struct profile *p, uint32_t location)
{
	struct location_columns l;
	const struct function *f;
	uint32_t function;

	profile_locations(p, &l);
	function = location_function(&l, location);
	f = function == ID_NONE ? NULL : profile_function(p, (function_id){ function });
	if (f && !(f->flags & FUNCTION_UNRESOLVED))
		fputs(profile_string(p, f->name, NULL), to);
	else
		fprintf(to, "[%s]+%" PRIx64,
			profile_string(p,
				       profile_module(p, (module_id){ l.module[location] })->path,
				       NULL),
			l.address[location]);
}

static void print_stack(FILE *to, const struct profile *p, uint32_t stack)
{
	struct stack_columns s;

	profile_stacks(p, &s);
	if (s.parent[stack] != 0) {
		print_stack(to, p, s.parent[stack]);
		fputc(';', to);
	}
	print_frame(to, p, s.location[stack]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *print_sample(const struct profile *p, const struct sample_columns *s, uint64_t i)
{
	uint16_t event = s->event ? s->event[i] : 0;
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	fprintf(to, "%s %" PRId64 " ",
		profile_string(p, profile_event(p, (event_id){ event })->name, NULL),
		s->weight ? s->weight[i] : 1);
	if (s->time_ns && s->time_ns[i] != TIME_NONE)
		fprintf(to, "%" PRId64 " ", s->time_ns[i]);
	else
		fprintf(to, "- ");
	print_stack(to, p, s->stack[i]);
	fclose(to);
	return text;
}

char *made_text_of(const struct profile *p)
{
	struct profile_counts counts;
	struct sample_columns s;
	char **lines, *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	profile_counts_read(p, &counts);
	profile_samples(p, &s);
	lines = xcalloc(counts.n_samples + 1, sizeof(*lines));
	for (uint64_t i = 0; i < counts.n_samples; i++)
		lines[i] = print_sample(p, &s, i);
	qsort(lines, counts.n_samples, sizeof(*lines), by_text);
	for (uint64_t i = 0; i < counts.n_samples; i++) {
		fprintf(to, "%s\n", lines[i]);
		free(lines[i]);
	}
	fclose(to);
	free(lines);
	return text;
}
