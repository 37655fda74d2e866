/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "base/err.h"
#include "query/diff/run_history.h"

#include <stdlib.h>
#include <string.h>

/* What is read is written as what is read the same. */
void fuzz_run_history(const uint8_t *bytes, size_t n)
{
	struct noted_run r, again;
	struct err e = ERR_INIT;
	char *text;

	if (run_history_read((const char *)bytes, n, "fuzz", &r, &e)) {
		if (e.code == 0 || r.metric || r.function.at)
			abort();
		err_clear(&e);
		return;
	}
	text = run_history_write(&r);
	if (run_history_read(text, strlen(text), "again", &again, &e) ||
	    !run_history_same(&r, &again))
		abort();
	noted_run_done(&again);
	noted_run_done(&r);
	free(text);
}
