#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# proftop where the kernel is old, or a filter hides calls of a new one: it records, opens files, and says what cannot be.
. "$(dirname "$0")/cli_lib.sh"

# shellcheck disable=SC2086 # with its options
${CC:-cc} -O1 -o masked "$source/tests/masked.c" || { echo "skipped: no compiler, or headers without seccomp"; exit 77; }
./masked true
[ $? = 0 ] || { echo "skipped: no filter may be set here"; exit 77; }
unmasked=$proftop

# as FILE COMMAND: proftop there prints what it prints here.
as() {
    "$unmasked" "$@" >here 2>here.err
    ./masked "$unmasked" "$@" >out 2>err || fault "masked: proftop $*: $(head -c 300 err)"
    cmp -s here out || fault "masked: proftop $* prints other things: $(diff here out | head -n 4)"
}
as report --symbols "$data" "$data/demo.data"
as --screen 80x24 --symbols "$data" "$data/demo.data"
as report "$data/perf_data/truth_z.data"

if "$unmasked" doctor | grep -q '^  of commands *yes'; then
    ./masked "$unmasked" record --heap -o x.heap -- sh -c ': $(echo one)' 2>err || fault "masked: record --heap: $(head -c 300 err)"
    run 0 report --event malloc x.heap
    says out 'allocations of malloc'
else
    echo "not run: record --heap, which this build or machine has not"
fi
if "$unmasked" doctor | grep -q '^  own programs *yes'; then
    ./masked "$unmasked" record -o x.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' 2>err ||
        fault "masked: record: $(head -c 300 err)"
    run 0 report x.data
    says out 'samples of'
fi
# What perf_event_open itself did not know in Linux 3.10: the clock, the event for nothing, where ids are, build-ids …
if ${CC:-cc} -O1 -o old_perf "$source/tests/old_perf.c" 2>err && ./old_perf true 2>err &&
    "$unmasked" doctor | grep -q '^  own programs *yes'; then
    for options in '' '--call-graph unwound' '-e cpu-clock,faults'; do
        # shellcheck disable=SC2086
        ./old_perf "$unmasked" record $options -o old.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' 2>err ||
            fault "3.10: record $options: $(head -c 300 err)"
        run 0 report --json --event cpu-clock old.data
        [ "$(sed -n 's/.*"samples": *\([0-9]*\).*/\1/p' out | head -n 1)" -ge 3 ] || fault "3.10: record $options: $(head -c 300 out)"
        run 0 info old.data
        grep -q damaged out && fault "3.10: record $options: $(grep damaged out)"
    done
    says out 'cpu-clock'
    says out 'faults'
else
    echo "not run: records of Linux 3.10: $(head -n 1 err)"
fi
./masked perf "$unmasked" record -o y.data -- true >out 2>err && fault "recorded without perf_event_open"
says err 'nothing can be sampled'
[ ! -e y.data ] || fault "a recording that never was has a file"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
