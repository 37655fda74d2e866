#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench: proftop beside its peers, on the same files in the same run. doc/speed.md says what the sections
# are, what they need and how long they take. Everything is made once, under bench/ in the build directory.
#
# BENCH=SECTION,…   which sections, "all", or nothing for the quick ones
# BENCH_CAP=S       a peer is given up after so many seconds (120); it gets half of the machine's memory
#
# Exits with 1 when a limit was missed, after all sections.
set -uo pipefail

quick=(fp paths dwarf narrow unwind folded keys heap alloc opening diff record live)
slow=(units large growth long heaps programs fleet exchange)

top=$PWD
here=$(cd "$(dirname "$0")" && pwd)
tools=$top/tests/bench
dir=$top/bench
proftop=$top/proftop
# What is measured is reading: an index is asked for where it is meant.
export PROFTOP_CACHE=no XDG_CACHE_HOME=$top/bench/cache
cap=${BENCH_CAP:-120}
# perf report has been seen to take 24 GB for a recording of 1 GB.
peer_kb=$(awk '/^MemTotal/ { printf "%.0f", $2 / 2 }' /proc/meminfo)
log=$dir/bench.log
mkdir -p "$dir"
: >"$log"

kept=0 missed=0 unmeasured=0

# --- the table ------------------------------------------------------------------------------

rule=$(printf -- '-%.0s' {1..110})
heading() {
    printf '\n%s\n' "$1"
    row '' time cpu memory ratio ''
    echo "$rule"
}
# row NAME TIME CPU MEMORY RATIO REMARK
row() { printf '%-46s %10s %9s %9s %9s  %s\n' "$@"; }
warn() { printf '%s\n' "$*" >&2; }

not_measured() {
    unmeasured=$((unmeasured + 1))
    printf '\nnot measured: %s\n' "$*"
}

# judge WHAT EXPRESSION: adds "WHAT: yes" or "WHAT: NO" to $verdict, and counts it.
judge() {
    local answer=NO
    if awk "BEGIN { exit !($2) }"; then
        answer=yes
        kept=$((kept + 1))
    else
        missed=$((missed + 1))
    fi
    verdict=${verdict:+$verdict; }"$1: $answer"
}

calc() { awk "BEGIN { printf \"$1\", $2 }"; }
size_mb() { calc %.1f "$(stat -c %s "$1") / 1e6"; }

# --- measuring ------------------------------------------------------------------------------

# measure RUNS COMMAND…: sets $seconds ("" when it failed), $cpu, $more (">" when it was given up) and $peak_mb.
measure() {
    local result
    seconds='' cpu='' peak_mb='' more=''
    if ! result=$("$tools/bench_run" -t "$cap" "$@" 2>>"$log"); then
        echo "failed: $*" >>"$log"
        return 1
    fi
    [ "${result#>}" = "$result" ] || more='>'
    read -r seconds cpu peak_mb <<<"${result#>}"
    peak_mb=$(calc %.0f "$peak_mb / 1000")
}

# ours NAME SECONDS-LIMIT MB-LIMIT RUNS COMMAND…: a line for proftop; either limit may be "".
ours() {
    local name=$1 seconds_limit=$2 mb_limit=$3
    shift 3
    verdict=''
    if ! measure "$@" || [ -n "$more" ]; then
        judge "runs" 0
        row "$name" '-' '-' '-' '-' "$verdict; see $log"
        return 1
    fi
    [ -z "$seconds_limit" ] || judge "is to be <= $seconds_limit s" "$seconds <= $seconds_limit"
    [ -z "$mb_limit" ] || judge "<= $mb_limit MB" "$peak_mb <= $mb_limit"
    row "$name" "$seconds s" "$cpu s" "$peak_mb MB" '' "$verdict"
}

# peer TARGET COMMAND…: a line for another tool on the same file, which takes $base seconds of ours. TARGET is
# how many times faster ours is to be, or "". Sets $seconds as measure does.
peer() {
    local target=$1 name ratio
    shift
    name=$(basename "$1")
    [ "$name" != perf ] || name="$(printf '%s ' "$@" | sed 's/ -i [^ ]*//; s/ $//; s: /[^ ]*::g')"
    verdict='' seconds=''
    if ! command -v "$1" >/dev/null 2>&1; then
        row "$name" '-' '-' '-' '-' 'not installed'
        return
    fi
    ulimit -S -v "$peer_kb"
    measure 1 "$@"
    ulimit -S -v unlimited
    if [ -z "$seconds" ]; then
        row "$name" '-' '-' '-' '-' "failed, or wanted more than $((peer_kb / 1000)) MB"
        return
    fi
    ratio=$(calc %.1f "$seconds / $base")
    # One that was given up says only that it is not below.
    if [ -n "$target" ] && { [ -z "$more" ] || awk "BEGIN { exit !($ratio >= $target) }"; }; then
        judge "ours is to be >= ${target}x faster" "$ratio >= $target"
    fi
    row "$name" "${more:+> }$seconds s" "${more:+> }$cpu s" "$peak_mb MB" "${more:+> }${ratio}x" "$verdict"
}

# peers_of FILE REPORT NO-INLINE PERFPARSER SCRIPT: the four peers of recordings, with their targets. $one_core is what
# proftop takes on one core, or "", $one_core_target how many times faster than perf report that is to be.
peers_of() {
    local file=$1 parser
    peer "$2" perf report --stdio -i "$file"
    if [ -n "${one_core:-}" ] && [ -n "$seconds" ]; then
        verdict=''
        [ -z "$one_core_target" ] ||
            judge "ours on one core is to be >= ${one_core_target}x faster" "$seconds / $one_core >= $one_core_target"
        : "${verdict:=ours on one core}"
        row '' '' '' '' "$(calc %.1f "$seconds / $one_core")x" "$verdict"
    fi
    peer "$3" perf report --stdio --no-inline --no-children -i "$file"
    peer "$5" perf script -i "$file"
    parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
    peer "$4" "${parser:-hotspot-perfparser}" --input "$file" --output /dev/null
}

# first_screen FILE LIMIT: until the cursor stands on a row of a real terminal.
first_screen() {
    local took
    verdict=''
    if took=$("$tools/bench_first" 5 '▸' "$proftop" "$1" 2>>"$log"); then
        [ -z "$2" ] || judge "is to be <= $2 s" "$took <= $2"
        row 'proftop, first rows on a terminal of 120x40' "$took s" '' '' '' "$verdict"
    else
        judge 'shows rows' 0
        row 'proftop, first rows on a terminal of 120x40' '-' '' '' '' "$verdict"
    fi
}

# --- the files ------------------------------------------------------------------------------

# has_space MB: is that much left on the disk?
has_space() {
    local free
    free=$(df -Pk "$dir" | awk 'NR == 2 { printf "%.0f", $4 / 1000 }')
    [ "$free" -ge "$1" ] && return
    not_measured "$1 MB of disk are needed in $dir, $free MB are free"
    return 1
}

# record NAME MB PROGRAM-COMMAND -- PERF-OPTION…: makes $dir/NAME-MB.data of that size, give or take a round of perf's
# buffers, and sets $file to it. perf ends the program when the size is reached; its status says nothing then.
record() {
    local name=$1 want=$2 program=()
    shift 2
    while [ "$1" != -- ]; do
        program+=("$1")
        shift
    done
    shift
    file=$dir/$name-$want.data
    [ ! -s "$file" ] || [ "${program[0]}" -nt "$file" ] || return 0
    if ! command -v perf >/dev/null 2>&1; then
        not_measured "$name, $want MB: perf is not installed"
        return 1
    fi
    has_space $((want * 6 / 5 + 100)) || return 1
    warn "recording $want MB of ${program[0]##*/} …"
    (perf record -q -m 16M -e cpu-clock "$@" --max-size="$((want * 1000000))B" -o "$file.tmp" -- "${program[@]}") \
        >>"$log" 2>&1 </dev/null
    if [ ! -s "$file.tmp" ] || ! awk "BEGIN { exit !($(size_mb "$file.tmp") >= $want * 0.9) }"; then
        rm -f "$file.tmp"
        not_measured "$name, $want MB: perf may not record here, or recorded too little; see $log"
        return 1
    fi
    mv "$file.tmp" "$file"
}

record_fp() { record fp "$1" "$tools/bench_stacks" 600 2 0 few -- -g -F 20000; }
record_paths() { record paths "$1" "$tools/bench_stacks" 600 2 -- -g -F 20000; }

# compile WHAT COMMAND…
compile() {
    local what=$1
    shift
    warn "compiling $what …"
    "$@" >>"$log" 2>&1 && return
    not_measured "$what: there is no C++ compiler that works; see $log"
    return 1
}

# The services, each a unit.
compile_services() {
    local n=3 made=$dir/services.made
    mkdir -p "$made"
    seq 0 $((n - 1)) | xargs -P 2 -I{} ${CXX:-c++} -std=c++17 -O2 -g -DSERVICE={} -DSERVICES=$n -c -o "$made/{}.o" "$here/services.cc" &&
        ${CXX:-c++} -o "$dir/services" "$made"/*.o && rm -r "$made"
}

# record_dwarf MB [NAME]
record_dwarf() {
    [ "$dir/services" -nt "$here/services.cc" ] || compile services compile_services || return
    record "${2:-dwarf}" "$1" "$dir/services" 600 -- --call-graph dwarf,16384 -F 4000
}

# record_narrow MB
record_narrow() {
    [ "$dir/inlines" -nt "$here/inlines.cc" ] ||
        compile inlines ${CXX:-c++} -std=c++17 -O2 -g -o "$dir/inlines" "$here/inlines.cc" || return
    record narrow "$1" "$dir/inlines" 600 -- --call-graph dwarf,16384 -F 4000
}

# number_of NAME FILE: one that `proftop info` says.
number_of() { "$proftop" info --json "$2" 2>>"$log" | sed -n "s/^\"$1\": \([0-9]*\),/\1/p"; }
samples_of() { number_of samples "$1"; }
stacks_of() { number_of stacks "$1"; }

# What runs beside the bench makes all times longer.
warn_if_busy() {
    local load cpus
    read -r load _ </proc/loadavg
    cpus=$(nproc)
    awk "BEGIN { exit !($load > $cpus / 2) }" || return
    printf '\nthe machine is busy (load average %s, %d cpus): times say little, cpu seconds more\n' "$load" "$cpus"
}

describe() {
    local depth
    depth=$("$proftop" info "$file" 2>>"$log" | sed -n 's/^ *average depth *//p')
    echo "$1, $(size_mb "$file") MB, $(samples_of "$file") samples${depth:+ of $depth}"
}

memory_limit() { calc %.0f "$(size_mb "$1") / 10 + 64"; }

# --- the sections ---------------------------------------------------------------------------

# fp_rows SECONDS-LIMIT PERF-REPORT NO-INLINE PERFPARSER: the limits of $file.
fp_rows() {
    ours 'proftop report' "$1" "$(memory_limit "$file")" 5 "$proftop" report "$file" || return
    base=$seconds
    ours 'proftop report --no-inline' '' '' 3 "$proftop" report --no-inline "$file"
    ours 'proftop report --view tree' '' '' 3 "$proftop" report --view tree "$file"
    ours 'proftop report, on one core' '' '' 3 taskset -c 0 "$proftop" report "$file"
    first_screen "$file" ''
    one_core='' peers_of "$file" "$2" "$3" "$4" ''
}

# annotate_rows: the code of the hottest function of $file; what that takes beyond a report of the tree has a limit.
annotate_rows() {
    local name tree
    name=$("$proftop" report --json --no-inline -n 1 "$file" 2>>"$log" | sed -n 's/^{"name": "\([^"]*\)".*/\1/p')
    measure 5 "$proftop" report --view tree "$file" || return
    tree=$seconds
    ours 'proftop report --view annotate' "$(calc %.3f "$tree + 0.1")" '' 5 "$proftop" report --view annotate --function "$name" "$file" || return
    base=$seconds
    peer '' perf annotate --stdio -i "$file" -s "$name"
}

# The ratios are those of what the peers took when the 0.2 s were set: 10.8, 1.04 and 3.4 s.
bench_fp() {
    record_fp 100 || return
    heading "$(describe 'perf.data, frame pointers')"
    fp_rows 0.2 54 5.2 17
    annotate_rows
}

bench_paths() {
    record_paths 100 || return
    heading "$(describe 'perf.data, frame pointers, many paths')"
    fp_rows '' 40 4 4
}

# dwarf_rows SECONDS-LIMIT FIRST-ROWS-LIMIT PERF-REPORT ONE-CORE OTHERS: the limits of $file.
dwarf_rows() {
    ours 'proftop report, on one core' '' '' 3 taskset -c 0 "$proftop" report "$file" || return
    one_core=$seconds
    ours 'proftop report' "$1" "$(memory_limit "$file")" 5 "$proftop" report "$file"
    base=$seconds
    ours 'proftop report --no-inline' '' '' 3 "$proftop" report --no-inline "$file"
    first_screen "$file" "$2"
    one_core_target=$4 peers_of "$file" "$3" "$5" "$5" ''
}

bench_dwarf() {
    record_dwarf 200 || return
    heading "$(describe 'perf.data, copied stacks, C++')"
    dwarf_rows 0.15 0.1 100 60 6
    annotate_rows
}

bench_narrow() {
    record_narrow 200 || return
    heading "$(describe 'perf.data, copied stacks, C++, few addresses and much recursion')"
    dwarf_rows 0.15 0.1 '' '' ''
}

# A program of 64 units with some 70 MB of debug information.
bench_units() {
    local n=64 program=$dir/units-64 debug
    has_space 1500 || return
    if [ ! -x "$program/units" ]; then
        warn "compiling $n units, for some minutes …"
        if ! bash "$here/dwarf_units.sh" "$program" "$n" >>"$log" 2>&1; then
            not_measured "a program of $n units: it does not compile; see $log"
            return
        fi
    fi
    debug=$(readelf -SW "$program/units" | sed -n 's/^ *\[ *[0-9]*\] *\.debug_[^ ]* *[^ ]* *[^ ]* *[^ ]* *\([0-9a-f]*\) .*/0x\1/p' |
        { t=0; while read -r s; do t=$((t + s)); done; echo $t; })
    record units 50 "$program/units" 600 -- --call-graph dwarf,16384 -F 1000 || return
    heading "$(describe 'perf.data, copied stacks'), of a program of $n units with $(calc %.1f "$debug / 1e6") MB of debug information"
    ours 'proftop report' 0.3 '' 3 "$proftop" report "$file" || return
    base=$seconds
    ours 'proftop report --no-inline' '' '' 3 "$proftop" report --no-inline "$file"
    first_screen "$file" ''
    one_core='' peers_of "$file" '' '' 4 100
}

bench_large() {
    record_dwarf 1000 || return
    heading "$(describe 'perf.data, copied stacks, C++')"
    ours 'proftop report' 0.6 170 3 "$proftop" report "$file" || return
    base=$seconds
    first_screen "$file" ''
    one_core='' peers_of "$file" '' '' '' ''
}

# One line for each size: what a megabyte costs is to stay the same.
bench_growth() {
    local mb first=''
    record_dwarf 20 && record_dwarf 200 && record_dwarf 1000 || return
    heading 'growth: perf.data, copied stacks, C++; the ratio is the time of a megabyte over that of the 200 MB file'
    file=$dir/dwarf-200.data
    measure 5 "$proftop" report "$file" || { not_measured "growth: proftop fails on $file"; return; }
    first=$(calc %.6f "$seconds / $(size_mb "$file")")
    for mb in 20 200 1000; do
        local each
        file=$dir/dwarf-$mb.data verdict=''
        measure 5 "$proftop" report "$file" || { not_measured "growth: proftop fails on $file"; return; }
        each=$(calc %.6f "$seconds / $(size_mb "$file")")
        [ $mb != 1000 ] || judge 'is to be <= 1.3x' "$each <= 1.3 * $first"
        row "$(size_mb "$file") MB, $(samples_of "$file") samples" "$seconds s" "$cpu s" "$peak_mb MB" "$(calc %.2f "$each / $first")x" \
            "$(calc %.2f "$each * 1000") ms/MB${verdict:+; $verdict}"
    done
}

# recorder NAME CPU-LIMIT BYTES-LIMIT COMMAND…: a recorder that ends by itself and leaves $file. Limits are per cent of a
# core and bytes a sample, or "".
recorder() {
    local name=$1 cpu_limit=$2 bytes_limit=$3 samples bytes share
    shift 3
    verdict=''
    rm -f "$file"
    if ! command -v "$1" >/dev/null 2>&1 || ! measure 1 "$@" || ! [ -s "$file" ]; then
        row "$name" '-' '-' '-' '-' "not installed, or may not record; see $log"
        return
    fi
    samples=$(samples_of "$file")
    bytes=$(calc %.0f "$(stat -c %s "$file") / (${samples:-0} + 0.001)")
    share=$(calc %.2f "100 * $cpu / $seconds")
    # Two threads that run all the time give 1,998 samples a second; those of a busy machine run less.
    [ "$cpu_limit" != 3 ] || share=$(calc %.2f "100 * $cpu / (${samples:-0} + 0.001) * 1998")
    [ -z "$cpu_limit" ] || judge "is to be <= $cpu_limit % of a core" "$share <= $cpu_limit"
    [ -z "$bytes_limit" ] || judge "<= $bytes_limit bytes a sample" "$bytes <= $bytes_limit"
    row "$name" "$seconds s" "$cpu s" "$peak_mb MB" "$share %" \
        "$samples samples of $bytes bytes, $(calc %.0f "$cpu * 1e6 / (${samples:-0} + 0.001)") µs of cpu each; $verdict"
}

bench_record() {
    local target
    file=$dir/record.data
    heading 'recording a program of 2 busy threads, some 30 frames deep, for 10 s; the ratio is the share of a core'
    "$tools/bench_stacks" 300 2 >/dev/null &
    target=$!
    recorder 'proftop record, unwound on the way' 3 60 "$proftop" record -e cpu-clock -F 999 -p "$target" --duration 10s -o "$file"
    recorder 'proftop record -g dwarf' '' '' "$proftop" record -e cpu-clock -F 999 -g dwarf,8192 -p "$target" --duration 10s -o "$file"
    recorder 'perf record --call-graph dwarf' '' '' perf record -q -e cpu-clock -F 999 --call-graph dwarf -o "$file" -p "$target" -- sleep 10
    recorder 'perf record --call-graph dwarf -z' '' '' perf record -q -z -e cpu-clock -F 999 --call-graph dwarf -o "$file" -p "$target" -- sleep 10
    recorder 'proftop record -a -F 99' 1 '' "$proftop" record -e cpu-clock -a -F 99 --duration 10s -o "$file"
    recorder 'perf record -a -F 99 --call-graph dwarf' '' '' perf record -q -e cpu-clock -a -F 99 --call-graph dwarf -o "$file" -- sleep 10
    kill "$target"
    wait "$target" 2>/dev/null
    slowdown
}

# What a recording costs the program, in time of its own on the cpu, which has the kernel's part of sampling in it. Beside it
# perf's without stacks, which is what the timer's interrupts alone cost on this machine. Many short turns of one run of each, in an
# order that goes round: what else the machine does changes slowly, and so is in all three.
slowdown() {
    local turn k native ours perfs work=("$tools/bench_stacks" 0 2 300000)
    : >"$dir/ratios"
    for turn in {1..45}; do
        ours='' perfs=''
        for k in 0 1 2; do
            case $(((turn + k) % 3)) in
            0) native=$("${work[@]}") ;;
            1) ours=$("$proftop" record -e cpu-clock -F 999 -o "$file" -- "${work[@]}" 2>>"$log") || break 2 ;;
            2) perfs=$(perf record -q -e cpu-clock -F 999 -o "$file" -- "${work[@]}" 2>>"$log") || perfs='' ;;
            esac
        done
        calc '%.6f %.6f\n' "$ours / $native, ${perfs:-0} / $native" >>"$dir/ratios"
    done
    verdict=''
    slower 1 'what it costs the program' 2
    slower 2 'the same of perf record without stacks' ''
    rm -f "$dir/ratios" "$file"
}

# slower FIELD NAME LIMIT: the verdict is of the median; behind it is where 96 of 100 such medians lie, of whatever distribution:
# the 16th and the 30th of 45.
slower() {
    local low median high
    read -r low median high < <(awk -v f="$1" '{ print $f }' "$dir/ratios" | sort -n |
        awk '$1 > 0 { r[++n] = 100 * ($1 - 1) } END { if (n == 45) printf "%.1f %.1f %.1f\n", r[16], r[23], r[30] }')
    if [ -z "$median" ]; then
        not_measured "$2; see $log"
        return
    fi
    [ -z "$3" ] || judge "is to be <= $3 %" "$median <= $3"
    row "$2" '' '' '' "$median %" "median of 45 turns, 96 % between $low and $high %${verdict:+; $verdict}"
    verdict=''
}

# beside LIMIT NAME COMMAND…: a view of the whole machine for 30 s, its first five seconds apart. The limit is per cent of a core,
# or "".
beside() {
    local limit=$1 name=$2 opening own recorder bytes share
    shift 2
    verdict=''
    if command -v "$1" >/dev/null 2>&1 &&
        read -r opening own recorder bytes < <("$tools/bench_live" beside 30 "$@" 2>>"$log"); then
        share=$(calc %.2f "($own + $recorder) / 30 * 100")
        [ -z "$limit" ] || judge "is to be <= $limit % of a core" "$share <= $limit"
        row "$name" "$share %" "$opening s" "$(calc %.0f "$bytes / 30")" "$(calc %.2f "$recorder / 30 * 100") %" \
            "of a core; in its first 5 s; bytes a second; of it the recorder${verdict:+; $verdict}"
    else
        row "$name" '-' '-' '-' '-' "not installed, or may not record; see $log"
    fi
}

# What a live view costs its terminal, and how soon one sees what happens.
bench_live() {
    local what first second target
    printf '\nproftop live on a terminal of 120x40, 40 rows that all change\n'
    row '' median most '' '' ''
    echo "$rule"
    verdict=''
    while read -r what first second; do
        verdict=''
        case $what in
            seen)
                judge 'is to be <= 300 ms' "$first <= 300"
                row 'from a sample to its function on the screen' "$first ms" "$second ms" '' '' "$verdict" ;;
            update)
                judge 'is to be <= 4096 bytes' "$second <= 4096"
                row 'an update' "$first B" "$second B" '' '' "$verdict" ;;
            idle)
                judge 'is to be 0 bytes' "$first == 0"
                row '5 s in which nothing comes' "$first B" '' '' '' "$verdict" ;;
        esac
    done < <("$tools/bench_live" updates "$proftop" live - 2>>"$log")
    [ -n "$verdict" ] || not_measured "live; see $log"
    "$tools/bench_stacks" 300 2 >/dev/null &
    target=$!
    beside 1 'proftop live -a -F 99' "$proftop" live -a -F 99 -e cpu-clock
    beside '' 'perf top -a -F 99, without stacks' perf top -a -F 99 -e cpu-clock
    beside '' '  --call-graph dwarf' perf top -a -F 99 -e cpu-clock --call-graph dwarf
    kill "$target"
    wait "$target" 2>/dev/null
}

bench_unwind() {
    local what unit rate
    record_dwarf 200 || return
    heading "on one core: $(describe 'perf.data, copied stacks')"
    while read -r what unit rate; do
        verdict=''
        case $what in
            scan)
                judge 'is to be >= 4 GB/s' "$rate >= 4"
                row 'finding and decoding all records' "$rate GB/s" '' '' '' "$verdict" ;;
            first) row 'unwinding, tables yet to be read' "$(calc %.1f "$rate / 1e6") M/s" '' '' '' 'frames' ;;
            unwind)
                judge 'is to be >= 15 M/s' "$rate >= 15e6"
                row 'unwinding' "$(calc %.1f "$rate / 1e6") M/s" '' '' '' "frames; $verdict" ;;
        esac
    done < <(taskset -c 0 "$tools/bench_unwind" "$file" 2>>"$log")
    [ -n "${verdict:-}" ] || not_measured "unwinding; see $log"
}

folded_file() {
    file=$dir/folded-1000.txt
    [ -s "$file" ] && return
    has_space 1100 || return 1
    warn 'writing 1000 MB of folded stacks …'
    "$tools/bench_folded" 1000 >"$file.tmp" && mv "$file.tmp" "$file"
}

bench_folded() {
    local rate
    folded_file || return
    heading "folded, $(size_mb "$file") MB, on one core"
    ours 'proftop report' '' '' 3 taskset -c 0 "$proftop" report "$file" || return
    base=$seconds
    verdict=''
    rate=$(calc %.0f "$(size_mb "$file") / $seconds")
    judge 'is to be >= 300 MB/s' "$rate >= 300"
    row '' "$rate MB/s" '' '' '' "$verdict"
    peer '' inferno-flamegraph "$file"
    peer '' flamegraph.pl "$file"
    bench_folded_kinds
}

# Files in which little repeats, or lines are short: shown without a limit.
bench_folded_kinds() {
    local kind rate
    for kind in distinct names short; do
        file=$dir/folded-100-$kind.txt
        [ -s "$file" ] || { "$tools/bench_folded" 100 $kind >"$file.tmp" && mv "$file.tmp" "$file"; }
        ours "proftop info, 100 MB of $kind" '' '' 3 taskset -c 0 "$proftop" info "$file" || continue
        rate=$(calc %.0f "$(size_mb "$file") / $seconds")
        row '' "$rate MB/s" '' '' '' ''
    done
}

# Keys on a terminal of 120x40, in the largest tree at hand.
bench_keys() {
    local what median p99 bytes most cpu limit
    folded_file || return
    printf '\nkeys on a terminal of 120x40, %s stacks\n' "$(stacks_of "$file")"
    row '' median p99 bytes computed ''
    echo "$rule"
    verdict=''
    while read -r what median p99 bytes most cpu; do
        case $what in
            down-*) limit=250 ;;
            page-*) limit=2500 ;;
            *) limit=8000 ;;
        esac
        verdict=''
        judge 'is to be <= 2 ms' "$median <= 2"
        judge "<= $limit bytes" "$bytes <= $limit"
        row "${what//-/ }" "$median ms" "$p99 ms" "$bytes" "$cpu ms" "$verdict"
    done < <("$tools/bench_keys" "$proftop" "$file" 2>>"$log")
    [ -n "$verdict" ] || not_measured "keys; see $log"
}

# heap_run HOW DEPTH THREADS PAIRS COMMAND…: sets $wall and $cpu, ns a pair: the least of 3 runs.
heap_run() {
    local what=("$1" "$2" "$3" "$4") result
    shift 4
    wall='' cpu=''
    for _ in 1 2 3; do
        rm -f "$dir"/heap.out.*
        result=$("$@" "$tools/bench_heap" "${what[@]}" 2>>"$log" | grep -E '^[0-9.]+ [0-9.]+$') || return 1
        [ -n "$cpu" ] && awk "BEGIN { exit !(${result#* } >= $cpu) }" || read -r wall cpu <<<"$result"
    done
}

# heap_apart HOW DEPTH N PAIRS: the same of N recorded processes of one thread that run at once and share nothing but the
# machine: the mean of what they take.
heap_apart() {
    local i result least=''
    for _ in 1 2 3; do
        for i in $(seq "$3"); do
            env LD_PRELOAD="$top/libproftop-heap.so" PROFTOP_OUTPUT="$dir/heap.out.$i.heap" "$tools/bench_heap" "$1" "$2" 1 "$4" 2>>"$log" &
        done >"$dir/heap.out.apart"
        wait
        result=$(awk '{ wall += $1; cpu += $2 } END { if (NR) printf "%.1f %.1f", wall / NR, cpu / NR }' "$dir/heap.out.apart")
        [ -n "$result" ] || return 1
        [ -n "$least" ] && awk "BEGIN { exit !(${result#* } >= ${least#* }) }" || least=$result
    done
    read -r wall cpu <<<"$least"
}

# What recording the heap costs: ns a pair of malloc and free over native, in time of the program's own threads.
bench_heap() {
    local how depth threads limit bytes pairs=500000 native_cpu native_wall ours one
    [ -e "$top/libproftop-heap.so" ] || { not_measured 'recording the heap: there is no tracer in this build'; return; }
    printf '\nrecording the heap: ns a malloc and free, over native; %d pairs a thread\n' $pairs
    row '' cpu clock bytes/event ratio ''
    echo "$rule"
    while read -r how depth threads limit bytes; do
        heap_run "$how" "$depth" "$threads" $pairs || continue
        native_cpu=$cpu native_wall=$wall
        row "native, $how, depth $depth, $threads thread$([ "$threads" = 1 ] || echo s)" "$native_cpu" "$native_wall" '' '' ''
        verdict=''
        if ! heap_run "$how" "$depth" "$threads" $pairs env LD_PRELOAD="$top/libproftop-heap.so" \
            PROFTOP_OUTPUT="$dir/heap.out.heap"; then
            judge 'runs' 0
            row '  proftop' '-' '-' '-' '-' "$verdict"
            continue
        fi
        ours=$(calc %.1f "$cpu - $native_cpu")
        [ "$threads" = 1 ] && one=$ours
        [ "$limit" = - ] || judge "is to be <= $limit" "$ours <= $limit"
        [ "$threads" = 1 ] || judge 'within 20 % of one thread' "$ours <= 1.2 * $one"
        bytes_event=$(calc %.2f "$(stat -c %s "$dir"/heap.out.heap) / (2 * $pairs * $threads)")
        judge "<= $bytes bytes" "$bytes_event <= $bytes"
        row '  proftop' "+$ours" "+$(calc %.1f "$wall - $native_wall")" "$bytes_event" \
            "$([ "$threads" = 1 ] || calc %.2fx "$ours / $one")" "$verdict"
        if [ "$threads" != 1 ] && heap_apart "$how" "$depth" "$threads" $pairs; then
            row "  proftop, $threads processes of one thread at once" "+$(calc %.1f "$cpu - $native_cpu")" \
                "+$(calc %.1f "$wall - $native_wall")" '' "$(calc %.2fx "($cpu - $native_cpu) / $one")" ''
        fi
        if ! command -v heaptrack >/dev/null 2>&1; then
            row '  heaptrack' '-' '-' '-' '-' 'not installed'
        elif heap_run "$how" "$depth" "$threads" $pairs heaptrack -o "$dir/heap.out"; then
            row '  heaptrack' "+$(calc %.1f "$cpu - $native_cpu")" "+$(calc %.1f "$wall - $native_wall")" \
                "$(calc %.2f "$(stat -c %s "$dir"/heap.out.* | head -n 1) / (2 * $pairs * $threads)")" \
                "$(calc %.1f "($cpu - $native_cpu) / $ours")x" ''
        fi
    done <<'CASES'
leaf 5 1 - 2.5
leaf 60 1 120 2.5
leaf 20 1 100 2.5
leaf 20 4 100 2.5
churn 5 1 - 4
churn 60 1 180 4
churn 20 1 160 4
churn 20 4 160 4
CASES
    rm -f "$dir"/heap.out.*
}

. "$here/bench_alloc.sh"
. "$here/bench_programs.sh"

# record_opening [NAME [PAIRS]]: 20 M events of one program, recorded by proftop and by heaptrack.
record_opening() {
    local name=${1:-opening} pairs=${2:-10000000}
    [ -s "$dir/$name.heap" ] && return
    [ -e "$top/libproftop-heap.so" ] || { not_measured 'opening a heap trace: there is no tracer in this build'; return 1; }
    has_space 300 || return 1
    warn "recording $((2 * pairs)) events …"
    LD_PRELOAD="$top/libproftop-heap.so" PROFTOP_OUTPUT="$dir/$name.heap.tmp" "$tools/bench_hold" 1 "$pairs" || return 1
    if command -v heaptrack >/dev/null 2>&1; then
        heaptrack -o "$dir/$name" "$tools/bench_hold" 1 "$pairs" >>"$log" 2>&1
    fi
    mv "$dir/$name.heap.tmp" "$dir/$name.heap"
}

# heaptrack_of NAME: its recording of that program.
heaptrack_of() { find "$dir" -name "$1.zst" -o -name "$1.gz" | head -n 1; }

bench_opening() {
    record_opening || return
    heading "opening a heap trace of 20 M events, $(size_mb "$dir/opening.heap") MB"
    ours 'proftop report --view memory' 0.5 200 5 "$proftop" report --view memory "$dir/opening.heap" || return
    base=$seconds
    peer '' heaptrack_print "$(heaptrack_of opening)"
    ours '… --view tree' '' 200 3 "$proftop" report --view tree "$dir/opening.heap"
    ours '… with tables in files' '' '' 3 env PROFTOP_MEMORY=50M "$proftop" report --view memory "$dir/opening.heap"
    [ -z "$(heaptrack_of opening)" ] ||
        ours "… of heaptrack's own file" '' '' 3 "$proftop" report --view memory "$(heaptrack_of opening)"
    heap_keys "$dir/opening.heap"
}

# Heap traces that are long: totals, and the first rows on a terminal. The larger one is removed.
bench_heaps() {
    record_opening opening-60 30000000 && record_opening opening-200 100000000 || return
    heading "opening a heap trace of 60 M events, $(size_mb "$dir/opening-60.heap") MB"
    ours 'proftop report --view memory' 2 250 3 "$proftop" report --view memory "$dir/opening-60.heap"
    heading "opening a heap trace of 200 M events, $(size_mb "$dir/opening-200.heap") MB"
    ours 'proftop report --view memory' 5 1000 1 "$proftop" report --view memory "$dir/opening-200.heap"
    rm -f "$dir/opening-200.heap" "$(heaptrack_of opening-200)"
}

# diff_keys FILE FILE: keys that change what the sides are compared by.
diff_keys() {
    local what median p99 bytes most used
    printf '\nkeys in a comparison on a terminal of 120x40, %s and %s stacks\n' "$(stacks_of "$1")" "$(stacks_of "$2")"
    row '' median p99 bytes computed ''
    echo "$rule"
    verdict=''
    while read -r what median p99 bytes most used; do
        verdict=''
        judge 'is to be <= 50 ms' "$median <= 50"
        row "another ${what//-/ }" "$median ms" "$p99 ms" "$bytes" "$used ms" "$verdict"
    done < <("$tools/bench_keys" -c "$proftop" diff "$1" "$2" 2>>"$log")
    [ -n "$verdict" ] || not_measured "keys in a comparison; see $log"
}

diff_recordings() {
    local before limit
    record_dwarf 200 && before=$file && record_dwarf 200 dwarf-again || return
    heading "$(describe 'comparing perf.data, copied stacks, C++') with another recording of the same program"
    ours 'proftop report of one' '' '' 5 "$proftop" report "$before" || return
    limit=$(calc %.4f "$seconds * 2.2")
    ours 'proftop diff of both' "$limit" '' 5 "$proftop" diff --report "$before" "$file" || return
    base=$seconds
    peer '' perf diff "$before" "$file"
    diff_keys "$before" "$file"
}

diff_heaps() {
    record_opening && record_opening opening-after 10100000 || return
    heading 'comparing heap traces of 20 M events'
    ours 'proftop report of one' '' '' 3 "$proftop" report "$dir/opening.heap" || return
    ours 'proftop diff of both' 1.2 '' 3 "$proftop" diff --report "$dir/opening.heap" "$dir/opening-after.heap" || return
    base=$seconds
    peer '' heaptrack_print --diff "$(heaptrack_of opening)" "$(heaptrack_of opening-after)"
    diff_keys "$dir/opening.heap" "$dir/opening-after.heap"
}

bench_diff() {
    diff_recordings
    diff_heaps
}

# long_row WHAT BASE MB SECONDS: the recording BASE again and again until it has so many megabytes; one sample is to take
# 12 bytes of memory, and what does not grow 64 MB. "" for SECONDS: no limit. The copy is removed.
long_row() {
    local what=$1 made=$2 mb=$3 limit=$4 memory=''
    file=$dir/long.data
    has_space $((mb + 200)) || return
    warn "writing $mb MB of $what …"
    if ! "$tools/bench_loop" "$made" "$mb" >"$file" 2>>"$log"; then
        not_measured "$what, $mb MB: it cannot be written; see $log"
    else
        [ "$what" = dwarf ] || memory=$(calc %.0f "$(samples_of "$file") * 12 / 1e6 + 64")
        heading "$(describe "perf.data, $what, the same records with new times")"
        if ours 'proftop report' "$limit" "$memory" 1 "$proftop" report "$file"; then
            base=$seconds
            first_screen "$file" ''
            again "$file" "$([ "$mb" = 10000 ] && echo 1)"
            one_core='' peers_of "$file" '' '' '' ''
        fi
    fi
    rm -f "$file"
}

# again FILE SECONDS: the file once more, by the index that a reading of it leaves.
again() {
    mkdir -p "$XDG_CACHE_HOME"
    PROFTOP_CACHE=always ours '… and an index written' '' '' 1 "$proftop" report "$1"
    PROFTOP_CACHE=always ours '… again, by its index' "$2" '' 3 "$proftop" report "$1"
    rm -rf "$XDG_CACHE_HOME"
}

# What a machine does while programs start and end.
starts='i=0; while [ $i -lt 400 ]; do i=$((i + 1)); /bin/true; done'

bench_long() {
    record_fp 100 && long_row 'frame pointers' "$file" 1000 2
    if record short 20 "$tools/bench_stacks" 600 2 -- -F 20000; then
        long_row 'no stacks' "$file" 1000 ''
    fi
    file=$dir/starts.data
    if [ -s "$file" ] || perf record -q -a -g -e cpu-clock -F 4999 -m 4M -o "$file" \
        -- sh -c "$starts" >>"$log" 2>&1; then
        long_row 'all of the machine' "$file" 1000 2
    else
        not_measured 'all of the machine: perf may not record it'
    fi
    record_dwarf 200 && long_row dwarf "$file" 5000 4
    record_fp 100 && long_row 'frame pointers' "$file" 10000 20
    long_folded 3000
}

# 500 pprof files of one program, made of what Go's compiler says of itself.
bench_fleet() {
    local real=$dir/go.prof
    if [ ! -s "$real" ] && ! GOCACHE=$dir/go-cache go build -gcflags=-cpuprofile="$real" go/types >>"$log" 2>&1; then
        not_measured 'many pprof files: there is no go'
        return
    fi
    has_space 400 || return
    mkdir -p "$dir/fleet"
    [ -s "$dir/fleet/host-499.pb.gz" ] || "$tools/bench_pprof" "$real" "$dir/fleet" 500 || return
    heading '500 pprof files of 1 MB unpacked'
    ours 'proftop report' 2 '' 1 "$proftop" report "$dir"/fleet/*.pb.gz
    ours 'proftop diff of two halves' '' '' 1 "$proftop" diff --report "$dir"/fleet/host-[0-1]??.pb.gz "$dir"/fleet/host-2[0-4]?.pb.gz \
        -- "$dir"/fleet/host-2[5-9]?.pb.gz "$dir"/fleet/host-[3-4]??.pb.gz
}

# What others read and write: a pprof file of 50 MB unpacked, and the JSON of two viewers that is made of it.
bench_exchange() {
    local real=$dir/go.prof form mb
    if [ ! -s "$real" ] && ! GOCACHE=$dir/go-cache go build -gcflags=-cpuprofile="$real" go/types >>"$log" 2>&1; then
        not_measured 'pprof and JSON: there is no go'
        return
    fi
    has_space 700 || return
    mkdir -p "$dir/exchange"
    file=$dir/exchange/host-000.pb.gz
    [ -s "$file" ] || "$tools/bench_pprof" "$real" "$dir/exchange" 1 50000000 || return
    heading "pprof of $(calc %.0f "$(gzip -dc "$file" | wc -c) / 1e6") MB unpacked"
    if ours 'proftop report' '' '' 3 "$proftop" report "$file"; then
        base=$seconds
        peer 10 go tool pprof -top "$file"
    fi
    for form in firefox speedscope; do
        "$proftop" export --to $form -o "$dir/exchange/x.$form.json" "$file" 2>>"$log" || return
        file=$dir/exchange/x.$form.json
        mb=$(size_mb "$file")
        heading "$form JSON, $mb MB"
        one_cpu "$mb" "$file"
        first_screen "$file" 1
        file=$dir/exchange/host-000.pb.gz
    done
    rm -rf "$dir/exchange"
}

# one_cpu MB FILE: at 100 MB/s on one core, with 1.5 times the memory.
one_cpu() {
    ours 'proftop report, on one core' "$(calc %.2f "$1 / 100")" "$(calc %.0f "$1 * 1.5")" 3 taskset -c 0 "$proftop" report "$2"
}

# long_folded MB: hardly a stack twice.
long_folded() {
    file=$dir/long.folded
    has_space $(($1 + 200)) || return
    "$tools/bench_folded" "$1" distinct >"$file" || return
    heading "folded, hardly a stack twice, $(size_mb "$file") MB"
    ours 'proftop report' "$(calc %.0f "$1 / 250")" "$1" 1 "$proftop" report "$file"
    rm -f "$file"
}

# --------------------------------------------------------------------------------------------

case ${BENCH:-} in
    '') sections=("${quick[@]}") ;;
    all) sections=("${quick[@]}" "${slow[@]}") ;;
    *) IFS=', ' read -ra sections <<<"$BENCH" ;;
esac
for section in "${sections[@]}"; do
    if ! [[ " ${quick[*]} ${slow[*]} " == *" $section "* ]]; then
        warn "bench: there is no section $section; BENCH takes ${quick[*]} ${slow[*]}, separated by commas, or all"
        exit 2
    fi
done
for section in "${sections[@]}"; do
    warn_if_busy
    "bench_$section"
done
printf '\n%d limits kept, %d missed, %d not measured\n' $kept $missed $unmeasured
[ $missed = 0 ]
