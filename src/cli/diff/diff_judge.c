/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/diff/diff_judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "query/diff/diff_doubt.h"

int judgement_parse(struct judgement *j, const struct options *o, struct err *e)
{
	for (size_t i = 0; i < o->fail_if.n; i++) {
		struct judged one = { 0 };
		int rc = condition_parse(o->fail_if.at[i], &one.condition, e);

		if (rc)
			return rc;
		vec_push(&j->all, one);
	}
	return 0;
}

void judgement_done(struct judgement *j)
{
	for (size_t i = 0; i < j->all.n; i++) {
		condition_free(j->all.at[i].condition);
		verdict_done(&j->all.at[i].verdict);
	}
	vec_done(&j->all);
	free(j->doubt);
}

int judgement_make(struct judgement *j, const struct diff *d, bool any, judgement_compare *compare,
		   void *arg, struct err *e)
{
	for (size_t i = 0; i < j->all.n; i++) {
		struct judged *one = &j->all.at[i];
		const char *metric = condition_metric(one->condition);
		const struct diff *by = *metric ? compare(arg, metric, e) : d;
		int rc;

		if (!by)
			return -EINVAL;
		rc = condition_judge(one->condition, by, any, &one->verdict, e);
		if (rc)
			return rc;
		j->failed |= one->verdict.failed;
	}
	j->doubt = j->failed ? diff_say_doubt(d) : NULL;
	return 0;
}

void judgement_say(const struct judgement *j)
{
	for (size_t i = 0; i < j->all.n; i++) {
		const struct verdict *v = &j->all.at[i].verdict;

		for (size_t k = 0; k < v->sentences.n; k++)
			message("%s", v->sentences.at[k]);
		for (size_t k = 0; k < v->doubts.n; k++)
			message("%s", v->doubts.at[k]);
		if (v->n_matching == 0)
			message("--fail-if \"%s\" matches no function, so that it cannot fail",
				condition_text(j->all.at[i].condition));
	}
	if (j->doubt)
		message("%s", j->doubt);
}

/* Text in XML 1.0, which has no control characters at all. */
static void put_xml(const char *s, FILE *to)
{
	char *clean = text_clean(s, strlen(s), false);

	for (const char *at = clean; *at; at++)
		switch (*at) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fputc(*at, to);
		}
	free(clean);
}

/* Nothing was judged, or nothing could be. */
static bool is_skipped(const struct verdict *v)
{
	return !v->failed && (v->n_matching == 0 || v->doubts.n);
}

static void put_case(const struct judged *one, FILE *to)
{
	const struct verdict *v = &one->verdict;

	fputs("    <testcase classname=\"proftop.diff\" name=\"", to);
	put_xml(condition_text(one->condition), to);
	if (!v->failed && !is_skipped(v)) {
		fputs("\"/>\n", to);
		return;
	}
	if (!v->failed) {
		fputs("\">\n      <skipped message=\"", to);
		put_xml(v->n_matching ? v->doubts.at[0] : "no function matches", to);
		fputs("\"/>\n    </testcase>\n", to);
		return;
	}
	fputs("\">\n      <failure type=\"change\" message=\"", to);
	put_xml(v->sentences.at[0], to);
	fputs("\">", to);
	for (size_t i = 0; i < v->sentences.n; i++) {
		put_xml(v->sentences.at[i], to);
		fputc('\n', to);
	}
	fputs("</failure>\n    </testcase>\n", to);
}

void judgement_junit(const struct judgement *j, const char *before, const char *after, FILE *to)
{
	size_t n_failed = 0, n_skipped = 0;

	for (size_t i = 0; i < j->all.n; i++) {
		n_failed += j->all.at[i].verdict.failed;
		n_skipped += is_skipped(&j->all.at[i].verdict);
	}
	fprintf(to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		"  <testsuite name=\"",
		j->all.n, n_failed);
	put_xml(before, to);
	fputs(" to ", to);
	put_xml(after, to);
	fprintf(to, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", j->all.n,
		n_failed, n_skipped);
	for (size_t i = 0; i < j->all.n; i++)
		put_case(&j->all.at[i], to);
	fputs("  </testsuite>\n</testsuites>\n", to);
}
