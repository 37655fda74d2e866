/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace's file: its descriptor lies where programs do not look, and is looked at before each write,
 * as programs may close what is not theirs and open other files under the same number.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_FILE_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_FILE_H

#include "record/heap/trace/tracer_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracer_file {
	char path[TRACER_MAX_PATH];
	int fd;           /* -1: not open */
	dev_t dev;        /* of the file */
	ino_t ino;        /* of the file */
	uint64_t n_bytes; /* written: whole blocks */
};

/* Makes a new file: never one that is there already. 0 or -errno. */
int tracer_file_make(struct tracer_file *f, const struct tracer_options *o);

/* Appends n bytes, all of them or (on failure) none. 0 or -errno. */
int tracer_file_write(struct tracer_file *f, const void *p, size_t n);

/*
 * What it takes of the disk: less than was written where others took some out of it. What was written, where that is not known.
 */
uint64_t tracer_file_room(const struct tracer_file *f);

/* Writes the n first bytes of the file once more, which needs no room. 0 or -errno. */
int tracer_file_write_head(struct tracer_file *f, const void *p, size_t n);

/* Reads n bytes that were written. 0 or -errno. */
int tracer_file_read(struct tracer_file *f, void *p, size_t n, uint64_t at);

/*
 * A file that will be in the place of f: begun beside it, empty; written as any; then it is there instead, under f's name at
 * once, or (on failure too) gone. 0 or -errno: f is as it was.
 */
int tracer_file_begin_again(const struct tracer_file *f, struct tracer_file *to);
int tracer_file_replace(struct tracer_file *f, struct tracer_file *by);
void tracer_file_give_up(struct tracer_file *to);

void tracer_file_close(struct tracer_file *f);

/* A line for the log, if there is one: "proftop: pid: what: why". why may be NULL. Errno is kept. */
void tracer_log(const struct tracer_options *o, const char *what, const char *why);
/* Did the last line go to that device? Told without asking it. */
bool tracer_log_is_beside(dev_t device);
/* Of what goes as it should. */
void tracer_log_info(const struct tracer_options *o, const char *what, const char *why);
/* The same, but only while the file is there: proftop record's log goes with it, and its programs may stay. */
void tracer_log_if_there(const struct tracer_options *o, const char *what);

#endif
