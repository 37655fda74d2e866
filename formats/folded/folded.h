/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks: one line a stack, frames from the root joined by ';', a blank, a count. What
 * stackcollapse-*.pl, inferno, py-spy, async-profiler and many others write.
 *
 * Reading takes counts with fractions, CRLF, tabs, UTF-8 and UTF-16 with a byte order mark, lines
 * that begin with '#' (skipped), frames without a name, two counts per line (before and after, as
 * difffolded.pl writes them: two events). A line that is none of this is counted and skipped.
 * Empty frames at a stack's end are dropped, as flamegraph.pl does.
 *
 * Writing gives a line for each stack that has weight of its own, sorted by bytes. Names from an
 * input that was folded are unchanged, but for what must not reach a terminal. From other inputs
 * they are what `perf script | stackcollapse-perf.pl` would print, since that is what scripts around
 * flamegraph.pl expect: blanks of the thread's name become '_', ';' becomes ':', arguments and quotes
 * go, and so does the L that begins names of Java classes; what is printed is split at "->" (in
 * operator-> as well). Names that begin with '(' stay, with their frames, which that script drops. The
 * marks of write_options go behind names; what was folded before gets none. With whole_names, names are those
 * of views.
 */
#ifndef PROFTOP_FORMATS_FOLDED_FOLDED_H
#define PROFTOP_FORMATS_FOLDED_FOLDED_H

#include "formats/format.h"

extern const struct format format_folded;

/* Written only: two counts a line, before and after, as difffolded.pl writes them; several runs of a side add up. */
extern const struct format format_folded_diff;

#endif
