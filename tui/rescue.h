/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives the terminal back when a signal ends the program: what has to be written for that is prepared
 * while all is well, because in a signal handler nothing else is safe.
 */
#ifndef PROFTOP_TUI_RESCUE_H
#define PROFTOP_TUI_RESCUE_H

/* Remembers the line modes of the terminal on fd as they are now. */
void rescue_prepare(int fd);
/* Something to write to standard output then. */
void rescue_add(const char *sequence);
/*
 * From now on faults, and whatever other signal would end the program as things are, restore the terminal and
 * then kill. What is caught, ignored or blocked by then stays so.
 */
void rescue_arm(void);
/* Restores the line's modes alone, as nothing can be written any more. */
void rescue_modes(void);
/* Not any more. */
void rescue_done(void);

#endif
