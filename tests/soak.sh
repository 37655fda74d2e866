#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make soak: proftop live for ten minutes, of what is fed to it, of a program that it samples, of what perf record pipes into it, and of
# a heap, all at once. Prints memory and the display ten times; fails when memory grows in the second half, when what was fed did not
# get to the screen, when more than one in a hundred of the frames that were due did not come, when there were more than four in a
# second, or when one was larger than 4 KB. tests/bench/bench_live.c says what is due and what is lost. Memory is the most that
# there was at any moment of each tenth.
#
# SOAK_SECONDS=S   how long (600)
# SOAK_SAMPLES=N   how many samples are fed over that time (10000000)
# SOAK_PAIRS=N     how many blocks are allocated and freed a second (20000)
# SOAK_OF=KINDS    only some of "fed program piped heap"
set -uo pipefail

tools=$PWD/tests/bench
proftop=$PWD/proftop
seconds=${SOAK_SECONDS:-600}
samples=${SOAK_SAMPLES:-10000000}
pairs=${SOAK_PAIRS:-20000}
dir=$(mktemp -d) || exit 99
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT

failed=0
kinds=
for kind in ${SOAK_OF:-fed program piped heap}; do
    case $kind in
    piped) command -v perf >/dev/null || { echo 'perf record -o - is not there: not tried' && continue; } ;;
    fed | program | heap) ;;
    *) echo "soak.sh: SOAK_OF may be fed, program, piped and heap, not $kind" >&2 && exit 2 ;;
    esac
    kinds+=" $kind"
done

declare -A what=(
    [fed]="$samples samples of 2,000 stacks, fed as folded lines"
    [program]='a program of 2 busy threads, sampled at 999 Hz'
    [piped]='perf record -m 16 -g -o - of a busy thread at 499 Hz, piped into live -'
    [heap]="a heap, $pairs pairs of malloc and free a second"
)

# soak N COMMAND…: watches the command, which is fed N samples; in the place of the shell that does it.
soak() {
    exec "$tools/bench_live" soak "$seconds" "$@"
}

watch() {
    case $1 in
    fed) soak "$samples" "$proftop" live - ;;
    program) soak 0 "$proftop" live -e cpu-clock -- "$tools/bench_stacks" $((seconds + 60)) 2 ;;
    # When something new comes is known to who passes it on.
    piped) soak - "$proftop" live - \
        < <(exec perf record -q -m 16 -o - -e cpu-clock -F 499 -g -- "$tools/bench_stacks" $((seconds + 60)) 1 2>/dev/null) ;;
    heap) soak 0 "$proftop" live --heap -- "$tools/bench_heap" churn 16 1 "$pairs" $((seconds + 60)) ;;
    esac
}

table() {
    printf '\n%s\n%8s %9s %8s %12s %6s %7s %5s %7s %10s %9s %10s %12s %10s\n' "${what[$1]}" seconds samples 'live kB' \
        'recorder kB' 'cpu s' frames lost 'in 1 s' bytes 'a frame' 'at most' 'longest gap' 'seen after'
    awk '{ printf "%8d %9d %8d %12d %6.1f %7d %5d %7d %10d %9d %10d %9d ms %7d ms\n", $1, $2, $3, $4, $5, $6, $7, $8, $9,
            $6 ? $9 / $6 : 0, $10, $11, $12 }' "$dir/$1"
    # Flat: the most of the second half is not above the most of the first by more than a tenth and a megabyte.
    awk '{ live[NR] = $3; recorder[NR] = $4 }
        function most(of, from, to,   i, m) { for (i = from; i <= to; i++) m = of[i] > m ? of[i] : m; return m }
        function flat(of) { return most(of, half + 1, NR) <= 1.1 * most(of, 1, half) + 1000 }
        END { half = int(NR / 2); exit !(NR > 1 && flat(live) && flat(recorder)) }' "$dir/$1" &&
        echo 'memory is flat: yes' || { echo 'memory is flat: NO'; failed=1; }
    awk '{ frames = $6; lost = $7; pace = $8; most = $10 }
        END { exit !(lost * 100 <= frames && pace <= 4 && most <= 4096) }' "$dir/$1" &&
        echo 'display: yes' || { echo 'display: NO'; failed=1; }
}

declare -A watcher
for kind in $kinds; do
    watch "$kind" >"$dir/$kind" 2>"$dir/$kind.err" &
    watcher[$kind]=$!
done
for kind in $kinds; do
    wait "${watcher[$kind]}" || {
        echo "live ended, or what was fed did not get to the screen: $(cat "$dir/$kind.err")"
        failed=1
    }
    table "$kind"
done
exit $failed
