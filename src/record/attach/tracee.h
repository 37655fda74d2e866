/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread of another process, stopped and made to call a function of its process. The others run on, so that
 * whatever lock the function wants is given back by whoever holds it.
 *
 * What the thread runs returns into a frame of the kind that the kernel makes for signal handlers: should this
 * process be killed at any moment, the thread finds back by itself to what it was doing.
 */
#ifndef PROFTOP_RECORD_ATTACH_TRACEE_H
#define PROFTOP_RECORD_ATTACH_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct err;
struct remote;
struct tracee;

/* Stops thread tid of the process. Returns 0; -EAGAIN: not now; another -errno with a sentence. */
int tracee_stop(struct remote *r, pid_t tid, struct tracee **out, struct err *e);

/* May threads be stopped and memory be read? Tried with a child, which is allowed where anything is. Returns 0 or -errno. */
int tracee_trial(void);

/* Where it stands. */
const struct user_regs_struct *tracee_regs(const struct tracee *t);

/* Is it within a restartable sequence (rseq(2))? The kernel would not see that the thread was elsewhere meanwhile. */
bool tracee_in_sequence(const struct tracee *t);

/*
 * Makes memory of n bytes for calls: stack, and below it room for arguments. Returns 0 and where the room is; the
 * memory goes with tracee_release(). -EAGAIN: not with this thread, nothing happened; another -errno with a sentence.
 */
int tracee_make_room(struct tracee *t, uint64_t n, uint64_t *room, struct err *e);

/* Calls function(a, b) on that memory, to its end. What it returns is not known. */
int tracee_call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, struct err *e);

/* Lets the thread go on where it was stopped, and frees t. */
void tracee_release(struct tracee *t);

#endif
