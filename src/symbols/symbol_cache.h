/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What names the addresses of modules, as far as it is open: to read a library's symbols again for each few new
 * addresses costs more than all else that a live view does. Those used last stay, up to so many bytes.
 */
#ifndef PROFTOP_SYMBOLS_SYMBOL_CACHE_H
#define PROFTOP_SYMBOLS_SYMBOL_CACHE_H

#include <stdint.h>

struct symbol_cache;
struct symbol_source;

/* most_bytes: that they may hold together. A larger one is closed as soon as it was used. */
struct symbol_cache *symbol_cache_new(uint64_t most_bytes);
void symbol_cache_free(struct symbol_cache *o);

/* That of a module, by its number; NULL: it is not open. Borrowed until any of them is used or closed. */
struct symbol_source *symbol_cache_find(const struct symbol_cache *o, uint32_t module);
/* Takes that of a module which is not open. */
void symbol_cache_add(struct symbol_cache *o, uint32_t module, struct symbol_source *s);

/* It was used, and may hold more now: closes those that were not used for longest, as far as all are too large. */
void symbol_cache_used(struct symbol_cache *o, uint32_t module);
/* Nothing when it is not open. */
void symbol_cache_close(struct symbol_cache *o, uint32_t module);

#endif
