/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loader says where a module begins; what it consists of is read from its headers in memory. That is
 * done when an address of the module is on a stack, so it is not being unloaded just then.
 */
#include "config.h"

#include "record/heap/stack/live_modules.h"

#include "record/heap/stack/live_maps.h"
#include "record/heap/trace/tracer_memory.h"
#include "unwind/cfi.h"

#include <elf.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES      4096u
#define LIVE_MAX_OTHERS 512u
#define LIVE_MAX_MEMORY 1024u
#define MOST_VAIN       256u

/* As glibc 2.35 has it; the library may be built where the header does not. */
struct found_object {
	unsigned long long flags;
	void *begin, *end;
	struct link_map *map;
	void *eh_frame;
	unsigned long long reserved[7];
};

/* Only glibc has these, the first since 2.35. */
int dl_find_object(void *address, struct found_object *o) __asm__("_dl_find_object")
	__attribute__((weak));
#pragma weak gnu_get_libc_version
#pragma weak _r_debug

/* A module of another libc: what its loader would tell of it. As musl, it unloads none. */
struct other_module {
	const void *phdr; /* tells it from others */
	struct link_map map;
};

/* A search among the modules of another libc. */
struct other_search {
	uint64_t address;
	struct live_object *o;
};

/* Kept for good: callers remember addresses of maps. NULL: there are too many. */
static struct link_map *map_of(const struct dl_phdr_info *info)
{
	static struct other_module other[LIVE_MAX_OTHERS];
	static uint32_t n;
	uint32_t i = 0;

	while (i < n && other[i].phdr != info->dlpi_phdr)
		i++;
	if (i == LIVE_MAX_OTHERS)
		return NULL;
	n += i == n;
	other[i].phdr = info->dlpi_phdr;
	other[i].map.l_addr = info->dlpi_addr;
	other[i].map.l_name = (uint64_t)info->dlpi_phdr == getauxval(AT_PHDR)
				      ? (char *)""
				      : (char *)(uintptr_t)info->dlpi_name;
	return &other[i].map;
}

/* Is address in the module with these headers? Says where it lies. */
static bool covers(const struct dl_phdr_info *info, uint64_t address, struct live_object *o)
{
	uint64_t begin = UINT64_MAX, end = 0;
	const void *frames = NULL;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			frames = (const void *)at;
		if (p->p_type != PT_LOAD)
			continue;
		begin = at < begin ? at & ~(uint64_t)(PAGE_BYTES - 1) : begin;
		end = at + p->p_memsz > end ? at + p->p_memsz : end;
	}
	if (address < begin || address >= end)
		return false;
	o->begin = (const void *)begin;
	o->end = (const void *)end;
	o->eh_frame = frames;
	return true;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct other_search *s = arg;

	(void)size;
	if (!covers(info, s->address, s->o))
		return 0;
	s->o->map = map_of(info);
	return s->o->map ? 1 : -1;
}

/* A module's headers by the loader's entry of it. False: they are not at its begin. */
static bool headers_at_begin(const struct link_map *map, struct dl_phdr_info *info)
{
	uint64_t begin = map->l_addr;
	ElfW(Ehdr) h;

	/* The program, at the addresses of its file. */
	if (!begin && map->l_name && !*map->l_name)
		begin = getauxval(AT_PHDR) & ~(uint64_t)(PAGE_BYTES - 1);
	if (!begin || !tracer_readable((const void *)begin, sizeof(h)))
		return false;
	memcpy(&h, (const void *)begin, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(ElfW(Phdr)) ||
	    h.e_phoff + (uint64_t)h.e_phnum * sizeof(ElfW(Phdr)) > PAGE_BYTES)
		return false;
	*info = (struct dl_phdr_info){ .dlpi_addr = map->l_addr,
				       .dlpi_phdr = (const void *)(begin + h.e_phoff),
				       .dlpi_phnum = h.e_phnum };
	return true;
}

/*
 * glibc before 2.35 has a function for this that takes the loader's lock, which the program may hold while it waits for us. So
 * the list that it keeps for debuggers is read, while other threads may take entries out of it: each is read only where memory is.
 */
static bool find_in_list(uint64_t address, struct live_object *o)
{
	struct dl_phdr_info info;

	if (!&_r_debug)
		return false;
	for (struct link_map *m = _r_debug.r_map; m && tracer_readable(m, sizeof(*m));
	     m = m->l_next)
		if (headers_at_begin(m, &info) && covers(&info, address, o)) {
			o->map = m;
			return true;
		}
	return false;
}

/* musl's loader holds no lock where it calls the program's malloc. */
static bool find_object(uint64_t address, struct live_object *o)
{
	struct other_search s = { address, o };
	struct found_object found;

	if (!dl_find_object && gnu_get_libc_version)
		return find_in_list(address, o);
	if (!dl_find_object)
		return dl_iterate_phdr(look_at, &s) == 1;
	if (dl_find_object((void *)address, &found) != 0)
		return false;
	*o = (struct live_object){ found.begin, found.end, found.map, found.eh_frame };
	return true;
}

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

#define NT_GO_BUILD_ID 4

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
		if (m->n_build_id == 0 && h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(p + sizeof(h), "GNU", 4) == 0 && h.n_descsz <= LIVE_MAX_BUILD_ID) {
			memcpy(m->build_id, p + name, h.n_descsz);
			m->n_build_id = h.n_descsz;
		}
		m->is_go |= h.n_type == NT_GO_BUILD_ID && h.n_namesz == 4 &&
			    memcmp(p + sizeof(h), "Go\0", 4) == 0;
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

static struct live_module describe(struct live_modules *all, const struct live_object *o)
{
	const struct link_map *map = o->map;
	struct live_module m = { .bias = map->l_addr, .link_map = map };
	struct live_headers h = live_headers_of(&all->copies, o, all->no_files);

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
		} else if (p.p_type == PT_NOTE) {
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

/* The file into which a program writes what code it generated: jit-PID.dump. It is mapped to tell recorders of it. */
static bool is_jit_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits = name && strncmp(name, "/jit-", 5) == 0 ? strspn(name + 5, "0123456789") : 0;

	return digits && strcmp(name + 5 + digits, ".dump") == 0;
}

static struct live_module *memory_at(struct live_modules *all, uint64_t address)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct live_module *m = &all->at[i];

		if (m->is_memory && m->loaded && address >= m->begin && address < m->end)
			return m;
	}
	return NULL;
}

struct memory_search {
	struct live_modules *all;
	uint64_t address;
	bool found;
};

static bool take_memory(void *arg, const struct live_map *map)
{
	struct memory_search *s = arg;
	struct live_modules *all = s->all;
	bool is_it = s->address >= map->begin && s->address < map->end;
	struct live_module *m;

	if (!map->runs || (!is_it && !is_jit_dump(map->path)) || memory_at(all, map->begin))
		return true;
	if (all->n == LIVE_MAX_MODULES || all->n_memory == LIVE_MAX_MEMORY)
		return false;
	s->found |= is_it;
	all->n_memory++;
	m = &all->at[all->n++];
	*m = (struct live_module){ .begin = map->begin,
				   .end = map->end,
				   .is_memory = true,
				   .n_segments = 1,
				   .index = all->n };
	m->segment[0] = (struct live_segment){ map->begin, map->end, map->offset,
					       PROT_READ | PROT_EXEC };
	m->path = copy_text(*map->path ? map->path : "//anon");
	set_loaded(all, m, true);
	return true;
}

/*
 * Does a call stand before the instruction behind address? Walks ask for any word that lies where a return address was, and
 * reading what is mapped takes a while.
 */
static bool is_called(uint64_t address)
{
#if defined(__x86_64__)
	const uint8_t *next = (const uint8_t *)(address + 1);

	if (!tracer_readable(next - 7, 7))
		return false;
	if (next[-5] == 0xe8)
		return true;
	for (int i = 2; i <= 7; i++)
		if (next[-i] == 0xff && (next[1 - i] & 0x38) == 0x10)
			return true;
	return false;
#else
	return tracer_readable((const void *)address, 1);
#endif
}

/* No module is there: code all the same? Nothing but names depends on it, so that it need not be looked for at any cost. */
static void look_for_memory(struct live_modules *all, uint64_t address)
{
	struct memory_search s = { .all = all, .address = address };

	if (all->no_files || all->n_vain == MOST_VAIN || !is_called(address))
		return;
	live_maps_each(take_memory, &s);
	all->n_vain = s.found ? 0 : all->n_vain + 1;
}

struct live_module *live_modules_at(struct live_modules *all, uint64_t address, bool *gone)
{
	struct live_object o;
	struct live_module found, *m;

	if (!find_object(address, &o)) {
		if (memory_at(all, address))
			return NULL;
		*gone |= drop_others(all, NULL, address, address + 1);
		look_for_memory(all, address);
		return NULL;
	}
	found = describe(all, &o);
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
		m->path = name_of(o.map, all->no_files);
		m->index = all->n;
	}
	*gone |= drop_others(all, m, found.begin, found.end);
	set_loaded(all, m, true);
	return m;
}

bool live_module_is_there(const struct live_module *m)
{
	struct live_object o;

	return find_object(m->begin, &o) && o.map == m->link_map;
}

bool live_modules_check(struct live_modules *all)
{
	bool gone = false;

	for (uint32_t i = 0; i < all->n; i++) {
		struct live_module *m = &all->at[i];

		if (!m->loaded || m->is_memory || live_module_is_there(m))
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
