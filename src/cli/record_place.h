/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording goes: whether there can be a file, and what lies there already, which is kept. */
#ifndef PROFTOP_CLI_RECORD_PLACE_H
#define PROFTOP_CLI_RECORD_PLACE_H

#include <stdbool.h>

/*
 * Can a file be written where path is to be? Tried in its directory, or in the one before the first percent sign, which stands for
 * what is not known yet; NULL: in the present one. Says so if not.
 */
bool record_place_check(const char *path);

/* An older recording of that name is kept as FILE.old, as perf does. False: it cannot be, which is said. */
bool record_make_way(const char *path);

#endif
