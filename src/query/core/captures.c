/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/captures.h"

#include "base/mem.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/regex.h"

#include <stdlib.h>
#include <string.h>

uint32_t *captures_hosts(const struct profile *p, const struct profile_counts *counts)
{
	uint32_t *host = xcalloc((size_t)counts->n_captures + 1, sizeof(*host));

	for (uint32_t i = 0; i < counts->n_facts; i++) {
		struct fact f = profile_fact(p, i);
		uint32_t capture;

		if (strcmp(profile_string(p, f.name, NULL), "host") != 0 ||
		    f.part.v >= counts->n_parts)
			continue;
		capture = profile_part(p, f.part)->capture.v;
		if (capture < counts->n_captures && host[capture] == 0)
			host[capture] = f.text.v;
	}
	return host;
}

uint32_t *captures_files(const struct profile *p, const struct profile_counts *counts)
{
	uint32_t *file = xmalloc(((size_t)counts->n_captures + 1) * sizeof(*file));

	for (uint32_t i = 0; i < counts->n_captures; i++)
		file[i] = ID_NONE;
	for (uint32_t i = 0; i < counts->n_parts; i++) {
		const struct capture_part *part = profile_part(p, (part_id){ i });

		if (part->capture.v < counts->n_captures && file[part->capture.v] == ID_NONE)
			file[part->capture.v] = part->path.v;
	}
	return file;
}

static bool host_matches(const struct profile *p, const struct term *t, uint32_t host)
{
	size_t n;
	const char *text = profile_string(p, (string_id){ host }, &n);

	return host != 0 && regex_matches(t->regex, text, n);
}

void captures_sift(const struct profile *p, const struct profile_counts *counts,
		   const struct term *t, bool *passes)
{
	uint32_t *host = t->kind == TERM_HOST ? captures_hosts(p, counts) : NULL;

	for (uint32_t i = 0; i < counts->n_captures; i++) {
		bool matches = host ? host_matches(p, t, host[i])
				    : term_has_number(t, (int64_t)i + 1);

		passes[i] &= matches != t->negated;
	}
	free(host);
}

bool *captures_of_filter(const struct profile *p, const struct profile_counts *counts,
			 const struct filter *f)
{
	bool *passes = xmalloc((size_t)counts->n_captures + 1);
	size_t n;
	const struct term *terms = filter_terms(f, &n);

	memset(passes, true, counts->n_captures);
	for (size_t i = 0; i < n; i++)
		if (terms[i].kind == TERM_CAPTURE || terms[i].kind == TERM_HOST)
			captures_sift(p, counts, &terms[i], passes);
	return passes;
}
