/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our heap trace: what libproftop-heap.so writes. The format is in doc/trace-format.md. */
#ifndef PROFTOP_FORMATS_HEAP_TRACE_H
#define PROFTOP_FORMATS_HEAP_TRACE_H

#include "formats/format.h"

extern const struct format format_heap_trace;

#endif
