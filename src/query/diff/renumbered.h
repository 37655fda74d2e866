/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that differ in numbers a compiler gives are called otherwise after than before, and are the same: lambdas that moved by
 * a line, closures behind a new one, clones, functions of Go without names.
 *
 * So are those that one side alone inlines, where debug information has their names without arguments.
 *
 * Those of one module and of one name without numbers are in the order of their numbers on both sides, and keep it. Of all ways to
 * pair them so that they do, that is taken in which the most weight is in pairs that are alike: in what they call and spend
 * themselves, who calls them, and their size. Numbers count for nothing where others are clearly more alike; where it cannot be
 * told, equal names stay together, and the rules are told so.
 */
#ifndef PROFTOP_QUERY_DIFF_RENUMBERED_H
#define PROFTOP_QUERY_DIFF_RENUMBERED_H

#include <stdbool.h>
#include <stddef.h>

struct diff;
struct name_rules;

/* May there be such? Of a comparison whose rows are functions, by names. */
bool renumbered_may(const struct diff *d, const struct name_rules *rules);

/*
 * Adds what was found to rules that know the pairs of modules already; returns how many pairs and doubts. d is of functions, has a
 * tree, and was made by rules with `apart`.
 */
size_t renumbered_find(const struct diff *d, struct name_rules *rules);

#endif
