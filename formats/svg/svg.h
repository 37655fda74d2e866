/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flame graph of an analysis as a picture that can be searched and zoomed into; written only. */
#ifndef PROFTOP_FORMATS_SVG_SVG_H
#define PROFTOP_FORMATS_SVG_SVG_H

#include "formats/format.h"

extern const struct format format_svg;
extern const struct format format_svg_diff;

#endif
