/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenTelemetry's profiles as files: of the collector's file exporter, and single messages of ProfilesData. */
#ifndef PROFTOP_FORMATS_OTLP_OTLP_H
#define PROFTOP_FORMATS_OTLP_OTLP_H

#include "formats/format.h"

extern const struct format format_otlp;

#endif
