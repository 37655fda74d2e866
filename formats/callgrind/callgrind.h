/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.out of valgrind and of others who write it (Xdebug, pprof), and cachegrind.out, which is the same without calls. */
#ifndef PROFTOP_FORMATS_CALLGRIND_CALLGRIND_H
#define PROFTOP_FORMATS_CALLGRIND_CALLGRIND_H

#include "formats/format.h"

extern const struct format format_callgrind;

#endif
