/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of formats, and which one an input is of. */
#include "config.h"

#include "err.h"
#include "folded.h"
#include "format.h"
#include "input.h"
#include "looks.h"
#include "perf_data.h"
#include "perf_script.h"

#include <errno.h>
#include <string.h>

/* What a probe gets to see at most. */
#define PROBE_BYTES ((size_t)64 << 10)

const struct format *const formats[] = {
	&format_folded,
	&format_perf_data,
	&format_perf_script,
	NULL,
};

const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* Why no reader takes these bytes. */
static void explain(struct input *in, const uint8_t *bytes, size_t n, struct err *e)
{
	const char *packing = input_packing(in);

	if (n > 0)
		err_set(e, -EBADMSG, "%s: is no profile that can be read: it looks like %s",
			input_name(in), looks_like_at_least(bytes, n));
	else if (*packing)
		err_set(e, -EBADMSG, "%s: there is nothing in its %s data", input_name(in),
			packing);
	else
		err_set(e, -EBADMSG, "%s: is empty", input_name(in));
}

const struct format *format_probe(struct input *in, struct err *e)
{
	const struct format *best = NULL;
	const uint8_t *bytes;
	int best_score = 0;
	size_t n;

	if (input_peek(in, PROBE_BYTES, &bytes, &n, e) < 0)
		return NULL;
	for (size_t i = 0; formats[i] && n > 0; i++) {
		int score = formats[i]->probe ? formats[i]->probe(bytes, n) : 0;

		if (score > best_score) {
			best = formats[i];
			best_score = score;
		}
	}
	if (!best)
		explain(in, bytes, n, e);
	return best;
}
