/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files with symbols in recordings of simpleperf; see simpleperf_files.h. Layouts follow Android's
 * system/extras simpleperf: record_file_format.h and record_file.proto.
 */
#include "config.h"

#include "perf/file/simpleperf_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/pack_numbers.h"
#include "elf/symtab.h"
#include "symbols/resolver.h"

#define NAME_BYTES 65536

enum file_type { FILE_KERNEL, FILE_MODULE, FILE_ELF, FILE_DEX };

/* A file while it is read. */
struct file {
	char *path; /* owned */
	uint64_t type;
	uint64_t min_vaddr;   /* of its code */
	uint64_t code_offset; /* where that is in the file; UINT64_MAX: not recorded */
	struct symtab *symbols;
};

static struct file file_begin(void)
{
	return (struct file){ .type = FILE_ELF,
			      .code_offset = UINT64_MAX,
			      .symbols = symtab_new() };
}

/* Hands it over, unless it has no symbols. */
static void file_end(struct file *f, struct resolver *r)
{
	bool elf = f->type == FILE_ELF;

	if (f->path && symtab_n(f->symbols) > 0) {
		symtab_seal(f->symbols);
		resolver_symbols(r, f->path, elf ? f->min_vaddr : 0, elf ? f->code_offset : 0,
				 f->symbols);
	} else {
		symtab_free(f->symbols);
	}
	free(f->path);
}

static void add_symbol(struct file *f, uint64_t start, uint64_t size, const char *name, size_t n)
{
	struct symbol s = { .start = start, .kind = SYMBOL_CODE, .binding = BINDING_GLOBAL };
	char *copy;

	n = n < NAME_BYTES ? n : NAME_BYTES;
	if (n == 0)
		return;
	copy = xstrndup(name, n);
	symtab_keep(f->symbols, copy, n + 1);
	s.end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
	s.name = copy;
	symtab_add(f->symbols, &s);
}

static void take_file(struct resolver *r, struct bytes *b)
{
	struct file f = file_begin();
	const char *path = take_cstr(b);
	uint32_t n;

	f.path = path ? xstrdup(path) : NULL;
	f.type = take_u32(b);
	f.min_vaddr = take_u64(b);
	n = take_u32(b);
	for (uint32_t i = 0; i < n && !b->bad; i++) {
		uint64_t start = take_u64(b);
		uint32_t size = take_u32(b);
		const char *name = take_cstr(b);

		if (!b->bad)
			add_symbol(&f, start, size, name, strlen(name));
	}
	if (!b->bad && f.type == FILE_ELF && bytes_left(b) >= sizeof(uint64_t))
		f.code_offset = take_u64(b);
	file_end(&f, r);
}

bool simpleperf_files(struct resolver *r, const uint8_t *bytes, size_t n, bool swap)
{
	struct bytes b = bytes_over(bytes, n, swap);

	while (bytes_left(&b) > 0 && !b.bad) {
		uint32_t size = take_u32(&b);
		const uint8_t *at = take_bytes(&b, size);
		struct bytes one = bytes_over(at, b.bad ? 0 : size, swap);

		if (b.bad)
			break;
		take_file(r, &one);
		b.bad = one.bad;
	}
	return !b.bad;
}

/* A field of a protocol buffer: a number, or bytes. */
struct proto {
	uint32_t field;
	uint64_t value;
	struct bytes in;
};

/* The next field; false at the end or where it is damaged. */
static bool take_proto(struct bytes *b, struct proto *p)
{
	uint64_t key, size;

	if (b->bad || bytes_left(b) == 0)
		return false;
	key = pack_take(b);
	*p = (struct proto){ .field = (uint32_t)(key >> 3) };
	switch (key & 7) {
	case 0:
		p->value = pack_take(b);
		break;
	case 1:
		p->value = take_u64(b);
		break;
	case 2:
		size = pack_take(b);
		if (size > bytes_left(b))
			b->bad = true;
		else
			p->in = bytes_over(take_bytes(b, (size_t)size), (size_t)size, false);
		break;
	case 5:
		p->value = take_u32(b);
		break;
	default:
		b->bad = true;
	}
	return !b->bad;
}

static void take_symbol2(struct file *f, struct bytes *b)
{
	uint64_t start = 0, size = 0;
	struct bytes name = { 0 };
	struct proto p;

	while (take_proto(b, &p)) {
		if (p.field == 1)
			start = p.value;
		else if (p.field == 2)
			size = p.value;
		else if (p.field == 3)
			name = p.in;
	}
	if (!b->bad)
		add_symbol(f, start, size, (const char *)name.at, bytes_left(&name));
}

static void take_file2(struct resolver *r, struct bytes *b)
{
	struct file f = file_begin();
	struct proto p, inner;

	f.type = FILE_KERNEL; /* which protocol buffers leave out */
	while (take_proto(b, &p)) {
		if (p.field == 1 && !f.path)
			f.path = xstrndup((const char *)p.in.at, bytes_left(&p.in));
		else if (p.field == 2)
			f.type = p.value;
		else if (p.field == 3)
			f.min_vaddr = p.value;
		else if (p.field == 4)
			take_symbol2(&f, &p.in);
		else if (p.field == 6 && take_proto(&p.in, &inner) && inner.field == 1)
			f.code_offset = inner.value;
		else if (p.field == 6)
			f.code_offset = 0;
	}
	file_end(&f, r);
}

bool simpleperf_files2(struct resolver *r, const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);

	while (bytes_left(&b) > 0 && !b.bad) {
		uint32_t size = take_u32(&b);
		const uint8_t *at = take_bytes(&b, size);
		struct bytes one = bytes_over(at, b.bad ? 0 : size, false);

		if (b.bad)
			break;
		take_file2(r, &one);
		b.bad = one.bad;
	}
	return !b.bad;
}
