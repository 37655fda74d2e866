/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that are called otherwise after than before, and are the same: app-1.2 and app-1.3, spin and spin2.
 *
 * A module that only one side has is taken for one that only the other has where their names differ in a version alone, or
 * where both are what the sides' processes run; and where functions of the same names have at least half of the weight of either.
 * Each is taken for one other at most: where two would do as well, for none.
 *
 * What programs generate is in a module that is named by their process, which is another one in each run: perf-123.map, jit-123.dump.
 * Where both sides have such ones that the other has not, they are one module.
 */
#ifndef PROFTOP_QUERY_DIFF_MODULE_PAIRS_H
#define PROFTOP_QUERY_DIFF_MODULE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

struct diff;
struct name_rules;

/* Adds what was found in a comparison whose rows are functions to the rules; returns how many pairs. */
size_t module_pairs_find(const struct diff *d, struct name_rules *rules);

/* Is it what modules that are named by processes are taken for: "perf-PID.map"? */
bool module_pairs_is_generated(const char *name);

/* Do names of modules differ in digits of a version at most: "libx.so.1.2" and "libx.so.1.10", "app" and "app2"? */
bool module_pairs_alike(const char *a, const char *b);

#endif
