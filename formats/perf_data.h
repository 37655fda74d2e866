/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf.data, as perf record and simpleperf write it: a file or a pipe, of either byte order. */
#ifndef PROFTOP_FORMATS_PERF_DATA_H
#define PROFTOP_FORMATS_PERF_DATA_H

#include "formats/format.h"

extern const struct format format_perf_data;

#endif
