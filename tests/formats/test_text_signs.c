/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of other tools, as they begin: each is refused by its name, whatever numbers its lines end in. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/convert_hint.h"
#include "formats/format.h"
#include "formats/text_signs.h"
#include "input/input.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *what;
} cases[] = {
	{ "           time    cpu  task name                       wait time  sch delay   run time\n"
	  "                        [tid/pid]                          (msec)     (msec)     (msec)\n"
	  "--------------- ------  ------------------------------  ---------  ---------  ---------\n"
	  "    2371.979838 [0001]  sleep[813]                          0.000      0.012      0.345\n",
	  "the output of perf sched timehist" },
	{ "         ? (         ): ls/13973  ... [continued]: execve())     = 0\n"
	  "     4.964 ( 0.024 ms): ls/13973 brk()                           = 94832981\n"
	  "     5.105 ( 0.011 ms): ls/13973 read(fd: 3, count: 832)         = 832\n"
	  "     5.205 ( 0.011 ms): ls/13973 read(fd: 3, count: 832)         = 832\n",
	  "the output of perf trace" },
	{ "execve(\"/usr/bin/ls\", [\"ls\"], 0x7ffe43baead0 /* 35 vars */) = 0\n"
	  "read(3, \"\\177ELF;x;\"..., 832) = 832\nread(3, \"\", 4096)    = 0\n"
	  "[pid   813] close(3)  = 0\n",
	  "the output of strace" },
	{ "Analysis of sampling app (pid 812) every 1 millisecond\nProcess:         app [812]\n\n"
	  "Call graph:\n    2796 Thread_7   DispatchQueue_1\n    + 2796 start  (in dyld) + 1903\n",
	  "the output of sample (macOS)" },
	{ "\tMon Jan  1 00:00 2024 Time and Allocation Profiling Report  (Final)\n\n"
	  "\t   x +RTS -p -RTS\n\ntotal alloc =  12,345 bytes\n\nmain Main 100.0 99\n",
	  "a profile of a Haskell program (.prof)" },
	{ "sample_type {\n  type: 1\n  unit: 2\n}\nsample {\n  location_id: 12\n  value: 923848\n}\n",
	  "a protobuf as text" },
	{ "\n              libc.so.1`malloc+0x1c\n              app`main+0x4\n              app`_start+0x83\n"
	  "                3\n",
	  "the output of dtrace" },
	{ "Function Stack,CPU Time:Self\nmain,12\n  sort,30\n", "a table of VTune (CSV)" },
	{ "Aggregated stats:\n           TOTAL events:       1200\n          SAMPLE events:       1100\n",
	  "the output of perf report --stats" },
	{ "# To display the perf.data header info, please use --header/--header-only options.\n"
	  "            1234  x                 5678\n",
	  "the output of perf report" },
	{ "reading file \"heaptrack.x.812.zst\" - please wait, this might take some time...\n",
	  "the output of heaptrack_print" },
	/* its "Call graph:" has the shape of a sample's head, with frames below */
	{ "Analysis of sampling rg (pid 64751) every 1 millisecond\nProcess:         rg [64751]\n"
	  "Load Address:    0x103746000\nDate/Time:       2019-07-04 10:21:28.347 -0600\n\nCall graph:\n"
	  "    825 Thread_15758523   DispatchQueue_1: com.apple.main-thread  (serial)\n"
	  "    + 825 start  (in libdyld.dylib) + 1  [0x7fff737cf3d5]\n"
	  "    825 Thread_15758535\n    + 825 thread_start  (in libsystem_pthread.dylib) + 13\n\n"
	  "Total number in stack (recursive counted multiple, when >=5):\n\n"
	  "Sort by top of stack, same collapsed (when >= 5):\n        825  read  (in libc.dylib)\n",
	  "the output of sample (macOS)" },
	{ "<not counted>,,cycles,0,100.00,,\n", "the output of perf stat" },
	{ "0.91;msec;task-clock;907394;100.00;0.466;CPUs utilized\n"
	  "0;;context-switches;907394;100.00;0.000;/sec\n",
	  "the output of perf stat" },
	{ "--- contentionz 1 ---\ncycles/second = 3201000000\n100 1 @ 0x1f 0x2f\n",
	  "a profile of locks (gperftools)" },
	{ "{\"start_time\": 1.5, \"duration\": 2.1, \"min_interval\": 0.001, \"start_call_stack\": []}",
	  "a session of pyinstrument (JSON)" },
	{ "{\"type\": \"map\", \"data\": {\"@\": {\"foo,main\": 3}}}\n",
	  "the output of bpftrace -f json" },
	{ "[{\"name\": 3}]", "JSON" },
};

Test(text_signs, what_is_refused_is_named)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = strlen(cases[i].text);
		struct input *in = input_of_bytes(cases[i].text, n, "x");
		const char *hint = convert_hint(cases[i].what);
		char *want = xasprintf("x: not supported: %s%s%s", cases[i].what, hint ? "; " : "",
				       hint ? hint : "");
		struct err e = ERR_INIT;

		cr_expect_null(format_probe(in, &e), "%s", cases[i].what);
		cr_expect_str_eq(err_text(&e), want, "%s", err_text(&e));
		/* Cut anywhere, it is nothing that is not there. */
		for (size_t cut = 0; cut < n; cut++) {
			char *exact = xstrndup(cases[i].text, cut);

			text_signs_of(exact, cut);
			text_signs_of_json(exact, cut);
			free(exact);
		}
		err_clear(&e);
		input_close(in);
		free(want);
	}
}

/* What is named so has a command that makes one that opens, and the whole sentence says it. */
Test(text_signs, commands_that_convert)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *sentence;
	} files[] = {
#define BYTES(s) s, sizeof(s) - 1
		{ BYTES("FLR\0\0\2\0\0"),
		  "a Java flight recording; jfrconv -o pprof (async-profiler), with --alloc for allocations, makes pprof of it" },
		{ BYTES("MOJ\3\1\2"),
		  "a profile of samples of austin (MOJO); mojo2austin makes folded stacks of it" },
		{ BYTES("<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc'>"),
		  "an export of Instruments (xctrace, XML); inferno-collapse-xctrace makes folded" },
		{ BYTES("<?xml version=\"1.0\" standalone=\"no\"?><!DOCTYPE svg><svg version=\"1.1\">"),
		  "an SVG picture; open the folded stacks that it was made of" },
		{ BYTES(" Performance counter stats for 'ls':\n\n   1.02 msec task-clock\n"),
		  "the output of perf stat; perf record -e EVENT records samples" },
		{ BYTES("# started on Thu Nov 26 18:00:00 2026\n\n0.73,msec,task-clock,730000,100.00,,\n"),
		  "the output of perf stat; perf record -e EVENT records samples" },
		{ BYTES("\n Summary of events:\n\n ls (812), 120 events, 98.4%\n"),
		  "the output of perf trace -s; perf trace record -g writes a perf.data" },
		{ BYTES("@[\n    do_syscall_64+1\n]: 12\n"),
		  "the output of bpftrace; stackcollapse-bpftrace.pl makes folded stacks of it" },
		{ BYTES("Nettrace\x14\0\0\0!FastSerialization.1"),
		  "a trace of .NET; dotnet-trace convert --format Speedscope" },
		{ BYTES("<?xml version=\"1.0\"?>\n<trace-toc>\n\t<run number=\"1\">"),
		  "a table of contents of Instruments (xctrace, XML); xctrace export --xpath" },
		{ BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0x.trace/form.tem"),
		  "a zip archive with a trace of Instruments; unzip it" },
		{ BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.etl"),
		  "a zip archive with a trace of Windows (ETW); PerfView opens the trace" },
		{ BYTES("\0\0\1\0\0\2\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
			"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
			"\2\0\2\xc0\0\1"),
		  "a trace of Windows (ETW); PerfView opens the trace" },
		{ BYTES("<StackWindow>\n <StackSource>\n  <Frames Count=\"3\">"),
		  "a stack view of PerfView (XML); PerfView opens the trace" },
		{ BYTES("Line #,Process,Stack,Count,Weight (in view) (ms)\n1,a.exe (7),[Root],1,2\n"),
		  "a table of Windows Performance Analyzer (CSV); PerfView opens the trace" },
		{ BYTES("{\"root_frame\":{\"function\":\"main\"}}"),
		  "a pyinstrument profile (JSON); pyinstrument -r speedscope" },
#undef BYTES
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct input *in = input_of_bytes(files[i].bytes, files[i].n, "x");
		struct err e = ERR_INIT;

		cr_expect_null(format_probe(in, &e), "%s", files[i].sentence);
		cr_expect(strstr(err_text(&e), files[i].sentence), "%s", err_text(&e));
		err_clear(&e);
		input_close(in);
	}
}

/* Stacks that hold words of such texts are stacks. */
Test(text_signs, stacks_are_none_of_them)
{
	static const char *const stacks[] = {
		"main;read(int) 3\nmain;write(int) 4\nmain;close(int) = 5\n",
		"sample;value: 3\nsample;id: 4\nsample;type: 9\n",
		"libc`malloc;app`main 3\napp`main 3\napp`x 4\n",
		"1;2;3;4 5\n1.5,msec,main;4 7\n",
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		cr_expect_null(text_signs_of(stacks[i], strlen(stacks[i])), "%s", stacks[i]);
}
