/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heap profiles as text: of jemalloc, of gperftools and tcmalloc, and Go's with ?debug=1. */
#ifndef PROFTOP_FORMATS_HEAP_PROFILE_HEAP_PROFILE_H
#define PROFTOP_FORMATS_HEAP_PROFILE_HEAP_PROFILE_H

#include "formats/format.h"

extern const struct format format_heap_profile;

#endif
