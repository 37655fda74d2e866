/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/heap_rates.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "base/sum.h"
#include "heaptrace/read/apply_records.h"
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

/* So many are told one by one. */
#define MOST_TOLD 5u

/* One rate, and how long it held in all. */
struct held {
	double sample_bytes;
	int64_t ns;
};

static void bytes_text(char text[FMT_SIZE], double bytes)
{
	fmt_bytes(text, bytes < 0x1p62 ? (int64_t)bytes : (int64_t)1 << 62);
}

static int by_rate(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return (x->sample_bytes > y->sample_bytes) - (x->sample_bytes < y->sample_bytes);
}

/* How long each held, from begin to end: [samplings.n], or one more when there was a time before the first. */
static size_t held(const struct apply_records *t, int64_t begin, int64_t end, struct held *out)
{
	int64_t from;
	size_t n = 0;

	for (size_t i = 0; i < t->samplings.n; i++) {
		const struct heap_sampling *s = &t->samplings.at[i];
		int64_t to = i + 1 < t->samplings.n ? t->samplings.at[i + 1].time_ns : end;

		from = s->time_ns < begin ? begin : s->time_ns > end ? end : s->time_ns;
		to = to < from ? from : to > end ? end : to;
		/* Until the first one, all were recorded. */
		if (i == 0 && from > begin)
			out[n++] = (struct held){ 0, from - begin };
		out[n++] = (struct held){ s->sample_bytes, to - from };
	}
	return n;
}

/* "all for 2 s, one in 4 KiB for 3 s, …"; the caller frees. */
static char *each(const struct held *h, size_t n)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		char bytes[FMT_SIZE], ns[FMT_SIZE], *more;

		bytes_text(bytes, h[i].sample_bytes);
		fmt_ns(ns, h[i].ns);
		more = h[i].sample_bytes > 0
			       ? xasprintf("%s%sone in %s for %s", text, i ? ", " : "", bytes, ns)
			       : xasprintf("%s%sall for %s", text, i ? ", " : "", ns);
		free(text);
		text = more;
	}
	return text;
}

/* "from all to one in 4 MiB, half of the time one in 8 KiB or more"; sorts h; the caller frees. */
static char *range(struct held *h, size_t n)
{
	char least[FMT_SIZE], most[FMT_SIZE], middle[FMT_SIZE];
	int64_t all = 0, below = 0;
	size_t i = 0;

	qsort(h, n, sizeof(*h), by_rate);
	for (size_t k = 0; k < n; k++)
		all += h[k].ns;
	while (i + 1 < n && (below += h[i].ns) < all / 2)
		i++;
	bytes_text(least, h[0].sample_bytes);
	bytes_text(middle, h[i].sample_bytes);
	bytes_text(most, h[n - 1].sample_bytes);
	return xasprintf("from %s%s to one in %s, half of the time %s%s",
			 h[0].sample_bytes > 0 ? "one in " : "",
			 h[0].sample_bytes > 0 ? least : "all", most,
			 h[i].sample_bytes > 0 ? "one in more than " : "",
			 h[i].sample_bytes > 0 ? middle : "all");
}

/* In percent, with a digit behind the point. */
static double percent_of(uint64_t part, uint64_t whole)
{
	double p = whole > 0 ? (double)part / (double)whole * 100 : 0;

	return (double)(int64_t)(p < 1e9 ? p * 10 + 0.5 : 1e10) / 10;
}

/* What recording was to take at most, and what it took. */
static void state_cost(const struct apply_records *t)
{
	double most = (double)(t->overhead % 100000000) / 1e4;
	double passing = percent_of(t->passing_time, t->program_time);
	double took = percent_of(sum_of_counts(t->passing_time, t->recording_time),
				 t->program_time);
	char calls[FMT_SIZE];

	fmt_count(calls, t->n_passed < INT64_MAX ? (int64_t)t->n_passed : INT64_MAX);
	if (t->program_time == 0)
		build_fact(t->profile, t->capture, "file", "overhead", FACT_PLAIN,
			   "to be kept to %g%% of the program's own time by recording fewer "
			   "allocations; what it took is not told",
			   most);
	else if (took <= most)
		build_fact(t->profile, t->capture, "file", "overhead", FACT_PLAIN,
			   "%g%% of the program's own time, of %g%% allowed; of that, %g%% for %s "
			   "calls that were not recorded",
			   took, most, passing, calls);
	else if (passing > most)
		build_fact(t->profile, t->capture, "file", "overhead", FACT_PLAIN,
			   "%g%% of the program's own time, not the %g%% allowed; the program "
			   "allows no less than %g%%, which is what %s calls take that are not "
			   "recorded",
			   took, most, passing, calls);
	else
		build_fact(
			t->profile, t->capture, "file", "overhead", FACT_PLAIN,
			"%g%% of the program's own time, not the %g%% allowed; of that, %g%% for "
			"%s calls that were not recorded",
			took, most, passing, calls);
}

void heap_rates_state(struct apply_records *t, int64_t begin, int64_t end)
{
	struct held *h = xcalloc(t->samplings.n + 1, sizeof(*h));
	size_t n = held(t, begin, end, h), n_sampled = 0;
	char bytes[FMT_SIZE], *what;

	for (size_t i = 0; i < n; i++)
		n_sampled += h[i].sample_bytes > 0;
	if (t->overhead > 0)
		state_cost(t);
	if (n_sampled > 0 && n == 1) {
		bytes_text(bytes, h[0].sample_bytes);
		build_fact(t->profile, t->capture, "file", "sampling", FACT_PLAIN,
			   "one allocation in %s on average: numbers are estimates", bytes);
	} else if (n_sampled > 0) {
		what = n <= MOST_TOLD ? each(h, n) : range(h, n);
		build_fact(t->profile, t->capture, "file", "sampling", FACT_PLAIN,
			   "at %zu rates: %s: numbers are estimates", n, what);
		free(what);
	}
	free(h);
}
