/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file's header says where in the file the program headers are, and they themselves say where in memory that part of
 * the file is. So any place that may hold them is tried, and believed when it says that it is the place.
 */
#include "config.h"

#include "record/heap/stack/live_headers.h"

#include "record/heap/trace/tracer_memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PAGE_BYTES  4096u
#define MOST_PHDRS  64u
#define MOST_SHIFTS 16u /* segments before them, each of which linkers may move by a page */

/* A module whose headers are looked for. */
struct search {
	const struct live_object *o;
	const uint8_t *begin; /* its first page, */
	ElfW(Ehdr) ehdr;      /* which begins with this */
};

static bool begins_module(struct search *s, const void *begin)
{
	s->begin = begin;
	memcpy(&s->ehdr, begin, sizeof(s->ehdr));
	return memcmp(s->ehdr.e_ident, ELFMAG, SELFMAG) == 0 &&
	       s->ehdr.e_phentsize == sizeof(ElfW(Phdr)) && s->ehdr.e_phnum > 0 &&
	       s->ehdr.e_phnum <= MOST_PHDRS;
}

static size_t bytes_of(const struct search *s)
{
	return s->ehdr.e_phnum * sizeof(ElfW(Phdr));
}

/* Do these headers say that they are in memory where they are? */
static bool are_here(const struct search *s, const uint8_t *at)
{
	uint64_t offset = s->ehdr.e_phoff;

	for (size_t i = 0; i < s->ehdr.e_phnum; i++) {
		ElfW(Phdr) p;

		memcpy(&p, at + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && p.p_offset <= offset &&
		    offset - p.p_offset <= p.p_filesz &&
		    bytes_of(s) <= p.p_filesz - (offset - p.p_offset) &&
		    s->o->map->l_addr + p.p_vaddr + (offset - p.p_offset) == (uint64_t)at)
			return true;
	}
	return false;
}

/* Code of the module is where the headers want it, and so are its unwind tables. */
static bool are_of(const struct search *s, const uint8_t *at)
{
	uint64_t bias = s->o->map->l_addr;
	bool code = false, tables = !s->o->eh_frame;

	for (size_t i = 0; i < s->ehdr.e_phnum; i++) {
		ElfW(Phdr) p;

		memcpy(&p, at + i * sizeof(p), sizeof(p));
		code |= p.p_type == PT_LOAD && (p.p_flags & PF_X);
		tables |= p.p_type == PT_GNU_EH_FRAME &&
			  bias + p.p_vaddr == (uint64_t)s->o->eh_frame;
	}
	return code && tables;
}

/* In memory behind the first page. NULL: not there. */
static const uint8_t *find_in_memory(const struct search *s)
{
	uint64_t end = (uint64_t)s->o->end;
	uint64_t at = (uint64_t)s->begin + s->ehdr.e_phoff;

	for (unsigned i = 0; i < MOST_SHIFTS && at < end && bytes_of(s) <= end - at; i++) {
		if (tracer_readable((const void *)at, bytes_of(s)) &&
		    are_here(s, (const uint8_t *)at))
			return (const uint8_t *)at;
		at += PAGE_BYTES;
	}
	return NULL;
}

/* A copy of what the module's file says, if it is still the file that was loaded. NULL: it is not. */
static const uint8_t *copy_from_file(const struct search *s)
{
	const char *path = s->o->map->l_name;
	uint8_t *copy = NULL;
	ElfW(Ehdr) ehdr;
	int fd;

	fd = open(path && *path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (pread(fd, &ehdr, sizeof(ehdr), 0) == (ssize_t)sizeof(ehdr) &&
	    memcmp(&ehdr, &s->ehdr, sizeof(ehdr)) == 0)
		copy = tracer_malloc(bytes_of(s));
	if (copy && (pread(fd, copy, bytes_of(s), (off_t)ehdr.e_phoff) != (ssize_t)bytes_of(s) ||
		     !are_of(s, copy))) {
		tracer_free(copy);
		copy = NULL;
	}
	close(fd);
	return copy;
}

static struct live_headers copied(struct live_header_copies *copies, const struct search *s,
				  bool no_files)
{
	struct live_header_copy *c;

	for (uint32_t i = 0; i < copies->n; i++) {
		c = &copies->at[i];
		if (c->begin == (uint64_t)s->begin &&
		    memcmp(&c->ehdr, &s->ehdr, sizeof(c->ehdr)) == 0 &&
		    (c->headers.n == 0 || are_of(s, c->headers.at)))
			return c->headers;
	}
	if (no_files || copies->n == LIVE_MAX_COPIES)
		return (struct live_headers){ 0 };
	c = &copies->at[copies->n++];
	*c = (struct live_header_copy){ .begin = (uint64_t)s->begin, .ehdr = s->ehdr };
	c->headers.at = copy_from_file(s);
	c->headers.n = c->headers.at ? s->ehdr.e_phnum : 0;
	return c->headers;
}

/* Of the module that begins at s->begin. */
static struct live_headers headers_at(struct live_header_copies *copies, const struct search *s,
				      bool no_files)
{
	const uint8_t *at;

	if (s->ehdr.e_phoff <= PAGE_BYTES && bytes_of(s) <= PAGE_BYTES - s->ehdr.e_phoff)
		return (struct live_headers){ s->begin + s->ehdr.e_phoff, s->ehdr.e_phnum };
	at = find_in_memory(s);
	if (at)
		return (struct live_headers){ at, s->ehdr.e_phnum };
	return copied(copies, s, no_files);
}

/*
 * The loader tells the segment only where there are holes between segments. Then the executable's headers
 * are where the kernel says, those of others where address 0 of theirs is.
 */
struct live_headers live_headers_of(struct live_header_copies *copies, const struct live_object *o,
				    bool no_files)
{
	const struct link_map *map = o->map;
	struct search s = { .o = o };

	if (begins_module(&s, o->begin)) {
		struct live_headers h = headers_at(copies, &s, no_files);

		if (h.n)
			return h;
	}
	if (!map->l_name || !*map->l_name)
		return (struct live_headers){ (const uint8_t *)getauxval(AT_PHDR),
					      getauxval(AT_PHNUM) };
	if ((const void *)map->l_addr != o->begin &&
	    tracer_readable((const void *)map->l_addr, sizeof(s.ehdr)) &&
	    begins_module(&s, (const void *)map->l_addr))
		return headers_at(copies, &s, no_files);
	return (struct live_headers){ 0 };
}
