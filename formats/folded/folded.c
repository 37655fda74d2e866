/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How folded text is recognised. It has no magic: most of its lines end in a count, and most have a
 * ';'. What has the signs of something else is refused first, as many texts have lines like that.
 */
#include "config.h"

#include "formats/folded/folded.h"

#include "formats/file_type_hint.h"
#include "formats/folded/folded_line.h"
#include "formats/folded/folded_read.h"
#include "formats/folded/folded_write.h"
#include "formats/text_read.h"

#include <stdbool.h>
#include <string.h>

/* How sure we are. */
#define SURE_ALL_GOOD  70 /* every line is a stack with a count, some have more than one frame */
#define SURE_SOME_GOOD 40 /* some lines are malformed, but not more than are good */
#define SURE_FLAT      20 /* only stacks of one frame */
#define SURE_HARDLY    5  /* of one frame, and some malformed; or a line that goes on */

/* Not one good line yet, but text and nothing else that is known: logs may come before stacks. */
#define SURE_OF_TEXT FORMAT_LAST

/* Bytes without a newline that may still be one deep stack. */
#define LONG_LINE 2048

struct line_counts {
	unsigned deep; /* stacks of several frames */
	unsigned flat; /* of one */
	unsigned bad;
};

static void count_line(const char *s, size_t n, struct line_counts *counts)
{
	struct folded_line line;
	enum folded_kind kind = folded_line_read(s, n, 1, &line);

	if (kind == FOLDED_NOTHING)
		return;
	if (kind != FOLDED_STACK || s[0] == ' ' || s[0] == '\t')
		counts->bad++;
	else if (memchr(line.stack, ';', line.n))
		counts->deep++;
	else
		counts->flat++;
}

/* Lines of text that may be cut at its end; the last counts only when it is good or alone. */
static struct line_counts count_lines(const char *text, size_t n)
{
	struct line_counts counts = { 0 };

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		struct line_counts before = counts;
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;

		count_line(text + at, len, &counts);
		if (!nl && at > 0 && counts.bad > before.bad)
			return before;
		at += len + 1;
	}
	return counts;
}

/* The beginning of one line too long to be seen whole: many frames, none of them very long. */
static bool is_long_stack(const char *text, size_t n)
{
	size_t n_frames = 0;

	if (n < LONG_LINE || memchr(text, '\n', n))
		return false;
	for (size_t i = 0; i < n; i++)
		n_frames += text[i] == ';';
	return n_frames >= n / LONG_LINE;
}

static int probe_text(const char *text, size_t n)
{
	struct line_counts c;
	int otherwise;
	unsigned good;

	if (file_type_hint_like((const uint8_t *)text, n))
		return 0;
	otherwise = file_type_hint_like_text((const uint8_t *)text, n) ? SURE_OF_TEXT : 0;
	c = count_lines(text, n);
	good = c.deep + c.flat;
	if (good == 0)
		return is_long_stack(text, n) ? SURE_HARDLY : otherwise;
	if (c.deep > 0 && good >= c.bad)
		return c.bad == 0 ? SURE_ALL_GOOD : SURE_SOME_GOOD;
	if (c.deep == 0 && 2 * good > c.bad)
		return c.bad == 0 ? SURE_FLAT : SURE_HARDLY;
	return otherwise;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

const struct format format_folded = {
	.name = "folded",
	.title = "folded stacks (FlameGraph, inferno, py-spy, async-profiler)",
	.one_event = true,
	.holds = HOLDS(STACKS) | HOLDS(THREADS), /* by name, as first frame */
	.probe = probe,
	.read = folded_read,
	.write = folded_write,
};

const struct format format_folded_diff = {
	.name = "folded-diff",
	.title =
		"folded stacks with two counts, before and after (difffolded.pl, inferno-diff-folded)",
	.compares = true,
	.write = folded_write,
};
