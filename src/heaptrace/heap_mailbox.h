/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How processes outside talk to a recorder of the heap: a struct in the recorded process, exported by the
 * preload library as `proftop_mailbox`. Outsiders read and write it with process_vm_readv(2) and _writev(2),
 * so whoever may trace the process may talk to its recorder, whatever namespaces are between; the recorder
 * looks at it some times a second.
 *
 * To say something: `verb` and what belongs to it, then a new number in `asked`. It was done when `done` is
 * that number.
 */
#ifndef PROFTOP_HEAPTRACE_HEAP_MAILBOX_H
#define PROFTOP_HEAPTRACE_HEAP_MAILBOX_H

#include <stdint.h>

#define HEAP_MAILBOX_NAME  "proftop_mailbox"
#define HEAP_ATTACH_NAME   "proftop_attach_now"
#define HEAP_MAILBOX_MAGIC UINT64_C(0x31786f62666f7270) /* "profbox1" */

enum heap_mailbox_state { HEAP_BOX_IDLE, HEAP_BOX_RECORDS };

enum heap_mailbox_verb { HEAP_SAY_MARK = 1, HEAP_SAY_PAUSE, HEAP_SAY_RESUME };

struct heap_mailbox {
	uint64_t magic;      /* HEAP_MAILBOX_MAGIC */
	uint64_t bytes;      /* of this struct */
	uint32_t state;      /* enum heap_mailbox_state */
	uint32_t n_attached; /* how often recording was begun from outside */
	uint32_t detach;     /* 1: whoever attached wants the recording to end */
	uint32_t beat;       /* changes while whoever attached is there */
	uint32_t verb;       /* enum heap_mailbox_verb */
	uint32_t asked;      /* number of what is said */
	uint32_t done;       /* number of what was done last */
	uint32_t pad;        /* 0 */
	uint64_t time_ns;    /* CLOCK_MONOTONIC, of a mark */
	char name[1024];     /* of a mark; ends in NUL */
	char path[4096];     /* of the trace */
	char why[512]; /* why nothing is recorded, or not any more; "" when that is in order */
	char unseen
		[512]; /* which calls of the program are not recorded, and why; "": none that is known */
};

#endif
