/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/file_type_hint.h"
#include "formats/format.h"
#include "input/input.h"
#include "input/lines.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BYTES(s) s, sizeof(s) - 1
#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(formats, by_name)
{
	for (size_t i = 0; formats[i]; i++) {
		cr_assert_eq(format_by_name(formats[i]->name), formats[i]);
		cr_assert_not_null(formats[i]->title);
		cr_assert(formats[i]->read || formats[i]->write);
		cr_assert_eq(!formats[i]->read, !formats[i]->probe);
	}
	cr_assert_not_null(format_by_name("folded"));
	cr_assert_null(format_by_name("Folded"));
	cr_assert_null(format_by_name(""));
}

Test(formats, probe)
{
	static const struct {
		const char *in;
		size_t n;
		const char *format; /* NULL: none, and then the sentence */
		const char *text;
	} cases[] = {
		{ BYTES("a;b;c 1\na;b 2\n"), "folded", NULL },
		{ BYTES("a;b 1.5"), "folded", NULL },
		{ BYTES("\xef\xbb\xbf"
			"a;b 1\n"),
		  "folded", NULL },
		{ BYTES("\xff\xfe"
			"a\0;\0b\0 \0001\0\n\0"),
		  "folded", NULL },
		{ BYTES("\xfe\xff"
			"\0a\0;\0b\0 \0001\0\n"),
		  "folded", NULL },
		{ BYTES("# made by x\n\na;b 1\r\n"), "folded", NULL },
		{ BYTES("main 1\nf (x.py:3) 2\n"), "folded", NULL },
		{ BYTES("a;b;c\na;b 2\n"), "folded", NULL },
		{ BYTES("[unknown];f 3\n"), "folded", NULL },
		{ BYTES("\x01\x02 a;b 3\n"), "folded", NULL },
		{ BYTES(""), NULL, "x: is empty" },
		{ BYTES("\n"), "folded", NULL },
		{ BYTES("{\"a;b\": 1\n}"), NULL, "JSON" },
		{ BYTES("  [\n{\"x\":\n1\n"), NULL, "JSON" },
		{ BYTES("[[1, 2]]"), NULL, "JSON" },
		{ BYTES("\x7f"
			"ELF\2\1\1"),
		  NULL, "an ELF file" },
		{ BYTES("<html>a;b 3"), NULL, "HTML" },
		{ BYTES("memray\0\1\2\3"), NULL, "a memray file" },
		{ BYTES("\x04\x22\x4d\x18\x40\x40"), NULL, "lz4 data, as memray writes" },
		{ BYTES("<?xml version=\"1.0\"?>\n<svg/>"), NULL, "an SVG picture" },
		{ BYTES("v 10500 3\nX ./prog\ns 4 main\nt 1 0\n+ 1\n"), "heaptrack", NULL },
		{ BYTES("desc: (none)\ncmd: ./a\ntime_unit: i\nsnapshot=0\n"), "massif", NULL },
		{ BYTES("version: 1\ncreator: callgrind\nfn=(1) main\n16 400\n"), "callgrind",
		  NULL },
		{ BYTES("prog  812 1.5: 250000 cycles: \n\t    55d0c0 main+0x1 (/bin/prog)\n"
			"\t 7f00aa __libc_start_main (/lib/libc.so.6)\n\n"
			"prog;x  812 1.5: 250000 cycles: \n\t    55d0c0 main+0x1 (/bin/prog)\n"),
		  "perf-script", NULL },
		{ BYTES("a  812 [001] 1.5: raw_syscalls:sys_exit: NR 59 = 0\n"), "perf-script",
		  NULL },
		{ BYTES("\0\1\2\3\4\5\6\7a;b 3\n\0\0\0"), NULL, "binary data" },
		/* the last resort for text: reading will tell */
		{ BYTES("It was a dark night\nand no stack\nwas in sight; 3\nat all\n"), "folded",
		  NULL },
		{ BYTES("@[\n    foo+1\n    bar+2\n]: 12\n"), NULL, "bpftrace" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct input *in = input_of_bytes(cases[i].in, cases[i].n, "x");
		struct err e = ERR_INIT;
		const struct format *f = format_probe(in, &e);

		if (cases[i].format) {
			cr_expect(f && strcmp(f->name, cases[i].format) == 0, "case %zu: %s", i,
				  err_text(&e));
		} else {
			cr_expect_null(f, "case %zu", i);
			cr_expect(strstr(err_text(&e), cases[i].text), "case %zu: %s", i,
				  err_text(&e));
		}
		err_clear(&e);
		input_close(in);
	}
}

Test(formats, probe_of_packed_nothing)
{
	/* gzip of no bytes */
	static const uint8_t gz[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3,
				      3,    0,    0, 0, 0, 0, 0, 0, 0, 0 };
	struct input *in = input_of_bytes(gz, sizeof(gz), "x.gz");
	struct err e = ERR_INIT;

	cr_assert_null(format_probe(in, &e));
	cr_assert_str_eq(err_text(&e), "x.gz: there is nothing in its gzip data");
	err_clear(&e);
	input_close(in);
	in = input_of_bytes(gz, sizeof(gz) - 3, "x.gz");
	cr_assert_null(format_probe(in, &e));
	cr_assert(strstr(err_text(&e), "end too early"), "%s", err_text(&e));
	err_clear(&e);
	input_close(in);
}

/* Text is tried as the last resort: stacks behind a long log open, what has none is one sentence. */
Test(formats, text_that_may_hold_stacks)
{
	static const struct {
		const char *what, *line; /* of the head, many times */
		unsigned n;              /* how often */
		const char *stacks;      /* behind it */
		const char *text;        /* of the error; NULL: there is none */
	} cases[] = {
		{ "a log, then stacks", "12:00:00 [info] a request took 12 ms\n", 3000,
		  "main;a;b 12\nmain;a;c 3\nmain;d 4\nmain 3\nmain;e 1\nmain;f 1\n", NULL },
		{ "a log whose lines end in numbers",
		  "12:00:00 [info] answered with 200\nand so on\n"
		  "and on\n",
		  3000, "main;a;b 12\nmain;a;c 3\nmain;d 4\nmain;b 3\nmain;e 1\nmain;f 1\n", NULL },
		{ "only the log", "12:00:00 [info] a request took 12 ms\n", 5000, "",
		  "x: there is no stack in it; line 1 has no count" },
		{ "numbers here and there", "one\ntwo; 2\nthree\nfour\n", 500, "",
		  "x: 1500 of its 2000 lines are no stacks with a count: line 1 has no count" },
		{ "a table", "a\tb=1;c=2\ne\tf\ne\tf\nd\t4\n", 500, "a\tb=1;c=2\t3\n",
		  "x: 1500 of its 2001 lines are no stacks with a count: line 1 has no count" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *text = NULL;
		size_t n_text;
		FILE *f = open_memstream(&text, &n_text);
		struct profile *p = profile_new();
		struct err e = ERR_INIT;
		const struct format *format;
		struct input *in;
		capture_id c;

		for (unsigned k = 0; k < cases[i].n; k++)
			fputs(cases[i].line, f);
		fputs(cases[i].stacks, f);
		fclose(f);
		in = input_of_bytes(text, n_text, "x");
		format = format_probe(in, &e);
		cr_assert_eq(format, format_by_name("folded"), "%s", cases[i].what);
		builder_begin(p);
		c = build_capture(p, "x", "folded");
		builder_end(p);
		cr_expect_eq(format->read(in, p, c, NULL, NULL, &e), cases[i].text ? -EBADMSG : 0,
			     "%s", cases[i].what);
		cr_expect(cases[i].text ? strstr(err_text(&e), cases[i].text) != NULL : e.code == 0,
			  "%s: %s", cases[i].what, err_text(&e));
		err_clear(&e);
		input_close(in);
		profile_free(p);
		free(text);
	}
}

/* Other files of the corpus are not taken for folded ones. */
Test(formats, probe_of_the_corpus)
{
	static const struct {
		const char *path;
		bool folded;
	} cases[] = {
		{ "/made/folded/fp_threads.folded", true },
		{ "/made/folded/java.addrs.folded", true },
		{ "/made/folded/x_crlf.folded", true },
		{ "/made/folded/x_deep.folded", true },
		{ "/made/folded/x_diff_two_columns.folded", true },
		{ "/made/folded/x_empty_frames.folded", true },
		{ "/made/folded/x_escape.folded", true },
		{ "/made/folded/x_invalid_utf8.folded", true },
		{ "/made/folded/x_negative.folded", true },
		{ "/made/folded/x_no_count.folded", true },
		{ "/made/folded/x_spaces_in_names.folded", true },
		{ "/made/folded/x_tabs.folded", true },
		{ "/flamelens/data/invalid-lines.txt", true },
		{ "/flamelens/data/py-spy-simple.txt", true },
		{ "/flamelens/data/readable.txt", true },
		{ "/simpleperf/testdata/perf_with_jit_symbol.foldedstack", true },
		{ "/made/folded/x_empty.folded", false },
		{ "/inferno_check.py", false },
	};

	if (access(CORPUS "/made/folded", R_OK) != 0)
		cr_skip_test("no corpus");
	for (size_t i = 0; i < N(cases); i++) {
		char *path = xasprintf("%s%s", CORPUS, cases[i].path);
		struct err e = ERR_INIT;
		const struct format *f;
		struct input *in;

		cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
		f = format_probe(in, &e);
		cr_expect_eq(f == format_by_name("folded"), cases[i].folded, "%s: %s", path,
			     err_text(&e));
		err_clear(&e);
		input_close(in);
		free(path);
	}
}

Test(lines, utf16)
{
	static const struct {
		const char *what, *in;
		size_t n;
		bool last;
		const char *out; /* from little endian */
		size_t taken;
	} cases[] = {
		{ "ASCII", BYTES("a\0;\0"), false, "a;", 4 },
		{ "three bytes of UTF-8", BYTES("\xac\x20"), false, "€", 2 },
		{ "a pair", BYTES("\x3d\xd8\x25\xdd"), false, "\xf0\x9f\x94\xa5", 4 },
		{ "half a pair, more may come", BYTES("a\0\x3d\xd8"), false, "a", 2 },
		{ "half a pair at the end", BYTES("a\0\x3d\xd8"), true, "a\uFFFD", 4 },
		{ "a high one alone",
		  BYTES("\x3d\xd8"
			"a\0"),
		  false, "\uFFFDa", 4 },
		{ "a low one alone",
		  BYTES("\x25\xdd"
			"a\0"),
		  false, "\uFFFDa", 4 },
		{ "half a unit", BYTES("a\0b"), false, "a", 2 },
		{ "half a unit at the end", BYTES("a\0b"), true, "a\uFFFD", 3 },
		{ "nothing", BYTES(""), true, "", 0 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *out = xmalloc(2 * cases[i].n + 4), swapped[8];
		size_t taken, n;

		n = lines_from_utf16((const uint8_t *)cases[i].in, cases[i].n, false, cases[i].last,
				     out, &taken);
		cr_assert_eq(taken, cases[i].taken, "%s", cases[i].what);
		cr_assert_eq(n, strlen(cases[i].out), "%s", cases[i].what);
		cr_assert_eq(memcmp(out, cases[i].out, n), 0, "%s", cases[i].what);
		for (size_t k = 0; k + 1 < cases[i].n; k += 2) {
			swapped[k] = cases[i].in[k + 1];
			swapped[k + 1] = cases[i].in[k];
		}
		if (cases[i].n % 2 == 0) {
			n = lines_from_utf16((const uint8_t *)swapped, cases[i].n, true,
					     cases[i].last, out, &taken);
			cr_assert_eq(n, strlen(cases[i].out), "%s", cases[i].what);
			cr_assert_eq(memcmp(out, cases[i].out, n), 0, "%s", cases[i].what);
		}
		free(out);
	}
}

/* Blocks are of 1 MiB: lines across their borders, and around the longest that is held. */
Test(lines, borders_and_the_longest)
{
	static const size_t lengths[] = { (1 << 20) - 1,
					  1 << 20,
					  3,
					  LINES_MOST_BYTES,
					  LINES_MOST_BYTES + 1,
					  0,
					  LINES_MOST_BYTES + (3 << 20),
					  5 };
	struct lines l;
	struct input *in;
	VEC(char) text = { 0 };
	size_t k = 0, n;
	const char *s;

	for (size_t i = 0; i < N(lengths); i++) {
		vec_reserve(&text, text.n + lengths[i] + 1);
		memset(text.at + text.n, 'a' + (int)i, lengths[i]);
		text.n += lengths[i];
		if (i + 1 < N(lengths))
			text.at[text.n++] = '\n';
	}
	in = input_of_bytes(text.at, text.n, "long");
	lines_init(&l, in);
	for (int rc = 1; rc > 0;) {
		rc = lines_fill(&l, NULL);
		cr_assert_geq(rc, 0);
		for (; lines_next(&l, &s, &n); k++) {
			cr_assert_lt(k, N(lengths));
			cr_assert_eq(s == NULL, lengths[k] > LINES_MOST_BYTES, "line %zu", k);
			if (!s)
				continue;
			cr_assert_eq(n, lengths[k], "line %zu", k);
			cr_assert(n == 0 || (s[0] == 'a' + (int)k && s[n - 1] == 'a' + (int)k));
		}
	}
	cr_assert_eq(k, N(lengths));
	cr_assert_eq(l.n, N(lengths));
	lines_done(&l);
	input_close(in);
	vec_done(&text);
}
