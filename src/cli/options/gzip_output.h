/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stream whose text goes on packed to another one. */
#ifndef PROFTOP_CLI_OPTIONS_GZIP_OUTPUT_H
#define PROFTOP_CLI_OPTIONS_GZIP_OUTPUT_H

#include <stdio.h>

/* fclose() of it writes the end; it stays open, and is the caller's. */
FILE *gzip_output_new(FILE *to);

#endif
