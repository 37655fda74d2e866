/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/read_rows.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"
#include "query/tree/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

const struct format *probe_bytes(const void *bytes, size_t n)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	struct err e = ERR_INIT;
	const struct format *f = format_probe(in, &e);

	err_clear(&e);
	input_close(in);
	return f;
}

static struct profile *read_input(const struct format *f, struct input *in, int *rc, struct err *e)
{
	struct profile *p = profile_new();
	capture_id c;

	builder_begin(p);
	c = build_capture(p, input_name(in), f->name);
	builder_end(p);
	*rc = f->read(in, p, c, NULL, NULL, e);
	input_close(in);
	return p;
}

struct profile *read_bytes_as(const struct format *f, const void *bytes, size_t n, int *rc,
			      struct err *e)
{
	return read_input(f, input_of_bytes(bytes, n, "x"), rc, e);
}

struct profile *read_path_as(const struct format *f, const char *path)
{
	struct err e = ERR_INIT;
	struct profile *p;
	struct input *in;
	int rc;

	cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
	cr_expect_eq(format_probe(in, &e), f, "%s", path);
	p = read_input(f, in, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	return p;
}

static void set_event(const struct profile *p, struct lens *lens, const char *event)
{
	struct profile_counts counts;

	lens_init(lens, p);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; event && i < counts.n_events; i++)
		if (!strcmp(profile_string(p, profile_event(p, (event_id){ i })->name, NULL),
			    event))
			lens->column[0].metric = (struct metric){ { i }, MEASURE_WEIGHT, false };
}

char *rows_of_event(const struct profile *p, const char *event)
{
	char *out = NULL;
	size_t n;
	FILE *to = open_memstream(&out, &n);
	struct analysis *a;
	struct lens lens;

	set_event(p, &lens, event);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	table_sort(&a->table, a->table_keys, ORDER_LABEL, 0, false);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];

		fprintf(to, "%s:%s/%ld/%ld ", k->label, k->module, (long)a->table.self[i],
			(long)a->table.total[i]);
	}
	fclose(to);
	analysis_free(a);
	lens_done(&lens);
	return out;
}

int64_t total_of_event(const struct profile *p, const char *event)
{
	struct profile_counts counts;
	struct sample_columns c;
	int64_t sum = 0;

	profile_counts_read(p, &counts);
	profile_samples(p, &c);
	for (uint64_t i = 0; i < counts.n_samples; i++) {
		event_id id = { c.event ? c.event[i] : 0 };

		if (!strcmp(profile_string(p, profile_event(p, id)->name, NULL), event))
			sum += c.weight ? c.weight[i] : 1;
	}
	return sum;
}

bool has_fact(const struct profile *p, const char *text)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		if (strstr(profile_string(p, profile_fact(p, i).text, NULL), text))
			return true;
	return false;
}
