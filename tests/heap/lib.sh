# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of the heap tracer share: sourced by them, it ends in a scratch directory of their own.
set -uo pipefail

build=$(cd "$(dirname "${PROFTOP:?}")" && pwd)
tracer=$build/libproftop-heap.so
tools=$build/tests/heap
faults=0
fault() {
    echo "FAULT: $*"
    faults=$((faults + 1))
}
if [ ! -e "$tracer" ]; then
    echo "skipped: this build has no heap tracer"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
unset LD_PRELOAD "${!PROFTOP_@}"

# value NAME FILE: of a line "NAME value".
value() { awk -v name="$1" '$1 == name { print $2; found = 1 } END { if (!found) print "none" }' "$2"; }

# record OUT COMMAND…: under the tracer, with the counting library behind it, and $behind behind that. Every second recording
# has addresses, which show that blocks at one address follow each other.
n_records=0
record() {
    local out=$1
    shift
    n_records=$((n_records + 1))
    rm -f "$out" counts log
    timeout 120 env LD_PRELOAD="$tracer $tools/count_shim.so ${behind:-}" COUNT_SHIM=counts PROFTOP_OUTPUT="$work/$out" \
        PROFTOP_LOGFILE="$work/log" PROFTOP_CHECK="${check:-1}" PROFTOP_ADDRESSES=$((n_records % 2)) "$@"
}

# sound WHAT TOTALS: what must hold of every trace; with $loses, events may be lost. One that was ended by its size lacks
# what was still on its way from other threads: frees of that are unmatched ($ended_early).
sound() {
    local name names="unmatched backward"
    [ -z "${ended_early:-}" ] || names=
    # Of a sample, a free at an address like one that was forgotten is told by address, though nobody recorded its block.
    [ "$(value evicted "$2")" = 0 ] || [ "$(value rates "$2")" = 0 ] || names=${names/unmatched/}
    for name in bad ${loses:-lost} $names double cut; do
        [ "$(value "$name" "$2")" = 0 ] || fault "$1: $name is $(value "$name" "$2")"
    done
}

# compare HOW WORK N: HOW is exact (every call is in the trace, which ends in order), cut (every call is, and that is all), or
# alive (the program is as without us).
compare() {
    local how=$1 what="$2 $3" plain traced name
    LD_PRELOAD=${behind:-} timeout 60 "$tools/heap_work" "$2" "$3" >plain.out 2>plain.err
    plain=$?
    record trace.heap "$tools/heap_work" "$2" "$3" >traced.out 2>traced.err
    traced=$?
    [ "$plain" = "$traced" ] || fault "$what: ends with $traced, not $plain"
    cmp -s plain.out traced.out || fault "$what: prints other things: $(head -c 300 traced.out)"
    "$tools/heap_totals" trace.heap >totals || fault "$what: the trace cannot be read"
    sound "$what" totals
    if grep -q 'were compared' log && ! grep -q ' 0 were wrong' log; then
        fault "$what: $(grep 'were compared' log)"
    fi
    echo "$what: $(tr '\n' ' ' <totals)"
    [ "$how" != alive ] || return 0
    [ "$how" = cut ] || [ "$(value ended totals)" = 1 ] || fault "$what: the trace has no end"
    for name in allocs reallocs frees bytes; do
        [ "$(value "$name" totals)" = "$(value "$name" counts)" ] ||
            fault "$what: $name $(value "$name" totals), not $(value "$name" counts)"
    done
}
