# SPDX-License-Identifier: GPL-3.0-or-later
# A part of bench.sh: what recording the heap costs a program that this project did not write, alloc_bench.c of shared/bench
# beside the sources: random sizes, 256 live blocks. All threads count: the program's own, and the one that writes.

# alloc_run DEPTH PAIRS HOW COMMAND…: sets $own and $all, ns of cpu a pair: the medians of 5 runs.
alloc_run() {
    local what=("$1" 1 "$2" "$3") pairs=$2 result times TIMEFORMAT='%U %S'
    shift 3
    rm -f "$dir"/alloc.times
    for _ in 1 2 3 4 5; do
        rm -f "$dir"/alloc.out*
        times=$({ time "$@" "$dir/alloc_bench" "${what[@]}" >"$dir/alloc.said" 2>>"$log"; } 2>&1) || return 1
        result=$(awk '$1 == "RESULT" { print $6 }' "$dir/alloc.said")
        [ -n "$result" ] || return 1
        awk -v own="$result" -v n="$pairs" '{ printf "%s %.1f\n", own, ($1 + $2) * 1e9 / n }' <<<"$times" >>"$dir/alloc.times"
    done
    own=$(cut -d ' ' -f 1 "$dir/alloc.times" | sort -g | sed -n 3p)
    all=$(cut -d ' ' -f 2 "$dir/alloc.times" | sort -g | sed -n 3p)
}

bench_alloc() {
    local source='' each how depth limit bytes pairs=3000000 own all native ours share
    [ -e "$top/libproftop-heap.so" ] || { not_measured 'another allocation bench: there is no tracer in this build'; return; }
    for each in "$here"/../../../shared/bench/alloc_bench.c "$here"/../../../../shared/bench/alloc_bench.c; do
        [ -e "$each" ] && source=$each
    done
    [ -n "$source" ] || { printf '\nskipped: there is no shared/bench/alloc_bench.c beside the sources\n'; return; }
    # Its time is that of its own thread, whoever else wants the processors.
    sed 's/CLOCK_MONOTONIC/CLOCK_THREAD_CPUTIME_ID/' "$source" >"$dir/alloc_bench.c"
    ${CC:-cc} -O2 -g -fomit-frame-pointer -pthread -o "$dir/alloc_bench" "$dir/alloc_bench.c" 2>>"$log" ||
        { not_measured "another allocation bench: it does not compile; see $log"; return; }
    printf '\nrecording the heap of alloc_bench: ns of cpu a malloc and free; %d pairs\n' $pairs
    row '' 'over' 'all' bytes/event writer ''
    echo "$rule"
    while read -r how depth limit bytes; do
        alloc_run "$depth" $pairs "$how" env || continue
        native=$own
        row "native, $how, depth $depth" '' "$all" '' '' ''
        verdict=''
        if ! alloc_run "$depth" $pairs "$how" env LD_PRELOAD="$top/libproftop-heap.so" PROFTOP_OUTPUT="$dir/alloc.out.heap"; then
            judge 'runs' 0
            row '  proftop' '-' '-' '-' '-' "$verdict"
            continue
        fi
        ours=$(calc %.1f "$own - $native")
        share=$(calc %.1f "($all - $own) / $all * 100")
        each=$(calc %.2f "$(stat -c %s "$dir"/alloc.out.heap) / (2 * $pairs)")
        judge "<= $limit ns over" "$ours <= $limit"
        judge "<= $bytes bytes" "$each <= $bytes"
        judge 'writer <= 15 %' "$share <= 15"
        row '  proftop' "+$ours" "$all" "$each" "$share %" "$verdict"
        if ! command -v heaptrack >/dev/null 2>&1; then
            row '  heaptrack' '-' '-' '-' '-' 'not installed'
        elif alloc_run "$depth" $pairs "$how" heaptrack -o "$dir/alloc.out"; then
            row '  heaptrack' "+$(calc %.1f "$own - $native")" "$all" \
                "$(calc %.2f "$(stat -c %s "$dir"/alloc.out.* | head -n 1) / (2 * $pairs)")" '' ''
        else
            row '  heaptrack' '-' '-' '-' '-' "failed; see $log"
        fi
    done <<'CASES'
leaf 5 90 2.0
leaf 20 100 2.0
leaf 60 110 2.0
churn 5 130 3.0
churn 20 150 3.0
churn 60 170 3.0
CASES
    rm -f "$dir"/alloc.out*
}

# heap_keys FILE: keys that move through time, and that ask for other blocks. What they compute is said, not judged.
heap_keys() {
    local what median p99 bytes most used
    printf '\nkeys in a heap trace on a terminal of 120x40\n'
    row '' median p99 bytes computed ''
    echo "$rule"
    while read -r what median p99 bytes most used; do
        row "${what//-/ }" "$median ms" "$p99 ms" "$bytes" "$used ms" ''
    done < <("$tools/bench_keys" -h "$proftop" "$1" 2>>"$log")
}
