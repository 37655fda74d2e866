/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The labels of a pprof profile's samples. Those that name a thread or a process are the sample's thread; of others info says
 * which there are.
 */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_LABELS_H
#define PROFTOP_FORMATS_PPROF_PPROF_LABELS_H

#include "profile/builder.h"

struct Pprof__Sample; /* of profile.pb-c.h */
struct pprof_labels;
struct pprof_tables;

/* Borrows p and t. */
struct pprof_labels *pprof_labels_new(struct profile *p, capture_id c,
				      const struct pprof_tables *t);
void pprof_labels_free(struct pprof_labels *l);

/* The thread that a sample's labels tell of, or {ID_NONE}. Wants the pen. */
thread_id pprof_labels_thread(struct pprof_labels *l, const struct Pprof__Sample *s);
/* The same of a sample with the labels of the last one. */
thread_id pprof_labels_same(struct pprof_labels *l);

/* States in facts which labels there are. Wants the pen. */
void pprof_labels_tell(const struct pprof_labels *l);

#endif
