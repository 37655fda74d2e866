/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols by address, of ELF tables and of what recordings bring.
 *
 * Filled, sealed once, then asked. What an address is called follows perf: a symbol without a size
 * ends where the next begins; of several at one address the first by these wins: has a size, is no
 * label, is not weak, is global, fewer leading underscores, the longer name (both of the demangled
 * name without arguments), came first.
 */
#ifndef PROFTOP_ELF_SYMTAB_H
#define PROFTOP_ELF_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

enum symbol_kind { SYMBOL_CODE, SYMBOL_LABEL, SYMBOL_PLT };
enum symbol_binding { BINDING_LOCAL, BINDING_GLOBAL, BINDING_WEAK };

struct symbol {
	uint64_t start;
	uint64_t end;     /* one past the last; start while unknown */
	const char *name; /* mangled; of SYMBOL_PLT without "@plt"; borrowed from the symtab */
	uint8_t kind;     /* enum symbol_kind */
	uint8_t binding;  /* enum symbol_binding */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *t);
/* Takes a text of n bytes (malloc) in which names lie. */
void symtab_keep(struct symtab *t, void *text, size_t n);

void symtab_reserve(struct symtab *t, size_t n);
/* s->name stays where it is and must live in one of the symtab's texts, or for ever. */
void symtab_add(struct symtab *t, const struct symbol *s);
/* Sorts and finds ends. Nothing may be added afterwards. */
void symtab_seal(struct symtab *t);

/* The symbol whose code address is, or NULL. Borrowed. Not from several threads at once. */
const struct symbol *symtab_find(struct symtab *t, uint64_t address);

size_t symtab_n(const struct symtab *t);
/* In order of address, once sealed. */
const struct symbol *symtab_at(const struct symtab *t, size_t i);
/* Memory that it holds. */
uint64_t symtab_bytes(const struct symtab *t);

#endif
