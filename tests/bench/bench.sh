#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench: proftop beside its peers, on the same files in the same run. Files are made once, under
# bench/ in the build directory. BENCH_MB sets the size of the perf.data, BENCH_FOLDED_MB that of the folded file.
# BENCH_DWARF=1 adds a program with much debug information (BENCH_UNITS of its units).
set -uo pipefail

top=$PWD
here=$(cd "$(dirname "$0")" && pwd)
mb=${BENCH_MB:-100}
folded_mb=${BENCH_FOLDED_MB:-$((mb * 10))}
dir=$top/bench
proftop=$top/proftop
run=$top/tests/bench/bench_run
mkdir -p "$dir"
log=$dir/bench.log
: >"$log"

# --- the files ------------------------------------------------------------------------------

# About 300 bytes a sample, 20,000 samples a second and thread.
make_perf_data() {
    local seconds=$(((mb * 1000000 / 300 + 39999) / 40000 + 1))
    command -v perf >/dev/null 2>&1 || return 1
    [ -s "$dir/fp-$mb.data" ] && return
    echo "recording about $mb MB for $seconds s …" >&2
    perf record -q -m 16M -e cpu-clock -F 20000 -g -o "$dir/fp.tmp" -- \
        "$top/tests/bench/bench_stacks" $seconds 2 >>"$log" 2>&1 || return 1
    mv "$dir/fp.tmp" "$dir/fp-$mb.data"
}

make_folded() {
    [ -s "$dir/folded-$folded_mb.txt" ] && return
    echo "writing $folded_mb MB of folded stacks …" >&2
    "$top/tests/bench/bench_folded" "$folded_mb" >"$dir/folded.tmp" && mv "$dir/folded.tmp" "$dir/folded-$folded_mb.txt"
}

# --- measuring ------------------------------------------------------------------------------

# measure RUNS COMMAND…: sets $seconds and $peak_mb, or empties them.
measure() {
    local result
    if result=$("$run" "$@" 2>>"$log"); then
        seconds=${result% *}
        peak_mb=$(awk -v kb="${result#* }" 'BEGIN { printf "%.0f", kb / 1000 }')
    else
        seconds='' peak_mb=''
        echo "failed: $*" >>"$log"
    fi
}

size_mb() { awk -v n="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", n / 1e6 }'; }

rule() { printf '%s\n' '------------------------------------------------------------------------------------------'; }
row() { printf '%-46s %10s %9s %9s  %s\n' "$@"; }

# holds EXPRESSION: "yes" or "NO".
holds() { awk "BEGIN { exit !($1) }" && echo yes || echo NO; }

# peer NAME TARGET COMMAND…: one line for another tool on the same file.
peer() {
    local name=$1 target=$2 ratio reached=''
    shift 2
    if ! command -v "$1" >/dev/null 2>&1; then
        row "$name" '-' '-' '-' 'not installed'
        return
    fi
    measure 1 "$@"
    if [ -z "$seconds" ]; then
        row "$name" '-' '-' '-' 'failed'
        return
    fi
    ratio=$(awk -v a="$seconds" -v b="$ours" 'BEGIN { printf "%.1f", a / b }')
    [ -n "$target" ] && reached="ours is to be >= ${target}x faster: $(holds "$ratio >= $target")"
    row "$name" "${seconds} s" "${peak_mb} MB" "${ratio}x" "$reached"
}

bench_perf_data() {
    local file=$dir/fp-$mb.data size limit parser
    make_perf_data || { echo "no perf.data: perf is not installed or may not record here"; return; }
    size=$(size_mb "$file")
    limit=$(awk -v s="$size" 'BEGIN { printf "%.0f", s / 10 + 64 }')
    echo
    echo "perf.data, frame pointers, $size MB, $("$proftop" info "$file" | sed -n 's/^  cpu-clock *//p' | head -n 1)"
    row '' time memory ratio ''
    rule
    measure 5 "$proftop" report "$file"
    ours=$seconds
    [ -n "$ours" ] || { echo "proftop failed; see $log"; return; }
    row 'proftop report' "$seconds s" "$peak_mb MB" '1' "memory is to be <= $limit MB: $(holds "$peak_mb <= $limit")"
    measure 5 "$proftop" report --view tree "$file"
    row 'proftop report --view tree' "$seconds s" "$peak_mb MB" '' ''
    measure 5 taskset -c 0 "$proftop" report "$file"
    row 'proftop report, on one core' "$seconds s" "$peak_mb MB" '' ''
    peer 'perf report --stdio' 40 perf report --stdio -i "$file"
    peer 'perf report --stdio --no-inline --no-children' 4 perf report --stdio --no-inline --no-children -i "$file"
    parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
    peer 'hotspot-perfparser' '' "${parser:-hotspot-perfparser}" --input "$file" --output /dev/null
}

bench_folded() {
    local file=$dir/folded-$folded_mb.txt size rate
    make_folded || { echo "no folded file: the disk is full?"; return; }
    size=$(size_mb "$file")
    echo
    echo "folded, $size MB, on one core"
    row '' time memory ratio ''
    rule
    measure 3 taskset -c 0 "$proftop" report "$file"
    ours=$seconds
    [ -n "$ours" ] || { echo "proftop failed; see $log"; return; }
    rate=$(awk -v s="$size" -v t="$seconds" 'BEGIN { printf "%.0f", s / t }')
    row 'proftop report' "$seconds s" "$peak_mb MB" '1' "$rate MB/s, is to be >= 300: $(holds "$rate >= 300")"
    peer 'inferno-flamegraph' '' inferno-flamegraph "$file"
    peer 'flamegraph.pl' '' flamegraph.pl "$file"
}

# Keys on a terminal of 120x40, in the largest tree at hand.
bench_keys() {
    local file=$dir/folded-$folded_mb.txt what median p99 bytes limit
    [ -s "$file" ] || return
    echo
    echo "keys on a terminal of 120x40, $("$proftop" info --json "$file" | sed -n 's/^"stacks": \([0-9]*\),/\1/p') stacks"
    printf '%-46s %10s %9s %9s\n' '' median 'p99' bytes
    rule
    while read -r what median p99 bytes; do
        case $what in
            down-*) limit=250 ;;
            page-*) limit=2500 ;;
            *) limit=8000 ;;
        esac
        row "${what//-/ }" "$median ms" "$p99 ms" "$bytes" \
            "is to be <= 2 ms: $(holds "$median <= 2"); <= $limit bytes: $(holds "$bytes <= $limit")"
    done < <("$top/tests/bench/bench_keys" "$proftop" "$file" 2>>"$log")
}

# A program with much debug information, its stacks copied. Compiling it takes minutes.
bench_dwarf() {
    local units=${BENCH_UNITS:-40} program=$dir/dwarf-${BENCH_UNITS:-40} file=$dir/dwarf-${BENCH_UNITS:-40}.data parser
    if [ ! -s "$file" ]; then
        echo "compiling $units units and recording 10 s …" >&2
        bash "$here/dwarf_units.sh" "$program" "$units" >>"$log" 2>&1 &&
            perf record -q -e cpu-clock -F 1000 --call-graph dwarf,16384 -o "$file.tmp" -- "$program/units" 10 >>"$log" 2>&1 &&
            mv "$file.tmp" "$file" || { echo "no recording of copied stacks; see $log"; return; }
    fi
    echo
    echo "perf.data, copied stacks, $(size_mb "$file") MB, of a program of $(size_mb "$program/units") MB in $units units"
    row '' time memory ratio ''
    rule
    measure 3 "$proftop" report "$file"
    ours=$seconds
    [ -n "$ours" ] || { echo "proftop failed; see $log"; return; }
    row 'proftop report' "$seconds s" "$peak_mb MB" '1' "is to be <= 0.3 s: $(holds "$seconds <= 0.3")"
    measure 3 "$proftop" report --no-inline "$file"
    row 'proftop report --no-inline' "$seconds s" "$peak_mb MB" '' ''
    peer 'perf report --stdio' 100 perf report --stdio -i "$file"
    peer 'perf report --stdio --no-inline --no-children' '' perf report --stdio --no-inline --no-children -i "$file"
    parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
    peer 'hotspot-perfparser' 4 "${parser:-hotspot-perfparser}" --input "$file" --output /dev/null
}

bench_perf_data
bench_folded
[ "${BENCH_DWARF:-0}" = 0 ] || bench_dwarf
bench_keys
echo
