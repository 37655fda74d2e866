/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading a perf.data gives, for tests. */
#ifndef PROFTOP_TESTS_SUPPORT_PERF_RESULT_H
#define PROFTOP_TESTS_SUPPORT_PERF_RESULT_H

#include "base/err.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct input;

struct perf_result {
	int rc;
	struct err error;
	struct profile *profile;
};

/* Closes the input. */
struct perf_result perf_result_of(struct input *in);
/* Bytes of an input that is called "x.data". */
struct perf_result perf_result_of_bytes(const void *bytes, size_t n);
struct perf_result perf_result_of_path(const char *path);
void perf_result_done(struct perf_result *r);

uint64_t perf_result_samples(const struct perf_result *r);
/* The text of a fact, or "(none)". */
const char *perf_result_fact(const struct perf_result *r, const char *section, const char *name);
/* Does a fact say that something was lost or is missing? */
bool perf_result_tells_loss(const struct perf_result *r);

#endif
