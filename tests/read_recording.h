/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A perf.data file as a profile, without symbols. */
#ifndef PROFTOP_TESTS_READ_RECORDING_H
#define PROFTOP_TESTS_READ_RECORDING_H

struct profile;

/* The test fails where it cannot be read; the caller frees. */
struct profile *read_recording(const char *path);

#endif
