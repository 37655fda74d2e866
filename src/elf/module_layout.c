/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The layout of modules; see module_layout.h.
 *
 * Source: layout_sections() in kernel/module/main.c of Linux. Sections with code come first, in the order of the
 * file, each aligned as it says; those of .init are elsewhere and freed after the module's start.
 */
#include "config.h"

#include "elf/module_layout.h"

#include <elf.h>
#include <string.h>

#include "elf/elf_file.h"
#include "elf/elf_relocate.h"
#include "elf/segments.h"

#define CODE      (SHF_ALLOC | SHF_EXECINSTR)
#define BYTES_MAX (UINT64_C(1) << 32) /* of a module; elf_relocate_base() leaves room for more */

/* Elsewhere the kernel adds tables of its own before or between sections, whose sizes the file does not say. */
static bool is_plain(const struct elf_file *f)
{
	return elf_file_machine(f) == EM_X86_64 || elf_file_machine(f) == EM_386;
}

void module_layout_take(struct segments *to, const struct elf_file *f)
{
	const struct elf_section *s;
	uint64_t at = 0, unit;

	if (elf_file_type(f) != ET_REL)
		return;
	for (uint32_t i = 1; (s = elf_file_section_at(f, i)) != NULL; i++) {
		if ((s->flags & CODE) != CODE || strncmp(s->name, ".init", 5) == 0 ||
		    (!is_plain(f) && strcmp(s->name, ".text") != 0))
			continue;
		unit = s->alignment > 1 ? s->alignment : 1;
		if (unit > BYTES_MAX || (unit & (unit - 1)) != 0 || s->size > BYTES_MAX)
			return;
		at = (at + unit - 1) & ~(unit - 1);
		if (at > BYTES_MAX)
			return;
		vec_push(&to->all, ((struct elf_segment){ .offset = at,
							  .address = elf_relocate_base(f, s),
							  .file_bytes = s->size,
							  .memory_bytes = s->size }));
		at += s->size;
	}
}
