/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row for each sample, for databases: CSV and lines of JSON. Written only. */
#ifndef PROFTOP_FORMATS_SAMPLES_SAMPLES_H
#define PROFTOP_FORMATS_SAMPLES_SAMPLES_H

#include "formats/format.h"

extern const struct format format_samples_csv;
extern const struct format format_samples_jsonl;

#endif
