/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof's legacy CPU profiles: of gperftools and of Java, binary, with or without symbols before them. */
#ifndef PROFTOP_FORMATS_CPUPROFILE_CPUPROFILE_H
#define PROFTOP_FORMATS_CPUPROFILE_CPUPROFILE_H

#include "formats/format.h"

extern const struct format format_cpuprofile;

#endif
