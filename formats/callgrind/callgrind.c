/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.out and cachegrind.out: how they are known, and what `info` says of them. */
#include "config.h"

#include "formats/callgrind/callgrind.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/callgrind/callgrind_text.h"
#include "formats/callgrind/callgrind_tree.h"
#include "formats/callgrind/callgrind_write.h"
#include "formats/facts.h"
#include "formats/text_read.h"
#include "input/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Items times events that paths are made of: some hundred MB of tree at most. */
#define WORK_MOST UINT64_C(4000000)

#define SURE_BY_MAGIC  (FORMAT_SURE + 20)
#define SURE_BY_EVENTS (FORMAT_SURE + 25) /* massif.out has the same first lines, and no events */
#define SURE_BY_HEAD   40

static bool has_calls(const struct callgrind_text *t)
{
	for (size_t i = 0; i < t->items.n; i++)
		if (t->items.at[i].callee != CALLGRIND_NONE)
			return true;
	return false;
}

static bool begins(const struct callgrind_text *t, string_id s, const char *with)
{
	return strncmp(profile_string(t->text.p, s, NULL), with, strlen(with)) == 0;
}

/* valgrind ends each part with its totals. */
static bool is_cut(const struct callgrind_text *t)
{
	if (begins(t, t->creator, "callgrind"))
		return t->n_totals < (t->n_parts ? t->n_parts : 1);
	return t->creator.v == 0 && t->has_description && t->n_totals == 0;
}

static void tell_totals(const struct callgrind_text *t)
{
	if (is_cut(t)) {
		build_fact(t->text.p, t->text.capture, "losses", "rest of the file", FACT_LOSS,
			   "the file ends before the totals of its last part");
		return;
	}
	for (uint32_t e = 0; e < t->n_events && t->n_totals > 0; e++)
		if (t->totals[e] != t->event[e].total)
			build_fact(t->text.p, t->text.capture, "losses",
				   profile_string(t->text.p, t->event[e].name, NULL), FACT_LOSS,
				   "functions cost %" PRId64
				   ", the totals of the file say %" PRId64,
				   t->event[e].total, t->totals[e]);
}

static void tell_stacks(const struct callgrind_text *t, const struct callgrind_tree_result *r)
{
	struct profile *p = t->text.p;
	capture_id c = t->text.capture;
	char text[FMT_COUNTED_SIZE], part[FMT_SIZE];

	if (!has_calls(t)) {
		build_fact(p, c, "stacks", "calls", FACT_MISSING,
			   "none in this file: functions without callers");
		return;
	}
	build_fact(
		p, c, "stacks", "paths", FACT_MISSING,
		"estimated from calls between pairs of functions: functions and their direct callers are exact, longer paths assume that a function costs the same for every caller");
	if (r->n_recursive > 0)
		build_fact(
			p, c, "stacks", "recursion", FACT_PLAIN,
			"%s in cycles of calls: each is on a path once, its total has what it costs and calls outside of the cycle",
			fmt_counted(text, (int64_t)r->n_recursive, "function"));
	if (r->n_uneven > 0)
		build_fact(
			p, c, "stacks", "uneven calls", FACT_MISSING,
			"calls of %s cost more than it does: callers have its cost in proportion",
			fmt_counted(text, (int64_t)r->n_uneven, "function"));
	if (r->merged > 0)
		build_fact(p, c, "stacks", "merged callers", FACT_MISSING,
			   "%s %% of the cost is of rare paths: below " CALLGRIND_MERGED_NAME
			   ", and not in the totals of their callers",
			   fmt_percent(part, (int64_t)(r->merged * 1e6), 1000000));
}

static void tell(struct callgrind_text *t, const struct callgrind_tree_result *r)
{
	struct profile *p = t->text.p;
	capture_id c = t->text.capture;
	const char *creator = profile_string(p, t->creator, NULL),
		   *command = profile_string(p, t->command, NULL);
	char text[FMT_SIZE];

	builder_begin(p);
	if (*creator)
		build_fact(p, c, "file", "creator", FACT_PLAIN, "%s", creator);
	if (*command)
		build_fact(p, c, "file", "command", FACT_PLAIN, "%s", command);
	if (t->n_parts > 1)
		build_fact(p, c, "file", "parts", FACT_PLAIN, "%s, added up",
			   fmt_count(text, (int64_t)t->n_parts));
	build_fact(p, c, "file", "times", FACT_PLAIN, "the format has none");
	if (!t->has_lines)
		build_fact(p, c, "file", "lines", FACT_PLAIN, "none in this file");
	if (t->n_jumps > 0)
		build_fact(p, c, "file", "jumps", FACT_PLAIN, "%s, not shown",
			   fmt_count(text, (int64_t)t->n_jumps));
	tell_stacks(t, r);
	text_read_tell(&t->text);
	tell_totals(t);
	facts_loss(p, c, "negative costs", t->n_negative, "cost", "below zero, counted as zero");
	facts_loss(p, c, "sums", t->n_large + r->n_large, "cost",
		   "left out, as the sum would be too large");
	facts_loss(p, c, "names", t->n_unnamed, "number", "that no name was given to");
	builder_end(p);
}

static int refuse(const struct callgrind_text *t, int rc, struct err *e)
{
	if (rc == 0 && t->n_events == 0)
		return err_set(e, -EBADMSG,
			       "%s: is callgrind text without an \"events:\" line in its %" PRIu64
			       " line%s",
			       input_name(t->text.lines.in), t->text.lines.n,
			       t->text.lines.n == 1 ? "" : "s");
	return text_read_refuse(&t->text, rc, "cost of a function", e);
}

static int read_callgrind(struct input *in, struct profile *p, capture_id c,
			  const struct read_options *o, struct progress *progress, struct err *e)
{
	struct callgrind_text *t = xcalloc(1, sizeof(*t));
	struct callgrind_tree_result result;
	int rc;

	text_read_init(&t->text, in, p, c);
	callgrind_text_init(t);
	rc = text_read_all(&t->text, callgrind_text_take, t, progress);
	if (rc == -ECANCELED || t->items.n == 0) {
		rc = refuse(t, rc, e);
	} else {
		rc = callgrind_tree_build(t, p, c, o ? o->root_names : ROOT_COMM, WORK_MOST,
					  progress, &result);
		if (rc == 0 || rc == -EFBIG)
			tell(t, &result);
		if (rc == -EFBIG)
			err_set(e, rc, "%s: has more than a profile can hold", input_name(in));
		else if (rc < 0)
			err_set(e, rc, "%s: reading was stopped", input_name(in));
		else if (result.n_rows == 0)
			rc = err_set(e, -EBADMSG, "%s: no function has a cost in it",
				     input_name(in));
	}
	callgrind_text_done(t);
	text_read_done(&t->text);
	free(t);
	return rc;
}

/* Keys that may stand above "events:". */
static bool is_head_line(const char *s, size_t n)
{
	static const char *const keys[] = { "version:", "creator:", "pid:",  "thread:",
					    "part:",    "cmd:",     "desc:", "positions:",
					    "event:",   "summary:", "#" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (n >= strlen(keys[i]) && memcmp(s, keys[i], strlen(keys[i])) == 0)
			return true;
	return n == 0;
}

static int probe_text(const char *text, size_t n)
{
	static const char magic[] = "# callgrind format",
			  events[] = "events:", version[] = "version: 1\n";
	size_t at = 0;

	if (n >= sizeof(magic) - 1 && memcmp(text, magic, sizeof(magic) - 1) == 0)
		return SURE_BY_MAGIC;
	while (at < n) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) - at : n - at;

		while (len > 0 && text[at + len - 1] == '\r')
			len--;
		if (len >= sizeof(events) - 1 && memcmp(text + at, events, sizeof(events) - 1) == 0)
			return nl ? SURE_BY_EVENTS : SURE_BY_HEAD;
		if (!nl || !is_head_line(text + at, len))
			break;
		at = (size_t)(nl - text) + 1;
	}
	return n >= sizeof(version) - 1 && memcmp(text, version, sizeof(version) - 1) == 0
		       ? SURE_BY_HEAD
		       : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_callgrind = {
	.name = "callgrind",
	.title = "callgrind.out and cachegrind.out (valgrind, Xdebug, pprof -callgrind)",
	.probe = probe,
	.inlined = true,
	.holds = HOLDS(MODULES) | HOLDS(LINES),
	.read = read_callgrind,
	.write = callgrind_write,
};
