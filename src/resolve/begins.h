/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where functions begin that have no symbol, as the unwind tables of their file say it, which no strip takes. The file is opened
 * when that is first asked for.
 */
#ifndef PROFTOP_RESOLVE_BEGINS_H
#define PROFTOP_RESOLVE_BEGINS_H

#include <stdbool.h>
#include <stdint.h>

struct begins;
struct elf_file;

/* Of the file that was mapped, which may be closed afterwards. */
struct begins *begins_new(const struct elf_file *runtime);
void begins_free(struct begins *b);

/*
 * Where the function of which the byte at an offset in the file is part begins: as an address of the file, which is what
 * disassemblers print. False: no table says.
 */
bool begins_find(struct begins *b, uint64_t offset, uint64_t *begin);

/* Memory that it holds. */
uint64_t begins_bytes(const struct begins *b);

#endif
