/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules against libdw: every row that our compiler makes of an ELF file's .eh_frame and .debug_frame says
 * what libdw's row at the same pc says, and there is one for each function that .eh_frame_hdr knows. A handful of
 * system files by default; with PROFTOP_TEST_CFI=DIR… (blank-separated) every ELF file below those
 * directories, every row.
 */
#include "unwind/cfi.h"
#include "unwind/cfi_program.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct compared {
	Dwarf_CFI *libdw;
	struct cfi *ours;
	enum unwind_arch arch;
	size_t n_rows, n_general, n_different;
	size_t n_functions; /* that .eh_frame_hdr knows */
	size_t n_refused;   /* rows that libdw does not understand */
	size_t every;       /* compare each such row */
	char first[256];    /* what differed first */
};

static void differ(struct compared *c, uint64_t pc, const char *what)
{
	if (c->n_different++ == 0)
		snprintf(c->first, sizeof(c->first), "pc %#lx: %s", (unsigned long)pc, what);
}

/* Is the one operation "register + offset"? */
static bool op_is_reg(const Dwarf_Op *op, unsigned *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = (unsigned)(op->atom - DW_OP_breg0);
		*offset = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx) {
		*reg = (unsigned)op->number;
		*offset = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool cfa_agrees(const struct compared *c, const struct cfi_rule *r, Dwarf_Op *ops, size_t n)
{
	unsigned reg = 0;
	int64_t offset = 0;
	bool plain = n == 1 && op_is_reg(&ops[0], &reg, &offset);

	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_SP:
		return plain && reg == unwind_sp(c->arch) && offset == r->cfa;
	case CFA_FP:
		return plain && reg == unwind_fp(c->arch) && offset == r->cfa;
	case CFA_REGISTER:
		return plain && reg == r->reg && offset == r->cfa;
	case CFA_AT_SP:
	case CFA_AT_FP:
		return n == 2 && op_is_reg(&ops[0], &reg, &offset) && offset == r->cfa &&
		       ops[1].atom == DW_OP_deref;
	case CFA_PLT:
		return n == 9 && ops[8].atom == DW_OP_plus && ops[5].atom == DW_OP_ge &&
		       ops[4].atom - DW_OP_lit0 == r->cfa;
	case CFA_GENERAL:
		return true;
	}
	return false;
}

static bool slot_agrees(const struct compared *c, uint8_t kind, int64_t offset, int found,
			Dwarf_Op *ops, size_t n)
{
	unsigned reg = 0;
	int64_t at = 0;

	if (found != 0)
		return false;
	switch ((enum slot_kind)kind) {
	case SLOT_UNDEFINED:
		return n == 0 && ops != NULL;
	case SLOT_SAME:
		return n == 0 && ops == NULL;
	case SLOT_CFA:
		if (n == 1 && offset == 0 && ops[0].atom == DW_OP_call_frame_cfa)
			return true;
		return n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
		       ops[1].atom == DW_OP_plus_uconst && (int64_t)ops[1].number == offset;
	case SLOT_SP:
	case SLOT_FP:
		/* libdw puts the CFA below the expression; the register is what counts */
		return n >= 1 && op_is_reg(&ops[n - 1], &reg, &at) && at == offset &&
		       reg == (kind == SLOT_SP ? unwind_sp(c->arch) : unwind_fp(c->arch));
	}
	return false;
}

static bool compare_row(void *arg, uint64_t begin, uint64_t end, const struct cfi_rule *rule)
{
	struct compared *c = arg;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops, mem[3];
	size_t n;
	int found;

	(void)end;
	if (c->n_rows++ % c->every != 0)
		return true;
	c->n_general += rule->cfa_kind == CFA_GENERAL;
	if (dwarf_cfi_addrframe(c->libdw, begin, &frame) != 0) {
		differ(c, begin, "libdw has no row here");
		return true;
	}
	/*
	 * A register after an expression (DW_CFA_def_cfa_register, hand-written in libgcrypt) is
	 * against DWARF 5 §6.4.2.2: libdw gives nothing, gcc's runtime and we keep the last offset.
	 */
	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		c->n_refused++;
	else if (!cfa_agrees(c, rule, ops, n))
		differ(c, begin, "other CFA");
	if (rule->cfa_kind != CFA_GENERAL) {
		found = dwarf_frame_register(frame, (int)unwind_ra(c->arch), mem, &ops, &n);
		if (!slot_agrees(c, rule->ra_kind, rule->ra, found, ops, n))
			differ(c, begin, "other return address");
		found = dwarf_frame_register(frame, (int)unwind_fp(c->arch), mem, &ops, &n);
		if (!slot_agrees(c, rule->fp_kind, rule->fp, found, ops, n))
			differ(c, begin, "other frame pointer");
	}
	free(frame);
	return true;
}

static struct cfi_section section_of(Elf *elf, const char *name)
{
	size_t strings;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return (struct cfi_section){ 0 };
	while ((scn = elf_nextscn(elf, scn))) {
		const char *is;

		if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS ||
		    header.sh_flags & SHF_COMPRESSED)
			continue;
		is = elf_strptr(elf, strings, header.sh_name);
		if (!is || strcmp(is, name) != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data)
			return (struct cfi_section){ data->d_buf, data->d_size, header.sh_addr };
	}
	return (struct cfi_section){ 0 };
}

#define HDR_BYTES 12 /* of .eh_frame_hdr, to its table */

/* Every function in .eh_frame_hdr, whose table is of the kind that linkers write: pairs of 4 bytes from its begin. */
static void compare_functions(struct compared *c, const struct cfi_section *hdr)
{
	uint32_t n = 0;

	if (hdr->n < HDR_BYTES || hdr->bytes[0] != 1 || hdr->bytes[2] != DW_EH_PE_udata4 ||
	    hdr->bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	memcpy(&n, hdr->bytes + 8, sizeof(n));
	for (uint32_t i = 0; i < n && HDR_BYTES + (size_t)i * 8 + 8 <= hdr->n; i++) {
		struct cfi_rule rule;
		Dwarf_Frame *frame;
		int32_t at;
		uint64_t pc;

		memcpy(&at, hdr->bytes + HDR_BYTES + (size_t)i * 8, sizeof(at));
		pc = hdr->address + (uint64_t)(int64_t)at;
		c->n_functions++;
		/* An empty one has no row in either. */
		if (cfi_find(c->ours, pc, &rule) || dwarf_cfi_addrframe(c->libdw, pc, &frame) != 0)
			continue;
		free(frame);
		differ(c, pc, "we have no row here");
	}
}

/* The rows of one section, which is in s, against libdw, which gives them back. */
static void compare_rows(struct compared *c, const struct cfi_sections *s, Dwarf_CFI *libdw)
{
	c->libdw = libdw;
	c->arch = s->arch;
	c->ours = cfi_new(s);
	cfi_each(c->ours, compare_row, c);
	compare_functions(c, &s->eh_frame_hdr);
	cfi_free(c->ours);
}

/* Separate debug files have it, and static programs of old. */
static bool compare_debug_frame(Elf *elf, enum unwind_arch arch, struct compared *c)
{
	struct cfi_sections s = { .arch = arch, .debug_frame = section_of(elf, ".debug_frame") };
	Dwarf *dw = s.debug_frame.n ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_CFI *libdw = dw ? dwarf_getcfi(dw) : NULL;

	if (libdw)
		compare_rows(c, &s, libdw);
	dwarf_end(dw);
	return libdw != NULL;
}

/* Compares one file; false when it is not an ELF file with CFI that libdw reads. */
static bool compare_file(const char *path, struct compared *c)
{
	int fd = open(path, O_RDONLY);
	Elf *elf = NULL;
	GElf_Ehdr header;
	struct cfi_sections s = { 0 };
	Dwarf_CFI *libdw;
	bool good = false;

	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && gelf_getehdr(elf, &header) && header.e_type != ET_REL &&
	    (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64) &&
	    header.e_ident[EI_CLASS] == ELFCLASS64) {
		s.arch = header.e_machine == EM_X86_64 ? UNWIND_X86_64 : UNWIND_AARCH64;
		good = compare_debug_frame(elf, s.arch, c);
		libdw = dwarf_getcfi_elf(elf);
		if (libdw) {
			s.eh_frame = section_of(elf, ".eh_frame");
			s.eh_frame_hdr = section_of(elf, ".eh_frame_hdr");
			compare_rows(c, &s, libdw);
			dwarf_cfi_end(libdw);
			good = true;
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return good;
}

static const char *const some_files[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/bin/bash",
	"/bin/ls",
	"/usr/bin/perl",
	"/usr/bin/git",
	/* Of a compiler for aarch64. */
	"/usr/aarch64-linux-gnu/lib/libc.so.6",
	"/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
	"/usr/aarch64-linux-gnu/lib/libm.so.6",
};

Test(cfi, rows_agree_with_libdw)
{
	size_t n_rows = 0;

	for (size_t i = 0; i < sizeof(some_files) / sizeof(*some_files); i++) {
		struct compared c = { .every = 7 };

		if (!compare_file(some_files[i], &c))
			continue;
		n_rows += c.n_rows;
		cr_expect_eq(c.n_refused, 0);
		cr_expect_eq(c.n_different, 0, "%s: %zu of %zu rows differ, %s", some_files[i],
			     c.n_different, c.n_rows, c.first);
	}
	cr_expect_gt(n_rows, 1000u, "too few rows to say anything");
}

static size_t all_files, all_functions, all_rows, all_general, all_refused, all_different;

static int visit(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	struct compared c = { .every = 1 };

	(void)ftw;
	if (flag != FTW_F || !S_ISREG(st->st_mode) || !compare_file(path, &c))
		return 0;
	all_files++;
	all_functions += c.n_functions;
	all_rows += c.n_rows;
	all_general += c.n_general;
	all_refused += c.n_refused;
	all_different += c.n_different;
	if (c.n_different)
		printf("%s: %zu of %zu rows differ, %s\n", path, c.n_different, c.n_rows, c.first);
	return 0;
}

Test(cfi, every_row_of_given_directories, .timeout = 36000)
{
	const char *given = getenv("PROFTOP_TEST_CFI");
	char *dirs = given ? strdup(given) : NULL, *save = NULL;

	for (char *d = dirs ? strtok_r(dirs, " ", &save) : NULL; d; d = strtok_r(NULL, " ", &save))
		nftw(d, visit, 32, FTW_PHYS);
	free(dirs);
	if (given)
		printf("%zu files, %zu functions, %zu rows, %zu general, %zu refused by libdw, %zu different\n",
		       all_files, all_functions, all_rows, all_general, all_refused, all_different);
	cr_expect_eq(all_different, 0);
}

/* Lookup by pc gives the row that the pass over everything gave. */
struct lookup {
	struct cfi *again;
	size_t n, n_wrong;
};

static bool look_up_row(void *arg, uint64_t begin, uint64_t end, const struct cfi_rule *rule)
{
	struct lookup *l = arg;
	struct cfi_rule found;
	uint64_t pcs[] = { begin, begin + (end - begin) / 2, end - 1 };

	if (l->n++ % 5 != 0)
		return true;
	for (size_t i = 0; i < 3; i++) {
		bool good = cfi_find(l->again, pcs[i], &found);

		l->n_wrong += !good || memcmp(&found, rule, sizeof(found)) != 0;
	}
	return true;
}

static void look_up_all(bool with_hdr)
{
	int fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY);
	struct cfi_sections s = { .arch = UNWIND_X86_64 };
	struct lookup l = { 0 };
	struct cfi *c;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!elf)
		cr_skip_test("no libc.so.6 at its usual place");
	s.eh_frame = section_of(elf, ".eh_frame");
	if (with_hdr)
		s.eh_frame_hdr = section_of(elf, ".eh_frame_hdr");
	c = cfi_new(&s);
	l.again = cfi_new(&s);
	cr_expect_eq(cfi_each(c, look_up_row, &l), 0);
	cr_expect_gt(l.n, 1000u);
	cr_expect_eq(l.n_wrong, 0, "%zu of %zu", l.n_wrong, l.n);
	cfi_free(c);
	cfi_free(l.again);
	elf_end(elf);
	close(fd);
}

Test(cfi, finds_by_header)
{
	look_up_all(true);
}

Test(cfi, finds_by_index)
{
	look_up_all(false);
}

/* Damage of every byte of a small section ends, finds nothing wrong enough to crash. */
Test(cfi, damaged_sections)
{
	int fd = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY);
	struct cfi_sections s = { .arch = UNWIND_X86_64 };
	Elf *elf;
	uint8_t *copy;

	elf_version(EV_CURRENT);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!elf)
		cr_skip_test("no ld-linux at its usual place");
	s.eh_frame = section_of(elf, ".eh_frame");
	copy = malloc(s.eh_frame.n);
	cr_assert(copy);
	for (size_t i = 0; i < 2000 && i < s.eh_frame.n; i++) {
		struct cfi_sections damaged = s;
		struct cfi_rule rule;
		struct cfi *c;

		memcpy(copy, s.eh_frame.bytes, s.eh_frame.n);
		copy[i] ^= (uint8_t)(1u << i % 8 | 0x80);
		damaged.eh_frame.bytes = copy;
		damaged.eh_frame.n = i % 3 ? 4096 : i;
		c = cfi_new(&damaged);
		for (uint64_t pc = 0x1000; pc < 0x4000; pc += 0x31)
			cfi_find(c, pc, &rule);
		cfi_free(c);
	}
	free(copy);
	elf_end(elf);
	close(fd);
}
