/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope's own JSON: speedscope, py-spy, rbspy, and many exporters. */
#ifndef PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_H
#define PROFTOP_FORMATS_SPEEDSCOPE_SPEEDSCOPE_H

#include "formats/format.h"

extern const struct format format_speedscope;

#endif
