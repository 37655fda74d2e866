/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ELF file, opened; see elf_file.h. Headers come from libelf, which reads damaged ones with care. */
#include "config.h"

#include "elf/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_decompress.h"

#define SECTIONS_MAX  (UINT32_C(1) << 20)
#define SEGMENTS_MAX  4096u
#define NAMES_MAX     (UINT64_C(64) << 20) /* bytes of section names */
#define NOTES_MAX     (UINT64_C(1) << 20)
#define UNPACKED_MAX  ((size_t)1 << 30)
#define LINK_NAME_MAX 4096u

struct elf_file {
	char *name;       /* path, or what messages call it */
	int fd;           /* -1: in memory */
	uint8_t *bytes;   /* the whole file, or NULL; owned */
	uint64_t n_bytes; /* of the file, when it was opened */
	Elf *elf;         /* libelf's view of fd or bytes */
	GElf_Ehdr header;
	char *section_names;             /* the section's bytes, terminated, or NULL */
	VEC(struct elf_section) section; /* by number */
	VEC(struct elf_segment) segment; /* PT_LOAD in their order */
	struct elf_segment eh_frame_hdr; /* PT_GNU_EH_FRAME; file_bytes 0: none */
	struct build_id build_id;        /* n 0: none */
};

bool elf_file_holds(const struct elf_file *f, uint64_t offset, uint64_t size)
{
	return offset <= f->n_bytes && size <= f->n_bytes - offset;
}

bool elf_file_read_into(const struct elf_file *f, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (!elf_file_holds(f, offset, n))
		return false;
	if (f->bytes) {
		memcpy(to, f->bytes + offset, n);
		return true;
	}
	while (done < n) {
		ssize_t got = pread(f->fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

uint8_t *elf_file_read(const struct elf_file *f, uint64_t offset, uint64_t size)
{
	uint8_t *p;

	if (!elf_file_holds(f, offset, size))
		return NULL;
	p = xmalloc((size_t)size + 1);
	if (!elf_file_read_into(f, p, (size_t)size, offset)) {
		free(p);
		return NULL;
	}
	p[size] = 0;
	return p;
}

uint8_t *elf_file_read_section(const struct elf_file *f, const struct elf_section *s, size_t *n)
{
	uint8_t *p;

	if (s->type == SHT_NOBITS || s->size == 0)
		return NULL;
	p = elf_file_read(f, s->offset, s->size);
	if (p)
		*n = (size_t)s->size;
	return p;
}

static void load_section_names(struct elf_file *f)
{
	const struct elf_section *names;
	GElf_Shdr shdr;
	size_t index = 0;

	if (elf_getshdrstrndx(f->elf, &index) != 0 || index == 0 || index >= f->section.n)
		return;
	names = &f->section.at[index];
	if (names->type == SHT_NOBITS || names->size > NAMES_MAX)
		return;
	f->section_names = (char *)elf_file_read(f, names->offset, names->size);
	/* Names begin anywhere in it; the NUL that elf_file_read() adds ends the last. */
	for (size_t i = 1; f->section_names && i < f->section.n; i++) {
		Elf_Scn *scn = elf_getscn(f->elf, i);

		if (scn && gelf_getshdr(scn, &shdr) && shdr.sh_name < names->size)
			f->section.at[i].name = f->section_names + shdr.sh_name;
	}
}

static void load_sections(struct elf_file *f)
{
	size_t n = 0;
	GElf_Shdr shdr;

	if (elf_getshdrnum(f->elf, &n) != 0 || n > SECTIONS_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		Elf_Scn *scn = elf_getscn(f->elf, i);
		struct elf_section s = { .name = "", .index = (uint32_t)i };

		if (scn && gelf_getshdr(scn, &shdr)) {
			s.address = shdr.sh_addr;
			s.offset = shdr.sh_offset;
			s.size = shdr.sh_size;
			s.flags = shdr.sh_flags;
			s.entry_bytes = shdr.sh_entsize;
			s.alignment = shdr.sh_addralign;
			s.type = shdr.sh_type;
			s.link = shdr.sh_link;
		}
		vec_push(&f->section, s);
	}
	load_section_names(f);
}

static void load_segments(struct elf_file *f)
{
	size_t n = 0;
	GElf_Phdr phdr;

	if (elf_getphdrnum(f->elf, &n) != 0 || n > SEGMENTS_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		struct elf_segment s;

		if (!gelf_getphdr(f->elf, (int)i, &phdr) ||
		    (phdr.p_type != PT_LOAD && phdr.p_type != PT_GNU_EH_FRAME))
			continue;
		s.address = phdr.p_vaddr;
		s.offset = phdr.p_offset;
		s.file_bytes = phdr.p_filesz;
		s.memory_bytes = phdr.p_memsz > phdr.p_filesz ? phdr.p_memsz : phdr.p_filesz;
		if (phdr.p_type == PT_GNU_EH_FRAME)
			f->eh_frame_hdr = s;
		else
			vec_push(&f->segment, s);
	}
}

static bool notes_at(struct elf_file *f, uint64_t offset, uint64_t size)
{
	uint8_t *p = size <= NOTES_MAX ? elf_file_read(f, offset, size) : NULL;
	bool found = false;

	if (p)
		found = build_id_from_notes(p, (size_t)size, elf_file_swapped(f), &f->build_id);
	free(p);
	return found;
}

static void load_build_id(struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".note.gnu.build-id");
	GElf_Phdr phdr;
	size_t n = 0;

	if (s && s->type != SHT_NOBITS && notes_at(f, s->offset, s->size))
		return;
	for (size_t i = 0; i < f->section.n; i++) {
		s = &f->section.at[i];
		if (s->type == SHT_NOTE && notes_at(f, s->offset, s->size))
			return;
	}
	if (elf_getphdrnum(f->elf, &n) != 0 || n > SEGMENTS_MAX)
		return;
	/* Segments of separate debug files describe what is not there; they come last. */
	for (size_t i = 0; i < n; i++) {
		if (gelf_getphdr(f->elf, (int)i, &phdr) && phdr.p_type == PT_NOTE &&
		    notes_at(f, phdr.p_offset, phdr.p_filesz))
			return;
	}
}

static int load(struct elf_file *f, struct elf_file **out, struct err *e)
{
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		int r = err_set(e, -ENOEXEC, "%s is not an ELF file", f->name);

		elf_file_close(f);
		return r;
	}
	load_sections(f);
	load_segments(f);
	load_build_id(f);
	*out = f;
	return 0;
}

int elf_file_of_bytes(void *bytes, size_t n, const char *name, struct elf_file **out, struct err *e)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));

	elf_version(EV_CURRENT);
	f->fd = -1;
	f->name = xstrdup(name);
	f->bytes = bytes;
	f->n_bytes = n;
	f->elf = elf_memory(bytes, n);
	return load(f, out, e);
}

/* Replaces the file by what is packed in it. */
static int open_packed(struct elf_file *f, struct elf_file **out, struct err *e)
{
	size_t n = 0;
	uint8_t *packed = f->n_bytes <= UNPACKED_MAX ? elf_file_read(f, 0, f->n_bytes) : NULL;
	void *bytes = packed ? elf_decompress_open(packed, (size_t)f->n_bytes, UNPACKED_MAX, &n)
			     : NULL;
	int r;

	free(packed);
	if (bytes)
		r = elf_file_of_bytes(bytes, n, f->name, out, e);
	else
		r = err_set(e, -ENOEXEC, "%s is not an ELF file", f->name);
	elf_file_close(f);
	return r;
}

int elf_file_open(const char *path, struct elf_file **out, struct err *e)
{
	/* A path from a recording may name a pipe or a device: neither may be waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct elf_file *f;
	struct stat st;
	char magic[SELFMAG];

	if (fd < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -ENOEXEC, "%s is not a regular file", path);
	}
	f = xcalloc(1, sizeof(*f));
	f->fd = fd;
	f->name = xstrdup(path);
	f->n_bytes = (uint64_t)st.st_size;
	if (!elf_file_read_into(f, magic, sizeof(magic), 0) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return open_packed(f, out, e);
	elf_version(EV_CURRENT);
	/* ELF_C_READ, not ELF_C_READ_MMAP: see elf_file.h. */
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	return load(f, out, e);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->bytes);
	free(f->section_names);
	vec_done(&f->section);
	vec_done(&f->segment);
	free(f->name);
	free(f);
}

const char *elf_file_name(const struct elf_file *f)
{
	return f->name;
}

const struct build_id *elf_file_build_id(const struct elf_file *f)
{
	return &f->build_id;
}

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 1; i < f->section.n; i++) {
		if (strcmp(f->section.at[i].name, name) == 0)
			return &f->section.at[i];
	}
	return NULL;
}

const struct elf_section *elf_file_debug_info(const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".debug_info");

	return s ? s : elf_file_section(f, ".zdebug_info");
}

const struct elf_section *elf_file_section_at(const struct elf_file *f, uint32_t index)
{
	return index > 0 && index < f->section.n ? &f->section.at[index] : NULL;
}

const struct elf_segment *elf_file_segments(const struct elf_file *f, size_t *n)
{
	*n = f->segment.n;
	return f->segment.at;
}

uint64_t elf_file_entry(const struct elf_file *f)
{
	return f->header.e_entry;
}

bool elf_file_eh_frame_hdr(const struct elf_file *f, struct elf_segment *out)
{
	*out = f->eh_frame_hdr;
	return out->file_bytes > 0;
}

uint16_t elf_file_machine(const struct elf_file *f)
{
	return f->header.e_machine;
}

uint16_t elf_file_type(const struct elf_file *f)
{
	return f->header.e_type;
}

bool elf_file_is64(const struct elf_file *f)
{
	return f->header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool elf_file_swapped(const struct elf_file *f)
{
	unsigned char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									 : ELFDATA2MSB;

	return f->header.e_ident[EI_DATA] != native;
}

bool elf_file_offset_of(const struct elf_file *f, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < f->segment.n; i++) {
		const struct elf_segment *s = &f->segment.at[i];

		if (address >= s->address && address - s->address < s->memory_bytes) {
			*offset = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}

bool elf_file_address_of(const struct elf_file *f, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < f->segment.n; i++) {
		const struct elf_segment *s = &f->segment.at[i];

		if (offset >= s->offset && offset - s->offset < s->file_bytes) {
			*address = offset - s->offset + s->address;
			return true;
		}
	}
	return false;
}

char *elf_file_debuglink(const struct elf_file *f, uint32_t *crc)
{
	const struct elf_section *s = elf_file_section(f, ".gnu_debuglink");
	size_t n = 0, at;
	uint8_t *p;
	char *name;

	if (!s || s->size > LINK_NAME_MAX || !(p = elf_file_read_section(f, s, &n)))
		return NULL;
	/* The name, its NUL, padding to 4, the CRC (GDB manual, "Separate Debug Files"). */
	at = (strlen((char *)p) + 1 + 3) & ~(size_t)3;
	if (p[0] == 0 || at + sizeof(*crc) > n || strchr((char *)p, '/')) {
		free(p);
		return NULL;
	}
	memcpy(crc, p + at, sizeof(*crc));
	if (elf_file_swapped(f))
		*crc = __builtin_bswap32(*crc);
	name = xstrdup((char *)p);
	free(p);
	return name;
}

char *elf_file_altlink(const struct elf_file *f, const char *beside, struct build_id *id)
{
	const struct elf_section *s = elf_file_section(f, ".gnu_debugaltlink");
	const char *slash = strrchr(beside, '/');
	size_t n = 0, len;
	char *name = NULL;
	uint8_t *p;

	if (!s || s->size > LINK_NAME_MAX || !(p = elf_file_read_section(f, s, &n)))
		return NULL;
	/* The path, its NUL, and the build-id to the end. */
	len = strlen((char *)p);
	if (len > 0 && len + 1 < n && n - len - 1 <= sizeof(id->bytes)) {
		id->n = (uint8_t)(n - len - 1);
		memcpy(id->bytes, p + len + 1, id->n);
		name = p[0] == '/' || !slash
			       ? xstrdup((char *)p)
			       : xasprintf("%.*s/%s", (int)(slash - beside), beside, (char *)p);
	}
	free(p);
	return name;
}

bool elf_debuglink_crc(const char *path, uint32_t *crc)
{
	static const size_t piece = (size_t)1 << 18;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uLong sum = crc32(0, NULL, 0);
	struct stat st;
	uint8_t *p;
	ssize_t got = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		p = xmalloc(piece);
		while ((got = read(fd, p, piece)) > 0)
			sum = crc32(sum, p, (uInt)got);
		free(p);
	}
	close(fd);
	*crc = (uint32_t)sum;
	return got == 0;
}
