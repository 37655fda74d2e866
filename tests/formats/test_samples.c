/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row for each sample: columns of what is known, and nothing where it is not. */
#include "config.h"

#include "base/err.h"
#include "formats/format.h"
#include "formats/perf_script/perf_script.h"
#include "formats/samples/samples.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static const char text[] = "a \"b  7/8 [002] 1.500000000:      3 cycles:\n"
			   "\t              f0 k(int, char)+0x1 (/x/lib,1.so)\n"
			   "  k.c:12\n"
			   "\t               2 main;x (/x/prog)\n"
			   "\n"
			   "a \"b  7/8 [003] 1.600000000:      4 cycles:\n"
			   "\t               2 main;x (/x/prog)\n"
			   "\n"
			   "c 9 1.700000000: 1 faults:\n"
			   "\t               2 [unknown] ([unknown])\n"
			   "\n";

static char *written(const struct format *f, const char *filter)
{
	struct input *in = input_of_bytes(text, sizeof(text) - 1, "x.txt");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *out = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&out, &n);
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x.txt", "perf-script");
	builder_end(p);
	cr_assert_eq(format_perf_script.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	input_close(in);
	lens_init(&lens, p);
	cr_assert_eq(filter_parse(filter, &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert_eq(f->write(a, NULL, to, &e), 0, "%s", err_text(&e));
	fclose(to);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
	return out;
}

Test(samples, rows)
{
	static const struct {
		const struct format *format;
		const char *filter, *lines;
	} cases[] = {
		{ &format_samples_csv, "",
		  "file,process,pid,thread,tid,cgroup,labels,cpu,time_ns,event,unit,weight,samples,"
		  "leaf_module,leaf_file,leaf_line,stack\n"
		  "x.txt,\"a \"\"b\",7,\"a \"\"b\",8,,,2,0,cycles,count,3,1,\"/x/lib,1.so\",k.c,12,"
		  "\"main:x;k(int, char)\"\n"
		  "x.txt,\"a \"\"b\",7,\"a \"\"b\",8,,,3,100000000,cycles,count,4,1,/x/prog,,,"
		  "\"main:x\"\n"
		  "x.txt,c,,c,9,,,,200000000,faults,count,1,1,[unknown],,,\"[unknown]\"\n" },
		{ &format_samples_jsonl, "event:faults",
		  "{\"file\":\"x.txt\",\"process\":\"c\",\"pid\":null,\"thread\":\"c\",\"tid\":9,\"cgroup\":"
		  "null,\"labels\":null,\"cpu\":null,\"time_ns\":200000000,\"event\":\"faults\",\"unit\":"
		  "\"count\",\"weight\":1,\"samples\":1,\"leaf_module\":\"[unknown]\",\"leaf_file\":null,"
		  "\"leaf_line\":null,\"stack\":[\"[unknown]\"]}\n" },
		{ &format_samples_jsonl, "cpu:2 merge:main",
		  "{\"file\":\"x.txt\",\"process\":\"a \\\"b\",\"pid\":7,\"thread\":\"a \\\"b\",\"tid\":8,"
		  "\"cgroup\":null,\"labels\":null,\"cpu\":2,\"time_ns\":0,\"event\":\"cycles\",\"unit\":"
		  "\"count\",\"weight\":3,\"samples\":1,\"leaf_module\":\"/x/lib,1.so\",\"leaf_file\":\"k.c\","
		  "\"leaf_line\":null,\"stack\":[\"k(int, char)\"]}\n" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *out = written(cases[i].format, cases[i].filter);

		cr_expect_str_eq(out, cases[i].lines, "%s", out);
		free(out);
	}
}
