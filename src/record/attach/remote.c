/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/maps, and the tables that the loader uses, copied from memory. Every length is checked. */
#include "config.h"

#include "record/attach/remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "unwind/cfi.h"

#define PAGE_BYTES   UINT64_C(4096)
#define MOST_PHDRS   64u
#define MOST_SYMBOLS (4u << 20)
#define MOST_BYTES   (UINT64_C(512) << 20) /* of a table */
#define CHUNK_BYTES  (1u << 20)

struct remote_module {
	const struct remote_map *map; /* its first; in the process' maps */
	uint64_t bias;                /* added to addresses of the file */
	ElfW(Phdr) phdr[MOST_PHDRS];
	unsigned n_phdrs;
	bool symbols_tried;
	ElfW(Sym) * symbol; /* [n_symbols], a copy */
	size_t n_symbols;
	char *names; /* [n_names], a copy that ends in NUL */
	size_t n_names;
	bool cfi_tried;
	struct cfi *cfi;
	uint8_t *hdr, *frames; /* copies that cfi borrows */
};

struct remote {
	pid_t pid;
	VEC(struct remote_map) map;
	VEC(struct remote_module *) module;
};

pid_t remote_pid(const struct remote *r)
{
	return r->pid;
}

bool remote_read(const struct remote *r, uint64_t address, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)address, n };

	return process_vm_readv(r->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool remote_write(const struct remote *r, uint64_t address, const void *from, size_t n)
{
	struct iovec here = { (void *)(uintptr_t)from, n };
	struct iovec there = { (void *)(uintptr_t)address, n };

	return process_vm_writev(r->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* A copy that the caller frees, or NULL. */
static void *copy_of(const struct remote *r, uint64_t address, uint64_t n)
{
	uint8_t *copy;

	if (n == 0 || n > MOST_BYTES)
		return NULL;
	copy = xmalloc((size_t)n + 1);
	copy[n] = 0;
	if (remote_read(r, address, copy, (size_t)n))
		return copy;
	free(copy);
	return NULL;
}

static void module_free(struct remote_module *m)
{
	cfi_free(m->cfi);
	free(m->symbol);
	free(m->names);
	free(m->hdr);
	free(m->frames);
	free(m);
}

static void forget(struct remote *r)
{
	for (size_t i = 0; i < r->module.n; i++)
		module_free(r->module.at[i]);
	vec_clear(&r->module);
	for (size_t i = 0; i < r->map.n; i++)
		free(r->map.at[i].path);
	vec_clear(&r->map);
}

static void take_line(struct remote *r, char *line)
{
	struct remote_map m = { 0 };
	char prot[5] = "";
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.begin, &m.end,
		   prot, &m.offset, &path) < 4)
		return;
	m.runs = prot[2] == 'x';
	m.path = xstrdup(path ? line + path : "");
	vec_push(&r->map, m);
}

int remote_look(struct remote *r, struct err *e)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)r->pid);
	f = fopen(path, "re");
	if (!f && errno == ENOENT)
		return err_set(e, -ESRCH, "there is no such process");
	if (!f)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	forget(r);
	while (getline(&line, &room, f) > 0)
		take_line(r, line);
	free(line);
	fclose(f);
	return 0;
}

int remote_open(pid_t pid, struct remote **out, struct err *e)
{
	struct remote *r = xcalloc(1, sizeof(*r));
	int ret;

	r->pid = pid;
	ret = remote_look(r, e);
	if (ret) {
		remote_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

void remote_free(struct remote *r)
{
	if (!r)
		return;
	forget(r);
	vec_done(&r->map);
	vec_done(&r->module);
	free(r);
}

const struct remote_map *remote_map_at(const struct remote *r, uint64_t address)
{
	for (size_t i = 0; i < r->map.n; i++)
		if (address >= r->map.at[i].begin && address < r->map.at[i].end)
			return &r->map.at[i];
	return NULL;
}

/* Program headers that are not mapped: of the file, if it is still the one that is mapped. */
static bool headers_in_file(const struct remote *r, const struct remote_map *map,
			    const ElfW(Ehdr) * h, void *to, size_t n)
{
	char path[PATH_MAX + 64];
	ElfW(Ehdr) its;
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)r->pid, map->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	ok = pread(fd, &its, sizeof(its), 0) == (ssize_t)sizeof(its) &&
	     memcmp(&its, h, sizeof(its)) == 0 && pread(fd, to, n, (off_t)h->e_phoff) == (ssize_t)n;
	close(fd);
	return ok;
}

/* Program headers may be in any part of the file that is mapped, and need not be in one. */
static bool read_headers(const struct remote *r, const struct remote_map *map, const ElfW(Ehdr) * h,
			 void *to, size_t n)
{
	for (const struct remote_map *at = map, *end = r->map.at + r->map.n;
	     at < end && (strcmp(at->path, map->path) == 0 || !*at->path); at++) {
		uint64_t within = h->e_phoff - at->offset;

		if (*at->path && h->e_phoff >= at->offset && within < at->end - at->begin &&
		    n <= at->end - at->begin - within)
			return remote_read(r, at->begin + within, to, n);
	}
	return headers_in_file(r, map, h, to, n);
}

/* Reads the headers of what is mapped from `map` on; NULL: no ELF file. */
static struct remote_module *module_of(struct remote *r, const struct remote_map *map)
{
	struct remote_module *m;
	ElfW(Ehdr) h;
	unsigned n;

	for (size_t i = 0; i < r->module.n; i++)
		if (r->module.at[i]->map == map)
			return r->module.at[i];
	if (!remote_read(r, map->begin, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(ElfW(Phdr)))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	n = h.e_phnum < MOST_PHDRS ? h.e_phnum : MOST_PHDRS;
	if (!read_headers(r, map, &h, m->phdr, n * sizeof(m->phdr[0]))) {
		free(m);
		return NULL;
	}
	m->map = map;
	m->n_phdrs = n;
	m->bias = map->begin;
	for (unsigned i = 0; i < n; i++)
		if (m->phdr[i].p_type == PT_LOAD) {
			m->bias = map->begin - (m->phdr[i].p_vaddr & ~(PAGE_BYTES - 1));
			break;
		}
	vec_push(&r->module, m);
	return m;
}

/* The first map of the file of `at`: below it, with memory between segments that is of no file. */
static const struct remote_map *first_map(const struct remote *r, const struct remote_map *at)
{
	for (const struct remote_map *map = at; map >= r->map.at; map--) {
		if (*map->path && strcmp(map->path, at->path) != 0)
			return NULL;
		if (*map->path && map->offset == 0)
			return map;
	}
	return NULL;
}

struct remote_module *remote_module_at(struct remote *r, uint64_t address)
{
	const struct remote_map *at = remote_map_at(r, address);
	const struct remote_map *first = at && *at->path ? first_map(r, at) : NULL;

	return first ? module_of(r, first) : NULL;
}

struct remote_module *remote_module_named(struct remote *r, const char *name)
{
	for (size_t i = 0; i < r->map.n; i++) {
		const struct remote_map *map = &r->map.at[i];
		const char *path = *name == '/' ? map->path : path_last_part(map->path);

		if (map->offset == 0 && strcmp(path, name) == 0)
			return module_of(r, map);
	}
	return NULL;
}

enum glibc_part remote_glibc_part(const char *path)
{
	static const struct {
		enum glibc_part part;
		const char *name, *old;
	} parts[] = { { GLIBC_LIBC, "libc.so.6", "libc-2." },
		      { GLIBC_PTHREAD, "libpthread.so.0", "libpthread-2." },
		      { GLIBC_DL, "libdl.so.2", "libdl-2." } };
	const char *file = path_last_part(path);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(file, parts[i].name) == 0 ||
		    strncmp(file, parts[i].old, strlen(parts[i].old)) == 0)
			return parts[i].part;
	return GLIBC_NONE;
}

struct remote_module *remote_glibc(struct remote *r, enum glibc_part part)
{
	for (size_t i = 0; i < r->map.n; i++) {
		const struct remote_map *map = &r->map.at[i];

		if (map->offset == 0 && remote_glibc_part(map->path) == part)
			return module_of(r, map);
	}
	return NULL;
}

struct remote_module *remote_executable(struct remote *r)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)r->pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return remote_module_named(r, path);
}

const char *remote_module_path(const struct remote_module *m)
{
	return m->map->path;
}

/* How many symbols there are says none but the hash table: it knows the last one of a chain. */
static uint64_t count_symbols(const struct remote *r, uint64_t hash)
{
	uint32_t head[4], last = 0, *bucket, value;
	uint64_t chain;

	if (!remote_read(r, hash, head, sizeof(head)) || head[0] > MOST_SYMBOLS ||
	    head[2] > MOST_SYMBOLS)
		return 0;
	chain = hash + 16 + 8 * (uint64_t)head[2];
	bucket = copy_of(r, chain, 4 * (uint64_t)head[0]);
	chain += 4 * (uint64_t)head[0];
	for (uint32_t i = 0; bucket && i < head[0]; i++)
		last = bucket[i] > last ? bucket[i] : last;
	free(bucket);
	if (last < head[1])
		return head[1];
	for (; last < MOST_SYMBOLS; last++)
		if (!remote_read(r, chain + 4 * (uint64_t)(last - head[1]), &value, 4) || value & 1)
			break;
	return (uint64_t)last + 1;
}

static const ElfW(Phdr) * header_of(const struct remote_module *m, uint32_t type)
{
	for (unsigned i = 0; i < m->n_phdrs; i++)
		if (m->phdr[i].p_type == type)
			return &m->phdr[i];
	return NULL;
}

/* The loader made addresses of these, in most modules. */
static uint64_t address_of(const struct remote_module *m, uint64_t v)
{
	return v < m->bias ? v + m->bias : v;
}

static void read_symbols(const struct remote *r, struct remote_module *m)
{
	const ElfW(Phdr) *p = header_of(m, PT_DYNAMIC);
	uint64_t symbols = 0, names = 0, hash = 0, n_names = 0, n;
	ElfW(Dyn) * dynamic;

	m->symbols_tried = true;
	dynamic = p ? copy_of(r, m->bias + p->p_vaddr, p->p_memsz) : NULL;
	n = dynamic ? p->p_memsz / sizeof(*dynamic) : 0;
	for (uint64_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++) {
		uint64_t v = dynamic[i].d_un.d_val;

		if (dynamic[i].d_tag == DT_SYMTAB)
			symbols = address_of(m, v);
		else if (dynamic[i].d_tag == DT_STRTAB)
			names = address_of(m, v);
		else if (dynamic[i].d_tag == DT_GNU_HASH)
			hash = address_of(m, v);
		else if (dynamic[i].d_tag == DT_STRSZ)
			n_names = v;
	}
	free(dynamic);
	if (!symbols || !names || !hash)
		return;
	n = count_symbols(r, hash);
	m->symbol = copy_of(r, symbols, n * sizeof(*m->symbol));
	m->names = copy_of(r, names, n_names);
	if (m->symbol && m->names) {
		m->n_symbols = (size_t)n;
		m->n_names = (size_t)n_names;
	}
}

static const char *name_of(const struct remote_module *m, const ElfW(Sym) * s)
{
	return s->st_shndx != SHN_UNDEF && s->st_value && s->st_name < m->n_names
		       ? m->names + s->st_name
		       : NULL;
}

uint64_t remote_symbol(struct remote *r, struct remote_module *m, const char *name)
{
	if (!m->symbols_tried)
		read_symbols(r, m);
	for (size_t i = 0; i < m->n_symbols; i++) {
		const ElfW(Sym) *s = &m->symbol[i];
		const char *its = name_of(m, s);

		if (its && strcmp(its, name) == 0 && ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC)
			return m->bias + s->st_value;
	}
	return 0;
}

uint64_t remote_dlopen(struct remote *r, uint64_t *flags)
{
	/* As dl-libc.c of glibc says: the caller is one who uses dlopen(). */
	const uint64_t by_dlopen = 0x80000000;
	const enum glibc_part parts[] = { GLIBC_LIBC, GLIBC_DL };
	struct remote_module *libc = remote_glibc(r, GLIBC_LIBC);
	uint64_t found = 0;

	*flags = 0;
	for (size_t i = 0; !found && i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct remote_module *m = remote_glibc(r, parts[i]);

		found = m ? remote_symbol(r, m, "dlopen") : 0;
	}
	if (found || !libc)
		return found;
	*flags = by_dlopen;
	return remote_symbol(r, libc, "__libc_dlopen_mode");
}

const char *remote_symbol_at(struct remote *r, struct remote_module *m, uint64_t address,
			     bool (*wanted)(const char *name))
{
	const char *found = NULL;

	if (!m->symbols_tried)
		read_symbols(r, m);
	for (size_t i = 0; i < m->n_symbols; i++) {
		const ElfW(Sym) *s = &m->symbol[i];
		const char *its = name_of(m, s);

		if (!its || address - m->bias - s->st_value >= s->st_size)
			continue;
		found = its;
		if (wanted(its))
			return its;
	}
	return found;
}

/* In one segment of code. */
static uint64_t find_in(const struct remote *r, uint64_t begin, uint64_t n, const void *bytes,
			size_t n_bytes)
{
	uint8_t *chunk = xmalloc(CHUNK_BYTES);
	uint64_t found = 0;

	for (uint64_t at = 0; !found && at + n_bytes <= n; at += CHUNK_BYTES - n_bytes) {
		size_t part = n - at < CHUNK_BYTES ? (size_t)(n - at) : CHUNK_BYTES;
		const uint8_t *hit;

		if (!remote_read(r, begin + at, chunk, part))
			break;
		hit = memmem(chunk, part, bytes, n_bytes);
		if (hit)
			found = begin + at + (uint64_t)(hit - chunk);
	}
	free(chunk);
	return found;
}

uint64_t remote_find_bytes(struct remote *r, const struct remote_module *m, const void *bytes,
			   size_t n)
{
	for (unsigned i = 0; i < m->n_phdrs; i++) {
		const ElfW(Phdr) *p = &m->phdr[i];
		uint64_t found;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		found = find_in(r, m->bias + p->p_vaddr, p->p_filesz, bytes, n);
		if (found)
			return found;
	}
	return 0;
}

/* Bytes from address to the end of the segment that holds it. */
static uint64_t bytes_from(const struct remote_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->n_phdrs; i++) {
		uint64_t begin = m->bias + m->phdr[i].p_vaddr, n = m->phdr[i].p_filesz;

		if (m->phdr[i].p_type == PT_LOAD && address - begin < n)
			return begin + n - address;
	}
	return 0;
}

/* .eh_frame_hdr says where .eh_frame is, relative to itself, as linkers write it. */
static void read_cfi(const struct remote *r, struct remote_module *m)
{
	const ElfW(Phdr) *p = header_of(m, PT_GNU_EH_FRAME);
	struct cfi_sections s = { .arch = UNWIND_HERE };
	uint64_t hdr, at;
	int32_t relative;

	m->cfi_tried = true;
	if (!p || p->p_memsz < 8)
		return;
	hdr = m->bias + p->p_vaddr;
	m->hdr = copy_of(r, hdr, p->p_memsz);
	if (!m->hdr || m->hdr[0] != 1 || m->hdr[1] != 0x1b)
		return;
	memcpy(&relative, m->hdr + 4, sizeof(relative));
	at = hdr + 4 + (uint64_t)(int64_t)relative;
	m->frames = copy_of(r, at, bytes_from(m, at));
	if (!m->frames)
		return;
	s.eh_frame = (struct cfi_section){ m->frames, (size_t)bytes_from(m, at), at - m->bias };
	s.eh_frame_hdr = (struct cfi_section){ m->hdr, (size_t)p->p_memsz, p->p_vaddr };
	m->cfi = cfi_new(&s);
}

struct cfi *remote_cfi(struct remote *r, struct remote_module *m, uint64_t *bias)
{
	if (!m->cfi_tried)
		read_cfi(r, m);
	*bias = m->bias;
	return m->cfi;
}
