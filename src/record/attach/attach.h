/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording the heap of a process that runs: brings the preload library into it, tells it to begin, and talks to
 * it afterwards (heap_mailbox.h). What stands in the way is found before anything is changed, and said in a
 * sentence that begins with "process N".
 */
#ifndef PROFTOP_RECORD_ATTACH_ATTACH_H
#define PROFTOP_RECORD_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct attach; /* a process whose recorder we talk to */

/* May processes be attached to, as far as a child tells, which is allowed where anything is? Returns 0 or -errno. */
int attach_trial(void);

/*
 * Begins to record process pid with `library`, the path of libproftop-heap.so. settings: NAME=VALUE, each with its
 * NUL, and an empty one at the end; n bytes in all. Returns 0 and *out; or -errno with a sentence, and the process is
 * as it was, but for a library in it that does nothing.
 */
int attach_begin(pid_t pid, const char *library, const char *settings, size_t n,
		 struct attach **out, struct err *e);

/* Finds the recorder of a process that is recorded already, begun by whomever. The same. */
int attach_find(pid_t pid, struct attach **out, struct err *e);

enum attach_state { ATTACH_RECORDS, ATTACH_ENDED, ATTACH_GONE };

/* Says that we are there, and looks whether it still records; GONE: the process ended. */
enum attach_state attach_beat(struct attach *a);

/* Asks it to end the recording; attach_beat() tells when it has. */
void attach_detach(struct attach *a);

/* Asks it, and waits until it has, some seconds. Returns 0, or -errno with a sentence. */
int attach_end(struct attach *a, struct err *e);

/* Where the trace is, and why recording ended by itself, or "". Borrowed until the next call of attach_beat(). */
const char *attach_path(const struct attach *a);
const char *attach_why(const struct attach *a);

/* Which calls of the process are not recorded, and why, or "": an allocator is part of its executable. The same. */
const char *attach_unseen(const struct attach *a);

/* What can be said to a recorder. */
enum attach_verb { ATTACH_MARK, ATTACH_PAUSE, ATTACH_RESUME };

/* Says it and waits until it was heard, a second or two. name: of a mark, else NULL. Returns 0, or -errno with a sentence. */
int attach_say(struct attach *a, enum attach_verb verb, const char *name, struct err *e);

/* The recording goes on. NULL is fine. */
void attach_free(struct attach *a);

#endif
