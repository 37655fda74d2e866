/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options: one table from which parsing and --help are made, and against which the manual page
 * and the shells' completions are tested.
 */
#ifndef PROFTOP_CLI_OPTIONS_OPTIONS_H
#define PROFTOP_CLI_OPTIONS_OPTIONS_H

#include "cli/options/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct filter;
struct notebook;
struct saved_view;

/* What compares, whoever recorded it. */
#define ON_DIFFS   (ON_DIFF | ON_COMPARE)
#define ON_VIEWS   (ON_EXPLORE | ON_LIVE | ON_DIFFS)
#define ON_LENS    (ON_VIEWS | ON_REPORT | ON_EXPORT)
#define ON_SCREEN  (ON_VIEWS | ON_REPORT)
#define ON_SIDES   (ON_DIFFS | ON_EXPORT)
#define ON_ROWS    (ON_REPORT | ON_DIFFS)
#define ON_TEXT    (ON_REPORT | ON_INFO | ON_DIFFS)
#define ON_OUTPUT  (ON_REPORT | ON_EXPORT | ON_INFO | ON_RECORD | ON_DIFFS | ON_PACK)
#define ON_READ    (ON_LENS | ON_INFO | ON_PACK)
#define ON_RECORDS (ON_RECORD | ON_LIVE)
/* What reads one file, which may leave an index. */
#define ON_INDEX   (ON_EXPLORE | ON_REPORT | ON_EXPORT | ON_INFO | ON_PACK)

/*
 * X(enum, long name, letter or 0, its value's name or NULL, verbs that take it, how it is taken, the field of
 * struct options that it fills, help)
 */
/* clang-format off */
#define OPTIONS(X) \
	X(FILTER,   "filter",    'f', "EXPR",      ON_LENS,    filter,  filter,      "filter and transform: module:libc !fn:^std:: time:2,5 (repeatable)") \
	X(TIME,     "time",      0,   "A,B",       ON_LENS,    time,    filter,      "only from A to B, in seconds since the start (10ms, 2m; either may be missing)") \
	X(THREAD,   "thread",    0,   "RE",        ON_LENS,    thread,  filter,      "only threads whose name matches") \
	X(EVENT,    "event",     'e', "NAME",      ON_LENS | ON_RECORD, names, events, "the event to count (repeatable: a column each); time on the cpu or else the busiest one, of record cycles or cpu-clock, if not given") \
	X(METRIC,   "metric",    0,   "NAME",      ON_LENS,    text,    metric,      "what is counted: period (a sample's weight, the default), samples (1) or wall (a clock and the waits off the cpu); of a heap live, peak, leaked, grown, freed, freed-by, temporary, bytes or calls") \
	X(RATIO,    "ratio",     0,   "NAME=A/B",  ON_EXPLORE | ON_LIVE | ON_REPORT, ratio,   ratios,      "a column of event A over event B, or A/B*FACTOR (repeatable), instead of IPC, MPKI and branch misses where their events were recorded; none: no such columns") \
	X(GROUP,    "group",     0,   "KEY",       ON_LENS,    text,    group,       "rows by function, module, file, line, thread, process, comm, event, cpu, cgroup, label, capture or host; of heaps also stack or size") \
	X(NOINLINE, "no-inline", 0,   NULL,        ON_LENS,    flag,    no_inline,   "inlined functions are part of their callers") \
	X(TRACER,   "tracer",    0,   NULL,        ON_LENS,    flag,    tracer,      "of a recording of both, count the samples in which the recorder of the heap works, too") \
	X(SYMBOLS,  "symbols",   0,   "DIR",       ON_READ,    names,   symbols,     "look for symbol files in DIR first (repeatable)") \
	X(SOURCE,   "source",    0,   "DIR",       ON_SCREEN | ON_PACK,  names,   sources,     "look for source files below DIR (repeatable)") \
	X(SOURCEMAP,"source-map",0,   "FROM=TO",   ON_SCREEN | ON_PACK,  map,     source_maps, "source files whose recorded path begins with FROM are below TO (repeatable)") \
	X(SERVERS,  "debuginfod",0,   NULL,        ON_READ,    flag,    debuginfod,  "fetch missing debug files from the servers in $DEBUGINFOD_URLS; on when it is set") \
	X(STITCH,   "stitch",    0,   NULL,        ON_READ,    flag,    stitch,      "copied stacks that were cut short go on as earlier ones of the thread, behind [stitched]") \
	X(NOCACHE,  "no-cache",  0,   NULL,        ON_INDEX,   flag,    no_cache,    "read the file itself, not the index that an earlier reading of it left, and leave none") \
	X(FIELDS,   "fields",    0,   "NAMES",     ON_LENS,    text,    fields,      "fields of tracepoints as innermost frames: next_comm,prev_state, all, or print: as perf script prints them") \
	X(VIEW,     "view",      0,   "NAME",      ON_SCREEN,  text,    view,        "top, tree, callers, butterfly, flame, threads, timeline, heat, info, memory, leaks, lifetimes, sizes, temporaries, handoffs, reallocs, waste, blocks, allocators (of heaps), findings or annotate (of a function)") \
	X(VIEWNAME, "view-name", 0,   "NAME",      ON_LENS,    name,    view_name,   "a saved view: its filter, view, order and grouping, where no other option says otherwise") \
	X(FUNCTION, "function",  0,   "RE",        ON_ROWS,    text,    function,    "the function of butterfly or annotate; in callers, only this one") \
	X(SORT,     "sort",      0,   "COLUMN",    ON_REPORT,  text,    sort,        "order a table by self, total, name or module") \
	X(ROWS,     "rows",      'n', "ROWS",      ON_ROWS,    rows,    rows,        "at most so many rows; 0 is all") \
	X(SUPPRESS, "suppressions", 0, "FILE",     ON_EXPLORE | ON_REPORT, text, suppressions, "leaks counts leaks that FILE names (leak:PATTERN, as of LeakSanitizer), and shows them no more") \
	X(MIN,      "min",       0,   "PERCENT",   ON_ROWS,    percent, min_percent, "leave out what is less than this share; 0 is nothing") \
	X(WIDTH,    "width",     0,   "COLS",      ON_ROWS,    width,   width,       "rows at most so wide; 0 is unlimited; the terminal's if not given, else unlimited") \
	X(JSON,     "json",      0,   NULL,        ON_TEXT,    flag,    json,        "JSON instead of text") \
	X(REPORT,   "report",    0,   NULL,        ON_DIFFS,   flag,    report,      "print the difference and do not open the screens") \
	X(NORMALISE,"normalise", 0,   "HOW",       ON_SIDES,    text,    normalise,   "typical, none, total, time, samples, or an event: what both sides are made equal by") \
	X(FAILIF,   "fail-if",   0,   "CONDITION", ON_DIFFS,   list,    fail_if,     "exit with 1 if it holds: total > +5%, self(RE) > +3%, leaked > +1MB, peak > 512MB (repeatable)") \
	X(ANY,      "any",       0,   NULL,        ON_DIFFS,   flag,    any,         "changes within the noise count for --fail-if, too") \
	X(JUNIT,    "junit",     0,   "FILE",      ON_DIFFS,   name,    junit,       "what became of --fail-if as JUnit XML; - is standard output") \
	X(HISTORY,  "history",   0,   "DIR",       ON_ROWS,    name,    history,     "earlier runs of the program: how unlike they are widens intervals of a comparison; a report adds its runs") \
	X(MARKDOWN, "markdown",  0,   NULL,        ON_DIFFS,   flag,    markdown,    "the report as Markdown, for pull requests") \
	X(LOOSE,    "loose-names",0,  NULL,        ON_SIDES,   flag,    loose_names, "functions are the same without template arguments, clones' marks (.cold), hashes, addresses") \
	X(MAP,      "map",       0,   "OLD=NEW",   ON_SIDES,   list,    maps,        "functions, modules and threads called OLD are taken for NEW (repeatable)") \
	X(UNPAIRED, "no-pairs",  0,   NULL,        ON_SIDES,   flag,    no_pairs,    "programs that are called otherwise after than before (app-1.2, app-1.3) are two, and so are functions (lambdas that moved)") \
	X(SIDE_A,   "a",         0,   "EXPR",      ON_DIFF | ON_EXPORT,    text,    side_a,      "the filter that is before, of one recording: time:0,10 or thread:x or event:y") \
	X(SIDE_B,   "b",         0,   "EXPR",      ON_DIFF | ON_EXPORT,    text,    side_b,      "the filter that is after") \
	X(TO,       "to",        0,   "FORMAT",    ON_EXPORT,  name,    to,          "the format to write") \
	X(INLINE,   "inline",    0,   NULL,        ON_EXPORT,  flag,    inlined,     "inlined functions of a recording are frames of their own") \
	X(KERNEL,   "kernel",    0,   NULL,        ON_EXPORT,  flag,    kernel,      "folded: _[k] behind names of the kernel's frames") \
	X(JIT,      "jit",       0,   NULL,        ON_EXPORT,  flag,    jit,         "folded: _[j] behind names of generated code") \
	X(ALL,      "all",       0,   NULL,        ON_EXPORT,  all,     kernel,      "folded: --kernel and --jit") \
	X(PID,      "pid",       0,   NULL,        ON_EXPORT,  flag,    pid,         "folded: -PID behind names of threads") \
	X(TID,      "tid",       0,   NULL,        ON_EXPORT,  flag,    tid,         "folded: -PID/TID behind names of threads") \
	X(ADDRS,    "addrs",     0,   NULL,        ON_EXPORT,  flag,    addrs,       "folded: addresses of frames without a symbol") \
	X(WITHOUT,  "without",   0,   "WHAT",      ON_PACK,    text,    without,     "leave out command, host, environment, cgroups, labels, paths, sources or code: words with commas") \
	X(OUTPUT,   "output",    'o', "FILE",      ON_OUTPUT,  name,    output,      "write to FILE (report, export, info: instead of standard output; pack: instead of FILE.pack)") \
	X(RUNS,     "runs",      0,   "N",         ON_RECORD | ON_COMPARE, text, runs,      "run the command so often, each run to a file of its own (x.data: x.1.data, …); of compare each command, 5 times if not given") \
	X(KEEPRUNS, "keep-runs", 0,   "DIR",       ON_COMPARE, name,    keep_runs,   "leave the recordings in DIR; they go if not given") \
	X(FREQ,     "freq",      'F', "HZ",        ON_RECORDS | ON_COMPARE,  text,    freq,        "samples a second of each thread that runs; 999 if not given") \
	X(COUNT,    "count",     'c', "N",         ON_RECORDS | ON_COMPARE,  text,    count,       "a sample at each so many events (of clocks: nanoseconds), instead of --freq") \
	X(GRAPH,    "call-graph",'g', "HOW",       ON_RECORDS | ON_COMPARE,  text,    call_graph,  "stacks: unwound[,SIZE] (the default: SIZE bytes of each, unwound at once), fp, dwarf[,SIZE] (copied to the file) or off") \
	X(OFFCPU,   "off-cpu",   0,   NULL,        ON_RECORDS | ON_COMPARE,  flag,    off_cpu,     "record when threads leave a cpu and come back") \
	X(WHOLE,    "all-cpus",  'a', NULL,        ON_RECORDS,  flag,    all_cpus,    "record everything that runs, instead of a command") \
	X(CPUS,     "cpus",      'C', "LIST",      ON_RECORDS,  joined,  cpus,        "only on these cpus: 0-3,8 (repeatable)") \
	X(TASK,     "task",      't', "TID",       ON_RECORDS,  joined,  tasks,       "threads that run already, with commas between or -t for each, instead of a command") \
	X(CGROUP,   "cgroup",    'G', "NAME",      ON_RECORDS,  text,    cgroup,      "only what runs in this control group") \
	X(REALTIME, "realtime",  'r', "PRIO",      ON_RECORDS,  text,    realtime,    "the recorder goes before all that is not of real time (SCHED_FIFO, 1 to 99)") \
	X(COMPRESS, "compress",  'z', "LEVEL",     ON_RECORD,  text,    compress,    "pack records with zstd at this level; 1 if not given, 0: they are not packed") \
	X(CPU,      "cpu",       0,   NULL,        ON_RECORDS,  flag,    cpu,         "record CPU samples: the default; with --heap, both") \
	X(HEAP,     "heap",      0,   NULL,        ON_RECORDS | ON_COMPARE,  flag,    heap,        "record allocations and frees; with --cpu, both, to a directory") \
	X(NOPATCH,  "no-patch",  0,   NULL,        ON_RECORDS,  flag,    no_patch,    "change no code of the program: of allocators linked into it, only calls by way of the loader are recorded") \
	X(FREES,    "free-stacks",0,  NULL,        ON_RECORDS,  flag,    free_stacks, "record the stacks of frees too") \
	X(SAMPLE,   "sample",    0,   "BYTES",     ON_RECORDS,  text,    sample,      "record allocations that lie BYTES apart on average (512k), not all") \
	X(OVERHEAD, "max-overhead",0, "N%",        ON_RECORDS,  text,    max_overhead,"record as many allocations as take no more than N% of the program's own time") \
	X(CULL,     "cull",      0,   "TIME",      ON_RECORDS,  text,    cull,        "only count what is freed within TIME (10ms), by stack") \
	X(MAXSIZE,  "max-size",  0,   "BYTES",     ON_RECORDS,  text,    max_size,    "no larger file (1G): recording ends, or see --keep") \
	X(KEEP,     "keep",      0,   "WHAT",      ON_RECORD,  text,    keep,        "with --max-size: newest events, of which the oldest go, or oldest (ends the trace)") \
	X(CHILDREN, "children",  0,   NULL,        ON_RECORDS,  flag,    children,    "record the heaps of processes that the command starts, too (record: each to a file of its own)") \
	X(ATTACH,   "attach",    'p', "PID",       ON_RECORDS | ON_TELL, joined, attach, "the process that runs already (record: instead of a command; several with commas or -p for each, but not with --heap)") \
	X(DURATION, "duration",  0,   "TIME",      ON_RECORDS,  text,    duration,    "end the recording after so long (10s, 5m), and the command") \
	X(KEYS,     "keys",      0,   "KEYS",      ON_VIEWS,   text,    keys,        "play KEYS without a terminal and print the last screen: 'jj<Enter>/foo<Enter>'") \
	X(SCREEN,   "screen",    0,   "COLSxROWS", ON_SCREEN,  screen,  cols,        "the size of that screen; a report's flame graph is COLS wide") \
	X(COLOR,    "color",     0,   "WHEN",      ON_VIEWS,   text,    color,       "auto, never, 8, 16 or 256 colours") \
	X(ASCII,    "ascii",     0,   NULL,        ON_SCREEN | ON_INFO, flag,    ascii,       "nothing but ASCII") \
	X(NOMOUSE,  "no-mouse",  'M', NULL,        ON_VIEWS,   flag,    no_mouse,    "leave the mouse to the terminal") \
	X(HELP,     "help",      'h', NULL,        ON_ALL,     flag,    help,        "print this and exit") \
	X(VERSION,  "version",   'V', NULL,        ON_ALL,     flag,    version,     "print the version and exit")
/* clang-format on */

enum option_id {
#define X(name, ...) OPTION_##name,
	OPTIONS(X)
#undef X
		N_OPTIONS
};

/* Words of the command line, in the order given. */
struct option_list {
	const char **at;
	size_t n, cap;
};

/* What the command line said. Strings are borrowed from argv but where it says otherwise. */
struct options {
	const struct command *command;
	char **argv;                    /* all of it, from the program's name on; ends with NULL */
	struct option_list files;       /* as given */
	bool divided;                   /* there is a "--" */
	size_t n_before;                /* files in front of a "--"; 0: there was none */
	struct option_list symbols;     /* --symbols */
	struct option_list sources;     /* --source */
	struct option_list source_maps; /* --source-map; each has a "=" behind something */
	struct option_list events;      /* --event */
	struct option_list ratios;      /* --ratio; ratio_check() took each */
	struct option_list fail_if;     /* --fail-if */
	struct option_list maps;        /* --map */
	struct filter *filter;     /* -f, --time and --thread together; never NULL once parsed */
	const char *metric;        /* "" when not given */
	const char *group;         /* NULL: not given */
	const char *view;          /* NULL: not given */
	const char *view_name;     /* NULL: not given */
	struct saved_view *saved;  /* that view; owned; NULL: none */
	struct notebook *notebook; /* of the file that is read; owned; NULL: not opened */
	const char *function;      /* NULL: not given */
	const char *sort;          /* NULL: not given */
	const char *suppressions;  /* NULL: not given */
	const char *to;            /* NULL: not given */
	const char *output;        /* NULL: standard output */
	const char *keys;          /* NULL: not given */
	const char *fields;        /* NULL: not given */
	const char *color;         /* NULL: not given */
	const char *normalise;     /* NULL: not given, as the following */
	const char *side_a, *side_b;
	const char *side_name[2]; /* not said: what sides are called; NULL: by their files */
	const char *junit;
	const char *sample;       /* NULL: not given */
	const char *max_overhead; /* NULL: not given */
	const char *cull;         /* NULL: not given */
	const char *max_size;     /* NULL: not given */
	const char *keep;         /* NULL: not given */
	char *attach;             /* all that were given, with commas between; owned, NULL: none */
	const char *duration;     /* NULL: not given */
	const char *freq;         /* NULL: not given */
	const char *runs;         /* NULL: not given */
	const char *keep_runs;    /* NULL: not given */
	const char *history;      /* NULL: not given */
	const char *count;        /* NULL: not given */
	const char *call_graph;   /* NULL: not given */
	char *cpus, *tasks;       /* as attach */
	const char *cgroup;       /* NULL: not given */
	const char *without;      /* likewise */
	const char *realtime;     /* NULL: not given */
	const char *compress;     /* NULL: not given */
	int64_t rows;             /* -1: not given; 0: all */
	double min_percent;       /* -1: not given */
	int width;                /* -1: not given; 0: unlimited */
	int cols, lines;          /* --screen; 0: not given */
	bool kernel, jit, pid, tid, addrs; /* of folded export; --all is the first two */
	bool cpu, heap;                    /* which kind is recorded; neither: cpu */
	bool again;                        /* a run that is not the first of several */
	bool free_stacks, children;        /* of record */
	bool no_patch;                     /* likewise */
	bool off_cpu, all_cpus;            /* likewise */
	bool loose_names, no_pairs, any, markdown, report, json, ascii, no_inline, tracer, inlined,
		debuginfod, stitch, no_cache, no_mouse, help, version;
};

/*
 * Fills o from argv[1..]. argv[0] is skipped; its strings must outlive o. Returns 0, or -EINVAL with
 * a sentence. Either way the caller ends with options_done(). Not reentrant: getopt_long(3) is not.
 */
int options_parse(struct options *o, const struct command *command, int argc, char **argv,
		  struct err *e);
void options_done(struct options *o);

/* The options of one verb, a line each. */
void options_help(const struct command *command, FILE *to);

#endif
