/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of memray: what `memray transform csv` writes. */
#ifndef PROFTOP_FORMATS_MEMRAY_MEMRAY_H
#define PROFTOP_FORMATS_MEMRAY_MEMRAY_H

#include "formats/format.h"

extern const struct format format_memray;

#endif
