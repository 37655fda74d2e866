/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording that is begun, spoken to and ended from outside (heap_mailbox.h). What belongs to a process that ran
 * before: its calls are led to the hooks (got.h) as long as recording goes on, and back afterwards.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_ATTACH_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_ATTACH_H

/* The settings are as tracer_options_read() takes them. What came of it stands in the mailbox. */
void proftop_attach_now(const char *settings);

/* Recording has begun, to a trace at `path`; unseen: which calls are not recorded, and why, or "". */
void tracer_attach_tell(const char *path, const char *unseen);

/* Why there is no recording, or not any more. */
void tracer_attach_tell_why(const char *why);

/* What is asked for from outside is done. Some times a second, by the writer, without its locks. */
void tracer_attach_look(void);

/* Recording has ended: calls go their own ways again, memory is given back. By the writer, at its end. */
void tracer_attach_leave(void);

#endif
