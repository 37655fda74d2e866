/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the file that cannot be read say nothing, as if they were not there. */
#include "config.h"

#include "record/attach/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MOST_SEGMENTS 128u
#define MOST_DYNAMIC  1024u
#define MOST_NAME     64u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

struct file {
	int fd;
	ElfW(Phdr) segment[MOST_SEGMENTS];
	unsigned n;
};

static bool read_at(const struct file *f, void *out, size_t n, uint64_t at)
{
	return pread(f->fd, out, n, (off_t)at) == (ssize_t)n;
}

/* A text that ends in the file, or is cut. */
static void read_text(const struct file *f, char *out, size_t room, uint64_t at)
{
	ssize_t n = pread(f->fd, out, room - 1, (off_t)at);

	out[n < 0 ? 0 : n] = '\0';
}

static bool offset_of(const struct file *f, uint64_t address, uint64_t *at)
{
	for (unsigned i = 0; i < f->n; i++) {
		const ElfW(Phdr) *p = &f->segment[i];

		if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz) {
			*at = p->p_offset + (address - p->p_vaddr);
			return true;
		}
	}
	return false;
}

/* Is one of the libraries that it needs that of the sanitizer? */
static bool needs_asan(const struct file *f, const ElfW(Phdr) * dynamic)
{
	uint64_t needed[64], names = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MOST_DYNAMIC; i++) {
		ElfW(Dyn) d;

		if (!read_at(f, &d, sizeof(d), dynamic->p_offset + i * sizeof(d)) ||
		    d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_NEEDED && n < sizeof(needed) / sizeof(needed[0]))
			needed[n++] = d.d_un.d_val;
		if (d.d_tag == DT_STRTAB && !offset_of(f, d.d_un.d_ptr, &names))
			return false;
	}
	for (unsigned i = 0; i < n && names; i++) {
		char name[MOST_NAME];

		read_text(f, name, sizeof(name), names + needed[i]);
		if (strncmp(name, "libasan.so", 10) == 0 ||
		    strncmp(name, "libclang_rt.asan", 16) == 0)
			return true;
	}
	return false;
}

/* Go's linker names itself in a note: the lengths of name and text, the type, "Go". */
static bool is_gos(const struct file *f, const ElfW(Phdr) * note)
{
	uint32_t head[3];
	char name[4];

	return read_at(f, head, sizeof(head), note->p_offset) && head[0] == sizeof(name) &&
	       read_at(f, name, sizeof(name), note->p_offset + sizeof(head)) &&
	       memcmp(name, "Go\0", sizeof(name)) == 0;
}

static void read_elf(struct file *f, const ElfW(Ehdr) * h, struct program_file *out)
{
	out->is_wide = h->e_ident[EI_CLASS] == ELFCLASS64;
	out->is_foreign = h->e_machine != MACHINE;
	if (!out->is_wide || h->e_phentsize != sizeof(f->segment[0]))
		return;
	f->n = h->e_phnum < MOST_SEGMENTS ? h->e_phnum : MOST_SEGMENTS;
	if (!read_at(f, f->segment, f->n * sizeof(f->segment[0]), h->e_phoff))
		f->n = 0;
	for (unsigned i = 0; i < f->n; i++) {
		const ElfW(Phdr) *p = &f->segment[i];

		if (p->p_type == PT_INTERP && p->p_filesz < sizeof(out->loader))
			read_text(f, out->loader, p->p_filesz + 1, p->p_offset);
		if (p->p_type == PT_DYNAMIC)
			out->has_asan = needs_asan(f, p);
		if (p->p_type == PT_NOTE)
			out->is_go |= is_gos(f, p);
	}
}

/* "#! interpreter argument". */
static void read_script(const struct file *f, struct program_file *out)
{
	char line[PATH_MAX];
	const char *at = line;
	size_t n;

	read_text(f, line, sizeof(line), 2);
	line[strcspn(line, "\n")] = '\0';
	at += strspn(at, " \t");
	n = strcspn(at, " \t");
	memcpy(out->loader, at, n);
	out->loader[n] = '\0';
	at += n;
	at += strspn(at, " \t");
	memcpy(out->argument, at, strlen(at) + 1);
}

bool program_file_read(const char *path, struct program_file *out)
{
	struct file f = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	ElfW(Ehdr) h = { 0 };

	if (f.fd < 0)
		return false;
	*out = (struct program_file){ .kind = PROGRAM_OTHER };
	if (read_at(&f, &h, sizeof(h), 0) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0) {
		out->kind = PROGRAM_ELF;
		read_elf(&f, &h, out);
	} else if (read_at(&f, &h, 2, 0) && memcmp(&h, "#!", 2) == 0) {
		out->kind = PROGRAM_SCRIPT;
		read_script(&f, out);
	}
	close(f.fd);
	return true;
}
