/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/written.h"

#include "base/mem.h"
#include "formats/folded/folded.h"
#include "query/analysis.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *written_folded(const struct profile *p, const struct write_options *o, bool samples)
{
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	lens_init(&lens, p);
	lens.column[0].metric.event =
		(event_id){ 0 }; /* the first, as the collapsing scripts have it */
	if (samples)
		lens.column[0].metric.measure = MEASURE_SAMPLES;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert_eq(format_folded.write(a, o, to, NULL), 0);
	fclose(to);
	analysis_free(a);
	lens_done(&lens);
	return text;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its lines in order, in place of them. */
char *written_sorted(char *text)
{
	VEC(char *) lines = { 0 };
	char *rest = text, *line, *all = xcalloc(1, strlen(text) + 2), *at = all;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			vec_push(&lines, line);
	if (lines.n > 0)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	for (size_t i = 0; i < lines.n; i++)
		at += sprintf(at, "%s\n", lines.at[i]);
	vec_done(&lines);
	free(text);
	return all;
}
