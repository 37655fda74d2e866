/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A perf.data file as a profile, without symbols; and the text of perf script. */
#ifndef PROFTOP_TESTS_SUPPORT_READ_RECORDING_H
#define PROFTOP_TESTS_SUPPORT_READ_RECORDING_H

struct err;
struct profile;
struct read_options;

/* The test fails where it cannot be read; the caller frees. */
struct profile *read_recording(const char *path);

/* NULL with a sentence where it cannot be read; o may be NULL. The caller frees. */
struct profile *read_script_text(const char *text, const struct read_options *o, struct err *e);

#endif
