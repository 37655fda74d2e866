/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data files of bytehound, which was memory-profiler before. */
#ifndef PROFTOP_FORMATS_BYTEHOUND_BYTEHOUND_H
#define PROFTOP_FORMATS_BYTEHOUND_BYTEHOUND_H

#include "formats/format.h"

extern const struct format format_bytehound;

#endif
