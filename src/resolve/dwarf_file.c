/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sections of debug information; see dwarf_file.h.
 *
 * Sources: DWARF 5 §7.3.5 (split files), the gABI on compressed sections, the GNU notes on
 * .zdebug sections.
 */
#include "config.h"

#include "dwarf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "bytes.h"
#include "elf_file.h"
#include "elf_relocate.h"
#include "mem.h"
#include "packed.h"

#define UNPACKED_MAX   (UINT64_C(4) << 30) /* bytes of a packed section */
#define NAME_MAX_BYTES 64
#define COMPRESS_ZSTD  2 /* ELFCOMPRESS_ZSTD, which older headers lack */

/* Strings are few and far between, units are read whole. */
static const struct {
	const char *name;
	unsigned shift; /* of a block */
} sections[N_DWARF_SECTIONS] = {
	[DWARF_INFO] = { "info", 16 },
	[DWARF_ABBREV] = { "abbrev", 14 },
	[DWARF_STR] = { "str", 12 },
	[DWARF_LINE_STR] = { "line_str", 14 },
	[DWARF_STR_OFFSETS] = { "str_offsets", 14 },
	[DWARF_ADDR] = { "addr", 14 },
	[DWARF_RANGES] = { "ranges", 14 },
	[DWARF_RNGLISTS] = { "rnglists", 14 },
	[DWARF_LINE] = { "line", 14 },
	[DWARF_CU_INDEX] = { "cu_index", 14 },
	[DWARF_ARANGES] = { "aranges", 14 },
};

/* What the header of a packed section says. */
struct packing {
	uint32_t type;
	uint64_t size;   /* of what was packed */
	uint64_t offset; /* in the file, of the packed bytes */
	uint64_t packed; /* of them */
};

static bool read_packing(const struct elf_file *f, const struct elf_section *s, struct packing *p)
{
	bool wide = elf_file_is64(f);
	uint8_t header[24];
	size_t n = wide ? 24 : 12;
	struct bytes b = bytes_over(header, n, elf_file_swapped(f));

	if (s->size < n || !elf_file_read_into(f, header, n, s->offset))
		return false;
	p->type = take_u32(&b);
	if (wide)
		take_u32(&b);
	p->size = wide ? take_u64(&b) : take_u32(&b);
	p->offset = s->offset + n;
	p->packed = s->size - n;
	return p->size <= UNPACKED_MAX && (p->type == ELFCOMPRESS_ZLIB || p->type == COMPRESS_ZSTD);
}

/* A section with a compression header: as far as it is needed if that can be, or whole. */
static void unpack(struct lazy_bytes *to, const struct elf_file *f, const struct elf_section *s,
		   unsigned shift)
{
	struct packing p;
	uint8_t *packed;
	size_t n = 0;
	void *bytes;

	if (!elf_file_holds(f, s->offset, s->size) || !read_packing(f, s, &p))
		return;
	if (p.type == ELFCOMPRESS_ZLIB && !elf_relocate_wanted(f, s)) {
		lazy_unpack(to, f, p.offset, p.packed, p.size, shift);
		return;
	}
	packed = elf_file_read_section(f, s, &n);
	bytes = packed ? packed_section(packed + (p.offset - s->offset), (size_t)p.packed,
					p.type == COMPRESS_ZSTD, (size_t)p.size)
		       : NULL;
	if (bytes) {
		elf_relocate(f, s, bytes, (size_t)p.size);
		lazy_take(to, bytes, (size_t)p.size);
	}
	free(packed);
}

/* .zdebug_*: "ZLIB", the size as 8 bytes of big-endian, the packed bytes. */
static void unpack_gnu(struct lazy_bytes *to, const struct elf_file *f, const struct elf_section *s)
{
	size_t n = 0;
	uint8_t *packed = elf_file_read_section(f, s, &n);
	uint64_t size = 0;
	void *bytes;

	if (packed && n > 12 && memcmp(packed, "ZLIB", 4) == 0) {
		for (unsigned i = 4; i < 12; i++)
			size = size << 8 | packed[i];
		bytes = size <= UNPACKED_MAX
				? packed_section(packed + 12, n - 12, false, (size_t)size)
				: NULL;
		if (bytes) {
			elf_relocate(f, s, bytes, (size_t)size);
			lazy_take(to, bytes, (size_t)size);
		}
	}
	free(packed);
}

/* Of a file that is not linked yet; read whole. */
static void open_relocated(struct lazy_bytes *to, const struct elf_file *f,
			   const struct elf_section *s)
{
	size_t n = 0;
	uint8_t *bytes = elf_file_read_section(f, s, &n);

	if (!bytes)
		return;
	elf_relocate(f, s, bytes, n);
	lazy_take(to, bytes, n);
}

static void open_section(struct dwarf_file *f, unsigned which, bool split)
{
	char name[NAME_MAX_BYTES] = ".zdebug_";
	const struct elf_section *s;
	struct lazy_bytes *to = &f->section[which];

	strcat(name, sections[which].name);
	if (split && which != DWARF_CU_INDEX)
		strcat(name, ".dwo");
	s = elf_file_section(f->elf, name);
	if (s) {
		unpack_gnu(to, f->elf, s);
		return;
	}
	name[1] = '.';
	s = elf_file_section(f->elf, name + 1);
	if (!s || s->type == SHT_NOBITS)
		return;
	if (s->flags & SHF_COMPRESSED)
		unpack(to, f->elf, s, sections[which].shift);
	else if (elf_relocate_wanted(f->elf, s))
		open_relocated(to, f->elf, s);
	else if (elf_file_holds(f->elf, s->offset, s->size))
		lazy_open(to, f->elf, s->offset, s->size, sections[which].shift);
}

/* All of a file but what it links to. */
static struct dwarf_file *file_of(struct elf_file *elf, bool split)
{
	struct dwarf_file *f = xcalloc(1, sizeof(*f));

	f->elf = elf;
	f->swap = elf_file_swapped(elf);
	for (unsigned i = 0; i < N_DWARF_SECTIONS; i++)
		open_section(f, i, split);
	if (f->section[DWARF_INFO].n == 0 || f->section[DWARF_ABBREV].n == 0) {
		dwarf_file_close(f);
		return NULL;
	}
	return f;
}

static struct dwarf_file *open_alone(const char *path, const struct build_id *want, bool split)
{
	struct elf_file *elf;

	if (elf_file_open(path, &elf, NULL) != 0)
		return NULL;
	if (!want || want->n == 0 || build_id_equal(want, elf_file_build_id(elf)))
		return file_of(elf, split);
	elf_file_close(elf);
	return NULL;
}

/* What the file says that dwz moved out of it. */
static struct dwarf_file *open_alt(const struct dwarf_file *f, const char *shared)
{
	struct dwarf_file *alt = NULL;
	struct build_id id;
	char *name = elf_file_altlink(f->elf, &id);

	if (name)
		alt = open_alone(shared ? shared : name, &id, false);
	free(name);
	if (alt)
		alt->number = 1;
	return alt;
}

struct dwarf_file *dwarf_file_open(const char *path, const char *shared,
				   const struct build_id *want)
{
	struct dwarf_file *f = open_alone(path, want, false);

	if (f)
		f->alt = open_alt(f, shared);
	return f;
}

struct dwarf_file *dwarf_file_open_split(const char *path)
{
	return open_alone(path, NULL, true);
}

struct dwarf_file *dwarf_file_of(struct elf_file *elf)
{
	struct dwarf_file *f = file_of(elf, false);

	if (f)
		f->alt = open_alt(f, NULL);
	return f;
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < N_DWARF_SECTIONS; i++)
		lazy_done(&f->section[i]);
	dwarf_file_close(f->alt);
	elf_file_close(f->elf);
	free(f);
}

uint64_t dwarf_number(const struct dwarf_file *f, const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;
	uint32_t four;
	bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != f->swap;

	if (bytes == sizeof(v)) {
		memcpy(&v, at, sizeof(v));
		return f->swap ? __builtin_bswap64(v) : v;
	}
	if (bytes == sizeof(four)) {
		memcpy(&four, at, sizeof(four));
		return f->swap ? __builtin_bswap32(four) : four;
	}
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * (little ? i : bytes - 1 - i);
	return v;
}

uint64_t dwarf_number_at(struct dwarf_file *f, enum dwarf_section s, uint64_t at, unsigned bytes)
{
	return lazy_need(&f->section[s], at, bytes) ? dwarf_number(f, f->section[s].at + at, bytes)
						    : 0;
}
