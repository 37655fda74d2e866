/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of perf script: samples as a header line and a line for each frame.
 *
 * What a header says of thread, cpu, time, event and period is kept, whichever of them -F printed; a
 * sample without a period weighs 1. Also taken: a sample's only frame on its header's line, samples
 * without a blank line between, inlined frames ("a->b" of Java, "(inlined)" of perf), positions
 * (-F srcline), CRLF, comments (--header) and records that are no samples, which are counted.
 */
#ifndef PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_H
#define PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_H

#include "formats/format.h"

extern const struct format format_perf_script;

#endif
