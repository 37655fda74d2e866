/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles of DHAT: valgrind's, in its modes heap, copy and ad-hoc, and those of Rust's crate dhat. */
#ifndef PROFTOP_FORMATS_VALGRIND_DHAT_H
#define PROFTOP_FORMATS_VALGRIND_DHAT_H

#include "formats/format.h"

extern const struct format format_dhat;

#endif
