/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where functions begin that have no symbol, as the unwind tables of their file say it, which no strip takes. The file is opened
 * when that is first asked for.
 */
#ifndef PROFTOP_ELF_FUNCTION_STARTS_H
#define PROFTOP_ELF_FUNCTION_STARTS_H

#include <stdbool.h>
#include <stdint.h>

struct function_starts;
struct elf_file;

/* Of the file that was mapped, which may be closed afterwards. */
struct function_starts *function_starts_new(const struct elf_file *runtime);
void function_starts_free(struct function_starts *b);

/*
 * Where the function of which the byte at an offset in the file is part begins: as an address of the file, which is what
 * disassemblers print. False: no table says.
 */
bool function_starts_find(struct function_starts *b, uint64_t offset, uint64_t *begin);

/* Memory that it holds. */
uint64_t function_starts_bytes(const struct function_starts *b);

#endif
