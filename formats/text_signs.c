/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/text_signs.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Lines that are looked at; of what is known by the shape of its lines, so many must have it. */
#define LINES_MOST 60
#define LINES_LIKE 3

struct line {
	const char *s; /* without blanks before it */
	size_t n;
	size_t indent; /* those blanks */
};

/* A line that begins with one text, behind any blanks, and has the other in it; "": any. */
struct sign {
	const char *begins, *has, *what;
};

static const struct sign signs[] = {
	{ "", "Time and Allocation Profiling Report", "a profile of a Haskell program (.prof)" },
	{ "Analysis of sampling ", "", "the output of sample (macOS)" },
	{ "Sampling process ", "", "the output of sample (macOS)" },
	{ "time ", "wait time", "the output of perf sched timehist" },
	{ "Aggregated stats:", "", "the output of perf report --stats" },
	{ "# To display the perf.data header info", "", "the output of perf report" },
	{ "# Overhead ", "", "the output of perf report" },
	{ "Performance counter stats for ", "", "the output of perf stat" },
	{ "# started on ", "", "the output of perf stat" },
	{ "Summary of events:", "", "the output of perf trace -s" },
	{ "Percent ", "Source code & Disassembly", "the output of perf annotate" },
	{ "reading file \"", "", "the output of heaptrack_print" },
	{ "heaptrack stats:", "", "the output of heaptrack" },
	{ "Showing nodes accounting for ", "", "the output of pprof" },
	{ "-----------+", "", "the output of pprof" },
	{ "PeriodType: ", "", "the output of pprof -raw" },
	{ "digraph ", "{", "a graph (dot)" },
	{ "--- heap", "", "a heap profile of gperftools" },
	{ "--- symbol", "", "a profile with symbols of gperftools" },
	{ "--- contentionz", "", "a profile of locks (gperftools)" },
	{ "--- contention", "", "a profile of locks (Go)" },
	{ "--- mutex", "", "a profile of locks (Go)" },
	{ "--- threadz", "", "a list of threads (gperftools)" },
	{ "goroutine profile: ", "", "a list of goroutines (Go)" },
	{ "threadcreate profile: ", "", "a list of threads (Go)" },
	{ "desc: I1 cache:", "", "cachegrind text" },
	{ "Line #,", "Stack", "a table of Windows Performance Analyzer (CSV)" },
	{ "Function Stack,", "", "a table of VTune (CSV)" },
	{ "Function Stack\t", "", "a table of VTune" },
	{ "Function,", "CPU Time", "a table of VTune (CSV)" },
	{ "Function\t", "CPU Time", "a table of VTune" },
	{ "CPU ", "FUNCTION:NAME", "the output of dtrace" },
	{ "@[", "", "the output of bpftrace" },
	{ "Attaching ", " probe", "the output of bpftrace" },
	{ "@ ", " samples]", "the output of pmcstat" },
	{ "ncalls ", "tottime", "the output of Python's cProfile" },
	{ "Flat profile:", "", "the output of gprof" },
	{ "Call graph:", "", "the output of sample (macOS)" },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool has(const struct line *l, const char *text)
{
	return memmem(l->s, l->n, text, strlen(text)) != NULL;
}

static bool begins(const struct line *l, const char *text)
{
	size_t n = strlen(text);

	return l->n >= n && memcmp(l->s, text, n) == 0;
}

/* How many of a kind of characters from i on. */
static size_t span(const struct line *l, size_t i, const char *of)
{
	size_t n = 0;

	while (i + n < l->n && l->s[i + n] && strchr(of, l->s[i + n]))
		n++;
	return n;
}

/* "0.031 ( 0.004 ms): ls/12 openat(dfd: CWD) = 3" */
static bool is_perf_trace(const struct line *l)
{
	size_t i = span(l, 0, "0123456789.");

	if (i == 0 || i + 2 >= l->n || l->s[i] != ' ')
		return false;
	i += span(l, i, " ");
	if (i == l->n || l->s[i] != '(')
		return false;
	i += 1 + span(l, i + 1, " 0123456789.");
	if (l->n < i + 4)
		return false;
	return memcmp(l->s + i, "ms):", 4) == 0 || memcmp(l->s + i, "):", 2) == 0;
}

/* "openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3", with or without a pid and a time before it */
static bool is_strace(const struct line *l)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	size_t i = 0, n;

	for (int words = 0; words < 3 && i < l->n && is_digit(l->s[i]); words++) {
		i += span(l, i, "0123456789.:");
		i += span(l, i, " ");
	}
	n = span(l, i, name);
	if (n == 0 || is_digit(l->s[i]) || i + n >= l->n)
		return begins(l, "[pid ") || has(l, "<... ");
	return l->s[i + n] == '(' && (has(l, ") = ") || has(l, ")  ") || has(l, "<unfinished"));
}

/* "sample {", "location_id: 12", "}" */
static bool is_protobuf_text(const struct line *l)
{
	size_t n = span(l, 0, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (l->n == 1 && l->s[0] == '}')
		return true;
	return n > 0 && n + 2 <= l->n &&
	       (memcmp(l->s + n, " {", 2) == 0 ||
		(memcmp(l->s + n, ": ", 2) == 0 && n + 2 < l->n && l->indent > 0 &&
		 (is_digit(l->s[n + 2]) || l->s[n + 2] == '-' || l->s[n + 2] == '"')));
}

/* "              libc.so.1`malloc+0x1c" */
static bool is_dtrace(const struct line *l)
{
	const char *tick = memchr(l->s, '`', l->n);

	return l->indent > 0 && tick && tick > l->s && !memchr(l->s, ' ', l->n);
}

/* perf stat -x: "1.06,msec,task-clock,1060882,100.00,0.21,CPUs utilized", or "<not counted>,,cycles,0,100.00,," */
static bool is_perf_stat(const struct line *l)
{
	size_t i = begins(l, "<not ") ? span(l, 0, "<not counedspr>") : span(l, 0, "0123456789."),
	       run;
	char separator[2] = { i < l->n ? l->s[i] : 0 };

	if (i == 0 || i == l->n || !strchr(",;|:\t", separator[0]))
		return false;
	/* unit and event */
	for (unsigned field = 0; field < 2; field++) {
		const char *end = memchr(l->s + i + 1, separator[0], l->n - i - 1);

		if (!end || (field == 1 && end == l->s + i + 1))
			return false;
		i = (size_t)(end - l->s);
	}
	run = span(l, i + 1, "0123456789");
	i += 1 + run;
	return run > 0 && i < l->n && l->s[i] == separator[0] &&
	       span(l, i + 1, "0123456789") < span(l, i + 1, "0123456789.");
}

/* Kinds of lines: most have the shape, and as many as that at least. */
static const struct {
	bool (*is)(const struct line *l);
	const char *what;
	unsigned least;
} shapes[] = {
	{ is_perf_trace, "the output of perf trace", LINES_LIKE },
	{ is_strace, "the output of strace", LINES_LIKE },
	{ is_protobuf_text, "a protobuf as text", LINES_LIKE },
	{ is_dtrace, "the output of dtrace", LINES_LIKE },
	{ is_perf_stat, "the output of perf stat", 1 },
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

/* The next line that is not blank; false at the end. */
static bool next_line(const char *text, size_t n, size_t *at, struct line *l)
{
	while (*at < n) {
		const char *nl = memchr(text + *at, '\n', n - *at);
		size_t len = nl ? (size_t)(nl - (text + *at)) : n - *at;

		*l = (struct line){ .s = text + *at, .n = len };
		*at += len + 1;
		while (l->n > 0 && strchr(" \t\r", l->s[l->n - 1]))
			l->n--;
		while (l->n > 0 && strchr(" \t", l->s[0])) {
			l->s++;
			l->n--;
			l->indent++;
		}
		if (l->n > 0)
			return true;
	}
	return false;
}

const char *text_signs_of(const char *text, size_t n)
{
	unsigned like[N_SHAPES] = { 0 }, n_lines = 0;
	struct line l;

	for (size_t at = 0; n_lines < LINES_MOST && next_line(text, n, &at, &l); n_lines++) {
		for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
			if (begins(&l, signs[i].begins) && has(&l, signs[i].has))
				return signs[i].what;
		for (size_t i = 0; i < N_SHAPES; i++)
			like[i] += shapes[i].is(&l);
	}
	for (size_t i = 0; i < N_SHAPES; i++)
		if (like[i] >= shapes[i].least && 2 * like[i] > n_lines)
			return shapes[i].what;
	return NULL;
}

/* The first whose keys are all there; the second may be "". */
static const struct {
	const char *key, *also, *what;
} tools[] = {
	{ "speedscope.app", "", "a speedscope profile (JSON)" },
	{ "\"traceEvents\"", "", "a trace of Chrome or Perfetto (JSON)" },
	{ "\"ph\"", "\"ts\"", "a trace of Chrome or Perfetto (JSON)" },
	{ "\"preprocessedProfileVersion\"", "", "a Firefox profile (JSON)" },
	{ "\"meta\"", "\"processType\"", "a Firefox profile (JSON)" },
	{ "\"linux-perf-json-version\"", "", "the output of perf data convert --to-json" },
	{ "\"snapshot\"", "\"node_fields\"", "a heap snapshot of V8 (JSON)" },
	{ "\"callFrame\"", "\"selfSize\"", "a heap profile of V8 (.heapprofile, JSON)" },
	{ "\"callFrame\"", "\"hitCount\"", "a CPU profile of V8 (.cpuprofile, JSON)" },
	{ "\"functionName\"", "\"hitCount\"", "a CPU profile of V8 (.cpuprofile, JSON)" },
	{ "\"recording\"", "\"records\"", "a timeline of Safari (JSON)" },
	{ "\"ticks\"", "\"isolate", "the output of node --prof-process --preprocess (JSON)" },
	{ "\"root_frame\"", "", "a pyinstrument profile (JSON)" },
	{ "\"start_call_stack\"", "\"min_interval\"", "a session of pyinstrument (JSON)" },
	{ "\"type\": \"map\"", "\"data\": {\"@", "the output of bpftrace -f json" },
	{ "\"missed_samples\"", "\"gc_samples\"", "a profile of stackprof (JSON)" },
	{ "\"collapsed\"", "\"samples\"", "a profile of stackprof (JSON)" },
	{ "\"children\"", "\"value\"", "a flame graph of d3 (JSON)" },
	{ "\"flamebearer\"", "", "a profile of Pyroscope (JSON)" },
	{ "\"cost_centres\"", "", "a profile of a Haskell program (JSON)" },
	{ "\"proftop\"", "", "a report of proftop (JSON)" },
};

const char *text_signs_of_json(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (memmem(text, n, tools[i].key, strlen(tools[i].key)) &&
		    memmem(text, n, tools[i].also, strlen(tools[i].also)))
			return tools[i].what;
	return "JSON";
}
