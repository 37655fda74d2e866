/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files with made debug information; see made_dwarf.h. */
#include "config.h"

#include "tests/support/made_dwarf.h"

#include "elf/elf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[N_MADE] = {
	[MADE_INFO] = ".debug_info",
	[MADE_ABBREV] = ".debug_abbrev",
	[MADE_STR] = ".debug_str",
	[MADE_LINE] = ".debug_line",
	[MADE_LINE_STR] = ".debug_line_str",
	[MADE_RANGES] = ".debug_ranges",
	[MADE_RNGLISTS] = ".debug_rnglists",
	[MADE_ADDR] = ".debug_addr",
	[MADE_STR_OFFSETS] = ".debug_str_offsets",
};

static void put_number(struct made_bytes *b, uint64_t x, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		vec_push(&b->v, (uint8_t)(x >> 8 * i));
}

void put_u8(struct made_bytes *b, uint64_t x)
{
	put_number(b, x, 1);
}

void put_u16(struct made_bytes *b, uint64_t x)
{
	put_number(b, x, 2);
}

void put_u32(struct made_bytes *b, uint64_t x)
{
	put_number(b, x, 4);
}

void put_u64(struct made_bytes *b, uint64_t x)
{
	put_number(b, x, 8);
}

void put_uleb(struct made_bytes *b, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		put_u8(b, (x & 0x7f) | 0x80);
	put_u8(b, x);
}

void put_text(struct made_bytes *b, const char *s)
{
	put_bytes(b, s, strlen(s) + 1);
}

void put_bytes(struct made_bytes *b, const void *p, size_t n)
{
	if (n == 0)
		return;
	vec_reserve(&b->v, b->v.n + n);
	memcpy(b->v.at + b->v.n, p, n);
	b->v.n += n;
}

void set_u32(struct made_bytes *b, size_t at, uint64_t x)
{
	for (unsigned i = 0; i < 4; i++)
		b->v.at[at + i] = (uint8_t)(x >> 8 * i);
}

void made_dwarf_done(struct made_dwarf *m)
{
	for (unsigned i = 0; i < N_MADE; i++)
		vec_done(&m->section[i].v);
}

struct elf_file *made_dwarf_elf(const struct made_dwarf *m)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = N_MADE + 2,
			 .e_shstrndx = N_MADE + 1 };
	Elf64_Shdr s[N_MADE + 2] = { { .sh_type = SHT_NULL } };
	struct made_bytes file = { 0 }, text = { 0 };
	struct elf_file *f = NULL;

	put_bytes(&file, &h, sizeof(h));
	put_u8(&text, 0);
	for (unsigned i = 0; i < N_MADE; i++) {
		s[i + 1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					 .sh_name = (Elf64_Word)text.v.n,
					 .sh_offset = file.v.n,
					 .sh_size = m->section[i].v.n };
		put_text(&text, names[i]);
		put_bytes(&file, m->section[i].v.at, m->section[i].v.n);
	}
	s[N_MADE + 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_name = 0, .sh_offset = file.v.n, .sh_size = text.v.n
	};
	put_bytes(&file, text.v.at, text.v.n);
	while (file.v.n % 8)
		put_u8(&file, 0);
	h.e_shoff = file.v.n;
	memcpy(file.v.at, &h, sizeof(h));
	put_bytes(&file, s, sizeof(s));
	vec_done(&text.v);
	elf_file_of_bytes(file.v.at, file.v.n, "made", &f, NULL);
	return f;
}
