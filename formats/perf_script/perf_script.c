/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the text of perf script is recognised: headers with times or events, and frames below them. */
#include "config.h"

#include "formats/perf_script/perf_script.h"

#include "formats/perf_script/perf_script_line.h"
#include "formats/perf_script/perf_script_read.h"
#include "formats/perf_script/perf_script_write.h"
#include "formats/text_read.h"
#include "formats/text_signs.h"

#include <stdbool.h>
#include <string.h>

/* How sure we are. */
#define SURE_STACKS  90 /* samples with frames */
#define SURE_RECORDS 75 /* headers with a thread, a time and an event each, and nothing else */
#define SURE_LOOSE   80 /* frames, and headers that say neither time nor cpu nor event */
#define SURE_BARE    30 /* headers and frames, but more lines that are neither */

struct line_counts {
	unsigned full;   /* headers with a thread and an event or a time */
	unsigned timed;  /* of these, with all three */
	unsigned frames; /* below such a header */
	unsigned odd;
};

static void count_line(const char *s, size_t n, bool *in_sample, struct line_counts *c)
{
	struct script_header h;
	struct script_frame f;

	switch (script_line_read(s, n, *in_sample, &h, &f)) {
	case SCRIPT_BLANK:
		*in_sample = false;
		return;
	case SCRIPT_COMMENT:
	case SCRIPT_POSITION:
		return;
	case SCRIPT_RECORD:
		c->full++;
		c->timed++;
		return;
	case SCRIPT_FRAME:
		c->frames += *in_sample && f.address.n > 0;
		c->odd += !*in_sample;
		return;
	case SCRIPT_HEADER:
		*in_sample = (h.time_ns != TIME_NONE || h.event.n > 0 || h.cpu != CPU_NONE);
		c->full += *in_sample;
		c->odd += !*in_sample;
		c->timed += h.time_ns != TIME_NONE && h.event.n > 0 && h.comm.n > 0;
		if (h.rest.n > 0 && *in_sample && script_frame_read(h.rest.s, h.rest.n, &f) &&
		    f.address.n >= 4)
			c->frames++;
		return;
	case SCRIPT_ODD:
		c->odd++;
		return;
	}
}

/* Headers come before indented frames, or have one. */
static int probe_loose(const char *text, size_t n)
{
	size_t n_frames = 0, n_odd = 0;
	bool waits = false;

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;
		struct script_header h;
		struct script_frame f;
		bool frame = script_is_indented(text + at, len);
		enum script_kind kind = script_loose_read(text + at, len, n_frames > 0, &h, &f);

		if (!nl && at > 0)
			break;
		frame |= kind == SCRIPT_HEADER && h.has_frame;
		n_frames += frame;
		n_odd += kind == SCRIPT_ODD || (waits && !frame);
		waits = kind == SCRIPT_HEADER && !frame;
		at += len + 1;
	}
	return n_frames > n_odd ? SURE_LOOSE : 0;
}

static int probe_text(const char *text, size_t n)
{
	struct line_counts c = { 0 };
	bool in_sample = false, loose;

	if (script_text_is_loose(text, n, &loose) && loose)
		return text_signs_of(text, n) ? 0 : probe_loose(text, n);

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;

		if (!nl && at > 0)
			break; /* cut by whoever reads the beginning only */
		count_line(text + at, len, &in_sample, &c);
		at += len + 1;
	}
	/* Reports of other tools may have lines that look like a sample. */
	if (c.odd > 0 && text_signs_of(text, n))
		return 0;
	if (c.full > 0 && c.frames > 0)
		return c.odd <= c.full + c.frames ? SURE_STACKS : SURE_BARE;
	return c.timed > 0 && c.timed == c.full && c.odd <= c.timed / 2 ? SURE_RECORDS : 0;
}

static int probe(const uint8_t *bytes, size_t n)
{
	return text_probe(bytes, n, probe_text);
}

static int write_text(const struct analysis *a, const struct write_options *o, FILE *to,
		      struct err *e)
{
	int64_t begin_ns;

	(void)o;
	return perf_script_write(a, to, &begin_ns, e);
}

const struct format format_perf_script = {
	.name = "perf-script",
	.title = "the text of perf script",
	.probe = probe,
	.read = perf_script_read,
	.inlined = true,
	.holds = HOLDS(STACKS) | HOLDS(SAMPLES) | HOLDS(TIMES) | HOLDS(THREADS) | HOLDS(CPUS) |
		 HOLDS(MODULES) | HOLDS(ADDRESSES) | HOLDS(LINES) | HOLDS(INLINED) | HOLDS(CGROUPS),
	.write = write_text,
};
