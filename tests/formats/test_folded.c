/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/folded/folded.h"
#include "formats/folded/folded_line.h"
#include "formats/folded/folded_write.h"
#include "input/input.h"
#include "input/lines.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/written.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1
#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(folded, lines)
{
	static const struct {
		const char *in;
		unsigned n_counts;
		enum folded_kind kind;
		const char *stack;
		int64_t whole[2];
		uint32_t parts[2];
	} cases[] = {
		{ "a;b 12", 1, FOLDED_STACK, "a;b", { 12 }, { 0 } },
		{ "a;b\t12 \r", 1, FOLDED_STACK, "a;b", { 12 }, { 0 } },
		{ "a b;c d  7", 1, FOLDED_STACK, "a b;c d", { 7 }, { 0 } },
		{ "a;b 1.5", 1, FOLDED_STACK, "a;b", { 1 }, { 500000 } },
		{ "a;b 0.0000014", 1, FOLDED_STACK, "a;b", { 0 }, { 1 } },
		{ "a;b 0.9999995", 1, FOLDED_STACK, "a;b", { 1 }, { 0 } },
		{ "a;b 12.", 1, FOLDED_STACK, "a;b", { 12 }, { 0 } },
		{ "a;b 9223372036854775807", 1, FOLDED_STACK, "a;b", { INT64_MAX }, { 0 } },
		{ "a;b 9223372036854775808", 1, FOLDED_TOO_LARGE, NULL, { 0 }, { 0 } },
		{ "a;b 9223372036854775807.9999999", 1, FOLDED_TOO_LARGE, NULL, { 0 }, { 0 } },
		{ "a;b;; 3", 1, FOLDED_STACK, "a;b", { 3 }, { 0 } },
		{ "a; ; ; 4", 1, FOLDED_STACK, "a", { 4 }, { 0 } },
		{ " ; 4", 1, FOLDED_STACK, "", { 4 }, { 0 } },
		{ "; 4", 1, FOLDED_STACK, "", { 4 }, { 0 } },
		{ ";x 2", 1, FOLDED_STACK, ";x", { 2 }, { 0 } },
		{ "a;b -3", 1, FOLDED_NEGATIVE, NULL, { 0 }, { 0 } },
		{ "-3", 1, FOLDED_NEGATIVE, NULL, { 0 }, { 0 } },
		{ "a;b-3", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b x-3", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b 1e3", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b 1.2.3", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b .5", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b .", 1, FOLDED_NO_COUNT, NULL, { 0 }, { 0 } },
		{ "17", 1, FOLDED_NO_STACK, NULL, { 0 }, { 0 } },
		{ " 17", 1, FOLDED_STACK, "", { 17 }, { 0 } },
		{ "  17", 1, FOLDED_NO_STACK, NULL, { 0 }, { 0 } },
		{ "", 1, FOLDED_NOTHING, NULL, { 0 }, { 0 } },
		{ " \t\r", 1, FOLDED_NOTHING, NULL, { 0 }, { 0 } },
		{ "# a;b 3", 1, FOLDED_NOTHING, NULL, { 0 }, { 0 } },
		{ "a;b 10 20", 1, FOLDED_STACK, "a;b 10", { 20 }, { 0 } },
		{ "a;b 10 20", 2, FOLDED_STACK, "a;b", { 10, 20 }, { 0 } },
		{ "a;b 1.25 0", 2, FOLDED_STACK, "a;b", { 1, 0 }, { 250000, 0 } },
		{ "a;b 20", 2, FOLDED_ONE_COUNT, NULL, { 0 }, { 0 } },
		{ "10 20", 2, FOLDED_ONE_COUNT, NULL, { 0 }, { 0 } },
		{ " 10 20", 2, FOLDED_ONE_COUNT, NULL, { 0 }, { 0 } },
		{ "a;b -1 20", 2, FOLDED_NEGATIVE, NULL, { 0 }, { 0 } },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct folded_line l = { .stack = "untouched" };
		enum folded_kind kind = folded_line_read(cases[i].in, strlen(cases[i].in),
							 cases[i].n_counts, &l);

		cr_expect_eq(kind, cases[i].kind, "%s: %s", cases[i].in, folded_problem(kind));
		if (kind != FOLDED_STACK) {
			cr_expect_str_eq(l.stack, "untouched");
			continue;
		}
		cr_expect_eq(l.n, strlen(cases[i].stack), "%s: %zu", cases[i].in, l.n);
		cr_expect_eq(memcmp(l.stack, cases[i].stack, l.n), 0, "%s", cases[i].in);
		for (unsigned k = 0; k < cases[i].n_counts; k++) {
			cr_expect_eq(l.count[k].whole, cases[i].whole[k], "%s", cases[i].in);
			cr_expect_eq(l.count[k].parts, cases[i].parts[k], "%s", cases[i].in);
		}
	}
}

/* A profile as text: "EVENT: a;b 12" per stack and event, sorted and merged; then losses. */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *stack_text(const struct profile *p, uint32_t stack)
{
	struct stack_columns stacks;
	struct location_columns locations;
	char *text = NULL;

	profile_stacks(p, &stacks);
	profile_locations(p, &locations);
	for (; stack != 0; stack = stacks.parent[stack]) {
		uint32_t f = location_function(&locations, stacks.location[stack]);
		string_id name = profile_function(p, (function_id){ f })->name;
		char *longer = xasprintf("%s%s%s", profile_string(p, name, NULL), text ? ";" : "",
					 text ? text : "");

		free(text);
		text = longer;
	}
	return text ? text : xstrdup("");
}

static char *join(char **line, size_t n)
{
	size_t len = 0;
	char *all;

	for (size_t i = 0; i < n; i++)
		len += strlen(line[i]) + 1;
	all = xmalloc(len + 1);
	all[0] = '\0';
	len = 0;
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(all + len, "%s\n", line[i]);
	return all;
}

static char *profile_text(const struct profile *p)
{
	VEC(char *) lines = { 0 };
	struct profile_counts counts;
	struct sample_columns s;
	char number[FMT_SIZE], *all;

	profile_counts_read(p, &counts);
	profile_samples(p, &s);
	for (uint64_t i = 0; i < counts.n_samples; i++) {
		const struct event *e = profile_event(p, (event_id){ s.event ? s.event[i] : 0 });
		const char *event = profile_string(p, e->name, NULL);
		char *stack = stack_text(p, s.stack[i]);
		bool plain = strcmp(event, "samples") == 0;

		fmt_exact(number, s.weight ? s.weight[i] : e->scale, e->scale);
		vec_push(&lines, xasprintf("%s%s%s %s", plain ? "" : event, plain ? "" : ": ",
					   stack, number));
		free(stack);
	}
	if (lines.n > 0)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	for (uint32_t i = 0; i < counts.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (f.kind == FACT_LOSS)
			vec_push(&lines, xasprintf("! %s: %s", profile_string(p, f.name, NULL),
						   profile_string(p, f.text, NULL)));
	}
	all = join(lines.at, lines.n);
	for (size_t i = 0; i < lines.n; i++)
		free(lines.at[i]);
	vec_done(&lines);
	return all;
}

/* The stacks, each with the sum of its counts. */
static char *merged_text(const struct profile *p)
{
	VEC(char *) lines = { 0 };
	struct profile_counts counts;
	struct sample_columns s;
	int64_t *sum;
	char *all;

	profile_counts_read(p, &counts);
	profile_samples(p, &s);
	sum = xcalloc(counts.n_stacks, sizeof(*sum));
	for (uint64_t i = 0; i < counts.n_samples; i++)
		sum[s.stack[i]] += s.weight ? s.weight[i] : 1;
	for (uint32_t i = 0; i < counts.n_stacks; i++)
		if (sum[i] != 0) {
			char *stack = stack_text(p, i);

			vec_push(&lines, xasprintf("%s|%" PRId64, stack, sum[i]));
			free(stack);
		}
	qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	all = join(lines.at, lines.n);
	for (size_t i = 0; i < lines.n; i++)
		free(lines.at[i]);
	vec_done(&lines);
	free(sum);
	return all;
}

static int read_into(struct profile *p, struct input *in, struct err *e)
{
	capture_id c;

	builder_begin(p);
	c = build_capture(p, input_name(in), "folded");
	builder_end(p);
	return format_folded.read(in, p, c, NULL, NULL, e);
}

/* What reading gives, as text; an error's sentence if it fails. */
static char *read_text(const void *bytes, size_t n)
{
	struct profile *p = profile_new();
	struct input *in = input_of_bytes(bytes, n, "x");
	struct err e = ERR_INIT;
	int rc = read_into(p, in, &e);
	char *text;

	cr_assert_eq(rc, e.code);
	text = rc < 0 ? xasprintf("error: %s\n", err_text(&e)) : profile_text(p);
	err_clear(&e);
	input_close(in);
	profile_free(p);
	return text;
}

Test(folded, read)
{
	static const struct {
		const char *what, *in;
		size_t n;
		const char *out;
	} cases[] = {
		{ "two stacks share a root", BYTES("a;b 3\na;c 1\n"), "a;b 3\na;c 1\n" },
		{ "a stack ends where another goes on", BYTES("a;b;c 1\na;b 2\na;b;c;d 3\na 4\n"),
		  "a 4\na;b 2\na;b;c 1\na;b;c;d 3\n" },
		{ "equal beginnings of names are not equal frames",
		  BYTES("ab;cd 1\nab;c 2\nab;cde 3\na 4\nab 5\nabc 6\nab;cd;e 7\n"),
		  "a 4\nab 5\nab;c 2\nab;cd 1\nab;cd;e 7\nab;cde 3\nabc 6\n" },
		{ "the same line twice", BYTES("a;b 3\na;b 4\n"), "a;b 7\n" },
		{ "the same line later, in fractions", BYTES("a;b 3\nc 1\na;b 4.5\nc 0.25\n"),
		  "a;b 7.5\nc 1.25\n" },
		{ "CRLF, blank lines, comments", BYTES("# x\r\n\r\na;b 1\r\n#y 3\r\na 2\r\n"),
		  "a 2\na;b 1\n" },
		{ "no newline at the end", BYTES("a 1\na;b 2"), "a 1\na;b 2\n" },
		{ "UTF-8 with a mark",
		  BYTES("\xef\xbb\xbf"
			"a;日 1\n"),
		  "a;日 1\n" },
		{ "UTF-16",
		  BYTES("\xff\xfe"
			"a\0;\0\xe5\x65 \0002\0\r\0\n\0a\0 \0001\0"),
		  "a 1\na;日 2\n" },
		{ "UTF-16 of the other order",
		  BYTES("\xfe\xff"
			"\0a\0;\x65\xe5\0 \0002\0\r\0\n\0a\0 \0001"),
		  "a 1\na;日 2\n" },
		{ "bytes that are no UTF-8 are kept", BYTES("a;\xff\xfe;b 2\n"),
		  "a;\xff\xfe;b 2\n" },
		{ "fractions", BYTES("a 2\na;b 1.5\nc 0.25\n"), "a 2\na;b 1.5\nc 0.25\n" },
		{ "too many digits", BYTES("a 0.1234567\n"),
		  "a 0.123457\n! rounded counts: 1 line with more digits than are kept\n" },
		{ "fractions with sums too large for them",
		  BYTES("a 9000000000000000000\nb 1.5\nb 1.25\n"),
		  "a 9000000000000000000\nb 3\n! rounded counts: 2 lines with more digits "
		  "than are kept\n" },
		{ "a sum that is too large", BYTES("a 9000000000000000000\nb 900000000000000000\n"),
		  "a 9000000000000000000\n! malformed lines: 1 line skipped: line 2 makes the sum "
		  "of counts too large\n" },
		{ "empty frames", BYTES("a;;b 1\n;x 2\ny; 3\n; 4\n;;y 5\n"),
		  " 4\n;;y 5\n;x 2\na;;b 1\ny 3\n" },
		{ "two counts", BYTES("a;b 10 20\na;c 5 0\na;d 0 1.5\n"),
		  "after: a;b 20\nafter: a;d 1.5\nbefore: a;b 10\nbefore: a;c 5\n" },
		{ "numbers at the end of some names", BYTES("a;b 10 20\na;c 5\n"),
		  "a;b 10 20\na;c 5\n" },
		{ "zero weighs nothing", BYTES("a;b 0\na;c 1\n"), "a;c 1\n" },
		{ "malformed lines",
		  BYTES("a;b;c\na;b 2\n5\na -1\n# fine\nx\ny\nz\na 99999999999999999999\n"
			"a;b 2\na;b 2\na;b 2\na;b 2\na;b 2\na;b 2\n"),
		  "a;b 14\n! malformed lines: 7 lines skipped: line 1 has no count, line 3 has a "
		  "count and no stack, line 4 has a negative count, line 6 has no count, line 7 "
		  "has no count, …\n" },
		{ "most lines malformed", BYTES("a;b;c\na;b 2\nx\ny\n"),
		  "error: x: 3 of its 4 lines are no stacks with a count: line 1 has no count\n" },
		{ "indented numbers", BYTES("  id 12\n  value 99999999\na 3\n"),
		  "error: x: 2 of its 3 lines are no stacks with a count: line 1 is indented and no "
		  "stack\n" },
		{ "indented numbers with a large sum",
		  BYTES("  id 9223372036854775807\n  value 9223372036854775807\nx\n"),
		  "error: x: 3 of its 3 lines are no stacks with a count: line 1 is indented and no "
		  "stack\n" },
		{ "samples of threads without a frame", BYTES("a;b 3\n 1\n 1\n"), " 2\na;b 3\n" },
		{ "not one good line", BYTES("\n\nhello\nworld\n"),
		  "error: x: there is no stack in it; line 3 has no count\n" },
		{ "only comments", BYTES("# a 1\n\n"),
		  "error: x: there is no stack in its 2 lines\n" },
		{ "nothing", BYTES(""), "error: x: there is no stack in its 0 lines\n" },
		{ "an embedded NUL", BYTES("a;b\0c 3\n"), "a;b\001c 3\n" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *out = read_text(cases[i].in, cases[i].n);

		cr_expect_str_eq(out, cases[i].out, "%s: %s", cases[i].what, out);
		free(out);
	}
}

/* A file cut anywhere, after a good line, opens with what is left of it. */
Test(folded, cut_anywhere)
{
	static const char text[] = "main;a 1\nmain;b;c 22\n# x\nmain;b;d 33.5\nbad\nmain 4\n";

	for (size_t n = 0; n < sizeof(text); n++) {
		char *out = read_text(text, n);

		if (n < 8)
			cr_expect_eq(strncmp(out, "error: x: ", 10), 0, "%zu: %s", n, out);
		else
			cr_expect(strstr(out, "main;a 1\n"), "%zu: %s", n, out);
		free(out);
	}
}

Test(folded, annotations_give_modules)
{
	static const char text[] = "java;Lfoo:::bar_[j];sys_read_[k];vfs_[k];x_[i];[unknown] 1\n";
	struct input *in = input_of_bytes(text, sizeof(text) - 1, "x");
	struct profile *p = profile_new();
	struct profile_counts counts;
	unsigned seen = 0;

	cr_assert_eq(read_into(p, in, NULL), 0);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_functions; i++) {
		const struct function *f = profile_function(p, (function_id){ i });
		const struct module *m = profile_module(p, f->module);
		const char *name = profile_string(p, f->name, NULL);
		const char *suffix = strrchr(name, '_');
		enum family family = FAMILY_UNKNOWN;

		if (suffix && strcmp(suffix, "_[k]") == 0)
			family = FAMILY_KERNEL;
		else if (suffix && strcmp(suffix, "_[j]") == 0)
			family = FAMILY_JIT;
		cr_expect_eq(m->family, family, "%s", name);
		cr_expect_eq((f->flags & FUNCTION_UNRESOLVED) != 0, strcmp(name, "[unknown]") == 0);
		seen += family != FAMILY_UNKNOWN;
	}
	cr_assert_eq(seen, 3);
	input_close(in);
	profile_free(p);
}

/* Stacks of 100,000 frames; twice, so that all of the first is found again. */
Test(folded, deep_stacks)
{
	struct profile *p = profile_new();
	struct profile_counts counts;
	VEC(char) text = { 0 };
	struct input *in;

	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < 100000; i++) {
			vec_reserve(&text, text.n + 20);
			text.n += (size_t)sprintf(text.at + text.n, "%sf%u", i ? ";" : "", i % 7);
		}
		vec_reserve(&text, text.n + 4);
		memcpy(text.at + text.n, " 1\n", 3);
		text.n += 3;
	}
	in = input_of_bytes(text.at, text.n, "deep");
	cr_assert_eq(read_into(p, in, NULL), 0);
	profile_counts_read(p, &counts);
	cr_assert_eq(counts.n_stacks, 100001);
	cr_expect_leq(counts.n_samples, 2); /* one if both were published together */
	input_close(in);
	profile_free(p);
	vec_done(&text);
}

Test(folded, stacks_too_deep_and_lines_too_long)
{
	const size_t n = LINES_MOST_BYTES + 10;
	struct profile *p = profile_new();
	char *text = xmalloc(n + 700000 + 10), *out;
	struct input *in;

	memcpy(text, "a 1\n", 4);
	memset(text + 4, 'x', n);
	text[n] = '\n';
	for (size_t i = 0; i < 300000; i++)
		memcpy(text + n + 1 + 2 * i, "f;", 2);
	memcpy(text + n + 600001, " 1\n", 3);
	memcpy(text + n + 600004, "a;b 2\n", 6);
	in = input_of_bytes(text, n + 600010, "x");
	cr_assert_eq(read_into(p, in, NULL), 0);
	out = profile_text(p);
	cr_assert_str_eq(out, "a 1\na;b 2\n! malformed lines: 2 lines skipped: line 2 is too long, "
			      "line 3 is too deep\n");
	free(out);
	input_close(in);
	profile_free(p);
	free(text);
}

/* Lines that cross blocks: the previous line's frames are still known. */
Test(folded, many_blocks_equal_one_line_at_a_time)
{
	struct profile *p = profile_new();
	VEC(char) text = { 0 };
	uint64_t sum = 0, n_lines = 0;
	struct profile_counts counts;
	struct sample_columns s;
	struct input *in;
	uint32_t x = 1;

	while (text.n < 5 << 20) {
		x = x * 1664525 + 1013904223;
		vec_reserve(&text, text.n + 200);
		text.n += (size_t)sprintf(text.at + text.n, "main;run_%u;step_%u;leaf_%u %u\n",
					  x >> 30, x >> 28, x >> 24, x >> 22);
		sum += x >> 22;
		n_lines++;
	}
	in = input_of_bytes(text.at, text.n, "x");
	cr_assert_eq(read_into(p, in, NULL), 0);
	profile_counts_read(p, &counts);
	profile_samples(p, &s);
	for (uint64_t i = 0; i < counts.n_samples; i++)
		sum -= (uint64_t)s.weight[i];
	cr_assert_eq(sum, 0);
	cr_expect_lt(counts.n_samples, n_lines / 16); /* one a stack and block */
	/* root, main, 4, 16 below these, 256 below those */
	cr_assert_eq(counts.n_stacks, 1 + 1 + 4 + 16 + 256);
	input_close(in);
	profile_free(p);
	vec_done(&text);
}

Test(folded, can_be_stopped)
{
	struct progress progress = { .cancel = true };
	struct input *in = input_of_bytes("a 1\n", 4, "x");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;

	cr_assert_eq(format_folded.read(in, p, (capture_id){ 0 }, NULL, &progress, &e), -ECANCELED);
	err_clear(&e);
	input_close(in);
	profile_free(p);
}

/* A second file joins the first's events, whatever their scale has become. */
Test(folded, two_files_in_one_profile)
{
	struct input *a = input_of_bytes("a 1.5\n", 6, "a"), *b = input_of_bytes("b 2\n", 4, "b");
	struct profile *p = profile_new();
	char *out;

	cr_assert_eq(read_into(p, a, NULL), 0);
	cr_assert_eq(read_into(p, b, NULL), 0);
	out = profile_text(p);
	cr_assert_str_eq(out, "a 1.5\nb 2\n");
	free(out);
	input_close(a);
	input_close(b);
	profile_free(p);
}

/* What came before the damage of a packed file is kept, and the loss stated. */
Test(folded, damaged_packing)
{
	static const char head[] = "a;b 3\n";
	VEC(char) gz = { 0 };
	char *out;

	/* a stored block of deflate, of which the end is missing */
	vec_reserve(&gz, 64);
	memcpy(gz.at, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x10\0\xef\xff", 15);
	memcpy(gz.at + 15, head, sizeof(head) - 1);
	out = read_text(gz.at, 15 + sizeof(head) - 1);
	cr_assert_str_eq(out,
			 "a;b 3\n! rest of the file: x: gzip data end too early, at byte 21 of "
			 "the file\n");
	free(out);
	vec_done(&gz);
}

Test(folded, collapsed_names)
{
	static const struct {
		const char *label;
		bool java;
		const char *frames;
	} cases[] = {
		{ "main", false, "main" },
		{ "Parser::read(Slice, int)", false, "Parser::read" },
		{ "a::(anonymous namespace)::f(int)", false, "a::(anonymous namespace)::f" },
		{ "(anonymous namespace)::f(int)", false, "(anonymous namespace)::f" },
		{ "(main chunk)", false, "(main chunk)" },
		{ "(f)(int)", false, "(f)" },
		{ "(a)->(anonymous namespace)::b(int)", false, "(a);(anonymous namespace)::b_[i]" },
		{ "x::operator()(int) const", false, "x::operator" },
		{ "x::operator->() const", false, "x::operator;_[i]" },
		{ "a(int)->b(char)->c_[i]", false, "a;b_[i];c_[i]" },
		{ "a->", false, "a" },
		{ "s::size() const@plt", false, "s::size@plt" },
		{ "free@plt", false, "free@plt" },
		{ "a.(b).c(d)", false, "a.(b).c(d)" },
		{ "f<char ';'>", false, "f<char :>" },
		{ "\"quoted\"'s", false, "quoteds" },
		{ "Ljava/lang/String;::x", true, "java/lang/String:::x" },
		{ "Ljava/lang/String", false, "Ljava/lang/String" },
		{ "Load", true, "Load" },
		{ "", false, "" },
	};
	char *comm = folded_collapse_comm("my prog;x (a)'");

	cr_expect_str_eq(comm, "my_prog:x_(a)'");
	free(comm);
	for (size_t i = 0; i < N(cases); i++) {
		char *frames = folded_collapse_frame(cases[i].label, cases[i].java);

		cr_expect_str_eq(frames, cases[i].frames, "%s: %s", cases[i].label, frames);
		free(frames);
	}
}

/* What the writer makes of a profile, by way of a lens that shows everything. */
Test(folded, round_trip)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a;b 3\na;c 1\n", "a;b 3\na;c 1\n" },
		/* in the order of bytes, where a blank comes before ';' */
		{ "a;x 1\na b;x 2\na 3\na:b 4\nab 5\n", "a 3\na b;x 2\na:b 4\na;x 1\nab 5\n" },
		{ "b 1\na 2\nb 3\n", "a 2\nb 4\n" },
		{ "f(int, char) 1\noperator()(x);\"q\" 2\n",
		  "f(int, char) 1\noperator()(x);\"q\" 2\n" },
		{ "a;b 1.5\na 2\n", "a 2\na;b 1.5\n" },
		{ "a;;b 1\n;x 2\ny; 3\n; 4\n", "; 4\n;x 2\na;;b 1\ny 3\n" },
		{ "a;f_[k] 1\na;f 2\na;f_[j] 3\n", "a;f 2\na;f_[j] 3\na;f_[k] 1\n" },
		{ "my prog;x 4\n", "my prog;x 4\n" },
		{ ";;; 4\n", "; 4\n" },
		{ ";;y;; 5\n;y 1\n", ";;y 5\n;y 1\n" },
		{ "a;  ;b 1\n", "a;  ;b 1\n" },
		{ "a ;b  ;c   2\n", "a ;b  ;c 2\n" },
		{ "a;b 10 20\na;c 5\n", "a;b 10 20\na;c 5\n" },
		{ "worker 1; 3\nworker 2; 4\n", "worker 1; 3\nworker 2 4\n" },
		{ "a;7 1\na;x 7; 1\n", "a;7 1\na;x 7 1\n" },
		{ "a;\x1b[31mred;\xff 3\n", "a;\uFFFD[31mred;\uFFFD 3\n" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct input *in = input_of_bytes(cases[i].in, strlen(cases[i].in), "x");
		struct profile *p = profile_new();
		char *out;

		cr_assert_eq(read_into(p, in, NULL), 0);
		out = written_folded(p, NULL, false);
		cr_expect_str_eq(out, cases[i].out, "case %zu: %s", i, out);
		free(out);
		input_close(in);
		profile_free(p);
	}
}

static uint32_t next_number(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* A file of a few lines whose frames are of all kinds that are hard to tell apart. */
static size_t make_lines(char *text, uint32_t *seed)
{
	static const char *const frames[] = {
		"a",     "b",     "",         "  ",   "x ",  "y  ", " z", "f 12", "7",
		"3.5",   "1 2",   "-4",       "a -4", "a b", ";",   "->", "x->y", "operator()(int)",
		"\"q\"", "f_[k]", "\xc3\xa9", "L/j;",
	};
	size_t n = 0;

	for (uint32_t lines = 1 + next_number(seed, 4); lines > 0; lines--) {
		for (uint32_t i = next_number(seed, 5), k = 0; k <= i; k++)
			n += (size_t)sprintf(text + n, "%s%s", k ? ";" : "",
					     frames[next_number(seed, N(frames))]);
		n += (size_t)sprintf(text + n, "; %u\n", 1 + next_number(seed, 9));
	}
	return n;
}

/* What is read, written and read again is the same stacks with the same counts. */
Test(folded, round_trip_of_generated_lines)
{
	uint32_t seed = 1;

	for (unsigned i = 0; i < 3000; i++) {
		char text[1024];
		size_t n = make_lines(text, &seed);
		struct profile *first = profile_new(), *second = profile_new();
		struct input *in = input_of_bytes(text, n, "x");
		char *once, *twice;

		cr_assert_eq(read_into(first, in, NULL), 0, "%s", text);
		input_close(in);
		once = written_folded(first, NULL, false);
		in = input_of_bytes(once, strlen(once), "x");
		cr_assert_eq(read_into(second, in, NULL), 0, "%s", once);
		input_close(in);
		twice = written_folded(second, NULL, false);
		cr_assert_str_eq(once, twice, "from %s", text);
		free(twice);
		twice = merged_text(second);
		free(once);
		once = merged_text(first);
		cr_assert_str_eq(once, twice, "from %s", text);
		free(once);
		free(twice);
		profile_free(first);
		profile_free(second);
	}
}

/* Small files of every kind, as they are and damaged. */
Test(folded, data_and_its_variations)
{
	glob_t found;

	cr_assert_eq(glob(TEST_DATA "/folded/*", 0, NULL, &found), 0);
	cr_assert_geq(found.gl_pathc, 15);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct profile *p = profile_new();
		struct err e = ERR_INIT;
		struct input *in;
		uint8_t bytes[4096];
		ssize_t n;

		cr_assert_eq(input_open(found.gl_pathv[i], &in, NULL), 0);
		n = input_pread(in, bytes, sizeof(bytes), 0, NULL);
		cr_assert(format_probe(in, &e) == &format_folded, "%s", err_text(&e));
		cr_assert_eq(read_into(p, in, &e), 0, "%s", err_text(&e));
		input_close(in);
		profile_free(p);
		cr_assert(n > 0 && n < (ssize_t)sizeof(bytes));
		fuzz_vary(fuzz_folded, bytes, (size_t)n, 200);
	}
	globfree(&found);
}

/* The corpus: lines of a file, sorted and merged by hand, are what comes out again. */

static char *read_file(const char *path, size_t *n)
{
	struct input *in;
	VEC(char) text = { 0 };
	ssize_t got = 1;

	cr_assert_eq(input_open(path, &in, NULL), 0);
	while (got > 0) {
		vec_reserve(&text, text.n + 65536 + 1);
		got = input_read(in, text.at + text.n, 65536, NULL);
		text.n += got > 0 ? (size_t)got : 0;
	}
	text.at[text.n] = '\0';
	*n = text.n;
	input_close(in);
	return text.at;
}

/* The lines of text, sorted; those of equal stacks must not occur. */
static char *sorted_lines(char *text)
{
	VEC(char *) lines = { 0 };
	char *save = NULL, *all;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		vec_push(&lines, l);
	if (lines.n > 0)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	all = join(lines.at, lines.n);
	vec_done(&lines);
	return all;
}

Test(folded, round_trip_of_the_corpus)
{
	static const char *const patterns[] = { CORPUS "/made/folded/[a-w]*.folded",
						CORPUS "/simpleperf/testdata/*.foldedstack*",
						CORPUS "/made/folded/x_spaces_in_names.folded",
						CORPUS "/made/folded/x_deep.folded",
						CORPUS "/made/folded/x_wide.folded",
						CORPUS "/FlameGraph/test/results/*.txt" };
	size_t n_files = 0;

	for (size_t k = 0; k < N(patterns); k++) {
		glob_t found;

		if (glob(patterns[k], 0, NULL, &found) != 0)
			continue;
		for (size_t i = 0; i < found.gl_pathc; i++) {
			struct profile *p = profile_new();
			char *want, *text, *got, *got_sorted;
			struct input *in;
			size_t n;

			text = read_file(found.gl_pathv[i], &n);
			in = input_of_bytes(text, n, found.gl_pathv[i]);
			if (n > 0 &&
			    format_folded.probe((uint8_t *)text, n < 65536 ? n : 65536) > 0) {
				cr_assert_eq(read_into(p, in, NULL), 0);
				got = written_folded(p, NULL, false);
				got_sorted = sorted_lines(got);
				want = sorted_lines(text);
				cr_expect(strcmp(got_sorted, want) == 0, "%s", found.gl_pathv[i]);
				free(got);
				free(got_sorted);
				free(want);
				n_files++;
			} else {
				cr_expect_eq(n, 0, "%s is not recognised", found.gl_pathv[i]);
			}
			input_close(in);
			profile_free(p);
			free(text);
		}
		globfree(&found);
	}
	if (n_files == 0)
		cr_skip_test("no corpus");
}
