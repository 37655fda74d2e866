/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc says of processes that run: their names, their threads, and whether they have ended. */
#ifndef PROFTOP_BASE_PROCESS_H
#define PROFTOP_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

struct process_state {
	char name[32];  /* untrusted text; "": it has gone */
	char letter;    /* of its first thread, as ps shows it; 'X': it has gone */
	long n_threads; /* with the first, as long as one of the others is there */
};

/* Is there a /proc? Without it a process is known by its number, with its first thread, and only that it is there. */
bool process_any_shown(void);

/* Of a process, or of any thread by its number. */
void process_read(int pid, struct process_state *out);

/*
 * Is there nothing of it but a status? A process goes on without its first thread as long as it has others; a thread
 * has ended with itself.
 */
bool process_has_ended(int pid);
bool thread_has_ended(int tid);

struct thread_list {
	int *at; /* a VEC, which ends with vec_done() */
	size_t n, cap;
};

/* The threads of a process as they are now; none: it has gone. Without /proc only the first is known. */
void process_threads(int pid, struct thread_list *out);

#endif
