/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "elf/frame_tables.h"

#include "elf/elf_compressed.h"
#include "elf/elf_file.h"
#include "unwind/cfi.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* More than this of unwind tables is not believed. */
#define FRAMES_MAX (UINT64_C(1) << 30)
#define HDR_BYTES  8 /* of .eh_frame_hdr to where it says .eh_frame is */

static struct cfi_section take_section(const struct elf_file *f, const char *name, uint8_t **keep)
{
	const struct elf_section *s = f ? elf_file_section(f, name) : NULL;
	struct cfi_section out = { .n = 0 };

	if (!s)
		return out;
	*keep = elf_section_unpacked(f, s, &out.n);
	if (!*keep)
		return (struct cfi_section){ .n = 0 };
	out.bytes = *keep;
	out.address = s->address;
	return out;
}

static struct cfi_section take_range(const struct elf_file *f, uint64_t address, uint64_t offset,
				     uint64_t size, uint8_t **keep)
{
	struct cfi_section out = { .n = 0 };

	*keep = size <= FRAMES_MAX ? elf_file_read(f, offset, size) : NULL;
	if (*keep)
		out = (struct cfi_section){ .bytes = *keep, .n = (size_t)size, .address = address };
	return out;
}

/*
 * Without section headers: the program headers tell of .eh_frame_hdr, which tells of .eh_frame (LSB
 * 5.0, "DWARF Extensions"), in the encoding that linkers write. Where that ends its zero length says.
 */
static void take_by_headers(const struct elf_file *f, struct cfi_sections *s, uint8_t **bytes)
{
	struct elf_segment hdr;
	const struct elf_segment *load;
	uint64_t frames;
	int32_t relative;
	size_t n;

	if (!elf_file_eh_frame_hdr(f, &hdr))
		return;
	s->eh_frame_hdr = take_range(f, hdr.address, hdr.offset, hdr.file_bytes, &bytes[1]);
	if (s->eh_frame_hdr.n < HDR_BYTES || bytes[1][0] != 1 ||
	    bytes[1][1] != 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */)
		return;
	memcpy(&relative, bytes[1] + 4, sizeof(relative));
	frames = hdr.address + 4 + (uint64_t)(int64_t)relative;
	load = elf_file_segments(f, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = frames - load[i].address;

		if (frames >= load[i].address && at < load[i].file_bytes)
			s->eh_frame = take_range(f, frames, load[i].offset + at,
						 load[i].file_bytes - at, &bytes[0]);
		if (s->eh_frame.n > 0)
			return;
	}
}

bool frame_tables_arch(const struct elf_file *f, enum unwind_arch *arch)
{
	uint16_t machine = elf_file_machine(f);

	*arch = machine == EM_X86_64 ? UNWIND_X86_64 : UNWIND_AARCH64;
	return (machine == EM_X86_64 || machine == EM_AARCH64) && elf_file_is64(f) &&
	       !elf_file_swapped(f);
}

bool frame_tables_take(struct frame_tables *t, const struct elf_file *runtime,
		       const struct elf_file *debug)
{
	struct cfi_sections s = { .eh_frame = { .n = 0 } };

	if (!frame_tables_arch(runtime, &s.arch))
		return false;
	s.eh_frame = take_section(runtime, ".eh_frame", &t->bytes[0]);
	s.eh_frame_hdr = take_section(runtime, ".eh_frame_hdr", &t->bytes[1]);
	s.debug_frame = take_section(debug ? debug : runtime, ".debug_frame", &t->bytes[2]);
	if (s.eh_frame.n == 0 && s.debug_frame.n == 0 && s.eh_frame_hdr.n == 0)
		take_by_headers(runtime, &s, t->bytes);
	t->n_bytes = s.eh_frame.n + s.eh_frame_hdr.n + s.debug_frame.n;
	segments_take(&t->segments, runtime);
	t->cfi = cfi_new(&s);
	return true;
}

void frame_tables_done(struct frame_tables *t)
{
	cfi_free(t->cfi);
	for (size_t i = 0; i < 3; i++)
		free(t->bytes[i]);
	segments_done(&t->segments);
}
