/* SPDX-License-Identifier: GPL-3.0-or-later */
/* massif.out: snapshots of a heap's size, some with a tree of who holds it (valgrind, heaptrack_print -M). */
#ifndef PROFTOP_FORMATS_VALGRIND_MASSIF_H
#define PROFTOP_FORMATS_VALGRIND_MASSIF_H

#include "formats/format.h"

extern const struct format format_massif;

#endif
