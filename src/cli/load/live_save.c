/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/load/live_save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "formats/folded/folded.h"
#include "formats/perf_script/perf_script_write.h"
#include "query/analysis.h"
#include "query/core/filter.h"

#define NS_PER_S 1000000000

/* What chooses the events of the first n columns; the caller frees. */
static char *ask_events(const struct analysis *an, uint32_t n)
{
	char *asks = xstrdup("");

	for (uint32_t i = 0; i < n; i++) {
		char *event = perf_script_event(an, i);
		char *text = xasprintf("%s--event %s ", asks, event);

		free(event);
		free(asks);
		asks = text;
	}
	return asks;
}

/* The stretch of time of a side, of what begins at shift_ns; the caller frees. */
static char *side_time(const struct lens *lens, enum side side, int64_t shift_ns)
{
	char from[FMT_SIZE], to[FMT_SIZE];
	int64_t begin, end;

	filter_times(lens->column[lens_side(lens, side)].filter, &begin, &end);
	fmt_exact(from, begin > shift_ns ? begin - shift_ns : 0, NS_PER_S);
	if (end == INT64_MAX)
		return xasprintf("time:%s,", from);
	return xasprintf("time:%s,%s", from,
			 fmt_exact(to, end > shift_ns ? end - shift_ns : 0, NS_PER_S));
}

/* What compares two stretches of time of the saved samples, of which the first is of begin_ns; the caller frees. */
static char *ask_sides(const struct analysis *an, int64_t begin_ns)
{
	int64_t start = profile_capture_span(an->profile, &an->counts, (capture_id){ 0 }).begin_ns;
	char *before = side_time(&an->lens, SIDE_BEFORE, begin_ns - start);
	char *after = side_time(&an->lens, SIDE_AFTER, begin_ns - start);
	char *event = ask_events(an, 1);
	char *asks = xasprintf("diff --normalise time --a %s --b %s %s", before, after, event);

	free(event);
	free(before);
	free(after);
	return asks;
}

/* How to open it, with the same numbers first; the caller frees. */
static char *saved_text(const struct analysis *an, const char *path, bool events, int64_t begin_ns)
{
	const struct lens *lens = &an->lens;
	char *asks, *text;

	if (events && lens_compares(lens))
		asks = ask_sides(an, begin_ns);
	else if (lens_compares(lens))
		asks = xstrdup("diff ");
	else if (events &&
		 (lens->n_columns > 1 || metric_is_heap(an->profile, lens->column[0].metric)))
		asks = ask_events(an, lens->n_columns);
	else /* It opens with the first event of samples. */
		asks = xstrdup("");
	/* Folded stacks have no place for control groups. Lines may be cut behind the name. */
	text = xasprintf("saved: proftop %s%s%s", asks, path,
			 !events && an->counts.n_cgroups > 0 ? " (without control groups)" : "");
	free(asks);
	return text;
}

int live_save(const struct analysis *an, char **said, struct err *e)
{
	const struct write_options options = { .whole_names = true };
	bool samples = perf_script_says_all(an);
	char path[64], day[32];
	int64_t begin_ns = TIME_NONE;
	time_t now = time(NULL);
	struct err why = ERR_INIT;
	struct tm t;
	FILE *f;
	int rc;

	localtime_r(&now, &t);
	strftime(day, sizeof(day), "%Y%m%d-%H%M%S", &t);
	snprintf(path, sizeof(path), "proftop-live-%s.%s", day, samples ? "perf.txt" : "folded");
	f = fopen(path, "wxe");
	if (!f)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	rc = samples ? perf_script_write(an, f, &begin_ns, &why)
		     : format_folded.write(an, &options, f, &why);
	if (rc == 0 && ftell(f) == 0)
		rc = err_set(&why, -ENODATA, "there is nothing yet that could be saved");
	if (fclose(f) && rc == 0)
		rc = err_set(&why, -errno, "%s", strerror(errno));
	if (rc) {
		unlink(path);
		err_set(e, rc, "%s: %s", path, err_text(&why));
		err_clear(&why);
		return rc;
	}
	*said = saved_text(an, path, samples, begin_ns);
	return 0;
}
