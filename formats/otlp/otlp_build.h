/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of OTLP messages into the model, message by message. */
#ifndef PROFTOP_FORMATS_OTLP_OTLP_BUILD_H
#define PROFTOP_FORMATS_OTLP_OTLP_BUILD_H

#include "profile/builder.h"

#include <stdint.h>

struct otlp_builder;
struct otlp_tables;
struct progress;

struct otlp_builder *otlp_builder_new(struct profile *p, capture_id c, enum root_names root_names,
				      struct progress *progress);
void otlp_builder_free(struct otlp_builder *b);

/* Adds the samples of one message. The write lock is held, and given back now and then. 0, -EFBIG or -ECANCELED. */
int otlp_build(struct otlp_builder *b, const struct otlp_tables *t);

uint64_t otlp_builder_n_rows(const struct otlp_builder *b);
/* Are there profiles of a layout before the table of stacks? Their samples are left out. */
uint64_t otlp_builder_n_old(const struct otlp_builder *b);

/* What `info` says of all messages. Wants the write lock. */
void otlp_builder_tell(const struct otlp_builder *b);

#endif
