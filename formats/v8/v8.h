/* SPDX-License-Identifier: GPL-3.0-or-later */
/* V8's profiles: .cpuprofile and .heapprofile of node and DevTools, and traces of Chrome with such chunks. */
#ifndef PROFTOP_FORMATS_V8_V8_H
#define PROFTOP_FORMATS_V8_V8_H

#include "formats/format.h"

extern const struct format format_v8;
extern const struct format format_chrome_trace;

#endif
