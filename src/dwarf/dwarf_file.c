/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sections of debug information; see dwarf_file.h.
 *
 * Sources: DWARF 5 §7.3.5 (split files), the GNU notes on .zdebug sections.
 */
#include "config.h"

#include "dwarf/dwarf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_compressed.h"
#include "elf/elf_decompress.h"
#include "elf/elf_file.h"
#include "elf/elf_relocate.h"

#define NAME_MAX_BYTES 64

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

/* A section with a compression header: as far as it is needed if that can be, or whole. */
static void unpack(struct lazy_bytes *to, const struct elf_file *f, const struct elf_section *s,
		   unsigned shift)
{
	struct elf_packing p;
	uint8_t *bytes;
	size_t n = 0;

	if (!elf_packing_read(f, s, &p))
		return;
	if (!p.zstd && !elf_relocate_wanted(f, s)) {
		lazy_unpack(to, f, p.offset, p.packed, p.size, shift);
		return;
	}
	bytes = elf_section_unpacked(f, s, &n);
	if (!bytes)
		return;
	elf_relocate(f, s, bytes, n);
	lazy_take(to, bytes, n);
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
		bytes = size <= ELF_UNPACKED_MAX
				? elf_decompress_section(packed + 12, n - 12, false, (size_t)size)
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

/* False: it is there, but cannot be read, or there is no room for it. */
static bool open_section(struct dwarf_file *f, unsigned which, bool split)
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
		return to->n > 0;
	}
	name[1] = '.';
	s = elf_file_section(f->elf, name + 1);
	if (!s || s->type == SHT_NOBITS || s->size == 0)
		return true;
	if (elf_is_packed(s))
		unpack(to, f->elf, s, sections[which].shift);
	else if (elf_relocate_wanted(f->elf, s))
		open_relocated(to, f->elf, s);
	else if (elf_file_holds(f->elf, s->offset, s->size))
		lazy_open(to, f->elf, s->offset, s->size, sections[which].shift);
	return to->n > 0;
}

/* All of a file but what it links to. */
static struct dwarf_file *file_of(struct elf_file *elf, bool split)
{
	struct dwarf_file *f = xcalloc(1, sizeof(*f));
	bool named = true;

	f->elf = elf;
	f->swap = elf_file_swapped(elf);
	for (unsigned i = 0; i < N_DWARF_SECTIONS; i++) {
		bool good = open_section(f, i, split);

		f->n_unreadable += !good;
		named = named && (good || i != DWARF_STR);
	}
	if (f->section[DWARF_INFO].n == 0 || f->section[DWARF_ABBREV].n == 0 || !named) {
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
	char *name = elf_file_altlink(f->elf, elf_file_name(f->elf), &id);

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
