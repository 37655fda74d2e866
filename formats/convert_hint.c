/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands are those of the tools themselves, of FlameGraph (stackcollapse-*) and of inferno. */
#include "config.h"

#include "formats/convert_hint.h"

#include <stddef.h>
#include <string.h>

#define PERFVIEW "PerfView opens the trace and saves its CPU stacks as speedscope, which opens"

static const struct {
	const char *what, *hint;
} hints[] = {
	{ "a Java flight recording",
	  "jfrconv -o pprof (async-profiler), with --alloc for allocations, makes pprof of it" },
	{ "a dump of Ruby (Marshal, as of stackprof)",
	  "stackprof --stackcollapse makes folded stacks of it" },
	{ "a heap snapshot of V8 (JSON)", "node --heap-prof records a heap profile that opens" },
	{ "a list of goroutines (Go)", "without ?debug=1 the server gives pprof, which opens" },
	{ "a list of threads (Go)", "without ?debug=1 the server gives pprof, which opens" },
	{ "a memray file", "memray transform csv makes a table of it, which opens" },
	{ "a profile of Perl (NYTProf)", "nytprofcalls makes folded stacks of it" },
	{ "a profile of Pyroscope (JSON)", "profilecli query profile gets it as pprof" },
	{ "a profile of Python (cProfile)",
	  "py-spy record -f speedscope -- python3 FILE records one that opens" },
	{ "a profile of a Haskell program (.prof)",
	  "inferno-collapse-ghcprof makes folded stacks of it" },
	{ "a profile of locks (Go)", "without ?debug=1 the server gives pprof, which opens" },
	{ "a profile of locks (gperftools)", "pprof -proto writes one that opens" },
	{ "a profile of samples of austin (MOJO)", "mojo2austin makes folded stacks of it" },
	{ "a profile of stackprof (JSON)", "stackprof --stackcollapse makes folded stacks of it" },
	{ "a pyinstrument profile (JSON)", "pyinstrument -r speedscope writes one that opens" },
	{ "a report of proftop (JSON)", "open the file that it was made of" },
	{ "a report of simpleperf (protobuf)", "open the perf.data that simpleperf recorded" },
	{ "a session of pyinstrument (JSON)",
	  "pyinstrument --load FILE -r speedscope writes one that opens" },
	{ "a stack view of PerfView (XML)", PERFVIEW },
	{ "a table of VTune",
	  "vtune -report hotspots -group-by function,callstack -csv-delimiter comma, and then inferno-collapse-vtune, make folded stacks" },
	{ "a table of VTune (CSV)", "inferno-collapse-vtune makes folded stacks of it" },
	{ "a table of Windows Performance Analyzer (CSV)", PERFVIEW },
	{ "a table of contents of Instruments (xctrace, XML)",
	  "xctrace export --xpath \"//table[@schema='time-profile']\" writes the samples, of which inferno-collapse-xctrace makes folded stacks" },
	{ "a trace of .NET", "dotnet-trace convert --format Speedscope makes one that opens" },
	{ "a trace of Perfetto (protobuf)", "traceconv profile makes pprof of it" },
	{ "a trace of Windows (ETW)", PERFVIEW },
	{ "a zip archive with a trace of Instruments",
	  "unzip it; xctrace export --xpath \"//table[@schema='time-profile']\" writes the samples, of which inferno-collapse-xctrace makes folded stacks" },
	{ "a zip archive with a trace of Windows (ETW)", PERFVIEW },
	{ "an export of Instruments (xctrace, XML)",
	  "inferno-collapse-xctrace makes folded stacks of it" },
	{ "an SVG picture",
	  "open the folded stacks that it was made of; py-spy record -f raw writes such" },
	{ "gprof data", "perf record, or valgrind --tool=callgrind, records one that opens" },
	{ "lz4 data, as memray writes", "memray transform csv makes a table of it, which opens" },
	{ "the output of Python's cProfile",
	  "py-spy record -f speedscope -- python3 FILE records one that opens" },
	{ "the output of bpftrace", "stackcollapse-bpftrace.pl makes folded stacks of it" },
	{ "the output of bpftrace -f json",
	  "without -f json, stackcollapse-bpftrace.pl makes folded stacks of it" },
	{ "the output of dtrace",
	  "stackcollapse.pl, or inferno-collapse-dtrace, makes folded stacks of it" },
	{ "the output of gprof",
	  "perf record, or valgrind --tool=callgrind, records one that opens" },
	{ "the output of heaptrack_print", "open the heaptrack file that it was made of" },
	{ "the output of node --prof-process --preprocess (JSON)",
	  "node --cpu-prof records one that opens" },
	{ "the output of perf annotate", "open the perf.data that it was made of" },
	{ "the output of perf data convert --to-json", "open the perf.data that it was made of" },
	{ "the output of perf report", "open the perf.data that it was made of" },
	{ "the output of perf report --stats", "open the perf.data that it was made of" },
	{ "the output of perf sched timehist", "open the perf.data that it was made of" },
	{ "the output of perf stat", "perf record -e EVENT records samples of the same counters" },
	{ "the output of perf trace", "perf trace record -g writes a perf.data, which opens" },
	{ "the output of perf trace -s", "perf trace record -g writes a perf.data, which opens" },
	{ "the output of pmcstat", "stackcollapse-pmc.pl makes folded stacks of pmcstat -G" },
	{ "the output of pprof", "pprof -proto writes the profile itself" },
	{ "the output of pprof -raw", "pprof -proto writes the profile itself" },
	{ "the output of sample (macOS)",
	  "stackcollapse-sample.awk, or inferno-collapse-sample, makes folded stacks of it" },
};

const char *convert_hint(const char *what)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (strcmp(hints[i].what, what) == 0)
			return hints[i].hint;
	return NULL;
}
