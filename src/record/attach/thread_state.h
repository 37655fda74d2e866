/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a stopped thread has in its processor, and what calls in it want there: a file for each kind of processor.
 *
 * Calls return into a frame of the kind that the kernel makes for signal handlers, and through it to what the thread was
 * doing. The numbers of registers stay within the files.
 */
#ifndef PROFTOP_RECORD_ATTACH_THREAD_STATE_H
#define PROFTOP_RECORD_ATTACH_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "unwind/arch.h"

struct remote;

#define THREAD_VECTOR_BYTES 16384u

/* The system call that a thread was in before it was stopped. */
struct thread_call {
	long number; /* -1: none, or not known */
	uint64_t first;
	uint64_t sp, pc;
};

struct thread_state {
	struct user_regs_struct regs;        /* when it was stopped */
	uint8_t vector[THREAD_VECTOR_BYTES]; /* its vector registers, then */
	size_t n_vector;                     /* bytes */
	uint64_t mask;                       /* of signals, then */
	struct thread_call before;           /* it was stopped */
};

/* Where calls find what they need; 0: not found. */
struct thread_ways {
	uint64_t syscall;  /* an instruction that makes a system call, or a function that does */
	uint64_t called;   /* just behind the instruction */
	uint64_t restorer; /* where handlers return to */
};

bool thread_get_regs(pid_t tid, struct user_regs_struct *regs);
/* Those with which it is to go on; a system call that it is about to make is left out. */
bool thread_set_regs(pid_t tid, const struct user_regs_struct *regs);

/* Its registers. 0; -EAGAIN: it has state that could not be given back now; -EIO. */
int thread_state_save(pid_t tid, struct thread_state *s);
/* Gives the vector registers back. */
void thread_state_give_vector(pid_t tid, const struct thread_state *s);

/* A system call that ended with EINTR, for no reason but us, is to be made again. False: it did not end so. */
bool thread_state_redo_call(struct thread_state *s);

/* Does a system call end with EINTR when its thread is stopped, however that goes on? */
bool thread_would_notice(long number);

/* With which the thread goes on when nobody is there to let the kernel do it. */
struct user_regs_struct thread_state_plain(const struct thread_state *s);
/* With which it goes on when it is let go. */
struct user_regs_struct thread_state_last(const struct thread_state *s);

bool thread_ways_find(struct remote *r, struct thread_ways *w);

/* The frame below top, which the caller frees; *at: where it belongs; *sp: the stack pointer of a function that returns into it. */
uint8_t *thread_frame(const struct thread_state *s, const struct thread_ways *w, uint64_t top,
		      size_t *n, uint64_t *at, uint64_t *sp);

/* Make regs those at the beginning of function(a, b), which returns into the frame of sp. */
void thread_enter(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
		  uint64_t function, uint64_t a, uint64_t b);
/* The same of a system call. */
void thread_enter_kernel(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
			 uint64_t number, const uint64_t argument[6]);

/* At a stop of a system call: is it the return through the frame of sp? */
bool thread_returns(const struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp);
/* The same: is it the end of one that thread_enter_kernel() began? */
bool thread_kernel_called(const struct user_regs_struct *regs, const struct thread_ways *w,
			  uint64_t *result);

/* For who unwinds. */
struct unwind_regs thread_unwind_regs(const struct user_regs_struct *regs);
uint64_t thread_pc(const struct user_regs_struct *regs);
uint64_t thread_sp(const struct user_regs_struct *regs);

/* Is the thread in futex(2), or about to call it? *operation: which of it. */
bool thread_in_futex(const struct remote *r, const struct user_regs_struct *regs, int *operation);

#endif
