/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of a feed: events, records, losses, stacks. A loss of nothing is no line. */
#include "config.h"

#include "perf/ingest/perf_facts.h"

#include "base/fmt.h"
#include "base/sum.h"

#include <inttypes.h>
#include <string.h>

/* Sums stop at the most that there is: "at least" says so. */
static const char *at_least(int64_t sum)
{
	return sum == INT64_MAX ? "at least " : "";
}

static void event_facts(struct profile *p, capture_id c, struct perf_events *events)
{
	char samples[FMT_COUNTED_SIZE], weight[FMT_SIZE];

	for (size_t i = 0; i < events->all.n; i++) {
		struct perf_event *e = &events->all.at[i];
		uint64_t n_samples = 0;
		int64_t sum = 0;

		/* Attrs of one name (one per kind of cpu) are one event. */
		for (size_t k = 0; k < events->all.n; k++) {
			const struct perf_event *other = &events->all.at[k];

			if (other != e && (other->event != e->event || e->event == ID_NONE))
				continue;
			n_samples += other->n_samples;
			sum = sum_of(sum, other->weight);
		}
		if (n_samples > 0 && sum == 0)
			build_fact(p, c, "losses", perf_event_name_of(e), FACT_LOSS,
				   "all of its samples weigh 0: --metric samples counts them");
		build_fact(p, c, "events", perf_event_name_of(e), FACT_PLAIN, "%s, in total %s%s",
			   fmt_counted(samples, (int64_t)n_samples, "sample"), at_least(sum),
			   fmt_weight(weight, sum, perf_attr_unit(&e->attr), 1));
	}
}

/* Were stacks taken where threads left the cpu? */
static bool has_switch_samples(struct perf_events *events)
{
	for (size_t i = 0; i < events->all.n; i++) {
		struct perf_event *e = &events->all.at[i];

		if (e->n_samples && strcmp(perf_event_name_of(e), "sched:sched_switch") == 0)
			return true;
	}
	return false;
}

static void wait_facts(struct profile *p, capture_id c, struct perf_events *events,
		       const struct perf_offcpu_stats *s)
{
	char n[FMT_COUNTED_SIZE], sum[FMT_SIZE];

	if (s->n_waits)
		build_fact(p, c, "events", PERF_OFFCPU_NAME, FACT_PLAIN,
			   "%s between context switches, in total %s",
			   fmt_counted(n, (int64_t)s->n_waits, "wait"),
			   fmt_weight(sum, s->sum_ns, UNIT_NS, 1));
	if (s->n_borrowed && !has_switch_samples(events))
		build_fact(
			p, c, "events", PERF_OFFCPU_NAME " stacks", FACT_MISSING,
			"%s with the stack of the thread's last sample before, from which it may have gone on: "
			"switch records have none; record with -e sched:sched_switch",
			fmt_counted(n, (int64_t)s->n_borrowed, "wait"));
}

/* What --metric wall adds up: the first clock, and the waits. */
static void wall_facts(struct profile *p, capture_id c, struct perf_events *events,
		       const struct perf_offcpu_stats *s)
{
	struct perf_event *clock = NULL;
	char sum[FMT_SIZE];
	int64_t on = 0;

	if (!s->n_waits)
		return;
	for (size_t i = 0; i < events->all.n; i++) {
		struct perf_event *e = &events->all.at[i];

		if (perf_attr_unit(&e->attr) != UNIT_NS || e->event == ID_NONE)
			continue;
		if (!clock || e->event < clock->event)
			clock = e;
	}
	for (size_t i = 0; clock && i < events->all.n; i++)
		if (events->all.at[i].event == clock->event)
			on = sum_of(on, events->all.at[i].weight);
	on = sum_of(on, s->sum_ns);
	if (clock)
		build_fact(p, c, "events", "wall", FACT_PLAIN, "%s + %s, in total %s%s",
			   perf_event_name_of(clock), PERF_OFFCPU_NAME, at_least(on),
			   fmt_weight(sum, on, UNIT_NS, 1));
	else
		build_fact(p, c, "events", "wall", FACT_MISSING,
			   "needs a clock beside the waits; record with -e cpu-clock, too");
}

static void record_facts(struct profile *p, capture_id c, const struct ingest_stats *s)
{
	char n[FMT_SIZE];

	for (uint32_t type = 0; type < PRESCAN_TYPES; type++)
		if (s->look.n_records[type])
			build_fact(p, c, "records", perf_record_name(type), FACT_PLAIN, "%s",
				   fmt_count(n, (int64_t)s->look.n_records[type]));
	if (s->look.n_simpleperf)
		build_fact(p, c, "records", "simpleperf", FACT_PLAIN,
			   "%s of its own types, not read",
			   fmt_count(n, (int64_t)s->look.n_simpleperf));
}

/* So many of something, and what is the matter with them; sums stop at the most that there is. */
static void loss(struct profile *p, capture_id c, const char *name, uint64_t n, const char *one,
		 const char *what)
{
	char text[FMT_COUNTED_SIZE];

	if (n > 0)
		build_fact(p, c, "losses", name, FACT_LOSS, "%s%s %s", at_least((int64_t)n),
			   fmt_counted(text, (int64_t)n, one), what);
}

static void damaged_fact(struct profile *p, capture_id c, const struct ingest_stats *s)
{
	char n[FMT_COUNTED_SIZE], left_out[FMT_SIZE];

	if (s->n_bad_samples == 0)
		return;
	fmt_counted(n, (int64_t)s->n_bad_samples, "sample");
	fmt_count(left_out, (int64_t)s->n_bad_heads);
	if (s->n_bad_heads == 0 || s->n_bad_heads == s->n_bad_samples)
		build_fact(p, c, "losses", "undecodable", FACT_LOSS,
			   "%s damaged, the first at offset %" PRIu64 ": %s", n,
			   s->bad_sample_offset,
			   s->n_bad_heads ? "left out" : "shown without a stack");
	else
		build_fact(p, c, "losses", "undecodable", FACT_LOSS,
			   "%s damaged, the first at offset %" PRIu64
			   ": %s left out, the others shown without a stack",
			   n, s->bad_sample_offset, left_out);
}

static void loss_facts(struct profile *p, capture_id c, const struct ingest_stats *s,
		       const struct perf_events *events)
{
	char n[FMT_COUNTED_SIZE];

	loss(p, c, "lost", prescan_lost(&s->look), "event",
	     "lost while recording; record with a lower -F, or with perf a larger -m");
	if (s->n_samples == 0 && s->look.n_records[PERF_REC_STAT] > 0)
		build_fact(p, c, "losses", "no samples", FACT_LOSS,
			   "it holds the counts of perf stat record, which perf stat report shows");
	loss(p, c, "throttled", s->look.n_records[PERF_REC_THROTTLE], "time",
	     "the kernel stopped sampling because it took too long");
	loss(p, c, PERF_OFFCPU_NAME, s->waits.n_open, "time",
	     "nothing says when a thread came back; record with --switch-events or -a");
	loss(p, c, PERF_OFFCPU_NAME " times", s->waits.n_too_long, "wait",
	     "left out, so long that sums do not hold it");
	loss(p, c, "no event", s->n_no_event, "sample", "left out, with an id of no event");
	loss(p, c, "weights", s->n_too_heavy, "sample", "counted as 0, with an impossible weight");
	loss(p, c, "records cut", s->look.n_bad_records, "record", "shorter than claimed");
	loss(p, c, "records damaged", s->look.n_misfits + s->n_long_samples, "record",
	     "not as long as its kind is; there may have been samples there");
	loss(p, c, "event ids", events->n_ids_left_out, "id", "of events beyond what is kept");
	damaged_fact(p, c, s);
	if (s->look.n_unknown)
		build_fact(p, c, "losses", "unknown records", FACT_LOSS,
			   "%s of unknown type skipped, the first of type %" PRIu32,
			   fmt_counted(n, (int64_t)s->look.n_unknown, "record"),
			   s->look.unknown_type);
}

static void branch_facts(struct profile *p, capture_id c, const struct callchain_stats *s)
{
	char n[FMT_COUNTED_SIZE], percent[FMT_SIZE];

	if (s->n_branches == 0)
		return;
	build_fact(p, c, "stacks", "calls kept by the cpu", FACT_PLAIN,
		   "%s with the user stack from it (LBR)",
		   fmt_counted(n, (int64_t)s->n_branches, "sample"));
	if (s->n_branches_cut)
		build_fact(
			p, c, "stacks", "truncated", FACT_MISSING,
			"%s %% of these; the cpu had no room for more calls: record with "
			"--call-graph fp or dwarf",
			fmt_percent(percent, (int64_t)s->n_branches_cut, (int64_t)s->n_branches));
}

static void deferred_facts(struct profile *p, capture_id c, const struct callchain_stats *s)
{
	char n[FMT_COUNTED_SIZE], percent[FMT_SIZE];

	if (s->n_deferred == 0)
		return;
	build_fact(p, c, "stacks", "deferred", FACT_PLAIN,
		   "%s with a user callchain that was taken on the way back to user mode",
		   fmt_counted(n, (int64_t)s->n_deferred, "sample"));
	if (s->n_deferred_lost)
		build_fact(
			p, c, "stacks", "deferred, lost", FACT_MISSING,
			"%s %% of these; the chain did not come, or long after",
			fmt_percent(percent, (int64_t)s->n_deferred_lost, (int64_t)s->n_deferred));
}

static void stack_facts(struct profile *p, capture_id c, const struct ingest_stats *s)
{
	int64_t n = (int64_t)s->n_decoded;
	char text[FMT_COUNTED_SIZE], percent[FMT_SIZE];

	if (n == 0)
		return;
	/* Beside copied stacks, chains hold the kernel's part only. */
	build_fact(p, c, "stacks", s->frames.n_user_stacks ? "kernel callchains" : "callchains",
		   FACT_PLAIN, "%s %% of samples",
		   fmt_percent(percent, (int64_t)s->frames.n_chains, n));
	branch_facts(p, c, &s->frames);
	deferred_facts(p, c, &s->frames);
	build_fact(p, c, "stacks", "leaf only", FACT_PLAIN, "%s %% of samples",
		   fmt_percent(percent, (int64_t)s->n_leaf_only, n));
	build_fact(p, c, "stacks", "average depth", FACT_PLAIN, "%.1f frames",
		   (double)s->n_frames / (double)n);
	if (s->n_no_frames)
		build_fact(p, c, "stacks", "no address", FACT_MISSING,
			   "%s recorded without an address",
			   fmt_counted(text, (int64_t)s->n_no_frames, "sample"));
}

void perf_facts(struct profile *p, capture_id c, const struct ingest_stats *s,
		struct perf_events *events)
{
	loss_facts(p, c, s, events);
	event_facts(p, c, events);
	wait_facts(p, c, events, &s->waits);
	wall_facts(p, c, events, &s->waits);
	record_facts(p, c, s);
	stack_facts(p, c, s);
}
