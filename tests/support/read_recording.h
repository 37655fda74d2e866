/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A perf.data file as a profile, without symbols; and text of any format. */
#ifndef PROFTOP_TESTS_SUPPORT_READ_RECORDING_H
#define PROFTOP_TESTS_SUPPORT_READ_RECORDING_H

struct err;
struct profile;
struct read_options;

/* The test fails where it cannot be read; the caller frees. */
struct profile *read_recording(const char *path);

/* NULL with a sentence where it cannot be read; o may be NULL. The caller frees. */
struct profile *read_script_text(const char *text, const struct read_options *o, struct err *e);

/* A text of the format of that name, with symbols of what it mentions; the test fails where it cannot be read. The caller frees. */
struct profile *read_as(const char *format, const char *text);

#endif
