/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations of a comparison as text: of which side the code of a row is. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/report/report.h"
#include "cli/report/report_annotate.h"
#include "code/annotation.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "tests/support/made_profile.h"
#include "tests/support/read_recording.h"

/* The sides that have the program of a block, and the mark in front of its instructions. */
static const struct {
	bool of_side[N_SIDES];
	const char *row;
} cases[] = {
	{ { true, false }, " -       1000:  nop\n" },
	{ { false, true }, " +       1000:  nop\n" },
	{ { true, true }, "         1000:  nop\n" },
	{ { false, false }, "         1000:  nop\n" },
};

/* One instruction that nobody paid for. */
static struct annotation *one_instruction(const bool of_side[N_SIDES], uint32_t n_columns)
{
	struct annotation *a = annotation_new();
	struct annotation_block b = {
		.function = "f", .module = "prog", .path = "/bin/prog", .n = 1
	};

	memcpy(b.of_side, of_side, sizeof(b.of_side));
	a->function = "f";
	a->module = "prog";
	a->n_columns = n_columns;
	for (uint32_t c = 0; c < n_columns; c++)
		a->scale[c] = 1;
	vec_push(&a->blocks, b);
	vec_push(&a->code, ((struct annotation_code){ .shown = 0x1000,
						      .text = "nop",
						      .source = ANNOTATION_NONE,
						      .target = ANNOTATION_NONE,
						      .numbers = annotation_add_numbers(a) }));
	return a;
}

Test(report_annotate, rows_of_a_comparison_say_their_side)
{
	struct profile *p = read_as("folded", "main;f 3\n");
	struct report r = { .analysis = made_comparison(p, "", ""), .view = VIEW_KIND_ANNOTATE };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct annotation *a = one_instruction(cases[i].of_side,
						       r.analysis->weights.n_columns);
		char *text = NULL;
		size_t n;
		FILE *f = open_memstream(&text, &n);

		report_annotate_text(&r, a, f);
		fclose(f);
		cr_expect(strstr(text, cases[i].row), "no %s in\n%s", cases[i].row, text);
		cr_expect(strstr(text, "# -: code of BEFORE alone, +: of AFTER alone\n"), "%s",
			  text);
		free(text);
		annotation_free(a);
	}
	analysis_free(r.analysis);
	profile_free(p);
}
