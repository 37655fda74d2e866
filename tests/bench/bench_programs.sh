# SPDX-License-Identifier: GPL-3.0-or-later
# A part of bench.sh: what recording the heap of real programs costs, and what it costs to begin and to end. Each
# program runs natively, under us, under heaptrack and under massif; heaptrack does not read its trace afterwards.

# in_all NAME RUNS COMMAND…: a line for each of the four; ratios are of time by the clock, behind them of cpu, all threads
# together. $most: what that may be of ours; where it is not set, anything.
in_all() {
    local name=$1 runs=$2 native_seconds native_cpu tool command
    shift 2
    if ! measure "$runs" "$@" || [ -n "$more" ]; then
        not_measured "$name: it fails by itself; see $log"
        return
    fi
    native_seconds=$seconds native_cpu=$cpu
    row "$name" "$seconds s" "$cpu s" "$peak_mb MB" '1x' ''
    for tool in proftop heaptrack massif; do
        case $tool in
            proftop) command=(env LD_PRELOAD="$top/libproftop-heap.so" PROFTOP_OUTPUT="$dir/program.%p.heap" "$@") ;;
            heaptrack) command=(heaptrack -o "$dir/program.ht" "$@") ;;
            massif) command=(valgrind --tool=massif --massif-out-file=/dev/null "$@") runs=1 ;;
        esac
        rm -f "$dir"/program.*
        if [ $tool != proftop ] && ! command -v "${command[0]}" >/dev/null 2>&1; then
            row "  $tool" '-' '-' '-' '-' 'not installed'
        elif ! measure "$runs" "${command[@]}"; then
            verdict=''
            [ $tool != proftop ] || judge 'runs' 0
            row "  $tool" '-' '-' '-' '-' "failed${verdict:+; $verdict}; see $log"
        else
            verdict=''
            [ $tool != proftop ] || [ -z "${most:-}" ] || judge "<= $most of cpu" "$cpu <= $most * $native_cpu"
            row "  $tool" "$more$seconds s" "$more$cpu s" "$peak_mb MB" \
                "$more$(calc %.2f "$seconds / $native_seconds")x" \
                "$more$(calc %.2f "$cpu / $native_cpu")x of cpu${verdict:+; $verdict}"
        fi
    done
    rm -f "$dir"/program.*
}

# What each of them does, for some seconds at most.
bench_programs() {
    local python cc1plus
    [ -e "$top/libproftop-heap.so" ] || { not_measured 'real programs: there is no tracer in this build'; return; }
    heading 'recording the heap of real programs'
    if command -v sqlite3 >/dev/null 2>&1; then
        in_all 'sqlite3, 2 M rows and an index' 3 sqlite3 :memory: 'create table t(a integer primary key, b text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000)
            insert into t select i, hex(i * 7919) from n; create index x on t(b); select sum(length(b)) from t where b > "3";'
    fi
    if command -v sqlite3 >/dev/null 2>&1 && awk 'BEGIN { srand(1); for (i = 0; i < 300000; i++)
            printf "%d,%x,%s,%.6f\n", i, rand() * 2147483647, substr("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1, 1 + rand() * 30), rand() }' >"$dir/rows.csv"; then
        most=1.3 in_all 'sqlite3, import of 300,000 rows' 3 sqlite3 :memory: '.mode csv' 'create table t(a, b, c, d)' ".import $dir/rows.csv t" \
            'create index x on t(b)' 'select count(*), sum(d) from t'
    fi
    cc1plus=$(${CXX:-g++} -print-prog-name=cc1plus 2>/dev/null)
    if [ -x "${cc1plus:-}" ] && ${CXX:-g++} -std=c++17 -E -o "$dir/unit.ii" "$here/inlines.cc" 2>>"$log"; then
        most=1.25 in_all 'a C++ compile' 3 "$cc1plus" -quiet -fpreprocessed -std=c++17 -O1 "$dir/unit.ii" -o /dev/null
    fi
    if command -v clang++ >/dev/null 2>&1; then
        most=1.3 in_all 'clang++' 3 clang++ -std=c++17 -O1 -DSERVICE=1 -c -o /dev/null "$here/services.cc"
    fi
    python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
    [ -z "$python" ] || most=1.2 in_all 'python3 -c pass, 50 times' 3 sh -c "for i in $(echo {1..50}); do $python -c pass; done"
    [ -z "$python" ] || in_all 'python3' 3 "$python" -c '
import json
rows = [{"a": i, "b": "x" * (i % 50), "c": [i, i + 1]} for i in range(100000)]
text = json.dumps(rows); print(len(json.loads(text)), len(set(text.split(","))))'
    if command -v perl >/dev/null 2>&1; then
        in_all 'perl' 3 perl -e 'my %h; $h{"k" . ($_ % 200000)} .= "x" x ($_ % 50) for 1..1500000; print scalar(keys %h), "\n"'
    fi
    if ${CC:-cc} -O2 -o "$dir/with-jemalloc" -I"$top" "$here/bench_heap.c" -ljemalloc -lpthread 2>>"$log"; then
        in_all 'a program with jemalloc, 1.5 M pairs' 3 "$dir/with-jemalloc" churn 20 1 1500000
    fi
    # Its calls go by no table: heaptrack sees none of them.
    if ${CC:-cc} -O2 -o "$dir/within-jemalloc" -I"$top" "$here/bench_heap.c" -l:libjemalloc.a -lstdc++ -lm -lpthread -ldl 2>>"$log"; then
        in_all 'a program with jemalloc in it, 1.5 M pairs' 3 "$dir/within-jemalloc" churn 20 1 1500000
    fi
    bench_program_limits
}

# least_ms COMMAND…: of 40 runs; $which of the two numbers.
least_ms() {
    local each least=''
    for _ in {1..40}; do
        rm -f "$dir"/program.*
        each=$("$tools/bench_exit" "$@" 2>>"$log") || return 1
        each=($each)
        [ -n "$least" ] && awk "BEGIN { exit !(${each[$which]} >= $least) }" || least=${each[$which]}
    done
    echo "$least"
}

# What the tracer adds to the beginning and to the end of a process, and to its memory.
bench_program_limits() {
    local native ours which threads
    local -a traced=(env LD_PRELOAD="$top/libproftop-heap.so" PROFTOP_OUTPUT="$dir/program.heap")
    heading 'recording the heap: beginning, end and memory, the least of 40 runs'
    which=0
    native=$(least_ms env true) && ours=$(least_ms "${traced[@]}" true) || { not_measured "true; see $log"; return; }
    verdict='' && judge 'is to be <= 5 ms more' "$ours - $native <= 5"
    row 'true, from beginning to end' "$ours ms" '' '' "$native ms" "$verdict"
    which=1
    native=$(least_ms env "$tools/bench_heap" churn 20 4 50000) &&
        ours=$(least_ms "${traced[@]}" "$tools/bench_heap" churn 20 4 50000) || { not_measured "the end; see $log"; return; }
    verdict='' && judge 'is to be <= 20 ms more' "$ours - $native <= 20"
    row 'end, with what 4 threads noted last' "$ours ms" '' '' "$native ms" "$verdict"
    for threads in 1 16; do
        rm -f "$dir"/program.*
        measure 1 "$tools/bench_heap" churn 20 $threads 300000 || return
        native=$peak_mb
        measure 1 "${traced[@]}" "$tools/bench_heap" churn 20 $threads 300000 || return
        verdict='' && judge "is to be <= $((32 + 8 * threads)) MB more" "$peak_mb - $native <= 32 + 8 * $threads"
        row "memory with $threads thread$([ $threads = 1 ] || echo s), 16,384 stacks each" '' '' "$peak_mb MB" "$native MB" "$verdict"
    done
    rm -f "$dir"/program.*
}
