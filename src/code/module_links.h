/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel fills into a module's code when it loads it: the file has zeros there, so that each call seems to lead to the next
 * instruction. The relocations say which function or data it is.
 */
#ifndef PROFTOP_CODE_MODULE_LINKS_H
#define PROFTOP_CODE_MODULE_LINKS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct module_links;

/* Of a file that is not linked (ET_REL), which must outlive it; empty where it has none that can be read. */
struct module_links *module_links_new(const struct elf_file *f);
void module_links_free(struct module_links *l);
/* What is filled into the n bytes at an address of elf_relocate_base()'s: "kfree", ".rodata+0x20"; the caller frees. NULL: nothing. */
char *module_links_name(const struct module_links *l, uint64_t address, size_t n);

#endif
