/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes processed profiles of the Firefox Profiler. */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_WRITE_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_WRITE_H

#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/*
 * A thread for each thread and metric, that which the analysis shows first, with tables that all share: version 60 of
 * processed profiles, which later profilers upgrade. As format.write.
 */
int firefox_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e);

#endif
