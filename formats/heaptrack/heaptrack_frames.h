/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What heaptrack's stacks are made of: strings, modules, instruction pointers, and nodes of stacks.
 *
 * Interpreted files bring names; addresses of raw ones are named from the files that were mapped. Things of each kind are numbered
 * in their order: one that cannot be read takes its number all the same. Wants the pen.
 */
#ifndef PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_FRAMES_H
#define PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_FRAMES_H

#include "formats/heaptrack/fields.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heaptrack_frames;
struct progress;
struct read_options;

/* Borrows p. o may be NULL, and what it points to is borrowed. */
struct heaptrack_frames *heaptrack_frames_new(struct profile *p, capture_id c,
					      const struct read_options *o);
void heaptrack_frames_free(struct heaptrack_frames *f);

void heaptrack_frames_string(struct heaptrack_frames *f, const char *s, size_t n);

/* The path of the program, which modules call "x". */
void heaptrack_frames_program(struct heaptrack_frames *f, const char *s, size_t n);

/* The rest of a line "m", behind its name: where the module was loaded, and its segments. False: it cannot be read. */
bool heaptrack_frames_module(struct heaptrack_frames *f, const char *name, size_t n,
			     struct fields rest);

/* A line "i". False: it cannot be read, or has a string that is not there. */
bool heaptrack_frames_pointer(struct heaptrack_frames *f, struct fields rest);

/* A line "t" of an interpreted file: its pointer's number from 1. False: it or the parent is not there. */
bool heaptrack_frames_node(struct heaptrack_frames *f, uint64_t pointer, uint64_t parent);
/* Of a raw file: an address. */
bool heaptrack_frames_node_at(struct heaptrack_frames *f, uint64_t address, uint64_t parent);
/* One whose line cannot be read. */
void heaptrack_frames_bad_node(struct heaptrack_frames *f);

/* How many nodes there are; they are numbered from 1, and 0 is no frame. */
uint32_t heaptrack_frames_n(const struct heaptrack_frames *f);
stack_id heaptrack_frames_stack(const struct heaptrack_frames *f, uint32_t node);

/* Names the addresses of raw files. Without the pen. 0, -ECANCELED or -EFBIG. */
int heaptrack_frames_name(struct heaptrack_frames *f, struct progress *progress);
/* States what has no name. */
void heaptrack_frames_tell(const struct heaptrack_frames *f);

#endif
