/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives the terminal back when a signal ends the program: what has to be written for that is prepared
 * while all is well, because in a signal handler nothing else is safe.
 */
#ifndef PROFTOP_TUI_TERM_TERMINAL_RESTORE_H
#define PROFTOP_TUI_TERM_TERMINAL_RESTORE_H

/* Remembers the line modes of the terminal on fd as they are now. */
void terminal_restore_prepare(int fd);
/* Something to write to standard output then. */
void terminal_restore_add(const char *sequence);
/*
 * From now on faults, and whatever other signal would end the program as things are, restore the terminal and
 * then kill. What is caught, ignored or blocked by then stays so.
 */
void terminal_restore_arm(void);
/* Restores the line's modes alone, as nothing can be written any more. */
void terminal_restore_modes(void);
/* Not any more. */
void terminal_restore_done(void);

#endif
