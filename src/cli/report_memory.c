/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "report_memory.h"

#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "filter.h"
#include "json_out.h"
#include "report.h"
#include "text.h"

static const char *const column_names[FOOTPRINT_N_COLUMNS] = {
	[FOOTPRINT_LIVE] = "live",           [FOOTPRINT_PEAK] = "peak",
	[FOOTPRINT_BYTES] = "bytes",         [FOOTPRINT_CALLS] = "calls",
	[FOOTPRINT_TEMPORARY] = "temporary", [FOOTPRINT_LEAKED] = "leaked",
};

static bool counts(int column)
{
	return column == FOOTPRINT_CALLS || column == FOOTPRINT_TEMPORARY;
}

/* How many of the sites the report's limits leave. */
static uint32_t n_shown(const struct report *r)
{
	uint32_t n = r->analysis->footprint->n_sites;

	return r->max_rows > 0 && r->max_rows < n ? (uint32_t)r->max_rows : n;
}

static const char *cell(const struct footprint *f, const int64_t *sum, int column,
			char out[FMT_SIZE])
{
	return fmt_weight(out, sum[column], counts(column) ? UNIT_COUNT : UNIT_BYTES,
			  f->scale[column]);
}

static void put_row(const struct footprint *f, const int64_t *sum, const char *label,
		    const char *module, bool ascii, FILE *to)
{
	char text[FMT_SIZE], *name = text_clean(label, strlen(label), ascii);

	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		fprintf(to, "%s%12s", c ? " " : "", cell(f, sum, c, text));
	fprintf(to, "  %s", name);
	free(name);
	if (*module) {
		name = text_clean(module, strlen(module), ascii);
		fprintf(to, "  %s", name);
		free(name);
	}
	fputc('\n', to);
}

void report_memory_text(const struct report *r, FILE *to)
{
	const struct footprint *f = r->analysis->footprint;
	char text[FMT_SIZE];

	if (f->peak_ns != TIME_NONE)
		fprintf(to, "# the peak is %s s after the start\n",
			fmt_exact(text, f->peak_ns, 1000000000));
	fputs("#       LIVE         PEAK        BYTES        CALLS    TEMPORARY       LEAKED  WHERE\n",
	      to);
	put_row(f, f->total, "(everything)", "", r->ascii, to);
	for (uint32_t i = 0; i < n_shown(r) && !ferror(to); i++) {
		const struct key *key = &f->keys.key[f->site[i].key];

		put_row(f, f->site[i].sum, key->label, key->module, r->ascii, to);
	}
	if (n_shown(r) < f->n_sites)
		fprintf(to, "# %s more sites are left out; -n 0 shows all\n",
			fmt_count(text, (int64_t)f->n_sites - n_shown(r)));
}

static void put_sums(struct json_out *j, const struct footprint *f, const int64_t *sum)
{
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		json_put_weight(j, column_names[c], sum[c], f->scale[c]);
}

void report_memory_json(const struct report *r, FILE *to)
{
	const struct footprint *f = r->analysis->footprint;
	char *filter = f->lens.filter ? filter_text(f->lens.filter) : NULL;
	struct json_out j = { .to = to };

	json_begin(&j, NULL, '{', true);
	json_put_text(&j, "proftop", VERSION);
	json_put_text(&j, "view", "memory");
	json_put_text(&j, "filter", filter ? filter : "");
	json_put_int(&j, "duration_ns", f->whole_ns);
	if (f->peak_ns != TIME_NONE)
		json_put_int(&j, "peak_ns", f->peak_ns);
	json_begin(&j, "total", '{', false);
	put_sums(&j, f, f->total);
	json_end(&j, '}');
	json_begin(&j, "rows", '[', true);
	for (uint32_t i = 0; i < n_shown(r) && !ferror(to); i++) {
		const struct key *key = &f->keys.key[f->site[i].key];

		json_begin(&j, NULL, '{', false);
		json_put_text(&j, "name", key->label);
		json_put_text(&j, "module", key->module);
		put_sums(&j, f, f->site[i].sum);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	free(filter);
}
