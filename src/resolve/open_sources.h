/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What names the addresses of modules, as far as it is open: to read a library's symbols again for each few new
 * addresses costs more than all else that a live view does. Those used last stay, up to so many bytes.
 */
#ifndef PROFTOP_RESOLVE_OPEN_SOURCES_H
#define PROFTOP_RESOLVE_OPEN_SOURCES_H

#include <stdint.h>

struct open_sources;
struct source;

/* most_bytes: that they may hold together. A larger one is closed as soon as it was used. */
struct open_sources *open_sources_new(uint64_t most_bytes);
void open_sources_free(struct open_sources *o);

/* That of a module, by its number; NULL: it is not open. Borrowed until any of them is used or closed. */
struct source *open_sources_find(const struct open_sources *o, uint32_t module);
/* Takes that of a module which is not open. */
void open_sources_add(struct open_sources *o, uint32_t module, struct source *s);

/* It was used, and may hold more now: closes those that were not used for longest, as far as all are too large. */
void open_sources_used(struct open_sources *o, uint32_t module);
/* Nothing when it is not open. */
void open_sources_close(struct open_sources *o, uint32_t module);

#endif
