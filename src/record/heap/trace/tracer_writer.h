/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the rings to the file: notes become events, events blocks, blocks are packed and written. And
 * the facts around them: process, modules, threads, usage.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_WRITER_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_WRITER_H

#include "heaptrace/heap_records.h"
#include "heaptrace/heap_wire.h"
#include "record/heap/trace/tracer.h"

#include <stdbool.h>

/* Opens the file, writes who is recorded. False: recording is not possible; *why says so. */
bool tracer_writer_init(const char **why);

/* The device of the trace's file. */
dev_t tracer_writer_device(void);

/* Where the trace is. Borrowed. */
const char *tracer_writer_path(void);

/* Takes all notes that there are and writes them. False: somebody who was ended has the drain lock. */
bool tracer_writer_drain(void);

/* Drains, says that this is the end and why, and stops recording. Waits at most some seconds for the lock. */
void tracer_writer_finish(enum heap_stop stop);

/* Says in the head of the file that the thread that writes came no further. Needs no lock: only one will write. */
void tracer_writer_gave_up(void);

/* Lets the finished file go. */
void tracer_writer_close(void);

/*
 * Around a fork: takes what the writer's memory is guarded by, false when it is not to be had in a while; gives it
 * back; and in the child forgets thread and file of the parent's, before tracer_writer_init().
 */
bool tracer_writer_hold(void);
void tracer_writer_release(void);
void tracer_writer_forget(void);

/* As drain, but waits at most some seconds for the lock: the process may be in a bad state. */
void tracer_writer_flush(void);

/* Drains, and says that the process is about to become `path`. */
void tracer_writer_exec(const char *path);

/*
 * Adds a record to those of the next block; its time is now unless it has one. Any lock may be held. What finds no room
 * is counted, and that is said in the trace.
 */
void tracer_writer_record(struct heap_record *r);

/* The same, for those who can wait: false when there is no room for it until more was written. */
bool tracer_writer_try_record(struct heap_record *r);

/* Whether more is to be recorded or less; returns when to ask again, at most most_ms. For the thread that writes. */
uint32_t tracer_writer_throttle(uint32_t most_ms);

/* Says that a thread has ended, and frees its state for another. */
void tracer_writer_end_thread(struct tracer_thread *t);

#endif
