/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "written.h"

#include "analysis.h"
#include "folded.h"

#include <criterion/criterion.h>
#include <stdio.h>

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
