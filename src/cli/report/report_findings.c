/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/report/report_findings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/report/json_out.h"
#include "cli/report/report.h"
#include "cli/report/report_json.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"
#include "query/findings/findings.h"

/* Columns of the number in front of a sentence. */
#define NUMBER_COLS  4
#define DEFAULT_COLS 100
#define LEAST_COLS   20

/* Text in lines of so many columns, the first one begun by the caller. */
static void put_wrapped(FILE *to, const char *text, size_t cols)
{
	while (*text) {
		size_t got, len = strlen(text), n = text_clip(text, len, cols, &got), cut = n;

		while (n < len && cut > 0 && (text[cut] != ' ' || text[cut + 1] == '%'))
			cut--;
		if (n < len && cut > 0)
			n = cut;
		if (n == 0)
			n = len;
		fprintf(to, "%.*s\n", (int)n, text);
		text += n;
		text += strspn(text, " ");
		if (*text)
			fprintf(to, "%*s", NUMBER_COLS, "");
	}
}

/* The same for a shell: in single quotes. */
static void put_quoted(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", to);
		else
			fputc(*text, to);
	}
	fputc('\'', to);
}

/* What shows it: options of report. */
static void put_proof(const struct report *r, const struct finding *f, FILE *to)
{
	fprintf(to, "%*s--view %s", NUMBER_COLS, "", f->view);
	if (f->has_metric)
		fprintf(to, " --metric %s", metric_word(r->analysis->profile, f->metric));
	if (*f->filter) {
		char *clean = text_clean(f->filter, strlen(f->filter), r->ascii);

		fputs(" -f ", to);
		put_quoted(to, clean);
		free(clean);
	}
	fputc('\n', to);
}

void report_findings_text(const struct report *r, FILE *to)
{
	size_t cols = r->width > LEAST_COLS + NUMBER_COLS ? (size_t)r->width : DEFAULT_COLS;
	const struct findings *f = r->findings;

	if (f->list.n == 0) {
		const char *text = findings_nothing(r->analysis);

		fprintf(to, "%c%s.\n", toupper((unsigned char)*text), text + 1);
	}
	for (size_t i = 0; i < f->list.n; i++) {
		char *clean = text_clean(f->list.at[i].sentence, strlen(f->list.at[i].sentence),
					 r->ascii);

		fprintf(to, "%2zu  ", i + 1);
		put_wrapped(to, clean, cols - NUMBER_COLS);
		put_proof(r, &f->list.at[i], to);
		free(clean);
	}
}

static void put_function(const struct report *r, const struct finding *f, struct json_out *j)
{
	const struct groups *k = &r->analysis->keys;

	for (uint32_t i = 0; f->key_id != ID_NONE && i < k->n; i++) {
		if (k->key[i].id != f->key_id)
			continue;
		report_json_name(j, k, i);
		return;
	}
}

void report_findings_json(const struct report *r, struct json_out *j)
{
	json_begin(j, "findings", '[', true);
	for (size_t i = 0; i < r->findings->list.n; i++) {
		const struct finding *f = &r->findings->list.at[i];

		json_begin(j, NULL, '{', false);
		json_put_text(j, "rule", f->rule);
		json_put_text(j, "sentence", f->sentence);
		json_put_double(j, "share", f->share);
		json_put_text(j, "see_view", f->view);
		json_put_text(j, "see_filter", f->filter);
		if (f->has_metric)
			json_put_text(j, "see_metric",
				      metric_word(r->analysis->profile, f->metric));
		put_function(r, f, j);
		json_end(j, '}');
	}
	json_end(j, ']');
}
