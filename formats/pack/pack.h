/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What proftop pack wrote: a recording with all its names, without the programs. */
#ifndef PROFTOP_FORMATS_PACK_PACK_H
#define PROFTOP_FORMATS_PACK_PACK_H

#include "formats/format.h"

extern const struct format format_pack;

#endif
