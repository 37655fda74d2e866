/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of formats, and which one an input is of. */
#include "config.h"

#include "base/err.h"
#include "formats/bytehound/bytehound.h"
#include "formats/callgrind/callgrind.h"
#include "formats/convert_hint.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "formats/file_type_hint.h"
#include "formats/firefox/firefox.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/heap_profile/heap_profile.h"
#include "formats/heap_trace.h"
#include "formats/heaptrack/heaptrack.h"
#include "formats/memray/memray.h"
#include "formats/otlp/otlp.h"
#include "formats/pack/pack.h"
#include "formats/perf_data.h"
#include "formats/perf_script/perf_script.h"
#include "formats/pprof/pprof.h"
#include "formats/samples/samples.h"
#include "formats/speedscope/speedscope.h"
#include "formats/svg/svg.h"
#include "formats/v8/v8.h"
#include "formats/valgrind/dhat.h"
#include "formats/valgrind/massif.h"
#include "input/input.h"

#include <errno.h>
#include <string.h>

/* What a probe gets to see at most. */
#define PROBE_BYTES ((size_t)64 << 10)
/* A pipe that has not said more after so long is taken for what it seems to be. */
#define PATIENCE_MS 300

/* clang-format off */
const struct format *const formats[] = {
	&format_bytehound,
	&format_callgrind,
	&format_chrome_trace,
	&format_cpuprofile,
	&format_dhat,
	&format_firefox,
	&format_folded,
	&format_folded_diff,
	&format_heap_profile,
	&format_heap_trace,
	&format_heaptrack,
	&format_massif,
	&format_memray,
	&format_otlp,
	&format_pack,
	&format_perf_data,
	&format_perf_script,
	&format_pprof,
	&format_samples_csv, &format_samples_jsonl, &format_speedscope,
	&format_svg, &format_svg_diff, &format_v8,
	NULL,
};
/* clang-format on */

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
	const char *packing = input_packing(in), *what = file_type_hint_like(bytes, n);
	const char *hint = what ? convert_hint(what) : NULL;

	if (n > 0)
		err_set(e, -EBADMSG, "%s: not supported: %s%s%s", input_name(in),
			what ? what : "binary data", hint ? "; " : "", hint ? hint : "");
	else if (*packing)
		err_set(e, -EBADMSG, "%s: there is nothing in its %s data", input_name(in),
			packing);
	else
		err_set(e, -EBADMSG, "%s: is empty", input_name(in));
}

static const struct format *surest(const uint8_t *bytes, size_t n, int *best_score)
{
	const struct format *best = NULL;

	*best_score = 0;
	for (size_t i = 0; formats[i] && n > 0; i++) {
		int score = formats[i]->probe ? formats[i]->probe(bytes, n) : 0;

		if (score > *best_score) {
			best = formats[i];
			*best_score = score;
		}
	}
	return best;
}

const struct format *format_probe(struct input *in, struct err *e)
{
	const struct format *best;
	const uint8_t *bytes;
	size_t n = 0, want;
	int score;

	/* a pipe gives what it has: more is waited for as long as it may change the answer */
	do {
		want = n + n / 8 + 1;
		if (input_peek(in, want, &bytes, &n, e) < 0)
			return NULL;
		best = surest(bytes, n, &score);
	} while (n >= want && n < PROBE_BYTES && score < FORMAT_SURE &&
		 (score <= FORMAT_LAST || input_comes(in, PATIENCE_MS)));
	if (!best)
		explain(in, bytes, n, e);
	return best;
}
