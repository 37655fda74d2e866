/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts are those that perf_abi.c reads. */
#include "config.h"

#include "perf/abi/perf_put.h"

#include <string.h>

#include "base/mem.h"

#define PATH_BYTES_MAX 4096
#define MISC_AT        4  /* in a record */
#define FILE_AT        40 /* in a MMAP2: which file is mapped, or its build-id */
#define FILE_BYTES     24
#define PROT_OF_DATA   1 /* PROT_READ */
#define PROT_OF_CODE   5 /* PROT_READ | PROT_EXEC */
#define MAP_OF_FILE    2 /* MAP_PRIVATE */

void perf_put_bytes(struct perf_put *b, const void *p, size_t n)
{
	vec_reserve(b, b->n + n);
	if (n > 0)
		memcpy(b->at + b->n, p, n);
	b->n += n;
}

void perf_put_u16(struct perf_put *b, uint16_t v)
{
	perf_put_bytes(b, &v, sizeof(v));
}

void perf_put_u32(struct perf_put *b, uint32_t v)
{
	perf_put_bytes(b, &v, sizeof(v));
}

void perf_put_u64(struct perf_put *b, uint64_t v)
{
	perf_put_bytes(b, &v, sizeof(v));
}

void perf_put_text(struct perf_put *b, const char *s, size_t n)
{
	static const uint8_t zeros[8] = { 0 };

	perf_put_bytes(b, s, n);
	perf_put_bytes(b, zeros, 8 - n % 8);
}

void perf_attr_encode(const struct perf_attr *a, uint8_t out[PERF_ATTR_BYTES])
{
	struct perf_put b = { 0 };

	perf_put_u32(&b, a->type);
	perf_put_u32(&b, PERF_ATTR_BYTES);
	perf_put_u64(&b, a->config);
	perf_put_u64(&b, a->sample_period);
	perf_put_u64(&b, a->sample_type);
	perf_put_u64(&b, a->read_format);
	perf_put_u64(&b, a->flags);
	perf_put_u32(&b, a->wakeup);
	perf_put_u32(&b, a->bp_type);
	perf_put_u64(&b, a->bp_addr);
	perf_put_u64(&b, 0); /* config2 */
	perf_put_u64(&b, a->branch_sample_type);
	perf_put_u64(&b, a->sample_regs_user);
	perf_put_u32(&b, a->sample_stack_user);
	perf_put_u32(&b, (uint32_t)a->clockid);
	perf_put_u64(&b, a->sample_regs_intr);
	perf_put_u64(&b, 0); /* aux_watermark, sample_max_stack */
	memcpy(out, b.at, PERF_ATTR_BYTES);
	vec_done(&b);
}

size_t perf_put_begin(struct perf_put *b, uint32_t type, uint16_t misc)
{
	size_t begun = b->n;

	perf_put_u32(b, type);
	perf_put_u16(b, misc);
	perf_put_u16(b, 0);
	return begun;
}

/* The order of the fields is that of perf_trailer_decode(). */
static void put_trailer(struct perf_put *b, const struct perf_attr *a, const struct perf_trailer *t)
{
	uint64_t type = a->flags & PERF_ATTR_SAMPLE_ID_ALL ? a->sample_type : 0;

	if (type & PERF_S_TID) {
		perf_put_u32(b, (uint32_t)t->pid);
		perf_put_u32(b, (uint32_t)t->tid);
	}
	if (type & PERF_S_TIME)
		perf_put_u64(b, t->time);
	if (type & PERF_S_ID)
		perf_put_u64(b, t->id);
	if (type & PERF_S_STREAM_ID)
		perf_put_u64(b, 0);
	if (type & PERF_S_CPU) {
		perf_put_u32(b, t->cpu);
		perf_put_u32(b, 0);
	}
	if (type & PERF_S_IDENTIFIER)
		perf_put_u64(b, t->id);
}

void perf_put_end(struct perf_put *b, size_t begun, const struct perf_attr *a,
		  const struct perf_trailer *t)
{
	uint16_t size;

	if (t)
		put_trailer(b, a, t);
	size = (uint16_t)(b->n - begun);
	memcpy(b->at + begun + 6, &size, sizeof(size));
}

void perf_put_comm(struct perf_put *b, const struct perf_attr *a, const struct perf_comm *c,
		   const struct perf_trailer *t)
{
	size_t begun = perf_put_begin(b, PERF_REC_COMM, 0);

	perf_put_u32(b, (uint32_t)c->pid);
	perf_put_u32(b, (uint32_t)c->tid);
	perf_put_text(b, c->name, c->name_len);
	perf_put_end(b, begun, a, t);
}

void perf_put_cgroup(struct perf_put *b, const struct perf_attr *a, const struct perf_cgroup *g,
		     const struct perf_trailer *t)
{
	size_t begun = perf_put_begin(b, PERF_REC_CGROUP, 0);

	perf_put_u64(b, g->number);
	perf_put_text(b, g->path, g->path_len < PATH_BYTES_MAX ? g->path_len : PATH_BYTES_MAX - 1);
	perf_put_end(b, begun, a, t);
}

void perf_put_task(struct perf_put *b, uint32_t type, const struct perf_attr *a,
		   const struct perf_task *k, const struct perf_trailer *t)
{
	size_t begun = perf_put_begin(b, type, 0);

	perf_put_u32(b, (uint32_t)k->pid);
	perf_put_u32(b, (uint32_t)k->ppid);
	perf_put_u32(b, (uint32_t)k->tid);
	perf_put_u32(b, (uint32_t)k->ptid);
	perf_put_u64(b, k->time);
	perf_put_end(b, begun, a, t);
}

void perf_put_lost(struct perf_put *b, const struct perf_attr *a, uint64_t n_lost,
		   const struct perf_trailer *t)
{
	size_t begun = perf_put_begin(b, PERF_REC_LOST, 0);

	perf_put_u64(b, t->id);
	perf_put_u64(b, n_lost);
	perf_put_end(b, begun, a, t);
}

void perf_put_mmap(struct perf_put *b, uint16_t misc, const struct perf_attr *a,
		   const struct perf_mmap *m, const struct perf_trailer *t)
{
	bool wide = m->pid >= 0 || m->n_build_id > 0;
	uint16_t id = m->n_build_id ? PERF_MISC_MMAP_BUILD_ID : 0;
	uint16_t data = m->executable ? 0 : PERF_MISC_MMAP_DATA;
	size_t begun = perf_put_begin(b, wide ? PERF_REC_MMAP2 : PERF_REC_MMAP, misc | id | data);
	uint8_t file[FILE_BYTES] = { m->n_build_id };

	perf_put_u32(b, (uint32_t)m->pid);
	perf_put_u32(b, (uint32_t)m->tid);
	perf_put_u64(b, m->start);
	perf_put_u64(b, m->length);
	perf_put_u64(b, m->file_offset);
	if (wide) {
		memcpy(file + 4, m->build_id, m->n_build_id);
		perf_put_bytes(b, file, sizeof(file));
		perf_put_u32(b, m->executable ? PROT_OF_CODE : PROT_OF_DATA);
		perf_put_u32(b, MAP_OF_FILE);
	}
	perf_put_text(b, m->path, m->path_len < PATH_BYTES_MAX ? m->path_len : PATH_BYTES_MAX);
	perf_put_end(b, begun, a, t);
}

void perf_put_build_id(uint8_t *mmap2, const uint8_t *id, size_t n)
{
	uint8_t file[FILE_BYTES] = { (uint8_t)n };
	uint16_t misc;

	memcpy(&misc, mmap2 + MISC_AT, sizeof(misc));
	misc = (uint16_t)(n > 0 ? misc | PERF_MISC_MMAP_BUILD_ID : misc & ~PERF_MISC_MMAP_BUILD_ID);
	memcpy(mmap2 + MISC_AT, &misc, sizeof(misc));
	if (n == 0)
		return;
	memcpy(file + 4, id, n);
	memcpy(mmap2 + FILE_AT, file, sizeof(file));
}
