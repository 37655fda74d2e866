/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BPF programs of a recording; see bpf_programs.h. Pointers in struct bpf_prog_info are offsets in the
 * arrays behind it. Functions are named as the kernel names them in KSYMBOL records, so that those find
 * their sources.
 */
#include "config.h"

#include "perf/file/bpf_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compare.h"
#include "base/mem.h"
#include "perf/file/bpf_types.h"
#include "symbols/resolver.h"

#define TAG_BYTES  8
#define NAME_BYTES 16
#define NAME_MAX   512 /* as the kernel's names are cut */

/* Bits of what arrays there are. */
enum array {
	ARRAY_KSYMS = 3,
	ARRAY_LENGTHS,
	ARRAY_FUNCTIONS,
	ARRAY_LINES,
	ARRAY_ADDRESSES,
	ARRAY_TAGS
};

/* Records of one size, among the arrays. */
struct table {
	const uint8_t *at; /* NULL: there is none */
	uint32_t n;
	uint32_t stride; /* bytes from one to the next */
	bool swap;
};

struct program {
	uint8_t tag[TAG_BYTES];
	char name[NAME_BYTES + 1];
	uint32_t types; /* id of its BTF; 0: none */
	struct table ksyms, lengths, functions, lines, addresses, tags;
};

/* A line that begins at an address. */
struct line {
	uint64_t address;
	uint32_t index; /* in program.lines */
};

/* What is being told. */
struct telling {
	struct resolver *resolver;
	const struct bpf_types *types;
	VEC(struct line) lines; /* of the program, by address */
};

static struct bytes entry(const struct table *t, uint32_t i)
{
	return bytes_over(t->at + (size_t)i * t->stride, t->stride, t->swap);
}

static uint64_t entry_u64(const struct table *t, uint32_t i)
{
	struct bytes b = entry(t, i);

	return take_u64(&b);
}

/* The table at an offset of the arrays; none when it is not all there. */
static struct table table_at(const struct bytes *data, bool there, uint64_t offset, uint32_t n,
			     uint32_t stride, uint32_t least)
{
	size_t left = bytes_left(data);

	if (!there || n == 0 || stride < least || offset > left || n > (left - offset) / stride)
		return (struct table){ .at = NULL };
	return (struct table){ data->at + offset, n, stride, data->swap };
}

/* struct bpf_prog_info, as much as the recorder's kernel headers knew of it. */
static void take_info(struct bytes *b, const struct bytes *data, uint64_t arrays, struct program *p)
{
	uint32_t n_ksyms, n_lengths, n_functions, n_lines, n_addresses, n_tags;
	uint32_t function_bytes, line_bytes, address_bytes;
	uint64_t ksyms, lengths, functions, lines, addresses, tags;
	const uint8_t *name, *tag;

	take_u64(b); /* type, id */
	tag = take_bytes(b, TAG_BYTES);
	if (tag)
		memcpy(p->tag, tag, TAG_BYTES);
	take_bytes(b, 48); /* lengths, code, load time, user, maps */
	name = take_bytes(b, NAME_BYTES);
	if (name)
		memcpy(p->name, name, NAME_BYTES);
	take_bytes(b, 24); /* interface, flags, network namespace */
	n_ksyms = take_u32(b);
	n_lengths = take_u32(b);
	ksyms = take_u64(b);
	lengths = take_u64(b);
	p->types = take_u32(b);
	function_bytes = take_u32(b);
	functions = take_u64(b);
	n_functions = take_u32(b);
	n_lines = take_u32(b);
	lines = take_u64(b);
	addresses = take_u64(b);
	n_addresses = take_u32(b);
	line_bytes = take_u32(b);
	address_bytes = take_u32(b);
	n_tags = take_u32(b);
	tags = take_u64(b);
#define HAS(a) (arrays >> (a)&1)
	p->ksyms = table_at(data, HAS(ARRAY_KSYMS), ksyms, n_ksyms, 8, 8);
	p->lengths = table_at(data, HAS(ARRAY_LENGTHS), lengths, n_lengths, 4, 4);
	p->functions = table_at(data, HAS(ARRAY_FUNCTIONS), functions, n_functions, function_bytes,
				8);
	p->lines = table_at(data, HAS(ARRAY_LINES), lines, n_lines, line_bytes, 16);
	p->addresses = table_at(data, HAS(ARRAY_ADDRESSES), addresses, n_addresses, address_bytes,
				8);
	p->tags = table_at(data, HAS(ARRAY_TAGS), tags, n_tags, TAG_BYTES, TAG_BYTES);
#undef HAS
}

static int by_address(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	return COMPARE(a->address, b->address) ?: COMPARE(a->index, b->index);
}

static void sort_lines(struct telling *t, const struct program *p)
{
	vec_clear(&t->lines);
	for (uint32_t i = 0; i < p->addresses.n && i < p->lines.n; i++)
		vec_push(&t->lines, ((struct line){ entry_u64(&p->addresses, i), i }));
	if (t->lines.n > 0)
		qsort(t->lines.at, t->lines.n, sizeof(*t->lines.at), by_address);
}

/* The first line of [start, start + length); NULL. */
static const struct line *first_line(const struct telling *t, uint64_t start, uint32_t length)
{
	size_t low = 0;

	BISECT(low, t->lines.n, i, t->lines.at[i].address < start);
	if (low == t->lines.n || t->lines.at[low].address - start >= length)
		return NULL;
	return &t->lines.at[low];
}

/* As the kernel calls function i of a program: the first one has the program's tag. */
static void write_name(const struct telling *t, const struct program *p, uint32_t i, char *out)
{
	const uint8_t *tag = i == 0 ? p->tag : p->tags.at + (size_t)i * TAG_BYTES;
	const char *own = NULL;
	int n = snprintf(out, NAME_MAX, "bpf_prog_");

	for (size_t k = 0; k < TAG_BYTES; k++)
		n += snprintf(out + n, NAME_MAX - (size_t)n, "%02x", tag[k]);
	if (i < p->functions.n) {
		struct bytes b = entry(&p->functions, i);

		take_u32(&b); /* number of its first instruction */
		own = bpf_types_function(t->types, p->types, take_u32(&b));
	}
	if (!own && p->ksyms.n == 1)
		own = p->name;
	if (own && *own)
		snprintf(out + n, NAME_MAX - (size_t)n, "_%s", own);
}

static void tell_source(struct telling *t, const struct program *p, const char *name,
			const struct line *l)
{
	struct bytes b = entry(&p->lines, l->index);
	const char *file;
	uint32_t line;

	take_u32(&b); /* number of the instruction */
	file = bpf_types_string(t->types, p->types, take_u32(&b));
	take_u32(&b);              /* the line itself */
	line = take_u32(&b) >> 10; /* below it the column */
	if (file && *file && line > 0)
		resolver_declared(t->resolver, name, file, line);
}

static void tell_functions(struct telling *t, const struct program *p)
{
	sort_lines(t, p);
	for (uint32_t i = 0; i < p->ksyms.n && i < p->lengths.n && (i == 0 || i < p->tags.n); i++) {
		struct bytes length = entry(&p->lengths, i);
		struct mapping_event m = { .time_ns = INT64_MIN, .pid = -1, .executable = true };
		char name[NAME_MAX];
		const struct line *l;

		m.start = entry_u64(&p->ksyms, i);
		m.length = take_u32(&length);
		if (m.length == 0)
			continue;
		write_name(t, p, i, name);
		m.path = name;
		resolver_map(t->resolver, &m);
		l = first_line(t, m.start, (uint32_t)m.length);
		if (l)
			tell_source(t, p, name, l);
	}
}

bool bpf_programs(struct resolver *r, struct bpf_feature programs, struct bpf_feature types,
		  bool swap)
{
	struct bytes b = bytes_over(programs.at, programs.n, swap);
	struct telling t = { .resolver = r };
	uint32_t n;
	bool good;
	struct bpf_types *known = bpf_types_new(types.at, types.n, swap, &good);

	t.types = known;
	n = programs.n > 0 ? take_u32(&b) : 0;
	for (uint32_t i = 0; i < n && !b.bad; i++) {
		uint32_t info_bytes = take_u32(&b), data_bytes = take_u32(&b);
		uint64_t arrays = take_u64(&b);
		const uint8_t *info_at = take_bytes(&b, info_bytes);
		const uint8_t *data_at = take_bytes(&b, data_bytes);
		struct bytes info = bytes_over(info_at, b.bad ? 0 : info_bytes, swap);
		struct bytes data = bytes_over(data_at, b.bad ? 0 : data_bytes, swap);
		struct program p = { .types = 0 };

		take_info(&info, &data, arrays, &p);
		tell_functions(&t, &p);
	}
	vec_done(&t.lines);
	bpf_types_free(known);
	return good && !b.bad;
}
