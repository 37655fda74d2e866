/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loader says where a module begins; what it consists of is read from its headers in memory. That is
 * done when an address of the module is on a stack, so it is not being unloaded just then.
 */
#include "config.h"

#include "live_modules.h"

#include "cfi.h"
#include "tracer_memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

/* Other libcs have none; there no module is known. */
#pragma weak _dl_find_object

bool live_modules_init(struct live_modules *m)
{
	m->at = tracer_map(LIVE_MAX_MODULES * sizeof(*m->at));
	return m->at != NULL;
}

/* Keeps a copy of s, or NULL. */
static char *copy_text(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = tracer_malloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

static bool is_relative(const char *name)
{
	return *name != '/' && strchr(name, '/') != NULL;
}

/* A relative path without what it begins with for nothing. */
static const char *inner_path(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	return name;
}

/* From where the program is, as it was opened just now. NULL: that cannot be said. */
static char *name_from_here(const char *name, bool no_files)
{
	char path[4096];
	long n = no_files ? 0 : syscall(SYS_getcwd, path, sizeof(path));

	if (n <= 0 || path[0] != '/' || (size_t)n + strlen(name) >= sizeof(path))
		return NULL;
	path[n - 1] = '/';
	memcpy(path + n, name, strlen(name) + 1);
	return copy_text(path);
}

static char *name_of(const struct link_map *map, bool no_files)
{
	char exe[4096], *name = NULL;
	ssize_t n;

	if (map->l_name && *map->l_name) {
		if (is_relative(map->l_name))
			name = name_from_here(inner_path(map->l_name), no_files);
		return name ? name : copy_text(map->l_name);
	}
	n = no_files ? 0 : readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	return copy_text(exe);
}

static void take_note(struct live_module *m, const uint8_t *p, size_t n)
{
	while (n >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) h;
		size_t name, all;

		memcpy(&h, p, sizeof(h));
		name = sizeof(h) + ((h.n_namesz + (size_t)3) & ~(size_t)3);
		all = name + ((h.n_descsz + (size_t)3) & ~(size_t)3);
		if (all > n)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(p + sizeof(h), "GNU", 4) == 0 && h.n_descsz <= LIVE_MAX_BUILD_ID) {
			memcpy(m->build_id, p + name, h.n_descsz);
			m->n_build_id = h.n_descsz;
			return;
		}
		p += all;
		n -= all;
	}
}

static void take_load(struct live_module *m, const ElfW(Phdr) * p)
{
	static const uint64_t page = PAGE_BYTES;
	uint64_t start = m->bias + p->p_vaddr;
	struct live_segment *s = &m->segment[m->n_segments];

	if (m->n_segments == LIVE_MAX_SEGMENTS || p->p_memsz == 0)
		return;
	s->start = start & ~(page - 1);
	s->end = (start + p->p_memsz + page - 1) & ~(page - 1);
	s->offset = p->p_offset & ~(page - 1);
	s->prot = (p->p_flags & PF_R ? PROT_READ : 0u) | (p->p_flags & PF_W ? PROT_WRITE : 0u) |
		  (p->p_flags & PF_X ? PROT_EXEC : 0u);
	if (m->n_segments == 0 || s->start < m->begin)
		m->begin = s->start;
	if (s->end > m->end)
		m->end = s->end;
	m->n_segments++;
}

/* Program headers in memory. */
struct headers {
	const uint8_t *at; /* [n] ElfW(Phdr) */
	size_t n;
};

/* Those of the file that is mapped at `begin`, if it begins there. */
static struct headers headers_at(const uint8_t *begin)
{
	ElfW(Ehdr) h;

	memcpy(&h, begin, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(ElfW(Phdr)) ||
	    h.e_phoff + h.e_phnum * sizeof(ElfW(Phdr)) > PAGE_BYTES)
		return (struct headers){ 0 };
	return (struct headers){ begin + h.e_phoff, h.e_phnum };
}

/*
 * The loader tells the segment only where there are holes between segments. Then the executable's headers
 * are where the kernel says, those of others where address 0 of theirs is.
 */
static struct headers headers_of(const struct dl_find_object *o)
{
	const struct link_map *map = o->dlfo_link_map;
	struct headers h = headers_at(o->dlfo_map_start);

	if (h.n)
		return h;
	if (!map->l_name || !*map->l_name)
		return (struct headers){ (const uint8_t *)getauxval(AT_PHDR), getauxval(AT_PHNUM) };
	return tracer_readable((const void *)map->l_addr, 1)
		       ? headers_at((const uint8_t *)map->l_addr)
		       : h;
}

/* Where the kernel begins the executable, or the loader, at the module's own address. 0: neither is in it. */
static uint64_t entry_of(const struct live_module *m)
{
	uint64_t at = getauxval(AT_ENTRY), loader = getauxval(AT_BASE);
	ElfW(Ehdr) h;

	if (loader >= m->begin && loader < m->end) {
		memcpy(&h, (const void *)loader, sizeof(h));
		return h.e_entry;
	}
	return at >= m->begin && at < m->end ? at - m->bias : 0;
}

static struct live_module describe(const struct dl_find_object *o)
{
	const struct link_map *map = o->dlfo_link_map;
	struct live_module m = { .bias = map->l_addr, .link_map = map };
	struct headers h = headers_of(o);

	m.phdr = h.at;
	m.n_phdr = h.n;
	for (size_t i = 0; i < h.n; i++) {
		ElfW(Phdr) p;
		uint64_t at;

		memcpy(&p, h.at + i * sizeof(p), sizeof(p));
		at = m.bias + p.p_vaddr;
		if (p.p_type == PT_LOAD) {
			take_load(&m, &p);
		} else if (p.p_type == PT_GNU_EH_FRAME) {
			m.hdr = at;
			m.hdr_n = p.p_memsz;
		} else if (p.p_type == PT_NOTE && m.n_build_id == 0) {
			take_note(&m, (const uint8_t *)at, p.p_memsz);
		}
	}
	m.entry = entry_of(&m);
	return m;
}

/* Is path what name_of() makes of the loader's name? */
static bool is_named(const char *path, const char *name)
{
	const char *inner = inner_path(name);
	size_t n = strlen(path), n_inner = strlen(inner);

	if (!is_relative(name))
		return strcmp(path, name) == 0;
	return n >= n_inner && strcmp(path + n - n_inner, inner) == 0;
}

static bool same_module(const struct live_module *a, const struct live_module *b)
{
	const struct link_map *map = b->link_map;

	if (a->begin != b->begin || a->end != b->end || a->hdr != b->hdr ||
	    a->n_build_id != b->n_build_id ||
	    memcmp(a->build_id, b->build_id, sizeof(a->build_id)) != 0)
		return false;
	return a->path && (!map->l_name || !*map->l_name || is_named(a->path, map->l_name));
}

static void set_loaded(struct live_modules *all, struct live_module *m, bool loaded)
{
	if (m->loaded == loaded)
		return;
	m->loaded = loaded;
	m->was_looked_at = false;
	all->n_gone += !loaded;
	all->n_come += loaded;
	all->changed(all->arg, m);
}

/* Whatever is held to be loaded where m is, but is not m, is gone. */
static bool drop_others(struct live_modules *all, const struct live_module *m, uint64_t begin,
			uint64_t end)
{
	bool gone = false;

	for (uint32_t i = 0; i < all->n; i++) {
		struct live_module *other = &all->at[i];

		if (other == m || !other->loaded || other->begin >= end || other->end <= begin)
			continue;
		set_loaded(all, other, false);
		gone = true;
	}
	return gone;
}

static struct live_module *same_as(struct live_modules *all, const struct live_module *found)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (same_module(&all->at[i], found))
			return &all->at[i];
	return NULL;
}

struct live_module *live_modules_at(struct live_modules *all, uint64_t address, bool *gone)
{
	struct dl_find_object o;
	struct live_module found, *m;

	if (!_dl_find_object)
		return NULL;
	if (_dl_find_object((void *)address, &o)) {
		*gone |= drop_others(all, NULL, address, address + 1);
		return NULL;
	}
	found = describe(&o);
	if (found.n_segments == 0)
		return NULL;
	m = same_as(all, &found);
	/* It has come again: stacks that lead through it are known, but not whether it is what it was. */
	*gone |= m && !m->loaded;
	if (!m && all->n == LIVE_MAX_MODULES)
		return NULL;
	if (!m) {
		m = &all->at[all->n++];
		*m = found;
		m->path = name_of(o.dlfo_link_map, all->no_files);
		m->index = all->n;
	}
	*gone |= drop_others(all, m, found.begin, found.end);
	set_loaded(all, m, true);
	return m;
}

bool live_module_is_there(const struct live_module *m)
{
	struct dl_find_object o;

	return _dl_find_object((void *)m->begin, &o) == 0 && o.dlfo_link_map == m->link_map;
}

bool live_modules_check(struct live_modules *all)
{
	bool gone = false;

	for (uint32_t i = 0; i < all->n; i++) {
		struct live_module *m = &all->at[i];

		if (!m->loaded || live_module_is_there(m))
			continue;
		set_loaded(all, m, false);
		gone = true;
	}
	return gone;
}

/* Readable bytes from address to the end of the segment that it is in. */
static size_t bytes_from(const struct live_module *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->n_segments; i++)
		if (address >= m->segment[i].start && address < m->segment[i].end)
			return m->segment[i].prot & PROT_READ ? m->segment[i].end - address : 0;
	return 0;
}

/* Where .eh_frame is: the header says it, relative to itself, in the encoding that linkers write. */
static uint64_t eh_frame_of(const struct live_module *m)
{
	const uint8_t *hdr = (const uint8_t *)m->hdr;
	int32_t relative;

	if (m->hdr_n < 8 || bytes_from(m, m->hdr) < 8 || hdr[0] != 1 || hdr[1] != 0x1b)
		return 0;
	memcpy(&relative, hdr + 4, sizeof(relative));
	return m->hdr + 4 + (uint64_t)(int64_t)relative;
}

struct cfi *live_module_cfi(struct live_module *m)
{
	struct cfi_sections s = { .arch = UNWIND_HERE };
	uint64_t frames;

	if (m->cfi_tried)
		return m->cfi;
	m->cfi_tried = true;
	frames = eh_frame_of(m);
	if (!frames || bytes_from(m, frames) == 0 || bytes_from(m, m->hdr) < m->hdr_n)
		return NULL;
	s.eh_frame.bytes = (const uint8_t *)frames;
	s.eh_frame.n = bytes_from(m, frames);
	s.eh_frame.address = frames - m->bias;
	s.eh_frame_hdr.bytes = (const uint8_t *)m->hdr;
	s.eh_frame_hdr.n = m->hdr_n;
	s.eh_frame_hdr.address = m->hdr - m->bias;
	m->cfi = cfi_new(&s);
	return m->cfi;
}
