/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the hooks call at the beginning and at the end of a process. Errno is kept. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_INIT_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_INIT_H

/* Once, when libc is ready and only one thread runs: events are recorded from now on, if at all. */
void tracer_begin(void);

/*
 * The same in a program that runs with its threads, once or after a recording that has come to its end: with these
 * settings (tracer_options.h). Returns NULL, or why nothing is recorded.
 */
const char *tracer_begin_again(const char *settings);

/* tracer_begin() is to be called once more, by the next hook: this is the child of a fork. */
void hooks_begin_anew(void);

/* Nothing is recorded any more: gives memory back that the next recording needs empty. */
void tracer_rest(void);

/* Once, when threads can be made. */
void tracer_begin_writing(void);

/* Everything noted so far is written; recording goes on. */
void tracer_flush(void);

/* The process ends: everything is written, the file is closed in order. */
void tracer_end(void);

/* The process is about to become another program: everything is written. */
void tracer_exec(const char *path);

/* It did not: it goes on as it was. */
void tracer_exec_failed(void);

/* For the thread that writes: does what threads that may not write (tracer_forbidden.h) have asked for. */
void tracer_answer(void);

#endif
