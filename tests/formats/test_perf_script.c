/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/folded/folded.h"
#include "formats/perf_script/perf_script.h"
#include "formats/perf_script/perf_script_line.h"
#include "formats/perf_script/perf_script_write.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_recording.h"
#include "tests/support/written.h"

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

static char *written(const struct profile *p, const struct write_options *o)
{
	return written_folded(p, o, false);
}

#define MARKS(kernel, jit) \
	{ \
		.mark_kernel = kernel, .mark_jit = jit \
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
		{ "ab 1 1.5: c:\n\t 1 [unknown] (/lib/x.so (deleted))\n\n",
		  "ab;[x.so] 1\n",
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
		  "ab;u;[[kernel.kallsyms]]_[k];v_[k];k_[k];j_[j] 1\n", PRINTED,
		  MARKS(true, true) },
		/* Views call the kernel as recordings do. */
		{ "ab 1 1.5: c:\n\t 4 [unknown] ([kernel.kallsyms])\n\t 5 [unknown] ([vdso])\n"
		  "\t 6 [unknown] ([kernel.kallsyms]_stext)\n",
		  "ab;[kernel];[vdso];[kernel] 1\n",
		  { 0 },
		  { 0 } },
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
		struct profile *p = read_script_text(cases[i].in, &cases[i].read, &e);
		char *text;

		cr_assert(p, "case %zu: %s", i, err_text(&e));
		text = written(p, &cases[i].write);
		cr_expect_str_eq(text, cases[i].out, "case %zu: %s", i, text);
		free(text);
		profile_free(p);
	}
}

/* What `perf script -F …` wrote of the same two samples, of a recording with callchains and of one without. */
#define BELOW     "\t            114c leaf\n\t            11d9 main\n\n"
#define BELOW_DSO "\t            114c leaf (/bin/p)\n\t            11d9 main (/bin/p)\n\n"

Test(perf_script, any_fields)
{
	static const struct {
		const char *fields, *in, *out;
		struct write_options write;
	} cases[] = {
		{ "comm,tid,ip,sym",
		  "p 13841 \n" BELOW "p 13841 \n" BELOW,
		  "p;main;leaf 2\n",
		  { 0 } },
		{ "comm,pid,ip,sym,dso",
		  "p 13841 \n" BELOW_DSO "p 13841 \n" BELOW_DSO,
		  "p;main;leaf 2\n",
		  { 0 } },
		{ "ip,sym", "\n" BELOW "\n" BELOW, "main;leaf 2\n", { 0 } },
		{ "comm,ip,sym",
		  "p \n" BELOW "a b \n" BELOW,
		  "a_b;main;leaf 1\np;main;leaf 1\n",
		  { 0 } },
		{ "tid,ip,sym",
		  "13841 \n" BELOW "13842 \n" BELOW,
		  ":13841;main;leaf 1\n:13842;main;leaf 1\n",
		  { 0 } },
		{ "pid,tid,ip,sym",
		  "13841/13842 \n" BELOW "13841/13842 \n" BELOW,
		  ":13842;main;leaf 2\n",
		  { 0 } },
		{ "event,ip,sym",
		  "cpu-clock: \n" BELOW "cpu-clock: \n" BELOW,
		  "main;leaf 2\n",
		  { 0 } },
		{ "period,ip,sym",
		  "   5025125 \n" BELOW "   5025126 \n" BELOW,
		  "main;leaf 10050251\n",
		  { 0 } },
		{ "comm,period,ip,sym",
		  "p    5025125 \n" BELOW "p    5025126 \n" BELOW,
		  "p;main;leaf 10050251\n",
		  { 0 } },
		{ "comm,tid,period,ip,sym",
		  "p 13841    5025125 \n" BELOW "p 13841    5025126 \n" BELOW,
		  "p;main;leaf 10050251\n",
		  { 0 } },
		{ "period,event,ip,sym",
		  "   5025125 cpu-clock: \n" BELOW "   5025126 cpu-clock: \n" BELOW,
		  "main;leaf 10050251\n",
		  { 0 } },
		{ "misc,comm,tid,time,event,ip,sym",
		  "p 13841 U      2496.276040: cpu-clock: \n" BELOW
		  "p 13841 K      2496.276041: cpu-clock: \n" BELOW,
		  "p;main;leaf 2\n",
		  { 0 } },
		{ "misc,comm,tid,ip,sym",
		  "p 13841 U      \n" BELOW "p 13841 Sp     \n" BELOW,
		  "p;main;leaf 2\n",
		  { 0 } },
		{ "misc,comm,time,ip,sym",
		  "z U      1695.240466: \n" BELOW "z K      1695.240467: \n" BELOW,
		  "z;main;leaf 2\n",
		  { 0 } },
		{ "misc,comm,ip,sym",
		  "z U     \n" BELOW "z K     \n" BELOW "U \n" BELOW,
		  "U;main;leaf 1\nz;main;leaf 2\n",
		  { 0 } },
		{ "misc,time,ip,sym",
		  "U      1695.240466: \n" BELOW "K      1695.240467: \n" BELOW,
		  "main;leaf 2\n",
		  { 0 } },
		{ "misc,ip,sym", "U     \n" BELOW "Sp    \n" BELOW, "main;leaf 2\n", { 0 } },
		{ "misc,comm,ip,sym, flat",
		  "               z U          7fc42efe762a leaf\n"
		  "               z K      ffffffff821c15e6 leaf\n"
		  "             z U      7fc42efe762a leaf\n",
		  "z;leaf 2\nz_U;leaf 1\n",
		  { 0 } },
		{ "comm,tid,ip,sym,srcline",
		  "p 1 \n\t            114c leaf\n  p.c:3\n\t            11d9 main\n  p.c:5\n\n",
		  "p;main;leaf 1\n",
		  { 0 } },
		{ "comm,tid,ip,sym, flat",
		  "               p 13976      55a6f728e14c leaf\n"
		  "             bad 13976      55a6f728e156 leaf\n",
		  "bad;leaf 1\np;leaf 1\n",
		  { 0 } },
		{ "ip,sym, flat",
		  "     55a6f728e14c leaf\n     55a6f728e156 leaf\n",
		  "leaf 2\n",
		  { 0 } },
		{ "ip,sym,dso, flat",
		  "     55a6f728e14c leaf (/bin/p)\n ffffffffaee8017b fput ([kernel.kallsyms])\n",
		  "fput 1\nleaf 1\n",
		  { 0 } },
		{ "comm,period,ip,sym, flat",
		  "               p    5025125      55a6f728e14c leaf\n",
		  "p;leaf 5025125\n",
		  { 0 } },
		{ "period,event,ip,sym,dso, flat",
		  "   1003009 cpu-clock:      55e557024237 spin (/bin/p)\n"
		  "   1003009 cpu-clock:  ffffffff8161eac5 fput ([kernel.kallsyms])\n",
		  "fput 1003009\nspin 1003009\n",
		  { 0 } },
		{ "pid,tid,ip,sym, flat",
		  "  812/813        55e557024237 spin\n",
		  ":813;spin 1\n",
		  { 0 } },
		{ "event,ip,sym, flat", "cpu-clock:      55a6f728e14c leaf\n", "leaf 1\n", { 0 } },
		{ "time,ip, flat", " 2497.399488:      55a6f728e14c\n", "[unknown] 1\n", { 0 } },
		{ "comm,tid,time,event,addr,ip,sym",
		  "p 13841 2496.276040: cpu-clock:     7ffe43baead0 |OP LOAD| \n" BELOW,
		  "p;main;leaf 1\n",
		  { 0 } },
		{ "comm,tid,time,event,addr,ip,sym, flat",
		  "p 13841 2496.276040: cpu-clock:      7ffe43baead0      55a6f728e14c leaf\n",
		  "p;leaf 1\n",
		  { 0 } },
		{ "without indents",
		  "java 812 9962.502413: 3 cpu-clock:\nffffffffaee8017b fput+0xb ([kernel.kallsyms])\n"
		  "7f5512 Lorg/x;::run+0x4 (/tmp/perf-812.map)\n\n",
		  "java;org/x:::run;fput 3\n",
		  { 0 } },
	};

	for (size_t i = 0; i < N(cases); i++) {
		static const struct read_options read = { .as_printed = true };
		struct err e = ERR_INIT;
		struct profile *p = read_script_text(cases[i].in, &read, &e);
		char *text;

		cr_expect(p, "%s: %s", cases[i].fields, err_text(&e));
		cr_expect_geq(
			format_perf_script.probe((const uint8_t *)cases[i].in, strlen(cases[i].in)),
			80, "%s", cases[i].fields);
		if (!p)
			continue;
		text = written(p, &cases[i].write);
		cr_expect_str_eq(text, cases[i].out, "%s: %s", cases[i].fields, text);
		free(text);
		profile_free(p);
	}
}

/* Threads, times, cpus, events and positions reach the model. */
Test(perf_script, model)
{
	struct err e = ERR_INIT;
	struct profile *p =
		read_script_text("ab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f (inlined)\n  a.h:3\n"
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
		{ "ab 1 1.5: c:\n" MAIN "\nlog\nlog\nlog\nlog\nlog\n",
		  "x: 5 of its 8 lines are neither a sample nor a frame: line 4 is neither a sample "
		  "nor a frame" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		struct profile *p = read_script_text(cases[i].in, NULL, &e);
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
	fuzz_vary(fuzz_perf_script, seed, sizeof(seed) - 1, 1000);
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
		struct profile *p = read_script_text(part, NULL, &e);
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
	struct profile *p =
		read_script_text("ab 1 1.5: c:\n\t 9 f (/b)\n\ncd 2 1.5: c:\n\t 9 f (/b)\n\n"
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

	cr_assert(text && expected, "%s, %s: cannot be read", in, out);
	p = read_script_text(text, &c->read, &e);
	cr_assert(p, "%s: %s", in, err_text(&e));
	got = written_sorted(written_folded(p, &c->write, c->samples));
	expected = written_sorted(expected);
	cr_expect_str_eq(got, expected, "%s\n%s", out, got);
	free(got);
	profile_free(p);
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
		FG("perf-cycles-instructions-01", "all", PRINTED, MARKS(true, true)),
		FG("perf-cycles-instructions-01", "jit", PRINTED, MARKS(false, true)),
		FG_AS("perf-cycles-instructions-01", "all", PRINTED, MARKS(true, false)), /* --kernel */
		FG("perf-java-faults-01", "addrs", ADDRS, { 0 }),
		FG("perf-java-faults-01", "all", PRINTED, MARKS(true, true)),
		FG("perf-java-faults-01", "jit", PRINTED, MARKS(false, true)),
		FG("perf-java-faults-01", "kernel", PRINTED, MARKS(true, false)),
		/* the L of classes stays: only a thread that is called "java" and nothing more is tidied */
		FG("perf-java-faults-01", "pid", PID, { 0 }),
		FG("perf-java-faults-01", "tid", TID, { 0 }),
		FG("perf-js-stacks-01", "pid", PID, { 0 }),
		FG("perf-js-stacks-01", "tid", TID, { 0 }),
		FG("perf-js-stacks-01", "addrs", ADDRS, { 0 }),
		FG("perf-js-stacks-01", "all", PRINTED, MARKS(true, true)),
		FG_AS("perf-js-stacks-01", "all", PRINTED, MARKS(false, true)), /* --jit */
		FG_AS("perf-js-stacks-01", "addrs", PRINTED, MARKS(true, false)), /* --kernel */
		FORK("perf-java-faults-01", "addrs", ADDRS, { 0 }),
		FORK("perf-java-faults-01", "all", PRINTED, MARKS(true, true)),
		FORK("perf-java-faults-01", "jit", PRINTED, MARKS(false, true)),
		FORK("perf-java-faults-01", "kernel", PRINTED, MARKS(true, false)),
		FORK("perf-java-faults-01", "pid", PID, { 0 }),
		FORK("perf-java-faults-01", "tid", TID, { 0 }),
		INFERNO("go-stacks", "", PRINTED, { 0 }),
		INFERNO("java-inline", "", PRINTED, { 0 }),
		INFERNO("versioned-vmlinux", "-kernel", PRINTED, MARKS(true, false)),
		INFERNO("sourcepawn-jitdump", "-jit", PRINTED, MARKS(false, true)),
	};
	/* clang-format on */

	if (access(CORPUS "/inferno/collapse-perf", R_OK) != 0)
		cr_skip_test("no corpus");
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
		{ FG("perf-dd-stacks-01", "all", PRINTED, MARKS(true, true)), 1, 0, "dd;[unknown];system_call_[k] 10101010\n" },
		{ FG("perf-dd-stacks-01", "jit", PRINTED, MARKS(false, true)), 1, 0, "dd;[unknown];system_call 10101010\n" },
		{ FG_AS("perf-dd-stacks-01", "all", PRINTED, MARKS(true, false)), 1, 0, "dd;[unknown];system_call_[k] 10101010\n" },
		{ FORK("perf-dd-stacks-01", "pid", PID, { 0 }), 1, 0, "dd-?;[unknown];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "tid", TID, { 0 }), 1, 0, "dd-?/29776;[unknown];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "addrs", ADDRS, { 0 }), 1, 0, "dd;[unknown <246>];system_call 1\n" },
		{ FORK("perf-dd-stacks-01", "all", PRINTED, MARKS(true, true)), 1, 0, "dd;[unknown];system_call_[k] 1\n" },
		{ FORK("perf-dd-stacks-01", "jit", PRINTED, MARKS(false, true)), 1, 0, "dd;[unknown];system_call 1\n" },
		/* names end at their first bracket, as stackcollapse-perf.pl has it */
		{ INFERNO("cpp-stacks-std-function", "", PRINTED, { 0 }), 1, 1, ";std::function<int ;std::_Function_handler<int " },
		{ INFERNO("single-event", "", PRINTED, { 0 }), 1, 1, "boa_cli;[unknown];boa_cli::main;" },
	};
	/* clang-format on */

	if (access(CORPUS "/inferno/collapse-perf", R_OK) != 0)
		cr_skip_test("no corpus");
	for (size_t i = 0; i < N(cases); i++) {
		const struct corpus_case *c = &cases[i].files;
		char *in = xasprintf("%s%s", CORPUS, c->in),
		     *out = xasprintf("%s%s", CORPUS, c->out);
		char *text = read_file(in), *theirs = read_file(out), *ours, first[8192] = "";
		struct profile *p = read_script_text(text, &c->read, NULL);

		cr_assert(p && theirs, "%s", in);
		ours = written_sorted(written_folded(p, &c->write, c->samples));
		theirs = written_sorted(theirs);
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
