/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of a pack into the model one by one, for who has them from elsewhere than a pack: see index_file.h. */
#ifndef PROFTOP_FORMATS_PACK_PACK_SECTIONS_H
#define PROFTOP_FORMATS_PACK_PACK_SECTIONS_H

#include "formats/pack/pack_file.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>

struct pack_sections;

/* p is borrowed. */
struct pack_sections *pack_sections_new(struct profile *p, capture_id c);
/* NULL is fine. */
void pack_sections_free(struct pack_sections *s);

/* Builds what a section has; the pen is held. 0; -EBADMSG where one is damaged; -EFBIG. Sections that it does not know are passed over. */
int pack_sections_take(struct pack_sections *s, const struct pack_section *section);

/* Are numbers of stacks, threads and events, and what they are made of, those of the file so far? */
bool pack_sections_same_ids(const struct pack_sections *s);
/* Was all of it taken, and none of it is of heaps? */
bool pack_sections_whole(const struct pack_sections *s);

/* The most bytes that a section may have unpacked, on this machine. */
size_t pack_sections_most(void);

#endif
