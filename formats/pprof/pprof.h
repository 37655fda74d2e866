/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof's profile.proto: Go, pprof, Parca, Pyroscope, py-spy, .NET, Node, Rust. */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_H
#define PROFTOP_FORMATS_PPROF_PPROF_H

#include "formats/format.h"

extern const struct format format_pprof;

#endif
