/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "analysis.h"
#include "builder.h"
#include "err.h"
#include "filter.h"
#include "folded.h"
#include "fuzz.h"
#include "input.h"
#include "mem.h"
#include "perf_script.h"
#include "perf_script_line.h"
#include "perf_script_write.h"
#include "profile.h"
#include "read_recording.h"
#include "written.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* A line as text: its kind and what was understood of it. */
static char *line_text(const char *s, bool in_sample)
{
	struct script_header h;
	struct script_frame f;

	switch (script_line_read(s, strlen(s), in_sample, &h, &f)) {
	case SCRIPT_BLANK:
		return xstrdup("blank");
	case SCRIPT_COMMENT:
		return xstrdup("comment");
	case SCRIPT_RECORD:
		return xstrdup("record");
	case SCRIPT_POSITION:
		return xstrdup("position");
	case SCRIPT_ODD:
		return xstrdup("odd");
	case SCRIPT_FRAME:
		return xasprintf("frame %" PRIx64 " <%.*s> <%.*s>%s", f.pc, (int)f.name.n,
				 f.name.n ? f.name.s : "", (int)f.module.n,
				 f.module.n ? f.module.s : "", f.inlined ? " inlined" : "");
	case SCRIPT_HEADER:
		return xasprintf("<%.*s> %d/%d cpu %d at %" PRId64 ": %" PRId64 " <%.*s> <%.*s>",
				 (int)h.comm.n, h.comm.n ? h.comm.s : "", h.pid, h.tid,
				 h.cpu == CPU_NONE ? -1 : h.cpu,
				 h.time_ns == TIME_NONE ? -1 : h.time_ns, h.period, (int)h.event.n,
				 h.event.n ? h.event.s : "", (int)h.rest.n,
				 h.rest.n ? h.rest.s : "");
	}
	return NULL;
}

Test(perf_script, lines)
{
	static const struct {
		const char *line;
		bool in_sample;
		const char *what;
	} cases[] = {
		{ "sh  7269  2371.979838:          1 context-switches: ", false,
		  "<sh> -1/7269 cpu -1 at 2371979838000: 1 <context-switches> <>" },
		{ "t 1/2 [003] 4.000000005: 6 cycles:u:\r", false,
		  "<t> 1/2 cpu 3 at 4000000005: 6 <cycles:u> <>" },
		{ "virt 1/2     3/10    [000]  2422.058451: cpu-clock:pppH: ", false,
		  "<virt 1/2> 3/10 cpu 0 at 2422058451000: 0 <cpu-clock:pppH> <>" },
		{ "a worker   cpu-clock:   7fbc30e1991c f (int)+0x4 (/usr/lib/ld.so)", false,
		  "<a worker> -1/-1 cpu -1 at -1: 0 <cpu-clock> <7fbc30e1991c f (int)+0x4 (/usr/lib/ld.so)>" },
		{ "note: beef is not an address (really)", false, "odd" },
		{ "perf  3174/3174  [-01]   641.256820:          1      cycles:", false,
		  "<perf> 3174/3174 cpu -1 at 641256820000: 1 <cycles> <>" },
		{ "perf 3174 [-] 2.5: 1 cycles:", false,
		  "<perf 3174 [-]> -1/-1 cpu -1 at 2500000000: 1 <cycles> <>" },
		{ "virt 1/2    10 [000]  2.5:    5025125 cpu-clock:pppH: ", false,
		  "<virt 1/2> -1/10 cpu 0 at 2500000000: 5025125 <cpu-clock:pppH> <>" },
		{ "node-v011 31912 cpu-clock: ", false,
		  "<node-v011> -1/31912 cpu -1 at -1: 0 <cpu-clock> <>" },
		{ "shares  7791    2004008 cpu-clock:pppH: ", false,
		  "<shares> -1/7791 cpu -1 at -1: 2004008 <cpu-clock:pppH> <>" },
		{ "  shares  7926    2004008 cpu-clock:      55b8 leaf+0x1b (/bin/x)", true,
		  "<shares> -1/7926 cpu -1 at -1: 2004008 <cpu-clock> <55b8 leaf+0x1b (/bin/x)>" },
		{ "   add  9048 [000]  2.5: raw:sys_enter: NR 12 (0, 7f)", true,
		  "<add> -1/9048 cpu 0 at 2500000000: 0 <raw:sys_enter> <NR 12 (0, 7f)>" },
		{ "shares 2.5: cycles:", false,
		  "<shares> -1/-1 cpu -1 at 2500000000: 0 <cycles> <>" },
		{ " 7/8 2.5:", false, "<> 7/8 cpu -1 at 2500000000: 0 <> <>" },
		{ "sh 7 [001] d.h. 2.5: 1 cycles:", false,
		  "<sh> -1/7 cpu 1 at 2500000000: 1 <cycles> <>" },
		{ ":-1    -1 [001]  2.5: sched:sched_switch: a=b", false,
		  "<:-1> -1/-1 cpu 1 at 2500000000: 0 <sched:sched_switch> <a=b>" },
		{ "sh 99999999999999999999 99999999999999999999.5: 99999999999999999999 c:", false,
		  "<sh> -1/-1 cpu -1 at -1: 9223372036854775807 <c> <>" },
		{ "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xff @ 0]: x y", true,
		  "record" },
		{ "# hostname : x", true, "comment" },
		{ " \t\r", true, "blank" },
		{ "\t    11a2 leaf+0x11 (/bin/shares)", true, "frame 11a2 <leaf> </bin/shares>" },
		{ "        ffffffffc09ace93 f(int (*)(x))+0xb80 (/a b/c (deleted))", true,
		  "frame ffffffffc09ace93 <f(int (*)(x))> </a b/c (deleted)>" },
		{ "\t    7f 5 words (x) (in y)", true, "frame 7f <5 words (x)> <in y>" },
		{ "\t    7f f (inlined)", true, "frame 7f <f> <inlined> inlined" },
		{ "\t    7f [unknown] ([unknown])", true, "frame 7f <[unknown]> <[unknown]>" },
		{ "\t    7f main+0x2", true, "frame 7f <main> <>" },
		{ "\t    7f", true, "frame 7f <> <>" },
		{ "\tmain (/bin/x)", true, "frame 0 <main> </bin/x>" },
		{ "\t0123456789abcdef0 f", true, "odd" },
		{ "\tTHIS_IS_A_WEIRD_LINE", true, "odd" },
		{ "\tTHIS_IS_A_WEIRD_LINE", false, "odd" },
		{ "  main.c:12", true, "position" },
		{ "  ??:0", true, "position" },
		{ "  libc.so.6[2724a]", true, "position" },
		{ "a;b;c", false, "odd" },
		{ ":", false, "odd" },
		{ "(", true, "odd" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *text = line_text(cases[i].line, cases[i].in_sample);

		cr_expect_str_eq(text, cases[i].what, "%s: %s", cases[i].line, text);
		free(text);
	}
}

/* Reads a text; NULL where that fails, with the sentence in e. */
static struct profile *read_text(const char *text, const struct read_options *o, struct err *e)
{
	struct input *in = input_of_bytes((const uint8_t *)text, strlen(text), "x");
	struct profile *p = profile_new();
	capture_id c;
	int rc;

	builder_begin(p);
	c = build_capture(p, "x", "perf-script");
	builder_end(p);
	rc = format_perf_script.read(in, p, c, o, NULL, e);
	input_close(in);
	if (rc == 0)
		return p;
	profile_free(p);
	return NULL;
}

static char *written(const struct profile *p, const struct write_options *o)
{
	return written_folded(p, o, false);
}

#define PRINTED \
	{ \
		.as_printed = true \
	}
#define MAIN "\t 2 main+0x1 (/bin/x)\n"

Test(perf_script, folded)
{
	static const struct {
		const char *in, *out;
		struct read_options read;
		struct write_options write;
	} cases[] = {
		{ "a b 1 1.5: 3 c:\n\t 1 f (/bin/x)\n" MAIN "\na b 1 1.6: 4 c:\n" MAIN,
		  "a_b;main 4\na_b;main;f 3\n",
		  PRINTED,
		  { 0 } },
		{ "ab 1 1.5: c:\n\t 1 [unknown] (/lib/x.so)\n\t 2 [unknown] ([unknown])\n\n",
		  "ab;[unknown];[x.so] 1\n",
		  PRINTED,
		  { 0 } },
		{ "ab 1 1.5: c:\n\t 1 [unknown] (/lib/x.so)\n\t 2 [unknown] ([unknown])\n\n",
		  "ab;[unknown <2>];[x.so <1>] 1\n",
		  { .as_printed = true, .addresses = true },
		  { 0 } },
		{ "ab 1 1.5: c:\n" MAIN "\nab 2/3 1.5: c:\n" MAIN,
		  "ab-2;main 1\nab-?;main 1\n",
		  { .as_printed = true, .root_names = ROOT_PID },
		  { 0 } },
		{ "ab 1 1.5: c:\n" MAIN "\nab 2/3 1.5: c:\n" MAIN,
		  "ab-2/3;main 1\nab-?/1;main 1\n",
		  { .as_printed = true, .root_names = ROOT_TID },
		  { 0 } },
		{ "ab 1 1.5: c:\n\t 1 j (/tmp/perf-12.map)\n\t 2 k (/x/y.ko)\n\t 3 v (/vmlinux-1)\n"
		  "\t 4 [unknown] ([kernel.kallsyms])\n\t 5 u ([unknown])\n",
		  "ab;u;[[kernel.kallsyms]]_[k];v_[k];k_[k];j_[j] 1\n",
		  PRINTED,
		  { true, true } },
		{ "java 1 1.5: c:\n\t 1 La/b::c->La/d::e (/tmp/perf-12.map)\n" MAIN,
		  "java;main;a/b::c;a/d::e_[i] 1\n",
		  PRINTED,
		  { 0 } },
		{ "java 1 1.5: c:\n\t 1 La/b::c->La/d::e (/tmp/perf-12.map)\n" MAIN,
		  "java;main;a/b::c;a/d::e 1\n",
		  { 0 },
		  { 0 } },
		{ "ab 1 1.5: c:\n\t 1 in2 (inlined)\n  a.h:3\n\t 1 in1 (inlined)\n" MAIN
		  "  a.c:4\n",
		  "ab;main;in1;in2 1\n",
		  { 0 },
		  { 0 } },
		{ "ab 1 1.5: c:\n" MAIN "ab 1 1.6: c:\n" MAIN "\t 1 _start (/bin/x)\n",
		  "ab;_start;main 1\nab;main 1\n",
		  PRINTED,
		  { 0 } },
		{ "ab 1 1.5: c: 2 main (/bin/x)\nab 1 1.6: c: 2 main (/bin/x)\n",
		  "ab;main 2\n",
		  PRINTED,
		  { 0 } },
		{ "ab 1 1.5: 0 c:\r\n\t 2 main (/bin/x)\r\n\r\n", "ab;main 1\n", PRINTED, { 0 } },
		{ "ab 1 1.5: c:\n\nab 1 1.5: c:\n", "ab 2\n", PRINTED, { 0 } },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		struct profile *p = read_text(cases[i].in, &cases[i].read, &e);
		char *text;

		cr_assert(p, "case %zu: %s", i, err_text(&e));
		text = written(p, &cases[i].write);
		cr_expect_str_eq(text, cases[i].out, "case %zu: %s", i, text);
		free(text);
		profile_free(p);
	}
}

/* Threads, times, cpus, events and positions reach the model. */
Test(perf_script, model)
{
	struct err e = ERR_INIT;
	struct profile *p =
		read_text("ab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f (inlined)\n  a.h:3\n"
			  "\t 9 main (/lib/libc.so.6)\n  a.c:4\n\n"
			  "cd 5 1.25: faults:\n\tff80 k ([kernel.kallsyms])\n",
			  NULL, &e);
	struct location_columns locations;
	struct profile_counts n;
	struct sample_columns s;
	struct stack_columns stacks;
	const struct thread *t;
	const struct frame *f;
	uint32_t location;

	cr_assert(p, "%s", err_text(&e));
	profile_counts_read(p, &n);
	profile_samples(p, &s);
	profile_stacks(p, &stacks);
	profile_locations(p, &locations);
	cr_assert_eq(n.n_samples, 2);
	cr_expect_eq(s.weight[0], 7);
	cr_expect_eq(s.time_ns[1], 1250000000);
	cr_expect_eq(s.cpu[0], 3);
	cr_expect_eq(s.cpu[1], CPU_NONE);
	cr_expect_eq(profile_event(p, (event_id){ 0 })->unit, UNIT_NS);
	cr_expect_not(profile_event(p, (event_id){ 1 })->has_weight);
	t = profile_thread(p, (thread_id){ s.thread[0] });
	cr_expect_eq(t->tid, 2);
	cr_expect_eq(profile_process(p, t->process)->pid, 1);
	t = profile_thread(p, (thread_id){ s.thread[1] });
	cr_expect_eq(profile_process(p, t->process)->pid, -1);
	location = stacks.location[s.stack[0]];
	cr_expect_eq(locations.address[location], 9);
	cr_expect_eq(profile_module(p, (module_id){ locations.module[location] })->family,
		     FAMILY_LIBC);
	f = location_frames(&locations, location);
	cr_assert(f);
	cr_expect_eq(f[0].line, 4);
	cr_expect_eq(f[0].n_more, 1);
	cr_expect_eq(f[1].line, 3);
	cr_expect_str_eq(profile_string(p, (string_id){ f[1].file }, NULL), "a.h");
	location = stacks.location[s.stack[1]];
	cr_expect_eq(profile_module(p, (module_id){ locations.module[location] })->family,
		     FAMILY_KERNEL);
	profile_free(p);
}

Test(perf_script, losses)
{
	static const struct {
		const char *in, *text; /* of the fact, or of the failure */
	} cases[] = {
		{ "ab 1 1.5: c:\n" MAIN "\nxyz\n" MAIN "ab 1 1.5: c:\n\tweird\n",
		  "3 lines skipped: line 4 is neither a sample nor a frame, line 5 is a frame "
		  "without a sample, line 7 is neither a sample nor a frame" },
		{ "xyz\n", "x: there is no sample in it; line 1 is neither a sample nor a frame" },
		{ "# only\n\n", "x: there is no sample in its 2 lines" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		struct profile *p = read_text(cases[i].in, NULL, &e);
		struct profile_counts n = { 0 };
		const char *text = err_text(&e);

		if (p)
			profile_counts_read(p, &n);
		for (uint32_t k = 0; k < n.n_facts; k++)
			if (profile_fact(p, k).kind == FACT_LOSS)
				text = profile_string(p, profile_fact(p, k).text, NULL);
		cr_expect_str_eq(text, cases[i].text, "case %zu: %s", i, text);
		err_clear(&e);
		profile_free(p);
	}
}

static const char seed[] =
	"# hostname : x\nab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f (inlined)\n  a.h:3\n"
	"\t 9 main+0x1 (/lib/libc.so.6)\n  a.c:4\n\tff80 a->b ([kernel.kallsyms])\n\n"
	"cd 5 1.25: faults:\n\tff80 k ([kernel.kallsyms])\n\t 9 [unknown] (/tmp/perf-1.map)\n"
	" :-1 -1 [001]  2.5: sched:sched_switch: a=b\n  x  7 4 c:   55 leaf+0x1b (/b (deleted))\n";

Test(perf_script, damage)
{
	fuzz_vary(fuzz_perf_script, seed, sizeof(seed) - 1, 3000);
	for (size_t n = 0; n < sizeof(seed); n++)
		fuzz_perf_script((const uint8_t *)seed, n);
}

/* What FlameGraph and inferno expect of their own texts; doc/differences.md says why others differ. */

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	size_t n;

	if (!f)
		return NULL;
	text = xcalloc(1, 1 << 20);
	n = fread(text, 1, (1 << 20) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its lines in order, in place of them. */
static char *sorted(char *text)
{
	VEC(char *) lines = { 0 };
	char *rest = text, *line, *all = xcalloc(1, strlen(text) + 2), *at = all;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			vec_push(&lines, line);
	if (lines.n > 0)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	for (size_t i = 0; i < lines.n; i++)
		at += sprintf(at, "%s\n", lines.at[i]);
	vec_done(&lines);
	free(text);
	return all;
}

/* A text that ends anywhere gives what is there, or a sentence; no whole sample is lost by more text. */
Test(perf_script, cut_everywhere)
{
	static const char text[] =
		"# hostname : x\nab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f+0x1 (inlined)\n  a.h:3\n"
		"\t 9 main (/lib/libc.so.6)\n  a.c:4\n\ncd 5 1.25: faults:\n\tff80 k ([kernel.kallsyms])\n\n"
		":-1 -1 [-01]  2.5: sched:sched_switch: a=b\nx cycles: 5512 leaf+0x1b (/b (deleted))\n\n";
	uint64_t before = 0;

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		char *part = xstrndup(text, cut);
		struct err e = ERR_INIT;
		struct profile *p = read_text(part, NULL, &e);
		struct profile_counts n = { 0 };

		if (p)
			profile_counts_read(p, &n);
		else
			cr_expect_eq(strncmp(err_text(&e), "x: ", 3), 0, "%s", err_text(&e));
		if (cut > 0 && part[cut - 1] == '\n') {
			cr_expect_geq(n.n_samples, before, "cut at %zu", cut);
			before = n.n_samples;
		}
		err_clear(&e);
		profile_free(p);
		free(part);
	}
	cr_expect_eq(before, 4);
}

/* Without a pid, as perf script prints by default: each name is a process, of the threads called so. */
Test(perf_script, processes_without_a_number)
{
	struct err e = ERR_INIT;
	struct profile *p = read_text("ab 1 1.5: c:\n\t 9 f (/b)\n\ncd 2 1.5: c:\n\t 9 f (/b)\n\n"
				      "ab 3 1.5: c:\n\t 9 f (/b)\n\nef 4/4 1.5: c:\n\t 9 f (/b)\n",
				      NULL, &e);
	struct profile_counts n;
	char names[64] = "";

	cr_assert(p, "%s", err_text(&e));
	profile_counts_read(p, &n);
	for (uint32_t i = 0; i < n.n_threads; i++) {
		const struct thread *t = profile_thread(p, (thread_id){ i });
		const struct process *process = profile_process(p, t->process);

		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%u:%s:%d:%d ",
			 t->process.v, profile_string(p, process_name(process), NULL), process->pid,
			 t->tid);
	}
	cr_expect_str_eq(names, "0:ab:-1:1 1:cd:-1:2 0:ab:-1:3 2:ef:4:4 ");
	profile_free(p);
}

/* Rows of what is shown of an event by a grouping, sorted, and its totals. */
static void print_table(const struct profile *p, struct metric m, enum grouping g, FILE *to)
{
	char *label, *rows = NULL;
	struct analysis *a;
	struct lens lens;
	size_t n;
	FILE *f = open_memstream(&rows, &n);

	lens_init(&lens, p);
	lens.column[0].metric = m;
	lens.grouping = g;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	label = metric_name(p, m);
	fprintf(to, "%s by %d, unit %d, all %" PRId64 " of %" PRIu64 " samples\n", label, g,
		metric_unit(p, m), a->weights.total[0], a->weights.n_samples);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];

		fprintf(f, "%s in %s: %" PRId64 " %" PRId64 " %" PRIu64 "\n", k->label, k->module,
			a->table.self[i], a->table.total[i], a->table.n_samples[i]);
	}
	fclose(f);
	rows = sorted(rows);
	fputs(rows, to);
	free(rows);
	free(label);
	analysis_free(a);
	lens_done(&lens);
}

/* What is shown of all events, in the order of their names; then of a tree with threads at its root. */
static char *all_tables(const struct profile *p)
{
	static const enum grouping groupings[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_THREAD,
						   GROUP_COMM,     GROUP_CPU,    GROUP_CGROUP };
	struct profile_counts n;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	profile_counts_read(p, &n);
	for (uint16_t i = 0; i < n.n_events; i++)
		for (size_t g = 0; g < N(groupings); g++) {
			struct metric m = { { i }, MEASURE_WEIGHT };

			print_table(p, m, groupings[g], to);
			m.measure = MEASURE_SAMPLES;
			print_table(p, m, groupings[g], to);
		}
	fclose(to);
	return text;
}

/* What passes a filter as text, read again. */
static struct profile *saved(const struct profile *p, const char *filter)
{
	struct err e = ERR_INIT;
	struct profile *again;
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n;
	int64_t begin_ns;
	FILE *to = open_memstream(&text, &n);

	lens_init(&lens, p);
	cr_assert_eq(filter_parse(filter, &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert(perf_script_says_all(a));
	cr_assert_eq(perf_script_write(a, to, &begin_ns, &e), 0, "%s", err_text(&e));
	fclose(to);
	again = read_text(text, NULL, &e);
	cr_assert(again, "%s\n%s", err_text(&e), text);
	free(text);
	analysis_free(a);
	lens_done(&lens);
	return again;
}

static void check_saved(const struct profile *p, const char *what)
{
	struct profile *again = saved(p, "");
	char *before = all_tables(p), *after = all_tables(again);

	cr_expect_str_eq(after, before, "%s:\n%s\nwas\n%s", what, after, before);
	free(before);
	free(after);
	profile_free(again);
}

/* What is written is read again as what it was. */
Test(perf_script, round_trip)
{
	static const char *const texts[] = {
		"ab 1/2 1.5: 7 x: /a b.slice/c\n\t 9 f (m)\n\n"
		"ab 1/2 1.6: 8 x: /\n\t 9 f (m)\n\nab 1/2 1.7: 9 x:\n\t 9 f (m)\n\n"
		"ab 1/2 1.8: 5 x: /a b.slice/c\n\t 9 g (m)\n",
		"ab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f (inlined)\n  a.h:3\n"
		"\t 9 main (/lib/libc.so.6)\n  a.c:4\n\n"
		"cd 5 1.250000001: faults:\n\tff80 k ([kernel.kallsyms])\n\t 1 [unknown] ([unknown])\n",
		"a b 1/1 [c] 3/4 [000] 0.000000001: 3 task-clock:\n\t a operator->(x, y) (/bin/y)\n",
		"a 4 1.0: 3 task-clock:\n\t b fn() -> i32 (/x (deleted))\n\t c [unknown] (/bin/x)\n",
		"w 2/2 1.0: 9000 offcpu:\n\t1 wait (/bin/w)\n\nw 2/2 2.0: 5 cpu-clock:\n\t1 run (/bin/w)\n",
		"java 1/2 1.0: 5 cycles:\n\t7 a->b (/tmp/perf-1.map)\n\t8 (anonymous namespace)::g (/x)\n",
		"t 812/813 1000 cycles:\n\t 1 f (/x)\n",
		"t 1 1.0: 7 cycles:\n\t1 f (/x)\n\nt 1 2.0: 0 cycles:\n\t2 g (/x)\n",
	};
	static const char *const recordings[] = {
		"demo.data",
		"perf_data/truth_z.data",
		"perf_data/killed_sigkill.data",
		"perf_data/ev_bp_mem.data",
	};
	struct err e = ERR_INIT;
	struct profile *p;
	char *path;

	for (size_t i = 0; i < N(texts); i++) {
		p = read_text(texts[i], NULL, &e);
		cr_assert(p, "%s", err_text(&e));
		check_saved(p, texts[i]);
		profile_free(p);
	}
	for (size_t i = 0; i < N(recordings); i++) {
		path = xasprintf("%s/tests/data/%s", getenv("srcdir"), recordings[i]);
		/* Without symbols: of frames modules and addresses are known. */
		p = read_recording(path);
		check_saved(p, path);
		profile_free(p);
		free(path);
	}
}

/* Two functions of a module and of what may be another build of it, which have no symbols; and some of which less is known. */
static struct profile *begun(const char *path, const char *build_id, const char *path2,
			     const char *build_id2)
{
	static const char *const names[] = { "[lib.so+0x10]", "[lib.so+0x20]", "[lib.so]" };
	struct profile *p = profile_new();
	struct sample s = { .cpu = CPU_NONE };
	process_id process;

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "perf.data"), 1);
	s.thread = build_thread(p, process, 1, build_cstring(p, "x"));
	s.event = build_event(p, "cycles", UNIT_COUNT, true);
	for (unsigned i = 0; i < 12; i++) {
		module_id m = i % 2 ? build_module(p, path2, build_id2, FAMILY_LIBRARY)
				    : build_module(p, path, build_id, FAMILY_LIBRARY);
		uint32_t flags = FUNCTION_UNRESOLVED | (i % 3 < 2 ? FUNCTION_BEGIN : 0);
		location_id l = build_location(p, m, 0x10 * (i + 1));
		function_id f = build_function(p, build_cstring(p, names[i % 3]), m, flags,
					       (string_id){ 0 }, 0);

		build_location_function(p, l, f);
		s.stack = build_stack(p, (stack_id){ 0 }, l);
		s.weight = 1 << i;
		s.time_ns = i;
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}

/* Functions without a symbol are rows of their own where they were, and one row where they were that. */
Test(perf_script, round_trip_of_functions_that_begin)
{
	static const struct {
		const char *path, *build_id, *path2, *build_id2;
		size_t n_begun; /* functions that are told apart */
	} cases[] = {
		{ "/lib.so", "ab", "/lib.so", "ab", 2 }, { "/lib.so", "", "/lib.so", "", 2 },
		{ "/lib.so", "ab", "/lib.so", "cd", 0 }, { "/lib.so", "ab", "/x/lib.so", "cd", 0 },
		{ "/lib.so", "", "/x/lib.so", "", 0 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct profile *p = begun(cases[i].path, cases[i].build_id, cases[i].path2,
					  cases[i].build_id2),
			       *again = saved(p, "");
		struct profile_counts n;
		size_t n_begun = 0;

		check_saved(p, cases[i].path2);
		profile_counts_read(again, &n);
		for (uint32_t f = 0; f < n.n_functions; f++)
			n_begun += (profile_function(again, (function_id){ f })->flags &
				    FUNCTION_BEGIN) != 0;
		cr_expect_eq(n_begun, cases[i].n_begun, "%zu: %zu", i, n_begun);
		profile_free(again);
		profile_free(p);
	}
}

/* Only what passes the filter is written. */
Test(perf_script, round_trip_of_some)
{
	struct err e = ERR_INIT;
	struct profile *p = read_text("a 1/1 1.0: 5 cycles:\n\t1 f (/x)\n\n"
				      "b 1/2 2.0: 6 cycles:\n\t1 f (/x)\n\n"
				      "b 1/2 3.0: 7 faults:\n\t2 g (/x)\n",
				      NULL, &e),
		       *again = saved(p, "thread:b");
	struct profile_counts n;
	struct sample_columns s;

	profile_counts_read(again, &n);
	profile_samples(again, &s);
	cr_assert_eq(n.n_samples, 2);
	cr_expect_eq(s.weight[0], 6);
	cr_expect_eq(s.time_ns[0], 2000000000);
	cr_expect_eq(n.n_events, 2);
	profile_free(again);
	profile_free(p);
}

struct corpus_case {
	const char *in, *out; /* below CORPUS */
	struct read_options read;
	struct write_options write;
	bool samples; /* are counted, not periods, as old scripts had it */
};

static void check_corpus(const struct corpus_case *c, const char *in, const char *out)
{
	struct err e = ERR_INIT;
	char *text = read_file(in), *expected = read_file(out), *got;
	struct profile *p;

	if (text && expected) {
		p = read_text(text, &c->read, &e);
		cr_assert(p, "%s: %s", in, err_text(&e));
		got = sorted(written_folded(p, &c->write, c->samples));
		expected = sorted(expected);
		cr_expect_str_eq(got, expected, "%s\n%s", out, got);
		free(got);
		profile_free(p);
	}
	free(text);
	free(expected);
}

#define FG(name, option, ...) \
	{ \
		"/FlameGraph/test/" name ".txt", \
			"/FlameGraph/test/results/" name "-collapsed-" option ".txt", __VA_ARGS__, \
			.samples = false \
	}
/* Where the result is the same to the byte as that of another option, it is kept once. */
#define FG_AS(name, option, ...) FG(name, option, __VA_ARGS__)
#define INFERNO(name, option, ...) \
	{ \
		"/inferno/collapse-perf/" name ".txt", \
			"/inferno/collapse-perf/results/" name "-collapsed" option ".txt", \
			__VA_ARGS__, .samples = false \
	}
#define FORK(name, option, ...) \
	{ \
		"/FlameGraph/test/" name ".txt", \
			"/FlameGraph-jonhoo-fork/test/results/" name "-collapsed-" option ".txt", \
			__VA_ARGS__, .samples = true \
	}
#define PID \
	{ \
		.as_printed = true, .root_names = ROOT_PID \
	}
#define TID \
	{ \
		.as_printed = true, .root_names = ROOT_TID \
	}
#define ADDRS \
	{ \
		.as_printed = true, .addresses = true \
	}

Test(perf_script, corpus)
{
	/* clang-format off */
	static const struct corpus_case cases[] = {
		FG("perf-cycles-instructions-01", "pid", PID, { 0 }),
		FG("perf-cycles-instructions-01", "tid", TID, { 0 }),
		FG("perf-cycles-instructions-01", "addrs", ADDRS, { 0 }),
		FG("perf-cycles-instructions-01", "all", PRINTED, { true, true }),
		FG("perf-cycles-instructions-01", "jit", PRINTED, { false, true }),
		FG_AS("perf-cycles-instructions-01", "all", PRINTED, { true, false }), /* --kernel */
		FG("perf-java-faults-01", "addrs", ADDRS, { 0 }),
		FG("perf-java-faults-01", "all", PRINTED, { true, true }),
		FG("perf-java-faults-01", "jit", PRINTED, { false, true }),
		FG("perf-java-faults-01", "kernel", PRINTED, { true, false }),
		/* the L of classes stays: only a thread that is called "java" and nothing more is tidied */
		FG("perf-java-faults-01", "pid", PID, { 0 }),
		FG("perf-java-faults-01", "tid", TID, { 0 }),
		FG("perf-js-stacks-01", "pid", PID, { 0 }),
		FG("perf-js-stacks-01", "tid", TID, { 0 }),
		FG("perf-js-stacks-01", "addrs", ADDRS, { 0 }),
		FG("perf-js-stacks-01", "all", PRINTED, { true, true }),
		FG_AS("perf-js-stacks-01", "all", PRINTED, { false, true }), /* --jit */
		FG_AS("perf-js-stacks-01", "addrs", PRINTED, { true, false }), /* --kernel */
		FORK("perf-java-faults-01", "addrs", ADDRS, { 0 }),
		FORK("perf-java-faults-01", "all", PRINTED, { true, true }),
		FORK("perf-java-faults-01", "jit", PRINTED, { false, true }),
		FORK("perf-java-faults-01", "kernel", PRINTED, { true, false }),
		FORK("perf-java-faults-01", "pid", PID, { 0 }),
		FORK("perf-java-faults-01", "tid", TID, { 0 }),
		INFERNO("go-stacks", "", PRINTED, { 0 }),
		INFERNO("java-inline", "", PRINTED, { 0 }),
		INFERNO("versioned-vmlinux", "-kernel", PRINTED, { true, false }),
		INFERNO("sourcepawn-jitdump", "-jit", PRINTED, { false, true }),
	};
	/* clang-format on */

	if (access(CORPUS "/inferno/collapse-perf", R_OK) != 0) {
		fprintf(stderr, "perf_script/corpus: skipped: no corpus\n");
		return;
	}
	for (size_t i = 0; i < N(cases); i++) {
		char *in = xasprintf("%s%s", CORPUS, cases[i].in);
		char *out = xasprintf("%s%s", CORPUS, cases[i].out);

		check_corpus(&cases[i], in, out);
		free(in);
		free(out);
	}
}

/* Lines of a that b has not; both are sorted. */
static unsigned lines_beyond(const char *a, const char *b, char *first, size_t size)
{
	unsigned n = 0;

	while (*a) {
		size_t len = strcspn(a, "\n") + 1;
		char *line = xstrndup(a, len), *found = strstr(b, line);

		if (!found || (found > b && found[-1] != '\n')) {
			if (n == 0)
				snprintf(first, size, "%s", line);
			n++;
		}
		free(line);
		a += len;
	}
	return n;
}

/* Where we differ from what the others recorded, and in nothing else: doc/differences.md says why. */
Test(perf_script, corpus_differences)
{
	/* clang-format off */
	static const struct {
		struct corpus_case files;
		unsigned n_more, n_less; /* lines of ours, and of theirs, that the other side has not */
		const char *more;        /* what ours is about */
	} cases[] = {
		/* the last sample of a text that does not end in a blank line */
		{ FG("perf-dd-stacks-01", "pid", PID, { 0 }), 1, 0, "dd-?;[unknown];system_call 10101010\n" },
		{ FG("perf-dd-stacks-01", "tid", TID, { 0 }), 1, 0, "dd-?/29776;[unknown];system_call 10101010\n" },
		{ FG("perf-dd-stacks-01", "addrs", ADDRS, { 0 }), 1, 0, "dd;[unknown <246>];system_call 10101010\n" },
		{ FG("perf-dd-stacks-01", "all", PRINTED, { true, true }), 1, 0, "dd;[unknown];system_call_[k] 10101010\n" },
		{ FG("perf-dd-stacks-01", "jit", PRINTED, { false, true }), 1, 0, "dd;[unknown];system_call 10101010\n" },
		{ FG_AS("perf-dd-stacks-01", "all", PRINTED, { true, false }), 1, 0, "dd;[unknown];system_call_[k] 10101010\n" },
		{ FORK("perf-dd-stacks-01", "pid", PID, { 0 }), 1, 0, "dd-?;[unknown];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "tid", TID, { 0 }), 1, 0, "dd-?/29776;[unknown];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "addrs", ADDRS, { 0 }), 1, 0, "dd;[unknown <246>];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "all", PRINTED, { true, true }), 1, 0, "dd;[unknown];system_call_[k] 1\n" },
		{ FORK("perf-dd-stacks-01", "jit", PRINTED, { false, true }), 1, 0, "dd;[unknown];system_call 1\n" },
		/* names end at their first bracket, as stackcollapse-perf.pl has it */
		{ INFERNO("cpp-stacks-std-function", "", PRINTED, { 0 }), 1, 1, ";std::function<int ;std::_Function_handler<int " },
		{ INFERNO("single-event", "", PRINTED, { 0 }), 1, 1, "boa_cli;[unknown];boa_cli::main;" },
	};
	/* clang-format on */

	if (access(CORPUS "/inferno/collapse-perf", R_OK) != 0) {
		fprintf(stderr, "perf_script/corpus_differences: skipped: no corpus\n");
		return;
	}
	for (size_t i = 0; i < N(cases); i++) {
		const struct corpus_case *c = &cases[i].files;
		char *in = xasprintf("%s%s", CORPUS, c->in),
		     *out = xasprintf("%s%s", CORPUS, c->out);
		char *text = read_file(in), *theirs = read_file(out), *ours, first[8192] = "";
		struct profile *p = read_text(text, &c->read, NULL);

		cr_assert(p && theirs, "%s", in);
		ours = sorted(written_folded(p, &c->write, c->samples));
		theirs = sorted(theirs);
		cr_expect_eq(lines_beyond(theirs, ours, first, sizeof(first)), cases[i].n_less,
			     "%s: %s", out, first);
		cr_expect_eq(lines_beyond(ours, theirs, first, sizeof(first)), cases[i].n_more,
			     "%s: %s", out, first);
		cr_expect(strstr(first, cases[i].more), "%s: %s", out, first);
		free(ours);
		free(theirs);
		free(text);
		free(in);
		free(out);
		profile_free(p);
	}
}

/* Rows that stand for several samples are written as so many, of the same weight together. */
Test(perf_script, round_trip_of_what_was_folded)
{
	const struct build_folding folding = { .keep_ns = 1, .n_rows = 1, .n_folded = 4 };
	struct err e = ERR_INIT;
	struct profile_counts n;
	struct profile *p;
	char *text = NULL, *before, *folded;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (int i = 0; i < 300; i++)
		fprintf(to, "a 1/%d %d.0: %d cycles:\n\t1 f (/x)\n\t%d g (/y)\n\n", 1 + i % 2, i,
			5 + i % 7, 2 + i % 3);
	fclose(to);
	p = read_text(text, NULL, &e);
	cr_assert(p, "%s", err_text(&e));
	before = all_tables(p);
	build_folding(p, &folding);
	builder_begin(p);
	cr_assert_eq(builder_end(p), 0);
	profile_counts_read(p, &n);
	cr_assert_lt(n.n_samples, 100, "they were to be folded");
	folded = all_tables(p);
	cr_expect_str_eq(folded, before);
	check_saved(p, "folded");
	free(folded);
	free(before);
	free(text);
	profile_free(p);
}
