#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Generated code by its jitdump: proftop against perf inject --jit; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
needs perf
[ "$(uname -m)" = x86_64 ] || skip 'the program generates code for x86_64'
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -O1 -o "$dir/jitter" "$here/jitter.c" || exit 99
perf record -q -e cpu-clock -k 1 -F 997 -o "$dir/perf.data" -- "$dir/jitter" "$dir" 0.1 >/dev/null 2>&1 ||
    skip 'perf may not record here (see /proc/sys/kernel/perf_event_paranoid)'
perf inject --jit -i "$dir/perf.data" -o "$dir/injected.data" >/dev/null 2>&1 || skip 'perf inject knows no --jit here'

# "COUNT NAME" of each generated function but the fourth, which has time of its own only by chance.
perf script -i "$dir/injected.data" -F ip,sym 2>/dev/null | grep -o 'jit_[a-z]*' | grep -v jit_fourth | sort | uniq -c | awk '{print $1, $2}' \
    >"$dir/perf"
"$proftop" export --to folded "$dir/perf.data" --metric samples 2>"$dir/said" | grep -o 'jit_[a-z]* [0-9]*$' | grep -v jit_fourth |
    awk '{print $2, $1}' | sort -k 2 >"$dir/ours"
status=0
if [ "$(wc -l <"$dir/perf")" != 3 ]; then
    echo 'not three generated functions by perf:'
    cat "$dir/perf"
    status=1
fi
if ! diff "$dir/perf" "$dir/ours"; then
    echo 'generated functions by perf (<) and by proftop (>) differ'
    cat "$dir/said"
    status=1
fi

# What perf injected opens, too: each piece of code is a file of its own, mapped with a file's mode where others say what may
# be done there.
"$proftop" export --to folded "$dir/injected.data" --metric samples 2>"$dir/said" | grep -o 'jit_[a-z]* [0-9]*$' | grep -v jit_fourth |
    awk '{print $2, $1}' | sort -k 2 >"$dir/ours"
if ! diff "$dir/perf" "$dir/ours"; then
    echo 'generated functions of the injected file by perf (<) and by proftop (>) differ'
    cat "$dir/said"
    status=1
fi

# A recording with another clock has the functions too.
perf record -q -e cpu-clock -F 997 -o "$dir/perf.data" -- "$dir/jitter" "$dir" 0.1 >/dev/null 2>&1
n=$("$proftop" export --to folded "$dir/perf.data" 2>/dev/null | grep -c 'jit_\(first\|second\|third\) [0-9]*$')
if [ "$n" != 3 ]; then
    echo "with another clock $n generated functions instead of 3"
    status=1
fi

# Unwind tables lead out of generated code that keeps no frame pointer (perf does not follow them in files
# that perf inject makes), also where it calls code that has moved.
perf record -q -e cpu-clock -k 1 -F 997 --call-graph dwarf,16384 -o "$dir/perf.data" -- "$dir/jitter" "$dir" 0.1 >/dev/null 2>&1
"$proftop" export --to folded "$dir/perf.data" 2>/dev/null | grep 'jit_third [0-9]*$' >"$dir/third"
for callers in 'main;run' 'main;run;jit_fourth'; do
    if ! grep -q ";$callers;jit_third " "$dir/third"; then
        echo "no stack from $callers to jit_third in:"
        cat "$dir/third"
        status=1
    fi
done
exit $status
