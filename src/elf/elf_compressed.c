/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: the gABI on compressed sections. */
#include "config.h"

#include "elf/elf_compressed.h"

#include <elf.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "elf/elf_decompress.h"
#include "elf/elf_file.h"

#define COMPRESS_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */

bool elf_is_packed(const struct elf_section *s)
{
	return s->flags & SHF_COMPRESSED && s->type != SHT_NOBITS;
}

bool elf_packing_read(const struct elf_file *f, const struct elf_section *s,
		      struct elf_packing *out)
{
	bool wide = elf_file_is64(f);
	uint8_t header[24];
	size_t n = wide ? 24 : 12;
	struct bytes b = bytes_over(header, n, elf_file_swapped(f));
	uint32_t type;

	if (!elf_file_holds(f, s->offset, s->size) || s->size < n ||
	    !elf_file_read_into(f, header, n, s->offset))
		return false;
	type = take_u32(&b);
	if (wide)
		take_u32(&b);
	*out = (struct elf_packing){ .zstd = type == COMPRESS_ZSTD,
				     .size = wide ? take_u64(&b) : take_u32(&b),
				     .offset = s->offset + n,
				     .packed = s->size - n };
	return out->size <= ELF_UNPACKED_MAX && (out->zstd || type == ELFCOMPRESS_ZLIB);
}

uint8_t *elf_section_unpacked(const struct elf_file *f, const struct elf_section *s, size_t *n)
{
	struct elf_packing p;
	uint8_t *packed, *bytes = NULL;

	if (!elf_is_packed(s))
		return elf_file_read_section(f, s, n);
	packed = elf_packing_read(f, s, &p) ? elf_file_read(f, p.offset, p.packed) : NULL;
	if (packed)
		bytes = elf_decompress_section(packed, (size_t)p.packed, p.zstd, (size_t)p.size);
	free(packed);
	if (bytes)
		*n = (size_t)p.size;
	return bytes;
}
