/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is loaded in this process, as far as stacks came by it: modules with their maps and build-ids
 * for the trace, and with the call frame information that lies in memory for unwinding.
 *
 * The loader is asked by address, through _dl_find_object, which takes no lock: programs may allocate
 * while they hold the loader's. glibc before 2.35 has a list for debuggers instead. Everything here is called with the recorder's slow lock held.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_MODULES_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_MODULES_H

#include "record/heap/stack/live_headers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi;

#define LIVE_MAX_SEGMENTS 8u
#define LIVE_MAX_BUILD_ID 32u
#define LIVE_MAX_MODULES  4096u

struct live_segment {
	uint64_t start, end; /* addresses, end exclusive */
	uint64_t offset;     /* in the file */
	uint32_t prot;       /* PROT_ bits */
};

struct live_module {
	char *path;          /* as the loader names it; of the executable the resolved one */
	uint64_t bias;       /* address − the module's own address */
	uint64_t begin, end; /* of all segments */
	uint64_t entry;      /* the module's own address where a program begins in it, or 0 */
	uint64_t hdr, hdr_n; /* .eh_frame_hdr in memory; hdr_n 0: none */
	struct live_segment segment[LIVE_MAX_SEGMENTS];
	uint8_t build_id[LIVE_MAX_BUILD_ID];
	const void *link_map; /* the loader's name for it; not looked into later */
	const void *phdr;     /* its program headers in memory, [n_phdr] ElfW(Phdr) */
	size_t n_phdr;
	uint32_t n_segments;
	uint32_t n_build_id; /* 0: has none */
	uint32_t index;      /* in the trace: 1, 2 … */
	struct cfi *cfi;     /* made when first asked for; NULL also when there is none */
	bool cfi_tried;
	bool is_go; /* Go's linker made it */
	bool is_memory; /* code that the loader does not know: generated, or mapped by the program itself */
	bool loaded;        /* false: was unloaded; kept, as it may come back */
	bool was_looked_at; /* for an allocator in it, since it was loaded */
};

struct live_modules {
	struct live_module *at; /* [n] */
	uint32_t n;
	/* Told of each module that came or went. */
	void (*changed)(void *arg, const struct live_module *m);
	void *arg;
	struct live_header_copies copies;
	bool no_files;           /* whoever looks may not ask the kernel for files */
	uint32_t n_memory;       /* entries that are memory */
	uint32_t n_vain;         /* looks in a row for code at addresses where there was none */
	uint64_t n_gone;         /* how often one was unloaded */
	_Atomic uint64_t n_come; /* how often one was loaded */
};

/* Is it still where it was, whatever it was held to be? */
bool live_module_is_there(const struct live_module *m);

bool live_modules_init(struct live_modules *m);

/*
 * What is loaded at address, or NULL. Where there is code that the loader does not know, that is told as a module, too: of
 * the file that was mapped, or "//anon". *gone is set when something is found to have been unloaded, or
 * loaded again: then rules that were found may be of what is no more. Borrowed until the next call.
 */
struct live_module *live_modules_at(struct live_modules *m, uint64_t address, bool *gone);

/* Looks whether all that is held to be loaded still is. True: something is gone. */
bool live_modules_check(struct live_modules *m);

/* Its call frame information, or NULL. Lives as long as the process. */
struct cfi *live_module_cfi(struct live_module *m);

#endif
