#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two runs of a program before and after a planted change, recorded by perf, and of one with a planted leak: what was planted
# is the first row and the first reason, and nothing of the rest is beyond noise.
set -uo pipefail

proftop=${PROFTOP:-./proftop}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

# What is tried again has not failed yet: it is told as a try.
trying=''

fault() {
    printf '%s: %s\n' "${trying:-FAIL}" "$*"
    faults=$((faults + 1))
}

cat >"$dir/work.c" <<'TEXT'
#include <stdint.h>
#include <stdlib.h>
static volatile uint64_t sink;
static void *volatile keep;
#define WORK(name) \
	__attribute__((noinline)) static void name(unsigned n) \
	{ \
		uint64_t x = n; \
		for (unsigned i = 0; i < n; i++) \
			x = x * 6364136223846793005u + i; \
		sink += x; \
	}
WORK(read_header) WORK(read_body) WORK(hash_it) WORK(compress_it) WORK(write_out)
__attribute__((noinline)) static void cache_insert(int leaks)
{
	keep = malloc(1000);
	if (!leaks)
		free(keep);
}
/* Each under its own caller: what is asked for changes with the program, too. */
__attribute__((noinline)) static void node(int i, int changed)
{
	keep = malloc(16 + 8 * i + changed);
	if (i % 3)
		free(keep);
}
#define CALLER(n) __attribute__((noinline)) static void caller##n(int changed) { node(n, changed); keep = 0; }
CALLER(1) CALLER(2) CALLER(3) CALLER(4) CALLER(5)
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), changed = argc > 2;
	caller1(changed);
	caller2(0);
	caller3(changed);
	if (changed)
		caller4(0);
	else
		caller5(0);
	for (int i = 0; i < rounds; i++) {
		read_header(2000);
		read_body(changed ? 15000 : 9000);
		hash_it(8000);
		compress_it(15000);
		write_out(5000);
		cache_insert(changed && i % 4 == 0);
	}
	return 0;
}
TEXT
# shellcheck disable=SC2086 # the compiler may have options
${CC:-cc} -O1 -g -fno-omit-frame-pointer -o "$dir/work" "$dir/work.c" 2>/dev/null || {
    echo 'skipped: no compiler'
    exit 77
}

record() { perf record -q -e cpu-clock:u -F 1999 -g -o "$dir/$1" -- "$dir/work" "${@:2}" >/dev/null 2>&1; }

planted_change() {
    local function
    record before.data 30000 && record again.data 30000 && record after.data 30000 changed || {
        echo 'skipped: perf cannot record here'
        return
    }
    "$proftop" diff --report "$dir/before.data" "$dir/after.data" >"$dir/out" || fault 'diff failed'
    grep -v '^#' "$dir/out" | head -1 | grep -q 'read_body' || fault "the first row is another: $(grep -v '^#' "$dir/out" | head -3)"
    grep -q '# *1\. .*read_body.*in itself' "$dir/out" || fault "the first reason is another: $(grep '1\.' "$dir/out")"
    # One run a side cannot tell a slower machine from a change: "run?" says so, and is no verdict.
    for function in hash_it compress_it write_out; do
        grep -v '^#' "$dir/out" | grep " $function *" | grep -Ev " (noise|run\?) " >"$dir/beyond" &&
            fault "$function is beyond noise: $(cat "$dir/beyond")"
    done
    "$proftop" diff --fail-if 'self(^read_body$) > +20%' "$dir/before.data" "$dir/after.data" 2>/dev/null
    [ $? = 1 ] || fault '--fail-if does not see the change'
    "$proftop" diff --fail-if 'self(^(hash_it|compress_it|write_out)$) > +1%' "$dir/before.data" "$dir/again.data" || fault 'noise fails'
}

# One recording of twenty may differ by chance: three tries, of which the last one counts.
for try in 'try 1 of 3' 'try 2 of 3' ''; do
    faults=0 trying=$try
    planted_change
    [ $faults = 0 ] && break
done
trying=''

if "$proftop" record --heap -o "$dir/before.heap" -- "$dir/work" 2000 >/dev/null 2>&1 &&
    "$proftop" record --heap -o "$dir/after.heap" -- "$dir/work" 2000 changed >/dev/null 2>&1; then
    "$proftop" diff --report --metric leaked "$dir/before.heap" "$dir/after.heap" >"$dir/out" || fault 'diff of heaps failed'
    grep -v '^#' "$dir/out" | head -1 | grep -q '+500 kB.*cache_insert' || fault "the leak is not the first row: $(cat "$dir/out")"
    grep -q '# *1\. cache_insert.*: +500 kB' "$dir/out" || fault 'the leak is not the first reason'
    "$proftop" diff --fail-if 'leaked > +400kB' "$dir/before.heap" "$dir/after.heap" 2>/dev/null
    [ $? = 1 ] || fault '--fail-if does not see the leak'
    "$proftop" diff --fail-if 'leaked > +600kB' "$dir/before.heap" "$dir/after.heap" || fault 'a leak that is small enough fails'
    # Two commands in turn: a b, b a.
    work=$dir/work
    "$proftop" compare --heap --runs 2 --keep-runs "$dir/runs" --report --metric leaked -- "$work 2000" -- "$work" 2000 changed \
        >"$dir/out" 2>"$dir/err" || fault "compare: $(cat "$dir/err")"
    # shellcheck disable=SC2012 # our own names
    order=$(ls -tr "$dir/runs" | tr '\n' ' ')
    [ "$order" = 'before.1.data after.1.data after.2.data before.2.data ' ] || fault "runs are not in turn: $order"
    grep -q '# *1\. cache_insert.*: +500 kB' "$dir/out" || fault "compare finds another leak: $(cat "$dir/out")"
    grep -q "^# $work 2000 → $work 2000 changed: " "$dir/out" || fault "sides have other names: $(head -1 "$dir/out")"
    "$proftop" compare --heap --runs 2 --fail-if 'leaked > +400kB' -- "$work" 2000 -- "$work" 2000 changed >/dev/null 2>"$dir/err"
    [ $? = 1 ] || fault "compare --fail-if does not see the leak: $(cat "$dir/err")"
    "$proftop" compare --heap --runs 2 --report -- "$work" 2000 -- false >/dev/null 2>"$dir/err"
    [ $? = 3 ] || fault 'a command that fails is compared'
    grep -q 'run 1 of "false" ended with status 1: nothing is compared' "$dir/err" || fault "no word of a failure: $(cat "$dir/err")"
    for words in "exec $work 20 >&2" "env $work 20"; do
        "$proftop" compare --heap --runs 1 --report -- "$words" -- "$work 20" >/dev/null 2>"$dir/err"
        case $? in 2 | 3) ;; *) fault "the heap of another program is compared: $words" ;; esac
    done
    "$proftop" record --heap --runs 2 -o "$dir/many.heap" -- "$work" 200 >/dev/null 2>&1 || fault 'record --runs fails'
    [ -s "$dir/many.1.heap" ] && [ -s "$dir/many.2.heap" ] || fault "record --runs writes other files: $(ls "$dir")"
else
    echo 'skipped: the heap cannot be recorded here'
fi

# Stack by stack: what a simple reader adds up of the events of each trace is what is exported of it, and what a comparison
# says is the one less the other.
cat >"$dir/subtract.py" <<'TEXT'
import collections, json, subprocess, sys
proftop, totals, before, after = sys.argv[1:]
METRICS = "calls", "bytes", "leaked"
faults = []
def run(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, check=True, text=True).stdout
def exported(trace):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for i, metric in enumerate(METRICS):
        for line in run(proftop, "export", "--to", "folded", "--metric", metric, trace).splitlines():
            stack, n = line.rsplit(" ", 1)
            sums[stack][i] += int(n)
    return sums
sums = []
for trace in before, after:
    sums.append(exported(trace))
    truth = sorted(tuple(map(int, line.split())) for line in run(totals, "-s", trace).splitlines())
    if truth != sorted(map(tuple, sums[-1].values())):
        faults.append(f"{trace}: {truth[:9]}, not {sorted(map(tuple, sums[-1].values()))[:9]}")
for i, metric in enumerate(METRICS):
    wanted = {s: (sums[0][s][i], sums[1][s][i]) for s in {*sums[0], *sums[1]} if sums[0][s][i] or sums[1][s][i]}
    found = {}
    for line in run(proftop, "export", "--to", "folded-diff", "--metric", metric, before, after).splitlines():
        stack, x, y = line.rsplit(" ", 2)
        found[stack] = int(x), int(y)
    if found != wanted:
        faults.append(f"{metric}: {sorted(found.items() ^ wanted.items())[:4]}")
    change = sum(y - x for x, y in wanted.values())
    for view in "top", "tree":
        d = json.loads(run(proftop, "diff", "--json", "--view", view, "--min", "0", "--metric", metric, before, after))
        if d["total"]["change"] != change or sum(r["self"]["change"] for r in d["rows"]) != change:
            faults.append(f"{metric}, {view}: not {change} in all")
if not any(len(s) > 3 for s in sums):
    faults.append("there are too few stacks to tell anything")
for f in faults:
    print(f)
sys.exit(bool(faults))
TEXT
totals=$(dirname "$proftop")/tests/heap/heap_totals
if [ -x "$totals" ] && [ -s "$dir/after.heap" ] && command -v python3 >/dev/null 2>&1; then
    python3 "$dir/subtract.py" "$proftop" "$totals" "$dir/before.heap" "$dir/after.heap" || fault 'a subtraction of the events says otherwise'
else
    echo 'skipped: stacks are not subtracted one by one'
fi

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
echo 'what was planted was found'
