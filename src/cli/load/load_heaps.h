/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heap traces that lie beside the samples of a directory recording, or beside the first trace: read one after the other when those
 * have been, or, while all of it is being written, beside them.
 */
#ifndef PROFTOP_CLI_LOAD_LOAD_HEAPS_H
#define PROFTOP_CLI_LOAD_LOAD_HEAPS_H

#include "cli/options/query_options.h"
#include "profile/builder.h"

struct load_heaps;
struct options;
struct profile;
struct progress;
struct read_options;

/*
 * Reads those that are in the directory into the capture. A trace that cannot be read is a loss of the recording, and not its
 * end. 0, or -errno.
 */
int load_heaps_read(struct profile *p, capture_id c, const char *directory,
		    const struct read_options *o, struct progress *progress);

/*
 * Follows those that are there or come to be there, on threads of their own. All is borrowed until the end. NULL: no thread could be
 * started.
 *
 * all    hears how far they are behind; cancelling it ends them
 * read   the trace of them that others read: it and those before it are left out; NULL: none
 */
struct load_heaps *load_heaps_follow(struct profile *p, capture_id c, const char *directory,
				     const char *read, const struct read_options *o,
				     struct progress *all);

/* Waits until what is there has been read to its end, or until that is cancelled; frees. NULL is fine. 0 or -ECANCELED. */
int load_heaps_end(struct load_heaps *h);

/* query_options_of(), which leaves the recorder of the heap out where a file of o is a recording of both. Reads directories. */
struct lens_wish load_heaps_lens(const struct options *o);

#endif
