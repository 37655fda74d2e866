/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flame graphs as pictures: frames with the sums of the call tree, names that cannot break out, and nothing from elsewhere. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/svg/svg.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/diff/comparison.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static void read_folded(struct profile *p, const char *text, const char *name)
{
	struct input *in = input_of_bytes(text, strlen(text), name);
	struct err e = ERR_INIT;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, name, "folded");
	builder_end(p);
	cr_assert_eq(format_folded.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	input_close(in);
}

static char *written(const struct analysis *a, const struct format *f)
{
	struct err e = ERR_INIT;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	cr_assert_eq(f->write(a, NULL, to, &e), 0, "%s", err_text(&e));
	fclose(to);
	return text;
}

static char *picture(const char *folded, const char *filter)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *text;

	read_folded(p, folded, "x.folded");
	lens_init(&lens, p);
	cr_assert_eq(filter_parse(filter, &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	text = written(a, &format_svg);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

Test(svg, frames_have_the_sums_of_the_tree)
{
	static const struct {
		const char *filter, *frame;
	} cases[] = {
		{ "",
		  "<g data-x=\"0\" data-w=\"1000000\" data-l=\"0\"><title>all\n100, 100.0 %; self "
		  "0, 0.0 %</title>" },
		{ "",
		  "<g data-x=\"0\" data-w=\"600000\" data-l=\"2\"><title>b\n60, 60.0 %; self 50, "
		  "50.0 %</title>" },
		{ "",
		  "<g data-x=\"600000\" data-w=\"250000\" data-l=\"2\"><title>c\n25, 25.0 %; self "
		  "25, 25.0 %</title>" },
		{ "merge:b", "<title>a\n90, 90.0 %; self 55, 55.0 %</title>" },
		{ "leaf:d", "<title>d\n10, 66.7 %; self 10, 66.7 %</title>" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *text = picture("a;b 50\na;b;d 10\na;c 25\na 5\nd;e 5\nf;d 5\n",
				     cases[i].filter);

		cr_expect(strstr(text, cases[i].frame), "%s: no %s in\n%s", cases[i].filter,
			  cases[i].frame, text);
		free(text);
	}
}

/* Each name is text: tags, entities, CDATA ends and control characters of it are none. */
Test(svg, names_cannot_break_out)
{
	char *text = picture("]]><script>alert(1)</script>;a&b;\"q\" 'r';\x01\x1b[31m;\xff\xfe 7\n",
			     "");

	cr_expect_eq(count(text, "<script"), 1, "%s", text);
	cr_expect_eq(count(text, "]]>"), 1, "%s", text);
	cr_expect(strstr(text, "<title>a&amp;b\n"), "%s", text);
	cr_expect(strstr(text, "<title>&quot;q&quot; &#39;r&#39;\n"), "%s", text);
	for (const char *c = text; *c; c++)
		cr_assert((unsigned char)*c >= ' ' || *c == '\n', "a control character");
	free(text);
}

Test(svg, nothing_comes_from_elsewhere)
{
	char *text = picture("a;b 1\n", "");

	cr_expect_eq(count(text, "http"), count(text, "http://www.w3.org/2000/svg"));
	cr_expect_eq(count(text, "href") + count(text, "src=") + count(text, "@import") +
			     count(text, "url("),
		     0);
	free(text);
}

/* The colour of a function's frame in a comparison. */
static char *fill_of(const char *text, const char *name)
{
	char *title = xasprintf("<title>%s\n", name);
	const char *at = strstr(text, title), *fill = at ? strstr(at, "fill=\"") : NULL;

	cr_assert(fill, "no frame of %s in\n%s", name, text);
	free(title);
	return xstrndup(fill + 6, strcspn(fill + 6, "\""));
}

/* Red grew, blue shrank, and what chance explains is grey. */
Test(svg, sides_are_coloured_by_what_changed)
{
	static const struct {
		const char *name, *fill;
	} cases[] = { { "grew", "rgb(245,70,70)" },
		      { "fell", "rgb(70,70,245)" },
		      { "new", "rgb(245,70,70)" },
		      { "gone", "rgb(70,70,245)" },
		      { "same", "rgb(225,225,225)" } };
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct profile *p = profile_new();
	struct comparison sides = { 0 };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *text;

	read_folded(p, "a;grew 4000\na;fell 9000\na;same 4000\na;gone 700\n", "b.folded");
	read_folded(p, "a;grew 9000\na;fell 4000\na;same 4010\na;new 700\n", "a.folded");
	cr_assert_eq(comparison_add(&sides, SIDE_BEFORE, "capture:1", &e), 0);
	cr_assert_eq(comparison_add(&sides, SIDE_AFTER, "capture:2", &e), 0);
	lens_init(&lens, p);
	cr_assert_eq(comparison_lens(&sides, p, &choice, &lens, &e), 0, "%s", err_text(&e));
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	text = written(a, &format_svg_diff);
	for (size_t i = 0; i < N(cases); i++) {
		char *fill = fill_of(text, cases[i].name);

		cr_expect_str_eq(fill, cases[i].fill, "%s is %s", cases[i].name, fill);
		free(fill);
	}
	cr_expect(strstr(text, "4,000 before, 9,000 after: +5,000 (+125.0 %)</title>"), "%s", text);
	free(text);
	analysis_free(a);
	lens_done(&lens);
	comparison_done(&sides);
	profile_free(p);
}

/* A million narrow frames are a number, not a million elements. */
Test(svg, what_is_too_narrow_is_counted)
{
	char *folded = NULL, *text;
	size_t n = 0;
	FILE *to = open_memstream(&folded, &n);

	fprintf(to, "a;big 1000000\n");
	for (int i = 0; i < 2000; i++)
		fprintf(to, "a;f%d 1\n", i);
	fclose(to);
	text = picture(folded, "");
	cr_expect_eq(count(text, "<g data-x"), 3);
	cr_expect(strstr(text, "not drawn: 2,000 frames narrower than 0.1 px"), "%s", text);
	free(folded);
	free(text);
}

Test(svg, no_samples_are_a_sentence)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;

	read_folded(p, "a;b 1\n", "x.folded");
	lens_init(&lens, p);
	cr_assert_eq(filter_parse("fn:nothing", &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_expect_lt(format_svg.write(a, NULL, stdout, &e), 0);
	cr_expect(strstr(err_text(&e), "nothing to draw"), "%s", err_text(&e));
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
	err_clear(&e);
}
