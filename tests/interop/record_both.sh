#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# proftop record --cpu --heap: a directory that opens as one recording. What it says of either kind is what the file of that
# kind says alone, and whatever goes wrong leaves what there is of both. Skipped where nobody may sample, and without the
# tracer. What happens beside is waited for, and no time is counted.
set -u
proftop=$(realpath "${PROFTOP:-./proftop}")
here=$(cd "$(dirname "$0")" && pwd)
build=$(dirname "$proftop")
dir=$(mktemp -d) || exit 99
trap 'exec 9>&-; kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 99
unset LD_PRELOAD "${!PROFTOP_@}"
both=$dir/both
faults=0

fault() {
    echo "FAULT: line ${BASH_LINENO[0]}: $*"
    faults=$((faults + 1))
}

# record STATUS OPTION…: records both, with what is said in err.
record() {
    local want=$1 got
    shift
    "$proftop" record -e cpu-clock --cpu --heap "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || fault "record $* ended with $got, not $want: $(cat err)"
}

# wait_until COMMAND…: until it succeeds; a fault after two minutes.
wait_until() {
    local end=$((SECONDS + 120))
    until "$@"; do
        [ $SECONDS -gt $end ] && { fault "waited in vain for: $*; $(tail -3 err)"; return 1; }
        sleep 0.1
    done
}

# rows FILE OPTION…: what the report has of numbers.
rows() {
    "$proftop" report --json -n 0 --min 0 "${@:2}" "$1" | sed -n '/^"columns"/p; /^"rows"/,$p'
}

# number FUNCTION COLUMN: of its own in the JSON on standard input.
number() {
    sed -n 's/.*"name": "'"$1"'".*"self": \[\([0-9]*\), \([0-9]*\)\].*/\'"$2"'/p' | head -1
}

# same A B WHAT…: two reports that must not differ, and are of something.
same() {
    local a b
    a=$(rows "$1" "${@:3}")
    b=$(rows "$2" "${@:3}")
    [ "$a" = "$b" ] || fault "${*:3}: $1 and $2 differ: $(diff <(echo "$a") <(echo "$b") | head -5)"
    [[ $a == *'"name"'* ]] || fault "${*:3}: $1 shows nothing: $a"
}

if ! "$proftop" record -e cpu-clock -o try -- true 2>err; then
    echo "skipped: $(cat err)"
    exit 77
fi
if [ ! -e "$build/libproftop-heap.so" ]; then
    echo 'skipped: this build has no heap tracer'
    exit 77
fi

${CC:-cc} -g -O2 -pthread -o both "$here/both.c" || exit 99

# One recording, under its usual name: two files, one thing that opens.
record 7 -- "$both"
[ "$(ls perf.data)" = $'data\ndata.heap' ] || fault "perf.data has $(ls perf.data)"
grep -q '^proftop: recorded .* samples, .* and the heap, .*, in perf.data$' err || fault "says $(cat err)"
"$proftop" info --json >info
[ "$(grep -c '"format": "perf.data"\|"format": "heap"' info)" = 2 ] || fault "info has other files: $(grep '"format"' info)"
grep -q '"name": "tracer"' info || fault "info does not say what the tracer took: $(grep '"name"' info)"
[ "$(sed -n 's/.*"processes": \([0-9]*\).*/\1/p' info)" = 1 ] || fault "the process is not one: $(grep processes info)"
rows perf.data --view tree >tree
grep -q '"columns": .*"cpu-clock", "metric": "period".*"malloc", "metric": "peak"' tree || fault "columns: $(head -1 tree)"
[ "$(number burn 1 <tree)" -gt 0 ] && [ "$(number burn 2 <tree)" = 0 ] || fault "burn: $(grep '"burn"' tree)"
[ "$(number keep 2 <tree)" -gt 0 ] || fault "keep: $(grep '"keep"' tree)"
# Both are called by the same work, of the same thread: their rows have the same parent.
[ "$(grep -o '"name": "work"' tree | wc -l)" = 2 ] || fault "work is called from more than two places: $(grep '"work"' tree)"

# Every number is what the part alone says; of the heap, what the program did, too.
for view in top tree threads callers flame; do
    same perf.data perf.data/data --view $view --event cpu-clock -f '!is:tracer'
    same perf.data perf.data/data --view $view --event cpu-clock --metric samples --tracer
    for metric in live peak leaked freed temporary bytes calls; do
        [ $metric = freed ] || [ $metric = temporary ] || [ $view != threads ] || continue
        same perf.data perf.data/data.heap --view $view --event malloc --metric $metric
    done
done
same perf.data perf.data/data.heap --view memory
# The heading of a table of the heap counts allocations, not samples, and the share is of them.
for view in memory leaks sizes blocks; do
    whole=$("$proftop" report -n 1 --view $view perf.data | head -2)
    alone=$("$proftop" report -n 1 --view $view perf.data/data.heap | head -1 | grep -o ': [0-9,]* allocations of [a-z]*')
    { [ -n "$alone" ] && [[ $whole == *"$alone,"* ]] && [[ $whole == *'(100.0 % of all bytes at this peak)'* ]]; } || fault "$view of both begins with: $whole"
done
# Samples of the CPU are nothing that these can show.
for view in memory leaks sizes blocks; do
    "$proftop" report -n 1 --view $view --event cpu-clock perf.data >shown 2>err && fault "$view shows samples: $(head -1 shown)"
    [ "$(cat err)" = "proftop: --view $view shows blocks, of which cpu-clock has none; --event malloc has" ] || fault "$view of samples: $(cat err)"
done
[ "$(rows perf.data --view top --metric leaked | number keep 1)" = 250000 ] || fault "keep leaked: $(rows perf.data --metric leaked | grep keep)"
rows perf.data --event cpu-clock --event malloc --metric calls >calls
[ "$(number keep 2 <calls)" = 2500 ] || fault "keep called malloc: $(grep keep calls)"
"$proftop" report --event cpu-clock --metric leaked 2>err && fault 'a clock has leaked'

# The recorder's own work is left out, of rows and of totals, until one asks for it; info says how much it is.
total() { sed -n 's/.*"metric": "period".* "total": \([0-9]*\), "whole": \([0-9]*\)}.*/\'"$1"'/p' | head -1; }
without=$(rows perf.data --event cpu-clock | total 1)
whole=$(rows perf.data --event cpu-clock | total 2)
own=$(rows perf.data --event cpu-clock -f is:tracer | total 1)
[ $((without + ${own:-0})) = "$whole" ] || fault "of $whole, $without are the program's and $own the recorder's"
[ "$("$proftop" report --json -n 1 --tracer perf.data | sed -n 's/^"filter": //p')" != '"!is:tracer",' ] || fault 'the recorder is hidden with --tracer'
"$proftop" report --event cpu-clock perf.data | grep -q '^# filter: !is:tracer (' || fault 'the report does not say what it leaves out'
"$proftop" --screen 100x24 --keys 1 perf.data | grep -q '^ filter  !is:tracer' || fault 'the screen does not say what it leaves out'
for view in top tree; do
    rows perf.data --view $view | grep -q '"module": "libproftop-heap.so", "self": \[[1-9]' && fault "$view shows the recorder"
done
# A library that is loaded by a link has one name in both files, its own: rows of either kind are the same.
cat >part.c <<'C'
#include <stdlib.h>
volatile unsigned long sink;
void *part(void) { for (int i = 0; i < 20000; i++) sink += (unsigned long)i * i; return malloc(100); }
C
echo 'void *part(void); int main(void) { for (int i = 0; i < 4000; i++) part(); return 0; }' >linked.c
mkdir lib && ${CC:-cc} -g -O1 -shared -fPIC -Wl,-soname,libpart.so.1 -o lib/libpart.so.1.0 part.c && ln -s libpart.so.1.0 lib/libpart.so.1 &&
    ${CC:-cc} -g -O1 -o linked linked.c lib/libpart.so.1.0 -Wl,-rpath,"$dir/lib" || exit 99
record 0 -o linked.both -- ./linked
for event in cpu-clock malloc; do
    names=$(rows linked.both --event $event --group module -f fn:^part$ | grep -o '"name": "libpart[^"]*"' | sort -u)
    [ "$names" = '"name": "libpart.so.1.0"' ] || fault "modules of part() by $event: $names"
done

own_share=$("$proftop" info perf.data | sed -n 's/^  tracer *\([0-9.]*\) %.*/\1/p')
[ "$own_share" = "$(LC_ALL=C awk -v a="${own:-0}" -v b="$whole" 'BEGIN { printf "%.1f", 100 * a / b }')" ] || fault "info says $own_share %, not $own of $whole"

# Parts that lie over each other have both in common.
"$proftop" diff --fail-if 'total > +900000%' --a time:0, --b time:0, 2>err
grep -q 'the sides overlap: .* samples and allocations are on both, 100.0 % of' err || fault "the sides overlap: $(cat err)"

# A part has only its own metrics in common with the whole.
for metric in samples period; do
    "$proftop" diff --report --metric $metric perf.data/data.heap perf.data >out 2>err && fault "allocations have $metric"
    grep -q 'there is nothing of "cpu-clock" in .*data.heap; it has malloc' err || fault "$metric of a heap: $(cat err)"
done
"$proftop" diff --fail-if 'leaked > +1MB' perf.data perf.data/data 2>err
[ $? = 2 ] || fault "a CPU's part has leaked: $(cat err)"

# One clock: what the files tell of were the same moments.
read -r cpu_begin cpu_end < <("$proftop" report --json -n 1 perf.data/data | sed -n 's/"\(begin\|end\)_ns": \([0-9]*\),/\2/p' | xargs)
read -r heap_begin heap_end < <("$proftop" report --json -n 1 --view top perf.data/data.heap | sed -n 's/"\(begin\|end\)_ns": \([0-9]*\),/\2/p' | xargs)
read -r begin end < <("$proftop" report --json -n 1 perf.data | sed -n 's/"\(begin\|end\)_ns": \([0-9]*\),/\2/p' | xargs)
[ "$heap_begin" -lt "$cpu_end" ] && [ "$cpu_begin" -lt "$heap_end" ] || fault "clocks: $cpu_begin $cpu_end, $heap_begin $heap_end"
[ "$begin" = $((heap_begin < cpu_begin ? heap_begin : cpu_begin)) ] || fault "begins at $begin, not $cpu_begin or $heap_begin"
[ "$end" = $((heap_end > cpu_end ? heap_end : cpu_end)) ] || fault "ends at $end, not $cpu_end or $heap_end"

# perf opens the directory, and the file in it.
if command -v perf >/dev/null; then
    perf report --stdio -i perf.data 2>perf.err </dev/null | grep -q burn || fault "perf does not see burn: $(head -3 perf.err)"
    perf script -i perf.data/data 2>/dev/null | grep -q burn || fault 'perf script does not see burn'
fi

# Two such recordings are compared by either kind.
record 7 -o again -- "$both"
"$proftop" diff --report perf.data again | grep -q 'cpu-clock' || fault 'diff does not compare the CPU'
"$proftop" diff --report --metric leaked perf.data again | grep -q '0 B (0.0 %)' || fault "leaks differ: $("$proftop" diff --report --metric leaked perf.data again | head -3)"

# Processes that come of it, and what the process becomes.
record 7 --children -o 'many 50%' -- "$both" fork exec
traces=("many 50%"/data*.heap)
[ ${#traces[@]} = 3 ] || fault "${#traces[@]} traces: $(ls 'many 50%')"
sum=0
for trace in "${traces[@]}"; do
    sum=$((sum + $(rows "$trace" --view top --metric leaked --event malloc | sed -n 's/.*"name": "keep".*"self": \[\([0-9]*\)\].*/\1/p')))
done
[ "$(rows 'many 50%' --metric leaked | number keep 1)" = $sum ] || fault "leaked in all: not $sum"
grep -q '3 traces of heaps' err || fault "says $(cat err)"

# A part that is damaged is told, and the rest is shown.
cp -r perf.data damaged
echo nothing >damaged/data.heap
"$proftop" info damaged | grep -q '^! trace' || fault "the damage is not told: $("$proftop" info damaged | tail -5)"
same damaged perf.data/data --view top --event cpu-clock --tracer

# What was there is kept, be it a file or a directory; one with other things in it stays.
"$proftop" record -e cpu-clock -o place -- true 2>err
record 7 -o place -- "$both"
[ -f place.old ] && [ -d place ] || fault "$(ls -ld place*)"
record 127 -o place -- ./nothing_here
[ -f place.old ] && [ -e place/data.heap ] || fault "a command that is not there took the place: $(ls -ld place* place/*)"
"$proftop" record -e cpu-clock -o place -- true 2>err
[ -e place.old/data.heap ] && [ -f place ] || fault "$(ls -ld place*)"
: >again/mine
record 2 -o again -- true
[ -e again/mine ] || fault 'a directory with other things in it is gone'

# A program that no library gets into.
if ${CC:-cc} -static -O1 -o still -x c - <<<'int main(void) { return 3; }' 2>/dev/null; then
    record 3 -o still.data -- ./still
    grep -q 'no heap was recorded' err && [ "$(ls still.data)" = data ] || fault "a static program: $(cat err; ls still.data)"
fi

# begin NAME OPTION…: a recording of a program that waits once its work is done, as $recorder.
begin() {
    rm -f line out
    mkfifo line
    : >out
    "$proftop" record -e cpu-clock --cpu --heap -o "$@" -- "$both" wait <line >out 2>err &
    recorder=$!
    exec 9>line
    wait_until grep -q ready out
}

# is_whole FILE: both parts have what the program did.
is_whole() {
    [ "$(rows "$1" --metric leaked | number keep 1)" = 250000 ] && [ "$(rows "$1" | number burn 1)" -gt 0 ]
}
has_burnt() { "$proftop" report -n 3 "$1" 2>/dev/null | grep -q burn; }
has_ended() { is_whole "$1" && ! "$proftop" info "$1" | grep -q 'not finished\|goes on'; }

# The recorder is killed: the program goes on, and so does its trace.
begin killed
wait_until has_burnt killed
wait_until is_whole killed
kill -9 $recorder
wait $recorder 2>/dev/null
exec 9>&-
wait_until has_ended killed

# Time is up: the recording of both ends, and then the program, which would wait for ever.
mkfifo never
exec 9<>never
"$proftop" record -e cpu-clock --cpu --heap -o limited --duration 1s -- "$both" wait <never >out 2>err ||
    fault "that its time is up is taken for a fault: $(cat err)"
exec 9>&-
grep -q 'and the heap, ' err || fault "of both it says: $(cat err)"
"$proftop" info limited | grep -q 'not finished\|goes on' && fault 'the trace goes on'

# What the command ran, and was not recorded, is mentioned as it is without --cpu.
record 0 -o left -- sh -c '/bin/true; :'
grep -q '^proftop: not recorded: 1 program that it ran (true); --children records it, too$' err || fault "a program without a trace: $(cat err)"

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
echo 'both as promised'
