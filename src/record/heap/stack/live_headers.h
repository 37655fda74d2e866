/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program headers of a module that is loaded. Linkers write them behind the file's header, in the first page; BOLT
 * and others write them anywhere. Called with the recorder's slow lock held.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_HEADERS_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_HEADERS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module as the loader tells of it: what we use of struct dl_find_object, which glibc has since 2.35. */
struct live_object {
	const void *begin, *end;    /* all its segments */
	const struct link_map *map; /* the loader's */
	const void *eh_frame;       /* .eh_frame_hdr; NULL: none */
};

#define LIVE_MAX_COPIES 64u

struct live_headers {
	const uint8_t *at; /* [n] ElfW(Phdr), for as long as the module is loaded */
	size_t n;          /* 0: they are not found */
};

/* Headers that were copied from a file, or looked for in vain. */
struct live_header_copy {
	uint64_t begin;  /* where the module's first page was, */
	ElfW(Ehdr) ehdr; /* which began with this */
	struct live_headers headers;
};

struct live_header_copies {
	struct live_header_copy at[LIVE_MAX_COPIES];
	uint32_t n;
};

/* Those of o's module. Its file may be read, unless no_files; whatever is read is compared with memory. */
struct live_headers live_headers_of(struct live_header_copies *copies, const struct live_object *o,
				    bool no_files);

#endif
