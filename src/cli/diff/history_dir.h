/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory of earlier runs, a file each: NANOSECONDS.run, with the time since 1970 at which the run was noted in 16 hexadecimal
 * digits. Files of other names are left alone.
 */
#ifndef PROFTOP_CLI_DIFF_HISTORY_DIR_H
#define PROFTOP_CLI_DIFF_HISTORY_DIR_H

#include <stdint.h>

struct analysis;
struct err;
struct run_history;

/* The directory keeps so many runs; the oldest go. */
#define HISTORY_DIR_MOST 256

/*
 * Reads the newest runs of dir; none where there is no such directory. What cannot be read is left out with a word on standard error.
 * 0, or -errno with a sentence; the caller ends with run_history_done() in any case.
 */
int history_dir_read(const char *dir, struct run_history *out, struct err *e);

/*
 * Notes the runs of an analysis that compares functions without a filter: each that known, which is what history_dir_read() gave, does
 * not have. Makes dir. *n_added is how many they are. 0, or -errno with a sentence.
 */
int history_dir_add(const char *dir, const struct run_history *known, const struct analysis *a,
		    uint32_t *n_added, struct err *e);

#endif
