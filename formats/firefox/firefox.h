/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Firefox Profiler's JSON, processed and Gecko's: samply, Firefox, and converters of perf and simpleperf. */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_H

#include "formats/format.h"

extern const struct format format_firefox;

#endif
