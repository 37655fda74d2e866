/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of --suppressions. */
#ifndef PROFTOP_CLI_LOAD_LOAD_SUPPRESSIONS_H
#define PROFTOP_CLI_LOAD_LOAD_SUPPRESSIONS_H

struct err;
struct suppressions;

/* path NULL: 0, and *out stays as it is. Else 0 and the caller frees *out, or -errno with a sentence. */
int load_suppressions(const char *path, struct suppressions **out, struct err *e);

#endif
