/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An index: what was made of a large file, so that it need not be read again. It is made of a pack's sections, but rows of samples
 * are the model's own packed blocks, and all tables are there, numbered as they were. It belongs to this program on this
 * machine, and may be thrown away at any time.
 *
 *   head, PACK_KEY, the tables, PACK_BLOCKS…, PACK_SAMPLES (the rest of the rows), PACK_FACTS, PACK_END
 *
 * pack_write_index() writes it. Nothing of one that is damaged gets into a profile.
 */
#ifndef PROFTOP_FORMATS_PACK_INDEX_FILE_H
#define PROFTOP_FORMATS_PACK_INDEX_FILE_H

#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

struct index_file;
struct progress;

/* Takes fd over in any case. NULL: it is no index, or its key is damaged. */
struct index_file *index_file_open(int fd);
/* NULL is fine. */
void index_file_close(struct index_file *f);

/* What it is of, as it was written. Borrowed. */
const uint8_t *index_file_key(const struct index_file *f, size_t *n);

/*
 * Reads it into a profile that has nothing but the capture. All is read and checked apart first. 0; -EBADMSG: it is
 * damaged, and p is as it was; -ECANCELED; -EIO: it changed meanwhile, and p is of no use any more.
 */
int index_file_read(struct index_file *f, struct profile *p, capture_id c,
		    struct progress *progress);

#endif
