/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptrack's text, as its library writes it (raw) and as heaptrack_interpret does, of format versions 0 to 3. */
#ifndef PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_H
#define PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_H

#include "formats/format.h"

extern const struct format format_heaptrack;

#endif
