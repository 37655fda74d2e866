/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of allocators in one module that calls reach without the loader: found by its symbol table, and looked
 * at whether all of them can be led elsewhere. All or none: an allocator of which only a part is seen would look as
 * if it gave blocks out twice.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_CODE_MODULE_H
#define PROFTOP_RECORD_HEAP_PATCH_CODE_MODULE_H

#include "record/heap/patch/allocators.h"
#include "record/heap/patch/trampoline.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAX_FUNCTIONS 160u
#define CODE_MAX_NAME      64u

struct code_function {
	struct allocator_match match;
	struct trampoline move;
	char name[CODE_MAX_NAME];
	uint64_t value; /* of its symbol */
	bool exported;  /* other modules can call it by name */
	bool local;     /* its name is nobody's but its source file's, or was hidden */
	bool forwards; /* it is nothing but a jump to another one of these: nothing is to be done */
	bool is_resolver;  /* what is there only says where the function is */
	bool is_ambiguous; /* the symbol table has other functions of that name */
};

struct code_module {
	uint64_t base;           /* added to addresses of the file */
	const ElfW(Phdr) * phdr; /* [n_phdr], the loader's */
	size_t n_phdr;
	bool is_executable;
	bool comes_first;   /* calls by the names of its functions reach it, and not our hooks */
	bool is_stripped;   /* what it does not export is not known */
	bool calls_madvise; /* of one that is stripped: another module's function of that name */
	size_t n;
	struct code_function function[CODE_MAX_FUNCTIONS];
	const char *why;      /* it is not to be touched; NULL: it may be, if n > 0 */
	const char *why_name; /* which of the functions is why, or NULL */
};

/* Finds the functions of a module whose file is open as fd. n is 0: none that concern us. */
void code_module_read(struct code_module *m, int fd);

/* Where a function is that other modules call by this name, one of those that were found. NULL: nowhere. */
const void *code_module_exported(const struct code_module *m, const char *name);

/* For people: which allocator it is. */
const char *code_module_allocator(const struct code_module *m);

/* The name of an allocator that a module without symbols has in its texts. NULL: none. */
const char *code_module_rumour(const struct code_module *m);

/* Does the module hold n bytes at an address in memory in segments that have all of these flags (PF_…)? */
bool code_module_has(const struct code_module *m, uint64_t address, uint64_t n, uint32_t flags);

#endif
