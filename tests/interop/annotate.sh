#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Shares of instructions and lines are those of perf annotate: on recordings of Rust and of an aarch64 machine that are kept with
# their programs, on programs of demo/code that are compiled and recorded here, and on made samples all over a program of aarch64;
# skipped without perf, objdump or a compiler, or where perf cannot record.
set -uo pipefail

proftop=$(realpath "${PROFTOP:-./proftop}")
source=$(cd "${srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
export PERF_CONFIG=/dev/null RUSTUP_HOME=${RUSTUP_HOME:-${HOME:-/}/.rustup} HOME=$dir

command -v perf objdump python3 >/dev/null || exit 77
perf record -q -e cpu-clock -o probe.data -- true 2>/dev/null || exit 77

made=0
symbols=()
# compare NAME DATA OPTION…: shares by address and by line are those of perf annotate.
compare() {
    local name=$1 data=$2
    shift 2
    perf annotate -i "$data" --stdio -l --stdio-color never -s "$name" "$@" >perf.out 2>/dev/null
    "$proftop" report --view annotate --json --function "$name" "${symbols[@]}" "$data" >ours.json || exit 1
    python3 "$source/tests/interop/annotate.py" "$name" perf.out ours.json || exit 1
    made=$((made + 1))
}

# try COMPILER SOURCE EXPRESSION: the two hottest functions of the program that match, by address and by line.
try() {
    local compiler=$1 program=${2%.*} name
    command -v "${compiler%% *}" >/dev/null || return 0
    # shellcheck disable=SC2086 # words
    $compiler -o "$program" "$source/demo/code/$2" || return 0
    # A quarter of the program is enough.
    (timeout -s INT 1 perf record -q -e cpu-clock -F 2000 -g -o "$program.data" -- "./$program") >/dev/null 2>&1
    [ -s "$program.data" ] || return 0
    # Names depend on the compiler: table, table.constprop.0.
    "$proftop" report --json --no-inline -n 20 -f "in:^$program\$" "$program.data" |
        sed -n 's/^{"name": "\([^"]*\)".*/\1/p' | grep -E "$3" | head -n 2 >names
    while read -r name; do
        compare "$name" "$program.data"
    done <names
}

# Kept with their programs: README.md there says how they were recorded.
kept=$source/tests/data/annotate
symbols=(--symbols "$kept")
for name in words::sieve words::count; do
    compare "$name" "$kept/rust.data" --symfs "$kept"
done
if command -v aarch64-linux-gnu-objdump >/dev/null; then
    for name in matrix.constprop.0 table.constprop.0; do
        compare "$name" "$kept/aarch64.data" --symfs "$kept" --objdump aarch64-linux-gnu-objdump
    done
fi
symbols=()
try 'gcc -g -O2' table.c '^(table|matrix)'
try 'g++ -g -O2' records.cc '^main$'
try 'rustc -g -O' words.rs '^words::(sieve|count)$'
# Static functions of one name in two files: each file has its own, on screens and for pprof.
if command -v gcc >/dev/null; then
    echo 'static __attribute__((noinline)) long work(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
        long FUNCTION(long n) { return work(n) + N; }' >part.h
    for part in 1 2; do
        printf '#define FUNCTION part%d\n#define N %d\n' $part $part | cat - part.h >part$part.c
    done
    echo 'long part1(long), part2(long); int main(void) { return (part1(100000000) + part2(300000000)) & 0; }' >parts.c
    gcc -g -O1 -o parts parts.c part1.c part2.c && perf record -q -e cpu-clock -F 2000 -g -o parts.data -- ./parts 2>/dev/null
    perf report -i parts.data --stdio --no-children -g none -s srcfile 2>/dev/null | sed -n 's/^ *\([0-9.]*%\)  \(part[12]\.c\) *$/\2 \1/p' |
        sort >perf.out
    "$proftop" report --group file --json parts.data | python3 -c '
import json, sys
got = json.load(sys.stdin)
for row in got["rows"]:
    if row["name"] in ("part1.c", "part2.c"):
        print(row["name"], "%.2f%%" % (100 * row["self"][0] / got["columns"][0]["whole"]))' | sort >ours.out
    "$proftop" export --to pprof -o parts.pb parts.data 2>/dev/null && "$proftop" report --group file -n 2 parts.pb | grep '[1-9].* part[12]\.c' >pprof.out
    if [ "$(wc -l <perf.out)" != 2 ] || ! diff perf.out ours.out || [ "$(wc -l <pprof.out)" != 2 ]; then
        echo "two functions of one name: perf, ours, and pprof's: $(cat perf.out ours.out pprof.out)"
        exit 1
    fi
    echo 'two functions of one name: files as perf has them'
    made=$((made + 1))
fi
# Of a machine that is not here: samples are made up.
if command -v aarch64-linux-gnu-gcc >/dev/null &&
    aarch64-linux-gnu-gcc -static -g -O2 -Wl,--build-id -o table-arm "$source/demo/code/table.c"; then
    python3 "$source/tests/interop/aarch64_data.py" table-arm arm.data table || exit 1
    name=$("$proftop" report --json --no-inline -n 1 arm.data | sed -n 's/^{"name": "\([^"]*\)".*/\1/p')
    compare "$name" arm.data --objdump aarch64-linux-gnu-objdump
fi
# Code of a kernel that was moved when it was booted, and of a packed module, whose file is not linked.
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
offset_of() { printf '%x' $((0x$(nm "$1" | sed -n "s/ T $2\$//p") - $3)); }
kernel_code() {
    local what=$1 function=$2 wanted=$3
    "$proftop" report --view annotate --symbols files --function "$function" kernel.data >code || exit 1
    grep -qE "$wanted" code && return
    echo "$what: no $wanted in: $(cat code)"
    exit 1
}
if [ "$(uname -m)" = x86_64 ] && command -v gcc ld nm gzip >/dev/null; then
    mkdir files
    printf '%s\n' 'int helper(int x);' 'int first(int x) { return x; }' 'int work(int x)' '{' \
        '	int s = 0;' '	for (int i = 0; i < x; i++)' '		s += helper(i) ^ s;' '	return s;' '}' >work.c
    echo '__attribute__((noinline)) int helper(int x) { return x * 3; }' >helper.c
    echo 'SECTIONS { . = 0xffffffff81000000; _text = .; .text : { *(.text*) } .data : { *(.data*) } }' >kernel.ld
    gcc -g -O2 -mcmodel=kernel -fno-pic -fcf-protection=none -c work.c helper.c || exit 1
    ld --build-id -T kernel.ld -o files/vmlinux work.o helper.o 2>/dev/null || exit 1
    python3 "$source/tests/interop/kernel_data.py" '[kernel.kallsyms]_text' "$(id_of files/vmlinux)" ffffffff9a000000 ffffffff9a000000 \
        kernel.data "$(offset_of files/vmlinux work 0xffffffff81000000)" || exit 1
    kernel_code vmlinux work 'callq +0xffffffff810000.. +<helper>'
    kernel_code vmlinux work '^ +100\.0 +100\.0 +[34] '
    ld -r --build-id -o module.ko work.o || exit 1
    gzip -c module.ko >files/module.ko.gz
    python3 "$source/tests/interop/kernel_data.py" /lib/modules/1/module.ko.gz "$(id_of module.ko)" ffffffffc0400000 0 \
        kernel.data "$(offset_of module.ko work 0)" || exit 1
    kernel_code module work 'callq +0x.* +<helper>'
    echo 'code of a kernel and of a module: calls have their names'
    made=$((made + 1))
fi
[ $made -gt 0 ] || exit 77
