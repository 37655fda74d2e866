/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes speedscope's JSON. */
#ifndef PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_WRITE_H
#define PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/*
 * A sampled profile for each thread and metric, that which the analysis shows first. Where a metric is time and samples have times,
 * stretches in which a thread had no sample are samples of no frame, so that the axis is the recording's time. As format.write.
 */
int speedscope_write(const struct analysis *a, const struct write_options *o, FILE *to,
		     struct err *e);
/* Are frames of that file functions at lines, and not functions? */
bool speedscope_has_lines(const struct analysis *a);

#endif
